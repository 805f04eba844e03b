// What einsums compute, against loops over all labels that know nothing of steps, orders and types.
#include "tests/unit/einsum/run.h"

using namespace tile_tune;
using namespace tile_tune::einsum;

namespace {

void check_values(const std::string& text, const std::vector<std::string>& terms, const std::string& result,
                  const std::vector<Shape>& shapes, DType type = DType::F64, std::optional<DType> output = {}) {
  INFO(text << " in " << dtype_name(type));
  Known known;
  std::vector<tensor::Array> arrays;
  for (size_t i = 0; i < shapes.size(); ++i) {
    known.operands.push_back({type, shapes[i]});
    arrays.push_back(filled(type, shapes[i], i));
  }
  known.result = output;
  Shape shape;
  const auto expected = naive(terms, result, arrays, shape);
  const auto program = program_of(text, known);
  const auto got = evaluated(program, arrays);
  CHECK(got.shape == shape);
  for (size_t i = 0; i < expected.size(); ++i) {
    INFO("element " << i);
    CHECK(element(got, static_cast<int64_t>(i)) == expected[i]);
  }
}

}  // namespace

TEST_CASE("one operand: copies, transposes, sums, diagonals and embedded diagonals") {
  check_values("ij->ij", {"ij"}, "ij", {{3, 5}});
  check_values("ijk->kij", {"ijk"}, "kij", {{2, 3, 5}});
  check_values("ij->", {"ij"}, "", {{3, 5}});
  check_values("ij->j", {"ij"}, "j", {{7, 3}});
  check_values("ii->i", {"ii"}, "i", {{5, 5}});
  check_values("ii->", {"ii"}, "", {{5, 5}});
  check_values("iji->j", {"iji"}, "j", {{3, 2, 3}});
  check_values("iijj->ij", {"iijj"}, "ij", {{2, 2, 3, 3}});
  check_values("i->ii", {"i"}, "ii", {{5}});
  check_values("ii->ii", {"ii"}, "ii", {{3, 3}});
  check_values("iij->jj", {"iij"}, "jj", {{3, 3, 2}});
  check_values("ij->jij", {"ij"}, "jij", {{3, 2}});
  check_values("i->iii", {"i"}, "iii", {{3}});
  check_values("->", {""}, "", {{}});
  check_values("...->...", {"AB"}, "AB", {{3, 2}});
  check_values("...->...", {""}, "", {{}});
}

TEST_CASE("two operands") {
  check_values("ij,jk->ik", {"ij", "jk"}, "ik", {{3, 5}, {5, 7}});
  check_values("ij,jk->ki", {"ij", "jk"}, "ki", {{3, 5}, {5, 7}});
  check_values("bij,bjk->bik", {"bij", "bjk"}, "bik", {{2, 3, 5}, {2, 5, 3}});
  check_values("i,j->ij", {"i", "j"}, "ij", {{3}, {4}});
  check_values("i,i->", {"i", "i"}, "", {{7}, {7}});
  check_values("ij,ij->ij", {"ij", "ij"}, "ij", {{3, 4}, {3, 4}});
  check_values(",ij->ij", {"", "ij"}, "ij", {{}, {2, 3}});
  check_values("ij,->", {"ij", ""}, "", {{2, 3}, {}});
  check_values(",->", {"", ""}, "", {{}, {}});
  check_values("i,j->", {"i", "j"}, "", {{3}, {4}});           // both sums first
  check_values("ij,k->ik", {"ij", "k"}, "ik", {{2, 3}, {4}});  // j first
  check_values("ij,ki->k", {"ij", "ki"}, "k", {{2, 3}, {4, 2}});
  check_values("ij,i->i", {"ij", "i"}, "i", {{3, 4}, {3}});
  check_values("ii,ij->j", {"ii", "ij"}, "j", {{3, 3}, {3, 2}});
  check_values("ij,jk->kk", {"ij", "jk"}, "kk", {{2, 3}, {3, 4}});
  check_values("ijk,kj->ii", {"ijk", "kj"}, "ii", {{2, 3, 4}, {4, 3}});
}

