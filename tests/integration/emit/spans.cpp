// The C++ header of the package "many": what spans and views are checked for; prints the first failure and returns 1.
#include <many.hpp>

#include <cstdio>
#include <cstdlib>
#include <vector>

#define CHECK(condition)                                                   \
  do {                                                                     \
    if (!(condition)) {                                                    \
      std::printf("%s:%d: %s is false\n", __FILE__, __LINE__, #condition); \
      std::exit(1);                                                        \
    }                                                                      \
  } while (0)

namespace {

// What std::mdspan (C++23) offers of itself.
template <class T>
struct View {
  T* elements;
  std::array<int, 2> extents;
  std::array<int, 2> strides;

  static constexpr std::size_t rank() { return 2; }
  T* data_handle() const { return elements; }
  int extent(std::size_t d) const { return extents[d]; }
  int stride(std::size_t d) const { return strides[d]; }
};

template <class X, class O>
concept Copies = requires(X& x, O& o) {
  many_cpp::copy_f32(x, o);
};

// Elements of another type, outputs that cannot be written, pointers and views of another rank do not compile.
static_assert(Copies<std::vector<float>, std::vector<float>>);
static_assert(Copies<const std::vector<float>, std::array<float, 13>>);
static_assert(Copies<float[13], std::span<float>>);
static_assert(!Copies<std::vector<double>, std::vector<float>>);
static_assert(!Copies<std::vector<float>, const std::vector<float>>);
static_assert(!Copies<std::vector<float>, std::span<const float>>);
static_assert(!Copies<float*, std::vector<float>>);
static_assert(!Copies<View<float>, std::vector<float>>);

constexpr int M = accumulate_A_extent0, K = accumulate_A_extent1, N = accumulate_B_extent1;

struct Product {
  std::vector<float> a, b, c;  // C += A * B, B in column order

  Product() : a(M * K), b(K * N), c(M * N) {
    for (int i = 0; i < M * K; ++i) a[i] = static_cast<float>(i * 7 % 11 - 5);
    for (int i = 0; i < K * N; ++i) b[i] = static_cast<float>(i * 5 % 13 - 6);
    for (int i = 0; i < M * N; ++i) c[i] = static_cast<float>(i % 9 - 4);
  }

  bool is_computed() const {
    for (int i = 0; i < M * N; ++i) {
      auto sum = static_cast<float>(i % 9 - 4);
      for (int k = 0; k < K; ++k) sum += a[i / N * K + k] * b[i % N * K + k];
      if (c[i] != sum) return false;
    }
    return true;
  }
};

void check_spans() {
  Product p;
  CHECK(many_cpp::accumulate(p.a, std::span(p.b).first(K * N - 1), p.c) == MANY_ERROR_SHAPE);
  p.c.push_back(0);
  CHECK(many_cpp::accumulate(p.a, p.b, p.c) == MANY_ERROR_SHAPE);
  p.c.pop_back();
  CHECK(many_cpp::accumulate(p.a, p.b, p.c) == MANY_OK);
  CHECK(p.is_computed());
  CHECK(many_cpp::accumulate(p.a, p.b, std::span(p.a).first(0)) == MANY_ERROR_SHAPE);
  const std::array<std::int32_t, 1> scalar = {-3};
  const std::vector<std::int32_t> x = {1, -2, 3, -4, 5, -6, 7};
  std::int32_t o[7];
  CHECK(many_cpp::scale(scalar, x, o) == MANY_OK && o[6] == -21);
  CHECK(many_cpp::scale(x, x, o) == MANY_ERROR_SHAPE);
  const std::vector<float> factor = {2}, three = {1, 2, 3};
  std::vector<float> doubled(3);
  CHECK(many_cpp::odd_names(factor, three, doubled) == MANY_OK && doubled[2] == 6);
  std::vector<float> nothing, zeros(15, 42);
  CHECK(many_cpp::no_terms(nothing, nothing, zeros) == MANY_OK && zeros[14] == 0);
}

void check_views() {
  Product p;
  const View<const float> a = {p.a.data(), {M, K}, {K, 1}}, b = {p.b.data(), {K, N}, {1, K}};
  const View<float> c = {p.c.data(), {M, N}, {N, 1}};
  CHECK(many_cpp::accumulate(a, View<const float>{p.b.data(), {K, N}, {N, 1}}, c) == MANY_ERROR_STRIDES);
  CHECK(many_cpp::accumulate(a, View<const float>{p.b.data(), {N, K}, {K, 1}}, c) == MANY_ERROR_SHAPE);
  CHECK(many_cpp::accumulate(a, b, View<float>{p.c.data(), {M, N}, {N + 1, 1}}) == MANY_ERROR_STRIDES);
  CHECK(many_cpp::accumulate(a, b, View<float>{nullptr, {M, N}, {N, 1}}) == MANY_ERROR_NULL_POINTER);
  CHECK(many_cpp::accumulate(a, b, c) == MANY_OK);
  // Elements in a row do not say where a kernel with strides finds them.
  std::vector<float> rows(11 * 11), matrix(11 * 22);
  CHECK(many_cpp::blocks(rows, matrix, matrix) == MANY_ERROR_STRIDES);
  const View<float> left{matrix.data(), {11, 11}, {22, 1}}, right{matrix.data() + 11, {11, 11}, {22, 1}};
  CHECK(many_cpp::blocks(rows, left, right) == MANY_OK);
  const View<const float> any_a{rows.data(), {7, 5}, {6, 1}}, any_b{rows.data(), {5, 9}, {0, 2}};
  CHECK(many_cpp::any(any_a, any_b, View<float>{matrix.data(), {7, 9}, {20, 1}}) == MANY_OK);
  CHECK(many_cpp::any(any_a, any_b, View<float>{matrix.data(), {7, 9}, {8, 1}}) == MANY_ERROR_STRIDES);
  CHECK(many_cpp::any(rows, any_b, matrix) == MANY_ERROR_STRIDES);
  CHECK(p.is_computed());
  std::vector<float> zeros(15, 42);
  CHECK(many_cpp::no_terms(View<const float>{nullptr, {3, 0}, {7, 7}}, View<const float>{nullptr, {0, 5}, {5, 1}},
                           zeros) == MANY_OK);
  CHECK(zeros[0] == 0);
}

void check_complex() {
  std::vector<std::complex<float>> x(13), o(13);
  for (int i = 0; i < 13; ++i) x[i] = {static_cast<float>(i), static_cast<float>(-i)};
  CHECK(many_cpp::copy_c32(x, o) == MANY_OK && o == x);
  CHECK(many_cpp::copy_c32(x, std::span(o).first(12)) == MANY_ERROR_SHAPE);
}

void check_context() {
  const many_cpp::Context context = many_cpp::make_context();
  CHECK(many_context_set_num_threads(context.get(), 1) == MANY_OK);
  Product p;
  CHECK(many_cpp::accumulate(context, p.a, p.b, p.c) == MANY_OK);
  CHECK(p.is_computed());
  CHECK(many_cpp::accumulate(many_cpp::Context(), p.a, p.b, p.c) == MANY_ERROR_NULL_POINTER);
}

}  // namespace

int main() {
  check_spans();
  check_views();
  check_complex();
  check_context();
}
