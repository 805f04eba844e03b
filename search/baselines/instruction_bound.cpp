#include "search/baselines/instruction_bound.h"

namespace tile_tune::search {

// Libraries are told by what they document: OPENBLAS_CORETYPE, dnnl_set_max_cpu_isa(), libxsmm_set_target_arch(),
// MKL_ENABLE_INSTRUCTIONS. Those
// with 128-bit vectors may use SSE4.2, of which the target may have less.
std::vector<std::string> instruction_flags(const codegen::Target& target, const codegen::Target& machine) {
  constexpr int kAvx2Bytes = 32;
  if (target.vector_bytes >= machine.vector_bytes) return {"-march=native", "-mprefer-vector-width=512"};
  if (target.vector_bytes >= kAvx2Bytes)
    return {"-march=haswell",
            "-mtune=native",
            "-DBASELINE_OPENBLAS_CORE=\"Haswell\"",
            "-DBASELINE_ONEDNN_ISA=avx2",
            "-DBASELINE_XSMM_ARCH=\"hsw\"",
            "-DBASELINE_MKL_INSTRUCTIONS=\"AVX2\""};
  return {"-march=nehalem",
          "-mtune=native",
          "-DBASELINE_OPENBLAS_CORE=\"Nehalem\"",
          "-DBASELINE_ONEDNN_ISA=sse41",
          "-DBASELINE_XSMM_ARCH=\"sse4\"",
          "-DBASELINE_MKL_INSTRUCTIONS=\"SSE4_2\""};
}

}  // namespace tile_tune::search
