"""The Tile eDSL: programs as Python.

    from tile_tune.edsl import *

    @function
    def matmul(A, B):
        I, J, K = TensorDims(3)
        i, j, k = TensorIndexes(3)
        A.bind_dims(I, K)
        B.bind_dims(K, J)
        C = TensorOutput(I, J)
        C[i, j] += A[i, k] * B[k, j]
        return C

    c = matmul(a, b)   # on arrays

A contraction aggregates, by `+=`, `*=`, `>=` (the largest), `<=` (the smallest) or `=` (one value each), over all values
of its indices for which every subscript is inside its tensor and every constraint holds. Names such as `max` are
elementwise functions here: `from tile_tune import edsl` keeps Python's.
"""

import functools as _functools
import inspect as _inspect
from collections.abc import Callable as _Callable
from typing import Any as _Any, Protocol as _Protocol, overload as _overload

from . import _core
from ._core import (Constraint, IndexedTensor, Placeholder, Program, Tensor, TensorDim, TensorDims, TensorIndex,
                    TensorIndexes, TensorOutput, abs, cast, ceil, cos, exp, floor, log, max, min, pow, relu, select,
                    sigmoid, sin, sqrt, tan, tanh)

__all__ = [
    "Constraint", "IndexedTensor", "Placeholder", "Program", "Tensor", "TensorDim", "TensorDims", "TensorIndex",
    "TensorIndexes", "TensorOutput", "abs", "cast", "ceil", "cos", "exp", "floor", "function", "log", "max", "min",
    "pow", "program", "relu", "select", "sigmoid", "sin", "sqrt", "tan", "tanh",
]


def _parameters(write, count, given):
    """Names of the first `count` parameters, which are tensors; `given` are the others'."""
    names = [name for name, parameter in _inspect.signature(write).parameters.items()
             if name not in given and parameter.kind in (parameter.POSITIONAL_ONLY, parameter.POSITIONAL_OR_KEYWORD)]
    return names[:count] if len(names) >= count else [f"I{i}" for i in range(count)]


def _name_of(write):
    name = getattr(getattr(write, "func", write), "__name__", "")  # of functools.partial: the function's
    return name if name.isidentifier() else "program"


def program(write: _Callable[..., _Any], *types: tuple[_Any, _Any], name: str | None = None,
            **arguments: _Any) -> Program:
    """The Program of a function of tensors.

    Args:
        write: takes tensors and returns one, or a tuple of them.
        types: (dtype, shape) of each tensor: ("float32", (3, 4)).
        name: of the program; the function's otherwise.
        arguments: further ones of the function, by name.
    """
    parameters = _parameters(write, len(types), arguments)
    inputs = [Placeholder(dtype, list(shape), parameter) for (dtype, shape), parameter in zip(types, parameters)]
    results = write(*inputs, **arguments)
    if isinstance(results, Tensor):
        results = (results,)
    if not isinstance(results, (tuple, list)) or not all(isinstance(result, Tensor) for result in results):
        raise TypeError(f"{_name_of(write)} is to return a tensor or a tuple of them, not {results!r}")
    names = ["output"] if len(results) == 1 else [f"output{i}" for i in range(len(results))]
    while set(parameters) & set(names):
        names = [one + "_" for one in names]
    return Program(name or _name_of(write), inputs, list(zip(names, results)))


class _Function(_Protocol):
    def __call__(self, *arrays: _Any, out: _Any = None, **more: _Any) -> _Any: ...

    def program(self, *types: tuple[_Any, _Any], **more: _Any) -> Program: ...


@_overload
def function(write: _Callable[..., _Any], **arguments: _Any) -> _Function: ...


@_overload
def function(write: None = None, **arguments: _Any) -> _Callable[[_Callable[..., _Any]], _Function]: ...


def function(write: _Any = None, **arguments: _Any) -> _Any:
    """A function of tensors as one of arrays: a program for each combination of types and shapes it is called with.

    On tensors of the eDSL it is the function that it was made of. Arguments that are no arrays are given by name, here or in calls; they are the program's constants.
    """
    if write is None:
        return _functools.partial(function, **arguments)
    from ._compile import compile
    from ._options import current
    known: dict[_Any, _Any] = {}

    @_functools.wraps(write)
    def call(*arrays, out=None, **more):
        if any(isinstance(array, Tensor) for array in arrays):  # a part of another function
            return write(*arrays, **arguments, **more)
        described = _core.described(*arrays)
        types = tuple((dtype, tuple(shape)) for dtype, shape, _ in described)
        key = (types, current(), tuple(sorted(more.items())))
        try:
            compiled = known[key]
        except KeyError:
            compiled = known[key] = compile(program(write, *types, **arguments, **more))
        return compiled(*arrays, out=out)

    setattr(call, "program", lambda *types, **more: program(write, *types, **arguments, **more))
    return call
