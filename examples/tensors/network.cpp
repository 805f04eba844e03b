// A tensor network: the expectation value of a sum of local operators in a matrix product state, with open ends. Each
// site has a tensor left x physical x right; the whole of it is one einsum of many operands, whose order is searched.
#include <tile_tune/tensor_einsum.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

using namespace tile_tune;
using tensor::HostTensor;
using tensor::TensorView;

namespace {

template <typename T>
T required(engine::Expected<T> made) {
  if (made) return std::move(*made);
  std::fprintf(stderr, "%s [%s]\n", made.error().message.c_str(), made.error().code.c_str());
  std::exit(1);
}

}  // namespace

int main() {
  constexpr int kSites = 4;
  constexpr int64_t kBond = 8, kPhysical = 2;
  std::vector<HostTensor<double, 3>> sites;
  for (int s = 0; s < kSites; ++s) {
    const int64_t left = s == 0 ? 1 : kBond, right = s + 1 == kSites ? 1 : kBond;
    sites.push_back(required(HostTensor<double, 3>::zeros({left, kPhysical, right})));
    for (size_t i = 0; i < sites.back().elements().size(); ++i)
      sites.back().elements()[i] = static_cast<double>((i * 7 + static_cast<size_t>(s) * 3) % 11) / 11 - 0.4;
  }
  auto flip = required(HostTensor<double, 2>::zeros({kPhysical, kPhysical}));
  flip(0, 1) = flip(1, 0) = 1;

  // <psi|psi>, and <psi|X|psi> with X at each site: bonds of ket and bra have labels of their own, the physical ones
  // are shared but where X stands between them. Labels are numbers, so that programs can make them.
  const auto expectation = [&](int site) {
    std::vector<std::vector<int64_t>> labels;
    std::vector<TensorView> operands;
    for (int s = 0; s < kSites; ++s) {
      const int64_t ket = 10 * s, bra = 10 * s + 1, physical = 10 * s + 2, other = s == site ? 10 * s + 3 : physical;
      labels.push_back({ket, physical, ket + 10});
      labels.push_back({bra, other, bra + 10});
      operands.push_back(sites[static_cast<size_t>(s)].view());
      operands.push_back(sites[static_cast<size_t>(s)].view());
      if (s == site) {
        labels.push_back({other, physical});
        operands.push_back(flip.view());
      }
    }
    const auto value = required(engine::einsum(required(engine::subscripts_of(labels, {})), operands));
    return (*value.elements<double>())[0];
  };
  const double norm = expectation(-1);
  std::printf("norm %.6e\n", norm);
  for (const int site : {0, kSites - 1}) std::printf("<X> at site %d: %+.6f\n", site, expectation(site) / norm);
}
