# Kernels in a CMake project; find_package(tile_tune) brings this file along.
#
#   find_package(tile_tune REQUIRED)
#   tile_tune_add_library(NAME matmul PROGRAM matmul.tc SIZES M=512 N=512 K=512 DATABASE tuned.db)
#   target_link_libraries(app PRIVATE matmul)
#
# NAME is an imported static library below the build tree, with NAME.h on the include path of what links it. `tile-tune
# build` makes it when a program, a database, a schedule, an argument or the tool has changed, and at no other time; what
# is wrong with a program fails the build with the tool's own words. Relative files lie in the current source directory.
#
#   NAME      of the target, the library and its header; of a single program the function's, too
#   PROGRAM   FILE.tc, FILE.tc:DEF, FILE.json or einsum:SUBSCRIPTS; several make one library
#   SIZES     NAME=N ...
#   DATABASE  files that `tile-tune tune` has written, the preferred one first; they are only read. Without any, every
#             program gets its default schedule
#   SCHEDULE  of a single program a schedule as JSON, in place of what the database has
#   CONSTANT, LAYOUT, DTYPE, SHAPE, TARGET, THREADS
#             as the options of `tile-tune build`, each value as one word
#   DETERMINISTIC
#             alone: the kernels of `tile-tune build --deterministic`
#   CHECKED   alone: entries look at indices that come from arrays, as those of `tile-tune build --checked`
#   TUNE      seconds: nothing is tuned in a build unless this is given. Every PROGRAM is then tuned for so long when one
#             of them, its sizes or its storage change, into a database below the build tree which is preferred to the
#             others. Of a file of several defs each is named: FILE.tc:DEF
#
# A TARGET is needed where the project is cross-compiled, and one for Linux: packages for other systems are sources, which
# `tile-tune build` makes and find_package(NAME) compiles.
#
# The property TILE_TUNE_PACKAGE of the target is the package's folder: lib/, include/, share/.

# Of FILE.tc:DEF and the like: the file, absolute, or nothing of an einsum; and the argument with it.
function(_tile_tune_program argument file_variable argument_variable)
  if(argument MATCHES "^einsum:")
    set(${file_variable} "" PARENT_SCOPE)
    set(${argument_variable} "${argument}" PARENT_SCOPE)
    return()
  endif()
  set(file "${argument}")
  set(part "")
  if(argument MATCHES "^(.*\\.(tc|json))(:[^:/]*)$")
    set(file "${CMAKE_MATCH_1}")
    set(part "${CMAKE_MATCH_3}")
  endif()
  cmake_path(ABSOLUTE_PATH file BASE_DIRECTORY "${CMAKE_CURRENT_SOURCE_DIR}" NORMALIZE)
  set(${file_variable} "${file}" PARENT_SCOPE)
  set(${argument_variable} "${file}${part}" PARENT_SCOPE)
endfunction()

# VARIABLE gets OPTION and each of the further arguments in turn.
function(_tile_tune_options variable option)
  set(list "")
  foreach(value IN LISTS ARGN)
    list(APPEND list "${option}" "${value}")
  endforeach()
  set(${variable} "${list}" PARENT_SCOPE)
endfunction()

# Only of kernels for Linux `tile-tune build` makes an archive, which is what the imported target shows.
function(_tile_tune_check_targets name)
  string(REPLACE "," ";" targets "${ARGN}")
  foreach(target IN LISTS targets)
    if(NOT target MATCHES "^(host|(x86-64|arm-64)-linux(-.*)?)$")
      message(FATAL_ERROR "tile_tune_add_library: kernels for ${target} are no archive but objects and C sources; make "
                          "them by `tile-tune build --target ${target} --name ${name} -o FOLDER`, add FOLDER to "
                          "CMAKE_PREFIX_PATH, and use find_package(${name})")
    endif()
  endforeach()
  if(CMAKE_CROSSCOMPILING AND NOT targets)
    message(FATAL_ERROR "tile_tune_add_library: say what ${name} is cross-compiled for, as TARGET arm-64-linux")
  endif()
endfunction()

# VARIABLE gets the files as absolute paths; one that neither exists nor is made by the build is an error.
function(_tile_tune_files variable what)
  set(list "")
  foreach(file IN LISTS ARGN)
    cmake_path(ABSOLUTE_PATH file BASE_DIRECTORY "${CMAKE_CURRENT_SOURCE_DIR}" NORMALIZE)
    get_source_file_property(generated "${file}" GENERATED)
    if(NOT EXISTS "${file}" AND NOT generated)
      message(FATAL_ERROR "tile_tune_add_library: the ${what} ${file} does not exist")
    endif()
    list(APPEND list "${file}")
  endforeach()
  set(${variable} "${list}" PARENT_SCOPE)
endfunction()

