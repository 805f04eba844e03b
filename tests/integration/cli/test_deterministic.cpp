// --deterministic: one order of sums from tuning to the library, records apart from the others'.
#include <catch2/catch.hpp>
#include <cmath>
#include <nlohmann/json.hpp>

#include "frontend/tensor/npy.h"
#include "sandbox.h"

using namespace tile_tune;
using namespace tile_tune::test;
using nlohmann::json;

namespace {

const Words kLongMatvec = {"matvec.tc", "-s", "R=31", "-s", "C=257"};

json kernel_of(const Sandbox& box, const std::string& folder) {
  return json::parse(box.read(folder + "/share/matvec/manifest.json"))["kernels"][0];
}

}  // namespace

TEST_CASE("deterministic kernels are tuned and stored apart from the others") {
  const Sandbox box;
  const Words tuned = {"--trials", "3", "--seed", "1", "--db", "t.db"};
  require(box.run(Words{"tune"} + kLongMatvec + tuned + Words{"--deterministic"}));
  const auto built =
      require(box.run(Words{"build"} + kLongMatvec + Words{"--db", "t.db", "-o", "same", "--deterministic"}));
  CHECK(built.err.find("tuned schedule (exact)") != std::string::npos);
  CHECK(kernel_of(box, "same")["rung"] == "exact");
  CHECK(box.read("same/include/matvec.h").find("-strict_float") != std::string::npos);
  const auto usual = require(box.run(Words{"build"} + kLongMatvec + Words{"--db", "t.db", "-o", "usual"}));
  CHECK(usual.err.find("[untuned]") != std::string::npos);
  CHECK(kernel_of(box, "usual")["rung"] == "default");
  require(box.run(Words{"db", "recheck", "--db", "t.db", "--deterministic"}));
  // The manifest says it by itself.
  const std::string manifest = "same/share/matvec/manifest.json";
  require(box.run({"build", "--from", manifest, "-o", "again"}));
  CHECK(box.read("again/lib/libmatvec.a") == box.read("same/lib/libmatvec.a"));
  CHECK(box.run({"build", "--from", manifest, "-o", "again", "--deterministic"}).exit_code == 2);
}

TEST_CASE("deterministic results have the same bits on any number of threads, default or tuned") {
  const Sandbox box;
  constexpr int64_t rows = 31, columns = 257;
  auto a = tensor::Array::zeros(DType::F32, {rows, columns}), b = tensor::Array::zeros(DType::F32, {columns});
  for (int64_t i = 0; i < a.element_count(); ++i) a.as<float>()[i] = std::sin(static_cast<float>(i));
  for (int64_t i = 0; i < columns; ++i) b.as<float>()[i] = std::cos(static_cast<float>(i));
  REQUIRE(tensor::write_npy(box.path("a.npy"), a, false));
  REQUIRE(tensor::write_npy(box.path("b.npy"), b, false));
  require(
      box.run(Words{"tune"} + kLongMatvec + Words{"--trials", "4", "--seed", "3", "--db", "t.db", "--deterministic"}));
  std::string first;
  for (const Words& how : {Words{"--engine", "default", "--threads", "1"}, Words{"--engine", "default"}, Words{},
                           Words{"--target", "x86-64-linux", "--threads", "1"}}) {
#ifndef __x86_64__
    if (how.front() == "--target") continue;
#endif
    require(box.run(Words{"run", "matvec.tc", "--input", "A=a.npy", "--input", "B=b.npy", "--output-dir", "out", "--db",
                          "t.db", "--deterministic"} +
                    how));
    const std::string bytes = box.read("out/o.npy");
    if (first.empty()) first = bytes;
    CHECK(bytes == first);
  }
}

TEST_CASE("of several instruction sets all kernels are deterministic, the fallback among them") {
  const Sandbox box;
  require(box.run(
      Words{"build"} + kLongMatvec +
      Words{"--target", "x86-64-linux-avx-avx2-f16c-fma-sse41,x86-64-linux-sse41", "--deterministic", "-o", "out"}));
  const auto manifest = json::parse(box.read("out/share/matvec/manifest.json"));
  CHECK(manifest["target"]["halide"] == "x86-64-linux-strict_float");
  REQUIRE(manifest["kernels"][0]["variants"].size() == 2);
  for (const auto& variant : manifest["kernels"][0]["variants"])
    CHECK(variant["target"]["halide"].get<std::string>().find("-strict_float") != std::string::npos);
}

TEST_CASE("a schedule that sums in another order is no deterministic one") {
  const Sandbox box;
  const auto explained = require(box.run(Words{"explain"} + kLongMatvec + Words{"--what", "schedule", "--json"}));
  auto schedule = json::parse(explained.out)["schedule"];
  auto& stage = schedule["stages"][0];
  stage["vector_loop"] = 1;  // partial sums in lanes
  stage["lanes"] = 8;
  stage["reduction_unroll"] = {1};
  stage["reduction_block"] = {257};
  stage["packings"] = json::array();
  for (auto& tiles : stage["tiles"])
    for (auto& tile : tiles) tile = 1;
  box.write("given.json", schedule.dump());
  const Words given = {"--schedule", "given.json"};
  require(box.run(Words{"build"} + kLongMatvec + given + Words{"-o", "out"}));
  for (const Words& verb : {Words{"build", "-o", "other"}, Words{"tune", "--trials", "1"}}) {
    const auto refused = box.run(verb + kLongMatvec + given + Words{"--deterministic"});
    CHECK(refused.exit_code == 2);
    CHECK(refused.err.find("[another-order]") != std::string::npos);
    CHECK(refused.err.find("given.json") != std::string::npos);
  }
  CHECK_FALSE(std::filesystem::exists(box.path("other")));
}
