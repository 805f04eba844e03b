// Packages for several instruction sets and for other machines, run where emulators for them are.
#include <nlohmann/json.hpp>

#include "base/files.h"
#include "codegen/target/host.h"
#include "tests/integration/emit/packages.h"

using namespace tile_tune;
using namespace tile_tune::codegen;
using namespace tile_tune::test;

namespace {

const fs::path kTests = kSource / "tests/integration/emit";

bool is_here(const std::string& program) { return run_tool({program, "--version"}, "/").has_value(); }

std::string first_bytes(const fs::path& file, size_t count) {
  const auto bytes = tile_tune::base::read_bytes(file);
  REQUIRE(bytes);
  return bytes->substr(0, count);
}

bool runs_here(const char* text) {
  const auto target = describe_target(text, 1);
  return target && check_runs_here(*target).has_value();
}

}  // namespace

TEST_CASE("a library for several instruction sets runs what the CPU has") {
  const Scratch scratch;
  const fs::path package = emit("isas", scratch.path);
  run({"cc", "-std=c11", "-Wall", "-Wextra", "-Werror", "-I" + (package / "include").string(),
       (kTests / "isas.c").string(), (package / "lib/libisas.a").string(), (package / "lib/libtile_tune_rt.a").string(),
       "-lpthread", "-o", "caller"},
      scratch.path);
  // Blocks of 8 with AVX-512, of 4 with AVX2, none on other CPUs: the CPU's own word counts, not what tests pretend.
  const std::string here = run({"./caller"}, scratch.path);
  CHECK(here == (__builtin_cpu_supports("avx512vl")                                ? "8"
                 : __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") ? "4"
                                                                                   : "43"));
  if (is_here("qemu-x86_64")) {
    CHECK(run({"qemu-x86_64", "-cpu", "Nehalem", "./caller"}, scratch.path) == "43");
    CHECK(run({"qemu-x86_64", "-cpu", "Haswell", "./caller"}, scratch.path) == "4");
    // AVX2 without one of the features that come with it is not enough.
    CHECK(run({"qemu-x86_64", "-cpu", "Haswell,-bmi2", "./caller"}, scratch.path) == "43");
    // Weights that one CPU packed into a file are another's only if both run the same kernel.
    for (const std::string packed_on : {"Nehalem", "Haswell"}) {
      CHECK(run({"qemu-x86_64", "-cpu", packed_on, "./caller", "write", packed_on}, scratch.path).empty());
      for (const std::string cpu : {"Nehalem", "Haswell"})
        CHECK(run({"qemu-x86_64", "-cpu", cpu, "./caller", "read", packed_on}, scratch.path) ==
              (cpu == packed_on ? "0" : "15"));
    }
  } else {
    WARN("qemu-x86_64 is not here: other CPUs than this one were not tried");
  }
  const auto manifest = nlohmann::json::parse(*tile_tune::base::read_bytes(package / "share/isas/manifest.json"));
  CHECK(manifest["target"]["halide"] == "x86-64-linux");
  const auto& variants = manifest["kernels"][0]["variants"];
  REQUIRE(variants.size() == 2);
  CHECK(variants[0]["target"]["halide"].get<std::string>().find("avx512_skylake") != std::string::npos);
  CHECK(variants[0]["code_hash"] != variants[1]["code_hash"]);
  CHECK(variants[1]["provenance"] == "default");
  const auto header = *tile_tune::base::read_bytes(package / "include/isas.h");
  CHECK(header.find("tuned for x86-64-linux-") != std::string::npos);
  CHECK(header.find("given for x86-64-linux schedule") != std::string::npos);
}

