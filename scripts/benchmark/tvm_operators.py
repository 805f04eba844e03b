"""TVM's spelling of operations, and numpy's in double precision to judge everybody by.

Tensors have the shapes and the plain layouts of the workload's program: groups are a dimension of their own.
"""

import math

import numpy as np
import tvm.topi
from tvm import te

from benchmark.operators import Einsum


def primitive(operation, shapes):
    """TVM's function of f32 tensors of these shapes (inputs, then the output) that MetaSchedule tunes."""
    inputs = [te.placeholder(shape, "float32", f"in{number}") for number, shape in enumerate(shapes[:-1])]
    make = _einsum if isinstance(operation, Einsum) else _convolution
    return te.create_prim_func([*inputs, make(operation, inputs, shapes[-1])])


def reference(operation, inputs):
    """The result in the precision of the inputs."""
    if isinstance(operation, Einsum):
        return np.einsum(operation.subscripts, *inputs, optimize=True)
    image, kernel, *bias = inputs
    spatial = _spatial(operation, image.ndim)
    padding = [(0, 0)] * image.ndim
    for axis, amount in zip(spatial, _padding(operation)):
        padding[axis] = (amount, amount)
    windows = np.lib.stride_tricks.sliding_window_view(np.pad(image, padding), kernel.shape[-len(spatial):], spatial)
    spelled = "nhwcij,fcij->nhwf" if operation.channels_last else (
        "ngchwij,gfcij->ngfhw" if operation.groups > 1 else "nchwij,fcij->nfhw")
    result = np.einsum(spelled, windows, kernel, optimize=True)
    return result + bias[0][None, ..., None, None] if bias else result


def _padding(operation):
    if set(operation.stride + operation.dilation) != {1} or operation.relu:
        raise ValueError("only convolutions of stride and dilation 1 without ReLU are spelled for TVM")
    return operation.padding


def _spatial(operation, rank):
    """Axes of the image that the window moves along."""
    return (1, 2) if operation.channels_last else (rank - 2, rank - 1)


def _einsum(operation, inputs, shape):
    operands, result = operation.subscripts.split("->")
    operands = operands.split(",")
    extents = {label: extent for labels, tensor in zip(operands, inputs) for label, extent in zip(labels, tensor.shape)}
    reduced = {label: te.reduce_axis((0, extents[label]), label) for label in extents if label not in result}

    def element(*at):
        point = {**dict(zip(result, at)), **reduced}
        factors = (tensor[tuple(point[label] for label in labels)] for labels, tensor in zip(operands, inputs))
        return te.sum(math.prod(factors), axis=list(reduced.values()))

    return te.compute(shape, element, "out")


def _convolution(operation, inputs, shape):
    image, kernel, *bias = inputs
    spatial = _spatial(operation, len(image.shape))
    before = [0] * len(image.shape)
    for axis, amount in zip(spatial, _padding(operation)):
        before[axis] = amount
    padded = tvm.topi.nn.pad(image, before, before) if any(before) else image
    channel, *window = (te.reduce_axis((0, extent), name) for extent, name in zip(kernel.shape[-3:], "cij"))

    def parts(at):
        """(batch, groups, feature, place) of an element of the output."""
        if operation.channels_last:
            return at[:1], (), at[-1], at[1:-1]
        return at[:1], at[1:-3], at[-3], at[-2:]

    def element(*at):
        batch, group, feature, place = parts(at)
        place = tuple(p + w for p, w in zip(place, window))
        pixel = (*batch, *place, channel) if operation.channels_last else (*batch, *group, channel, *place)
        return te.sum(padded[pixel] * kernel[(*group, feature, channel, *window)], axis=[channel, *window])

    product = te.compute(shape, element, "product")
    if not bias:
        return product

    def biased(*at):
        _, group, feature, _ = parts(at)
        return product[at] + bias[0][(*group, feature)]

    return te.compute(shape, biased, "out")
