// Schedules that moves make, and why they are not what the moves set out to make.
#pragma once

#include <string_view>
#include <tl/expected.hpp>
#include <utility>
#include <vector>

#include "codegen/schedule/schedule.h"

namespace tile_tune::search {

/// Why a move could not be made, or what repair() took back: sentences without figures, so that equal ones can be
/// counted. They are literals.
using Notes = std::vector<std::string_view>;

/// A stage with one decision changed, or why it has none of the kind.
using Changed = tl::expected<codegen::NestSchedule, std::string_view>;

inline tl::unexpected<std::string_view> refused(std::string_view reason) {
  return tl::unexpected<std::string_view>(reason);
}

/// `value` made `possible`, with a note if that is another.
template <typename Value>
void correct(Value& value, Value possible, std::string_view reason, Notes& notes) {
  if (value == possible) return;
  value = std::move(possible);
  notes.push_back(reason);
}

struct Drawn {
  codegen::Schedule schedule;
  Notes notes;

  /// Not explicit: a schedule that is just what it was to be is one, too.
  Drawn(codegen::Schedule drawn, Notes taken_back = {}) : schedule(std::move(drawn)), notes(std::move(taken_back)) {}
};

}  // namespace tile_tune::search
