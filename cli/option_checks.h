// What options with free text have in common.
#pragma once

#include "cli/verb.h"

namespace tile_tune::cli {

/// Refuses an empty value: `--db ''` is a variable that was not set, never a file.
void refuse_empty(Option option);

/// Of a number of seconds: refuses zero, negative ones, more than anybody waits, and what is no number.
void need_positive_seconds(Option option);

/// Of a seed: refuses all but a whole number of 64 bits, which would otherwise be cut to fit without a word.
void need_seed(Option option);

/// Of a count: refuses all but whole numbers in these bounds, in a sentence.
ValueCheck whole_number(int from, int to);

}  // namespace tile_tune::cli
