# cmake --install BUILD --prefix P: the tile-tune command, and what C++ programs need to use it as a library.
#
# The SDK's libraries are shared, so that users need neither our dependencies' headers nor their development packages.
# Each holds its own copy of what it is made of; only the objects behind the public headers export symbols.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

# What is installed may not be built yet (scripts/tile-tune builds the command alone) or be older than its sources.
# Two installations at a time would build in one tree at a time, which Ninja cannot.
install(CODE "file(LOCK \"${CMAKE_BINARY_DIR}/install.lock\")
  execute_process(COMMAND \"${CMAKE_COMMAND}\" --build \"${CMAKE_BINARY_DIR}\" --target
  tile-tune tile_tune_sdk_tensor tile_tune_sdk_edsl tile_tune_sdk_kernels
  tile_tune_sdk_linear_algebra tile_tune_sdk_engine COMMAND_ERROR_IS_FATAL ANY)")

# What wheels hold of it (pyproject.toml) is the component "python"; in them links are copies, so that there are none.
set(library_version ${PROJECT_VERSION})
if(SKBUILD)
  set(library_version ${PROJECT_VERSION_MAJOR})
endif()

# tile_tune_sdk_library(NAME OF component LINK target... [IN_WHEEL]): the component as libtile_tune_NAME.so,
# tile_tune::NAME for find_package(tile_tune).
function(tile_tune_sdk_library name)
  cmake_parse_arguments(arg "IN_WHEEL" "OF" "LINK;PUBLIC" ${ARGN})
  if(arg_IN_WHEEL)
    set(component COMPONENT python NAMELINK_COMPONENT sdk)
  endif()
  set(library tile_tune_sdk_${name})
  add_library(${library} SHARED $<TARGET_OBJECTS:tile_tune_${arg_OF}>)
  set_target_properties(${library} PROPERTIES
    OUTPUT_NAME tile_tune_${name} EXPORT_NAME ${name} LINKER_LANGUAGE CXX LIBRARY_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/sdk"
    SOVERSION ${PROJECT_VERSION_MAJOR} VERSION ${library_version}
    INSTALL_RPATH "$ORIGIN;$ORIGIN/tile_tune")
  target_link_libraries(${library} PRIVATE ${arg_LINK} PUBLIC ${arg_PUBLIC})
  # RPATH, unlike RUNPATH, holds for what the libraries beside this one load, too (scripts/bundle).
  target_link_options(${library} PRIVATE LINKER:--exclude-libs,ALL LINKER:--no-undefined LINKER:--disable-new-dtags)
  target_include_directories(${library} INTERFACE "$<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>")
  target_compile_features(${library} INTERFACE cxx_std_20)
  install(TARGETS ${library} EXPORT tile_tune LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} ${component})
endfunction()

# Data and views, which need nothing else of ours.
tile_tune_sdk_library(tensor IN_WHEEL OF tensors LINK tile_tune_tensor)
tile_tune_sdk_library(edsl IN_WHEEL OF edsl LINK tile_tune_ir tile_tune_tc tile_tune_einsum)
# What loads kernels brings no compiler: neither Halide nor the database.
tile_tune_sdk_library(kernels IN_WHEEL OF handles PUBLIC tile_tune_sdk_edsl tile_tune_sdk_tensor LINK tile_tune_kernel_image tile_tune_caller tile_tune_load tile_tune_rt)
tile_tune_sdk_library(linear_algebra OF linear_algebra PUBLIC tile_tune_sdk_tensor LINK tile_tune_base tile_tune_tensor)
tile_tune_sdk_library(engine OF sdk PUBLIC tile_tune_sdk_edsl LINK tile_tune_engine tile_tune_handles)

foreach(folder frontend/tensor frontend/edsl engine/caller)
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/${folder}/include/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
endforeach()
install(TARGETS tile-tune EXPORT tile_tune RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT python)
install(FILES "${CMAKE_BINARY_DIR}/share/tile-tune/curated.db" DESTINATION ${CMAKE_INSTALL_DATADIR}/tile-tune
        COMPONENT python OPTIONAL)
set_target_properties(tile-tune PROPERTIES INSTALL_RPATH "$ORIGIN/../${CMAKE_INSTALL_LIBDIR}/tile_tune")
# Halide comes from PyPI's wheel, not from the system: it travels along.
install(FILES "${halide_root}/lib64/libHalide.so" DESTINATION ${CMAKE_INSTALL_LIBDIR}/tile_tune COMPONENT python
        PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)

set(config_folder ${CMAKE_INSTALL_LIBDIR}/cmake/tile_tune)
install(EXPORT tile_tune NAMESPACE tile_tune:: FILE tile_tuneTargets.cmake DESTINATION ${config_folder})
write_basic_package_version_file("${CMAKE_BINARY_DIR}/tile_tuneConfigVersion.cmake" COMPATIBILITY SameMinorVersion)
install(FILES "${CMAKE_BINARY_DIR}/tile_tuneConfigVersion.cmake" cmake/tile_tuneConfig.cmake
        cmake/TileTuneAddLibrary.cmake DESTINATION ${config_folder})
file(RELATIVE_PATH from_pkgconfig "/${CMAKE_INSTALL_LIBDIR}/pkgconfig" "/")
configure_file(cmake/tile_tune.pc.in "${CMAKE_BINARY_DIR}/tile_tune.pc" @ONLY)
install(FILES "${CMAKE_BINARY_DIR}/tile_tune.pc" DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
