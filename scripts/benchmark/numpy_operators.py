"""numpy's spelling of operations: functions of (output, *inputs) that write the output; None where it has none."""

import numpy as np

from benchmark.operators import Einsum, Layers, Lookup, Named


def function_of(operation, shapes):
    """`shapes`: of the inputs."""
    if isinstance(operation, Einsum):
        return _einsum(operation.subscripts, shapes)
    if isinstance(operation, Layers):
        return lambda out, *inputs: _layers(operation.transposed, out, *inputs)
    if isinstance(operation, Lookup) and len(shapes) == 2:
        return lambda out, table, indices: np.sum(table[indices], axis=1, out=out)
    if isinstance(operation, Named):
        return {"softmax": _softmax, "logsumexp": _logsumexp, "attention": _attention,
                "row_max": lambda out, x: np.max(x, axis=1, out=out),
                "cumulative_sum": lambda out, x: np.cumsum(x, out=out)}[operation.name]
    return None


def _einsum(subscripts, shapes):
    if "," not in subscripts:
        return _of_one_operand(*subscripts.split("->"))
    path = np.einsum_path(subscripts, *(np.empty(shape, dtype=bool) for shape in shapes), optimize="optimal")[0]
    if subscripts == "ik,kj->ij":
        return lambda out, a, b: np.matmul(a, b, out=out)
    return lambda out, *inputs: np.einsum(subscripts, *inputs, out=out, optimize=path)


def _of_one_operand(operand, result):
    if len(result) < len(operand):
        axes = tuple(d for d, label in enumerate(operand) if label not in result)
        return lambda out, x: np.sum(x, axis=axes, out=out)
    order = tuple(operand.index(label) for label in result)
    return lambda out, x: np.copyto(out, x.transpose(order))


def _layers(transposed, out, x, *weights):
    for weight, bias in zip(weights[::2], weights[1::2]):
        x = np.maximum(x @ (weight.T if transposed else weight) + bias, 0)
    np.copyto(out, x)


def _softmax(out, x):
    np.subtract(x, x.max(axis=-1, keepdims=True), out=out)
    np.exp(out, out=out)
    np.divide(out, out.sum(axis=-1, keepdims=True), out=out)


def _logsumexp(out, x):
    largest = x.max(axis=-1, keepdims=True)
    np.add(np.log(np.exp(x - largest).sum(axis=-1)), largest[:, 0], out=out)


def _attention(out, q, k, v):
    scores = np.matmul(q, k.transpose(0, 1, 3, 2)) * 0.125
    _softmax(scores, scores.copy())
    np.matmul(scores, v, out=out)
