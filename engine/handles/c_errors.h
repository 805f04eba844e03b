// What the parts of the C interface have in common: errors, and the caller's arrays.
#pragma once

#include <tile_tune/array.h>
#include <tile_tune/expected.h>
#include <tile_tune/program_error.h>
#include <tile_tune/tile_tune.h>

#include <new>
#include <string>
#include <utility>
#include <vector>

struct tt_error {
  std::string code, message, note;
  std::vector<int64_t> numbers = {};
};

namespace tile_tune::engine::c {

inline tt_error* made(const Error& error) {
  return new (std::nothrow) tt_error{error.code, error.message, error.note, error.numbers};
}
inline tt_error* made(std::string code, std::string message) {
  return new (std::nothrow) tt_error{std::move(code), std::move(message), ""};
}
inline tt_error* result_of(const Expected<void>& done) { return done ? nullptr : made(done.error()); }
inline tt_error* null_pointer(const char* what) { return made("null-pointer", std::string(what) + " is null"); }

/// Nothing is thrown into C: what the eDSL throws is an error, and so is a lack of memory.
template <typename Work>
tt_error* without_exceptions(const Work& work) {
  try {
    return work();
  } catch (const ProgramError& error) {
    return made(error.code(), error.what());
  } catch (const std::bad_alloc&) {
    return made("out-of-memory", "there is no memory left");
  } catch (const std::exception& error) {
    return made("internal", error.what());
  }
}

inline bool is_dtype(int32_t number) { return number >= TT_BOOL && number <= TT_C64; }

static_assert(static_cast<int>(DType::Bool) == TT_BOOL && static_cast<int>(DType::U8) == TT_U8 &&
              static_cast<int>(DType::F16) == TT_F16 && static_cast<int>(DType::C64) == TT_C64);

/// An error says what is wrong with it.
inline tt_error* read_array(const tt_array& from, Array& to) {
  if (!is_dtype(from.dtype)) return made("dtype-mismatch", "an array has an element type that is none");
  if (from.rank < 0 || (from.rank > 0 && !from.shape)) return made("bad-array", "an array has no shape");
  to = {from.data, static_cast<DType>(from.dtype), {from.shape, from.shape + from.rank}};
  if (from.strides) to.strides.assign(from.strides, from.strides + from.rank);
  return nullptr;
}

}  // namespace tile_tune::engine::c
