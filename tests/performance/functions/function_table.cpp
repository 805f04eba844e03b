// One row a function and type: the largest error found, on CPUs with and without fused multiply-adds, the time an
// element takes in a loop over an array that stays in the nearest cache, and that of the same loop compiled with g++
// -O3 -march=native -ffast-math (whose errors are up to 4 ulp), both on one core.
#include <dlfcn.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "codegen/lower/functions/functions.h"
#include "tests/property/functions/accuracy.h"
#include "tests/property/functions/samples.h"
#include "tests/property/functions/vector_function.h"

namespace tile_tune::codegen::functions {
namespace {

constexpr size_t kElements = 4096;
constexpr size_t kSamples = 3'000'000;

struct Range {
  double least, most;
};

// Where a function is neither constant nor infinite.
Range range_of(const std::string& name) {
  if (name == "acosh") return {1, 100};
  if (name == "acos" || name == "asin" || name == "atanh") return {-0.999, 0.999};
  if (name.starts_with("log") || name == "pow" || name == "sqrt" || name == "rsqrt") return {0.01, 20};
  if (name == "tgamma" || name == "lgamma") return {0.1, 20};
  return {-8, 8};
}

std::string expression(const std::string& name, const std::string& type) {
  const std::string suffix = type == "float" ? "f" : "";
  if (name == "sigmoid") return "1 / (1 + exp" + suffix + "(-x[i]))";
  if (name == "rsqrt") return "1 / sqrt" + suffix + "(x[i])";
  return name + suffix + "(x[i]" + (name == "fma" ? ", y[i], x[i]" : "") + ")";
}

// A library of loops, one a function and type: void NAME_TYPE(const T* x, const T* y, T* z, long n).
void* compiled_loops() {
  const auto folder = std::filesystem::temp_directory_path() / ("function_table." + std::to_string(getpid()));
  std::filesystem::create_directory(folder);
  std::ofstream source(folder / "loops.cpp");
  source << "#include <math.h>\n";
  for (const auto& [name, arguments] : names())
    for (const std::string type : {"float", "double"}) {
      const std::string suffix = type == "float" ? "f" : "";
      const std::string of_two = name == "floor_mod" ? "fmod" : name;
      const std::string value = arguments == 2 ? of_two + suffix + "(x[i], y[i])" : expression(name, type);
      source << "extern \"C\" void " << name << "_" << type << "(const " << type << "* __restrict x, const " << type
             << "* __restrict y, " << type << "* __restrict z, long n) { for (long i = 0; i < n; ++i) z[i] = " << value
             << "; }\n";
    }
  source.close();
  // Linked apart: with -ffast-math g++ links what makes the CPU take subnormal numbers for 0.
  const std::string compiler = TEST_CXX_COMPILER, base = folder / "loops";
  const std::string command = compiler + " -O3 -march=native -ffast-math -fPIC -c -o " + base + ".o " + base +
                              ".cpp && " + compiler + " -shared -o " + base + ".so " + base + ".o -lm";
  void* const loops = std::system(command.c_str()) == 0 ? dlopen((base + ".so").c_str(), RTLD_NOW) : nullptr;
  std::filesystem::remove_all(folder);
  return loops;
}

// Of the fastest of many repetitions.
template <typename Function>
double nanoseconds_an_element(const Function& function) {
  using Clock = std::chrono::steady_clock;
  double best = 1e30;
  const auto end = Clock::now() + std::chrono::milliseconds(60);
  while (Clock::now() < end) {
    constexpr int kCalls = 20;
    const auto start = Clock::now();
    for (int call = 0; call < kCalls; ++call) function();
    best = std::min(best, std::chrono::duration<double, std::nano>(Clock::now() - start).count() / kCalls);
  }
  return best / kElements;
}

template <typename T>
double largest_error(const Name& function, const std::string& target) {
  std::vector<std::vector<T>> columns;
  for (int k = 0; k < function.arguments; ++k) columns.push_back(samples<T>(kSamples, 1000 * (k + 1)));
  return worst_error<T>(function.name, target, columns).error;
}

template <typename T>
void print_row(const Name& function, void* loops, const std::string& type) {
  const auto [least, most] = range_of(function.name);
  std::vector<std::vector<T>> columns;
  for (int k = 0; k < 3; ++k) columns.push_back(between<T>(least, most, kElements, k + 1));
  std::vector<T> results(kElements);
  const VectorFunction<T> ours(function.name, function.arguments, "host");
  std::vector<const T*> arguments;
  for (int k = 0; k < function.arguments; ++k) arguments.push_back(columns[k].data());
  const double own = nanoseconds_an_element([&] { ours.run(arguments, results.data(), kElements); });
  using Loop = void (*)(const T*, const T*, T*, long);
  const auto loop = reinterpret_cast<Loop>(dlsym(loops, (function.name + "_" + type).c_str()));
  const double compiler =
      nanoseconds_an_element([&] { loop(columns[0].data(), columns[1].data(), results.data(), kElements); });
  std::printf("| %s | %s | %.2f | %.2f | %.2f | %.2f | %.2f |\n", function.name.c_str(),
              type == "float" ? "f32" : "f64", largest_error<T>(function, "host"), largest_error<T>(function, "strict"),
              own, compiler, own / compiler);
  std::fflush(stdout);
}

}  // namespace
}  // namespace tile_tune::codegen::functions

int main(int argc, char** argv) {
  using namespace tile_tune::codegen::functions;
  void* const loops = compiled_loops();
  if (!loops) {
    std::fputs("the compiler's loops cannot be built\n", stderr);
    return 1;
  }
  std::puts("| function | type | error (ulp) | error without fma | ns | ns of the compiler's loop | ratio |");
  std::puts("| --- | --- | --- | --- | --- | --- | --- |");
  for (const Name& function : names()) {
    if (argc > 1 && std::find(argv + 1, argv + argc, function.name) == argv + argc) continue;
    print_row<float>(function, loops, "float");
    print_row<double>(function, loops, "double");
  }
}
