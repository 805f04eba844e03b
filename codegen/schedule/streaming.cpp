#include "codegen/schedule/streaming.h"

namespace tile_tune::codegen {

bool has_streaming(const Target& target) {
  return target.device == Device::Cpu && target.platform.architecture == Architecture::X86;
}

std::string streaming_fault(const ir::Program&, const Loops& loops, const NestSchedule& stage) {
  const bool in_vectors = stage.vector_loop() >= 0 && stage.vector_loop() < static_cast<int>(loops.output.size());
  if (stage.is_gpu() || !stage.cpu().streaming || in_vectors) return "";
  return "results that are not stored in vectors cannot leave the caches out";
}

std::vector<Figure> streaming_figures() {
  const auto streams = [](const ir::Program&, const Loops&, const NestSchedule& stage) {
    return !stage.is_gpu() && stage.cpu().streaming ? 1.0 : 0.0;
  };
  return {{"streaming", streams, false}};
}

}  // namespace tile_tune::codegen
