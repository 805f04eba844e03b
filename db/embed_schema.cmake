# cmake -DSCHEMA=folder -DOUTPUT=file.cpp -P embed_schema.cmake
# The migrations NNN_name.sql of a folder, in order, as one C++ table: the installed tool needs no file of its own.
file(GLOB files "${SCHEMA}/*.sql")
list(SORT files)
set(expected 1)
set(rows "")
foreach(file IN LISTS files)
  cmake_path(GET file FILENAME name)
  string(REGEX MATCH "^0*([0-9]+)_" matched "${name}")
  if(NOT matched OR NOT CMAKE_MATCH_1 EQUAL expected)
    message(FATAL_ERROR "${name}: migrations are numbered without gaps, the next one is ${expected}")
  endif()
  file(READ "${file}" sql)
  string(APPEND rows "    {${expected}, R\"sql(${sql})sql\"},\n")
  math(EXPR expected "${expected} + 1")
endforeach()
file(WRITE "${OUTPUT}" "// Made from db/schema/*.sql by db/embed_schema.cmake.
#include \"db/migrate.h\"

namespace tile_tune::db {
namespace {
constexpr Migration kMigrations[] = {
${rows}};
}  // namespace

std::span<const Migration> migrations() { return kMigrations; }

}  // namespace tile_tune::db
")
