// Dimensions that every statement walks as one, and those that it does not.
#include <catch2/catch.hpp>

#include <string>
#include <vector>

#include "frontend/ir/canonical.h"
#include "frontend/ir/collapsed.h"
#include "frontend/ir/describe.h"
#include "frontend/tc/parse.h"

using namespace tile_tune;
using namespace tile_tune::ir;

namespace {

const Sizes kCollapsedSizes{{"A", 3}, {"B", 5}, {"C", 7}, {"D", 2}, {"E", 11}};

Program program_from(const std::string& text) {
  const auto program = tc::parse("def f" + text, "f.tc").value().programs.at(0);
  Sizes sizes;
  for (const auto& name : program.sizes) sizes[name] = kCollapsedSizes.at(name);
  return canonicalize(ir::bind(program, sizes).value());
}

/// The statements of the collapsed form, a line each; "" if there is none.
std::string collapsed_text(const Program& program) {
  const auto form = collapsed(program);
  std::string text;
  for (size_t s = 0; form && s < form->statements.size(); ++s) text += to_text(*form, form->statements[s]) + "\n";
  return text;
}
std::string collapsed_text(const std::string& text) { return collapsed_text(program_from(text)); }

std::vector<std::vector<int64_t>> all_shapes(const Program& program) {
  std::vector<std::vector<int64_t>> shapes;
  for (const auto& tensor : program.tensors) shapes.push_back(shape(tensor));
  return shapes;
}

}  // namespace

TEST_CASE("dimensions that lie as one everywhere become one") {
  const std::string convolution = "(float(A,B,C,D) I, float(D,E) W) -> (O) { O(n,h,w,m) +=! I(n,h,w,c) * W(c,m) }";
  CHECK(collapsed_text(convolution) == "O(n_h_w,m) +=! I(n_h_w,c) * W(c,m)\n");
  const auto form = collapsed(program_from(convolution)).value();
  CHECK(all_shapes(form) == std::vector<std::vector<int64_t>>{{105, 2}, {2, 11}, {105, 11}});
  CHECK(range(form.statements[0].indices[0]).extent() == 105);
  CHECK(form.statements[0].indices.size() == 3);
  CHECK_FALSE(collapsed(form));
  // Of a reduction, of both, of all there is.
  CHECK(collapsed_text("(float(A,B,C) X, float(B,C,D) Y) -> (O) { O(i,j) +=! X(i,k,l) * Y(k,l,j) }") ==
        "O(i,j) +=! X(i,k_l) * Y(k_l,j)\n");
  CHECK(collapsed_text("(float(A,B,C,D) X) -> (O) { O(i,j) +=! X(i,j,k,l) }") == "O(i_j) +=! X(i_j,k_l)\n");
  CHECK(collapsed_text("(float(A,B,C) X) -> (O) { O(i,j,k) = exp(X(i,j,k)) }") == "O(i_j_k) = exp(X(i_j_k))\n");
}

TEST_CASE("statements collapse what all of them walk as one") {
  CHECK(collapsed_text("(float(A,B,C) X) -> (m, O) { m(i,j) max=! X(i,j,k) O(i,j,k) = X(i,j,k) - m(i,j) }") ==
        "m(i_j) max=! X(i_j,k)\nO(i_j,k) = X(i_j,k) - m(i_j)\n");
  CHECK(collapsed_text("(float(A,B,C) X) -> (t, O) { t(i,j,k) = exp(X(i,j,k)) O(j,i,k) = t(i,j,k) }").empty());
  // The same where one starts from the other.
  CHECK(collapsed_text("(float(A,B,C) X) -> (O) { O(i,j) += X(i,j,k) }") == "O(i_j) += X(i_j,k)\n");
}

TEST_CASE("elements that are taken from another tensor lie as the target's", "[unit]") {
  auto program = program_from("(float(A,B,C) X) -> (O) { O(i,j) += X(i,j,k) }");
  CHECK_FALSE(collapsed_text(program).empty());
  for (auto& tensor : program.tensors) tensor.storage = Storage::col();
  CHECK_FALSE(collapsed_text(program).empty());
  program.tensors[static_cast<size_t>(*program.statements[0].previous)].storage = Storage::row();
  CHECK(collapsed_text(program).empty());
}

TEST_CASE("columns collapse in the order in which they lie") {
  auto program = program_from("(float(A,B,C) X, float(C,D) Y) -> (O) { O(i,j,l) +=! X(i,j,k) * Y(k,l) }");
  for (auto& tensor : program.tensors) tensor.storage = Storage::col();
  CHECK(collapsed_text(program) == "O(j_i,l) +=! X(j_i,k) * Y(k,l)\n");
  program.tensors[0].storage = Storage::row();
  CHECK(collapsed_text(program).empty());
}

TEST_CASE("dimensions that some statement tells apart stay") {
  const std::vector<std::string> programs{
      "(float(A,B) X) -> (O) { O(j,i) = X(i,j) }",                     // transposed
      "(float(A,B) X, float(B) y) -> (O) { O(i,j) = X(i,j) + y(j) }",  // one stands alone
      "(float(A,B) X, float(A) y) -> (O) { O(i,j) = X(i,j) * y(i) }",  //
      "(float(A,B) X) -> (O) { O(i,j) = X(i,j) where j in 0:4 }",      // a part
      "(float(A,B) X) -> (O) { O(i,j) = X(i,j) * float(j) where i in 0:A, j in 0:B }",
      "(float(A,A) X) -> (O) { O(i) = X(i,i) }",                                 // a diagonal
      "(float(A,B,C) X) -> (O) { O(i,j,k) = X(i,B - 1 - j,k) }",                 // reversed
      "(float(A,B,C) X) -> (O) { O(i,k) = X(i,0,k) where i in 0:A, k in 0:C }",  // one element of the one between
      "(float(A,B) X, int32(C) P) -> (O) { O(i,j) = X(P(i),j) where i in 0:C, j in 0:B }",  // gathered
      "(float(A,A) X) -> (O) { O(i,j) = X(i,j) + X(j,i) }",
  };
  for (const auto& text : programs) {
    INFO(text);
    CHECK(collapsed_text(text).empty());
  }
}

TEST_CASE("what is constant, strided or longer than code can count stays") {
  auto program = program_from("(float(A,B) X) -> (O) { O(i,j) = X(i,j) }");
  CHECK(collapsed_text(program) == "O(i_j) = X(i_j)\n");
  program.tensors[0].constant = true;
  CHECK(collapsed_text(program).empty());
  program.tensors[0].constant = false;
  program.tensors[0].storage = Storage::strided({8, 1});
  CHECK(collapsed_text(program).empty());
  const auto large = ir::bind(
      tc::parse("def f(float(N,N) X) -> (O) { O(i,j) = X(i,j) }", "f.tc").value().programs.at(0), {{"N", 40000}});
  CHECK(collapsed_text(canonicalize(large.value())).empty());
}
