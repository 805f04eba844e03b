from . import edsl as edsl, tc as tc
from ._compile import compile as compile
from ._core import Program as Program, einsum as einsum
from ._errors import (ArrayError as ArrayError, CompilerWarning as CompilerWarning, DTypeError as DTypeError,
                      Error as Error, GatherError as GatherError, OutOfMemory as OutOfMemory,
                      ProgramError as ProgramError, ToolError as ToolError)
from ._options import tuning as tuning
from ._tools import build as build, records as records
from ._tune import TuneResult as TuneResult, tune as tune

__version__: str

def shutdown() -> None: ...
