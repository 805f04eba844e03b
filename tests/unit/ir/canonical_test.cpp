#include <catch2/catch.hpp>
#include <algorithm>
#include <numeric>
#include <random>
#include <nlohmann/json.hpp>

#include "base/sha256.h"
#include "frontend/ir/canonical.h"
#include "frontend/ir/json.h"
#include "programs.h"

using namespace tile_tune;
using namespace tile_tune::ir;
using namespace tile_tune::ir::test;

namespace {

const Sizes kSizes{{"M", 3}, {"K", 5}, {"N", 7}};

Program bound_matmul(bool in_out = false, DType type = DType::F32) {
  return ir::bind(matmul(in_out, type), kSizes).value();
}

// ---- the same program, spelled differently ----

using Numbers = std::vector<int>;

AffineExpr renumbered(AffineExpr expr, const Numbers& indices) {
  for (auto& term : expr.terms) term.first = indices[term.first];
  std::sort(expr.terms.begin(), expr.terms.end());
  return expr;
}

ExprPtr renumbered(const Expr& original, const Numbers& tensors, const Numbers& indices) {
  Expr expr = original;
  if (auto* read = std::get_if<Read>(&expr.node)) {
    read->tensor = tensors[read->tensor];
    for (auto& subscript : read->subscripts) {
      if (const auto* affine = std::get_if<AffineExpr>(&subscript))
        subscript = renumbered(*affine, indices);
      else
        subscript = renumbered(*std::get<ExprPtr>(subscript), tensors, indices);
    }
  } else if (auto* call = std::get_if<Call>(&expr.node)) {
    for (auto& argument : call->arguments) argument = renumbered(*argument, tensors, indices);
  } else if (auto* cast = std::get_if<Cast>(&expr.node)) {
    cast->argument = renumbered(*cast->argument, tensors, indices);
  } else if (auto* index = std::get_if<IndexValue>(&expr.node)) {
    index->index = indices[index->index];
  }
  return std::make_shared<const Expr>(expr);
}

template <typename T>
std::vector<T> permuted(const std::vector<T>& items, const Numbers& to) {
  std::vector<T> result(items.size());
  for (size_t i = 0; i < items.size(); ++i) result[to[i]] = items[i];
  return result;
}

/// Other names, tensor and index numbers, argument orders and constraint orders, at random.
Program respelled(const Program& program, std::mt19937& random) {
  const auto shuffled = [&](size_t count) {
    Numbers numbers(count);
    std::iota(numbers.begin(), numbers.end(), 0);
    std::shuffle(numbers.begin(), numbers.end(), random);
    return numbers;
  };
  Program result = program;
  result.name = "other";
  const auto tensors = shuffled(program.tensors.size());
  for (auto& tensor : result.tensors) {
    tensor.name += "_renamed";
    tensor.storage = Storage::col();
  }
  result.tensors = permuted(result.tensors, tensors);
  for (auto* list : {&result.inputs, &result.outputs}) {
    for (auto& number : *list) number = tensors[number];
    std::shuffle(list->begin(), list->end(), random);
  }
  for (auto& statement : result.statements) {
    const auto indices = shuffled(statement.indices.size());
    statement.indices = permuted(statement.indices, indices);
    for (auto& index : statement.indices) index.name += "_renamed", index.reason = "another";
    statement.target = tensors[statement.target];
    if (statement.previous) statement.previous = tensors[*statement.previous];
    for (auto& subscript : statement.subscripts) subscript = renumbered(subscript, indices);
    for (auto& constraint : statement.constraints) constraint.expr = renumbered(constraint.expr, indices);
    std::shuffle(statement.constraints.begin(), statement.constraints.end(), random);
    statement.value = renumbered(*statement.value, tensors, indices);
    statement.place.reset();
  }
  return result;
}

/// Reductions the walk over the value cannot tell apart: I(a + b), told apart by W(a), by constraints or by ranges.
Program symmetric(bool weighted, std::vector<Constraint> constraints, int64_t a, int64_t b) {
  Program program;
  program.name = "p";
  program.tensors = {{"I", DType::F32, {20}, Role::Input, Storage::row()},
                     {"W", DType::F32, {9}, Role::Input, Storage::row()},
                     {"unread", DType::I8, {2, 3}, Role::Input, Storage::row()},
                     {"unread2", DType::I8, {3, 2}, Role::Input, Storage::row()},
                     {"o", DType::F32, {}, Role::Output, Storage::row()}};
  program.inputs = {0, 1, 2, 3};
  program.outputs = {4};
  Statement statement;
  statement.target = 4;
  statement.indices = {{"a", 0, a, ""}, {"b", 0, b, ""}, {"nowhere", 0, 2, ""}, {"nowhere2", 0, 3, ""}};
  statement.constraints = std::move(constraints);
  statement.op = Aggregation::Sum;
  statement.value = read(0, {affine({{0, 1}, {1, 1}})});
  if (weighted) statement.value = call(Op::Mul, {statement.value, read(1, {at(0)})});
  program.statements = {statement};
  return program;
}

std::vector<Program> samples() {
  auto conv = ir::bind(strided_convolution(), {{"N", 12}, {"K", 5}}).value();
  return {
      bound_matmul(),
      bound_matmul(true),
      conv,
      running_sum(6),
      symmetric(true, {}, 4, 6),
      symmetric(false, {}, 4, 6),
      symmetric(false, {{affine({{0, 1}, {1, -1}}), 3}}, 5, 5),
      symmetric(false, {{affine({{0, 1}, {1, 2}}), 3}, {affine({{0, 2}, {2, 1}}), 4}, {affine({{1, 2}, {3, 1}}), 4}}, 5,
                5)};
}

}  // namespace

