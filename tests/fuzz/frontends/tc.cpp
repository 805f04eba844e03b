#include "frontend/tc/parse.h"

#include "tests/fuzz/frontends/entries.h"
#include "tests/fuzz/frontends/promises.h"

namespace tile_tune::fuzz {

void tc(std::string_view bytes) {
  const auto parsed = tile_tune::tc::parse(bytes, "fuzz.tc");
  if (!parsed) {
    render(parsed.error());
    return;
  }
  require(!parsed->programs.empty(), "a text without defs is an error");
  for (const auto& program : parsed->programs) require_promises(program);
}

}  // namespace tile_tune::fuzz
