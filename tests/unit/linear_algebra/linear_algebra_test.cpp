// Factorisations are judged by what they are: products of the factors, orthonormal columns, triangles, order.
#include <tile_tune/linear_algebra.h>

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>
#include <random>

#include "engine/linear_algebra/batch.h"

using namespace tile_tune;
using engine::lapack::Real;
using tensor::Shape;
using tensor::Tensor;
using tensor::TensorView;

namespace {

/// A matrix of a batch, in double precision.
struct Matrix {
  int64_t rows = 0, columns = 0;
  std::vector<std::complex<double>> elements;

  Matrix(int64_t r, int64_t c) : rows(r), columns(c), elements(static_cast<size_t>(r * c)) {}
  std::complex<double>& operator()(int64_t i, int64_t j) { return elements[static_cast<size_t>(i + j * rows)]; }
  std::complex<double> operator()(int64_t i, int64_t j) const { return elements[static_cast<size_t>(i + j * rows)]; }
};

Matrix operator*(const Matrix& a, const Matrix& b) {
  Matrix c(a.rows, b.columns);
  for (int64_t i = 0; i < a.rows; ++i)
    for (int64_t j = 0; j < b.columns; ++j)
      for (int64_t k = 0; k < a.columns; ++k) c(i, j) += a(i, k) * b(k, j);
  return c;
}

Matrix adjoint(const Matrix& a) {
  Matrix c(a.columns, a.rows);
  for (int64_t i = 0; i < a.rows; ++i)
    for (int64_t j = 0; j < a.columns; ++j) c(j, i) = std::conj(a(i, j));
  return c;
}

Matrix identity(int64_t n) {
  Matrix c(n, n);
  for (int64_t i = 0; i < n; ++i) c(i, i) = 1;
  return c;
}

double distance(const Matrix& a, const Matrix& b) {
  REQUIRE((a.rows == b.rows && a.columns == b.columns));
  double most = 0;
  for (size_t i = 0; i < a.elements.size(); ++i) most = std::max(most, std::abs(a.elements[i] - b.elements[i]));
  return most;
}

/// The matrix of a number, the batch's first index fastest; a vector is a diagonal matrix.
template <typename T>
Matrix entry(const Tensor& tensor, int64_t number, bool is_diagonal = false) {
  const auto all = *tensor.template elements<T>();
  const int64_t rows = tensor.shape()[0], columns = is_diagonal ? rows : tensor.shape()[1];
  Matrix matrix(rows, columns);
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = 0; j < columns; ++j)
      if (is_diagonal)
        matrix(i, j) = i == j ? std::complex<double>(all[static_cast<size_t>(number * rows + i)]) : 0;
      else
        matrix(i, j) = std::complex<double>(all[static_cast<size_t>((number * columns + j) * rows + i)]);
  return matrix;
}

template <typename T>
Tensor random_tensor(const Shape& shape, unsigned seed) {
  std::mt19937 random(seed);
  const auto draw = [&] { return static_cast<Real<T>>(static_cast<int>(random() % 2001) - 1000) / 500; };
  auto tensor = *Tensor::zeros(tensor::kElementType<T>, shape);
  for (T& element : *tensor.template elements<T>())
    if constexpr (engine::lapack::kIsComplex<T>)
      element = {draw(), draw()};
    else
      element = draw();
  return tensor;
}

/// a a^H + 1 of each matrix: Hermitian, positive definite.
template <typename T>
Tensor positive_tensor(const Shape& shape, unsigned seed) {
  const auto from = random_tensor<T>(shape, seed);
  auto tensor = *Tensor::zeros(tensor::kElementType<T>, shape);
  const int64_t n = shape[0];
  const auto all = *tensor.template elements<T>();
  for (int64_t number = 0; number < tensor.element_count() / (n * n); ++number) {
    const Matrix a = entry<T>(from, number), square = a * adjoint(a);
    for (int64_t i = 0; i < n; ++i)
      for (int64_t j = 0; j < n; ++j) {
        const auto value = square(i, j) + (i == j ? 1.0 : 0.0);
        T& element = all[static_cast<size_t>((number * n + j) * n + i)];
        if constexpr (engine::lapack::kIsComplex<T>)
          element = T(static_cast<Real<T>>(value.real()), static_cast<Real<T>>(value.imag()));
        else
          element = static_cast<T>(value.real());
      }
  }
  return tensor;
}

