// What counts as a regression; samples are given, nothing is timed.
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <nlohmann/json.hpp>

#include "engine/bench/bench_json.h"
#include "engine/bench/regression.h"

namespace tile_tune::engine {
namespace {

search::Entry entry(const std::string& name, double ns, std::optional<search::Baseline> baseline = std::nullopt) {
  search::Entry one;
  one.name = name;
  one.baseline = baseline;
  one.samples_ns = {ns, ns * 1.01, ns * 0.99};
  return one;
}

BenchRow row(double tuned_over_default, double recorded) {
  BenchRow row;
  row.name = "conv";
  row.sizes = "N=4";
  row.result.entries = {entry("default", 100 * tuned_over_default), entry("tuned", 100),
                        entry("onednn", 150, search::Baseline::OneDnn)};
  row.record = {{"ratio_to_default", recorded}};
  return row;
}

bool falls(const BenchRow& row, const std::string& allowed, const StoredRatios& stored = {},
           const std::string& since = "") {
  return !check_regressions({row}, stored, {allowed, since}, Reporter(Listener{}), 1).has_value();
}

std::string written(const std::string& text) {
  std::string path = (std::filesystem::temp_directory_path() / "tile-tune-test-XXXXXX").string();
  close(mkstemp(path.data()));
  std::ofstream(path) << text;
  return path;
}

TEST_CASE("a lead that shrank by more than allowed is a regression") {
  CHECK(falls(row(1.9, 2.0), "3%"));
  CHECK_FALSE(falls(row(1.95, 2.0), "3%"));
  CHECK_FALSE(falls(row(1.9, 2.0), "6%"));
  CHECK_FALSE(falls(row(2.5, 2.0), "0"));
  CHECK_FALSE(falls(row(1.0, 2.0), ""));  // not asked for
  const auto failed = check_regressions({row(1.9, 2.0)}, {}, {"3%", ""}, Reporter(Listener{}), 1);
  CHECK(failed.error().code == "regression");
  CHECK(failed.error().message.find("conv (1.90 [1.90 1.90], was 2.00)") != std::string::npos);
}

TEST_CASE("rounds beyond the roof have no part in a share's interval, and an unknown share's has a name of its own") {
  BenchRow measured = row(1.5, 1.5);
  measured.flops = measured.counted_flops = 100;
  measured.result.entries[0].flop_fractions = measured.result.entries[0].bandwidth_fractions = {0.9, 0.95, 1.5};
  measured.result.entries[1].flop_fractions = measured.result.entries[1].bandwidth_fractions = {1.2, 1.3, 1.4};
  const auto json = bench_json({measured}, {}, {}, 1)["workloads"][0]["entries"];
  CHECK(json[0]["roof_share"] == 0.95);
  CHECK(json[0]["roof_share_interval"][1] <= 0.95);
  CHECK_FALSE(json[0].contains("above_roof_interval"));
  CHECK(json[1]["roof_share"] == 0);
  CHECK_FALSE(json[1].contains("roof_share_interval"));
  CHECK(json[1]["above_roof_interval"][0] >= 1.2);
}

TEST_CASE("the interval must exclude what was recorded") {
  auto scattered = row(1.9, 2.0);
  scattered.result.entries[0].samples_ns = {150, 190, 230};
  CHECK_FALSE(falls(scattered, "3%"));
}

TEST_CASE("what was disturbed or never recorded is not judged") {
  CHECK_FALSE(falls(row(1.0, 0), "3%"));
  auto disturbed = row(1.0, 2.0);
  disturbed.result.entries[1].disturbed = true;
  CHECK_FALSE(falls(disturbed, "3%"));
  auto shared = row(1.0, 2.0);
  shared.result.alone = false;
  CHECK_FALSE(falls(shared, "3%"));
  auto untuned = row(1.0, 2.0);
  untuned.result.entries.erase(untuned.result.entries.begin() + 1);
  CHECK_FALSE(falls(untuned, "3%"));
}

TEST_CASE("against an earlier run the lead over the best baseline counts") {
  const auto file = written(R"({"kind": "benchmark", "workloads": [{"name": "conv", "sizes": "N=4",
      "tuned_over_best": {"median": 1.6, "lo": 1.5, "hi": 1.7}}, {"name": "other", "sizes": ""}]})");
  const auto stored = stored_ratios({"3%", file});
  REQUIRE(stored.has_value());
  CHECK(stored->size() == 1);
  CHECK(falls(row(3.0, 1.0), "3%", *stored, file));  // 1.5 of 1.6
  CHECK_FALSE(falls(row(3.0, 1.0), "8%", *stored, file));
  auto other_sizes = row(3.0, 1.0);
  other_sizes.sizes = "N=5";
  CHECK_FALSE(falls(other_sizes, "3%", *stored, file));
  std::remove(file.c_str());
}

TEST_CASE("a file that is no benchmark is refused") {
  for (const char* text : {"", "[]", "{}", R"({"kind": "suite", "workloads": []})",
                           R"({"kind": "benchmark", "workloads": [{"tuned_over_best": 1}]})"}) {
    const auto file = written(text);
    const auto stored = stored_ratios({"3%", file});
    REQUIRE_FALSE(stored.has_value());
    CHECK(stored.error().code == "not-a-benchmark");
    std::remove(file.c_str());
  }
  CHECK(stored_ratios({"3%", "/nowhere/at/all.json"}).error().code != "not-a-benchmark");
}

}  // namespace
}  // namespace tile_tune::engine
