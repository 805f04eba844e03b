"""Kernels that `tile-tune build` emits, as functions of numpy arrays: ctypes and the package's manifest are all it takes.

    package = kernels.load("out", "matmul")
    C = package.matmul(A, B)

Of kernels that were built with --constant, pack the operand with KERNEL_pack_NAME first, which is left out here.
"""

import ctypes
import json
import pathlib
import subprocess
import types

import numpy as np

# numpy has no bfloat16: those arrays hold the bit patterns.
DTYPES = {"bool": np.bool_, "i8": np.int8, "u8": np.uint8, "i16": np.int16, "u16": np.uint16, "i32": np.int32,
          "u32": np.uint32, "i64": np.int64, "u64": np.uint64, "f16": np.float16, "bf16": np.uint16,
          "f32": np.float32, "f64": np.float64, "c32": np.complex64, "c64": np.complex128}


def load(directory, name):
    """Every kernel of the package NAME below DIRECTORY, as an attribute each."""
    directory = pathlib.Path(directory)
    manifest = json.loads((directory / "share" / name / "manifest.json").read_text(encoding="utf-8"))
    library = ctypes.CDLL(str(_shared(directory / "lib", name)))
    message = getattr(library, f"{name}_error_string")
    message.argtypes, message.restype = [ctypes.c_int], ctypes.c_char_p
    kernels = {one["function"]: _function(library, one, message) for one in manifest["kernels"]}
    return types.SimpleNamespace(**kernels)


def _shared(folder, name):
    """A package's archives as one shared library beside them, which only the kernels' own functions can be seen of."""
    library = folder.resolve() / f"lib{name}.so"
    archives = [str(folder / f"lib{name}.a"), str(folder / "libtile_tune_rt.a")]
    subprocess.run(["cc", "-shared", "-o", str(library), "-Wl,--whole-archive", archives[0],
                    "-Wl,--no-whole-archive", archives[1], "-lpthread", "-ldl", "-lm"], check=True)
    return library


def _function(library, kernel, message):
    entry = getattr(library, kernel["function"])
    arguments = kernel["arguments"]
    # Strides, dtype and extents are checked by ctypes before the kernel sees a pointer.
    entry.argtypes = [_pointer(one) for one in arguments]
    entry.restype = ctypes.c_int

    def call(*inputs):
        """Inputs in the order of the header, in/out tensors at the end; the outputs, as a tuple if there are several."""
        given = iter(inputs)
        arrays = [_array(one, given) for one in arguments]
        status = entry(*arrays)
        if status != 0:
            raise RuntimeError(f"{kernel['function']}: {message(status).decode()}")
        outputs = tuple(array for array, one in zip(arrays, arguments) if one["role"] != "input")
        return outputs[0] if len(outputs) == 1 else outputs

    return call


def _order(argument):
    return "C" if argument["layout"] == "row" else "F"


def _pointer(argument):
    return np.ctypeslib.ndpointer(DTYPES[argument["dtype"]], len(argument["shape"]), tuple(argument["shape"]),
                                  flags=f"{_order(argument)}_CONTIGUOUS")


def _array(argument, given):
    """What the kernel gets: a new array for an output, a copy of an in/out tensor, an input as it lies if that fits."""
    if argument["role"] == "output":
        return np.empty(argument["shape"], DTYPES[argument["dtype"]], _order(argument))
    copy = np.array if argument["role"] == "inout" else np.asarray
    return copy(next(given), order=_order(argument))
