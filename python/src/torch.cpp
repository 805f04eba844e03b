#include "python/src/torch.h"

#include "python/src/errors.h"

namespace tile_tune::python::torch {

namespace {

/// Looked up once. Whoever has a tensor has imported PyTorch; what a release of it lacks is None.
struct Functions {
  nb::object is_grad_enabled, forward_ad, increment_version, count_of_modes, tracing_state, is_wrapped;
};

nb::object found(nb::object of, std::initializer_list<const char*> path) {
  for (const char* name : path) of = nb::getattr(of, name, nb::none());
  return of;
}

const Functions& functions() {
  static const Functions& all = []() -> const Functions& {
    const nb::object torch = nb::module_::import_("torch");
    return *new Functions{found(torch, {"is_grad_enabled"}),
                          found(torch, {"autograd", "forward_ad"}),
                          found(torch, {"autograd", "graph", "increment_version"}),
                          found(torch, {"_C", "_len_torch_dispatch_stack"}),
                          found(torch, {"_C", "_get_tracing_state"}),
                          found(torch, {"_C", "_functorch", "is_functorch_wrapped_tensor"})};
  }();
  return all;
}

/// Levels of forward_ad.dual_level() begin at 0.
bool has_tangent(nb::handle tensor) {
  const nb::object& module = functions().forward_ad;
  const nb::object level = nb::getattr(module, "_current_level", nb::none());
  if (level.is_none() || nb::cast<int>(level) < 0) return false;
  return !module.attr("unpack_dual")(tensor).attr("tangent").is_none();
}

/// By torch.jit.trace or make_fx, for which a kernel's result would be a constant.
bool is_recorded() {
  const Functions& of = functions();
  if (!of.tracing_state.is_none() && !of.tracing_state().is_none()) return true;
  if (of.count_of_modes.is_none() || nb::cast<int>(of.count_of_modes()) == 0) return false;
  return !nb::module_::import_("torch.fx.experimental.proxy_tensor").attr("get_proxy_mode")().is_none();
}

[[noreturn]] void raise_recorded() {
  raise("traced", "what is being traced records no kernels: their results would be constants to it",
        "call it outside of what is traced, or in an operator of torch.library");
}

}  // namespace

void check(nb::handle tensor, bool is_complex) {
  const auto says = [&](const char* method) { return nb::cast<bool>(tensor.attr(method)()); };
  if (is_complex && says("is_conj"))
    raise("bad-array", "a lazily conjugated tensor: its elements are not what memory holds", "call x.resolve_conj()");
  if (says("is_neg"))
    raise("bad-array", "a lazily negated tensor: its elements are not what memory holds", "call x.resolve_neg()");
  if (nb::cast<bool>(tensor.attr("requires_grad")) && nb::cast<bool>(functions().is_grad_enabled()))
    raise("needs-gradient", "a tensor that requires gradients: tile_tune has none for it",
          "call it under torch.no_grad(), or on x.detach()");
  if (has_tangent(tensor))
    raise("needs-gradient", "a tensor with a tangent (torch.autograd.forward_ad): tile_tune has no derivatives",
          "call it on forward_ad.unpack_dual(x).primal");
  if (is_recorded()) raise_recorded();
}

void check_wrapped(nb::handle tensor) {
  const nb::object& is_wrapped = functions().is_wrapped;
  if (!is_wrapped.is_none() && nb::cast<bool>(is_wrapped(tensor)))
    raise("traced",
          "a tensor of torch.func (vmap, grad, jvp …) stands for others: tile_tune computes on tensors that "
          "have memory",
          "give the axis that vmap runs over a label of its own, or call it outside of torch.func");
}

void note_written(nb::handle tensor) {
  const nb::object& increment = functions().increment_version;
  // Tensors of torch.inference_mode() have no version.
  if (!increment.is_none() && !nb::cast<bool>(tensor.attr("is_inference")())) increment(tensor);
}

}  // namespace tile_tune::python::torch