TEST_CASE("canonical numbers follow what a program computes") {
  std::mt19937 random(7);
  for (int i = 0; i < 20; ++i) {
    const auto program = canonicalize(respelled(bound_matmul(true), random));
    CHECK(program.tensors[0].name == "A_renamed");
    CHECK(program.tensors[1].name == "B_renamed");
    CHECK(program.tensors[2].role == Role::InOut);
    CHECK(program.tensors[3].role == Role::Output);
    CHECK(program.statements[0].previous == 2);
    const auto& indices = program.statements[0].indices;
    CHECK(indices[0].name == "i_renamed");
    CHECK(indices[1].name == "j_renamed");
    CHECK(indices[2].name == "k_renamed");
  }
}

TEST_CASE("output indices come first, larger strides before smaller, then reductions by first use") {
  // o(4*c + d) +=! A(b) * A(a + 2*b), numbered backwards. Not bound: bound, it would take its gather form.
  Program program = symmetric(true, {}, 3, 4);
  auto& statement = program.statements[0];
  program.sizes = {"N"};
  program.tensors[4].extents = {size("N")};
  statement.indices = {{"d", 0, 4, ""}, {"c", 0, 2, ""}, {"a", 0, 3, ""}, {"unused", 0, 1, ""}, {"b", 0, 2, ""}};
  statement.subscripts = {affine({{0, 1}, {1, 4}})};
  statement.value = call(Op::Mul, {read(0, {at(4)}), read(0, {affine({{2, 1}, {4, 2}})})});
  const auto canonical = canonicalize(program).statements[0];
  std::string order;
  for (const auto& index : canonical.indices) order += index.name + " ";
  CHECK(order == "c d b a unused ");
  CHECK(canonical.subscripts[0].terms == std::vector<std::pair<int, int64_t>>{{0, 4}, {1, 1}});
}

TEST_CASE("canonicalize changes nothing twice and keeps the signature's order") {
  for (const auto& program : samples()) {
    const auto once = canonicalize(program);
    CHECK(to_json(canonicalize(once)) == to_json(once));
    REQUIRE(once.inputs.size() == program.inputs.size());
    for (size_t i = 0; i < once.inputs.size(); ++i)
      CHECK(once.tensors[once.inputs[i]].name == program.tensors[program.inputs[i]].name);
    CHECK(program_from_json(to_json(once)).has_value());
    CHECK(flops(once) == flops(program));
  }
}

TEST_CASE("spelling does not enter a hash") {
  std::mt19937 random(11);
  for (const auto& program : samples()) {
    for (int i = 0; i < 30; ++i) {
      const auto other = respelled(program, random);
      CHECK(content_hash(other) == content_hash(program));
      CHECK(family_hash(other) == family_hash(program));
    }
  }
}

