#include "frontend/tc/source.h"

#include <algorithm>

#include "frontend/diagnostic/utf8.h"

namespace tile_tune::tc {
namespace {

// Every statement carries a copy of its line. A longer line is generated text: an excerpt of it helps nobody,
// and a file of one long line would need memory quadratic in its length.
constexpr size_t kMaxExcerpt = 400;

}  // namespace

Source::Source(std::string_view text, std::string file) : text_(text), file_(std::move(file)), line_starts_{0} {
  for (size_t i = 0; i < text.size(); ++i)
    if (text[i] == '\n') line_starts_.push_back(i + 1);
}

Place Source::place(Span span) const {
  const auto next = std::upper_bound(line_starts_.begin(), line_starts_.end(), span.begin);
  const size_t start = *(next - 1);
  size_t end = next == line_starts_.end() ? text_.size() : *next - 1;
  if (end > start && text_[end - 1] == '\r') --end;

  Place place;
  place.file = file_;
  place.line = static_cast<int>(next - line_starts_.begin());
  const auto line = text_.substr(start, end - start);
  if (line.size() <= kMaxExcerpt) {
    place.column = count_characters(text_.substr(start, span.begin - start)) + 1;
    const size_t last = std::clamp(span.end, span.begin, std::max(end, span.begin));
    place.length = std::max(1, count_characters(text_.substr(span.begin, last - span.begin)));
    place.source_line = std::string(line);
  } else {
    place.column = static_cast<int>(span.begin - start) + 1;
  }
  return place;
}

}  // namespace tile_tune::tc
