#include "search/evolve/recording.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <numeric>
#include <unordered_map>

#include "search/evolve/guide.h"
#include "search/timing/statistics.h"

namespace tile_tune::search {
namespace {

// A mutation changes one or two decisions; this many of the nearest recorded schedules stand for what it may reach, the
// nearer ones more often. Few recorded schedules differ in one decision alone.
constexpr size_t kNeighbours = 32;
// Of the schedules nearest to both parents together.
constexpr size_t kChildren = 8;

using Decisions = std::map<std::string, double>;

/// Every number of a schedule's JSON by its path. Places in lists are counted from the back: register tiles, which come
/// last, are compared with register tiles, however many levels there are.
void flatten(const nlohmann::json& json, const std::string& path, Decisions& decisions) {
  if (json.is_number() || json.is_boolean()) {
    decisions[path] = json.is_boolean() ? json.get<bool>() : json.get<double>();
  } else if (json.is_array()) {
    for (size_t i = 0; i < json.size(); ++i) flatten(json[i], path + "/" + std::to_string(json.size() - i), decisions);
  } else if (json.is_object()) {
    for (const auto& [name, value] : json.items()) flatten(value, path + "/" + name, decisions);
  }
}

/// At most 1, which a decision costs that only one of the two schedules has.
float difference(float a, float b) {
  if (std::isnan(a) || std::isnan(b)) return std::isnan(a) == std::isnan(b) ? 0 : 1;
  return a == b ? 0 : std::min(1.0F, std::abs(std::log2((1 + std::abs(a)) / (1 + std::abs(b)))));
}

/// Row-major distances of all pairs.
std::vector<float> distances(const std::vector<codegen::Schedule>& schedules) {
  std::vector<Decisions> decisions(schedules.size());
  std::map<std::string, size_t> columns;
  for (size_t i = 0; i < schedules.size(); ++i) {
    flatten(codegen::to_json(schedules[i])["stages"], "", decisions[i]);
    for (const auto& [path, value] : decisions[i]) columns.emplace(path, columns.size());
  }
  std::vector<std::vector<float>> rows;
  for (const auto& known : decisions) {
    rows.emplace_back(columns.size(), std::numeric_limits<float>::quiet_NaN());
    for (const auto& [path, value] : known) rows.back()[columns.at(path)] = static_cast<float>(value);
  }
  const size_t n = rows.size();
  std::vector<float> result(n * n, 0);
  for (size_t i = 0; i < n; ++i) {
    for (size_t j = i + 1; j < n; ++j) {
      float sum = 0;
      for (size_t c = 0; c < columns.size(); ++c) sum += difference(rows[i][c], rows[j][c]);
      result[i * n + j] = result[j * n + i] = sum;
    }
  }
  return result;
}

bool tells(Outcome outcome) {
  return outcome != Outcome::NoSpace && outcome != Outcome::Timeout && outcome != Outcome::Duplicate;
}

}  // namespace

struct Recording::Space {
  std::vector<codegen::Schedule> schedules;  // the default first
  std::vector<std::string> keys;
  std::vector<Measurement> measurements;
  std::vector<size_t> drawn;  // that a session drew at random
  std::unordered_map<std::string, size_t> by_key;
  std::vector<codegen::Schedule> alternatives;  // Moves::alternatives of the recorded search
  std::vector<std::vector<size_t>> neighbours;  // nearest first
  std::vector<float> apart;                     // row-major distances
  std::shared_ptr<const predict::Features> features;

  size_t find(const codegen::Schedule& schedule) const { return by_key.at(codegen::schedule_id(schedule)); }
  float distance(size_t i, size_t j) const { return apart[i * schedules.size() + j]; }

