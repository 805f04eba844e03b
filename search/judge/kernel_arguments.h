// How compiled kernels are called: by descriptors of buffers (codegen/backend/kernel_abi.h).
//
// HalideRuntime.h is a plain C header; this file and the executors' sources include it.
#pragma once

#include <HalideRuntime.h>

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "frontend/ir/program.h"
#include "frontend/tensor/array.h"

namespace tile_tune::search {

/// The entry point of every kernel the workers build, and what ends the name of the form of a function that takes an
/// array of arguments.
inline constexpr const char* kKernelFunction = "tile_tune_kernel";
inline constexpr const char* kArrayEntry = "_argv";

/// Optional, `const char* (*)()`: libraries that are not ours name themselves.
inline constexpr const char* kKernelNote = "tile_tune_kernel_note";
/// Optional, `int (*)()`: libraries that are not ours may queue calls, and end them all here.
inline constexpr const char* kKernelFinish = "tile_tune_kernel_finish";
/// A variable of libraries that are no objects: where they say why a call failed, as halide_error_handler_t.
inline constexpr const char* kKernelError = "tile_tune_kernel_error";

/// Buffer descriptors for one call's worth of memory. `memory` gives each Input's and each Output's data; an in/out
/// output's initial value shares the output's memory.
class KernelArguments {
 public:
  KernelArguments(const ir::Program& program, const std::map<int, std::byte*>& memory);
  KernelArguments(const KernelArguments&) = delete;
  KernelArguments& operator=(const KernelArguments&) = delete;
  void** argv() { return pointers_.data(); }

 private:
  std::vector<std::vector<halide_dimension_t>> dimensions_;
  std::vector<halide_buffer_t> buffers_;
  std::vector<void*> pointers_;
};

int64_t storage_bytes(const ir::Tensor& tensor);
/// Whether the array's elements lie as those of the tensor.
bool lies_as(const tensor::Array& array, const ir::Tensor& tensor);
/// Into the memory of a tensor, in which gaps between elements stay as they are.
void to_storage(const ir::Tensor& tensor, const tensor::Array& array, std::byte* storage);
/// Out of it: as it lies there, and in C order.
tensor::Array as_stored(const ir::Tensor& tensor, const std::byte* storage);
tensor::Array from_storage(const ir::Tensor& tensor, const std::byte* storage);

}  // namespace tile_tune::search
