// Batched linear algebra: straight lines through many sets of points, by QR and by the normal equations, and the
// principal axes of each set. Batches come last: [rows, columns, batch].
#include <tile_tune/linear_algebra.h>
#include <tile_tune/tensor_einsum.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>

using namespace tile_tune;
using tensor::HostTensor;
using tensor::HostView;

namespace {

template <typename T>
T required(engine::Expected<T> made) {
  if (made) return std::move(*made);
  std::fprintf(stderr, "%s [%s]\n", made.error().message.c_str(), made.error().code.c_str());
  std::exit(1);
}

}  // namespace

int main() {
  constexpr int64_t kPoints = 20, kSets = 50;
  auto a = required(HostTensor<double, 3>::zeros({kPoints, 2, kSets}));
  auto y = required(HostTensor<double, 3>::zeros({kPoints, 1, kSets}));
  for (int64_t set = 0; set < kSets; ++set)
    for (int64_t p = 0; p < kPoints; ++p) {
      const auto x = static_cast<double>(p) / kPoints;
      a(p, 0, set) = 1;
      a(p, 1, set) = x;
      y(p, 0, set) = static_cast<double>(set) - 3 * x + 0.3 * std::cos(40 * x);
    }

  // a = q r: the coefficients c of least squares solve r c = q^T y.
  const auto factors = required(engine::qr(a.view()));
  const auto projected = required(engine::einsum("pkb,pnb->knb", factors.q, y));
  const auto by_qr = required(engine::solve(required(factors.r.view()), required(projected.view())));

  const auto gram = required(engine::einsum("pib,pjb->ijb", a, a));
  const auto right = required(engine::einsum("pib,pnb->inb", a, y));
  const auto by_normal = required(engine::solve(required(gram.view()), required(right.view())));

  const auto qr = required(HostView<double, 3>::of(required(by_qr.view())));
  const auto normal = required(HostView<double, 3>::of(required(by_normal.view())));
  double difference = 0;
  for (int64_t set = 0; set < kSets; ++set)
    for (int64_t i = 0; i < 2; ++i) difference = std::fmax(difference, std::abs(qr(i, 0, set) - normal(i, 0, set)));
  std::printf("set 7: %.3f %+.3f x; the two ways differ by less than 1e-10: %s\n", qr(0, 0, 7), qr(1, 0, 7),
              difference < 1e-10 ? "yes" : "no");

  const auto axes = required(engine::eigh(required(gram.view())));
  const auto values = required(HostView<double, 2>::of(required(axes.values.view())));
  std::printf("condition of the normal equations: %.1f\n", values(1, 0) / values(0, 0));

  // A matrix that has no root: the error says which.
  auto broken = required(duplicate(gram));
  required(broken.elements<double>())[4 * 3] = -1;
  const auto root = engine::cholesky(required(broken.view()));
  std::printf("refused: %s\n", root ? "nothing" : root.error().message.c_str());
}
