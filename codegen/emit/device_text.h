// The generated C of kernels on devices: entries on the device's memory, and what lies in the host's copied there and
// back.
#pragma once

#include "codegen/emit/signature.h"

namespace tile_tune::codegen {

/// Why a package cannot hold this kernel for a device, if so. Class Program.
Result<void> check_for_device(const Signature& kernel);

/// In place of tile_tune_run() of kernels for the CPU: the same, with copies. Needs the tables of wrapper_text().
std::string device_run_text(const std::string& library, const Signature& kernel);

/// FUNCTION_device and FUNCTION_device_dl.
std::string device_entries(const std::string& library, const Signature& kernel);

/// Their parameters but the first, a queue, as the header has them: "void* A", or "const float* A" of CUDA.
std::vector<std::string> device_parameters(const Signature& kernel);

/// What the library has beside library_text(): which device entries on host memory use, messages, an end.
std::string device_library_text(const std::string& library, Driver driver);
std::vector<std::string> device_library_functions(const std::string& library);

/// What the header says of it all.
std::string device_header_text(const std::string& library, Driver driver);

}  // namespace tile_tune::codegen
