// Where a caller is, for messages. Part of the SDK: the standard library is all it needs.
#pragma once

#include <cstdint>
#include <source_location>

namespace tile_tune {

/// A line of the caller's source: C++ calls take std::source_location::current() for it, bindings of other languages
/// say theirs. `file` is kept, not copied.
class Where {
 public:
  Where() = default;
  Where(const std::source_location& place) : file_(place.file_name()), line_(place.line()), column_(place.column()) {}
  explicit Where(const char* file, uint32_t line, uint32_t column = 1) : file_(file), line_(line), column_(column) {}

  const char* file_name() const { return file_; }
  uint32_t line() const { return line_; }
  uint32_t column() const { return column_; }

 private:
  const char* file_ = "";
  uint32_t line_ = 0, column_ = 0;
};

}  // namespace tile_tune
