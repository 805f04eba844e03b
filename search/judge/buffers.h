// The memory of this process that kernels run on.
#pragma once

#include <map>
#include <span>
#include <vector>

#include "search/judge/executor.h"
#include "search/judge/kernel_arguments.h"

namespace tile_tune::search {

class Buffers final : public Memory {
 public:
  Buffers(const Problem& problem, Flush flush);
  Buffers(const Buffers&) = delete;
  Buffers& operator=(const Buffers&) = delete;

  void** argv() { return arguments_.argv(); }
  bool fill_pages() const override;
  void prepare_outputs(std::byte pattern) override;
  void restore() override;
  void evict() const override;
  tensor::Array output(int tensor) const override;
  tensor::Array stored_output(int tensor) const override;
  std::string trespass() const override;
  std::vector<std::string> names() const;
  /// Each buffer's data, in the order of names().
  std::vector<std::span<std::byte>> data() const;
  /// Which of them restore() fills.
  std::vector<bool> restored() const;
  /// Number (of names()) of the buffer in whose guard an address lies, or -1; callable from a signal handler.
  int guarding(const void* address) const;

 private:
  struct Place {
    int tensor;  // Input or Output
    bool is_output;
    std::span<const std::byte> initial;  // as the tensor is stored; empty for a plain output
    std::vector<std::byte> permuted;     // what `initial` shows where the problem's array lies otherwise
    GuardedBuffer buffer;
  };
  static std::vector<Place> make_places(const Problem& problem, Flush flush);
  static std::map<int, std::byte*> memory_of(const std::vector<Place>& places);

  /// Whether what lies between an output's elements is as prepare_outputs() and restore() left it.
  bool gaps_untouched(const Place& place) const;

  const ir::Program& program_;
  std::byte pattern_{};  // of prepare_outputs()
  std::vector<Place> places_;
  KernelArguments arguments_;
};

}  // namespace tile_tune::search
