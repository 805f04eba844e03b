// What libraries are told where a target has narrower vectors than the machine.
#include "search/baselines/instruction_bound.h"

#include <algorithm>
#include <catch2/catch.hpp>

namespace tile_tune::search {
namespace {

codegen::Target target(const char* text) {
  const auto parsed = codegen::parse_target(text);
  REQUIRE(parsed.has_value());
  return *parsed;
}

bool has(const std::vector<std::string>& flags, const std::string& flag) {
  return std::find(flags.begin(), flags.end(), flag) != flags.end();
}

}  // namespace

TEST_CASE("libraries are kept within a target's vectors where the machine has wider ones") {
  const auto sse = target("x86-64-linux-sse41"), avx2 = target("x86-64-linux-avx-avx2-f16c-fma-sse41"),
             avx512 = target("x86-64-linux-avx-avx2-avx512-avx512_skylake-f16c-fma-sse41");
  for (const auto& machine : {avx2, avx512}) {
    const auto flags = instruction_flags(sse, machine);
    CHECK(has(flags, "-march=nehalem"));
    CHECK(has(flags, "-DBASELINE_OPENBLAS_CORE=\"Nehalem\""));
    CHECK(has(flags, "-DBASELINE_ONEDNN_ISA=sse41"));
    CHECK_FALSE(has(flags, "-march=native"));
  }
  const auto flags = instruction_flags(avx2, avx512);
  CHECK(has(flags, "-march=haswell"));
  CHECK(has(flags, "-DBASELINE_OPENBLAS_CORE=\"Haswell\""));
  CHECK(has(flags, "-DBASELINE_ONEDNN_ISA=avx2"));
  CHECK(has(flags, "-DBASELINE_XSMM_ARCH=\"hsw\""));
}

TEST_CASE("libraries have all of a machine whose vectors are as wide as the target's") {
  const auto avx2 = target("x86-64-linux-avx-avx2-f16c-fma-sse41");
  for (const auto& [wanted, machine] : {std::pair(avx2, avx2), std::pair(avx2, target("x86-64-linux-sse41"))}) {
    const auto flags = instruction_flags(wanted, machine);
    CHECK(has(flags, "-march=native"));
    CHECK(std::none_of(flags.begin(), flags.end(), [](const auto& flag) { return flag.starts_with("-D"); }));
  }
}

}  // namespace tile_tune::search
