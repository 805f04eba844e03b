// A target as the columns of its table.
#pragma once

#include <optional>
#include <string>

#include "db/records.h"

namespace tile_tune::db {

/// What code is made for. All empty where that is said by TargetRow::former_text.
struct CodeColumns {
  std::string architecture, os, features;
  int scalable_bits = 0;
  std::string device;
  int deterministic = 0;
  std::string tuned_for;
};

CodeColumns code_columns(const TargetRow& target);
/// The rest is as in `figures`. Nothing: a name is not known.
std::optional<codegen::Target> target_from(const CodeColumns& columns, codegen::Target figures);

/// Names with a blank between them, in their order.
std::string names_of(const codegen::Features& features);
std::optional<codegen::Features> features_from(const std::string& names);

}  // namespace tile_tune::db