function(tile_tune_add_library)
  cmake_parse_arguments(PARSE_ARGV 0 arg "CHECKED;DETERMINISTIC" "NAME;SCHEDULE;THREADS;TUNE"
                        "PROGRAM;SIZES;DATABASE;CONSTANT;LAYOUT;DTYPE;SHAPE;TARGET")
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "tile_tune_add_library: unexpected: ${arg_UNPARSED_ARGUMENTS}")
  endif()
  # The lists may be empty variables.
  if("TUNE" IN_LIST arg_KEYWORDS_MISSING_VALUES)
    message(FATAL_ERROR "tile_tune_add_library: TUNE needs a number of seconds")
  endif()
  foreach(needed NAME PROGRAM)
    if(NOT arg_${needed})
      message(FATAL_ERROR "tile_tune_add_library: ${needed} is missing")
    endif()
  endforeach()

  _tile_tune_check_targets("${arg_NAME}" ${arg_TARGET})

  set(folder "${CMAKE_CURRENT_BINARY_DIR}/tile_tune/${arg_NAME}")
  set(package "${folder}/package")
  file(MAKE_DIRECTORY "${package}/include")  # what an imported target names must exist

  set(program_files "")
  set(arguments "")
  foreach(program IN LISTS arg_PROGRAM)
    _tile_tune_program("${program}" file argument)
    list(APPEND arguments "${argument}")
    list(APPEND program_files ${file})
  endforeach()
  _tile_tune_files(program_files "program" ${program_files})
  _tile_tune_files(databases "database" ${arg_DATABASE})
  _tile_tune_files(schedule "schedule" ${arg_SCHEDULE})
  foreach(option SIZES:-s CONSTANT:--constant LAYOUT:--layout DTYPE:--dtype SHAPE:--shape THREADS:--threads)
    string(REGEX MATCH "^[A-Z]+" keyword "${option}")
    string(REGEX REPLACE "^[A-Z]+:" "" option "${option}")
    _tile_tune_options(values "${option}" ${arg_${keyword}})
    list(APPEND arguments ${values})
  endforeach()
  if(arg_DETERMINISTIC)
    list(APPEND arguments --deterministic)
  endif()
  if(arg_TARGET)
    list(JOIN arg_TARGET "," target)
    list(APPEND arguments --target "${target}")
  endif()

  set(tuned "")
  set(own "")
  if(arg_TUNE)
    set(own "${folder}/tuning.db")
    _tile_tune_options(stack --db "${own}" ${databases})
    set(tune tune ${arguments} ${stack} --time ${arg_TUNE})
    set(tuned "${folder}/tuned")
    file(GENERATE OUTPUT "${folder}/tune.arguments" CONTENT "${tune}\n")
    add_custom_command(
      OUTPUT "${tuned}"
      BYPRODUCTS "${own}"
      COMMAND tile_tune::tile-tune ${tune}
      COMMAND "${CMAKE_COMMAND}" -E touch "${tuned}"
      DEPENDS ${program_files} "${folder}/tune.arguments"
      COMMENT "Tuning ${arg_NAME} for ${arg_TUNE} s"
      VERBATIM)
  endif()

  set(stack_files ${own} ${databases})
  if(NOT stack_files)
    # Of no database rather than of the user's own one, which other machines do not have.
    set(stack_files "${folder}/none.db")
    list(APPEND arguments --quiet)
  endif()
  _tile_tune_options(stack --db ${stack_files})
  _tile_tune_options(only_build --schedule ${schedule})
  if(arg_CHECKED)
    list(APPEND only_build --checked)
  endif()
  set(build build ${arguments} ${stack} ${only_build} --name "${arg_NAME}" -o "${package}")
  # Not every generator makes a file again when only its command has changed.
  file(GENERATE OUTPUT "${folder}/build.arguments" CONTENT "${tile_tune_VERSION} ${build}\n")
  set(library "${package}/lib/lib${arg_NAME}.a")
  set(runtime "${package}/lib/libtile_tune_rt.a")
  # `build` leaves files alone that come out as they were: the time of a file of our own says when that was found out.
  set(made "${folder}/made")
  set(files "${library}" "${runtime}" "${package}/include/${arg_NAME}.h" "${package}/include/${arg_NAME}.hpp")
  add_custom_command(
    OUTPUT "${made}"
    BYPRODUCTS ${files}
    COMMAND tile_tune::tile-tune ${build} > "${folder}/files"
    COMMAND "${CMAKE_COMMAND}" -E touch "${made}"
    DEPENDS ${program_files} ${databases} ${schedule} ${tuned} "${folder}/build.arguments"
            "$<TARGET_FILE:tile_tune::tile-tune>"
    COMMENT "Building the kernels of ${arg_NAME}"
    VERBATIM)
  add_custom_target(tile_tune_${arg_NAME} DEPENDS "${made}")
  if(CMAKE_GENERATOR MATCHES "Makefiles")
    # Make does not look whether byproducts are there. (As outputs they would look new whenever `made` is.)
    list(TRANSFORM files REPLACE "(.+)" "[==[\\1]==]" OUTPUT_VARIABLE quoted)
    list(JOIN quoted " " quoted)
    file(GENERATE OUTPUT "${folder}/lost.cmake" CONTENT "foreach(file IN ITEMS ${quoted})
  if(NOT EXISTS \"\${file}\")
    file(REMOVE [==[${made}]==])
  endif()
endforeach()
")
    add_custom_target(tile_tune_lost_${arg_NAME} COMMAND "${CMAKE_COMMAND}" -P "${folder}/lost.cmake" VERBATIM)
    add_dependencies(tile_tune_${arg_NAME} tile_tune_lost_${arg_NAME})
  endif()

  add_library(${arg_NAME} STATIC IMPORTED GLOBAL)
  set_target_properties(${arg_NAME} PROPERTIES
    IMPORTED_LOCATION "${library}"
    INTERFACE_INCLUDE_DIRECTORIES "${package}/include"
    INTERFACE_LINK_LIBRARIES "${runtime};Threads::Threads;${CMAKE_DL_LIBS};m"
    TILE_TUNE_PACKAGE "${package}")
  add_dependencies(${arg_NAME} tile_tune_${arg_NAME})
endfunction()
