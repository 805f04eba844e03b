// The C++ header of the package "weights", whose operand B is constant; returns the number of the line that failed.
#include <weights.hpp>

#include <vector>

int main() {
  std::vector<float> a(5 * 3, 1), b(3 * 40), c(5 * 40);
  for (int i = 0; i < 120; ++i) b[i] = static_cast<float>(i);
  std::vector<unsigned char> memory(whole_pack_B_bytes() + 64);
  void* place = memory.data();
  std::size_t space = memory.size();
  if (!std::align(64, whole_pack_B_bytes(), place, space)) return __LINE__;
  const std::span packed(static_cast<unsigned char*>(place), whole_pack_B_bytes());
  if (weights_cpp::whole_pack_B(b, packed.first(packed.size() - 1)) != WEIGHTS_ERROR_SHAPE) return __LINE__;
  if (weights_cpp::whole_pack_B(std::span(b).first(119), packed) != WEIGHTS_ERROR_SHAPE) return __LINE__;
  if (weights_cpp::whole_pack_B(b, packed) != WEIGHTS_OK) return __LINE__;
  if (weights_cpp::whole(a, memory, c) != WEIGHTS_ERROR_SHAPE) return __LINE__;
  if (weights_cpp::whole(a, packed, c) != WEIGHTS_OK) return __LINE__;
  return c[0] == 120 && c[199] == 237 ? 0 : __LINE__;
}