/// Of results of numbers of a few units, of n terms.
template <typename T>
double tolerance(int64_t n) {
  return 200.0 * static_cast<double>(n + 1) * std::numeric_limits<Real<T>>::epsilon();
}

template <typename T>
bool is_lower(const Matrix& a) {
  for (int64_t j = 0; j < a.columns; ++j)
    for (int64_t i = 0; i < std::min(j, a.rows); ++i)
      if (a(i, j) != 0.0) return false;
  return true;
}

}  // namespace

TEMPLATE_TEST_CASE("Factors multiply to what was factored", "", float, double, std::complex<float>,
                   std::complex<double>) {
  using T = TestType;
  using R = Real<T>;
  for (const Shape& shape :
       std::vector<Shape>{{5, 5}, {1, 1}, {7, 3}, {3, 7}, {1, 6}, {6, 1}, {4, 3, 2, 3}, {3, 4, 5}, {2, 2, 1}}) {
    CAPTURE(shape);
    const Tensor a = random_tensor<T>(shape, 3);
    const int64_t m = shape[0], n = shape[1], k = std::min(m, n), entries = a.element_count() / (m * n);
    const double bound = tolerance<T>(m + n);
    const auto q_and_r = engine::qr(*a.view());
    const auto parts = engine::svd(*a.view());
    REQUIRE(q_and_r);
    REQUIRE(parts);
    CHECK((q_and_r->q.shape()[0] == m && q_and_r->q.shape()[1] == k && q_and_r->q.rank() == shape.size()));
    CHECK((parts->s.shape()[0] == k && parts->s.rank() == shape.size() - 1));
    CHECK(parts->s.type() == tensor::kElementType<R>);
    for (int64_t number = 0; number < entries; ++number) {
      const Matrix whole = entry<T>(a, number);
      const Matrix q = entry<T>(q_and_r->q, number), r = entry<T>(q_and_r->r, number);
      CHECK(distance(q * r, whole) < bound);
      CHECK(distance(adjoint(q) * q, identity(k)) < bound);
      CHECK(is_lower<T>(adjoint(r)));
      const Matrix u = entry<T>(parts->u, number), s = entry<R>(parts->s, number, true),
                   vt = entry<T>(parts->vt, number);
      CHECK(distance(u * s * vt, whole) < bound);
      CHECK(distance(adjoint(u) * u, identity(k)) < bound);
      CHECK(distance(vt * adjoint(vt), identity(k)) < bound);
      for (int64_t i = 0; i < k; ++i)
        CHECK((s(i, i).real() >= 0 && (i == 0 || s(i, i).real() <= s(i - 1, i - 1).real())));
    }
  }
}

