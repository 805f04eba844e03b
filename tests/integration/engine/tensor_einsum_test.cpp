// Einsums on tensors and views, against the definition.
#include <catch2/catch.hpp>
#include <tile_tune/einsum_call.h>
#include <tile_tune/tensor_einsum.h>

#include <cmath>
#include <complex>
#include <filesystem>
#include <limits>
#include <map>
#include <random>

#include "frontend/tensor/convert.h"
#include "tests/integration/engine/handles.h"

using namespace tile_tune;
using tensor::HostTensor;
using tensor::Shape;
using tensor::TensorView;

namespace {

/// Kernels of this file's einsums, in folders of the test's own.
struct TensorKernels {
  TensorKernels() { engine::set_einsum_options(tile_tune::test::handle_options(box)); }
  ~TensorKernels() { engine::set_einsum_options({}); }

  tile_tune::test::Sandbox box;
};

template <tensor::Element T>
tensor::Tensor drawn(const Shape& shape, unsigned seed) {
  std::mt19937 random(seed);
  auto made = tensor::Tensor::zeros(tensor::kElementType<T>, shape);
  const auto draw = [&] { return static_cast<int>(random() % 15) - 7; };
  const auto all = *made->template elements<T>();
  for (T& element : all)
    if constexpr (std::is_same_v<T, std::complex<double>>)
      element = {static_cast<double>(draw()), static_cast<double>(draw())};
    else
      element = static_cast<T>(draw());
  return std::move(*made);
}

using Numbers = std::vector<std::complex<double>>;

std::complex<double> number_at(const TensorView& view, int64_t place) {
  const auto* data = static_cast<const std::byte*>(view.buffer());
  if (view.type() == DType::C64) return tensor::load_complex(view.type(), data, place);
  if (view.type() == DType::F64 || view.type() == DType::F32) return tensor::load_real(view.type(), data, place);
  return static_cast<double>(tensor::load_integer(view.type(), data, place));
}

/// All elements, the first index fastest.
Numbers numbers_of(const TensorView& view) {
  const auto compact = to_contiguous(view);
  Numbers all;
  for (int64_t i = 0; i < view.element_count(); ++i) all.push_back(number_at(*compact->view(), i));
  return all;
}

/// For each assignment of the labels the product of the operands' elements, added up.
Numbers by_definition(const std::vector<std::string>& terms, const std::string& result,
                      const std::vector<TensorView>& operands) {
  std::map<char, int64_t> extents, values;
  for (size_t t = 0; t < terms.size(); ++t)
    for (size_t d = 0; d < terms[t].size(); ++d) extents[terms[t][d]] = operands[t].shape()[d];
  int64_t points = 1, count = 1;
  for (const auto& [label, extent] : extents) points *= extent;
  for (const char label : result) count *= extents[label];
  Numbers sums(static_cast<size_t>(count));
  for (int64_t point = 0; point < points; ++point) {
    int64_t rest = point;
    for (const auto& [label, extent] : extents) values[label] = rest % extent, rest /= extent;
    std::complex<double> product = 1;
    for (size_t t = 0; t < terms.size(); ++t) {
      int64_t place = operands[t].layout().offset();
      for (size_t d = 0; d < terms[t].size(); ++d) place += values[terms[t][d]] * operands[t].strides()[d];
      product *= number_at(operands[t], place);
    }
    int64_t place = 0, step = 1;
    for (const char label : result) place += values[label] * step, step *= extents[label];
    sums[static_cast<size_t>(place)] += product;
  }
  return sums;
}

Numbers values_of(const engine::Expected<tensor::Tensor>& made) {
  INFO((made ? "" : made.error().message));
  REQUIRE(made);
  return numbers_of(*made->view());
}

}  // namespace