TEST_CASE("networks and hyper-edges, in every order") {
  const std::vector<std::string> chain{"ij", "jk", "kl"};
  const std::vector<Shape> shapes{{2, 5}, {5, 3}, {3, 4}};
  for (const std::string text : {"ij,jk,kl->il", "(ij,jk),kl->il", "ij,(jk,kl)->il", "((ij),(jk,(kl)))->il"})
    check_values(text, chain, "il", shapes);
  const std::vector<std::string> hyper{"ia", "ib", "ic", "i"};
  const std::vector<Shape> stars{{3, 2}, {3, 4}, {3, 1}, {3}};
  for (const std::string text : {"ia,ib,ic,i->abc", "(ia,ib),(ic,i)->abc", "ia,((ib,ic),i)->abc"})
    check_values(text, hyper, "abc", stars);
  check_values("ia,ib,ic,i->ac", hyper, "ac", stars);
  check_values("ia,ib,ic,i->ib", hyper, "ib", stars);
  check_values("ij,ij,ij->i", {"ij", "ij", "ij"}, "i", {{3, 5}, {3, 5}, {3, 5}});
  check_values("a,b,c->", {"a", "b", "c"}, "", {{2}, {3}, {4}});
  check_values("(a,b),c->cb", {"a", "b", "c"}, "cb", {{2}, {3}, {4}});
  check_values("ii,ij,jj->ij", {"ii", "ij", "jj"}, "ij", {{2, 2}, {2, 3}, {3, 3}});
  check_values("ab,bc,cd,de,ea->", {"ab", "bc", "cd", "de", "ea"}, "", {{2, 3}, {3, 2}, {2, 4}, {4, 3}, {3, 2}});
  check_values("a,a,a,a,a,a,a,b->ab", {"a", "a", "a", "a", "a", "a", "a", "b"}, "ab",
               {{2}, {2}, {2}, {2}, {2}, {2}, {2}, {3}});
}

TEST_CASE("the axes of ... stand at the right, and repeat where an extent is 1") {
  check_values("...ij,...jk->...ik", {"ABij", "ABjk"}, "ABik", {{2, 3, 2, 3}, {2, 3, 3, 2}});
  check_values("...ij,...jk->...ik", {"ABij", "Bjk"}, "ABik", {{2, 3, 2, 3}, {3, 3, 2}});
  check_values("...ij,...jk->...ik", {"ABij", "jk"}, "ABik", {{2, 3, 2, 3}, {3, 2}});
  check_values("...ij,...jk->...ik", {"ABij", "ABjk"}, "ABik", {{4, 1, 2, 3}, {1, 5, 3, 2}});
  check_values("...,...->...", {"ABC", "BC"}, "ABC", {{4, 1, 3}, {2, 1}});
  check_values("i...,...j->j...i", {"iAB", "ABj"}, "jABi", {{2, 1, 3}, {4, 1, 5}});
  check_values("i...,...->...", {"iA", "A"}, "A", {{2, 3}, {1}});
  check_values("i...,...,j->...ij", {"iAB", "B", "j"}, "ABij", {{2, 1, 3}, {3}, {2}});
  check_values("(...i,...i),...->...", {"ABi", "Bi", "AB"}, "AB", {{2, 1, 3}, {4, 3}, {1, 1}});
  check_values("...,...->...", {"A", "A"}, "A", {{1}, {1}});
}

TEST_CASE("zero and unit extents") {
  check_values("ij,jk->ik", {"ij", "jk"}, "ik", {{3, 0}, {0, 4}});
  check_values("ij,jk->ik", {"ij", "jk"}, "ik", {{0, 3}, {3, 4}});
  check_values("ij,jk->ik", {"ij", "jk"}, "ik", {{1, 1}, {1, 1}});
  check_values("ij,jk,kl->il", {"ij", "jk", "kl"}, "il", {{2, 0}, {0, 3}, {3, 2}});
  check_values("i->", {"i"}, "", {{0}});
  check_values("i->ii", {"i"}, "ii", {{0}});
  check_values("i,j->", {"i", "j"}, "", {{0}, {3}});
  check_values("...i,...i->...", {"Ai", "Ai"}, "A", {{1, 2}, {3, 2}});
  const auto empty = program_of("...,...->...", {{{DType::F32, Shape{1}}, {DType::F32, Shape{0}}}, {}, {}});
  CHECK(ir::shape(empty.tensors[empty.outputs[0]]) == Shape{0});
}

TEST_CASE("every type of element") {
  const std::vector<std::string> terms{"ij", "jk"}, chain{"ij", "jk", "kl"};
  for (const auto type : {DType::I8, DType::I16, DType::I32, DType::I64, DType::F16, DType::BF16, DType::F32,
                          DType::F64, DType::C32, DType::C64}) {
    check_values("ij,jk->ik", terms, "ik", {{3, 2}, {2, 5}}, type);
    check_values("ij->ji", {"ij"}, "ji", {{3, 2}}, type);
    check_values("ij->i", {"ij"}, "i", {{3, 2}}, type);
    check_values("i->ii", {"i"}, "ii", {{3}}, type);
  }
  // Partial results of f16 are f32: 15 * 15 * 15 * 25 has more bits than f16's 11.
  check_values("ij,jk,kl->il", chain, "il", {{3, 5}, {5, 5}, {5, 2}}, DType::F16, DType::F32);
  check_values("ij,jk->ik", terms, "ik", {{3, 5}, {5, 2}}, DType::F32, DType::F64);
  check_values("ij,jk->ik", terms, "ik", {{3, 5}, {5, 2}}, DType::F32, DType::C32);
  check_values("ij->ji", {"ij"}, "ji", {{3, 5}}, DType::I8, DType::F32);
}

