// The C signature of one kernel as plain data: what header, wrapper and manifest are written from.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "codegen/emit/package.h"
#include "codegen/emit/runtime/tile_tune_status.h"
#include "codegen/schedule/packed_form.h"

namespace tile_tune::codegen {

/// Of packed operands, in bytes: a cache line, so that vectors do not cross two.
inline constexpr int64_t kPackedAlignment = 64;
/// What they begin with (runtime/tile_tune_packed.h), in bytes.
inline constexpr int64_t kPackedHeader = 64;

/// What the pointer of a constant shows: the bytes that FUNCTION_pack_PARAMETER writes.
struct PackedArgument {
  int tensor = -1;                        // its number in the program
  std::optional<PackedForm> form;         // nothing: the elements as they are
  int64_t filled = 0;                     // bytes of the form
  int64_t bytes = 0;                      // header, form and what makes it a multiple of kPackedAlignment
  std::vector<std::string> digests = {};  // packed_digest() of each alternative, in order (alternatives.h)
};

/// One pointer parameter. shape and strides are in subscript order; strides count elements. Of a constant they are
/// those of the tensor that is packed.
struct Argument {
  std::string tensor;     // the program's name
  std::string parameter;  // the name in the header
  DType type = DType::F32;
  ir::Storage storage = {};
  std::vector<int64_t> shape;
  std::vector<int64_t> strides;
  bool is_output = false;
  bool is_in_out = false;                     // an output whose value on entry is read
  std::optional<PackedArgument> packed = {};  // a constant

  int64_t bytes() const;   // from the first to the last element in memory
  int64_t before() const;  // of those, what lies before the pointer, which shows element (0, ..., 0)
  int parts() const;       // 2 for complex types, whose real and imaginary parts lie side by side
};

/// Of an entry that takes sizes (sized_entry.h): its first parameters, what it takes, and the extents of each argument
/// as C has them.
struct EntrySizes {
  std::vector<std::string> names;
  std::vector<EntrySize> taken;
  bool listed_only = false;  // sizes that are not listed are refused
  std::vector<std::vector<std::string>> extents;
};

/// What launches kernels; None: they run on the CPU.
enum class Driver : uint8_t { None, OpenCl, Cuda };
Driver driver_of(const Target& target);

struct Signature {
  std::string function;
  std::vector<Argument> arguments;  // inputs, then outputs, each in signature order
  size_t inputs = 0;
  std::vector<size_t>
      buffers;  // which argument each buffer of the compiled function shows; an in/out one is shown twice
  std::optional<EntrySizes> sizes = {};  // then shapes and strides are those of one of them
  /// Types of the scalars that the compiled function takes behind its buffers: not 0 where it found an index outside.
  std::vector<DType> checks = {};
  bool has_unchecked_indices = false;
  Driver driver = Driver::None;
};

/// float, uint16_t (f16, bf16: bit patterns), uint8_t (bool), ... Of complex types, that of their parts.
std::string_view c_type(DType type);

/// Class Mismatch for an unbound program or a tensor too large for 32-bit extents and strides; class Program for
/// a type or a function name C cannot have.
Result<Signature> make_signature(const Kernel& kernel);

/// FUNCTION_pack_PARAMETER; with "_bytes" behind it what tells how much that writes.
std::string packing_entry(const Signature& signature, const Argument& constant);
/// FUNCTION_packed_PARAMETER, the C type of what it writes.
std::string packed_type(const Signature& signature, const Argument& constant);

/// External symbols of a kernel: NAME, NAME_unchecked, NAME_ctx, NAME_dl, on devices NAME_device and NAME_device_dl,
/// and for each constant its packing_entry() and that with "_bytes" behind it.
std::vector<std::string> entry_points(const Signature& signature);

/// What an entry returns (runtime/tile_tune_status.h). `suffix` completes the enumerator PREFIX_suffix.
struct Status {
  int code;
  std::string_view suffix;
  std::string_view text;
};
#define TILE_TUNE_STATUS_ROW(code, suffix, text) {code, #suffix, text},
inline constexpr Status kStatuses[] = {TILE_TUNE_STATUSES(TILE_TUNE_STATUS_ROW)};
#undef TILE_TUNE_STATUS_ROW

/// LIBRARY in upper case, the prefix of the status enumerators; of a name of one letter with _STATUS behind it.
std::string status_prefix(const std::string& library);

}  // namespace tile_tune::codegen
