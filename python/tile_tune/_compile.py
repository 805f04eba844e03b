"""Programs as callables."""

import json
import weakref
from typing import Any

from . import _core
from ._options import Options, current, forget_einsums

_functions: "weakref.WeakSet[Function]" = weakref.WeakSet()


class Function:
    """A program that is called on arrays.

    Call it with the inputs in the order of the program's signature: arrays of any strides, as einsum() takes them. The
    results are new arrays of the first input's kind, one or a tuple, or go to `out`, an array or a tuple of them.
    """

    def __init__(self, program: _core.Program, options: Options) -> None:
        self.program = program
        self._options = options
        self._call = _core.callable(program, options.as_dict())
        text = json.loads(program.json())
        names = [tensor["name"] for tensor in text["tensors"]]
        self.inputs = tuple(names[i] for i in text["inputs"])
        self.outputs = tuple(names[i] for i in text["outputs"])
        _functions.add(self)

    @property
    def name(self) -> str:
        return self.program.name

    @property
    def schedule(self) -> str | None:
        """Which one the kernel has that was compiled last: "tuned" or "default"; None before one was compiled."""
        return _core.schedule_of(self._call)

    def __call__(self, *inputs: Any, out: Any = None) -> Any:
        return self._call(*inputs, out=out)

    def __repr__(self):
        return f"<tile_tune function {str(self.program).splitlines()[0]}>"


def forget_kernels():
    """All calls look for their kernels anew, and so find what a search has found."""
    forget_einsums()
    for function in list(_functions):
        function._call = _core.callable(function.program, function._options.as_dict())


def compile(program: _core.Program, *arrays: Any) -> Function:
    """A Program as a function of arrays, as tuning() says; with arrays the kernel for them is compiled now.

    >>> relu = tile_tune.compile(program)
    >>> y = relu(x)
    """
    function = Function(program, current())
    if arrays:
        function(*arrays)
    return function
