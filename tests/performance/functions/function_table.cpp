// One row a function and type: the time an element takes in a loop over an array that stays in the nearest cache, and
// that of the same loop compiled with g++ -O3 -ffast-math (which calls libmvec, whose errors are up to 4 ulp), both on
// one core and in turns; for all that this CPU has, and for AVX2 alone.
#include <dlfcn.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "codegen/lower/functions/functions.h"
#include "tests/property/functions/samples.h"
#include "tests/property/functions/vector_function.h"

namespace tile_tune::codegen::functions {
namespace {

// As many vectors as the default schedule computes in an iteration.
constexpr int kVectors = 4;

// Three arrays fit the nearest cache.
template <typename T>
constexpr size_t kElements = (12 << 10) / sizeof(T);

// An array of as many from the start of a cache line on, its last twelve bits of address not those of others: a load
// would wait for stores that only seem to be to its place.
template <typename T>
class Array {
 public:
  explicit Array(size_t place) : memory_(kElements<T> + 8192 / sizeof(T)) {
    const auto address = reinterpret_cast<uintptr_t>(memory_.data());
    data_ = reinterpret_cast<T*>((address + 4095) / 4096 * 4096 + place * 1024);
  }
  T* data() const { return data_; }

 private:
  std::vector<T> memory_;
  T* data_;
};

// One of targets(), and what g++ calls it.
struct Machine {
  std::string target, architecture;
};
const std::vector<Machine> kMachines{{"host", "native"}, {"avx2", "haswell"}};

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
void* compiled_loops(const std::string& architecture) {
  const auto folder =
      std::filesystem::temp_directory_path() / ("function_table." + architecture + "." + std::to_string(getpid()));
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
  const std::string command = compiler + " -O3 -march=" + architecture + " -ffast-math -fPIC -c -o " + base + ".o " +
                              base + ".cpp && " + compiler + " -shared -o " + base + ".so " + base + ".o -lm";
  void* const loops = std::system(command.c_str()) == 0 ? dlopen((base + ".so").c_str(), RTLD_NOW) : nullptr;
  std::filesystem::remove_all(folder);
  return loops;
}

// The fastest of many repetitions.
template <typename Function>
double nanoseconds(const Function& function, size_t count) {
  using Clock = std::chrono::steady_clock;
  double best = 1e30;
  const auto end = Clock::now() + std::chrono::milliseconds(1);
  while (Clock::now() < end) {
    constexpr int kCalls = 10;
    const auto start = Clock::now();
    for (int call = 0; call < kCalls; ++call) function(count);
    best = std::min(best, std::chrono::duration<double, std::nano>(Clock::now() - start).count() / kCalls);
  }
  return best;
}

// Of an element, less what a call takes, where the two alternate; the spread is that of their ratio from round to round
// (between quartiles).
struct Comparison {
  double own, other, spread;
};
template <typename T, typename Own, typename Other>
Comparison compared(const Own& own, const Other& other) {
  constexpr size_t kRounds = 20, kIteration = kVectors * 64 / sizeof(T);
  std::array<double, kRounds> owns, others, ratios;
  double own_call = 1e30, other_call = 1e30;
  for (int round = 0; round < 4; ++round) {
    own_call = std::min(own_call, nanoseconds(own, kIteration));
    other_call = std::min(other_call, nanoseconds(other, kIteration));
  }
  const auto of_element = [](double time, double call) { return (time - call) / (kElements<T> - kIteration); };
  for (size_t round = 0; round < kRounds; ++round) {
    owns[round] = of_element(nanoseconds(own, kElements<T>), own_call);
    others[round] = of_element(nanoseconds(other, kElements<T>), other_call);
    ratios[round] = owns[round] / others[round];
  }
  std::sort(ratios.begin(), ratios.end());
  return {*std::min_element(owns.begin(), owns.end()), *std::min_element(others.begin(), others.end()),
          ratios[kRounds * 3 / 4] - ratios[kRounds / 4]};
}

template <typename T>
Comparison comparison(const Name& function, const std::string& target, void* loops) {
  const auto [least, most] = range_of(function.name);
  const std::array<Array<T>, 3> columns{Array<T>(0), Array<T>(1), Array<T>(2)};
  for (int k = 0; k < 3; ++k) std::ranges::copy(between<T>(least, most, kElements<T>, k + 1), columns[k].data());
  const Array<T> results(3);
  const VectorFunction<T> ours(function.name, function.arguments, target, kVectors);
  std::vector<const T*> arguments;
  for (int k = 0; k < function.arguments; ++k) arguments.push_back(columns[k].data());
  using Loop = void (*)(const T*, const T*, T*, size_t);
  const std::string type = sizeof(T) == 4 ? "float" : "double";
  const auto loop = reinterpret_cast<Loop>(dlsym(loops, (function.name + "_" + type).c_str()));
  return compared<T>([&](size_t count) { ours.run(arguments, results.data(), count); },
                     [&](size_t count) { loop(columns[0].data(), columns[1].data(), results.data(), count); });
}

template <typename T>
void print_row(const Name& function, const std::vector<void*>& loops) {
  std::printf("| %s | %s |", function.name.c_str(), sizeof(T) == 4 ? "f32" : "f64");
  for (size_t k = 0; k < loops.size(); ++k) {
    const Comparison times = comparison<T>(function, kMachines[k].target, loops[k]);
    std::printf(" %.2f | %.2f | %.2f ± %.2f |", times.own, times.other, times.own / times.other, times.spread / 2);
    std::fflush(stdout);
  }
  std::puts("");
}

}  // namespace
}  // namespace tile_tune::codegen::functions

int main(int argc, char** argv) {
  using namespace tile_tune::codegen::functions;
  const auto known = targets();
  std::vector<void*> loops;
  for (const Machine& machine : kMachines) {
    if (std::find(known.begin(), known.end(), machine.target) == known.end()) continue;
    loops.push_back(compiled_loops(machine.architecture));
    if (loops.back()) continue;
    std::fputs("the compiler's loops cannot be built\n", stderr);
    return 1;
  }
  std::string header = "| function | type |", rule = "| --- | --- |";
  for (size_t k = 0; k < loops.size(); ++k) {
    const std::string machine = kMachines[k].target;
    header += " " + machine + ": ns | compiler's loop | ratio |";
    rule += " --- | --- | --- |";
  }
  std::printf("%s\n%s\n", header.c_str(), rule.c_str());
  for (const Name& function : names()) {
    if (argc > 1 && std::find(argv + 1, argv + argc, function.name) == argv + argc) continue;
    print_row<float>(function, loops);
    print_row<double>(function, loops);
  }
}
