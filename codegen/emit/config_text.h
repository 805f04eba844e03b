// Package files for build systems: CMake's find_package and pkg-config. Both are relocatable.
#pragma once

#include <string>

namespace tile_tune::codegen {

/// NAMEConfig.cmake: imported target NAME::NAME, with the shared runtime as tile_tune::rt.
std::string cmake_config_text(const std::string& library);

/// NAMEConfigVersion.cmake: find_package(NAME VERSION) takes the tool's version and all before it.
std::string cmake_version_text(const std::string& tool_version);

/// NAME.pc.
std::string pkg_config_text(const std::string& library, const std::string& tool_version);

}  // namespace tile_tune::codegen
