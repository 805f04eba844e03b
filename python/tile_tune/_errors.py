"""What goes wrong, as exceptions whose text is the compiler's."""


class Error(Exception):
    """The base of all errors of tile_tune.

    Attributes:
        code: short and stable, for example ``"size-conflict"``.
        note: how to mend it, or ``""`` where the text says it or nobody knows.
        filename, lineno: the place, of a program in a file or in Python; else ``""`` and 0.
    """

    code: str = ""
    note: str = ""
    filename: str = ""
    lineno: int = 0

    def __str__(self):
        text = super().__str__()
        return f"{text}\nnote: {self.note}" if self.note else text


class ProgramError(Error, ValueError):
    """A program that is wrong: of Tensor Comprehensions, of an einsum's notation or of the Tile eDSL."""


class ArrayError(Error, ValueError):
    """Arrays that do not fit a program or each other: shapes, strides, overlapping memory, number."""


class DTypeError(Error, TypeError):
    """An element type, or an object, that is none a kernel takes."""


class GatherError(Error, IndexError):
    """An index that an array gave lies outside its tensor."""


class OutOfMemory(Error, MemoryError):
    """There is no memory for what a kernel computes on the way."""


class ToolError(Error, RuntimeError):
    """The tool could not do its work, whatever the program is: no compiler, no database, no space."""


class CompilerWarning(UserWarning):
    """What is legal in a program but hardly meant."""


_CLASSES = {
    "dtype-mismatch": DTypeError,
    "not-an-array": DTypeError,
    "gather-out-of-range": GatherError,
    "out-of-memory": OutOfMemory,
    **dict.fromkeys(["array-count", "size-conflict", "bad-array", "missing-array", "unknown-array", "rank-mismatch",
                     "read-only", "wrong-device", "needs-gradient", "traced"], ArrayError),
    **dict.fromkeys(["no-executable", "cannot-start", "kernel-failed", "bad-kernel", "object-not-loaded",
                     "cannot-read", "cannot-write", "internal", "disk-full", "tool-missing", "crash", "timeout",
                     "compile-error", "run-error", "wrong-result", "no-temporary-directory",
                     "worker-not-started", "runtime-not-built", "package-failed", "cannot-open-database",
                     "not-a-database", "foreign-schema", "database-corrupt", "database-newer", "database-older",
                     "database-read-only", "session-in-use"], ToolError),
}


def error_of(code: str, text: str, note: str = "", filename: str = "", lineno: int = 0) -> Error:
    """The exception that stands for a code; of codes that none is listed for, a ProgramError."""
    error = _CLASSES.get(code, ProgramError)(text)
    error.code, error.note, error.filename, error.lineno = code, note, filename, lineno
    return error