  void add(const codegen::Schedule& schedule, const std::vector<RecordedTrial>& trials);
  void connect();
  size_t between(size_t a, size_t b, Rng& rng) const;
};

void Recording::Space::add(const codegen::Schedule& schedule, const std::vector<RecordedTrial>& trials) {
  const bool random = std::any_of(trials.begin(), trials.end(), [](const auto& t) { return t.origin == "random"; });
  if (random) drawn.push_back(schedules.size());
  const bool alternative = std::any_of(trials.begin(), trials.end(), [](const auto& t) { return t.origin == "model"; });
  if (alternative) alternatives.push_back(schedule);
  std::vector<double> ratios;
  Measurement measurement;
  measurement.outcome = trials.front().outcome;
  for (const auto& trial : trials) {
    if (trial.ratio > 0) ratios.push_back(trial.ratio);
    if (trial.outcome == Outcome::Ok) measurement.outcome = Outcome::Ok;  // slow only beside one session's best
  }
  if (!ratios.empty()) measurement.ratio = median(ratios);
  measurement.median_ns = measurement.ratio > 0 ? 1e6 / measurement.ratio : 0;
  measurement.ratio_lo = measurement.ratio_hi = measurement.ratio;
  keys.push_back(codegen::schedule_id(schedule));
  by_key[keys.back()] = schedules.size();
  schedules.push_back(schedule);
  measurements.push_back(measurement);
}

void Recording::Space::connect() {
  apart = distances(schedules);
  const size_t n = schedules.size();
  for (size_t i = 0; i < n; ++i) {
    std::vector<size_t> others;
    for (size_t j = 0; j < n; ++j)
      if (j != i) others.push_back(j);
    std::stable_sort(others.begin(), others.end(), [&](size_t a, size_t b) { return distance(i, a) < distance(i, b); });
    others.resize(std::min(others.size(), kNeighbours));
    neighbours.push_back(std::move(others));
  }
}

size_t Recording::Space::between(size_t a, size_t b, Rng& rng) const {
  std::vector<size_t> order(schedules.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::erase_if(order, [&](size_t i) { return i == a || i == b; });
  if (order.empty()) return a;
  const size_t count = std::min(kChildren, order.size());
  const auto cost = [&](size_t i) { return distance(a, i) + distance(b, i); };
  std::partial_sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(count), order.end(),
                    [&](size_t i, size_t j) { return std::pair(cost(i), i) < std::pair(cost(j), j); });
  return order[rng.below(count)];
}

Result<Recording> Recording::make(const ir::Program& program, const codegen::Target& target,
                                  const std::vector<RecordedTrial>& trials) {
  std::vector<codegen::Schedule> order;  // by first appearance, the default first
  std::map<codegen::Schedule, std::vector<RecordedTrial>> by_schedule;
  const auto is_default = [](const RecordedTrial& trial) { return trial.origin == "default"; };
  const auto found = std::find_if(trials.begin(), trials.end(), is_default);
  if (found == trials.end() || found->ratio <= 0)
    return failure("bad-recording", "the default schedule is not among the recorded trials that worked");
  order.push_back(found->schedule);
  by_schedule[found->schedule];
  for (const RecordedTrial& trial : trials) {
    if (!tells(trial.outcome)) continue;
    auto& same = by_schedule[trial.schedule];
    if (same.empty() && trial.schedule != order.front()) order.push_back(trial.schedule);
    same.push_back(trial);
  }
  auto space = std::make_shared<Space>();
  for (const auto& schedule : order) space->add(schedule, by_schedule.at(schedule));
  if (space->drawn.empty()) {
    space->drawn.resize(order.size());
    std::iota(space->drawn.begin(), space->drawn.end(), size_t{0});
  }
  space->connect();
  space->features = std::make_shared<const predict::Features>(program, target);
  return Recording(std::move(space));
}

size_t Recording::size() const { return space_->schedules.size(); }

double Recording::best_ratio() const {
  double best = 0;
  for (const auto& measurement : space_->measurements)
    if (measurement.outcome == Outcome::Ok) best = std::max(best, measurement.ratio);
  return best;
}

Moves Recording::moves() const {
  const Space* space = space_.get();
  const auto mutate = [space](const codegen::Schedule& parent, Rng& rng) {
    const auto& near = space->neighbours[space->find(parent)];
    if (near.empty()) return parent;
    const double draw = rng.unit();
    return space->schedules[near[static_cast<size_t>(draw * draw * static_cast<double>(near.size()))]];
  };
  const auto crossover = [space](const codegen::Schedule& a, const codegen::Schedule& b, Rng& rng) {
    return space->schedules[space->between(space->find(a), space->find(b), rng)];
  };
  return {.default_schedule = [space] { return space->schedules.front(); },
          .alternatives = [space] { return space->alternatives; },
          .sample = [space](Rng& rng) { return space->schedules[rng.pick(space->drawn)]; },
          .mutate = mutate,
          .crossover = crossover,
          .key = [space](const codegen::Schedule& schedule) { return space->keys[space->find(schedule)]; },
          .row = [space](const codegen::Schedule& schedule) { return space->features->row(schedule); },
          .estimate = [space](const codegen::Schedule& schedule) { return space->features->estimate(schedule); },
          .hopeless = [space](const codegen::Schedule& schedule) { return space->features->hopeless(schedule); }};
}

std::vector<Measurement> Recording::measure(const std::vector<codegen::Schedule>& batch, const codegen::Schedule&,
                                            Deadline) {
  std::vector<Measurement> measurements;
  for (const auto& schedule : batch) measurements.push_back(space_->measurements[space_->find(schedule)]);
  return measurements;
}

std::vector<Measurement> Recording::finals(const std::vector<codegen::Schedule>& finalists, Deadline deadline) {
  return measure(finalists, finalists.front(), deadline);
}

}  // namespace tile_tune::search
