// The C++ header of the package "weights", whose operand B is constant; returns the number of the line that failed.
#include <weights.hpp>

#include <algorithm>
#include <type_traits>
#include <vector>

// Operands and kernels cannot be mixed up, nor can elements be given for what is packed.
static_assert(!std::is_invocable_v<decltype(whole), const float*, const float*, float*>);
static_assert(!std::is_invocable_v<decltype(whole), const float*, const in_part_packed_B*, float*>);
static_assert(std::is_invocable_v<decltype(whole), const float*, const whole_packed_B*, float*>);

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
  if (c[0] != 120 || c[199] != 237) return __LINE__;
  std::fill(packed.begin(), packed.begin() + 8, static_cast<unsigned char>(0));
  if (weights_cpp::whole(a, packed, c) != WEIGHTS_ERROR_NOT_PACKED) return __LINE__;
  const auto context = weights_cpp::make_context();
  if (weights_cpp::whole(context, a, packed, c) != WEIGHTS_ERROR_NOT_PACKED) return __LINE__;
  if (weights_cpp::in_part_pack_B(std::vector<float>(3 * 43), packed) != WEIGHTS_ERROR_SHAPE) return __LINE__;
  if (weights_cpp::whole_pack_B(b, packed) != WEIGHTS_OK) return __LINE__;
  packed[40] ^= 1;
  return weights_cpp::whole(context, a, packed, c) == WEIGHTS_ERROR_PACKED_FORM ? 0 : __LINE__;
}
