// Targets in the words of schema versions 1 and 2, and of the exports of their time: one text in Halide's spelling, and
// all of the target as JSON. Ids are of these words, so that whatever names a target goes on to do so.
#pragma once

#include <string>

#include "db/records.h"

namespace tile_tune::db {

struct TargetWords {
  std::string text, cpu_model, facts;
  int threads = 1;
};

/// Of any words whatever: those that say what this version would not say are kept beside what it understands.
TargetRow target_row(const TargetWords& words);
TargetWords words_of(const TargetRow& target);

}  // namespace tile_tune::db
