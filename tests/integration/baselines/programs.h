// Programs from text, with sizes.
#pragma once

#include <string>

#include "frontend/ir/canonical.h"
#include "frontend/tc/parse.h"

namespace tile_tune::search {

inline ir::Program tc(const std::string& text, const ir::Sizes& sizes) {
  return ir::canonicalize(ir::bind(tc::parse(text, "test.tc").value().programs.at(0), sizes).value());
}

}  // namespace tile_tune::search