TEST_CASE("an operand packed for another instruction set is refused, also in an equal form") {
  if (!runs_here("x86-64-linux-avx2-fma")) {
    WARN("this CPU has no AVX2");
    return;
  }
  const Scratch scratch;
  const fs::path narrow = emit("narrow", scratch.path), wide = emit("wide", scratch.path);
  REQUIRE(tile_tune::base::write_text(scratch.path / "main.c", R"(#include <narrow.h>
#include <stdlib.h>
#include <wide.h>
int main(void) {
  static float a[5 * 3], b[3 * 43], c[5 * 43];
  if (narrow_product_pack_B_bytes() != wide_product_pack_B_bytes()) return 1;
  void* packed = aligned_alloc(64, narrow_product_pack_B_bytes());
  if (narrow_product_pack_B(b, packed) != NARROW_OK || narrow_product(a, packed, c) != NARROW_OK) return 2;
  if (wide_product(a, packed, c) != WIDE_ERROR_PACKED_FORM) return 3;
  if (wide_product_pack_B(b, packed) != WIDE_OK || wide_product(a, packed, c) != WIDE_OK) return 4;
  if (narrow_product(a, packed, c) != NARROW_ERROR_PACKED_FORM) return 5;
  free(packed);
  return 0;
}
)"));
  compile("cc -std=c11 -Wall -Wextra -Werror main.c $(pkg-config --cflags --libs narrow wide) -o main", {narrow, wide},
          scratch.path);
  CHECK(run({"./main"}, scratch.path).empty());
}

TEST_CASE("a library for one instruction set refuses older CPUs") {
  if (!is_here("qemu-x86_64") || !runs_here("x86-64-linux-avx2-fma")) {
    WARN("qemu-x86_64 is not here");
    return;
  }
  const Scratch scratch;
  const fs::path package = emit("avx2", scratch.path);
  REQUIRE(tile_tune::base::write_text(scratch.path / "main.c", R"(#include <avx2.h>
#include <stdio.h>
int main(void) {
  static float a[17 * 19] = {2}, b[19 * 33] = {3}, c[17 * 33];
  const int code = matmul(a, b, c);
  printf("%d %s %g", code, avx2_error_string(code), c[0]);
  return 0;
}
)"));
  run({"cc", "-I" + (package / "include").string(), "main.c", (package / "lib/libavx2.a").string(),
       (package / "lib/libtile_tune_rt.a").string(), "-lpthread", "-o", "main"},
      scratch.path);
  CHECK(run({"qemu-x86_64", "-cpu", "Haswell", "./main"}, scratch.path) == "0 success 6");
  CHECK(run({"qemu-x86_64", "-cpu", "SandyBridge", "./main"}, scratch.path) ==
        "4 this CPU lacks instructions the library was compiled for 0");
}

TEST_CASE("packages for AArch64 are built and run") {
  if (!is_here("aarch64-linux-gnu-gcc") || !is_here("qemu-aarch64")) {
    WARN("aarch64-linux-gnu-gcc or qemu-aarch64 is not here: packages for AArch64 were not tried");
    return;
  }
  const Scratch scratch;
  const fs::path package = emit("arm", scratch.path);
  CHECK(run({"aarch64-linux-gnu-readelf", "-h", (package / "lib/libarm.a").string()}, scratch.path).find("AArch64") !=
        std::string::npos);
  REQUIRE(tile_tune::base::write_text(
      scratch.path / "weights.h",
      "#include <arm.h>\n#define WEIGHTS_OK ARM_OK\n"
      "#define WEIGHTS_ERROR_NULL_POINTER ARM_ERROR_NULL_POINTER\n"
      "#define WEIGHTS_ERROR_MISALIGNED ARM_ERROR_MISALIGNED\n"
      "#define WEIGHTS_ERROR_OVERLAP ARM_ERROR_OVERLAP\n"
      "#define WEIGHTS_ERROR_DTYPE ARM_ERROR_DTYPE\n#define WEIGHTS_ERROR_RANK ARM_ERROR_RANK\n"
      "#define WEIGHTS_ERROR_SHAPE ARM_ERROR_SHAPE\n#define WEIGHTS_ERROR_STRIDES ARM_ERROR_STRIDES\n"
      "#define WEIGHTS_ERROR_NOT_PACKED ARM_ERROR_NOT_PACKED\n"
      "#define WEIGHTS_ERROR_PACKED_FORM ARM_ERROR_PACKED_FORM\n"
      "#define weights_error_string arm_error_string\n#define weights_context arm_context\n"
      "#define weights_context_create arm_context_create\n"
      "#define weights_context_destroy arm_context_destroy\n"));
  run({"aarch64-linux-gnu-gcc", "-std=c11", "-Wall", "-Wextra", "-Werror", "-O1", "-I.",
       "-I" + (package / "include").string(), (kTests / "constants.c").string(), (package / "lib/libarm.a").string(),
       (package / "lib/libtile_tune_rt.a").string(), "-lpthread", "-o", "constants"},
      scratch.path);
  CHECK(run({"qemu-aarch64", "-L", "/usr/aarch64-linux-gnu", "./constants"}, scratch.path).empty());
  // An instruction set beyond the baseline, where the CPU has it and where it has not.
  const fs::path dotted = emit("arm_dot", scratch.path);
  REQUIRE(tile_tune::base::write_text(scratch.path / "main.c", R"(#include <arm_dot.h>
#include <stdio.h>
int main(void) {
  static float a[17 * 19] = {2}, b[19 * 33] = {3}, c[17 * 33];
  printf("%d", matmul(a, b, c));
  return c[0] != 6;
}
)"));
  run({"aarch64-linux-gnu-gcc", "-I" + (dotted / "include").string(), "main.c", (dotted / "lib/libarm_dot.a").string(),
       (dotted / "lib/libtile_tune_rt.a").string(), "-lpthread", "-o", "main"},
      scratch.path);
  CHECK(run({"qemu-aarch64", "-cpu", "max", "-L", "/usr/aarch64-linux-gnu", "./main"}, scratch.path) == "0");
  const auto older =
      run_tool({"sh", "-c", "qemu-aarch64 -cpu cortex-a57 -L /usr/aarch64-linux-gnu ./main || true"}, scratch.path);
  REQUIRE(older);
  CHECK(*older == "4");
}

TEST_CASE("other platforms get objects of their own format, and sources") {
  const Scratch scratch;
  const auto object = [&](const std::string& package, const std::string& file) {
    return first_bytes(emit(package, scratch.path) / "lib" / package / file, 4);
  };
  CHECK(object("mac", "matmul.o") == std::string("\xcf\xfa\xed\xfe", 4));  // 64-bit Mach-O
  CHECK(object("mac_arm", "matmul.o") == std::string("\xcf\xfa\xed\xfe", 4));
  CHECK(object("windows", "matmul.obj").substr(0, 2) == "\x64\x86");  // COFF for AMD64
  CHECK(object("wasm", "matmul.o") == std::string("\0asm", 4));
  for (const char* file : {"include/mac.h", "include/mac.hpp", "src/mac/matmul.c", "src/mac/mac_context.c",
                           "src/tile_tune_rt/tile_tune_rt.h", "src/tile_tune_rt/halide_names.c",
                           "lib/cmake/mac/macConfig.cmake", "share/mac/manifest.json"})
    CHECK(fs::is_regular_file(scratch.path / "mac" / file));
  CHECK_FALSE(fs::exists(scratch.path / "mac/lib/libmac.a"));
  // Its header names files that are there.
  const auto header = tile_tune::base::read_bytes(scratch.path / "mac/include/mac.h");
  REQUIRE(header);
  CHECK(header->find("libmac.a") == std::string::npos);
  CHECK(header->find("src/mac and src/tile_tune_rt as C11") != std::string::npos);
}

TEST_CASE("objects and sources make the library that an archive is") {
  const Scratch scratch;
  CHECK(deploy(emit("matmul_sources", scratch.path), scratch.path).c.starts_with("C: 17 x 33 x 19, largest error "));
}
