"""PyTorch's spelling of operations: functions of the inputs that give the outputs in the workload's own layout."""

import torch
import torch.nn.functional as F

from benchmark import operators
from benchmark.operators import Convolution, Einsum, Layers, Lookup, Pool

TYPES = {"f32": torch.float32, "f64": torch.float64, "f16": torch.float16, "bf16": torch.bfloat16, "i8": torch.int8,
         "i32": torch.int32}


def _einsum(operation, *inputs):
    if inputs[0].dtype == torch.int8:
        return torch._int_mm(*inputs)  # int8 × int8 -> int32
    if operation.subscripts == "ik,kj->ij":
        return torch.matmul(*inputs)
    return torch.einsum(operation.subscripts, *inputs).contiguous()


def _convolution(operation, image, kernel, bias=None):
    if operation.channels_last:
        image = image.movedim(-1, 1)
    convolve = F.conv2d if image.dim() == 4 else F.conv1d
    result = convolve(image, kernel, None if bias is None else bias.flatten(), operation.stride, operation.padding,
                      operation.dilation, operation.groups)
    if operation.relu:
        result = F.relu(result)
    if operation.channels_last:
        result = result.movedim(1, -1)
    return result.contiguous()


def _pool(operation, image):
    if operation.is_max:
        return F.max_pool2d(image, operation.window, operation.stride, operation.padding)
    return F.avg_pool2d(image, operation.window, operation.stride, operation.padding)


def _layers(operation, x, *weights):
    for weight, bias in zip(weights[::2], weights[1::2]):
        x = F.relu(F.linear(x, weight if operation.transposed else weight.t(), bias))
    return x


def _lookup(_operation, *inputs):
    sums = tuple(F.embedding_bag(indices, table, mode="sum") for table, indices in zip(inputs[::2], inputs[1::2]))
    return sums if len(sums) > 1 else sums[0]


_NAMED = {"softmax": lambda x: F.softmax(x, dim=-1), "logsumexp": lambda x: torch.logsumexp(x, dim=-1),
          "attention": lambda q, k, v: F.scaled_dot_product_attention(q, k, v, scale=0.125),
          "row_max": lambda x: torch.amax(x, dim=1), "cumulative_sum": lambda x: torch.cumsum(x, 0)}
_SPELLED = {Einsum: _einsum, Convolution: _convolution, Pool: _pool, Layers: _layers, Lookup: _lookup}


def function_of(operation):
    return operators.function_of(operation, _SPELLED, _NAMED)
