"""Tensor contractions as fast as the machine allows.

    import tile_tune
    scores = tile_tune.einsum("bhqd,bhkd->bhqk", q, k)

The first call of new shapes compiles a kernel, in about a second; later ones take what the kernel takes and a few
hundred nanoseconds. tune() searches for a faster kernel, which calls then find; tuning() says whether calls search by
themselves.

Programs beyond einsum are written as text (tile_tune.tc) or as Python (tile_tune.edsl).
"""

import atexit as _atexit

from . import _core
from ._core import Program, einsum
from ._errors import (ArrayError, CompilerWarning, DTypeError, Error, GatherError, OutOfMemory, ProgramError, ToolError)
from ._options import tuning

__version__ = _core.version
__all__ = [
    "ArrayError", "CompilerWarning", "DTypeError", "Error", "GatherError", "OutOfMemory", "Program", "ProgramError",
    "ToolError", "TuneResult", "build", "compile", "edsl", "einsum", "records", "shutdown", "tc", "tune", "tuning",
]

# Searches in the background end before the interpreter does.
_atexit.register(_core.shutdown)

# What `import tile_tune` need not wait for.
_LATER = {
    "build": "_tools", "compile": "_compile", "edsl": None, "records": "_tools", "tc": None, "tune": "_tune",
    "TuneResult": "_tune",
}


def shutdown() -> None:
    """Ends searches in the background, for good, within 0.2 s. The end of the process does the same."""
    _core.shutdown()


def __getattr__(name):
    from importlib import import_module
    if name not in _LATER:
        raise AttributeError(f"module 'tile_tune' has no attribute '{name}'")
    module = _LATER[name]
    value = import_module(f".{name}", __name__) if module is None else getattr(import_module(f".{module}", __name__),
                                                                              name)
    globals()[name] = value
    return value


def __dir__():
    return sorted(set(globals()) | set(_LATER))
