// Kernels compute what the reference does wherever the elements of their arguments lie: transposed, padded, reversed,
// repeated and overlapping inputs, outputs with gaps, with strides in the kernel and strides from the buffer.
#include <catch2/catch.hpp>

#include "frontend/einsum/einsum.h"
#include "frontend/ir/canonical.h"
#include "tests/property/codegen/kernel_check.h"
#include "tests/property/codegen/strided.h"

namespace tile_tune {
namespace {

using ir::Role;
using ir::Storage;
using ir::Stride;

TEST_CASE("kernels for given strides, and for those of the buffer") {
  for (size_t number = 0; number < 10; ++number) {
    const auto& [name, source, sizes] = test::strided_cases().at(number);
    const auto plain = test::bound_program(source, sizes);
    test::check_drawn_storage(name, plain, 100 * number);
  }
}

TEST_CASE("complex numbers, whose parts stay side by side, and diagonals") {
  const auto check = [](const char* subscripts, DType type, const std::vector<std::vector<int64_t>>& shapes) {
    einsum::Known known;
    for (const auto& shape : shapes) known.operands.push_back({type, shape});
    const auto made = einsum::make_program(einsum::parse(subscripts).value(), known).value();
    const auto plain = ir::canonicalize(ir::bind(made.program, made.sizes).value());
    for (uint64_t seed = 0; seed < 3; ++seed) test::check_drawn_storage(subscripts, plain, seed);
  };
  check("ij,jk->ik", DType::C32, {{7, 13}, {13, 11}});
  check("ij->ji", DType::C64, {{5, 9}});
  check("i->ii", DType::F32, {{19}});
  check("iji->j", DType::F32, {{6, 21, 6}});
  check("ij,k->ikij", DType::F64, {{3, 5}, {4}});
}

TEST_CASE("a constant with strides is packed, or taken as it is") {
  const auto& product = test::strided_cases().front();
  auto program = test::bound_program(product.text, product.sizes);
  for (auto& tensor : program.tensors)
    if (tensor.name == "B") tensor.constant = true;
  for (const auto& strides : {std::vector<Stride>{-1, -23}, {90, 2}, {0, 1}, {1, 1}}) {
    for (auto& tensor : program.tensors)
      if (tensor.name == "B") tensor.storage = Storage::strided(strides);
    const auto bound = ir::bind(program, {}).value();
    CAPTURE(test::storage_text(bound));
    test::KernelCheck check(bound);
    for (const auto& schedule : test::schedules_of(bound, 7, 3)) check.expect_right(schedule);
  }
}

// Infinities among the special inputs met in one sum of the 1,393rd program of the nightly test.
TEST_CASE("a factor that is one element in all terms is multiplied by each") {
  const std::string source =
      "def f(float(B,M,K) X, float(B,K,N) Y, float(N) c) -> (O) { C(b,m,n) +=! X(b,m,k) * Y(b,k,n)  "
      "O(b,m,n) = fmax(C(b,m,n) + c(n), 0) }";
  test::check_drawn_storage("products", test::bound_program(source, {{"B", 32}, {"M", 7}, {"N", 32}, {"K", 8}}), 1393);
  // Of strict products sums that were not made a factor of their own.
  const auto& onto = test::strided_cases().at(1);
  test::check_drawn_storage(onto.name, test::bound_program(onto.text, {{"M", 16}, {"N", 17}, {"K", 5}}), 1365);
}

// As above, of the 1,186th: channels, rows and columns of an input meet.
TEST_CASE("an element that several terms of a window have is multiplied by each") {
  const auto& convolution = test::strided_cases().at(4);
  test::check_drawn_storage(convolution.name, test::bound_program(convolution.text, convolution.sizes), 1186);
}

TEST_CASE("a kernel that writes between an output's elements is wrong") {
  auto program = test::bound_program("def f(float(N) A) -> (O) { O(i) = A(i) * 2 }", {{"N", 33}});
  auto spread = program;
  for (auto& tensor : spread.tensors)
    if (tensor.role == Role::Output) tensor.storage = Storage::strided({2});
  // Of a kernel for any stride but the memory's: all elements side by side.
  auto wrong = spread;
  for (auto& tensor : wrong.tensors)
    if (tensor.role == Role::Output) tensor.storage = Storage::strided({3});
  const auto schedule = test::schedules_of(program, 1, 1).front();
  test::KernelCheck check(spread);
  check.expect_right(schedule, spread);
  const auto result = check(schedule, wrong);
  CHECK(result.verdict.outcome == search::Outcome::RunError);  // the kernel compares strides, too
}

}  // namespace
}  // namespace tile_tune
