"""Workloads of the suite as calls of the Python package tile_tune: einsum, and functions of Tensor Comprehensions."""

import json
import re

from benchmark import kernels


def is_called(workload):
    """Whether the workload is an einsum or a text; others are Programs."""
    return "einsum" in workload or "tc" in workload


def call_of(workload):
    """What tile_tune.tune() takes, and a function of (inputs, outputs) that computes the outputs."""
    import tile_tune
    if "einsum" in workload:
        subscripts = workload["einsum"]
        return subscripts, lambda inputs, outputs: tile_tune.einsum(subscripts, *inputs, out=outputs[0])
    library = tile_tune.tc.define(workload["tc"])
    function = library[next(iter(library))]
    return function, lambda inputs, outputs: function(*inputs, out=outputs[0] if len(outputs) == 1 else tuple(outputs))


def arguments_of(workload):
    """Inputs, then outputs, in the shapes that the call takes them."""
    if "einsum" in workload:
        *operands, result = re.split(",|->", workload["einsum"])
        shapes = [tuple(workload["sizes"][label] for label in labels) for labels in (*operands, result)]
        types = [workload["dtype"]] * len(operands) + [workload.get("result_dtype", workload["dtype"])]
        return [kernels.Argument(f"in{i}", dtype, shape, False) for i, (dtype, shape) in
                enumerate(zip(types[:-1], shapes))] + [kernels.Argument("out", types[-1], shapes[-1], True)]
    program = json.loads(call_of(workload)[0].program.bind(workload["sizes"]).json())
    return [kernels.Argument(tensor["name"], tensor["type"], tuple(tensor["extents"]), is_output)
            for numbers, is_output in ((program["inputs"], False), (program["outputs"], True))
            for tensor in (program["tensors"][number] for number in numbers)]