TEST_CASE("what is constant or cold does not enter a hash, and stays in the canonical form") {
  Program constant = bind(matmul(), {{"M", 3}, {"K", 5}, {"N", 7}}).value();
  const auto hash = content_hash(constant), family = family_hash(constant);
  for (auto& tensor : constant.tensors) tensor.constant = tensor.name == "B";
  constant.cold = true;
  CHECK(content_hash(constant) == hash);
  CHECK(family_hash(constant) == family);
  for (const auto& tensor : canonicalize(constant).tensors) CHECK(tensor.constant == (tensor.name == "B"));
  CHECK(canonicalize(constant).cold);
}

TEST_CASE("names of sizes do not enter a hash") {
  Program other = matmul();
  other.sizes = {"X", "Y", "Z"};
  const auto renamed = [](const SizeExpr& expr) {
    const auto text = expr.str();
    return size(text == "M" ? "X" : text == "K" ? "Y" : "Z");
  };
  for (auto& tensor : other.tensors)
    for (auto& extent : tensor.extents) extent = renamed(extent);
  for (auto& index : other.statements[0].indices) index.hi = renamed(index.hi);
  CHECK(content_hash(ir::bind(other, {{"X", 3}, {"Y", 5}, {"Z", 7}}).value()) == content_hash(bound_matmul()));
  CHECK(family_hash(other) == family_hash(matmul()));
}

TEST_CASE("equal literals hash alike") {
  const auto with = [](DType type, Literal literal) {
    Program program = bound_matmul(false, type);
    program.statements[0].value = make_expr(type, literal);
    return content_hash(program);
  };
  CHECK(with(DType::F32, {int64_t{2}}) == with(DType::F32, {2.0}));
  CHECK(with(DType::F32, {0.1}) == with(DType::F32, {static_cast<double>(0.1F)}));
  CHECK(with(DType::F64, {0.1}) != with(DType::F64, {static_cast<double>(0.1F)}));
}

TEST_CASE("what a program computes enters the content hash") {
  const auto base = bound_matmul();
  std::set<std::string> hashes{content_hash(base), content_hash(bound_matmul(true)),
                               content_hash(bound_matmul(false, DType::F64))};
  const auto add = [&](auto change) {
    Program program = base;
    change(program, program.statements[0]);
    hashes.insert(content_hash(program));
  };
  add([](Program& p, Statement&) { p = ir::bind(matmul(), {{"M", 3}, {"K", 5}, {"N", 8}}).value(); });
  add([](Program& p, Statement&) { p = ir::bind(matmul(), {{"M", 7}, {"K", 5}, {"N", 3}}).value(); });
  add([](Program&, Statement& s) { s.op = Aggregation::Max; });
  add([](Program&, Statement& s) { s.accumulator = DType::F64; });
  add([](Program&, Statement& s) { s.indices[2].lo = 1; });
  add([](Program& p, Statement&) { p.tensors[2].type = DType::F64; });
  add([](Program& p, Statement&) { p.tensors[1].extents[0] = 6; });
  add([](Program&, Statement& s) { s.constraints = {{affine({{0, 1}, {1, -1}}), 3}}; });
  add([](Program&, Statement& s) { s.value = call(Op::Add, std::get<Call>(s.value->node).arguments); });
  add([](Program&, Statement& s) { s.value = read(0, {at(0), at(2)}); });
  add([](Program&, Statement& s) { s.value = read(0, {at(0), affine({{2, 1}}, -1)}); });
  // A program that also takes an input nobody reads is another program: its function has another signature.
  add([](Program& p, Statement&) {
    p.tensors.push_back({"D", DType::F32, {2}, Role::Input, Storage::row()});
    p.inputs.push_back(3);
  });
  CHECK(hashes.size() == 15);
}

TEST_CASE("the order of a difference's operands matters") {
  Program a = bound_matmul(), b = a;
  const auto arguments = std::get<Call>(a.statements[0].value->node).arguments;
  a.statements[0].value = call(Op::Sub, {arguments[0], number(1)});
  b.statements[0].value = call(Op::Sub, {number(1), arguments[0]});
  CHECK(content_hash(a) != content_hash(b));
}

