"""Who takes part in a contest of Python libraries, and whether each is right."""

import jax
import jax.numpy as jnp
import numpy as np
import torch

from benchmark import (contest, jax_operators, kernels, numpy_operators, operators, package_calls, rounds,
                       torch_operators)

SEED = 1


class Contest:
    def __init__(self, request, placement):
        self.request, self.workload, self.placement = request, request["workload"], placement
        self.operation = operators.operation_of(self.workload)
        jax.config.update("jax_enable_x64", True)
        torch.set_grad_enabled(False)
        torch.manual_seed(SEED)
        arguments = ([kernels.Argument(**one) for one in request["arguments"]] if "arguments" in request
                     else package_calls.arguments_of(self.workload))
        self.own_shapes = [one.shape for one in arguments if not one.is_output]
        self.inputs = self._inputs([one for one in arguments if not one.is_output])
        self.outputs = [torch.empty(one.shape, dtype=torch_operators.TYPES[one.dtype])
                        for one in arguments if one.is_output]
        placement.open()
        self.expected, self.bounds = self._reference()
        placement.close()  # PyTorch's threads are there now: one library's at a time share out the cores

    def _inputs(self, arguments):
        """Arrays in the shapes that libraries know: the suite's, of the same elements as the program's."""
        rows = arguments[0].shape[0]  # of a table, which indices point into
        return [_random(torch_operators.TYPES[one.dtype], shape, rows)
                for one, shape in zip(arguments, self.workload["shapes"])]

    def _reference(self):
        """Results in double precision, and how far from them a result may be."""
        function = torch_operators.function_of(self.operation)
        wide = [_widened(tensor) for tensor in self.inputs]
        expected = _as_tuple(function(*wide))
        terms = _as_tuple(function(*self._absolute(wide)))
        bounds = []
        for out, value, magnitude in zip(self.outputs, expected, terms):
            factor = contest.tolerance_factor(self.workload, value.numel())
            if not out.is_floating_point():
                bounds.append(torch.zeros_like(value))
                continue
            accumulator = torch.finfo(torch.promote_types(out.dtype, torch.float32)).eps
            bounds.append(factor * accumulator * magnitude.abs() + 2 * torch.finfo(out.dtype).eps * value.abs())
        return expected, bounds

    def _absolute(self, wide):
        """Inputs for which the operation gives the sum of its terms' magnitudes."""
        if isinstance(self.operation, operators.Named) and self.operation.name == "attention":
            return [wide[0], wide[1], wide[2].abs()]
        if isinstance(self.operation, operators.Named) and self.operation.name in ("softmax", "logsumexp", "row_max"):
            return wide
        return [tensor.abs() for tensor in wide]

    def error(self, results):
        """Largest deviation in units of what is allowed; more than 1 is wrong."""
        worst = 0.0
        for got, value, bound in zip(results, self.expected, self.bounds):
            deviation = (got.double().reshape(value.shape) - value).abs()
            share = torch.where(deviation == 0, 0.0, deviation / bound)
            worst = max(worst, float(torch.nan_to_num(share, nan=float("inf")).max()))
        return worst

    def contestants(self):
        """name, kind, and what makes (a call without arguments, a function that gives its results as tensors)."""
        for name, library in self.request["libraries"].items():
            yield name, "schedule", lambda library=library: self._kernel(library)
        if "package_database" in self.request:
            yield "tuned", "schedule", self._package
        yield "numpy", "library", self._numpy
        yield "torch", "library", lambda: self._torch(lambda function: function)
        yield "torch-compiled", "library", lambda: self._torch(
            lambda function: torch.compile(function, mode="max-autotune-no-cudagraphs", dynamic=False))
        yield "jax", "library", self._jax

    def _kernel(self, library):
        pointers = [tensor.data_ptr() for tensor in [*self.inputs, *self.outputs]]
        return kernels.load(library, pointers, len(self.request["cores"])), lambda: self.outputs

    def _package(self):
        """The package's call, on tensors in the shapes of the program, whatever the libraries' are."""
        import tile_tune
        tile_tune.tuning("off", threads=len(self.request["cores"]), database=self.request["package_database"])
        _, function = package_calls.call_of(self.workload)
        inputs = [tensor.view(shape) for tensor, shape in zip(self.inputs, self.own_shapes)]
        return lambda: function(inputs, self.outputs), lambda: self.outputs

    def _numpy(self):
        if any(tensor.dtype in (torch.bfloat16, torch.int8) for tensor in self.inputs):
            return None
        function = numpy_operators.function_of(self.operation, [tuple(tensor.shape) for tensor in self.inputs])
        if function is None or len(self.outputs) > 1:
            return None
        out, arrays = self.outputs[0].numpy(), [tensor.numpy() for tensor in self.inputs]
        return lambda: function(out, *arrays), lambda: self.outputs

    def _torch(self, prepared):
        function = prepared(torch_operators.function_of(self.operation))
        result = []

        def call():
            result[:] = [function(*self.inputs)]

        return call, lambda: _as_tuple(result[0])

    def _jax(self):
        arrays = [jax.dlpack.from_dlpack(tensor) for tensor in self.inputs]
        call = jax_operators.timed(self.operation, arrays)
        return call, lambda: [torch.from_numpy(np.array(part.astype(jnp.float64))) for part in _as_tuple(call())]

    def enter(self, name, kind, make):
        """(entry, call): the call is None unless it is ready to be timed."""
        for out in self.outputs:
            out.fill_(float("nan") if out.is_floating_point() else -1)
        self.placement.open()
        try:
            made = make()
            if made is None:
                return None, None
            call, results = made
            call()
            error = self.error(results())
        except Exception as reason:  # whatever a library throws takes only itself out
            return contest.entry(name, kind, "run-error", str(reason).strip()[:300]), None
        finally:
            self.placement.close()
        outcome = "ok" if error <= 1 else "wrong"
        return contest.entry(name, kind, outcome, "" if error <= 1 else "its result differs", error), \
            call if error <= 1 else None

    def run(self):
        entries, calls = {}, {}
        for name, kind, make in self.contestants():
            one, call = self.enter(name, kind, make)
            if one:
                entries[name] = one
            if call:
                calls[name] = call
        with rounds.alone():
            own = [name for name, entry in entries.items() if entry["kind"] == "schedule"]
            samples, slow = rounds.run(calls, own, self.placement, self.request["rounds"], self.request["seconds"],
                                       SEED)
        for name, values in samples.items():
            entries[name] = contest.with_samples(entries[name], values, self.workload, SEED)
        for name, nanoseconds in slow.items():
            entries[name].update(outcome="slow", median_ns=nanoseconds)
        return {"entries": list(entries.values()), **_ratios(samples)}


