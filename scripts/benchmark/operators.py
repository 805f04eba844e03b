"""The suite's workloads as data: which operation of the Python libraries each is, read off the suite's fields.

Pure; no library is imported. torch_operators.py and the others say how each library spells an Operation.
"""

import functools
import re
from dataclasses import dataclass


@dataclass(frozen=True)
class Einsum:
    subscripts: str


@dataclass(frozen=True)
class Convolution:
    """Of an image (batch, channels, spatial...), or channels last, with a kernel (features, channels of a group,
    spatial...), a bias perhaps."""
    channels_last: bool = False
    groups: int = 1
    stride: tuple = (1, 1)
    dilation: tuple = (1, 1)
    padding: tuple = (0, 0)
    relu: bool = False


@dataclass(frozen=True)
class Pool:
    is_max: bool
    window: int
    stride: int
    padding: int


@dataclass(frozen=True)
class Layers:
    """Products with bias and ReLU, one after the other; `transposed`: weights are (out, in)."""
    transposed: bool


@dataclass(frozen=True)
class Lookup:
    """Sums of rows of a table for each list of indices; arguments (table, indices), once or twice."""


@dataclass(frozen=True)
class Named:
    """softmax, logsumexp (both along the last dimension), attention, row_max, cumulative_sum."""
    name: str


def operation_of(workload):
    """The Operation, or None where these libraries have none."""
    if "einsum" in workload:
        return Einsum(workload["einsum"])
    if "tc" in workload:
        return _of_tc(workload)
    return _of_program(workload)


def function_of(operation, spelled, named):
    """An Operation as a function of its inputs, or None where the library has none: `spelled` has, for a kind of
    operation, a function of the operation and the inputs; `named`, for the name of a Named one, of the inputs alone."""
    if isinstance(operation, Named):
        return named.get(operation.name)
    spelling = spelled.get(type(operation))
    return spelling and functools.partial(spelling, operation)


def _of_tc(workload):
    name = re.match(r"def (\w+)", workload["tc"]).group(1)
    known = {"max_axis1": Named("row_max"), "softmax": Named("softmax"), "logsumexp": Named("logsumexp"),
             "attention": Named("attention"), "tc_mlp1": Layers(False), "tc_mlp3": Layers(True),
             "tc_1lut": Lookup(), "tc_2lut": Lookup(), "avgpool": Pool(False, 2, 2, 0),
             "group_convolution": Convolution(groups=workload["sizes"].get("G", 1)), "convolution": Convolution(),
             "conv1d": Convolution(channels_last=True, stride=(1,), dilation=(1,), padding=(0,)),
             "dilated_conv2d": Convolution(channels_last=True, dilation=(2, 3)),
             "conv1x1": Convolution(channels_last=True)}
    return known.get(name)


def _of_program(workload):
    statement = workload["program"]["statements"][0]
    names = [index["name"] for index in statement["indices"]]
    if workload["name"].startswith("csum"):
        return Named("cumulative_sum")
    stride, dilation, padding = zip(*(_window(constraint["expr"]) for constraint in statement["constraints"]))
    if statement["op"] == "max":
        return Pool(True, window=statement["indices"][names.index("i")]["hi"], stride=stride[0], padding=padding[0])
    image, kernel = workload["shapes"][0], workload["shapes"][1]
    channels_last = "nhwc" in workload["name"] or image[1] == image[2]
    channels = image[-1] if channels_last else image[1]
    return Convolution(channels_last, channels // kernel[1], stride, dilation, padding,
                       relu=len(workload["program"]["statements"]) > 1)


def _window(expression):
    """(stride, dilation, padding) of stride*y + dilation*i - padding."""
    (_, stride), (_, dilation) = expression["terms"]
    return stride, dilation, -expression["constant"]
