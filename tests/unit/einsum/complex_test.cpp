// Complex numbers in the reference: values by std::complex, bounds that hold and bounds that refuse.
#include "frontend/reference/complex.h"
#include "tests/unit/einsum/run.h"

using namespace tile_tune;
using namespace tile_tune::einsum;
using reference::Value;

namespace {

using Complex = std::complex<double>;

Value value(Complex z, double error = 0) { return {z.real(), 0, error, z.imag()}; }

Value apply(ir::Op op, Complex a, Complex b, DType result = DType::C64) {
  return reference::apply(reference::make_operation(op, DType::C64, result), value(a), value(b), {});
}

Complex number(const Value& v) { return {v.real, v.imaginary}; }

/// Expected values of a C32 product of random 7 x 23 and 23 x 5 matrices, and one computed by `dot` per element.
struct Product {
  reference::Expected expected;
  tensor::Array right;
};
template <typename Dot>
reference::Verdict judged(const Dot& dot) {
  const auto program = program_of("ij,jk->ik", {{{DType::C32, Shape{7, 23}}, {DType::C32, Shape{23, 5}}}, {}, {}});
  const auto inputs = reference::random_inputs(program, 11);
  const auto& a = inputs.at(program.inputs[0]);
  const auto& b = inputs.at(program.inputs[1]);
  const auto expected = reference::evaluate(program, inputs);
  REQUIRE(expected);
  auto got = tensor::Array::zeros(DType::C32, {7, 5});
  for (int64_t i = 0; i < 7; ++i)
    for (int64_t k = 0; k < 5; ++k)
      tensor::store_complex(DType::C32, got.data.data(), i * 5 + k,
                            dot([&](int64_t j) { return std::complex<float>(element(a, i * 23 + j)); },
                                [&](int64_t j) { return std::complex<float>(element(b, j * 5 + k)); }));
  return reference::compare(expected->front(), got);
}

}  // namespace

TEST_CASE("complex arithmetic") {
  const Complex a(1.5, -2), b(-0.25, 3);
  CHECK(number(apply(ir::Op::Add, a, b)) == a + b);
  CHECK(number(apply(ir::Op::Sub, a, b)) == a - b);
  CHECK(number(apply(ir::Op::Mul, a, b)) == Complex(5.625, 5));
  const auto quotient = apply(ir::Op::Div, a, b);
  CHECK(std::abs(number(quotient) - a / b) < 1e-15);
  CHECK(quotient.error > 0);
  CHECK(number(apply(ir::Op::Neg, a, {})) == -a);
  CHECK(number(apply(ir::Op::Conj, a, {})) == std::conj(a));
  CHECK(apply(ir::Op::Eq, a, a, DType::Bool).integer == 1);
  CHECK(apply(ir::Op::Eq, a, std::conj(a), DType::Bool).integer == 0);
  CHECK(apply(ir::Op::Ne, a, std::conj(a), DType::Bool).integer == 1);
  const auto select = reference::make_operation(ir::Op::Select, DType::C64, DType::C64);
  CHECK(number(reference::apply(select, {0, 1, 0}, value(a), value(b))) == a);
  CHECK(number(reference::apply(select, {0, 0, 0}, value(a), value(b))) == b);
}

TEST_CASE("operands whose conjugate is meant") {
  Known known{{{DType::C32, Shape{3, 4}}, {DType::C32, Shape{4, 2}}, {DType::F64, Shape{2}}}, {}, {}};
  known.conjugate = {false, true, true};
  const auto program = program_of("ij,jk,k->i", known);
  const std::vector arrays{filled(DType::C32, {3, 4}, 0), filled(DType::C32, {4, 2}, 1), filled(DType::F64, {2}, 2)};
  const auto result = evaluated(program, arrays);
  for (int64_t i = 0; i < 3; ++i) {
    Complex sum;
    for (int64_t j = 0; j < 4; ++j)
      for (int64_t k = 0; k < 2; ++k)
        sum += element(arrays[0], i * 4 + j) * std::conj(element(arrays[1], j * 2 + k)) * element(arrays[2], k);
    CHECK(element(result, i) == sum);
  }
}