TEMPLATE_TEST_CASE("Square matrices: roots, solutions, eigenvectors", "", float, double, std::complex<float>,
                   std::complex<double>) {
  using T = TestType;
  using R = Real<T>;
  for (const Shape& shape : std::vector<Shape>{{1, 1}, {5, 5}, {3, 3, 7}, {4, 4, 2, 3}, {2, 2, 1, 1}}) {
    CAPTURE(shape);
    const Tensor a = positive_tensor<T>(shape, 11);
    Shape sides = shape;
    sides[1] = 3;
    const Tensor b = random_tensor<T>(sides, 12);
    const int64_t n = shape[0], entries = a.element_count() / (n * n);
    const double bound = 20 * tolerance<T>(n);
    const auto root = engine::cholesky(*a.view());
    const auto x = engine::solve(*a.view(), *b.view());
    const auto eigen = engine::eigh(*a.view());
    REQUIRE(root);
    REQUIRE(x);
    REQUIRE(eigen);
    CHECK(x->shape() == sides);
    CHECK(eigen->values.type() == tensor::kElementType<R>);
    for (int64_t number = 0; number < entries; ++number) {
      const Matrix whole = entry<T>(a, number), l = entry<T>(*root, number);
      CHECK(distance(l * adjoint(l), whole) < bound);
      CHECK(is_lower<T>(l));
      CHECK(distance(whole * entry<T>(*x, number), entry<T>(b, number)) < bound);
      const Matrix v = entry<T>(eigen->vectors, number), d = entry<R>(eigen->values, number, true);
      CHECK(distance(whole * v, v * d) < bound);
      CHECK(distance(adjoint(v) * v, identity(n)) < bound);
      for (int64_t i = 1; i < n; ++i) CHECK(d(i, i).real() >= d(i - 1, i - 1).real());
    }
  }
}

TEST_CASE("Only the lower triangle of Hermitian matrices is read") {
  const std::vector<double> elements{4, 2, std::numeric_limits<double>::infinity(), 5};
  const auto a = *TensorView::of(std::span<const double>(elements), {2, 2});
  const auto root = engine::cholesky(a);
  REQUIRE(root);
  CHECK((*root->elements<double>())[0] == 2);
  CHECK((*root->elements<double>())[1] == 1);
  CHECK((*root->elements<double>())[2] == 0);
  CHECK((*root->elements<double>())[3] == 2);
}

TEST_CASE("Views are factored as they lie") {
  // As rows, the batch last and backwards.
  const Tensor from = random_tensor<double>({2, 4, 3}, 5);
  const auto view = *from.view()->transpose({2, 1, 0})->slice({{0, 3, 1}, {0, 4, 1}, {-1, -1, -1}});
  const auto of_view = engine::qr(view), of_copy = engine::qr(*to_contiguous(view)->view());
  REQUIRE(of_view);
  CHECK(std::ranges::equal(*of_view->q.elements<double>(), *of_copy->q.elements<double>()));
  const auto first = *from.elements<double>();
  CHECK(std::abs(entry<double>(of_view->q, 1)(0, 0) * entry<double>(of_view->r, 1)(0, 1) +
                 entry<double>(of_view->q, 1)(0, 1) * entry<double>(of_view->r, 1)(1, 1) - first[2]) < 1e-12);
}

TEST_CASE("Without elements there are results without elements, or zeros where there are") {
  for (const Shape& shape : std::vector<Shape>{{0, 0}, {0, 3}, {3, 0}, {2, 2, 0}, {0, 0, 4}}) {
    CAPTURE(shape);
    const Tensor a = *Tensor::zeros(DType::F64, shape);
    const int64_t k = std::min(shape[0], shape[1]);
    const auto q_and_r = engine::qr(*a.view());
    const auto parts = engine::svd(*a.view());
    REQUIRE(q_and_r);
    REQUIRE(parts);
    CHECK((q_and_r->q.shape()[0] == shape[0] && q_and_r->q.shape()[1] == k && q_and_r->r.shape()[1] == shape[1]));
    CHECK((parts->u.shape()[1] == k && parts->s.shape()[0] == k && parts->vt.shape()[0] == k));
    if (shape[0] != shape[1]) continue;
    CHECK(engine::cholesky(*a.view())->shape() == shape);
    CHECK(engine::eigh(*a.view())->values.shape()[0] == shape[0]);
    CHECK(engine::solve(*a.view(), *a.view())->shape() == shape);
  }
  const Tensor square = random_tensor<double>({2, 2}, 1), nothing = *Tensor::zeros(DType::F64, {2, 0});
  CHECK(engine::solve(*square.view(), *nothing.view())->shape() == Shape{2, 0});
}

