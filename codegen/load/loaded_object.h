// Object files as code in this process, without a linker: what Halide writes for x86-64 is placed in memory of its own
// and relocated. A kernel of 20 KB takes some 50 us, where ld and dlopen take 20 ms. Debuggers see no symbols of it,
// and nothing can be thrown through it.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "frontend/diagnostic/diagnostic.h"

namespace tile_tune::codegen {

/// Where a symbol is that an object does not define; null: nowhere.
using SymbolResolver = std::function<void*(const std::string& name)>;

class LoadedObject {
 public:
  /// Code: object-not-loaded, with what is missing or of a kind that is not known here. Constructors and destructors
  /// are not run: Halide's runtime has only one that ends its own thread pool.
  static Result<LoadedObject> load(const std::filesystem::path& object, const SymbolResolver& resolve);
  /// The same of what such a file holds.
  static Result<LoadedObject> load_bytes(std::string object, const SymbolResolver& resolve);

  /// A function or variable that it defines for others; null: there is none of that name.
  void* find(const std::string& name) const;

 private:
  std::shared_ptr<void> memory_;
  std::map<std::string, void*> symbols_;
};

}  // namespace tile_tune::codegen
