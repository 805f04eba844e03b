// What a kernel computes is in the kernel: its object asks the linker for the runtime's functions alone.
#include <stdio.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <sstream>

#include "search/space/space.h"
#include "tests/property/codegen/kernel_check.h"

namespace tile_tune {
namespace {

// Functions of TC and the eDSL; those of two arguments, and of three.
const std::vector<std::string> kUnary{
    "acos",  "acosh", "asin", "asinh",  "atan", "atanh", "cbrt", "ceil",  "cos",   "cosh",  "erf",    "erfc",
    "exp",   "exp10", "exp2", "expm1",  "fabs", "floor", "log",  "log10", "log1p", "log2",  "relu",   "lgamma",
    "round", "rsqrt", "sign", "tgamma", "sin",  "sinh",  "sqrt", "tan",   "tanh",  "trunc", "sigmoid"};
const std::vector<std::string> kBinary{"atan2", "copysign", "fdim", "fmax", "fmin",
                                       "fmod",  "hypot",    "max",  "min",  "pow"};
const std::vector<std::string> kTernary{"fma"};

std::string text_of(const std::string& type) {
  std::string outputs, statements;
  int count = 0;
  const auto add = [&](const std::string& function, const std::string& arguments) {
    const std::string output = "o" + std::to_string(count++);
    outputs += (outputs.empty() ? "" : ", ") + output;
    statements += "  " + output + "(i) = " + function + "(" + arguments + ")\n";
  };
  for (const auto& function : kUnary) add(function, "a(i)");
  for (const auto& function : kBinary) add(function, "a(i), b(i)");
  for (const auto& function : kTernary) add(function, "a(i), b(i), c(i)");
  return "def f(" + type + "(N) a, " + type + "(N) b, " + type + "(N) c) -> (" + outputs + ") {\n" + statements + "}";
}

// The names that an object leaves to the linker.
std::vector<std::string> undefined_symbols(const std::filesystem::path& object) {
  std::string text(1 << 16, '\0');
  FILE* const pipe = popen(("nm -u -j " + object.string()).c_str(), "r");
  REQUIRE(pipe != nullptr);
  text.resize(fread(text.data(), 1, text.size(), pipe));
  REQUIRE(pclose(pipe) == 0);
  std::istringstream lines(text);
  std::vector<std::string> symbols;
  for (std::string line; std::getline(lines, line);) symbols.push_back(line);
  return symbols;
}

bool is_of_the_runtime(const std::string& symbol) {
  return symbol.starts_with("halide_") || symbol == "memcpy" || symbol == "memset";
}

// Of a kernel with all functions on the type, for this machine and for plain x86-64.
void check_calls(const std::string& type) {
  for (const codegen::Target& target : {test::host(1), *codegen::parse_target("x86-64-linux")}) {
    CAPTURE(type, target.text());
    if (target.platform != test::host(1).platform) continue;
    const ir::Program program = test::bound_program(text_of(type), {{"N", 16}});
    const std::filesystem::path object =
        std::filesystem::temp_directory_path() / ("library_calls_" + std::to_string(getpid()) + ".o");
    const auto schedule = search::Space(program, target).default_schedule();
    const auto compiled = codegen::compile_object(program, schedule, target, "f", object);
    if (!compiled) FAIL(render(compiled.error()));
    for (const std::string& symbol : undefined_symbols(object)) {
      CAPTURE(symbol);
      CHECK(is_of_the_runtime(symbol));
    }
    std::filesystem::remove(object);
  }
}

}  // namespace

TEST_CASE("kernels on f16 call no function of the C library", "[property]") { check_calls("float16"); }
TEST_CASE("kernels on bf16 call no function of the C library", "[property]") { check_calls("bfloat16"); }
TEST_CASE("kernels on f32 call no function of the C library", "[property]") { check_calls("float"); }
TEST_CASE("kernels on f64 call no function of the C library", "[property]") { check_calls("double"); }

}  // namespace tile_tune