TEST_CASE("Errors name the operation, the batch entry and its number") {
  auto a = positive_tensor<double>({3, 3, 2, 2}, 2);
  (*a.elements<double>())[2 * 9 + 4] = -1;  // matrix 2, row and column 1
  for (const int threads : {1, 2, 3, 4}) {
    const auto root = engine::cholesky(*a.view(), {threads});
    REQUIRE(!root);
    CHECK(root.error().code == "not-positive-definite");
    CHECK(root.error().operation == "cholesky");
    CHECK(root.error().numbers == std::vector<int64_t>{2, 2});
    CHECK(root.error().message ==
          "cholesky: the leading minor of order 2 of matrix 2 of the batch is not positive definite");
  }
  (*a.elements<double>())[4] = std::numeric_limits<double>::quiet_NaN();
  CHECK(engine::cholesky(*a.view()).error().numbers == std::vector<int64_t>{0, 2});
  CHECK(engine::eigh(*a.view()).error().code == "not-finite");
  CHECK(engine::svd(*a.view()).error().numbers == std::vector<int64_t>{0});

  auto singular = random_tensor<float>({2, 2, 3}, 4);
  const auto elements = *singular.elements<float>();
  elements[4] = 1, elements[5] = 2, elements[6] = 2, elements[7] = 4;
  const auto sides = random_tensor<float>({2, 1, 3}, 4);
  CHECK(engine::solve(*singular.view(), *sides.view()).error().message ==
        "solve: matrix 1 of the batch is singular: pivot 2 is zero");
  const auto code = [](const auto& made) { return made.error().code; };
  const Tensor of_floats = random_tensor<float>({3, 1, 3}, 1), two = random_tensor<float>({2, 1, 2}, 1);
  const Tensor wide = random_tensor<float>({2, 3}, 1), vector = random_tensor<float>({3}, 1);
  const Tensor integers = *Tensor::zeros(DType::I32, {3, 3});
  const Tensor large = *Tensor::zeros(DType::F32, {int64_t{1} << 31, 0});
  CHECK(code(engine::solve(*a.view(), *singular.view())) == "dtype-mismatch");
  CHECK(code(engine::solve(*singular.view(), *of_floats.view())) == "shape-mismatch");
  CHECK(code(engine::solve(*singular.view(), *two.view())) == "shape-mismatch");
  CHECK(code(engine::cholesky(*wide.view())) == "shape-mismatch");
  CHECK(code(engine::qr(*vector.view())) == "rank-mismatch");
  CHECK(code(engine::qr(*integers.view())) == "dtype-mismatch");
  CHECK(code(engine::qr(*large.view())) == "too-large");
}

TEST_CASE("Batches are computed by threads, each entry once, and the first failure is told") {
  const auto library = engine::lapack::library();
  REQUIRE(library);
  for (const int64_t entries : {0, 1, 2, 5, 64}) {
    for (const int threads : {1, 2, 3, 7}) {
      std::vector<int> calls(static_cast<size_t>(entries), 0);
      CHECK(!engine::for_each_entry(entries, threads, **library, [&](int64_t entry, int) {
        ++calls[static_cast<size_t>(entry)];
        return 0;
      }));
      CHECK(std::ranges::count(calls, 1) == entries);
      const auto failed = engine::for_each_entry(
          entries, threads, **library, [](int64_t entry, int) { return entry >= 3 ? static_cast<int>(entry) : 0; });
      CHECK(failed.has_value() == (entries > 3));
      if (failed) CHECK((failed->entry == 3 && failed->info == 3));
    }
  }
  CHECK(engine::threads_for(1, 1e12, 4) == 1);
  CHECK(engine::threads_for(100, 10, 4) == 1);
  CHECK(engine::threads_for(100, 1e9, 4) == 4);
}
