#include <tile_tune/tc.h>

#include "frontend/edsl/errors.h"
#include "frontend/ir/program.h"
#include "frontend/tc/parse.h"

namespace tile_tune::tc {

std::vector<edsl::Program> parse(const std::string& text, const char* file) {
  auto parsed = parse(std::string_view(text), std::string(file));
  if (!parsed) edsl::raise(parsed.error());
  std::vector<edsl::Program> programs;
  for (auto& program : parsed->programs) programs.emplace_back(std::move(program));
  return programs;
}

}  // namespace tile_tune::tc
