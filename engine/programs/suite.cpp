#include "engine/programs/suite.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <fnmatch.h>

#include <algorithm>
#include <cctype>
#include <nlohmann/json.hpp>
#include <set>

#include "engine/programs/einsum_argument.h"
#include "frontend/ir/json.h"
#include "frontend/tc/parse.h"

namespace tile_tune::engine {

namespace {

using nlohmann::json;

tl::unexpected<Diagnostic> malformed(const std::string& where, const std::string& what) {
  return fail(ErrorClass::Program, "bad-suite", fmt::format("{}: {}", where, what));
}

tl::unexpected<Diagnostic> at(const std::string& where, Diagnostic diagnostic) {
  diagnostic.message = where + ": " + diagnostic.message;
  return tl::unexpected(std::move(diagnostic));
}

tl::unexpected<Diagnostic> malformed(const std::string& what) { return fail(ErrorClass::Program, "bad-suite", what); }

// What else a workload holds is read by nobody: a misspelt field would be.
Result<void> warn_of_unknown_fields(const json& workload, const std::string& where, const Reporter& report) {
  static const std::set<std::string> kKnown{"name",     "group",  "source_group", "einsum",  "tc",
                                            "program",  "sizes",  "dtype",        "weights", "result_dtype",
                                            "constant", "shapes", "flops",        "bytes",   "why"};
  std::vector<Diagnostic> warnings;
  for (const auto& [field, value] : workload.items())
    if (kKnown.count(field) == 0)
      warnings.push_back(
          program_warning("unknown-field", fmt::format("{}: a workload has no field \"{}\"", where, field)));
  return report.program_warnings(warnings);
}

Result<void> check_types(const json& workload) {
  const std::pair<const char*, bool (json::*)() const noexcept> types[] = {
      {"group", &json::is_string},        {"einsum", &json::is_string}, {"tc", &json::is_string},
      {"dtype", &json::is_string},        {"sizes", &json::is_object},  {"weights", &json::is_array},
      {"result_dtype", &json::is_string}, {"flops", &json::is_number},  {"constant", &json::is_array},
      {"bytes", &json::is_number}};
  for (const auto& [field, is_right] : types)
    if (workload.contains(field) && !(workload[field].*is_right)())
      return malformed(fmt::format("\"{}\" is of the wrong type", field));
  for (const char* count : {"flops", "bytes"})
    if (workload.value(count, 0.0) < 0) return malformed(fmt::format("\"{}\" is negative", count));
  return {};
}

Result<ir::Sizes> sizes_of(const json& workload) {
  ir::Sizes sizes;
  if (!workload.contains("sizes")) return sizes;
  for (const auto& [name, size] : workload["sizes"].items()) {
    if (!size.is_number_integer() || (size.is_number_unsigned() && size.get<uint64_t>() > INT64_MAX))
      return malformed(fmt::format("size {} = {} is no integer of 64 bits", name, size.dump()));
    sizes[name] = size.get<int64_t>();
  }
  return sizes;
}

std::string identifier(const std::string& name) {
  std::string result;
  for (const char c : name) result += std::isalnum(static_cast<unsigned char>(c)) ? c : '_';
  if (result.empty() || std::isdigit(static_cast<unsigned char>(result[0]))) result = "w" + result;
  return result;
}

Result<LoadedProgram> from_einsum(const json& workload, const ir::Sizes& sizes) {
  BindingOptions options;
  options.dtypes.push_back(workload.value("dtype", "f32"));
  if (workload.contains("result_dtype")) options.dtypes.push_back("out=" + workload["result_dtype"].get<std::string>());
  // The cheapest order of a network depends on its sizes.
  for (const auto& [name, size] : sizes) options.sizes.push_back(fmt::format("{}={}", name, size));
  return load_einsum("einsum:" + workload["einsum"].get<std::string>(), options);
}

Result<LoadedProgram> from_tc(const json& workload, const std::string& where, const Reporter& report) {
  const std::string text = workload["tc"];
  TILE_TUNE_TRY(parsed, tc::parse(text, where));
  TILE_TUNE_CHECK(report.program_warnings(parsed.warnings));
  if (parsed.programs.size() != 1) return malformed("\"tc\" must hold one def");
  return LoadedProgram{std::move(parsed.programs.front()), "tc", text};
}

Result<LoadedProgram> load_one(const json& workload, const ir::Sizes& sizes, const std::string& where,
                               const Reporter& report) {
  const int forms = workload.contains("einsum") + workload.contains("tc") + workload.contains("program");
  if (forms != 1) return malformed("a workload has one of \"einsum\", \"tc\" and \"program\"");
  if (workload.contains("einsum")) return from_einsum(workload, sizes);
  if (workload.contains("tc")) return from_tc(workload, where, report);
  TILE_TUNE_TRY(program, ir::program_from_json(workload["program"]));
  return LoadedProgram{std::move(program), "json", workload["program"].dump()};
}

/// Throws nlohmann's exceptions where an element of a list is of another type than it must be.
Result<LoadedProgram> load_workload(const json& workload, const std::string& where, const Reporter& report) {
  TILE_TUNE_CHECK(warn_of_unknown_fields(workload, where, report));
  if (auto right = check_types(workload); !right) return at(where, std::move(right.error()));
  auto sizes = sizes_of(workload);
  if (!sizes) return at(where, std::move(sizes.error()));
  auto loaded = load_one(workload, *sizes, where, report);
  if (!loaded) return at(where, std::move(loaded.error()));
  loaded->sizes = std::move(*sizes);
  SuiteFigures figures;
  figures.name = workload["name"];
  figures.group = workload.value("group", "");
  if (workload.contains("flops")) figures.flops = workload["flops"].get<double>();
  if (workload.contains("bytes")) figures.bytes = workload["bytes"].get<double>();
  figures.weights = workload.value("weights", std::vector<std::string>{});
  for (const auto& weight : figures.weights) {
    const auto& tensors = loaded->program.tensors;
    if (std::none_of(tensors.begin(), tensors.end(), [&](const ir::Tensor& t) { return t.name == weight; }))
      return malformed(where, fmt::format("the program has no tensor '{}'", weight));
  }
  auto constant = with_constants(std::move(loaded->program), workload.value("constant", std::vector<std::string>{}));
  if (!constant) return at(where, std::move(constant.error()));
  loaded->program = std::move(*constant);
  loaded->program.name = identifier(figures.name);
  loaded->suite = std::move(figures);
  return std::move(*loaded);
}

}  // namespace

bool is_suite(const json& json) {
  const auto kind = json.find("kind");
  return kind != json.end() && *kind == "suite";
}

std::string name_of(const LoadedProgram& loaded) { return loaded.suite ? loaded.suite->name : loaded.program.name; }

bool is_wanted(const LoadedProgram& loaded, const std::vector<std::string>& only) {
  if (only.empty()) return true;
  const std::string name = name_of(loaded);
  const std::string group = loaded.suite ? loaded.suite->group : "";
  return std::any_of(only.begin(), only.end(), [&](const std::string& pattern) {
    return pattern == group || fnmatch(pattern.c_str(), name.c_str(), 0) == 0;
  });
}

Result<void> keep_wanted(std::vector<LoadedProgram>& loaded, const std::vector<std::string>& only) {
  std::erase_if(loaded, [&](const LoadedProgram& one) { return !is_wanted(one, only); });
  if (!loaded.empty()) return {};
  return fail(ErrorClass::Program, "nothing-selected",
              fmt::format("no workload is named {}, nor its group", fmt::join(only, " or ")));
}

Result<std::vector<LoadedProgram>> load_suite(const json& suite, const std::string& path, const Reporter& report) try {
  if (suite.value("format", 0) != kSuiteFormat)
    return malformed(path, fmt::format("a suite of this version has \"format\": {}", kSuiteFormat));
  if (!suite.contains("workloads") || !suite["workloads"].is_array() || suite["workloads"].empty())
    return malformed(path, "a suite has a list of \"workloads\"");
  std::vector<LoadedProgram> programs;
  std::set<std::string> names;
  for (const auto& workload : suite["workloads"]) {
    if (!workload.is_object() || !workload.contains("name") || !workload["name"].is_string())
      return malformed(path, fmt::format("workload {} has no \"name\"", programs.size()));
    const std::string name = workload["name"], where = fmt::format("{}: {}", path, name);
    if (!names.insert(identifier(name)).second) return malformed(where, "the name occurs twice");
    try {
      TILE_TUNE_TRY(loaded, load_workload(workload, where, report));
      programs.push_back(std::move(loaded));
    } catch (const json::exception&) {
      return malformed(where, "a field is of the wrong type");
    }
  }
  return programs;
} catch (const nlohmann::json::exception&) {
  return malformed(path, "a field is of the wrong type");
}

}  // namespace tile_tune::engine
