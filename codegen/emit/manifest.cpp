#include "codegen/emit/manifest.h"

#include <nlohmann/json.hpp>

#include "codegen/emit/stride_text.h"
#include "codegen/target/host.h"
#include "frontend/ir/canonical.h"
#include "frontend/ir/json.h"

namespace tile_tune::codegen {
namespace {

using nlohmann::json;

json describe(const Argument& argument) {
  json result{{"tensor", argument.tensor},
              {"parameter", argument.parameter},
              {"dtype", dtype_name(argument.type)},
              {"layout", argument.storage.is_compact() ? ir::to_text(argument.storage) : "strided"},
              {"shape", argument.shape},
              {"strides", json::array()},
              {"role", argument.is_in_out   ? "inout"
                       : argument.is_output ? "output"
                                            : "input"}};
  for (const auto& word : stride_words(argument, "any"))
    result["strides"].push_back(word == "any" ? json(word) : json(std::stoll(word)));
  if (argument.packed) {
    const auto& form = argument.packed->form;
    result["constant"] = {{"bytes", argument.packed->bytes},
                          {"digests", argument.packed->digests},
                          {"dtype", dtype_name(form ? form->type : argument.type)},
                          {"extents", form ? json(form->extents) : json()}};
  }
  return result;
}

/// Where a statement stood in its source file is a path of the machine that tuned it.
json without_places(ir::Program program) {
  for (ir::Statement& statement : program.statements) statement.place.reset();
  return ir::to_json(program);
}

/// The functions for other instruction sets than the package's target, as they are asked for.
json describe_variants(const Kernel& kernel, const std::vector<Compiled>& compiled) {
  json variants = json::array();
  for (size_t i = 0; i < kernel.variants.size(); ++i) {
    const Variant& one = kernel.variants[i];
    variants.push_back({{"target", to_json(one.target)},
                        {"schedule", to_json(one.schedule)},
                        {"schedule_id", schedule_id(one.schedule)},
                        {"provenance", one.provenance},
                        {"rung", one.rung.empty() ? one.provenance : one.rung},
                        {"record", one.record},
                        {"code_hash", compiled[i].code_hash}});
  }
  return variants;
}

/// The members and the table, and the program with the sizes as names that all of it follows from.
json describe(const SizedEntry& entry, const std::vector<Compiled>& compiled) {
  json result = to_json(entry);
  result["program"] = without_places(entry.program.symbolic);
  result["fixed"] = entry.program.fixed;
  for (size_t i = 0; i < compiled.size(); ++i) result["members"][i]["code_hash"] = compiled[i].code_hash;
  return result;
}

json describe(const Kernel& kernel, const Signature& signature, const std::vector<Compiled>& compiled) {
  json arguments = json::array();
  for (const Argument& argument : signature.arguments) arguments.push_back(describe(argument));
  json result{{"function", kernel.function},
              {"content_hash", ir::content_hash(kernel.meaning())},
              {"program", without_places(kernel.program)},
              {"arguments", std::move(arguments)},
              {"schedule", to_json(kernel.schedule)},
              {"schedule_id", schedule_id(kernel.schedule)},
              {"provenance", kernel.provenance},
              {"rung", kernel.rung.empty() ? kernel.provenance : kernel.rung},
              {"record", kernel.record},
              {"code_hash", compiled.back().code_hash},
              {"variants", describe_variants(kernel, compiled)}};
  if (kernel.written) result["written"] = without_places(*kernel.written);
  if (kernel.entry) result["family"] = describe(*kernel.entry, compiled);
  return result;
}

/// Whose work the libraries hold, for those who pass them on.
json contents() {
  return json::array(
      {{{"name", "tile-tune"},
        {"what", "the runtime, and what headers and entries are made of"},
        {"license", "Apache-2.0"}},
       {{"name", "Halide " + halide_version()},
        {"what", "what Halide puts beside a kernel's own code: functions of its runtime that are inlined into it"},
        {"license", "MIT"},
        {"copyright",
         "Copyright (c) 2012-2020 MIT CSAIL, Google, Facebook, Adobe, NVIDIA CORPORATION, and other contributors."}},
       {{"name", "LLVM " + llvm_version()},
        {"what", "the compiler behind Halide; its exception asks for no notice of what it leaves in object code"},
        {"license", "Apache-2.0 WITH LLVM-exception"}}});
}

}  // namespace

json manifest(const PackageOptions& options, const std::vector<Kernel>& kernels,
              const std::vector<Signature>& signatures, const std::vector<std::vector<Compiled>>& compiled,
              const std::vector<Digest>& files, const std::string& c_compiler) {
  json list = json::array(), digests = json::object();
  for (size_t i = 0; i < kernels.size(); ++i) list.push_back(describe(kernels[i], signatures[i], compiled[i]));
  for (const Digest& digest : files) digests[digest.file.generic_string()] = digest.sha256;
  return {{"kind", "package"},
          {"format", kManifestFormat},
          {"name", options.name},
          {"tool_version", options.tool_version},
          {"halide_version", halide_version()},
          {"llvm_version", llvm_version()},
          {"c_compiler", c_compiler},
          {"target", to_json(options.target)},
          {"checked", options.checked},
          {"contains", contents()},
          {"kernels", std::move(list)},
          {"files", std::move(digests)}};
}

}  // namespace tile_tune::codegen
