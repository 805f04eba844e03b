// The sources of libtile_tune_rt.a (folder runtime).
#pragma once

#include <map>
#include <string>

namespace tile_tune::codegen {

/// Text by file name: C sources, and the headers that they and the sources of wrapper_text.h and library_text.h
/// include.
const std::map<std::string, std::string>& runtime_files();

}  // namespace tile_tune::codegen
