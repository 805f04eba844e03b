// function_errors NAME|all f32|f64|both COUNT|every [LEAST MOST]: the largest errors of functions on every target, at
// arguments of every size, or between two numbers, or at every value of f32 (every:37 each 37th one).
#include <cstdio>
#include <cstdlib>
#include <string>

#include "codegen/lower/functions/functions.h"
#include "tests/property/functions/accuracy.h"
#include "tests/property/functions/samples.h"
#include "tests/property/functions/vector_function.h"

namespace tile_tune::codegen::functions {
namespace {

template <typename T>
void print(const std::string& name, const std::vector<std::string>& targets, const std::vector<Worst>& worst) {
  for (size_t k = 0; k < worst.size(); ++k) std::puts(described<T>(name, targets[k], worst[k]).c_str());
  std::fflush(stdout);
}

template <typename T>
void print(const Name& function, uint64_t count, const char* least, const char* most) {
  if (!least) {
    print<T>(function.name, targets(), worst_errors_of_many<T>(function.name, function.arguments, targets(), count));
    return;
  }
  std::vector<std::vector<T>> columns;
  for (int k = 0; k < function.arguments; ++k)
    columns.push_back(between<T>(std::strtod(least, nullptr), std::strtod(most, nullptr), count, 7 + k));
  print<T>(function.name, targets(), worst_errors<T>(function.name, targets(), columns));
}

void print_all(const Name& function, uint64_t step) {
  if (function.arguments > 1) return;
  const std::vector<std::string> targets{"host", "strict"};
  print<float>(function.name, targets, worst_errors_of_all(function.name, targets, step));
}

}  // namespace
}  // namespace tile_tune::codegen::functions

int main(int argc, char** argv) {
  using namespace tile_tune::codegen::functions;
  if (argc != 4 && argc != 6) return 2;
  const std::string name = argv[1], type = argv[2];
  const size_t count = std::strtoull(argv[3], nullptr, 10);
  const char *least = argc == 6 ? argv[4] : nullptr, *most = argc == 6 ? argv[5] : nullptr;
  for (const Name& function : names()) {
    if (name != "all" && name != function.name) continue;
    if (const std::string values = argv[3]; values.starts_with("every")) {
      print_all(function, values == "every" ? 1 : std::stoull(values.substr(6)));
      continue;
    }
    if (type != "f64") print<float>(function, count, least, most);
    if (type != "f32") print<double>(function, count, least, most);
  }
}
