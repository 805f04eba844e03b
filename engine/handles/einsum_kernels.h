// Kernels of einsums in this process, each made when it is first asked for.
#pragma once

#include <tile_tune/kernel.h>

#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include "frontend/einsum/einsum.h"

namespace tile_tune::engine {

/// What makes two einsums of the same operands' types the same kernels.
struct EinsumForm {
  einsum::Einsum notation;
  bool adds = false;                 // to what the result holds
  std::vector<bool> conjugate = {};  // by operand (einsum::Known)
};

/// A form in words: subscripts, and what else there is to it, if anything.
struct EinsumKey {
  std::string_view subscripts, variant = {};
};

/// The kernels of the form that `make` gives, which is called where `key` and these types (of notations with `...` also
/// shapes) are new. Equal keys have equal forms.
Result<Kernel> einsum_kernel(const EinsumKey& key, std::span<const Array> operands, DType result,
                             const std::function<Result<EinsumForm>()>& make);

/// For kernels made from now on; those that are there are forgotten.
void set_einsum_kernel_options(CompileOptions options);

}  // namespace tile_tune::engine
