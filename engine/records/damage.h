// Damaged records, however many, in one sentence.
#pragma once

#include <string>
#include <vector>

namespace tile_tune::engine {

/// "the record 1f.. is damaged and was left out"; "3 records are damaged and were left out: ..."; of many the first.
std::string damage_text(const std::vector<std::string>& records);

}  // namespace tile_tune::engine
