#include <fmt/format.h>
#include <hwloc.h>
#include <isl/version.h>
#include <sodium.h>
#include <sqlite3.h>
#include <xgboost/c_api.h>

#include <CLI/Version.hpp>
#include <nlohmann/json.hpp>

#include "cli/table.h"
#include "cli/verbs.h"
#include "codegen/target/host.h"

namespace tile_tune::cli {

namespace {

std::string fmt_version() {
  return fmt::format("{}.{}.{}", FMT_VERSION / 10000, FMT_VERSION / 100 % 100, FMT_VERSION % 100);
}

std::string hwloc_version() {
  const unsigned version = hwloc_get_api_version();  // 0x00MMmmrr
  return fmt::format("{}.{}.{}", version >> 16, version >> 8 & 0xff, version & 0xff);
}

std::string isl_version_number() {
  std::string text = isl_version();  // "isl-0.25-GMP\n"
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return text.starts_with("isl-") ? text.substr(4) : text;
}

std::string json_version() {
  return fmt::format("{}.{}.{}", NLOHMANN_JSON_VERSION_MAJOR, NLOHMANN_JSON_VERSION_MINOR, NLOHMANN_JSON_VERSION_PATCH);
}

std::string xgboost_version() {
  int major = 0, minor = 0, patch = 0;
  XGBoostVersion(&major, &minor, &patch);
  return fmt::format("{}.{}.{}", major, minor, patch);
}

using Versions = std::vector<std::pair<std::string, std::string>>;

Versions versions() {
  return {
      {"Halide", codegen::halide_version()}, {"LLVM", codegen::llvm_version()}, {"SQLite", sqlite3_libversion()},
      {"isl", isl_version_number()},         {"hwloc (API)", hwloc_version()},  {"fmt", fmt_version()},
      {"nlohmann/json", json_version()},     {"CLI11", CLI11_VERSION},          {"libsodium", sodium_version_string()},
      {"XGBoost", xgboost_version()},        {"compiler", TILE_TUNE_COMPILER}};
}

}  // namespace

std::string version_text() {
  std::vector<std::vector<std::string>> rows;
  for (const auto& [name, version] : versions()) rows.push_back({name, version});
  std::string text = "tile-tune " TILE_TUNE_VERSION "\n" + format_table({{""}, {""}}, rows, 2);
  text.pop_back();
  return text;
}

nlohmann::json version_json() {
  nlohmann::json json{{"tile_tune", TILE_TUNE_VERSION}};
  for (const auto& [name, version] : versions()) json["with"][name] = version;
  return json;
}

}  // namespace tile_tune::cli
