#include "codegen/emit/check_text.h"

#include <fmt/format.h>

#include "codegen/emit/buffer_text.h"

namespace tile_tune::codegen {

std::string check_function(const Signature& kernel) {
  if (kernel.checks.empty()) return "";
  return fmt::format(R"(
static int tile_tune_found(int status, const uint64_t* outside) {{
  for (int i = 0; i < {}; ++i)
    if (outside[i] != 0 && status == TILE_TUNE_OK) status = TILE_TUNE_ERROR_INDEX;
  return status;
}}
)",
                     kernel.checks.size());
}

std::string check_variables(const Signature& kernel) {
  return kernel.checks.empty() ? "" : fmt::format("  uint64_t outside[{}] = {{0}};\n", kernel.checks.size());
}

std::vector<std::string> check_buffers(const Signature& kernel) {
  std::vector<std::string> buffers;
  for (const DType type : kernel.checks)
    buffers.push_back(fmt::format("{{0, NULL, (uint8_t*)&outside[{}], 0, {}, 0, NULL, NULL}}", buffers.size(),
                                  type_code(type).halide));
  return buffers;
}

std::string checked_call(const Signature& kernel, const std::string& call) {
  return kernel.checks.empty() ? call : fmt::format("tile_tune_found({}, outside)", call);
}

}  // namespace tile_tune::codegen
