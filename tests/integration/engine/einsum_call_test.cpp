// Einsums on the caller's arrays, against sums written as loops.
#include <catch2/catch.hpp>
#include <tile_tune/einsum_call.h>

#include <complex>
#include <map>
#include <random>

#include "tests/integration/engine/handles.h"

using namespace tile_tune;
using engine::Array;
using engine::array;

namespace {

/// Kernels of this file's einsums, in folders of the test's own.
struct Kernels {
  Kernels() { engine::set_einsum_options(tile_tune::test::handle_options(box)); }
  ~Kernels() { engine::set_einsum_options({}); }

  tile_tune::test::Sandbox box;
};

std::string einsum_error(const engine::Expected<void>& result) { return result ? "" : result.error().code; }

template <typename T>
std::vector<T> numbers(int64_t count, int seed) {
  std::mt19937 engine(static_cast<unsigned>(seed));
  std::vector<T> values(static_cast<size_t>(count));
  for (T& value : values) value = static_cast<T>(static_cast<int>(engine() % 15) - 7);
  return values;
}

/// By every assignment of the labels' values; extents by label.
template <typename T>
std::vector<T> by_loops(const std::string& a, const std::string& b, const std::string& result,
                        const std::map<char, int64_t>& extents, const std::vector<T>& x, const std::vector<T>& y) {
  const auto place = [&](const std::string& labels, const std::map<char, int64_t>& at) {
    int64_t index = 0;
    for (const char label : labels) index = index * extents.at(label) + at.at(label);
    return static_cast<size_t>(index);
  };
  int64_t count = 1, points = 1;
  for (const char label : result) count *= extents.at(label);
  for (const auto& [label, extent] : extents) points *= extent;
  std::vector<T> out(static_cast<size_t>(count), T{});
  for (int64_t p = 0; p < points; ++p) {
    std::map<char, int64_t> at;
    int64_t rest = p;
    for (const auto& [label, extent] : extents) {
      at[label] = rest % extent;
      rest /= extent;
    }
    out[place(result, at)] += x[place(a, at)] * y[place(b, at)];
  }
  return out;
}

}  // namespace

TEST_CASE("einsums of whatever storage give what loops do") {
  const Kernels kernels;
  const std::map<char, int64_t> extents{{'b', 3}, {'i', 5}, {'j', 7}, {'k', 4}};
  const auto x = numbers<double>(3 * 5 * 4, 1), y = numbers<double>(3 * 7 * 4, 2);
  const auto expected = by_loops<double>("bik", "bjk", "jbi", extents, x, y);
  std::vector<double> out(expected.size());
  const auto check = [&](const std::vector<Array>& operands, const Array& result, const auto& at) {
    std::fill(out.begin(), out.end(), -99);
    REQUIRE(einsum_error(engine::einsum("bik,bjk->jbi", operands, result)) == "");
    for (int64_t j = 0; j < 7; ++j)
      for (int64_t b = 0; b < 3; ++b)
        for (int64_t i = 0; i < 5; ++i) CHECK(out[at(j, b, i)] == expected[(j * 3 + b) * 5 + i]);
  };
  const auto in_order = [](int64_t j, int64_t b, int64_t i) { return (j * 3 + b) * 5 + i; };
  const Array X = array(x.data(), {3, 5, 4}), Y = array(y.data(), {3, 7, 4});
  check({X, Y}, array(out.data(), {7, 3, 5}), in_order);
  // The result reversed along b, its elements in another order.
  check({X, Y}, array(out.data() + 2 * 7, {7, 3, 5}, {1, -7, 21}),
        [](int64_t j, int64_t b, int64_t i) { return j + (2 - b) * 7 + i * 21; });
  // X stored with k first.
  std::vector<double> moved(x.size());
  for (int64_t b = 0; b < 3; ++b)
    for (int64_t i = 0; i < 5; ++i)
      for (int64_t k = 0; k < 4; ++k) moved[(k * 5 + i) * 3 + b] = x[(b * 5 + i) * 4 + k];
  check({array(moved.data(), {3, 5, 4}, {1, 3, 15}), Y}, array(out.data(), {7, 3, 5}), in_order);
}

