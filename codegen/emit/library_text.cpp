#include "codegen/emit/library_text.h"

#include <fmt/format.h>

#include "codegen/emit/device_text.h"

namespace tile_tune::codegen {
namespace {

constexpr const char* kText = R"(#include "{0}.h"

#include "tile_tune_rt.h"

struct {0}_context {{ struct tile_tune_context rt; }};

static {0}_context default_context;

const char* {0}_error_string(int code) {{ return tile_tune_rt4_error_string(code); }}

{0}_context* {0}_default_context(void) {{ return &default_context; }}

{0}_context* {0}_context_create(void) {{ return ({0}_context*)tile_tune_rt4_context_create(); }}

void {0}_context_destroy({0}_context* context) {{
  if (context != &default_context) tile_tune_rt4_context_destroy((struct tile_tune_context*)context);
}}

int {0}_context_set_num_threads({0}_context* context, int threads) {{
  return tile_tune_rt4_set_num_threads((struct tile_tune_context*)context, threads);
}}

int {0}_context_set_parallel_for({0}_context* context, {0}_parallel_for parallel_for) {{
  return tile_tune_rt4_set_parallel_for((struct tile_tune_context*)context, parallel_for);
}}

int {0}_context_set_allocator({0}_context* context, {0}_allocate allocate, {0}_release release) {{
  return tile_tune_rt4_set_allocator((struct tile_tune_context*)context, allocate, release);
}}

int {0}_context_set_user_data({0}_context* context, void* user) {{
  return tile_tune_rt4_set_user_data((struct tile_tune_context*)context, user);
}}

int {0}_set_num_threads(int threads) {{ return {0}_context_set_num_threads(&default_context, threads); }}
)";

std::vector<std::string> behind(const std::string& library, std::initializer_list<const char*> suffixes) {
  std::vector<std::string> names;
  for (const char* suffix : suffixes) names.push_back(library + "_" + suffix);
  return names;
}

}  // namespace

std::string library_text(const std::string& library, Driver driver) {
  return fmt::format(kText, library) + (driver == Driver::None ? "" : device_library_text(library, driver));
}

std::vector<std::string> library_functions(const std::string& library) {
  auto names = behind(
      library, {"error_string", "default_context", "context_create", "context_destroy", "context_set_num_threads",
                "context_set_parallel_for", "context_set_allocator", "context_set_user_data", "set_num_threads"});
  for (auto& name : device_library_functions(library)) names.push_back(std::move(name));
  return names;
}

std::vector<std::string> library_types(const std::string& library) {
  return behind(library, {"status", "context", "parallel_for", "allocate", "release", "dl_tensor"});
}

}  // namespace tile_tune::codegen
