#include "engine/tuning/forms.h"

#include <fmt/format.h>

namespace tile_tune::engine {

Result<Tuned> tune_forms(const Workload& workload, const TuningRequest& request, const Watch& watch,
                         const Reporter& report, const TuneForm& tune) {
  const Shares shares = shares_of(workload, request);
  const double seconds = wanted_seconds(request);
  const search::Deadline end{watch.began + seconds}, last = search::earlier(watch.last, {end.at + overtime(seconds)});
  Watch own{watch.began, watch.stop, watch.progress, watch.onlooker, last};
  TILE_TUNE_TRY(tuned, tune(workload, shares.first, own));
  if (!shares.written || watch.stop) return tuned;
  // What the first search took beyond its share is not there any more.
  const auto rest = within(*shares.written, end);
  if (!rest) return tuned;
  own.began = now_seconds();
  const auto written = tune(*workload.written, *rest, own);
  if (!written)
    report.warn(written.error().code,
                fmt::format("the program as written was not searched: {}", written.error().message));
  else if (written->report.winner)
    tuned.written_ns = written->report.winner->measurement.median_ns;
  return tuned;
}

}  // namespace tile_tune::engine
