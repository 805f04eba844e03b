// What the command line does, by calls: check, tune, bench and build with layouts, constants and ranges of sizes.
#include <catch2/catch.hpp>
#include <tile_tune/einsum.h>
#include <tile_tune/engine.h>
#include <tile_tune/tc.h>

#include <algorithm>
#include <filesystem>
#include <functional>

#include "tests/integration/engine/handles.h"

using namespace tile_tune;

namespace {

constexpr const char* kProduct = "def mm(float(M,K) A, float(K,N) B) -> (C) { C(m,n) +=! A(m,k) * B(k,n) }";

template <typename OptionsType>
OptionsType options_in(const tile_tune::test::Sandbox& box) {
  OptionsType options;
  options.executable = TILE_TUNE_BINARY;
  options.database = box.path("tuning.db").string();
  options.on_message = [](const Message&) {};
  return options;
}

std::string thrown_code(const std::function<void()>& call) {
  try {
    call();
  } catch (const ProgramError& error) {
    return error.code();
  }
  return "";
}

std::vector<std::string> names_of(const engine::BenchResult& result) {
  std::vector<std::string> names;
  for (const auto& entry : result.entries) names.push_back(entry.name);
  return names;
}

}  // namespace

TEST_CASE("check tells what was understood, and how much work it is") {
  const tile_tune::test::Sandbox box;
  const auto product = tc::parse(kProduct).front();
  auto options = options_in<engine::ProgramOptions>(box);
  const auto open = engine::check(product, options);
  CHECK_FALSE(open.has_sizes);
  CHECK(open.signature == "mm(float(M,K) A, float(K,N) B) -> (float(M,N) C)");
  CHECK(open.statements == std::vector<std::string>{"C(m,n) +=! A(m,k) * B(k,n)"});
  CHECK(open.outputs.front().shape.empty());
  options.sizes = {"M=4", "N=5", "K=7"};
  const auto checked = engine::check(product, options);
  CHECK(checked.has_sizes);
  CHECK(checked.flops == 2 * 4 * 5 * 7);
  CHECK(checked.bytes_read == 4 * (4 * 7 + 7 * 5));
  CHECK(checked.bytes_written == 4 * 4 * 5);
  CHECK(checked.outputs.front().name == "C");
  CHECK(checked.outputs.front().shape == std::vector<int64_t>{4, 5});
  CHECK_FALSE(checked.outputs.front().is_in_out);
  CHECK(checked.steps.empty());

  const auto three =
      tc::parse("def f(float(N,N) A, float(N,N) B, float(N) v) -> (o) { o(i) +=! A(i,j) * B(j,k) * v(k) }").front();
  options.sizes = {"N=64"};
  CHECK(engine::check(three, options).steps.find("(B * v) * A") != std::string::npos);
  // An einsum is ordered by its sizes.
  options.sizes = {"i=64", "j=64", "k=64", "l=2"};
  CHECK(engine::check(einsum::parse("ij,jk,kl->il"), options).flops == 2 * 2 * 64 * 64 * 2);

  const auto refused = [&](std::vector<std::string> sizes, std::vector<std::string> layouts, std::string objective) {
    auto other = options;
    other.sizes = std::move(sizes);
    other.layouts = std::move(layouts);
    other.objective = std::move(objective);
    return thrown_code([&] { engine::check(product, other); });
  };
  CHECK(refused({"L=4"}, {}, "") == "unknown-size");
  CHECK(refused({"M=x"}, {}, "") == "bad-size");
  CHECK(refused({}, {"D=col"}, "") != "");
  CHECK(refused({}, {}, "warm") == "bad-objective");
}

TEST_CASE("what is tuned with layouts, constants and an objective is what bench and build then take") {
  const tile_tune::test::Sandbox box;
  const auto product = tc::parse(kProduct).front();
  auto tuning = options_in<engine::TuneOptions>(box);
  tuning.sizes = {"M=17", "N=33", "K=29"};
  tuning.layouts = {"A=col"};
  tuning.constants = {"B"};
  tuning.objective = "cold";
  tuning.strategy = engine::Strategy::Random;
  tuning.trials = 3;
  tuning.seed = 5;
  const auto tuned = engine::tune(product, tuning);
  CHECK(tuned.trials >= 3);
  CHECK(tuned.points.empty());
  const auto rung_with = [&](const std::function<void(engine::BuildOptions&)>& change) {
    auto building = options_in<engine::BuildOptions>(box);
    static_cast<engine::ProgramOptions&>(building) = tuning;
    building.directory = box.path("package").string();
    change(building);
    const auto built = engine::build({product}, building);
    CHECK(
        std::all_of(built.files.begin(), built.files.end(), [](const auto& f) { return std::filesystem::exists(f); }));
    CHECK(built.name == "mm");
    REQUIRE(built.kernels.size() == 1);
    return built.kernels.front().rung;
  };
  CHECK(rung_with([](engine::BuildOptions&) {}) == "exact");
  CHECK(box.read("package/include/mm.h").find("mm_pack_B") != std::string::npos);
  CHECK(rung_with([](engine::BuildOptions& other) { other.layouts = {"A=1,18"}; }) != "exact");
  CHECK(rung_with([](engine::BuildOptions& other) { other.objective = "hot"; }) != "exact");

  auto timing = options_in<engine::BenchOptions>(box);
  static_cast<engine::ProgramOptions&>(timing) = tuning;
  timing.against = {"none"};
  timing.rounds = 7;
  timing.seconds = 0.1;
  const auto timed = engine::bench(product, timing);
  CHECK(timed.flops == 2.0 * 17 * 33 * 29);
  const auto names = names_of(timed);
  CHECK(names.front() == "default");
  CHECK(std::find(names.begin(), names.end(), "tuned-packed") != names.end());
  for (const auto& entry : timed.entries) {
    CAPTURE(entry.name, entry.reason);
    CHECK(entry.median_ns > 0);
    CHECK(entry.low <= entry.ratio);
    CHECK(entry.ratio <= entry.high);
  }
  CHECK(timed.entries.front().ratio == 1);
  timing.against = {"nobody"};
  CHECK(thrown_code([&] { engine::bench(product, timing); }) != "");
  tuning.sizes = {"M=17"};
  CHECK(thrown_code([&] { engine::tune(product, tuning); }) == "missing-size");
  CHECK(thrown_code([&] { engine::build({product}, options_in<engine::BuildOptions>(box)); }) == "no-directory");
  CHECK(thrown_code([&] { engine::build({}, options_in<engine::BuildOptions>(box)); }) == "no-program");
}

TEST_CASE("ranges of sizes are tuned and built") {
  const tile_tune::test::Sandbox box;
  const auto product = tc::parse(kProduct).front();
  auto tuning = options_in<engine::TuneOptions>(box);
  tuning.sizes = {"M=1..3", "N=8", "K=16"};
  tuning.trials = 4;
  tuning.deterministic = true;
  const auto tuned = engine::tune(product, tuning);
  REQUIRE_FALSE(tuned.points.empty());
  CHECK(tuned.points.front().sizes == std::map<std::string, int64_t>{{"M", 3}, {"N", 8}, {"K", 16}});
  CHECK(tuned.points.front().ratio > 0);
  auto building = options_in<engine::BuildOptions>(box);
  static_cast<engine::ProgramOptions&>(building) = tuning;
  building.directory = box.path("many").string();
  building.name = "many";
  const auto built = engine::build({product}, building);
  CHECK(built.kernels.front().function == "many");
  CHECK(built.kernels.front().rung == "exact");
  CHECK(box.read("many/include/many.h").find("M: any size from 1 to 3") != std::string::npos);
}
