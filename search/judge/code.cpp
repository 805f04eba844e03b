#include "search/judge/code.h"

#include <dlfcn.h>
#include <elf.h>
#include <fmt/format.h>

#include <cstring>
#include <fstream>

#include "codegen/target/matrix_unit.h"
#include "search/judge/kernel_runtime.h"

namespace tile_tune::search {
namespace {

// Never destroyed: threads of its pool may run until the process ends.
const Code*& runtime() {
  static const Code* loaded = nullptr;
  return loaded;
}

void* resolve(const std::string& name) {
  if (name == "tile_tune_stream") return reinterpret_cast<void*>(&tile_tune_stream);
  if (name == "tile_tune_end_stream") return reinterpret_cast<void*>(&tile_tune_end_stream);
  void* const found = runtime() ? runtime()->find(name) : nullptr;
  return found ? found : dlsym(RTLD_DEFAULT, name.c_str());
}

bool is_shared_library(const std::filesystem::path& file) {
  Elf64_Ehdr header{};
  std::ifstream(file, std::ios::binary).read(reinterpret_cast<char*>(&header), sizeof header);
  return std::memcmp(header.e_ident, ELFMAG, SELFMAG) == 0 && header.e_type == ET_DYN;
}

Result<void*> open_library(const std::filesystem::path& library, int visibility) {
  void* handle = dlopen(library.c_str(), RTLD_NOW | visibility);
  if (!handle) return failure("library-not-loaded", fmt::format("a built library does not load: {}", dlerror()));
  return handle;
}

}  // namespace

Result<Code> Code::load(const std::filesystem::path& file, const std::map<std::string, void*>& symbols) {
  codegen::may_use_matrix_unit();  // as kernels do where they are made for it
  Code code;
  if (is_shared_library(file)) {
    TILE_TUNE_TRY(library, open_library(file, RTLD_LOCAL));
    code.library_ = library;
  } else {
    const auto find = [&](const std::string& name) {
      const auto given = symbols.find(name);
      return given != symbols.end() ? given->second : resolve(name);
    };
    TILE_TUNE_TRY(object, codegen::LoadedObject::load(file, find));
    code.object_ = std::make_shared<const codegen::LoadedObject>(std::move(object));
  }
  return code;
}

Result<Code> Code::load_runtime(const std::filesystem::path& file) {
  if (is_shared_library(file)) {
    Code code;
    TILE_TUNE_TRY(library, open_library(file, RTLD_GLOBAL));
    code.library_ = library;
    return code;
  }
  TILE_TUNE_TRY(code, load(file));
  runtime() = new Code(code);
  return code;
}

void* Code::find(const std::string& name) const {
  return object_ ? object_->find(name) : dlsym(library_, name.c_str());
}

}  // namespace tile_tune::search