TEST_CASE("einsums of tensors and of views as they lie give tensors") {
  const TensorKernels kernels;
  const tensor::Tensor a = drawn<double>({7, 5}, 1), b = drawn<double>({7, 4}, 2);
  const auto turned = *a.view()->transpose({1, 0})->slice({{0, 5, 1}, {-1, -1, -1}});
  const auto thinned = *b.view()->slice({{-1, -1, -1}, {0, 4, 2}});
  const auto product = engine::einsum("ij,jk->ik", turned, thinned);
  CHECK(values_of(product) == by_definition({"ij", "jk"}, "ik", {turned, thinned}));
  CHECK(product->shape() == Shape{5, 2});
  CHECK(product->layout().is_column_major());
  // A row that is repeated, with a tensor of another type.
  const auto repeated = *TensorView::of(*b.elements<double>(), {4}, {7}, 2)->broadcast({3, 4}, {1});
  const auto integers = HostTensor<int32_t, 2>::of(drawn<int32_t>({4, 6}, 3));
  const auto mixed = engine::einsum("ij,jk->ik", repeated, *integers);
  CHECK(values_of(mixed) == by_definition({"ij", "jk"}, "ik", {repeated, integers->view()}));
  CHECK(mixed->type() == DType::F64);
  CHECK(engine::einsum("ij,jk->ik", a, b).error().code == "size-conflict");
  CHECK(engine::einsum("ij->ij", a)->shape() == Shape{7, 5});
}

TEST_CASE("conjugates of operands") {
  const TensorKernels kernels;
  const tensor::Tensor a = drawn<std::complex<double>>({3, 4}, 1), b = drawn<std::complex<double>>({4, 5}, 2);
  const std::vector views{*a.view(), *b.view()};
  tensor::Tensor conjugate = *duplicate(b);
  for (auto& element : *conjugate.elements<std::complex<double>>()) element = std::conj(element);
  const auto before = numbers_of(*b.view());
  CHECK(values_of(engine::einsum("ij,jk->ki", views, {.conjugate = {false, true}})) ==
        by_definition({"ij", "jk"}, "ki", {*a.view(), *conjugate.view()}));
  CHECK(numbers_of(*b.view()) == before);
  CHECK(engine::einsum("ij,jk->ki", views, {.conjugate = {true}}).error().code == "operand-count");
  Numbers of_both = values_of(engine::einsum("ij,jk->ki", a, b));
  for (auto& number : of_both) number = std::conj(number);
  CHECK(values_of(engine::einsum("ij,jk->ki", views, {.conjugate = {true, true}})) == of_both);
  // As they lie, with a factor, in steps, alone, and of what is not complex.
  const auto turned = *b.view()->transpose({1, 0})->slice({{-1, -1, -1}, {0, 4, 1}});
  const auto turned_conjugate = *conjugate.view()->transpose({1, 0})->slice({{-1, -1, -1}, {0, 4, 1}});
  CHECK(values_of(engine::einsum("kj,ij->ik", std::vector{turned, *a.view()}, {.conjugate = {true, false}})) ==
        by_definition({"kj", "ij"}, "ik", {turned_conjugate, *a.view()}));
  CHECK(values_of(engine::einsum("kj->jk", std::vector{turned}, {.conjugate = {true}})) ==
        by_definition({"kj"}, "jk", {turned_conjugate}));
  const tensor::Tensor r = drawn<double>({5, 2}, 3);
  const std::vector three{*a.view(), *b.view(), *r.view()};
  const Numbers expected = by_definition({"ij", "jk", "kl"}, "li", {*a.view(), *conjugate.view(), *r.view()});
  CHECK(values_of(engine::einsum("ij,jk,kl->li", three, {.conjugate = {false, true, true}})) == expected);
  CHECK(values_of(engine::einsum("ij,jk,kl->li", three, {.conjugate = {false, true, false}, .memory_limit = 32})) ==
        expected);
  auto output = tensor::Tensor::zeros(DType::C64, {2, 3});
  REQUIRE(engine::einsum_into({0, 2}, "ij,jk,kl->li", three, 0, *output->mutable_view(),
                              {.conjugate = {false, true, false}, .path = {{0, 1}, {0, 1}}}));
  Numbers turned_by = expected;
  for (auto& number : turned_by) number *= std::complex<double>(0, 2);
  CHECK(numbers_of(*output->view()) == turned_by);
}

