"""What tune() and build() are asked about, as arguments of the command line."""

import contextlib
import os
import tempfile

from . import _core
from ._compile import Function
from ._process import opened


def _c_strides(shape):
    strides, step = [], 1
    for extent in reversed(shape):
        strides.insert(0, step)
        step *= extent
    return strides


def _names(program):
    import json
    text = json.loads(program.json())
    return [text["tensors"][number]["name"] for number in text["inputs"]]


def _layouts(program, described):
    """Where the elements of arrays lie that are not in C order."""
    for name, (_, shape, strides) in zip(_names(program), described):
        differs = any(a != b for a, b, extent in zip(strides, _c_strides(shape), shape) if extent != 1)
        if differs and 0 not in shape:
            yield from ("--layout", f"{name}={','.join(map(str, strides))}")


def _program_of(what, described):
    """(program, its sizes) for arrays of these types and shapes."""
    if isinstance(what, str):
        return _core.einsum_program(what, [(dtype, list(shape)) for dtype, shape, _ in described]), {}
    if hasattr(what, "program") and callable(what.program):  # edsl.function
        return what.program(*((dtype, tuple(shape)) for dtype, shape, _ in described)), {}
    return (what.program if isinstance(what, Function) else what), None


@contextlib.contextmanager
def arguments_of(what, arrays):
    """The arguments that name the program, its sizes and the arrays' layouts; its file is there meanwhile."""
    described = _core.described(*arrays)
    program, sizes = _program_of(what, described)
    if not isinstance(program, _core.Program):
        raise TypeError("einsum's subscripts, a Program or a function of tile_tune is expected, "
                        f"not {type(what).__name__}")
    if sizes is None:
        sizes = _core.sizes_of(program, *arrays) if arrays else {}
    # Whatever keeps it from being removed is not to hide what went wrong before.
    with opened(tempfile.TemporaryDirectory, prefix="tile-tune-", ignore_cleanup_errors=True) as folder:
        path = os.path.join(folder, f"{program.name}.json")
        program.save(path)
        yield [path, *(word for name, size in sizes.items() for word in ("-s", f"{name}={size}")),
               *_layouts(program, described)]
