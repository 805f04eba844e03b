#include "cli/summary.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "base/text.h"
#include "base/units.h"
#include "cli/table.h"
#include "engine/records/planned.h"
#include "engine/records/schedule_choice.h"
#include "search/timing/statistics.h"

namespace tile_tune::cli {

namespace {

using search::Measurement;

std::string rate_text(double amount, double nanoseconds) {
  return nanoseconds > 0 ? fmt::format("{:.1f}", amount / nanoseconds) : "-";
}

std::string share_text(const Measurement& measured, double fraction) {
  return measured.roof_unknown ? "-" : base::format_percent(fraction);
}

std::vector<std::string> figures(const std::string& label, const db::ProgramRow& program, const Measurement& measured) {
  return {label,
          base::format_time(measured.median_ns),
          rate_text(program.flops, measured.median_ns),
          rate_text(program.bytes, measured.median_ns),
          share_text(measured, measured.flop_fraction),
          share_text(measured, measured.bandwidth_fraction)};
}

std::string standing_text(const search::Winner& winner) {
  switch (winner.standing) {
    case search::Standing::Default:
      return "nothing faster than the default schedule was found";
    case search::Standing::Previous:
      return winner.measurement.ratio < 1
                 ? "the stored schedule stays: the machine was too busy to tell whether it is faster than the default"
                 : "the stored schedule is still the best";
    case search::Standing::New:
      break;
  }
  return "";
}

std::string roof_text(const Measurement& measured, search::FinalsHeld finals) {
  if (finals != search::FinalsHeld::Yes) return "not known: it is probed in finals";
  if (measured.hurried) return "not known: no time was left to probe it";
  if (measured.roof_unknown) return "not known: the machine was busy";
  if (measured.peak_fraction <= 0) return "not known";
  const std::string share = fmt::format("{} of {}", base::format_percent(measured.peak_fraction),
                                        measured.is_compute_bound() ? "the FMA peak" : "the memory bandwidth");
  if (measured.peak_fraction_hi <= 0) return share + " (in too few rounds for an interval: the probes were disturbed)";
  return fmt::format("{} (95 % interval {} to {})", share, base::format_percent(measured.peak_fraction_lo),
                     base::format_percent(measured.peak_fraction_hi));
}

std::string interval_text(const Measurement& measured) {
  const size_t rounds = measured.log_ratios.size();
  if (measured.ratio_hi <= 0)
    return fmt::format("in {}, of which no interval can be made", base::format_number(rounds, "round"));
  const bool is_usual = rounds == 0 || rounds >= search::kFewestForInterval;  // 0: of the default, which is 1
  return is_usual ? fmt::format("95 % interval {:.2f} to {:.2f}", measured.ratio_lo, measured.ratio_hi)
                  : fmt::format("between {:.2f} and {:.2f}, as far as {} can tell", measured.ratio_lo,
                                measured.ratio_hi, base::format_number(rounds, "round"));
}

/// Whether the times of the table, divided, say something else than the rounds do.
bool is_quotient_other(const Measurement& untuned, const Measurement& tuned) {
  constexpr double kSame = 0.05;
  if (untuned.median_ns <= 0 || tuned.median_ns <= 0 || tuned.ratio <= 0) return false;
  const double quotient = untuned.median_ns / tuned.median_ns;
  const bool within = tuned.ratio_hi <= 0 || (tuned.ratio_lo <= quotient && quotient <= tuned.ratio_hi);
  return !within || std::abs(quotient / tuned.ratio - 1) > kSame;
}

std::string speed_up_text(const search::TuneReport& report) {
  if (report.winner->standing == search::Standing::Default) return "1.00x";
  const auto& measured = report.winner->measurement;
  std::string text = fmt::format("{:.2f}x ({}", measured.ratio, interval_text(measured));
  const size_t rounds = measured.log_ratios.size();
  if (report.finals_held == search::FinalsHeld::Yes && rounds < static_cast<size_t>(search::kFewestRounds))
    text += fmt::format("; there was time for {}", base::format_number(rounds, "round"));
  if (is_quotient_other(report.default_measurement, measured))
    text += "; the median of ratios taken round by round, not the quotient of the times above";
  return text + ")";
}

/// What became of the search's best, which is not what won: it was timed again.
std::string unconfirmed_text(const search::TuneReport& report, const Measurement& again) {
  const std::string figures =
      fmt::format("{:.2f}x there, {:.2f}x here ({})", report.incumbent_ratio, again.ratio, interval_text(again));
  if (report.winner->standing != search::Standing::Default)
    return "another than the search's best won, which had " + figures;
  constexpr double kShown = 0.01;  // the digits of the figures
  if (again.ratio < report.incumbent_ratio - kShown) return "they did not confirm the search's best: " + figures;
  return "the search's best is not clearly faster than the default schedule: " + figures;
}

/// Why there were none, or what they did not confirm.
std::string finals_text(const search::TuneReport& report) {
  if (report.finals_held == search::FinalsHeld::OneFinalist)
    return "none, since only the default schedule could take part";
  if (report.finals_held == search::FinalsHeld::Stopped) return "none, since the search was stopped";
  if (report.finals_held == search::FinalsHeld::NoTime) {
    const std::string why = report.final_rounds > 0
                                ? fmt::format("broken off after {}, too few to decide: the time was short",
                                              base::format_number(report.final_rounds, "round"))
                                : "left out, since the time was short";
    return report.incumbent_ratio > 1
               ? fmt::format("{}; the search's best had {:.2f}x in its race", why, report.incumbent_ratio)
               : why;
  }
  if (!report.incumbent || *report.incumbent == report.winner->schedule || report.incumbent_ratio <= 1) return "";
  for (const auto& trial : report.finals)
    if (trial.schedule == *report.incumbent && trial.measurement.ratio > 0)
      return unconfirmed_text(report, trial.measurement);
  return "";
}

double search_share(const TuneSummary& summary) {
  return summary.seconds > 0 ? summary.report.seconds.searching() / summary.seconds : 0;
}

/// The reference, inputs, workers and the runtime.
double setup_seconds(const TuneSummary& summary) {
  return summary.seconds - summary.steps_seconds - summary.report.seconds.total;
}

/// "Searching" is all that is neither of the others.
std::string time_text(const TuneSummary& summary) {
  const auto& seconds = summary.report.seconds;
  const auto steps = summary.steps_seconds > 0 ? fmt::format("{:.1f} its steps, ", summary.steps_seconds) : "";
  return fmt::format(
      "{:.1f} s: {}{:.1f} getting ready, {:.1f} building and timing candidates, {:.1f} finals, {:.1f} searching ({})",
      summary.seconds, steps, setup_seconds(summary), seconds.measuring, seconds.finals, seconds.searching(),
      base::format_percent(search_share(summary)));
}

/// The most frequent reasons.
std::string taken_back_text(const std::map<std::string, int>& counts) {
  constexpr size_t kShown = 3;
  std::vector<std::pair<int, std::string>> reasons;
  for (const auto& [reason, count] : counts) reasons.emplace_back(-count, reason);
  std::sort(reasons.begin(), reasons.end());
  std::vector<std::string> texts;
  for (size_t i = 0; i < std::min(kShown, reasons.size()); ++i)
    texts.push_back(fmt::format("{} ({} times)", reasons[i].second, -reasons[i].first));
  return fmt::format("{}", fmt::join(texts, "; "));
}

std::vector<std::vector<std::string>> facts(const TuneSummary& summary) {
  const auto& report = summary.report;
  std::vector<std::vector<std::string>> rows;
  if (summary.workload.written) rows.push_back({"factored", engine::steps_text(summary.workload)});
  if (summary.written_ns) rows.push_back({"as written", base::format_time(*summary.written_ns)});
  if (report.winner) {
    const auto& measured = report.winner->measurement;
    rows.push_back({"speed-up", speed_up_text(report)});
    const bool on_device = summary.target.device == codegen::Device::Gpu;
    rows.push_back(
        {"roofline", on_device ? "not known: devices are not probed" : roof_text(measured, report.finals_held)});
    if (const auto text = standing_text(*report.winner); !text.empty()) rows.push_back({"winner", text});
    if (const auto text = finals_text(report); !text.empty()) rows.push_back({"finals", text});
    if (measured.disturbed && report.finals_held == search::FinalsHeld::Yes)
      rows.push_back({"note", "the machine was busy while the finalists were timed"});
  } else if (report.incumbent_ratio > 0) {
    rows.push_back({"best so far", fmt::format("{:.2f}x (not confirmed by finals)", report.incumbent_ratio)});
  } else if (report.stop_reason == search::StopReason::Time) {
    rows.push_back({"winner", "the default schedule stands: the time was over before it was measured"});
  }
  if (!summary.stopped_by.empty() && report.finals_held == search::FinalsHeld::Stopped)
    rows.push_back({"stopped", fmt::format("by {}{}", summary.stopped_by,
                                           report.outcomes.empty()
                                               ? " before the first trial"
                                               : "; the trials are kept, and the same command goes on with --resume in "
                                                 "place of --seed, --schedule and --strategy")});
  std::string trials = outcomes_text(report.outcomes);
  if (report.disturbed > 0) trials += fmt::format("; {} timed while the machine was busy", report.disturbed);
  if (report.replayed > 0) trials += fmt::format(" ({} of them from the resumed session)", report.replayed);
  rows.push_back({"trials", trials});
  if (summary.verbose && report.quality.pairs > 0)
    rows.push_back({"model", fmt::format("{} of untried pairs in the right order, {} of the fastest foreseen",
                                         base::format_percent(report.quality.pairwise_accuracy()),
                                         base::format_percent(report.quality.top_recall()))});
  if (summary.verbose && !report.taken_back.empty()) rows.push_back({"taken back", taken_back_text(report.taken_back)});
  rows.push_back({"time", time_text(summary)});
  rows.push_back({"seed", std::to_string(summary.seed)});
  rows.push_back({"stored", fmt::format("{}, session {}", summary.database, summary.session)});
  for (const auto& reproducer : summary.reproducers) rows.push_back({"quarantined", reproducer});
  return rows;
}

/// Zero stands for what is not known or does not apply.
nlohmann::json known(double fraction) { return fraction > 0 ? nlohmann::json(fraction) : nlohmann::json(); }

nlohmann::json to_json(const predict::Quality& quality) {
  return {{"pairs", quality.pairs},
          {"pairwise_accuracy", quality.pairwise_accuracy()},
          {"top_recall", quality.top_recall()}};
}

/// How the search went, a batch each: what convergence is drawn from.
nlohmann::json history_json(const std::vector<search::TuneReport::Point>& history) {
  nlohmann::json json = nlohmann::json::array();
  for (const auto& point : history) {
    json.push_back({{"trials", point.trials}, {"seconds", point.seconds}, {"best_ratio", point.best_ratio}});
    if (point.quality) json.back()["model"] = to_json(*point.quality);
  }
  return json;
}

nlohmann::json to_json(const db::ProgramRow& program, const Measurement& measured) {
  const double time = measured.median_ns;
  nlohmann::json interval, ratio_interval;
  if (measured.ratio_hi > 0) ratio_interval = {measured.ratio_lo, measured.ratio_hi};
  if (measured.peak_fraction_hi > 0) interval = {measured.peak_fraction_lo, measured.peak_fraction_hi};
  return {{"median_ns", time},
          {"gflops", time > 0 ? program.flops / time : 0},
          {"gbytes_per_second", time > 0 ? program.bytes / time : 0},
          {"fraction_of_fma_peak", known(measured.flop_fraction)},
          {"fraction_of_bandwidth", known(measured.bandwidth_fraction)},
          {"fraction_of_roofline", known(measured.peak_fraction)},
          {"fraction_of_roofline_interval", interval},
          {"ratio", measured.ratio},
          {"ratio_interval", ratio_interval},
          {"verify_error", measured.verify_error},
          {"roofline_unknown", measured.roof_unknown},
          {"disturbed", measured.disturbed}};
}

}  // namespace

std::string outcomes_text(const std::map<search::Outcome, int>& outcomes) {
  int total = 0;
  std::vector<std::string> parts;
  for (const auto& [outcome, count] : outcomes) {
    total += count;
    if (count > 0) parts.push_back(fmt::format("{} {}", count, search::outcome_name(outcome)));
  }
  return parts.empty() ? "0" : fmt::format("{}: {}", total, fmt::join(parts, ", "));
}

std::string summary_text(const TuneSummary& summary, size_t width) {
  const auto& program = summary.workload.row;
  const auto& report = summary.report;
  const std::string where = summary.target.cpu_model.empty() ? summary.target.text() : summary.target.cpu_model;
  const std::string title =
      engine::title_text({program.name, engine::sizes_text(program.sizes_json), program.dtypes}, program.layout);
  std::string text = summary.target.device == codegen::Device::Gpu
                         ? fmt::format("{}  ({})", title, where)
                         : fmt::format("{}  ({}, {})", title, where, engine::threads_text(summary.target.threads));
  if (width > 0) text = fmt::format("{}", fmt::join(base::broken_into_lines(text, width), "\n"));
  text += "\n\n";
  std::vector<std::vector<std::string>> rows;
  const auto& untuned = report.default_measurement;
  if (untuned.median_ns > 0) rows.push_back(figures("untuned", program, untuned));
  if (report.winner) rows.push_back(figures("tuned", program, report.winner->measurement));
  if (!rows.empty()) {
    // The roof that applies is starred once it is known.
    const bool known = untuned.flop_fraction > 0 || untuned.bandwidth_fraction > 0;
    const bool compute = untuned.is_compute_bound();
    text += format_table({{""},
                          {"time", Align::Right},
                          {"GFLOP/s", Align::Right},
                          {"GB/s", Align::Right},
                          {known && compute ? "of FMA peak*" : "of FMA peak", Align::Right},
                          {known && !compute ? "of bandwidth*" : "of bandwidth", Align::Right}},
                         rows, 2);
    text += known ? "  * the roof that bounds this program\n\n" : "\n";
  }
  return text + format_table({{""}, {""}}, facts(summary), 2, width);
}

nlohmann::json stopped_by_json(const std::string& signal) {
  return signal.empty() ? nlohmann::json() : nlohmann::json(signal);
}

nlohmann::json summary_json(const TuneSummary& summary) {
  const auto& program = summary.workload.row;
  const auto& report = summary.report;
  nlohmann::json outcomes = nlohmann::json::object();
  for (const auto& [outcome, count] : report.outcomes) outcomes[search::outcome_name(outcome)] = count;
  nlohmann::json json{{"program", program.name},
                      {"sizes", nlohmann::json::parse(program.sizes_json)},
                      {"dtypes", program.dtypes},
                      {"content_hash", program.content_hash},
                      {"flops", program.flops},
                      {"bytes", program.bytes},
                      {"target", codegen::to_json(summary.target)},
                      {"trials", report.trials},
                      {"replayed", report.replayed},
                      {"outcomes", outcomes},
                      {"seconds", summary.seconds},
                      {"disturbed_trials", report.disturbed},
                      {"steps_seconds", summary.steps_seconds},
                      {"setup_seconds", setup_seconds(summary)},
                      {"search_seconds", report.seconds.searching()},
                      {"search_share", search_share(summary)},
                      {"measure_seconds", report.seconds.measuring},
                      {"finals_seconds", report.seconds.finals},
                      {"strategy", search::strategy_name(report.strategy)},
                      {"hopeless", report.hopeless},
                      {"taken_back", report.taken_back},
                      {"history", history_json(report.history)},
                      {"stop_reason", search::stop_reason_name(report.stop_reason)},
                      {"finals", search::finals_held_name(report.finals_held)},
                      {"seed", summary.seed},
                      {"session", summary.session},
                      {"database", summary.database},
                      {"stopped_by", stopped_by_json(summary.stopped_by)},
                      {"quarantined", summary.reproducers}};
  if (report.quality.pairs > 0) json["model"] = to_json(report.quality);
  if (summary.workload.written) json["factored"] = engine::steps_json(summary.workload);
  if (summary.written_ns) json["as_written_ns"] = *summary.written_ns;
  if (report.default_measurement.median_ns > 0) json["untuned"] = to_json(program, report.default_measurement);
  if (report.winner) {
    json["tuned"] = to_json(program, report.winner->measurement);
    json["schedule"] = codegen::to_json(report.winner->schedule);
    json["roof"] = report.winner->measurement.is_compute_bound() ? "fma" : "bandwidth";
  }
  return json;
}

}  // namespace tile_tune::cli