TEST_CASE("einsums of broadcast operands, an ellipsis, several operands and of a diagonal") {
  const Kernels kernels;
  const auto x = numbers<float>(6, 1), y = numbers<float>(12, 2), z = numbers<float>(8, 3);
  std::vector<float> out(12);
  // The same row three times.
  REQUIRE(
      einsum_error(engine::einsum("ij,jk->ik", std::vector{array(x.data(), {3, 2}, {0, 1}), array(y.data(), {2, 4})},
                                  array(out.data(), {3, 4}))) == "");
  for (int i = 0; i < 3; ++i)
    for (int k = 0; k < 4; ++k) CHECK(out[i * 4 + k] == x[0] * y[k] + x[1] * y[4 + k]);
  REQUIRE(einsum_error(engine::einsum("...j,j->...", std::vector{array(y.data(), {2, 3, 2}), array(x.data(), {2})},
                                      array(out.data(), {2, 3}))) == "");
  for (int i = 0; i < 6; ++i) CHECK(out[i] == y[2 * i] * x[0] + y[2 * i + 1] * x[1]);
  REQUIRE(einsum_error(engine::einsum(
              "ij,jk,kl->il", std::vector{array(x.data(), {3, 2}), array(z.data(), {2, 4}), array(y.data(), {4, 3})},
              array(out.data(), {3, 3}))) == "");
  for (int i = 0; i < 3; ++i)
    for (int l = 0; l < 3; ++l) {
      float sum = 0;
      for (int j = 0; j < 2; ++j)
        for (int k = 0; k < 4; ++k) sum += x[i * 2 + j] * z[j * 4 + k] * y[k * 3 + l];
      CHECK(out[i * 3 + l] == sum);
    }
  float trace = 0;
  REQUIRE(einsum_error(engine::einsum("ii->", std::vector{array(y.data(), {3, 3})}, array(&trace, {}))) == "");
  CHECK(trace == y[0] + y[4] + y[8]);
}

TEST_CASE("an einsum's result has the type its operands promote to, and holds integers and complex numbers") {
  const Kernels kernels;
  const auto i = numbers<int32_t>(6, 1);
  const auto f = numbers<float>(6, 2);
  const std::vector operands{array(i.data(), {2, 3}), array(f.data(), {3, 2})};
  const auto type = engine::einsum_type("ij,jk->ki", operands);
  REQUIRE(type);
  CHECK(type->type == DType::F64);
  CHECK(type->shape == std::vector<int64_t>{2, 2});
  std::vector<double> out(4);
  REQUIRE(einsum_error(engine::einsum("ij,jk->ki", operands, array(out.data(), {2, 2}))) == "");
  CHECK(out[1] == i[3] * double{f[0]} + i[4] * double{f[2]} + i[5] * double{f[4]});
  CHECK(einsum_error(engine::einsum("ij,jk->ki", operands, array(f.data(), {2, 2}))) != "");  // f32 does not hold it

  const std::vector<int64_t> large{int64_t{1} << 62, 3}, four{4, 5};
  int64_t wrapped = 0;
  REQUIRE(einsum_error(engine::einsum("i,i->", std::vector{array(large.data(), {2}), array(four.data(), {2})},
                                      array(&wrapped, {}))) == "");
  CHECK(wrapped == 15);

  std::vector<std::complex<float>> c{{1, 2}, {-3, 4}}, d{{0, -1}, {2, 5}};
  std::complex<float> dot;
  REQUIRE(
      einsum_error(engine::einsum("i,i->", std::vector<Array>{{c.data(), DType::C32, {2}}, {d.data(), DType::C32, {2}}},
                                  {&dot, DType::C32, {}})) == "");
  CHECK(dot == c[0] * d[0] + c[1] * d[1]);
}

TEST_CASE("tensordot and dot_general are einsums") {
  const Kernels kernels;
  const std::map<char, int64_t> extents{{'b', 2}, {'i', 3}, {'j', 4}, {'k', 5}};
  const auto x = numbers<float>(2 * 3 * 5, 1), y = numbers<float>(5 * 2 * 4, 2);
  const Array X = array(x.data(), {2, 3, 5}), Y = array(y.data(), {5, 2, 4});
  std::vector<float> out(2 * 3 * 4);
  REQUIRE(einsum_error(engine::dot_general(X, Y, {{2}, {0}, {0}, {1}}, array(out.data(), {3, 4, 2}))) == "");
  CHECK(out == by_loops<float>("bik", "kbj", "ijb", extents, x, y));
  out.resize(12);
  REQUIRE(einsum_error(engine::tensordot(X, Y, {-1, 0}, {0, 1}, array(out.data(), {3, 4}))) == "");
  CHECK(out == by_loops<float>("bik", "kbj", "ij", extents, x, y));
  for (const auto& [a, b] : std::vector<std::pair<std::vector<int>, std::vector<int>>>{
           {{3}, {0}}, {{-4}, {0}}, {{0, 0}, {1, 0}}, {{0}, {}}, {{2}, {-4}}})
    CHECK(einsum_error(engine::tensordot(X, Y, a, b, array(out.data(), {3, 4}))) == "bad-axes");
}

TEST_CASE("what is wrong with an einsum is said, and nothing is written") {
  const Kernels kernels;
  const auto x = numbers<float>(6, 1);
  std::vector<float> out(9, -99);
  const std::vector operands{array(x.data(), {3, 2}), array(x.data(), {2, 3})};
  for (const char* text : {"ij,jk", "ij,jk->il", "ij->ij", "ij,ij->ij", "(ij,jk->ik", "", "ij,jk->ik->i"}) {
    const auto result = engine::einsum(text, operands, array(out.data(), {3, 3}));
    CAPTURE(text);
    CHECK_FALSE(result);
    CHECK_FALSE(engine::einsum_type(text, operands));
  }
  CHECK(einsum_error(engine::einsum("ij,jk->ik", operands, array(out.data(), {2, 3}))) == "size-conflict");
  CHECK(out == std::vector<float>(9, -99));
}
