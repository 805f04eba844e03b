#include "codegen/emit/device_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "codegen/emit/buffer_text.h"
#include "codegen/emit/stride_text.h"
#include "codegen/emit/wrapper_text.h"

namespace tile_tune::codegen {
namespace {

std::string interface_of(Driver driver) {
  return fmt::format("tile_tune_device2_{}_interface()", driver == Driver::Cuda ? "cuda" : "opencl");
}

tl::unexpected<Diagnostic> not_for_device(const Signature& kernel, const std::string& why, const std::string& note) {
  return fail(ErrorClass::Program, "not-for-device",
              fmt::format("{} cannot be packaged for a device: {}", kernel.function, why), note);
}

/// tile_tune_launch(): buffers on the stack that show memory of the device. One of no elements shows that the call is
/// no question for bounds, which a null buffer would be.
std::string launch_text(const Signature& kernel) {
  const std::string symbol = kernel_symbol(kernel.function);
  std::vector<std::string> types(kernel.buffers.size(), "struct tile_tune_buffer*"), buffers;
  std::string rows;
  for (const size_t i : kernel.buffers) {
    const Argument& a = kernel.arguments[i];
    const size_t count = halide_dimensions(a).size();
    buffers.push_back(fmt::format("&buffers[{}]", buffers.size()));
    rows += fmt::format("    {{memory[{}], device, {}, 0, {}, {}, {}, NULL}},\n", i,
                        a.bytes() == 0 ? "(uint8_t*)&nothing" : "NULL", type_code(a.type).halide, count,
                        count == 0 ? "NULL" : fmt::format("(struct tile_tune_dimension*)tile_tune_dimensions{}", i));
  }
  return fmt::format(R"(
int {symbol}(struct tile_tune_call*, {types});

static int tile_tune_launch(const struct tile_tune_context* context, void* queue, const uint64_t* memory) {{
  static const uint64_t nothing = 0;
  (void)nothing;
  const struct tile_tune_device_interface* const device = {interface};
  struct tile_tune_buffer buffers[] = {{
{rows}  }};
  struct tile_tune_device_call call = {{{{context, 1}}, queue}};
  return {symbol}(&call.call, {buffers});
}}
)",
                     fmt::arg("symbol", symbol), fmt::arg("types", fmt::join(types, ", ")),
                     fmt::arg("interface", interface_of(kernel.driver)), fmt::arg("rows", rows),
                     fmt::arg("buffers", fmt::join(buffers, ", ")));
}

constexpr const char* kRun = R"(
static int tile_tune_run(const struct tile_tune_context* context, void* const* pointers) {{
  const struct tile_tune_device_interface* const device = {interface};
  const struct tile_tune_device_argument arguments[] = {{
{rows}  }};
  uint64_t memory[{count}];
  void* queue;
  int status = device->default_queue({library}_default_device(), &queue);
  if (status == TILE_TUNE_OK) status = tile_tune_device2_stage(device, queue, arguments, {count}, memory);
  if (status != TILE_TUNE_OK) return status;
  status = tile_tune_launch(context, queue, memory);
  return tile_tune_device2_unstage(device, queue, arguments, {count}, memory, status);
}}
)";

// Handles of OpenCL are no addresses: that two of them show the same bytes is only known where they are one.
constexpr const char* kCheckHandles = R"(
static int tile_tune_check_device(void* const* pointers) {
  for (int i = 0; i < tile_tune_signature.count; ++i) {
    if (pointers[i] == NULL) return TILE_TUNE_ERROR_NULL_POINTER;
    for (int j = 0; j < i; ++j)
      if (i >= tile_tune_signature.inputs && pointers[i] == pointers[j]) return TILE_TUNE_ERROR_OVERLAP;
  }
  return TILE_TUNE_OK;
}
)";
// Kernels load 16 bytes at a time.
constexpr const char* kCheckAddresses = R"(
static int tile_tune_check_device(void* const* pointers) {
  for (int i = 0; i < tile_tune_signature.count; ++i)
    if ((uintptr_t)pointers[i] % 16 != 0) return TILE_TUNE_ERROR_MISALIGNED;
  return tile_tune_rt4_check_pointers(&tile_tune_signature, pointers);
}
)";

constexpr const char* kDeviceEntries = R"(
static int tile_tune_on_device(void* queue, void* const* pointers) {{
  if (!tile_tune_cpu_supported()) return TILE_TUNE_ERROR_UNSUPPORTED_CPU;
  const int status = tile_tune_check_device(pointers);
  if (status != TILE_TUNE_OK) return status;
  uint64_t memory[{count}];
  for (int i = 0; i < {count}; ++i) memory[i] = (uint64_t)(uintptr_t)pointers[i];
  return tile_tune_launch(tile_tune_defaults(), queue, memory);
}}

int {function}_device(void* queue, {parameters}) {{
  void* const pointers[] = {{{pointers}}};
  return tile_tune_on_device(queue, pointers);
}}

int {function}_device_dl(void* queue, {library}_dl_tensor* const* inputs, {library}_dl_tensor* const* outputs) {{
  void* pointers[{count}];
  const int status =
      tile_tune_device2_check_tensors({interface}, queue, &tile_tune_signature, inputs, outputs, pointers);
  return status != TILE_TUNE_OK ? status : tile_tune_on_device(queue, pointers);
}}
)";

