// Memory for what kernels compute on the way: kept by each thread from call to call, so that the second call takes
// none.
#pragma once

#include "engine/handles/runtime.h"

namespace tile_tune::engine {

/// A context of the runtime (codegen/emit/runtime/tile_tune_rt.h) with that memory.
class ScratchContext {
 public:
  explicit ScratchContext(int threads);
  const tile_tune_context& get() const { return context_; }

 private:
  tile_tune_context context_ = {};
};

}  // namespace tile_tune::engine
