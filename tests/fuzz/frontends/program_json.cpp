#include <nlohmann/json.hpp>

#include "frontend/ir/json.h"

#include "tests/fuzz/frontends/entries.h"
#include "tests/fuzz/frontends/promises.h"

namespace tile_tune::fuzz {

void program_json(std::string_view bytes) {
  const auto json = nlohmann::json::parse(bytes, nullptr, false);
  if (json.is_discarded()) return;
  const auto program = ir::program_from_json(json);
  if (!program)
    render(program.error());
  else
    require_promises(*program);
}

}  // namespace tile_tune::fuzz
