"""JAX's spelling of operations: functions of the inputs that give the outputs in the workload's own layout."""

import jax
import jax.numpy as jnp
from jax import lax

from benchmark import operators
from benchmark.operators import Convolution, Einsum, Layers, Lookup, Pool


def _einsum(operation, *inputs):
    wide = jnp.int32 if inputs[0].dtype == jnp.int8 else None
    return jnp.einsum(operation.subscripts, *inputs, optimize="optimal", preferred_element_type=wide)


def _convolution(operation, image, kernel, bias=None):
    spatial = "HW" if image.ndim == 4 else "W"
    layout = f"N{spatial}C" if operation.channels_last else f"NC{spatial}"
    result = lax.conv_general_dilated(image, kernel, operation.stride, [(p, p) for p in operation.padding],
                                      rhs_dilation=operation.dilation, feature_group_count=operation.groups,
                                      dimension_numbers=(layout, f"OI{spatial}", layout))
    if bias is not None:
        result = result + (bias.ravel() if operation.channels_last else bias.reshape(-1, *[1] * len(spatial)))
    return jax.nn.relu(result) if operation.relu else result


def _pool(operation, image):
    window, strides = (1, 1, operation.window, operation.window), (1, 1, operation.stride, operation.stride)
    padding = [(0, 0), (0, 0)] + [(operation.padding,) * 2] * 2
    if operation.is_max:
        return lax.reduce_window(image, -jnp.inf, lax.max, window, strides, padding)
    return lax.reduce_window(image, 0.0, lax.add, window, strides, padding) / operation.window**2


def _layers(operation, x, *weights):
    for weight, bias in zip(weights[::2], weights[1::2]):
        x = jax.nn.relu(x @ (weight.T if operation.transposed else weight) + bias)
    return x


def _lookup(_operation, *inputs):
    sums = tuple(table[indices].sum(axis=1) for table, indices in zip(inputs[::2], inputs[1::2]))
    return sums if len(sums) > 1 else sums[0]


def _attention(q, k, v):
    return jax.nn.softmax(jnp.einsum("bhqd,bhkd->bhqk", q, k) * 0.125, axis=-1) @ v


_NAMED = {"softmax": lambda x: jax.nn.softmax(x, axis=-1), "attention": _attention,
          "logsumexp": lambda x: jax.scipy.special.logsumexp(x, axis=-1), "row_max": lambda x: x.max(axis=1),
          "cumulative_sum": jnp.cumsum}
_SPELLED = {Einsum: _einsum, Convolution: _convolution, Pool: _pool, Layers: _layers, Lookup: _lookup}


def function_of(operation):
    return operators.function_of(operation, _SPELLED, _NAMED)


def timed(operation, inputs):
    """A call without arguments, compiled, that gives its result in the memory of the one before."""
    function = function_of(operation)

    def step(before, *arguments):
        del before  # donated: XLA writes to its memory
        return function(*arguments)

    compiled = jax.jit(step, donate_argnums=0, keep_unused=True)
    state = [jax.tree.map(lambda result: jnp.zeros(result.shape, result.dtype), jax.eval_shape(function, *inputs))]

    def call():
        state[0] = jax.block_until_ready(compiled(state[0], *inputs))
        return state[0]

    return call
