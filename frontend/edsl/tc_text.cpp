#include <tile_tune/tc.h>

#include <algorithm>

#include "frontend/edsl/errors.h"
#include "frontend/ir/program.h"
#include "frontend/tc/parse.h"

namespace tile_tune::tc {

namespace {

int lines_before(const std::string& text, size_t end) {
  return static_cast<int>(std::count(text.begin(), text.begin() + static_cast<long>(end), '\n'));
}

/// The warnings placed in lines `first` to `last`.
std::vector<Message> warnings_within(const std::vector<Diagnostic>& warnings, int first, int last) {
  std::vector<Message> within;
  for (const auto& warning : warnings)
    if (warning.place && warning.place->line >= first && warning.place->line <= last)
      within.push_back(edsl::message_of(warning));
  return within;
}

}  // namespace

std::vector<edsl::Program> parse(const std::string& text, const char* file) {
  auto parsed = parse(std::string_view(text), std::string(file));
  if (!parsed) edsl::raise(parsed.error());
  std::vector<edsl::Program> programs;
  size_t end = 0;
  for (size_t i = 0; i < parsed->programs.size(); ++i) {
    const size_t begin = text.find(parsed->texts[i], end);
    end = begin + parsed->texts[i].size();
    auto warnings = warnings_within(parsed->warnings, 1 + lines_before(text, begin), 1 + lines_before(text, end));
    programs.emplace_back(std::move(parsed->programs[i]), edsl::Program::AtSizes(), std::move(warnings));
  }
  return programs;
}

}  // namespace tile_tune::tc
