// Compiled code in this process: an object file of ours, which needs no linker, or a shared library of somebody else's.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <string>

#include "codegen/load/loaded_object.h"

namespace tile_tune::search {

class Code {
 public:
  /// What an object does not define is looked for among `symbols`, in the runtime, then in the process's libraries. It
  /// stays as long as this value or a copy, a library for ever. Codes: library-not-loaded, object-not-loaded.
  static Result<Code> load(const std::filesystem::path& file, const std::map<std::string, void*>& symbols = {});

  /// As load(); every later load() finds its symbols. It stays for ever.
  static Result<Code> load_runtime(const std::filesystem::path& file);

  /// nullptr: it defines no such function.
  void* find(const std::string& name) const;

 private:
  std::shared_ptr<const codegen::LoadedObject> object_;
  void* library_ = nullptr;  // where it is no object
};

}  // namespace tile_tune::search
