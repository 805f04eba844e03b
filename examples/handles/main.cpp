// A chain of matrices contracted step by step, as tensor networks are, and a layer of a network: kernels that are
// compiled by the first call, kept in the user's cache, and called on arrays as they lie.
#include <tile_tune/einsum_call.h>
#include <tile_tune/tc.h>

#include <cstdio>
#include <cstdlib>
#include <vector>

using namespace tile_tune;
using engine::array;

namespace {

void require(const engine::Expected<void>& done) {
  if (done) return;
  std::fprintf(stderr, "%s [%s]\n", done.error().message.c_str(), done.error().code.c_str());
  std::exit(1);
}

}  // namespace

int main() {
  // <psi|psi> of a matrix product state: sites of bond x physical x bond, contracted from the left.
  constexpr int64_t kSites = 8, kBond = 6, kPhysical = 2;
  std::vector<double> site(kBond * kPhysical * kBond), left(kBond * kBond, 0), half(kBond * kBond * kPhysical),
      next(left);
  for (size_t i = 0; i < site.size(); ++i) site[i] = static_cast<double>(i % 7) / 7 - 0.4;
  left[0] = 1;
  const auto tensor = array(site.data(), {kBond, kPhysical, kBond});
  for (int64_t s = 0; s < kSites; ++s) {
    require(engine::einsum("ab,apc->bpc", std::vector{array(left.data(), {kBond, kBond}), tensor},
                           array(half.data(), {kBond, kPhysical, kBond})));
    require(engine::einsum("bpc,bpd->cd", std::vector{array(half.data(), {kBond, kPhysical, kBond}), tensor},
                           array(next.data(), {kBond, kBond})));
    left.swap(next);
  }
  double norm = 0;
  require(engine::einsum("ii->", std::vector{array(left.data(), {kBond, kBond})}, array(&norm, {})));
  std::printf("norm %.6e\n", norm);

  // A layer with bias and activation; the weights are stored by columns, and each batch may have another size.
  const auto program = tc::parse(
                           "def layer(float(B,I) x, float(I,O) w, float(O) bias) -> (y) {\n"
                           "  h(b,o) +=! x(b,i) * w(i,o)\n  y(b,o) = fmax(h(b,o) + bias(o), 0.0) }")
                           .front();
  const auto layer = engine::compile(program);
  if (!layer) {
    std::fprintf(stderr, "%s\n", layer.error().message.c_str());
    return 1;
  }
  constexpr int64_t kIn = 5, kOut = 3;
  const std::vector<float> w(kIn * kOut, 0.5f), bias{-1, 0, 1};
  for (const int64_t batch : {2, 7, 1}) {
    const std::vector<float> x(static_cast<size_t>(batch * kIn), 1);
    std::vector<float> y(static_cast<size_t>(batch * kOut));
    require((*layer)(
        std::vector{array(x.data(), {batch, kIn}), array(w.data(), {kIn, kOut}, {1, kIn}), array(bias.data(), {kOut})},
        std::vector{array(y.data(), {batch, kOut})}));
    std::printf("layer of %d: %g %g %g\n", static_cast<int>(batch), y[0], y[1], y[2]);
  }
}