TEST_CASE("einsum_into multiplies, adds, and writes where the output lies") {
  const TensorKernels kernels;
  const tensor::Tensor a = drawn<double>({3, 4}, 1), b = drawn<double>({4, 5}, 2);
  const std::vector views{*a.view(), *b.view()};
  const Numbers product = by_definition({"ij", "jk"}, "ik", views);
  std::vector<double> memory(2 * 3 * 5 + 1);
  // Rows, backwards, with a gap after each element.
  const auto output = *tensor::MutableTensorView::of(std::span<double>(memory), {3, 5}, {10, -2}, 8);
  for (const auto& [alpha, beta] : std::vector<std::pair<double, double>>{{1, 0}, {1, 1}, {-2, 0.5}, {0, -3}, {0, 0}}) {
    CAPTURE(alpha, beta);
    for (size_t i = 0; i < memory.size(); ++i)
      memory[i] = beta == 0 ? std::numeric_limits<double>::quiet_NaN() : static_cast<double>(i);
    memory[1] = 77;
    Numbers expected = beta == 0 ? Numbers(15) : numbers_of(output.view());
    for (size_t i = 0; i < expected.size(); ++i) expected[i] = alpha * product[i] + beta * expected[i];
    const auto done = engine::einsum_into(alpha, "ij,jk->ik", views, beta, output);
    INFO((done ? "" : done.error().message));
    REQUIRE(done);
    CHECK(numbers_of(output.view()) == expected);
    CHECK(memory[1] == 77);
  }
  const auto code = [&](std::complex<double> alpha, const char* text, const auto& to) {
    return engine::einsum_into(alpha, text, views, 0, to).error().code;
  };
  CHECK(code({0, 1}, "ij,jk->ik", output) == "lossy-conversion");
  CHECK(code(1, "ij,jk->ki", output) == "size-conflict");
  CHECK(code(1, "ij,jk->il", output) != "");
  auto narrow = tensor::Tensor::zeros(DType::F32, {3, 5});
  CHECK(code(1, "ij,jk->ik", *narrow->mutable_view()) != "");

  // A diagonal is added to; what is beside it is only scaled.
  const tensor::Tensor v = drawn<int32_t>({3}, 4);
  tensor::Tensor square = drawn<int32_t>({3, 3}, 5);
  Numbers expected = numbers_of(*square.view());
  for (auto& number : expected) number *= 3;
  for (size_t i = 0; i < 3; ++i) expected[4 * i] -= 2.0 * numbers_of(*v.view())[i];
  REQUIRE(engine::einsum_into(-2, "i->ii", std::vector{*v.view()}, 3, *square.mutable_view()));
  CHECK(numbers_of(*square.view()) == expected);
}