TEST_CASE("bool contracts with or and and") {
  const auto bools = [](const Shape& shape, int64_t period) {
    auto array = tensor::Array::zeros(DType::Bool, shape);
    for (int64_t i = 0; i < array.element_count(); ++i) array.data[i] = std::byte{i % period == 0};
    return array;
  };
  const auto a = bools({3, 4}, 5), b = bools({4, 5}, 3);
  const auto program = program_of("ij,jk->ik", {{{DType::Bool, a.shape}, {DType::Bool, b.shape}}, {}, {}});
  const auto got = evaluated(program, {a, b});
  REQUIRE(got.type == DType::Bool);
  int ones = 0;
  for (int i = 0; i < 3; ++i)
    for (int k = 0; k < 5; ++k) {
      bool any = false;
      for (int j = 0; j < 4; ++j) any = any || ((i * 4 + j) % 5 == 0 && (j * 5 + k) % 3 == 0);
      CHECK(got.data[i * 5 + k] == std::byte{any});
      ones += any;
    }
  CHECK(ones > 0);
  CHECK(ones < 15);
  // Two ones in a row are one, not zero (xor) or two.
  const auto sum = program_of("i->", {{{DType::Bool, Shape{4}}}, {}, {}});
  CHECK(evaluated(sum, {bools({4}, 2)}).data[0] == std::byte{1});
  // As numbers they count.
  const auto counted = program_of("i->", {{{DType::Bool, Shape{5}}}, DType::I32, {}});
  CHECK(evaluated(counted, {bools({5}, 2)}).as<int32_t>()[0] == 3);
}

TEST_CASE("integers wrap, in 32 bits for narrow ones") {
  const auto with = [](DType type, std::vector<int64_t> values) {
    auto array = tensor::Array::zeros(type, {static_cast<int64_t>(values.size())});
    for (size_t i = 0; i < values.size(); ++i)
      tensor::store_integer(type, array.data.data(), static_cast<int64_t>(i), values[i]);
    return array;
  };
  const auto dot = [&](DType type, std::optional<DType> output, std::vector<int64_t> values) {
    const auto array = with(type, values);
    const auto program = program_of("i,i->", {{{type, array.shape}, {type, array.shape}}, output, {}});
    const auto result = evaluated(program, {array, array});
    return std::pair{result.type, tensor::load_integer(result.type, result.data.data(), 0)};
  };
  CHECK(dot(DType::I8, {}, {-128, 127, 100}) == std::pair{DType::I32, int64_t{16384 + 16129 + 10000}});
  CHECK(dot(DType::I8, DType::I64, {-128, 127, 100}) == std::pair{DType::I64, int64_t{42513}});
  CHECK(dot(DType::I32, {}, {1 << 16, 3}) == std::pair{DType::I32, int64_t{9}});
  CHECK(dot(DType::I64, {}, {int64_t{1} << 32, 3}) == std::pair{DType::I64, int64_t{9}});
  CHECK(dot(DType::U8, {}, {255, 255}) == std::pair{DType::I32, int64_t{130050}});
}

TEST_CASE("a result that adds begins with the caller's values, also where nothing is summed or written") {
  const auto check = [](const std::string& text, const std::vector<std::string>& terms, const std::string& result,
                        const std::vector<Shape>& shapes, DType type) {
    INFO(text << " in " << dtype_name(type));
    Known known;
    known.adds = true;
    std::vector<tensor::Array> arrays;
    for (size_t i = 0; i < shapes.size(); ++i) {
      known.operands.push_back({type, shapes[i]});
      arrays.push_back(filled(type, shapes[i], i));
    }
    Shape shape;
    const auto expected = naive(terms, result, arrays, shape);
    const auto program = program_of(text, known);
    const auto start = program.initial_value_of(program.outputs.front());
    REQUIRE(start);
    const auto before = filled(type, shape, 9);
    reference::Inputs inputs{{*start, before}};
    for (size_t i = 0; i < arrays.size(); ++i) inputs.emplace(program.inputs[i], arrays[i]);
    const auto outputs = reference::evaluate(program, inputs);
    REQUIRE(outputs);
    const auto got = reference::to_array(program, outputs->front());
    for (size_t i = 0; i < expected.size(); ++i)
      CHECK(element(got, static_cast<int64_t>(i)) == expected[i] + element(before, static_cast<int64_t>(i)));
  };
  for (const DType type : {DType::F32, DType::C64, DType::I32, DType::F16}) {
    check("ij,jk->ik", {"ij", "jk"}, "ik", {{3, 4}, {4, 5}}, type);
    check("ij->ji", {"ij"}, "ji", {{3, 4}}, type);
    check("i->ii", {"i"}, "ii", {{3}}, type);
    check("i,j->ij", {"i", "j"}, "ij", {{3}, {2}}, type);
    check("ij,jk,kl->il", {"ij", "jk", "kl"}, "il", {{2, 3}, {3, 2}, {2, 4}}, type);
    check("ij->", {"ij"}, "", {{3, 4}}, type);
  }
}
