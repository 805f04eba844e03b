#include "search/workers/device_query.h"

#include <fmt/format.h>

#include <cstring>
#include <nlohmann/json.hpp>

#include "base/process/spawn.h"
#include "codegen/target/device_limits.h"
#include "tile_tune_device.h"

namespace tile_tune::search {
namespace {

using codegen::Feature;

constexpr const char* kCuda = "cuda";
constexpr const char* kOpenCl = "opencl";

tl::unexpected<Diagnostic> no_device(const codegen::Target& target, const std::string& why) {
  return fail(
      ErrorClass::Target, "no-device",
      fmt::format("there is no {} device here: {}", target.features.has(Feature::Cuda) ? "CUDA" : "OpenCL", why),
      "kernels are compiled without one for a target that is named, such as "
      "x86-64-linux-cuda-cuda_capability_80");
}

/// The newest capability that kernels can be made for and the device has. An older device refuses them.
void set_capability(codegen::Target& target, int capability) {
  for (const auto& one : codegen::kCudaCapabilities) target.features.remove(one.first);
  target.features.add(codegen::feature_of_capability(capability));
}

}  // namespace

Result<void> find_device(codegen::Target& target, int number, const std::vector<std::string>& command) {
  const bool is_cuda = target.features.has(Feature::Cuda);
  auto words = command;
  words.insert(words.end(), {is_cuda ? kCuda : kOpenCl, std::to_string(number)});
  const auto asked = base::run({.words = words, .own_group = true});
  if (!asked) return no_device(target, std::strerror(asked.error()));
  const auto json = nlohmann::json::parse(asked->out, nullptr, false);
  if (!json.is_object()) return no_device(target, "the driver ended the process that asked it");
  if (json.contains("error")) return no_device(target, json["error"].get<std::string>());
  target.cpu_model =
      fmt::format("{}, driver {}", json.at("name").get<std::string>(), json.at("driver").get<std::string>());
  // One model is sold, and set, with other clocks: times of one say little of another.
  if (const int megahertz = json.at("megahertz"); megahertz > 0) target.cpu_model += fmt::format(", {} MHz", megahertz);
  target.found = codegen::found_device_from_json(json);
  if (is_cuda) set_capability(target, target.found.capability);
  // A device's last cache is what its programs lie in; PoCL's is the host's.
  if (is_cuda && target.found.cache_bytes > 0) target.l3_bytes = target.found.cache_bytes;
  if (!is_cuda && json.at("has_doubles").get<bool>()) target.features.add(Feature::ClDoubles);
  if (!is_cuda && json.at("has_halves").get<bool>()) target.features.add(Feature::ClHalf);
  return {};
}

nlohmann::json answer_device_query(const std::string& driver, int number) {
  tile_tune_device_facts facts;
  const auto* device = driver == kCuda ? tile_tune_device2_cuda_interface() : tile_tune_device2_opencl_interface();
  if (device->describe(number, &facts) != TILE_TUNE_OK) return {{"error", tile_tune_device2_message()}};
  auto answer = codegen::to_json(codegen::FoundDevice{number, facts.capability, facts.multiprocessors,
                                                      facts.block_shared_bytes, facts.multiprocessor_shared_bytes,
                                                      facts.multiprocessor_threads, facts.cache_bytes});
  answer.update({{"name", facts.name},
                 {"driver", facts.driver},
                 {"megahertz", facts.megahertz},
                 {"has_doubles", facts.has_doubles != 0},
                 {"has_halves", facts.has_halves != 0}});
  return answer;
}

}  // namespace tile_tune::search
