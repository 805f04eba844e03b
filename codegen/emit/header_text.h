// The public header of a package.
#pragma once

#include "codegen/emit/signature.h"

namespace tile_tune::codegen {

/// What the header says about where a kernel comes from.
struct Provenance {
  std::string text;          // "tuned (exact)", "nearest", "default"
  std::string content_hash;  // of the program
};

/// NAME.h: status codes, contexts, and per kernel its tensors' constants and its entries. `kernels` and `provenances`
/// go in pairs. `as_sources`: of a package of objects and sources (source_package.h).
std::string header_text(const PackageOptions& options, const std::vector<Signature>& kernels,
                        const std::vector<Provenance>& provenances, bool as_sources);

}  // namespace tile_tune::codegen