TEST_CASE("where einsum_into fails its output is what it was") {
  const tile_tune::test::Sandbox box;
  const tensor::Tensor a = drawn<double>({3, 4}, 1), b = drawn<double>({4, 5}, 2), c = drawn<double>({5, 2}, 3);
  const std::vector two{*a.view(), *b.view()}, three{*a.view(), *b.view(), *c.view()};
  auto options = tile_tune::test::handle_options(box);
  const auto with_tool = [&](const std::string& tool) {
    options.executable = tool;
    engine::set_einsum_options(options);
  };
  const auto check = [&](const char* code, const char* text, const std::vector<TensorView>& operands, double beta,
                         const Shape& shape, const engine::EinsumOptions& request) {
    CAPTURE(code, text, beta);
    tensor::Tensor output = drawn<double>(shape, 7);
    const Numbers before = numbers_of(*output.view());
    const auto done = engine::einsum_into(2, text, operands, beta, *output.mutable_view(), request);
    REQUIRE_FALSE(done);
    CHECK(done.error().code == code);
    CHECK(numbers_of(*output.view()) == before);
  };
  for (const double beta : {0.0, 1.0, 0.5, -3.0}) {
    with_tool(TILE_TUNE_BINARY);
    check("bad-path", "ij,jk,kl->il", three, beta, {3, 2}, {.path = {{0, 1}}});
    check("memory-limit", "ij,jk,kl->il", three, beta, {3, 2}, {.memory_limit = 1});
    check("rank-mismatch", "ij,j->i", two, beta, {3}, {});
    with_tool("/nowhere/tile-tune");
    check("no-executable", "ij,jk->ik", two, beta, {3, 5}, {});
    with_tool("/bin/false");
    check("kernel-failed", "ij,jk->ik", two, beta, {3, 5}, {});
    // Slices need two kernels, of which this tool makes one.
    const auto used = box.path("used");
    box.write("once", "#!/bin/sh\n[ -e " + used.string() + " ] && exit 1\ntouch " + used.string() + "\nexec " +
                          TILE_TUNE_BINARY + " \"$@\"\n");
    std::filesystem::permissions(box.path("once"), std::filesystem::perms::owner_all);
    std::filesystem::remove(used);
    options.cache = "";
    with_tool(box.path("once").string());
    if (beta != 1) check("kernel-failed", "ij,jk,kl->il", three, beta, {3, 2}, {.memory_limit = 16});
    options.cache = box.path("kernels").string();
  }
  // An output over an operand, whatever its factor.
  with_tool(TILE_TUNE_BINARY);
  tensor::Tensor square = drawn<double>({3, 3}, 9);
  const Numbers before = numbers_of(*square.view());
  for (const double beta : {0.0, 1.0, 0.5}) {
    const auto done = engine::einsum_into(1, "ij->ji", std::vector{*square.view()}, beta, *square.mutable_view());
    REQUIRE_FALSE(done);
    CHECK(done.error().code == "bad-array");
    CHECK(numbers_of(*square.view()) == before);
  }
  engine::set_einsum_options({});
}

TEST_CASE("what is copied into a tensor of its own is the same by kernels and by loops") {
  const TensorKernels kernels;
  // 17 x 19 x 23, more than what loops copy.
  const tensor::Tensor f = drawn<double>({17, 19, 23}, 1);
  const auto turned = *f.view()->transpose({2, 0, 1})->slice({{-1, -1, -1}, {0, 17, 1}, {0, 19, 1}});
  const auto copied = engine::to_contiguous(turned);
  CHECK(values_of(copied) == numbers_of(turned));
  CHECK(copied->shape() == Shape{23, 17, 19});
  CHECK(copied->layout().is_column_major());
  const auto few = *turned.slice({{0, 2, 1}, {0, 0, 1}, {3, 5, 1}});
  CHECK(engine::to_contiguous(few)->element_count() == 0);
  const tensor::Tensor n = drawn<int32_t>({97}, 2);
  const auto repeated = *n.view()->broadcast({61, 97}, {1});
  CHECK(values_of(engine::to_contiguous(repeated)) == numbers_of(repeated));
  // Where no kernel can be made.
  auto options = tile_tune::test::handle_options(kernels.box);
  options.executable = "/bin/false";
  options.cache = "";
  engine::set_einsum_options(options);
  CHECK(values_of(engine::to_contiguous(*repeated.transpose({1, 0}))) == numbers_of(*repeated.transpose({1, 0})));
}

TEST_CASE("a path gives the order, and its mistakes are told") {
  const TensorKernels kernels;
  const tensor::Tensor a = drawn<double>({3, 4}, 1), b = drawn<double>({4, 2}, 2), c = drawn<double>({2, 5}, 3);
  const std::vector views{*a.view(), *b.view(), *c.view()};
  const Numbers expected = by_definition({"ij", "jk", "kl"}, "il", views);
  CHECK(values_of(engine::einsum("ij,jk,kl->il", views, {.path = {{1, 2}, {0, 1}}})) == expected);
  CHECK(values_of(engine::einsum("ij,jk,kl->il", views, {.path = {{0, 2}, {0, 1}}})) == expected);  // an outer product
  CHECK(engine::einsum("ij,jk,kl->il", views, {.path = {{0, 1}}}).error().code == "bad-path");
  CHECK(engine::einsum("(ij,jk),kl->il", views, {.path = {{0, 1}, {0, 1}}}).error().code == "bad-path");
  CHECK(engine::einsum("ij,jk,kl->il", views, {.path = {{0, 3}, {0, 1}}}).error().numbers ==
        std::vector<int64_t>{0, 0, 3, 3});
  auto output = tensor::Tensor::zeros(DType::F64, {3, 5});
  REQUIRE(engine::einsum_into(-1, "ij,jk,kl->il", views, 0, *output->mutable_view(), {.path = {{1, 2}, {0, 1}}}));
  Numbers negative = expected;
  for (auto& number : negative) number = -number;
  CHECK(numbers_of(*output->view()) == negative);
}