TEST_CASE("operands of commutative operations may stand in any order") {
  auto other = bound_matmul();
  auto& value = other.statements[0].value;
  auto arguments = std::get<Call>(value->node).arguments;
  std::swap(arguments[0], arguments[1]);
  value = call(Op::Mul, arguments);
  std::swap(other.inputs[0], other.inputs[1]);
  CHECK(content_hash(other) == content_hash(bound_matmul()));
  CHECK(canonicalize(other).tensors[0].name == "A");
  // Products of floats keep their grouping unless they are a sum's terms, those of integers never do.
  const auto grouped = [](DType type, bool left, Aggregation op = Aggregation::Assign, int more = 0) {
    auto program = symmetric(true, {}, 4, 6);
    program.statements[0].op = op;
    program.statements[0].accumulator = type;
    for (auto& tensor : program.tensors) tensor.type = type;
    const auto a = read(0, {at(0)}, type), b = read(1, {at(1)}, type), c = read(0, {at(1)}, type);
    program.statements[0].value = left ? call(Op::Mul, {call(Op::Mul, {a, b}, type), c}, type)
                                       : call(Op::Mul, {a, call(Op::Mul, {b, c}, type)}, type);
    if (more) program.statements[0].value = call(Op::Add, {program.statements[0].value, number(more)}, type);
    return content_hash(program);
  };
  // The factors of a fused multiply-add may, its term may not.
  const auto fused = [](int first, int second, int third) {
    auto program = symmetric(true, {}, 4, 6);
    program.statements[0].op = Aggregation::Assign;
    const ExprPtr reads[] = {read(0, {at(0)}), read(1, {at(1)}), read(0, {at(1)})};
    program.statements[0].value = call(Op::Fma, {reads[first], reads[second], reads[third]});
    return content_hash(program);
  };
  CHECK(fused(0, 1, 2) == fused(1, 0, 2));
  CHECK(fused(0, 2, 1) == fused(2, 0, 1));
  CHECK(fused(0, 1, 2) != fused(0, 2, 1));
  CHECK(fused(0, 1, 2) != fused(2, 1, 0));
  CHECK(grouped(DType::I32, true) == grouped(DType::I32, false));
  CHECK(grouped(DType::F32, true) != grouped(DType::F32, false));
  CHECK(grouped(DType::F32, true, Aggregation::Max) != grouped(DType::F32, false, Aggregation::Max));
  CHECK(grouped(DType::F32, true, Aggregation::Sum) == grouped(DType::F32, false, Aggregation::Sum));
  CHECK(grouped(DType::F32, true, Aggregation::Sum, 1) != grouped(DType::F32, false, Aggregation::Sum, 1));
}

TEST_CASE("parts that only look alike together are told apart together") {
  // (A(i) + B(j)) * (C(i) + D(j)): swapping A with B is swapping C with D and i with j, but not A with B alone.
  const auto product = [](std::vector<int> order) {
    Program program;
    program.name = "p";
    for (int t = 0; t < 4; ++t) {
      program.tensors.push_back(
          {std::string{static_cast<char>('A' + t)}, DType::F32, {5}, Role::Input, Storage::row()});
      program.inputs.push_back(t);
    }
    program.tensors.push_back({"o", DType::F32, {}, Role::Output, Storage::row()});
    program.outputs = {4};
    Statement statement;
    statement.target = 4;
    statement.indices = {{"i", 0, 5, ""}, {"j", 0, 5, ""}};
    statement.op = Aggregation::Sum;
    const auto sum = [&](int a, int b) {
      return call(Op::Add, {read(order[a], {at(order[a] % 2)}), read(order[b], {at(order[b] % 2)})});
    };
    statement.value = call(Op::Mul, {sum(0, 1), sum(2, 3)});
    program.statements = {statement};
    return content_hash(program);
  };
  const auto hash = product({0, 1, 2, 3});
  CHECK(product({1, 0, 2, 3}) == hash);
  CHECK(product({0, 1, 3, 2}) == hash);
  CHECK(product({3, 2, 0, 1}) == hash);
  // (A(i) + C(i)) * (B(j) + D(j)) is another product.
  CHECK(product({0, 2, 1, 3}) != hash);
}

