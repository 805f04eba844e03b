#include "codegen/emit/config_text.h"

#include <fmt/format.h>

namespace tile_tune::codegen {

std::string cmake_config_text(const std::string& library) {
  return fmt::format(R"(# {0}::{0}: kernels made by tile-tune, with the runtime they share (tile_tune::rt).
include(CMakeFindDependencyMacro)
set(THREADS_PREFER_PTHREAD_FLAG ON)
find_dependency(Threads)

get_filename_component(_{0}_prefix "${{CMAKE_CURRENT_LIST_DIR}}/../../.." ABSOLUTE)

if(NOT TARGET tile_tune::rt)
  add_library(tile_tune::rt STATIC IMPORTED)
  set_target_properties(tile_tune::rt PROPERTIES
    IMPORTED_LOCATION "${{_{0}_prefix}}/lib/libtile_tune_rt.a"
    INTERFACE_LINK_LIBRARIES "Threads::Threads;${{CMAKE_DL_LIBS}};m")
endif()

if(NOT TARGET {0}::{0})
  add_library({0}::{0} STATIC IMPORTED)
  set_target_properties({0}::{0} PROPERTIES
    IMPORTED_LOCATION "${{_{0}_prefix}}/lib/lib{0}.a"
    INTERFACE_INCLUDE_DIRECTORIES "${{_{0}_prefix}}/include"
    INTERFACE_LINK_LIBRARIES "tile_tune::rt")
endif()

unset(_{0}_prefix)
)",
                     library);
}

std::string cmake_version_text(const std::string& tool_version) {
  return fmt::format(R"(# The version is that of the tile-tune which made the package.
set(PACKAGE_VERSION "{0}")
if(NOT PACKAGE_FIND_VERSION VERSION_GREATER PACKAGE_VERSION)
  set(PACKAGE_VERSION_COMPATIBLE TRUE)
endif()
if(PACKAGE_FIND_VERSION VERSION_EQUAL PACKAGE_VERSION)
  set(PACKAGE_VERSION_EXACT TRUE)
endif()
)",
                     tool_version);
}

std::string pkg_config_text(const std::string& library, const std::string& tool_version) {
  return fmt::format(R"(prefix=${{pcfiledir}}/../..
libdir=${{prefix}}/lib
includedir=${{prefix}}/include

Name: {0}
Description: Kernels made by tile-tune
Version: {1}
Cflags: -I${{includedir}}
Libs: -L${{libdir}} -l{0} -ltile_tune_rt -lpthread -ldl -lm
)",
                     library, tool_version);
}

}  // namespace tile_tune::codegen