def _ratios(samples):
    """Those that `bench --json` has, and over each of PyTorch, its compiled form, JAX and numpy."""
    result = {}
    libraries = {name: values for name, values in samples.items() if name not in ("default", "tuned")}
    if libraries:
        result["best_baseline"] = min(libraries, key=lambda name: rounds.quantile(libraries[name], 0.5))
    for own in ("default", "tuned"):
        if own in samples and libraries:
            result[f"{own}_over_best"] = rounds.speed_ratio(samples[own], samples[result["best_baseline"]], SEED)
    if "tuned" in samples:
        for name, values in samples.items():
            if name == "tuned":
                continue
            result[f"tuned_over_{name.replace('-', '_')}"] = rounds.speed_ratio(samples["tuned"], values, SEED)
    return result


def _random(dtype, shape, rows):
    if dtype == torch.int32:
        return torch.randint(0, rows, shape, dtype=dtype)
    if dtype == torch.int8:
        return torch.randint(-8, 8, shape, dtype=dtype)
    return (2 * torch.rand(shape, dtype=torch.float32) - 1).to(dtype)


def _widened(tensor):
    return tensor if tensor.dtype == torch.int32 else tensor.double()


def _as_tuple(value):
    return tuple(value) if isinstance(value, (tuple, list)) else (value,)
