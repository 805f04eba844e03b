#include "search/judge/trial.h"

#include <array>
#include <utility>

namespace tile_tune::search {
namespace {

constexpr std::array<std::pair<Outcome, const char*>, 10> kNames = {{{Outcome::Ok, "ok"},
                                                                     {Outcome::Duplicate, "duplicate"},
                                                                     {Outcome::CompileError, "compile-error"},
                                                                     {Outcome::RunError, "run-error"},
                                                                     {Outcome::Wrong, "wrong"},
                                                                     {Outcome::Timeout, "timeout"},
                                                                     {Outcome::Crash, "crash"},
                                                                     {Outcome::OutOfMemory, "out-of-memory"},
                                                                     {Outcome::NoSpace, "no-space"},
                                                                     {Outcome::Slow, "slow"}}};

}  // namespace

const char* outcome_name(Outcome outcome) {
  for (const auto& [value, name] : kNames)
    if (value == outcome) return name;
  return "unknown";
}

std::optional<Outcome> parse_outcome(const std::string& name) {
  for (const auto& [value, spelled] : kNames)
    if (name == spelled) return value;
  return std::nullopt;
}

}  // namespace tile_tune::search
