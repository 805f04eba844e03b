# find_package(tile_tune): the libraries tile_tune::tensor, tile_tune::edsl, tile_tune::kernels, tile_tune::linear_algebra and
# tile_tune::engine, the tool as tile_tune::tile-tune, and tile_tune_add_library(), which makes kernels part of a project's build.
include(CMakeFindDependencyMacro)
set(THREADS_PREFER_PTHREAD_FLAG ON)
find_dependency(Threads)
include("${CMAKE_CURRENT_LIST_DIR}/tile_tuneTargets.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/TileTuneAddLibrary.cmake")
