"""build(): static libraries. records(): what was tuned."""

import os
from pathlib import Path
from typing import Any, Literal

from . import _compile, _options
from ._errors import Error
from ._process import run
from ._subject import arguments_of


def build(what: Any, *arrays: Any, output: str | os.PathLike[str], name: str | None = None,
          database: str | os.PathLike[str] | None = None, threads: int | Literal["omp", "torch"] | None = None) -> list[Path]:
    """Writes a static library with a C header, from the best stored schedule.

    Args:
        what, arrays: as in tune().
        output: the folder; `include`, `lib` and `share` are made in it.
        name: of the library and its function; the program's otherwise.
        threads, database: as tuning() says, unless they are given.

    Returns the files. Needs a C compiler, ar and objcopy. Raises ProgramError, ArrayError, DTypeError, ToolError.
    """
    options = what._options if isinstance(what, _compile.Function) else _options.current()
    database = options.database if database is None else os.fspath(database)
    threads = options.threads if threads is None else _options.thread_count(threads)
    with arguments_of(what, arrays) as subject:
        words = ["build", *subject, "-o", os.fspath(output)]
        for option, value in {"--name": name, "--db": database or None, "--threads": threads or None}.items():
            if value is not None:
                words += [option, str(value)]
        built = run(words)
    return [Path(file) for file in built["files"]]


def records(text: str = "", *, database: str | os.PathLike[str] | None = None) -> list[dict[str, Any]]:
    """What was tuned, a flat dict for each program, machine and number of threads: pandas.DataFrame(records()). Empty
    where nothing was.

    Args:
        text: only those with this text in any column.
        database: a file; tuning()'s otherwise.

    `name`, `signature` (types and shapes) and `statements` say what it is. The best schedule's `median_ns`, its `ratio` to the default's speed and `ratio_low`, `ratio_high`, the 95 % interval;
    `sizes`, `dtypes`, `layout`, `threads`, `cpu_model`, `flops`, `bytes`, `content_hash`, `created` (seconds of the
    epoch).
    """
    database = _options.current().database if database is None else os.fspath(database)
    words = ["db", "list", *(["--db", database] if database else [])]
    try:
        found = [_record(one) for one in run(words)]
    except Error as error:
        if error.code == "no-database":
            return []
        raise
    return [one for one in found if any(text.lower() in str(value).lower() for value in one.values())]


def _record(one):
    best, target = one.get("best") or {}, one["target"]
    low, high = best.get("ratio_interval") or (None, None)
    return {"name": one["name"], "signature": one.get("signature", ""), "statements": "; ".join(one.get("statements", [])),
            "sizes": ", ".join(f"{name}={size}" for name, size in one["sizes"].items()),
            "dtypes": one["dtypes"], "layout": one["layout"], "median_ns": best.get("median_ns"),
            "ratio": best.get("ratio"), "ratio_low": low, "ratio_high": high, "flops": one["flops"],
            "bytes": one["bytes"], "cpu_model": target.get("cpu_model"), "target": target["halide"],
            "threads": target["threads"], "content_hash": one["content_hash"], "created": one["created_ms"] / 1000}
