# tile_tune_component(NAME [FAST] SOURCES file... LINK target... [PRECOMPILED header...])
# One folder, one static library: tile_tune_NAME. Headers are included from the repository root
# ("frontend/ir/program.h"); LINK names only what docs/HACKING.md lets the folder use. FAST: its own code takes time
# when it runs.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release)
endif()

# Most of the tool waits for Halide, for processes or for kernels: -O1 takes a third off the time to compile it.
if(CMAKE_BUILD_TYPE STREQUAL "Release")
  set(CMAKE_CXX_FLAGS_RELEASE "-O1 -DNDEBUG")
  set(TILE_TUNE_FAST -O3)
endif()
# GCC collects its own garbage from 128 MB on, which takes a tenth of its time.
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  add_compile_options($<$<COMPILE_LANGUAGE:CXX>:--param=ggc-min-heapsize=600000>)
endif()

# Headers that most files include are parsed once and reused by all targets that are compiled with the same options:
# those of the lowest component by the other components, of the lowest fast one by fast ones, of test_headers by tests.
# A component whose files share a header that is as large (PRECOMPILED) has its own.
function(tile_tune_reuse_precompiled target first)
  get_target_property(c_sources ${target} SOURCES)
  list(FILTER c_sources INCLUDE REGEX "\\.c$")
  set_source_files_properties(${c_sources} PROPERTIES SKIP_PRECOMPILE_HEADERS ON SKIP_UNITY_BUILD_INCLUSION ON)
  target_precompile_headers(${target} REUSE_FROM ${first})
endfunction()

# Sources of a component or a test are compiled several at a time: what they have in common besides the precompiled
# headers, templates above all, is half of their compilers' work and more. Names of unnamed namespaces are therefore a
# folder's.
option(TILE_TUNE_UNITY "Compile several sources of a target at a time" ON)
set(CMAKE_UNITY_BUILD_BATCH_SIZE 16)

# GCC 12 warns falsely inside std::string (GCC bug 105651 and others) and, with -O1, of members of variants that are not
# there, and does not take precompiled system headers for such. -Werror=narrowing: a field added to a struct in the middle
# moved the values of an initialiser elsewhere to fields of other types.
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  set(TILE_TUNE_FALSE_WARNINGS -Wno-restrict -Wno-array-bounds -Wno-stringop-overflow -Wno-stringop-overread
    -Wno-maybe-uninitialized)
endif()
function(tile_tune_component name)
  cmake_parse_arguments(arg "FAST" "" "SOURCES;LINK;PRECOMPILED" ${ARGN})
  add_library(tile_tune_${name} STATIC ${arg_SOURCES})
  target_include_directories(tile_tune_${name} PUBLIC "${PROJECT_SOURCE_DIR}")
  target_compile_options(tile_tune_${name} PRIVATE -Wall -Wextra
    $<$<COMPILE_LANGUAGE:CXX>:-Werror=narrowing> ${TILE_TUNE_FALSE_WARNINGS})
  target_link_libraries(tile_tune_${name} PUBLIC ${arg_LINK})
  set_target_properties(tile_tune_${name} PROPERTIES UNITY_BUILD ${TILE_TUNE_UNITY})
  set(headers_of tile_tune_diagnostic)
  if(arg_FAST)
    target_compile_options(tile_tune_${name} PRIVATE ${TILE_TUNE_FAST})
    set(headers_of tile_tune_tensor)
  endif()
  if(arg_PRECOMPILED OR name STREQUAL "diagnostic" OR name STREQUAL "tensor")
    target_precompile_headers(tile_tune_${name} PRIVATE "${PROJECT_SOURCE_DIR}/cmake/precompiled.h" ${arg_PRECOMPILED})
  else()
    tile_tune_reuse_precompiled(tile_tune_${name} ${headers_of})
  endif()
endfunction()

# Catch2's one header makes optimising tests cost more than running them: -O0 takes a quarter off the time that -O1
# needs. Those that time loops of their own are optimised (tile_tune_test).
if(CMAKE_BUILD_TYPE STREQUAL "Release")
  set(TILE_TUNE_TEST_OPTIMIZATION -O0)
endif()

# How tests, and libraries of tests, are compiled: as executables are, which is what the headers of test_headers are for.
function(tile_tune_compile_as_test target)
  get_target_property(type ${target} TYPE)
  if(NOT type STREQUAL "EXECUTABLE")
    set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE OFF)
    target_compile_options(${target} PRIVATE -fPIE)
  endif()
  target_include_directories(${target} PUBLIC "${PROJECT_SOURCE_DIR}")
  target_compile_options(${target} PRIVATE -Wall -Wextra ${TILE_TUNE_FALSE_WARNINGS} ${TILE_TUNE_TEST_OPTIMIZATION})
  target_compile_definitions(${target} PRIVATE TILE_TUNE_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
  target_link_libraries(${target} PUBLIC Catch2::Catch2 fmt::fmt)
  set_target_properties(${target} PROPERTIES UNITY_BUILD ${TILE_TUNE_UNITY})
  tile_tune_reuse_precompiled(${target} test_headers)
endfunction()

# tile_tune_test_library(NAME SOURCES file... LINK target...)
# What several test programs share.
function(tile_tune_test_library name)
  cmake_parse_arguments(arg "" "" "SOURCES;LINK" ${ARGN})
  add_library(${name} STATIC ${arg_SOURCES})
  target_link_libraries(${name} PUBLIC ${arg_LINK})
  tile_tune_compile_as_test(${name})
endfunction()

# tile_tune_test(NAME LABEL kind SOURCES file... LINK target...)
# A Catch2 program whose cases are registered one by one under the ctest label KIND, as NAME/case or PREFIX/case. If no
# source has a main(), it is that of catch_main.
function(tile_tune_test name)
  cmake_parse_arguments(arg "SERIAL" "LABEL;TIMEOUT;PREFIX" "SOURCES;LINK" ${ARGN})
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 300)
  endif()
  if(NOT arg_PREFIX)
    set(arg_PREFIX ${name})
  endif()
  add_executable(${name} ${arg_SOURCES})
  target_link_libraries(${name} PRIVATE ${arg_LINK} catch_main)
  tile_tune_compile_as_test(${name})
  if(arg_LABEL STREQUAL "performance" AND CMAKE_BUILD_TYPE STREQUAL "Release")
    target_compile_options(${name} PRIVATE -O1)
    set_target_properties(${name} PROPERTIES DISABLE_PRECOMPILE_HEADERS ON)
  endif()
  # One cache for all tests, which most of them would otherwise fill anew, each in a folder of its own; schedules of
  # their own, not those that the tool is shipped with.
  set(properties LABELS ${arg_LABEL} TIMEOUT ${arg_TIMEOUT} ENVIRONMENT "XDG_CACHE_HOME=${PROJECT_BINARY_DIR}/cache"
      ENVIRONMENT_MODIFICATION "TILE_TUNE_CURATED=set:")
  if(arg_SERIAL)
    list(APPEND properties RUN_SERIAL TRUE)
  endif()
  catch_discover_tests(${name} TEST_PREFIX "${arg_PREFIX}/" PROPERTIES ${properties})
endfunction()
