// The text being parsed, and places in it.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "frontend/diagnostic/diagnostic.h"

namespace tile_tune::tc {

/// Bytes [begin, end) of a source text.
struct Span {
  size_t begin = 0, end = 0;
};
inline Span join(Span first, Span last) { return {first.begin, last.end}; }

class Source {
 public:
  /// The text must outlive the Source and all syntax made from it.
  Source(std::string_view text, std::string file);

  std::string_view text() const { return text_; }
  std::string_view text(Span span) const { return text_.substr(span.begin, span.end - span.begin); }

  /// The span as a place for a message; of a span over several lines, the part on its first line. Takes the same time
  /// wherever it is in however long a line.
  Place place(Span span) const;

 private:
  int characters_before(size_t byte) const;
  size_t byte_of(int character) const;

  std::string_view text_;
  std::string file_;
  std::vector<size_t> line_starts_;
  std::vector<size_t> milestones_;  // the byte where every kStride-th character of the text starts
};

}  // namespace tile_tune::tc
