#include "tests/property/codegen/gpu_assembly.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <regex>
#include <sstream>

#include "base/files.h"
#include "base/process/spawn.h"
#include "codegen/lower/compile.h"

namespace tile_tune::test {
namespace {

namespace fs = std::filesystem;

/// All that the command writes; its exit status shows in that, too.
std::string output_of(std::vector<std::string> words) {
  const auto finished = base::run({.words = std::move(words), .in_english = true});
  return finished ? finished->out + finished->err : "it cannot be started";
}

int largest(const std::string& text, const std::string& pattern) {
  int result = 0;
  const std::regex regex(pattern);
  for (auto at = std::sregex_iterator(text.begin(), text.end(), regex); at != std::sregex_iterator(); ++at)
    result = std::max(result, std::stoi((*at)[1]));
  return result;
}

}  // namespace

std::string ptxas() {
  if (const char* given = std::getenv("PTXAS")) return given;
  std::vector<std::string> places{"/usr/local/cuda/bin/ptxas"};
  for (const char* variable : {"CUDA_PATH", "CUDA_HOME"})
    if (const char* folder = std::getenv(variable)) places.insert(places.begin(), std::string(folder) + "/bin/ptxas");
  std::istringstream path(std::getenv("PATH") ? std::getenv("PATH") : "");
  for (std::string folder; std::getline(path, folder, ':');) places.push_back(folder + "/ptxas");
  for (const auto& place : places)
    if (access(place.c_str(), X_OK) == 0) return place;
  return "";
}

Assembly assemble(const std::string& ptx, int capability) {
  const fs::path folder = fs::temp_directory_path() / ("tile-tune-ptx-" + std::to_string(getpid()));
  fs::create_directories(folder);
  std::ofstream(folder / "kernel.ptx") << ptx;
  Assembly result;
  result.said = output_of({ptxas(), "-v", "-arch=sm_" + std::to_string(capability), "-o",
                           (folder / "kernel.cubin").string(), (folder / "kernel.ptx").string()});
  if (auto cubin = base::read_bytes(folder / "kernel.cubin")) result.cubin = std::move(*cubin);
  fs::remove_all(folder);
  return result;
}

std::vector<Assembled> assembled(const ir::Program& program, const codegen::Schedule& schedule,
                                 const codegen::Target& target) {
  const auto code = codegen::device_code(program, schedule, target);
  if (!code) return {{"", 0, 0, 0, code.error().message}};
  std::vector<Assembled> result;
  for (const int capability : {80, 86, 90}) {
    const std::string text = assemble(*code, capability).said;
    Assembled one{"sm_" + std::to_string(capability), largest(text, "Used ([0-9]+) registers"),
                  largest(text, "([0-9]+) bytes stack frame"), largest(text, "([0-9]+) bytes spill (?:stores|loads)"),
                  ""};
    if (one.registers == 0) one.error = text;
    result.push_back(one);
  }
  return result;
}

}  // namespace tile_tune::test