TEST_CASE("errors of complex operands reach both parts") {
  const auto product = reference::make_operation(ir::Op::Mul, DType::C64, DType::C64);
  const auto exact = reference::apply(product, value({2, 3}), value({5, -7}), {});
  const auto carried = reference::apply(product, value({2, 3}, 0.01), value({5, -7}, 0.1), {});
  // Moving each part by its error the worst way: the imaginary part changes by 0.01 * (5 + 7) + 0.1 * (2 + 3) + 2 *
  // 0.001.
  CHECK(carried.error - exact.error == Approx(0.622));
  const auto equal = reference::make_operation(ir::Op::Eq, DType::C64, DType::Bool);
  CHECK(reference::apply(equal, value({1, 2}, 0.1), value({1, 2.05}), {}).error == 1);
  CHECK(reference::apply(equal, value({1, 2}, 0.1), value({1, 2.2}), {}).error == 0);
  // Either branch may be taken: the imaginary parts are 4 apart.
  const auto select = reference::make_operation(ir::Op::Select, DType::C64, DType::C64);
  CHECK(reference::apply(select, {0, 1, 1}, value({1, 2}), value({1, -2})).error == 4);
}

TEST_CASE("conversions to complex types") {
  CHECK(number(reference::convert(DType::I32, DType::C64, {0, -3, 0})) == Complex(-3, 0));
  CHECK(number(reference::convert(DType::F32, DType::C32, {0.5, 0, 0})) == Complex(0.5, 0));
  const auto narrow = reference::convert(DType::C64, DType::C32, value({0.1, -0.1}));
  CHECK(narrow.real == static_cast<double>(0.1f));
  CHECK(narrow.imaginary == static_cast<double>(-0.1f));
  CHECK(number(reference::convert(DType::C32, DType::C64, value({1, 2}))) == Complex(1, 2));
}

TEST_CASE("the judge of complex kernels takes a correct one and refuses wrong ones") {
  const auto sum = [](const auto& a, const auto& b, int64_t count, const auto& term) {
    std::complex<float> total = 0;
    for (int64_t j = 0; j < count; ++j) total += term(a(j), b(j));
    return Complex(total);
  };
  const auto times = [](auto x, auto y) { return x * y; };
  const auto right = judged([&](const auto& a, const auto& b) { return sum(a, b, 23, times); });
  CHECK(right.worst <= 1);
  CHECK(right.worst > 0);
  CHECK(judged([&](const auto& a, const auto& b) { return sum(a, b, 22, times); }).mismatch);
  CHECK(judged([&](const auto& a, const auto& b) {
          return sum(a, b, 23, [](auto x, auto y) { return x * std::conj(y); });
        }).mismatch);
  CHECK(judged([&](const auto& a, const auto& b) { return std::conj(sum(a, b, 23, times)); }).mismatch);
  // Only the imaginary part is off; the mismatch says by how much.
  const auto off = judged([&](const auto& a, const auto& b) { return sum(a, b, 23, times) + Complex(0, 1); });
  REQUIRE(off.mismatch);
  CHECK(off.mismatch->count == 35);
  CHECK(off.mismatch->got - off.mismatch->expected == Approx(1).epsilon(1e-5));
  const auto bf16 = judged([&](const auto& a, const auto& b) {
    Complex total = 0;
    for (int64_t j = 0; j < 23; ++j) {
      total += Complex(a(j) * b(j));
      total = {tensor::round_to(DType::BF16, total.real()), tensor::round_to(DType::BF16, total.imag())};
    }
    return total;
  });
  CHECK(bf16.mismatch);
}

TEST_CASE("products, sums and infinities of complex numbers") {
  ir::Program program = program_of("i->", {{{DType::C64, Shape{3}}}, {}, {}});
  auto input = tensor::Array::zeros(DType::C64, {3});
  const std::vector<Complex> numbers{{1, 2}, {-3, 0.5}, {0.25, -4}};
  for (int i = 0; i < 3; ++i) tensor::store_complex(DType::C64, input.data.data(), i, numbers[i]);
  CHECK(element(evaluated(program, {input}), 0) == numbers[0] + numbers[1] + numbers[2]);
  program.statements[0].op = ir::Aggregation::Product;
  CHECK(element(evaluated(program, {input}), 0) == Complex(-23, 14.625));
  tensor::store_complex(DType::C64, input.data.data(), 1, {INFINITY, 0});
  program.statements[0].op = ir::Aggregation::Sum;
  const auto infinite = reference::evaluate(program, {{program.inputs[0], input}});
  REQUIRE(infinite);
  CHECK(infinite->front().values[0] == INFINITY);
  CHECK(infinite->front().imaginaries[0] == -2);
  const auto random = reference::random_inputs(program, 3).at(program.inputs[0]);
  CHECK(element(random, 0).imag() != 0);
  CHECK(element(random, 0).imag() != element(random, 0).real());
}
