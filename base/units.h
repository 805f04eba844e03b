// Numbers as people read them: three significant digits and a unit.
#pragma once

#include <cstdint>
#include <string>

namespace tile_tune::base {

std::string format_time(double nanoseconds);                      // "812 ns", "1.23 ms", "61.0 s"
std::string format_bytes(double bytes);                           // "3.15 MB" (powers of 1000); exact below 1000
std::string format_count(double count, const std::string& unit);  // "268 MFLOP"; exact below 1000
std::string format_percent(double fraction);                      // "71.3 %"; "-" for 0, which means not known

std::string format_date(int64_t milliseconds);  // since 1970: "2026-11-22 08:15" here

/// "1 trial", "2 trials"; with `nouns` where an s more is not the plural.
std::string format_number(size_t count, const std::string& noun, const std::string& nouns = "");

}  // namespace tile_tune::base
