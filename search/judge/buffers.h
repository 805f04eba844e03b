// The memory one kernel runs on: a guarded buffer for each input and output of a problem.
#pragma once

#include <map>
#include <span>
#include <vector>

#include "search/judge/guarded_buffer.h"
#include "search/judge/kernel_abi.h"
#include "search/judge/problem.h"

namespace tile_tune::search {

class Buffers {
 public:
  /// `problem` must outlive it: inputs may be of gigabytes and are not copied a second time.
  Buffers(const Problem& problem, Flush flush);
  Buffers(const Buffers&) = delete;
  Buffers& operator=(const Buffers&) = delete;

  void** argv() { return arguments_.argv(); }
  /// Every buffer fills its pages, so that both its ends touch a guard, however it was asked for.
  bool fill_pages() const;
  /// Before a run whose result counts: fills outputs with `pattern`, in/out ones with their initial value.
  void prepare_outputs(std::byte pattern);
  /// In/out outputs get their initial value back; nothing where there are none.
  void restore();
  /// Leaves nothing of them in a cache.
  void evict() const;
  tensor::Array output(int tensor) const;
  /// A sentence about the first input that changed or gap that was written, or empty.
  std::string trespass() const;
  std::vector<std::string> names() const;
  /// Number (of names()) of the buffer in whose guard an address lies, or -1; callable from a signal handler.
  int guarding(const void* address) const;

 private:
  struct Place {
    int tensor;  // Input or Output
    bool is_output;
    std::span<const std::byte> initial;  // in the tensor's layout; empty for a plain output
    std::vector<std::byte> permuted;     // what `initial` shows where the layout is not the problem's C order
    GuardedBuffer buffer;
  };
  static std::vector<Place> make_places(const Problem& problem, Flush flush);
  static std::map<int, std::byte*> memory_of(const std::vector<Place>& places);

  const ir::Program& program_;
  std::vector<Place> places_;
  KernelArguments arguments_;
};

}  // namespace tile_tune::search
