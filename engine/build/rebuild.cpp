#include "engine/build/rebuild.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "codegen/emit/alternatives.h"
#include "codegen/emit/cpu_features.h"
#include "codegen/emit/manifest.h"
#include "codegen/emit/c_names.h"
#include "codegen/schedule/check.h"
#include "codegen/target/host.h"
#include "engine/programs/memory.h"
#include "engine/programs/program_argument.h"
#include "engine/session/session.h"
#include "frontend/ir/canonical.h"
#include "frontend/ir/json.h"

namespace tile_tune::engine {

namespace {

using nlohmann::json;

tl::unexpected<Diagnostic> bad(std::string what) {
  return fail(ErrorClass::Program, "bad-manifest", std::move(what),
              "share/NAME/manifest.json of a package is what --from takes");
}

/// Another version compiles to other code; that is no fault of the file.
Result<void> check_versions(const json& manifest) {
  const json ours{{"tool_version", TILE_TUNE_VERSION},
                  {"halide_version", codegen::halide_version()},
                  {"llvm_version", codegen::llvm_version()}};
  std::vector<std::string> others;
  for (const auto& [field, version] : ours.items()) {
    const auto found = manifest.find(field);
    if (found == manifest.end() || !found->is_string()) return bad(fmt::format("there is no {}", field));
    if (*found != version)
      others.push_back(
          fmt::format("its {} is {}, here it is {}", field, found->get<std::string>(), version.get<std::string>()));
  }
  if (others.empty()) return {};
  return fail(ErrorClass::Program, "another-version",
              fmt::format("another version made this package: {}", fmt::join(others, "; ")),
              "only the same versions make the same package; build the program anew");
}

/// Copying and writing JSON that nests deep takes deep stacks; expressions, of which each level is two or three, may
/// nest two thousand deep (ir/expr.h).
constexpr int kMaxLevels = 8000;
bool is_shallow(const json& value, int levels = kMaxLevels) {
  return levels > 0 && std::all_of(value.begin(), value.end(), [&](const json& part) {
           return !part.is_structured() || is_shallow(part, levels - 1);
         });
}

Result<void> check_form(const json& manifest) {
  if (!is_shallow(manifest)) return bad("it nests too deep");
  if (!manifest.is_object() || manifest.value("kind", json()) != "package") return bad("this is no package's manifest");
  if (manifest.value("format", json()) != codegen::kManifestFormat)
    return fail(ErrorClass::Program, "another-version", "the manifest is of another form than this version reads",
                "build the program anew");
  TILE_TUNE_CHECK(check_versions(manifest));
  const auto kernels = manifest.find("kernels");
  if (kernels == manifest.end() || !kernels->is_array() || kernels->empty()) return bad("it names no kernel");
  for (size_t i = 0; i < kernels->size(); ++i) {
    const auto& kernel = (*kernels)[i];
    if (!kernel.is_object() || !kernel.contains("program"))
      return bad(fmt::format("kernels[{}] comes without its program", i));
  }
  return {};
}

/// As records/schedule_choice.h has them; both stand in the header.
bool is_provenance(const codegen::Variant& one) {
  constexpr std::string_view kProvenances[] = {"tuned", "predicted", "steps", "nearest", "default", "given"};
  // "revalidated": the word for "rechecked" in manifests of versions up to 0.1.
  constexpr std::string_view kRungs[] = {"exact", "rechecked", "revalidated", "stale",   "curated",
                                         "steps", "nearest",   "predicted",   "default", "given"};
  return std::count(std::begin(kProvenances), std::end(kProvenances), one.provenance) == 1 &&
         std::count(std::begin(kRungs), std::end(kRungs), one.rung) == 1;
}

/// The target's text decides what is compiled; what goes with it must not contradict it.
Result<void> check_target(const codegen::Target& target) {
  TILE_TUNE_TRY(described, codegen::describe_target(target.text(), target.threads));
  if (described.text() != target.text() || described.vector_bytes != target.vector_bytes ||
      described.vector_registers != target.vector_registers || target.threads < 1 || target.threads > kMaxThreads)
    return bad(fmt::format("its target is not {} as this version knows it", target.text()));
  return {};
}

/// Of each kernel the same, in the order in which a CPU is asked for them.
Result<void> check_targets(const Package& package) {
  std::vector<std::string> first;
  for (const auto& kernel : package.kernels) {
    std::vector<codegen::Target> targets;
    for (const auto& one : codegen::alternatives_of(kernel, package.options.target)) {
      TILE_TUNE_CHECK(check_target(one.target));
      targets.push_back(one.target);
    }
    std::vector<std::string> names, order;
    for (const auto& target : targets) names.push_back(target.text());
    if (targets.size() > 1) {
      TILE_TUNE_TRY(ordered, codegen::dispatch_order(targets));
      for (const auto& target : ordered) order.push_back(target.text());
    }
    if (first.empty()) first = names;
    if (names != first || (targets.size() > 1 && names != order))
      return bad(fmt::format("the targets of {} are not those of a package", kernel.function));
  }
  return {};
}

/// The kernel is the entry's last member, and schedules are what their ids say; entry_from_json() checked the rest.
Result<void> check_entry(const codegen::Kernel& kernel, const json& described) {
  const auto& members = kernel.entry->members;
  const auto& last = members.back();
  if (ir::to_json(last.program) != ir::to_json(kernel.program))
    return bad(fmt::format("the program of {} is not that of its kernels for many sizes", kernel.function));
  for (size_t i = 0; i < members.size(); ++i) {
    if (described.at("family").at("members")[i].at("schedule_id") != codegen::schedule_id(members[i].schedule))
      return bad(fmt::format("a schedule of {} is not what its schedule_id says", kernel.function));
    if (!members[i].record.is_object()) return bad(fmt::format("the record of {} is none", kernel.function));
  }
  // Kernels are judged up to there.
  TILE_TUNE_TRY(largest, kernel.entry->program.at(kernel.entry->program.top()));
  TILE_TUNE_CHECK(check_size(largest, Use::Build));
  return check_size(kernel.program, Use::Build);
}

/// The program is what its hash says and in the form that schedules and kernels speak of, and the schedules fit it.
Result<void> check_kernel(const codegen::Kernel& kernel, const codegen::Target& target, const json& described) {
  TILE_TUNE_CHECK(codegen::check_external_name("function", kernel.function));
  if (!kernel.program.is_bound() || !kernel.meaning().is_bound() ||
      described.at("content_hash") != ir::content_hash(kernel.meaning()) ||
      ir::to_json(ir::canonicalize(kernel.program)) != ir::to_json(kernel.program))
    return bad(fmt::format("the program of {} is not what its content_hash says", kernel.function));
  if (described.at("schedule_id") != codegen::schedule_id(kernel.schedule))
    return bad(fmt::format("the schedule of {} is not what its schedule_id says", kernel.function));
  for (const auto& one : codegen::alternatives_of(kernel, target)) {
    if (!is_provenance(one)) return bad(fmt::format("the provenance or rung of {} is none", kernel.function));
    if (!one.record.is_object()) return bad(fmt::format("the record of {} is none", kernel.function));
    TILE_TUNE_CHECK(codegen::check_for(one.target, kernel.program, one.schedule));
  }
  if (kernel.entry) TILE_TUNE_CHECK(check_entry(kernel, described));
  return check_size(kernel.program, Use::Build);
}

Result<Package> read_package(const json& manifest, const std::string& directory) try {
  TILE_TUNE_CHECK(check_form(manifest));
  TILE_TUNE_TRY(package, package_from_json(manifest, directory));
  if (package.options.expected.empty()) return bad("it names no files");
  TILE_TUNE_CHECK(codegen::check_external_name("library", package.options.name));
  for (size_t i = 0; i < package.kernels.size(); ++i)
    TILE_TUNE_CHECK(check_kernel(package.kernels[i], package.options.target, manifest.at("kernels")[i]));
  TILE_TUNE_CHECK(check_targets(package));
  return package;
} catch (const json::exception&) {
  return bad("a field is missing or of the wrong type");
}

}  // namespace

Result<Package> package_of_manifest(const std::string& path, const std::string& directory) {
  TILE_TUNE_TRY(text, read_text(path));
  const auto manifest = json::parse(text, nullptr, false);
  auto package = manifest.is_discarded() ? bad("it is not JSON") : read_package(manifest, directory);
  if (!package) package.error().message = path + ": " + package.error().message;
  return package;
}

}  // namespace tile_tune::engine