constexpr const char* kLibrary = R"(
#include "tile_tune_device.h"

static atomic_int default_device;

int {0}_default_device(void) {{ return atomic_load_explicit(&default_device, memory_order_relaxed); }}

int {0}_set_device(int number) {{
  if (number < 0) return TILE_TUNE_ERROR_INVALID_VALUE;
  atomic_store_explicit(&default_device, number, memory_order_relaxed);
  return TILE_TUNE_OK;
}}

const char* {0}_device_message(void) {{ return tile_tune_device2_message(); }}

int {0}_device_release(void* queue) {{ return tile_tune_device2_release({1}, queue); }}
)";

constexpr const char* kHeader = R"(
/* The kernels run on a device, through {api}, whose driver is loaded by the first call that needs it.
 *   KERNEL_device     works in a queue of yours, a {queue}, on memory of its device: {memory}.
 *                     It launches and returns; it waits for nothing. What it builds, for a context, and the memory it
 *                     takes, for a queue, is kept: a second call neither builds nor allocates.
 *   KERNEL_device_dl  the same on DLPack tensors of device type {dlpack}.
 *   KERNEL and the others COPY their arguments to a device and the results back, and wait: for programs that have
 *                     nothing of their own there. Threads and memory of a context are those on the host. */
int {name}_set_device(int number); /* for those that copy: which of the machine's devices; 0 is the first */
int {name}_default_device(void);
const char* {name}_device_message(void); /* what the driver said of this thread's last error, with the kernel's name */
int {name}_device_release(void* queue);  /* waits, then gives back all that is kept for the queue */
)";

}  // namespace

Result<void> check_for_device(const Signature& kernel) {
  if (kernel.sizes) return not_for_device(kernel, "it takes sizes", "build for one size");
  if (!kernel.checks.empty()) return not_for_device(kernel, "its indices are to be checked", "leave out --checked");
  if (takes_strides(kernel)) return not_for_device(kernel, "it takes strides", "give strides as numbers");
  for (const auto& argument : kernel.arguments) {
    if (argument.packed)
      return not_for_device(kernel, fmt::format("{} is packed for a CPU", argument.tensor), "leave out --constant");
    if (argument.before() > 0)
      return not_for_device(kernel, fmt::format("{} has negative strides", argument.tensor),
                            "memory of a device begins at its first element");
  }
  return {};
}

std::string device_run_text(const std::string& library, const Signature& kernel) {
  std::string rows;
  for (size_t i = 0; i < kernel.arguments.size(); ++i) {
    const Argument& a = kernel.arguments[i];
    const bool has_gaps = !a.storage.is_compact();  // which keep what they hold
    rows += fmt::format("    {{pointers[{}], {}, {}, {}}},\n", i, a.bytes(), a.is_output ? 1 : 0,
                        a.is_in_out || has_gaps ? 1 : 0);
  }
  return launch_text(kernel) + fmt::format(kRun, fmt::arg("interface", interface_of(kernel.driver)),
                                           fmt::arg("rows", rows), fmt::arg("count", kernel.arguments.size()),
                                           fmt::arg("library", library));
}

std::vector<std::string> device_parameters(const Signature& kernel) {
  std::vector<std::string> parameters;
  for (const Argument& a : kernel.arguments)
    parameters.push_back(kernel.driver == Driver::Cuda
                             ? fmt::format("{}{}* {}", a.is_output ? "" : "const ", c_type(a.type), a.parameter)
                             : fmt::format("void* {}", a.parameter));
  return parameters;
}

std::string device_entries(const std::string& library, const Signature& kernel) {
  std::vector<std::string> pointers;
  for (const Argument& a : kernel.arguments) pointers.push_back("(void*)" + a.parameter);
  return (kernel.driver == Driver::Cuda ? kCheckAddresses : kCheckHandles) +
         fmt::format(kDeviceEntries, fmt::arg("library", library), fmt::arg("function", kernel.function),
                     fmt::arg("parameters", fmt::join(device_parameters(kernel), ", ")),
                     fmt::arg("pointers", fmt::join(pointers, ", ")), fmt::arg("count", pointers.size()),
                     fmt::arg("interface", interface_of(kernel.driver)));
}

std::string device_library_text(const std::string& library, Driver driver) {
  return fmt::format(kLibrary, library, interface_of(driver));
}

std::vector<std::string> device_library_functions(const std::string& library) {
  std::vector<std::string> names;
  for (const char* suffix : {"set_device", "default_device", "device_message", "device_release"})
    names.push_back(library + "_" + suffix);
  return names;
}

std::string device_header_text(const std::string& library, Driver driver) {
  const bool is_cuda = driver == Driver::Cuda;
  return fmt::format(kHeader, fmt::arg("name", library), fmt::arg("api", is_cuda ? "CUDA's driver" : "OpenCL"),
                     fmt::arg("queue", is_cuda ? "CUstream (or cudaStream_t; of null, the current context's)"
                                               : "cl_command_queue whose commands run in order"),
                     fmt::arg("memory", is_cuda ? "pointers at multiples of 16, as cuMemAlloc and cudaMalloc give them"
                                                : "cl_mem objects of its context"),
                     fmt::arg("dlpack", is_cuda ? "kDLCUDA" : "kDLOpenCL, whose data are cl_mem objects"));
}

}  // namespace tile_tune::codegen
