#include <catch2/catch.hpp>

#include "engine/programs/array_sizes.h"
#include "engine/programs/bindings.h"
#include "frontend/tc/parse.h"

using namespace tile_tune;
using namespace tile_tune::engine;

namespace {

ir::Program program(const std::string& text) {
  auto parsed = tc::parse(text, "test.tc");
  REQUIRE(parsed);
  return parsed->programs.front();
}

tensor::Array array(std::vector<int64_t> shape, DType type = DType::F32) {
  return tensor::Array::zeros(type, std::move(shape));
}

}  // namespace

TEST_CASE("sizes are read off the arrays and must agree everywhere") {
  const auto mm = program("def mm(float(M,K) A, float(K,N) B) -> (C) { C(m,n) +=! A(m,k) * B(k,n) }");
  const auto sizes = infer_sizes(mm, {{"A", array({2, 3})}, {"B", array({3, 5})}}, {{"M", 2}});
  REQUIRE(sizes);
  CHECK(*sizes == ir::Sizes{{"M", 2}, {"K", 3}, {"N", 5}});

  const auto conflict = infer_sizes(mm, {{"A", array({2, 3})}, {"B", array({4, 5})}}, {});
  REQUIRE(!conflict);
  CHECK(conflict.error().code == "size-conflict");
  CHECK(conflict.error().error_class == ErrorClass::Mismatch);
  CHECK(conflict.error().message == "size K is 3 by dimension 1 of A but 4 by dimension 0 of B");

  const auto given = infer_sizes(mm, {{"A", array({2, 3})}, {"B", array({3, 5})}}, {{"N", 6}});
  REQUIRE(!given);
  CHECK(given.error().message == "size N is 6 by -s but 5 by dimension 1 of B");
}

TEST_CASE("one size in two dimensions of one array") {
  const auto trace = program("def trace(float(N,N) A) -> (t) { t +=! A(i,i) }");
  CHECK(infer_sizes(trace, {{"A", array({4, 4})}}, {}));
  const auto oblong = infer_sizes(trace, {{"A", array({4, 5})}}, {});
  REQUIRE(!oblong);
  CHECK(oblong.error().message == "size N is 4 by dimension 0 of A but 5 by dimension 1 of A");
}

TEST_CASE("dimensions that are numbers") {
  const auto fixed = program("def f(float(3,N) A) -> (o) { o(i) +=! A(k,i) }");
  CHECK(infer_sizes(fixed, {{"A", array({3, 7})}}, {}));
  const auto wrong = infer_sizes(fixed, {{"A", array({4, 7})}}, {});
  REQUIRE(!wrong);
  CHECK(wrong.error().code == "size-conflict");
}

TEST_CASE("what an in/out output starts from must have the output's shape") {
  const auto sum = program("def f(float(N) A) -> (o) { o(i) += A(i) }");
  CHECK(infer_sizes(sum, {{"A", array({3})}, {"o", array({3})}}, {}));
  const auto wrong = infer_sizes(sum, {{"A", array({3})}, {"o", array({4})}}, {});
  REQUIRE(!wrong);
  CHECK(wrong.error().message == "size N is 3 by dimension 0 of A but 4 by dimension 0 of o");
}

TEST_CASE("-s takes integers, once") {
  CHECK(*parse_sizes({"M=3", "N=-1", "M=3"}) == ir::Sizes{{"M", 3}, {"N", -1}});
  for (const char* bad : {"M", "M=", "=3", "M=3x", "M= 3", "M=0x3", "M=1e3", "M=9223372036854775808"}) {
    INFO(bad);
    const auto result = parse_sizes({bad});
    REQUIRE(!result);
    CHECK(result.error().error_class == ErrorClass::Program);
  }
}

TEST_CASE("layouts for all tensors and for one, later ones win") {
  const auto mm = program("def mm(float(M,K) A, float(K,N) B) -> (C) { C(m,n) +=! A(m,k) * B(k,n) }");
  const auto laid_out = with_layouts(mm, {"col", "B=row"});
  REQUIRE(laid_out);
  for (const auto& tensor : laid_out->tensors)
    CHECK(tensor.storage == (tensor.name == "B" ? ir::Storage::row() : ir::Storage::col()));
  CHECK(!with_layouts(mm, {"Q=col"}));
}

TEST_CASE("inputs become constant by name, and nothing else does") {
  const auto mm = program("def mm(float(M,K) A, float(K,N) B) -> (C) { C(m,n) += A(m,k) * B(k,n) }");
  const auto constant = with_constants(mm, {"B", "B"});
  REQUIRE(constant);
  for (const auto& tensor : constant->tensors) CHECK(tensor.constant == (tensor.name == "B"));
  const auto unknown = with_constants(mm, {"Q"}), written = with_constants(mm, {"C"});
  REQUIRE(!unknown);
  REQUIRE(!written);
  CHECK(unknown.error().message == "--constant Q: mm has no tensor 'Q'");
  CHECK(written.error().message == "--constant C: C is written by mm");
  CHECK(written.error().note == "its inputs are A, B");
  CHECK(written.error().error_class == ErrorClass::Program);
}
