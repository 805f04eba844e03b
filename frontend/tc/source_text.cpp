#include "frontend/tc/source_text.h"

#include <algorithm>

#include "frontend/diagnostic/utf8.h"

namespace tile_tune::tc {
namespace {

// Every statement carries its line. A longer one is generated text: a copy of the whole in each statement would need
// memory quadratic in its length, and would fill the terminal.
constexpr int kLongestLine = 400;
// Of a longer line, characters shown around the place; a span is shown up to its kShownAfter-th character.
constexpr int kShownBefore = 60, kShownAfter = 100;
constexpr std::string_view kCut = "...";

constexpr int kStride = 256;  // characters a look-up counts at most; one word of memory each

size_t next_character(std::string_view text, size_t byte) {
  const auto code = first_code_point(text.substr(byte));
  return byte + (code ? code->length : 1);
}

}  // namespace

Source::Source(std::string_view text, std::string file) : text_(text), file_(std::move(file)), line_starts_{0} {
  int count = 0;
  for (size_t i = 0; i < text.size(); i = next_character(text, i), ++count) {
    if (count % kStride == 0) milestones_.push_back(i);
    if (text[i] == '\n') line_starts_.push_back(i + 1);
  }
  if (milestones_.empty()) milestones_.push_back(0);
}

int Source::characters_before(size_t byte) const {
  const auto next = std::upper_bound(milestones_.begin(), milestones_.end(), byte);
  const size_t milestone = *(next - 1);
  return static_cast<int>(next - 1 - milestones_.begin()) * kStride +
         count_characters(text_.substr(milestone, byte - milestone));
}

size_t Source::byte_of(int character) const {
  // The text's end is no character and may lack a milestone of its own.
  const int milestone = std::min(character / kStride, static_cast<int>(milestones_.size()) - 1);
  size_t byte = milestones_[static_cast<size_t>(milestone)];
  for (int i = milestone * kStride; i < character; ++i) byte = next_character(text_, byte);
  return byte;
}

Place Source::place(Span span) const {
  const auto next = std::upper_bound(line_starts_.begin(), line_starts_.end(), span.begin);
  const size_t start = *(next - 1);
  size_t end = next == line_starts_.end() ? text_.size() : *next - 1;
  if (end > start && text_[end - 1] == '\r') --end;

  Place place;
  place.file = file_;
  place.line = static_cast<int>(next - line_starts_.begin());
  const int first = characters_before(start), line_end = characters_before(end), begin = characters_before(span.begin);
  place.column = begin - first + 1;
  const size_t last = std::clamp(span.end, span.begin, std::max(end, span.begin));
  place.length = std::max(1, characters_before(last) - begin);
  if (line_end - first <= kLongestLine) {
    place.source_line = std::string(text_.substr(start, end - start));
    return place;
  }
  int from = begin - kShownBefore;
  if (from - first <= static_cast<int>(kCut.size())) from = first;  // the dots would take as much room
  const int to = std::min(line_end, begin + kShownAfter);
  place.length = std::min(place.length, std::max(1, to - begin));
  const size_t from_byte = byte_of(from);
  const std::string_view shown = text_.substr(from_byte, byte_of(to) - from_byte);
  if (from > first) {
    place.source_line = kCut;
    place.skipped = from - first - static_cast<int>(kCut.size());
  }
  place.source_line += shown;
  if (to < line_end) place.source_line += kCut;
  return place;
}

}  // namespace tile_tune::tc
