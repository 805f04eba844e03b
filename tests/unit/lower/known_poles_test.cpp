#include "codegen/lower/known_poles.h"

#include <tile_tune/edsl.h>

#include <catch2/catch.hpp>
#include <functional>

#include "frontend/ir/canonical.h"

namespace tile_tune::codegen {
namespace {

using namespace edsl;

constexpr int64_t kExtent = 5;

struct Case {
  const char* name;
  std::function<Tensor(const Tensor&)> value;
};

// Of a tensor of 5 elements.
bool has_pole(const Case& one) {
  const auto A = Placeholder(DType::F32, {kExtent}, "A");
  return has_known_pole(ir::canonicalize(edsl::Program("f", {A}, {{"O", one.value(A)}}).ir()));
}

// A, from element `first` on, as elements of a tensor of this extent that is all zeros elsewhere.
Tensor shifted(const Tensor& A, int64_t extent, int first) {
  const TensorIndex i;
  auto T = TensorOutput(TensorDim(extent));
  T(i + first) = A(i);
  return T;
}

Tensor window_sums(const Tensor& A, int before) {
  const TensorIndex i, k;
  auto S = TensorOutput(TensorDim(kExtent - 2 + 2 * before));
  S(i) += A(i + k - before);
  S.add_constraint(k < 3);
  return S;
}

}  // namespace

TEST_CASE("elements that nothing writes are known when a kernel is compiled") {
  for (const auto& one : std::vector<Case>{
           {"before", [](const Tensor& A) { return 1.0 / shifted(A, kExtent + 1, 1); }},
           {"behind", [](const Tensor& A) { return 1.0 / shifted(A, kExtent + 1, 0); }},
           {"negated", [](const Tensor& A) { return 1.0 / -shifted(A, kExtent + 1, 0); }},
           {"in a sum", [](const Tensor& A) { return 1.0 / (2.0 * shifted(A, kExtent + 1, 0)); }},
           {"of a logarithm", [](const Tensor& A) { return log(shifted(A, kExtent + 1, 0)); }},
           {"by way of another", [](const Tensor& A) { return 1.0 / shifted(shifted(A, kExtent + 1, 0), 6, 0); }},
           {"of a window all beyond the border", [](const Tensor& A) { return 1.0 / window_sums(A, 3); }},
           {"in a branch", [](const Tensor& A) { return 1.0 / select(A < 0.5, A, 0.0); }},
       }) {
    CAPTURE(one.name);
    CHECK(has_pole(one));
  }
}

TEST_CASE("elements that are written are not known, nor are sums of such") {
  for (const auto& one : std::vector<Case>{
           {"written", [](const Tensor& A) { return 1.0 / shifted(A, kExtent, 0); }},
           {"twice", [](const Tensor& A) { return 1.0 / shifted(shifted(A, kExtent, 0), kExtent, 0); }},
           {"moved away from 0", [](const Tensor& A) { return 1.0 / (1.5 + shifted(A, kExtent + 1, 0)); }},
           {"softmax",
            [](const Tensor& A) {
              const TensorIndex i;
              auto S = TensorOutput();
              const Tensor E = exp(A);
              S() += E(i);
              return E / S;
            }},
           {"window", [](const Tensor& A) { return 1.0 / window_sums(A, 0); }},
           {"window in part beyond the border", [](const Tensor& A) { return 1.0 / window_sums(A, 2); }},
           {"sums of rows of a triangle",
            [](const Tensor& A) {
              const TensorIndex i, k;
              auto S = TensorOutput(TensorDim(kExtent));
              S(i) += A(k);
              S.add_constraint(i - k < kExtent);
              return 1.0 / S;
            }},
       }) {
    CAPTURE(one.name);
    CHECK_FALSE(has_pole(one));
  }
}

}  // namespace tile_tune::codegen
