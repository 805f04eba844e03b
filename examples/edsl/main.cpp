// A padded convolution with bias and ReLU, written in the Tile eDSL: built, saved and run.
//
//   cmake -B build -D CMAKE_PREFIX_PATH=PREFIX && cmake --build build && build/edsl_example conv.json
#include <tile_tune/edsl.h>
#include <tile_tune/engine.h>

#include <iostream>
#include <vector>

using namespace tile_tune;
using namespace tile_tune::edsl;

Tensor convolution(const Tensor& I, const Tensor& K, const Tensor& B) {
  TensorDim N, X, KX, CI, CO;
  TensorIndex n("n"), x("x"), k("k"), ci("ci"), co("co");
  I.bind_dims(N, X, CI);
  K.bind_dims(KX, CI, CO);
  auto O = TensorOutput(N, X, CO);
  // Indices that would leave I are not valid, so it needs no padding.
  O(n, x, co) += I(n, x + k - KX / 2, ci) * K(k, ci, co);
  return relu(O + B);
}

int main(int argc, char** argv) try {
  const auto I = Placeholder(DType::F32, {1, 9, 2}, "I"), K = Placeholder(DType::F32, {3, 2, 4}, "K"),
             B = Placeholder(DType::F32, {4}, "B");
  const Program program("conv", {I, K, B}, {{"O", convolution(I, K, B)}});
  std::cout << program;
  if (argc > 1) program.save(argv[1]);

  const std::vector<float> ones(1 * 9 * 2, 1), weights(3 * 2 * 4, 0.5f), bias{-1, 0, 1, -9};
  std::vector<float> result(1 * 9 * 4);
  engine::run(program, {{"I", engine::array(ones.data(), {1, 9, 2})},
                        {"K", engine::array(weights.data(), {3, 2, 4})},
                        {"B", engine::array(bias.data(), {4})},
                        {"O", engine::array(result.data(), {1, 9, 4})}});
  std::cout << "border:";
  for (int co = 0; co < 4; ++co) std::cout << ' ' << result[co];
  std::cout << "\ninside:";
  for (int co = 0; co < 4; ++co) std::cout << ' ' << result[4 * 4 + co];
  std::cout << "\n";
  return 0;
} catch (const ProgramError& error) {
  std::cerr << error.what() << "\n";
  return 1;
}
