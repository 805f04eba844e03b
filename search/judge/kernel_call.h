// One kernel on one set of buffers of this process.
#pragma once

#include <vector>

#include "search/judge/buffers.h"
#include "search/judge/host_kernel.h"

namespace tile_tune::search {

class KernelCall final : public Call {
 public:
  /// Packs the constants from what `buffers` hold. All three must outlive the call.
  KernelCall(const ir::Program& program, const Kernel& kernel, Buffers& buffers, Flush flush);
  /// Runs the kernel: 0, or one of Halide's error codes, of the packing if that failed.
  int operator()() { return code_ != 0 ? code_ : kernel_(arguments_.data()); }
  Timed run(int64_t calls) override;
  void evict() const override;
  std::string trespass() const override;

 private:
  struct Packed {
    std::vector<halide_dimension_t> dimensions;
    halide_buffer_t descriptor{};
    std::vector<GuardedBuffer> memory;  // one, once its size is known
  };
  int pack(const Kernel::Entry& entry, const ir::Tensor& tensor, Flush flush, void*& argument);

  const Kernel& kernel_;
  void* no_context_ = nullptr;
  std::vector<void*> arguments_;
  std::vector<Packed> packed_;
  int code_ = 0;
};

}  // namespace tile_tune::search
