#include "search/judge/kernel_call.h"

#include <fmt/format.h>

#include <chrono>

#include "codegen/backend/kernel_abi.h"

namespace tile_tune::search {

KernelCall::KernelCall(const ir::Program& program, const Kernel& kernel, Buffers& buffers, Flush flush)
    : kernel_(kernel) {
  const auto numbers = codegen::kernel_arguments(program);
  if (kernel.takes_context()) arguments_.push_back(&no_context_);
  const size_t first = arguments_.size();
  arguments_.insert(arguments_.end(), buffers.argv(), buffers.argv() + numbers.size());
  packed_.reserve(numbers.size());  // descriptors stay where they are
  for (size_t i = 0; i < numbers.size() && code_ == 0; ++i)
    if (const auto entry = kernel.packing(numbers[i]))
      code_ = pack(entry, program.tensors[numbers[i]], flush, arguments_[first + i]);
}

// Asked with a buffer that has no memory, a function compiled by Halide says what it would write.
int KernelCall::pack(const Kernel::Entry& entry, const ir::Tensor& tensor, Flush flush, void*& argument) {
  auto& packed = packed_.emplace_back();
  packed.dimensions.resize(tensor.extents.size() + 2);  // iterations of a dot product and blocks at most
  packed.descriptor.dim = packed.dimensions.data();
  std::vector<void*> arguments{argument, &packed.descriptor};
  if (kernel_.takes_context()) arguments.insert(arguments.begin(), &no_context_);
  if (const int code = entry(arguments.data()); code != 0) return code;
  int64_t bytes = packed.descriptor.type.bytes();
  for (int d = 0; d < packed.descriptor.dimensions; ++d) bytes *= packed.dimensions[static_cast<size_t>(d)].extent;
  packed.memory.emplace_back(fmt::format("the packed {}", tensor.name), bytes, flush);
  packed.descriptor.host = reinterpret_cast<uint8_t*>(packed.memory.front().data());
  argument = &packed.descriptor;
  return entry(arguments.data());
}

Timed KernelCall::run(int64_t calls) {
  Timed timed;
  const auto start = std::chrono::steady_clock::now();
  for (int64_t call = 0; call < calls && timed.code == 0; ++call) timed.code = (*this)();
  if (timed.code == 0) timed.code = kernel_.finish();
  timed.ns = std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - start).count();
  return timed;
}

void KernelCall::evict() const {
  for (const auto& packed : packed_)
    for (const auto& memory : packed.memory) memory.evict();
}

std::string KernelCall::trespass() const {
  for (const auto& packed : packed_)
    for (const auto& memory : packed.memory)
      if (!memory.gap_untouched()) return fmt::format("it wrote outside {}", memory.name());
  return "";
}

}  // namespace tile_tune::search
