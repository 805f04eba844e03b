"""Tensor Comprehensions: programs as text.

    from tile_tune import tc

    lib = tc.define('''
    def matmul(float(M,K) A, float(K,N) B) -> (C) {
      C(m,n) +=! A(m,k) * B(k,n)
    }
    ''')
    c = lib.matmul(a, b)                    # sizes come from the arrays
    lib.matmul.autotune(a, b, seconds=30)   # later calls find what it finds
"""

import os as _os
from collections.abc import Callable as _Callable, Iterator as _Iterator
from typing import TYPE_CHECKING as _TYPE_CHECKING, Any as _Any

from . import _core
from ._compile import Function as _Function
from ._options import current as _current

if _TYPE_CHECKING:
    from ._tune import TuneResult as _TuneResult


class Function(_Function):
    """A def: called on arrays, compiled and tuned for those of given shapes."""

    def compile(self, *arrays: _Any) -> "Function":
        """Compiles the kernel for arrays of these types, shapes and strides now instead of at their first call."""
        self(*arrays)
        return self

    def autotune(self, *arrays: _Any, seconds: float | None = None, trials: int | None = None,
                 progress: bool | _Callable[[dict[str, _Any]], object] = True) -> "_TuneResult":
        """Searches a faster kernel for such arrays; later calls, of this and other processes, take it.

        What it learns is in the database (`tile_tune.tuning(database=...)`, or `define(..., database=...)`), with which
        it can be copied to other machines. Returns a tile_tune.TuneResult; tile_tune.tune() has the arguments.
        """
        from ._tune import tune
        return tune(self, *arrays, seconds=seconds, trials=trials, progress=progress)


class Library:
    """The defs of a text, as attributes and as a mapping from their names."""

    def __init__(self, functions: list[Function]) -> None:
        self._functions = {function.name: function for function in functions}

    def __getattr__(self, name: str) -> Function:
        functions = self.__dict__.get("_functions", {})  # what copies itself asks before there are any
        if name not in functions:
            raise AttributeError(f"the text has no def {name}; it has {', '.join(functions)}")
        return functions[name]

    def __getitem__(self, name: str) -> Function:
        return self._functions[name]

    def __iter__(self) -> _Iterator[str]:
        return iter(self._functions)

    def __len__(self) -> int:
        return len(self._functions)

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self._functions]

    def __repr__(self) -> str:
        return f"<tile_tune.tc.Library of {', '.join(self._functions)}>"


def define(text: str, *, database: str | _os.PathLike[str] | None = None, file: str = "text") -> Library:
    """Compiles the defs of a text, as far as they can be without arrays.

    Args:
        text: one or more defs (docs/tc.md).
        database: a file for the records of autotune(), which kernels are chosen by; tuning()'s without it.
        file: what errors call the text.

    Raises:
        ProgramError: the text is wrong; its message shows where.
    """
    import dataclasses
    if not isinstance(text, str):
        raise TypeError(f"the text is a str, not {type(text).__name__}")
    options = _current() if database is None else dataclasses.replace(_current(), database=_os.fspath(database))
    return Library([Function(program, options) for program in _core.tc_parse(text, file)])
