#include "engine/programs/variants.h"

#include <algorithm>
#include <utility>

#include "engine/programs/bindings.h"

namespace tile_tune::engine {

Result<std::vector<Variant>> variants_of(const LoadedProgram& loaded, const ir::Program& stored, bool weights) {
  const std::string name = loaded.suite ? loaded.suite->name : stored.name;
  std::vector<Variant> variants{{&loaded, name, stored}};
  const bool has_constants =
      std::any_of(stored.tensors.begin(), stored.tensors.end(), [](const auto& tensor) { return tensor.constant; });
  if (!weights || has_constants || !loaded.suite || loaded.suite->weights.empty()) return variants;
  TILE_TUNE_TRY(packed, with_constants(stored, loaded.suite->weights));
  variants.push_back({&loaded, name + ", weights packed", std::move(packed)});
  return variants;
}

}  // namespace tile_tune::engine
