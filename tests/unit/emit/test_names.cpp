#include <catch2/catch.hpp>

#include "codegen/emit/c_names.h"

using namespace tile_tune;
using namespace tile_tune::codegen;

TEST_CASE("names that C, C++, the C library or the runtime own are refused with the reason") {
  for (const char* good : {"matmul", "mv", "conv2d", "A", "max", "exp_kernel", "sinef2", "f", "l", "conv_t", "B1",
                           "ROW_MAX", "int2_t", "SIGnal", "PRIMES"})
    CHECK(check_external_name("function", good));
  const std::pair<const char*, const char*> bad[] = {
      {"", "starts"},       {"2d", "start with a digit"}, {"a-b", "letters, digits"},  {"naïve", "letters, digits"},
      {"../x", "letters"},  {"a b", "letters"},           {"_x", "reserve"},           {"a__b", "reserve"},
      {"FILE", "C or C++"}, {"size_t", "C or C++"},       {"int64_t", "C or C++"},     {"uint_fast8_t", "C or C++"},
      {"M_PI", "C or C++"}, {"SIGINT", "C or C++"},       {"INT_MAX", "C or C++"},     {"F_OK", "C or C++"},
      {"int", "C or C++"},  {"class", "C or C++"},        {"xor", "C or C++"},         {"linux", "C or C++"},
      {"exp", "library"},   {"expf", "library"},          {"powl", "library"},         {"main", "library"},
      {"read", "library"},  {"malloc", "library"},        {"tile_tune_rt", "runtime"}, {"halide_malloc", "runtime"}};
  for (const auto& [name, reason] : bad) {
    const auto result = check_external_name("function", name);
    INFO(name);
    REQUIRE_FALSE(result);
    CHECK(result.error().error_class == ErrorClass::Program);
    CHECK(result.error().code == "bad-name");
    if (*name != '\0') CHECK(result.error().message.find(reason) != std::string::npos);
  }
  // libm.a and string.h would hide the system's; as functions the names are free.
  for (const char* system : {"m", "string"}) {
    CHECK_FALSE(check_external_name("library", system));
    CHECK(check_external_name("function", system));
  }
  CHECK(check_external_name("library", std::string(200, 'a')));
  CHECK_FALSE(check_external_name("library", std::string(201, 'a')));
}

TEST_CASE("parameters keep the tensors' names where C allows it") {
  CHECK(parameter_names({"A", "B", "C"}) == std::vector<std::string>{"A", "B", "C"});
  CHECK(parameter_names({"I", "register", "std", "x y"}) == std::vector<std::string>{"arg0", "arg1", "arg2", "arg3"});
  // What are macros or types where <termios.h>, <math.h> and the like come before the header.
  CHECK(parameter_names({"B0", "B1", "M_PI", "BUFSIZ", "FILE", "PRIx8"}) ==
        std::vector<std::string>{"arg0", "B1", "arg2", "arg3", "arg4", "arg5"});
  // A name that looks like a replacement, and one given twice, cannot clash with a replacement.
  CHECK(parameter_names({"arg1", "int", "T", "T"}) == std::vector<std::string>{"arg0", "arg1", "arg2", "arg3"});
}