TEST_CASE("a size's value is a literal once it is bound, for one set of sizes") {
  auto sized = matmul(), literal = matmul();
  const auto scaled = [](const Program& program, const ExprPtr& factor) {
    return call(Op::Mul, {program.statements[0].value, factor});
  };
  sized.statements[0].value = scaled(sized, make_expr(DType::F32, SizeValue{size("K")}));
  literal.statements[0].value = scaled(literal, number(5));
  CHECK(content_hash(ir::bind(sized, kSizes).value()) == content_hash(ir::bind(literal, kSizes).value()));
  CHECK(family_hash(ir::bind(sized, kSizes).value()) == family_hash(sized));
  CHECK(family_hash(ir::bind(sized, {{"M", 3}, {"K", 6}, {"N", 7}}).value()) == family_hash(sized));
}

TEST_CASE("where unwritten elements come from enters the hash") {
  const auto program = bound_matmul(true);
  auto other = program;
  other.statements[0].unwritten = other.statements[0].previous;
  other.statements[0].previous.reset();
  CHECK(content_hash(other) != content_hash(program));
  CHECK(canonicalize(other).statements[0].unwritten == 2);
  other.statements[0].unwritten.reset();
  CHECK(content_hash(other) != content_hash(program));
}

TEST_CASE("a family is one program at all its sizes") {
  const auto family = family_hash(strided_convolution());
  CHECK(family_hash(ir::bind(strided_convolution(), {{"N", 12}, {"K", 5}}).value()) == family);
  CHECK(family_hash(ir::bind(strided_convolution(), {{"N", 31}, {"K", 2}}).value()) == family);
  CHECK(family != content_hash(ir::bind(strided_convolution(), {{"N", 12}, {"K", 5}}).value()));
  auto denser = strided_convolution();
  denser.statements[0].value = call(Op::Mul, {read(0, {affine({{0, 3}, {1, 1}})}), read(1, {at(1)})});
  CHECK(family_hash(denser) != family);
  // N - 1 - i is 6 - i for N = 7.
  auto reversed = matmul();
  reversed.statements[0].value = read(0, {at(0), affine({{2, -1}}, size("K") - 1)});
  CHECK(family_hash(ir::bind(reversed, kSizes).value()) == family_hash(reversed));
  CHECK(family_hash(matmul(true)) != family_hash(matmul()));
  CHECK(family_hash(matmul(false, DType::F64)) != family_hash(matmul()));
}

TEST_CASE("hashes are pinned: databases hold them") {
  CHECK(base::sha256_hex("abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  // The text itself, so that any other implementation can make the hash.
  const char* canonical_matmul =
      "tile-tune content 2\n"
      R"({"format":1,"inputs":[0,1],"kind":"program","name":"","outputs":[2],"sizes":[],"statements":[)"
      R"({"accumulator":"f32","constraints":[],"indices":[{"hi":3,"lo":0,"name":"","reason":""},)"
      R"({"hi":7,"lo":0,"name":"","reason":""},{"hi":5,"lo":0,"name":"","reason":""}],"op":"sum",)"
      R"("subscripts":[{"constant":0,"terms":[[0,1]]},{"constant":0,"terms":[[1,1]]}],"target":2,)"
      R"("value":{"arguments":[{"read":0,"subscripts":[{"constant":0,"terms":[[0,1]]},{"constant":0,"terms":[[2,1]]}],)"
      R"("type":"f32"},{"read":1,"subscripts":[{"constant":0,"terms":[[2,1]]},{"constant":0,"terms":[[1,1]]}],)"
      R"("type":"f32"}],"call":"mul","type":"f32"}}],"tensors":[)"
      R"({"extents":[3,5],"layout":"row","name":"","role":"input","type":"f32"},)"
      R"({"extents":[5,7],"layout":"row","name":"","role":"input","type":"f32"},)"
      R"({"extents":[3,7],"layout":"row","name":"2","role":"output","type":"f32"}]})";
  CHECK(content_hash(bound_matmul()) == base::sha256_hex(canonical_matmul));
  CHECK(content_hash(bound_matmul()) == "be494f47a19ae06131b76f725ce8291c682d2b63d9d5230e13eec436b2a3235e");
  CHECK(content_hash(bound_matmul(true)) == "56f72b696ba5c400ba0b39ed81fd33008aebd4f1f0f10fe921fa7a4cb8609f2c");
  CHECK(family_hash(matmul()) == "06005f8174bef19b63bf58c1cf36f757ae9ffb9331b8e5cf27db4605bd0ce8ea");
  CHECK(family_hash(strided_convolution()) == "f486d8d86a1248a558f637cdf7f4e30d03844e0cf1eb733be478a684371b5f95");
}
