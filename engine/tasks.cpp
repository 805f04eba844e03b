#include "engine/tasks.h"

#include <fmt/format.h>

#include <map>

#include "codegen/emit/c_names.h"
#include "engine/packages/output_folder.h"
#include "engine/programs/memory.h"
#include "engine/programs/suite.h"
#include "frontend/plan/program_warnings.h"

namespace tile_tune::engine {

namespace {

Result<void> check_all(const std::vector<LoadedProgram>& loaded, const std::vector<ir::Program>& stored,
                       const ir::Sizes& given, const std::string& directory, const Reporter& report) {
  std::vector<ir::Program> programs;
  for (size_t i = 0; i < loaded.size(); ++i) {
    auto bound = ir::bind(stored[i], sizes_of(loaded[i], given));
    if (bound && !loaded[i].suite)
      if (auto size = check_size(*bound, Use::Measure); !size) bound = tl::unexpected(std::move(size.error()));
    if (!bound && loaded.size() > 1 && bound.error().message.find(loaded[i].program.name) == std::string::npos)
      bound.error().message = name_of(loaded[i]) + ": " + bound.error().message;
    if (!bound) return tl::unexpected(std::move(bound.error()));
    programs.push_back(std::move(*bound));
  }
  for (const auto& program : programs) {
    TILE_TUNE_CHECK(check_package(program.name, directory));
    TILE_TUNE_CHECK(report.program_warnings(plan::program_warnings(program)));
  }
  return {};
}

/// Packages of one folder would overwrite each other.
Result<void> check_distinct(const std::vector<Variant>& variants) {
  std::map<std::string, const LoadedProgram*> owners;  // one with weights has two packages, of which the last stays
  for (const auto& variant : variants)
    if (owners.try_emplace(variant.program.name, variant.loaded).first->second != variant.loaded)
      return fail(ErrorClass::Program, "duplicate-function",
                  fmt::format("two packages would be called '{}'", variant.program.name),
                  "emit one at a time, or make one library of them with tile-tune build");
  return {};
}

}  // namespace

Result<void> check_package(const std::string& name, const std::string& directory) {
  if (directory.empty()) return {};
  TILE_TUNE_CHECK(codegen::check_external_name("function", name));
  return check_package_folder(directory, name);
}

Result<std::vector<Variant>> tuning_tasks(const std::vector<LoadedProgram>& loaded, const BindingOptions& options,
                                          const ir::Sizes& given, bool weights, const std::string& directory,
                                          const Reporter& report) {
  std::vector<ir::Program> programs;
  for (const auto& one : loaded) programs.push_back(one.program);
  TILE_TUNE_CHECK(check_size_names(programs, given));
  TILE_TUNE_TRY(stored, with_storage(loaded, options));
  TILE_TUNE_CHECK(check_all(loaded, stored, given, directory, report));
  std::vector<Variant> variants;
  for (size_t i = 0; i < loaded.size(); ++i) {
    TILE_TUNE_TRY(some, variants_of(loaded[i], stored[i], weights));
    variants.insert(variants.end(), some.begin(), some.end());
  }
  if (!directory.empty()) TILE_TUNE_CHECK(check_distinct(variants));
  return variants;
}

}  // namespace tile_tune::engine
