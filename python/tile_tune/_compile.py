"""Programs as callables."""

import json

from . import _core
from ._options import Options, current


class Function:
    """A program that is called on arrays.

    Call it with the inputs in the order of the program's signature: arrays of any strides, as einsum() takes them. The
    results are new arrays of the first input's kind, one or a tuple, or go to `out`, an array or a tuple of them.
    """

    def __init__(self, program, options: Options):
        self.program = program
        self._options = options
        self._call = _core.callable(program, options.as_dict())
        text = json.loads(program.json())
        names = [tensor["name"] for tensor in text["tensors"]]
        self.inputs = tuple(names[i] for i in text["inputs"])
        self.outputs = tuple(names[i] for i in text["outputs"])

    @property
    def name(self) -> str:
        return self.program.name

    def __call__(self, *inputs, out=None):
        return self._call(*inputs, out=out)

    def __repr__(self):
        return f"<tile_tune function {str(self.program).splitlines()[0]}>"

    def _forget(self):
        """Later calls look for kernels anew."""
        self._call = _core.callable(self.program, self._options.as_dict())


def compile(program, *arrays) -> Function:
    """A Program as a function of arrays, as tuning() says; with arrays the kernel for them is compiled now.

    >>> relu = tile_tune.compile(program)
    >>> y = relu(x)
    """
    function = Function(program, current())
    if arrays:
        function(*arrays)
    return function
