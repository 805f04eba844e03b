// tune --no-measure: schedules by prediction alone, kept apart from what is measured.
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "sandbox.h"

using namespace tile_tune::test;

namespace {

std::vector<std::string> matmul(const std::string& verb, const std::vector<std::string>& more) {
  std::vector<std::string> arguments{verb, "matmul.tc", "-s", "M=64", "-s", "N=48", "-s", "K=32"};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return arguments;
}

nlohmann::json json_of(const Sandbox& box, const std::vector<std::string>& arguments) {
  const auto ran = box.run(arguments);
  INFO(ran.err);
  REQUIRE(ran.exit_code == 0);
  return nlohmann::json::parse(ran.out);
}

}  // namespace

TEST_CASE("what is predicted is stored as such, and taken until something is measured") {
  const Sandbox box;
  for (const std::string target : {"host", "x86-64-linux-cuda-cuda_capability_80"}) {
    INFO(target);
    const auto predicted =
        json_of(box, matmul("tune", {"--no-measure", "--trials", "300", "--seed", "1", "--json", "--target", target}));
    CHECK(predicted["measured"] == false);
    REQUIRE(predicted["predicted"].size() > 1);
    double before = 0;
    for (const auto& one : predicted["predicted"]) {
      CHECK(one["predicted_cycles"] >= before);
      before = one["predicted_cycles"];
    }
    const auto built = json_of(box, matmul("build", {"-o", "out", "--json", "--target", target}));
    CHECK(built["kernels"][0]["rung"] == "predicted");
    const auto again =
        json_of(box, matmul("tune", {"--no-measure", "--trials", "300", "--seed", "1", "--json", "--target", target}));
    CHECK(again["predicted"] == predicted["predicted"]);
  }
  // Nothing of it counts as tried.
  const auto plan = json_of(box, matmul("tune", {"--dry-run", "--json"}));
  CHECK(plan["stored_trials"] == 0);
  CHECK(plan["stored_best"].is_null());
  const auto tuned = json_of(box, matmul("tune", {"--trials", "4", "--seed", "1", "--json"}));
  CHECK(tuned["outcomes"].value("ok", 0) >= 1);
  const auto built = json_of(box, matmul("build", {"-o", "out", "--json"}));
  CHECK(built["kernels"][0]["rung"] == "exact");
}

TEST_CASE("--no-measure goes with nothing that measures") {
  const Sandbox box;
  for (const char* other : {"--resume", "--dry-run"}) CHECK(box.run(matmul("tune", {"--no-measure", other})).exit_code == 2);
}
