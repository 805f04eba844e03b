// A compiled kernel as bytes: what the process that compiles one hands to the process that calls it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <tile_tune/message.h>
#include <vector>

#include "frontend/diagnostic/diagnostic.h"
#include "frontend/tensor/dtype.h"

namespace tile_tune::engine {

/// One of the compiled function's arguments (codegen/backend/kernel_abi.h).
struct ImageArgument {
  enum class Kind {
    Input,
    Initial,  // the value that an in/out output starts from: the caller's array of that output
    Output,
    Check,  // a number of the kernel's that is not 0 once an index was outside its tensor (ir/index_checks.h)
  };
  Kind kind = Kind::Input;
  std::string name;  // of a check: which index that is
  int position = 0;  // among the caller's inputs, outputs, or among the checks
  DType type = DType::F32;
  std::vector<int64_t> shape, strides;  // in elements
  std::vector<int> order;               // the dimensions, that of neighbours in memory first
  bool is_strided = false;              // else compact: of many sizes strides follow from the shape
  std::vector<int> free = {};           // dimensions whose stride is the caller's: `strides` has an example
};

struct KernelImage {
  std::string program;  // its name
  std::string function;
  std::vector<ImageArgument> arguments;
  int inputs = 0, outputs = 0, checks = 0;
  int threads = 1;
  std::string provenance, rung;   // of its schedule (engine/records/schedule_choice.h)
  std::vector<Message> messages;  // that came of choosing it
  /// The arguments' shapes are of one size, and so are strides in C order; it takes others (LoadedKernel::at).
  bool is_for_many_sizes = false;
  /// Of one for many sizes or strides: the programs that the database has schedules of, for this target, each as its
  /// content hash, a space and ir::layout_text().
  std::vector<std::string> recorded = {};
  std::string object;  // what the loader takes; empty: outputs without elements, of which nothing is computed
};

std::string to_bytes(const KernelImage& image);
/// Code: bad-kernel. Extents, orders and positions fit each other afterwards.
Result<KernelImage> image_from_bytes(std::string_view bytes);

}  // namespace tile_tune::engine