TEST_CASE("seventy operands are contracted, and what no kernel takes is refused before one is made") {
  const TensorKernels kernels;
  const tensor::Tensor two = [] {
    auto made = tensor::Tensor::zeros(DType::F64, {});
    (*made->elements<double>())[0] = 2;
    return std::move(*made);
  }();
  const auto product_of = [&](size_t count) {
    const std::vector views(count, *two.view());
    return engine::einsum(std::string(count - 1, ',') + "->", views);
  };
  CHECK(values_of(product_of(70)) == Numbers{std::ldexp(1.0, 70)});
  CHECK(product_of(256).error().code == "too-many-arguments");
}

TEST_CASE("a limit of memory is kept by slices, which give the same") {
  const TensorKernels kernels;
  // A ring of five with a label that three of them have; 4 x 3 x 5 and smaller between.
  const tensor::Tensor a = drawn<double>({4, 3, 2}, 1), b = drawn<double>({3, 5, 2}, 2),
                       c = drawn<double>({5, 4, 2}, 3);
  const tensor::Tensor d = drawn<double>({4, 3}, 4);
  const std::vector views{*a.view()->slice({{-1, -1, -1}, {0, 3, 1}, {0, 2, 1}}), *b.view(), *c.view(), *d.view()};
  const std::vector<std::string> terms{"ijx", "jkx", "klx", "lm"};
  const Numbers expected = by_definition(terms, "mi", views);
  for (const int64_t limit : {1 << 20, 200, 60}) {
    CAPTURE(limit);
    CHECK(values_of(engine::einsum("ijx,jkx,klx,lm->mi", views, {.memory_limit = limit})) == expected);
  }
  auto output = drawn<double>({3, 4}, 6);
  Numbers sums = numbers_of(*output.view());
  for (size_t i = 0; i < sums.size(); ++i) sums[i] = 2.0 * expected[i] - sums[i];
  REQUIRE(engine::einsum_into(2, "ijx,jkx,klx,lm->mi", views, -1, *output.mutable_view(), {.memory_limit = 60}));
  CHECK(numbers_of(*output.view()) == sums);
  const auto refused = engine::einsum("ijx,jkx,klx,lm->mi", views, {.memory_limit = 4});
  CHECK(refused.error().code == "memory-limit");
  CHECK(refused.error().numbers.back() == 4);
}

TEST_CASE("labels as whole numbers") {
  const TensorKernels kernels;
  CHECK(*engine::subscripts_of({{7, 1000}, {1000, 3}}, {7, 3}) == "ab,bc->ac");
  CHECK(*engine::subscripts_of({{-1, 4}, {4}}, {-1}) == "...a,a->...");
  CHECK(engine::subscripts_of({{0, -2}}, {}).error().numbers == std::vector<int64_t>{-2});
  std::vector<std::vector<int64_t>> many(30, std::vector<int64_t>{0, 0});
  for (size_t i = 0; i < many.size(); ++i) many[i] = {static_cast<int64_t>(i) * 3, static_cast<int64_t>(i + 1) * 3};
  const auto text = engine::subscripts_of(many, {0, 90});
  REQUIRE(text);
  const tensor::Tensor one = drawn<double>({1, 1}, 1);
  CHECK(engine::einsum_type(*text, std::vector(30, engine::array(*one.view())))->shape == Shape{1, 1});
  CHECK(engine::subscripts_of({{0}}, {1})->size() == 4);
}
