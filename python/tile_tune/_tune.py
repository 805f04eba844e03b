"""tune(): searches for a faster kernel."""

import contextlib
import dataclasses
import os
import sys
from collections.abc import Callable
from typing import Any, Literal

from . import _compile, _options
from ._process import Interrupted, run
from ._subject import arguments_of


@dataclasses.dataclass(frozen=True)
class TuneResult:
    """What a search found.

    Attributes:
        name: of the program.
        default_ns, tuned_ns: the median time of a call with the default and with the best schedule, both measured
            together at the end, or as the search measured them where there was no time for that; None where nothing
            was measured.
        ratio: speed relative to the default schedule of what later calls take; 1: that one, since nothing was found,
            or nothing so far ahead when the search was stopped that it needs no measuring again.
        interval: the ratio's 95 % interval, or None.
        trials, seconds: how much was tried, and how long it took.
        history: (seconds, trials, ratio) whenever a better schedule was found.
        database: the file with the records.
        stopped_by: "Ctrl-C", or "progress" where that function ended it, else None.
    """

    name: str
    default_ns: float | None
    tuned_ns: float | None
    ratio: float
    interval: tuple[float, float] | None
    trials: int
    seconds: float
    seed: int
    database: str
    stopped_by: str | None
    history: list[tuple[float, int, float]]

    def plot(self, axes: Any = None) -> Any:
        """Draws how the best speed grew; returns matplotlib's axes."""
        if axes is None:
            from matplotlib import pyplot  # type: ignore[import-untyped,import-not-found,unused-ignore]
            axes = pyplot.figure().subplots()
        seconds = [point[0] for point in self.history] + [self.seconds]
        ratios = [point[2] for point in self.history] + [point[2] for point in self.history[-1:]]
        axes.step(seconds, ratios, where="post")
        axes.axhline(1, linestyle=":", linewidth=1)
        axes.set(xlabel="seconds", ylabel="speed relative to the default schedule", title=self.name)
        return axes


def _result_from(output, by):
    untuned, tuned = output.get("untuned") or {}, output.get("tuned") or {}
    interval = tuned.get("ratio_interval")
    return TuneResult(
        name=output["program"], default_ns=untuned.get("median_ns"), tuned_ns=tuned.get("median_ns"),
        ratio=tuned.get("ratio") or 1.0, interval=tuple(interval) if interval else None, trials=output["trials"],
        seconds=output["seconds"], seed=output["seed"], database=output["database"],
        stopped_by=by if by == "progress" and output.get("stopped_by") else output.get("stopped_by"),
        history=[(point["seconds"], point["trials"], point["best_ratio"]) for point in output.get("history", [])])


@contextlib.contextmanager
def _display(progress, seconds, trials):
    """The function that shows how a search stands: the caller's, tqdm's bar, a line of a terminal, or none."""
    if callable(progress):
        yield progress
        return
    if not progress:
        yield None
        return
    try:
        from tqdm.auto import tqdm  # type: ignore[import-untyped,import-not-found,unused-ignore]
    except ImportError:
        if not sys.stderr.isatty():
            yield None
            return

        def line(now):
            print(f"\rtile_tune: {now['seconds']:.0f} s, {now['trials']} trials, {now['best_ratio']:.2f}x",
                  end="", file=sys.stderr, flush=True)

        yield line
        print(file=sys.stderr)
        return
    with tqdm(total=trials or seconds, unit="trial" if trials else "s", leave=True) as bar:
        def draw(now):
            bar.n = now["trials"] if trials else min(round(now["seconds"]), seconds)
            bar.set_postfix_str(f"{now['trials']} trials, {now['best_ratio']:.2f}x")

        yield draw


def tune(what: Any, *arrays: Any, seconds: float | None = None, trials: int | None = None, seed: int | None = None,
         threads: int | Literal["omp", "torch"] | None = None, database: str | os.PathLike[str] | None = None,
         progress: bool | Callable[[dict[str, Any]], object] = True) -> TuneResult:
    """Searches schedules, verifies and times each on this machine, and keeps the best; later calls take it.

    Args:
        what: einsum's subscripts, a Program with numbers for its sizes, or a function of tile_tune.tc,
            tile_tune.edsl or compile().
        arrays: of the types, shapes and strides that it is tuned for; their elements do not matter.
        seconds, trials: how long, or how many candidates; 60 s without either.
        seed: repeats a search.
        threads, database: as tuning() says, unless they are given.
        progress: True shows a bar (of tqdm, where there is one); a function is called with a dict of seconds, trials,
            best_ns and best_ratio whenever candidates were tried, and ends the search by returning False.

    Ctrl-C ends the search and keeps its best schedule, if that was far ahead, by 18 % at the lower end of its interval
    (a search that goes on to its end measures again instead); a second one ends it at once. Other tile-tune processes of the
    machine that time something are waited for.

    Raises ProgramError, ArrayError, DTypeError, ToolError, ValueError; KeyboardInterrupt where Ctrl-C came before there was a result.
    """
    for name, given in {"seconds": seconds, "trials": trials}.items():
        if given is not None and not given > 0:
            raise ValueError(f"{name} are more than 0, not {given!r}")
    if isinstance(what, str) and not arrays:
        raise TypeError(f"einsum {what!r} is tuned for arrays: tune({what!r}, a, b)")
    options = what._options if isinstance(what, _compile.Function) else _options.current()
    database = options.database if database is None else os.fspath(database)
    threads = options.threads if threads is None else _options.thread_count(threads)
    if seconds is None and trials is None:
        seconds = 60
    budget = {"--time": seconds, "--trials": trials, "--seed": seed, "--threads": threads or None,
              "--db": database or None}
    with arguments_of(what, arrays) as subject, _display(progress, seconds, trials) as show:
        words = ["tune", *subject, "--events"]
        for option, value in budget.items():
            if value is not None:
                words += [option, str(value)]
        by = None
        try:
            output = run(words, show)
        except Interrupted as interrupted:
            output, by = interrupted.args
            if not output or "trials" not in output:
                raise KeyboardInterrupt from None
    _compile.forget_kernels()
    return _result_from(output, by)
