#include "db/former_target.h"

#include <nlohmann/json.hpp>

namespace tile_tune::db {
namespace {

/// Of JSON that can be a target's.
constexpr size_t kMostFacts = 10'000;

/// The target of the text, if it is one that this version would write so.
std::optional<codegen::Target> target_of(const std::string& text) {
  auto target = codegen::parse_target(text);
  if (!target || target->text() != text) return std::nullopt;
  return *std::move(target);
}

/// Files from elsewhere may call a CPU anything.
std::string facts_of(const codegen::Target& target) {
  return codegen::to_json(target).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

/// The target of the facts, if they say all that the words say and nothing else.
std::optional<codegen::Target> whole_target(const TargetWords& words) {
  if (words.facts.size() > kMostFacts) return std::nullopt;
  const auto json = nlohmann::json::parse(words.facts, nullptr, false);
  auto target = json.is_object() ? codegen::target_from_json(json) : Result<codegen::Target>(codegen::Target());
  if (!target || target->text() != words.text || target->cpu_model != words.cpu_model ||
      target->threads != words.threads || facts_of(*target) != words.facts)
    return std::nullopt;
  return *std::move(target);
}

}  // namespace

std::string TargetRow::text() const { return former_text ? *former_text : machine.text(); }

TargetRow target_row(const TargetWords& words) {
  if (auto whole = whole_target(words)) return {.machine = *std::move(whole)};
  const auto named = target_of(words.text);
  TargetRow row{.machine = named.value_or(codegen::Target()), .former_facts = words.facts};
  if (!named) row.former_text = words.text;
  row.machine.cpu_model = words.cpu_model;
  row.machine.threads = words.threads;
  row.machine.vector_bytes = row.machine.vector_registers = 0;
  row.machine.l1_bytes = row.machine.l2_bytes = row.machine.l3_bytes = 0;
  return row;
}

TargetWords words_of(const TargetRow& target) {
  return {.text = target.text(),
          .cpu_model = target.machine.cpu_model,
          .facts = target.former_facts ? *target.former_facts : facts_of(target.machine),
          .threads = target.machine.threads};
}

}  // namespace tile_tune::db
