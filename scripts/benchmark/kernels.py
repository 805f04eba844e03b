"""Kernels that `tile-tune build` emits, as functions of Python."""

import ctypes
import json
import pathlib
import subprocess
from dataclasses import dataclass

FUNCTION = "timed"


@dataclass(frozen=True)
class Argument:
    name: str
    dtype: str  # as tile-tune names it: "f32", "bf16", ...
    shape: tuple
    is_output: bool


@dataclass(frozen=True)
class Built:
    library: pathlib.Path
    arguments: tuple  # inputs, then outputs
    is_tuned: bool  # else the database had no schedule, and this is the default one


def build(tool, program, threads, database, directory):
    """A shared library from the best schedule in the database; raises CalledProcessError. A database that is not there
    gives the default schedule."""
    directory = pathlib.Path(directory)
    command = [tool, "build", program, "--name", FUNCTION, "-o", str(directory), "--threads", str(threads)]
    subprocess.run(command + (["--db", str(database)] if database else []), check=True, capture_output=True, text=True)
    library, lib = directory / "timed.so", directory / "lib"
    subprocess.run(["g++", "-shared", "-o", str(library), "-Wl,--whole-archive", str(lib / f"lib{FUNCTION}.a"),
                    "-Wl,--no-whole-archive", str(lib / "libtile_tune_rt.a"), "-lpthread", "-ldl", "-lm"], check=True,
                   capture_output=True, text=True)
    manifest = json.loads((directory / "share" / FUNCTION / "manifest.json").read_text(encoding="utf-8"))
    kernel = manifest["kernels"][0]
    arguments = tuple(Argument(one["tensor"], one["dtype"], tuple(one["shape"]), one["role"] == "output")
                      for one in kernel["arguments"])
    return Built(library, arguments, kernel["provenance"] == "tuned")


def load(library, pointers, threads):
    """A function without arguments that runs the kernel on these addresses: inputs, then outputs."""
    loaded = ctypes.CDLL(str(library))
    # By itself the kernel takes as many threads as its caller has cores, which is one where the caller is pinned.
    if getattr(loaded, f"{FUNCTION}_set_num_threads")(threads) != 0:
        raise ValueError(f"{library} does not run with {threads} threads")
    function = getattr(loaded, FUNCTION)
    function.argtypes, function.restype = [ctypes.c_void_p] * len(pointers), ctypes.c_int

    def call():
        status = function(*pointers)
        if status != 0:
            raise RuntimeError(f"the kernel returned {status}")

    return call
