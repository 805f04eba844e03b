"""How kernels of calls are compiled: what tuning() says."""

import dataclasses
import os
import sys
from pathlib import Path

from . import _core

TYPE_CHECKING = False  # for checkers: typing is not imported for them
if TYPE_CHECKING:
    from typing import Literal

# Beside this file, wherever the package lies.
_TOOL = Path(__file__).absolute().parent / "bin" / "tile-tune"

# Seconds of a search in the background where nobody says how many; as the command line's `tune` has it.
_BACKGROUND_SECONDS = 60.0


def tool() -> str:
    """The `tile-tune` command of this package."""
    return str(_TOOL)


@dataclasses.dataclass(frozen=True)
class Options:
    tune_seconds: float = 0
    background_seconds: float = 0
    threads: int = 0
    database: str = ""

    def as_dict(self, **more):
        return {"executable": tool(), **dataclasses.asdict(self), **more}


_now = Options()


def current() -> Options:
    return _now


def _set(options: Options) -> None:
    global _now
    _core.set_einsum_options(options.as_dict())
    _now = options


def forget_einsums() -> None:
    _set(_now)


def thread_count(threads) -> int:
    """0: the CPUs this process may use. "omp": OMP_NUM_THREADS. "torch": torch.get_num_threads()."""
    if threads == "omp":
        first = os.environ.get("OMP_NUM_THREADS", "").split(",")[0].strip()
        return int(first) if first.isdigit() else 0
    if threads == "torch":
        if "torch" not in sys.modules:
            raise ValueError("threads='torch' asks PyTorch, which this process has not imported")
        return sys.modules["torch"].get_num_threads()
    number = threads.__index__() if hasattr(threads, "__index__") and not isinstance(threads, bool) else -1
    if not 0 <= number < 2 ** 31:
        raise ValueError(f"threads are a number, 'omp' or 'torch', not {threads!r}")
    return number


class Tuning:
    """What tuning() has changed; as a context manager it is changed back at the end."""

    def __init__(self, before: Options, now: Options):
        self._before, self._now = before, now

    def __enter__(self) -> "Tuning":
        return self

    def __exit__(self, *_: object) -> None:
        _set(self._before)

    def __repr__(self):
        return f"tile_tune.{self._now}"


def tuning(policy: "Literal['off', 'background'] | float" = "off", *, seconds: float | None = None,
           threads: "int | Literal['omp', 'torch'] | None" = None,
           database: "str | os.PathLike[str] | None" = None) -> Tuning:
    """Says what the first call of new types, shapes or strides does about a faster kernel, from now on.

    Args:
        policy: ``"off"`` (the start): it takes the best kernel of the database, else the default one.
            ``"background"``: the same, and a search goes on beside the program, one at a time and at the lowest
            priority; its kernel is called from then on if it is faster.
            A number: it searches for so many seconds first.
        seconds: how long a search in the background is (60).
        threads: of kernels: a number, 0 for the CPUs this process may use, "omp" for OMP_NUM_THREADS, "torch" for
            torch.get_num_threads(). Both are asked now.
        database: a file for the records of searches; "" for that of the command line.

    Also a context manager, whose end changes it back. It concerns einsum() and what is compiled afterwards; einsum()
    forgets its kernels, which then come from the cache on disk.

    Raises ValueError for what is none of these.
    """
    tune_seconds = background_seconds = 0.0
    if policy == "background":
        background_seconds = float(_BACKGROUND_SECONDS if seconds is None else seconds)
    elif isinstance(policy, (int, float)) and not isinstance(policy, bool):
        tune_seconds = float(policy)
    elif policy != "off":
        raise ValueError(f"tuning is 'background', 'off' or a number of seconds, not {policy!r}")
    if not 0 <= tune_seconds < float("inf") or not 0 <= background_seconds < float("inf"):
        raise ValueError("a search takes a number of seconds that is not negative")
    before = _now
    _set(Options(tune_seconds, background_seconds,
                 before.threads if threads is None else thread_count(threads),
                 before.database if database is None else os.fspath(database)))
    return Tuning(before, _now)


_set(_now)
