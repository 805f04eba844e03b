// A compiled kernel in this process, and calls of it on the caller's arrays.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include <tile_tune/array.h>

#include "codegen/load/loaded_object.h"
#include "engine/handles/image.h"
#include "engine/handles/runtime.h"

namespace tile_tune::engine {

/// Of a kernel, with the outputs of its checks. A call holds a descriptor of 56 bytes for each on its stack; networks
/// of 200 tensors are in use.
inline constexpr size_t kMostArguments = 256;
tl::unexpected<Diagnostic> too_many_arguments(const std::string& program, size_t arguments);

class LoadedKernel {
 public:
  /// Codes: object-not-loaded, too-many-arguments.
  static Result<std::shared_ptr<const LoadedKernel>> load(KernelImage image);

  /// One for many sizes, or for any strides, for these arrays, which have the image's types and ranks, strides as it
  /// has them where they are not free, and an element at least.
  Result<std::shared_ptr<const LoadedKernel>> at(std::span<const Array> inputs, std::span<const Array> outputs) const;

  const KernelImage& image() const { return image_; }

  /// Whether it takes exactly the arrays that the other one takes.
  bool takes_what(const LoadedKernel& other) const;
  /// Whether these are arrays of the kernel's types, shapes and strides.
  bool fits(std::span<const Array> inputs, std::span<const Array> outputs) const;
  /// What does not fit. Codes: array-count, dtype-mismatch, size-conflict, bad-array.
  Diagnostic misfit(std::span<const Array> inputs, std::span<const Array> outputs) const;

  /// Of arrays that fit. Takes no memory but what the kernel itself needs, and that only when a thread calls for the
  /// first time. Codes: bad-array (a null or misaligned pointer, an output over another argument),
  /// gather-out-of-range, out-of-memory, kernel-failed.
  Result<void> call(std::span<const Array> inputs, std::span<const Array> outputs) const;

 private:
  Result<void> prepare();
  Result<void> check_pointers(std::span<const Array> inputs, std::span<const Array> outputs) const;

  KernelImage image_;
  std::vector<std::vector<tile_tune_dimension>> dimensions_;  // of each argument, as Halide has them
  std::vector<tile_tune_buffer> buffers_;                     // without pointers
  std::vector<tile_tune_argument> signature_;                 // of inputs_, then of outputs_
  std::vector<const ImageArgument*> inputs_, outputs_;        // by position
  tile_tune_context context_ = {};                            // of every call
  std::optional<codegen::LoadedObject> object_;               // none: nothing is computed
  int (*entry_)(void**) = nullptr;
};

}  // namespace tile_tune::engine
