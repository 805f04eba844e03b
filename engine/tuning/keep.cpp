#include "engine/tuning/keep.h"

#include <fmt/format.h>

#include <utility>

namespace tile_tune::engine {

Result<Tuned> keep(Result<search::TuneReport> found, const Workload& form, const Knowledge& known, TuningStore& store,
                   bool was_stopped, const Reporter& report) {
  if (const auto& fault = store.reproducer_fault())
    report.warn(fault->code, fmt::format("a failure is stored without its reproducer: {}", fault->message));
  if (!found) {
    TILE_TUNE_CHECK(store.finish("aborted", std::nullopt));
    return tl::unexpected(found.error());
  }
  // Finals that were held to their end are one's last word; what was stopped before can be gone on with.
  const bool is_cut = was_stopped && (!found->winner || found->finals_held == search::FinalsHeld::Stopped);
  TILE_TUNE_CHECK(store.finish(is_cut ? "aborted" : "done", found->winner));
  if (found->stop_reason == search::StopReason::DefaultFailed)
    return fail(
        ErrorClass::Verification, "default-failed",
        fmt::format("not even the default schedule of {} works here: {} ({})", form.row.name,
                    found->default_measurement.reason, search::outcome_name(found->default_measurement.outcome)));
  return Tuned{std::move(*found), known.start.seed, store.session(), known.path.string(), store.reproducers()};
}

}  // namespace tile_tune::engine
