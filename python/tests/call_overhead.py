"""What a call that was seen before takes over the C entry: the least of 15 times 20,000 calls of a 4 x 4 x 4 product of
doubles. By hand, on a quiet machine: PYTHONPATH=build/python .venv/bin/python python/tests/call_overhead.py"""

import ctypes
import time

import numpy as np

import tile_tune

SPEC = "ij,jk->ik"
CALLS, TIMES = 20_000, 15


def least(call):
    """Nanoseconds of a call, without the loop around it."""
    def loop(body):
        began = time.perf_counter_ns()
        for _ in range(CALLS):
            body()
        return (time.perf_counter_ns() - began) / CALLS

    def nothing():
        pass

    return min(loop(call) for _ in range(TIMES)) - min(loop(nothing) for _ in range(TIMES))


class Array(ctypes.Structure):
    """tt_array of tile_tune/tile_tune.h."""
    _fields_ = [("data", ctypes.c_void_p), ("dtype", ctypes.c_int32), ("rank", ctypes.c_int32),
                ("shape", ctypes.POINTER(ctypes.c_int64)), ("strides", ctypes.POINTER(ctypes.c_int64))]


def c_entry(a, b, c):
    """tt_einsum's time: that of ctypes' call of it, less that of a call with as many arguments that does nothing."""
    library = ctypes.CDLL(next(line.split()[-1] for line in open("/proc/self/maps") if "libtile_tune_kernels" in line))
    shape = (ctypes.c_int64 * 2)(4, 4)
    described = [Array(array.ctypes.data, 12, 2, shape, None) for array in (a, b, c)]  # TT_F64
    operands, result = (Array * 2)(*described[:2]), ctypes.byref(described[2])
    # The tool of this package, as the library beside a build tree has none.
    from tile_tune import _options

    class Options(ctypes.Structure):
        _fields_ = [("size", ctypes.c_size_t), ("database", ctypes.c_char_p), ("target", ctypes.c_char_p),
                    ("tool", ctypes.c_char_p), ("cache", ctypes.c_char_p), ("threads", ctypes.c_int),
                    ("default_schedule", ctypes.c_int), ("deterministic", ctypes.c_int),
                    ("tune_seconds", ctypes.c_double)]

    library.tt_set_einsum_options(ctypes.byref(Options(ctypes.sizeof(Options), tool=_options.tool().encode())))
    entry, text = library.tt_einsum, SPEC.encode()
    entry.argtypes = [ctypes.c_char_p, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_void_p]
    entry.restype = ctypes.c_void_p
    nothing = library.tt_error_code
    nothing.argtypes, nothing.restype = [ctypes.c_void_p] * 4, ctypes.c_void_p
    assert entry(text, operands, 2, result) is None
    return (least(lambda: entry(text, operands, 2, result)) - least(lambda: nothing(None, operands, None, result)))


def main():
    a, b = np.random.default_rng(1).standard_normal((2, 4, 4))
    c = np.empty((4, 4))
    einsum = tile_tune.einsum
    rows = {"numpy, out=": lambda: einsum(SPEC, a, b, out=c), "numpy": lambda: einsum(SPEC, a, b)}
    try:
        import torch
        x, y, z = (torch.from_numpy(array) for array in (a, b, c))
        rows |= {"PyTorch, out=": lambda: einsum(SPEC, x, y, out=z), "PyTorch": lambda: einsum(SPEC, x, y)}
    except ImportError:
        pass
    times = {name: (call(), least(call))[1] for name, call in rows.items()}
    entry = c_entry(a, b, c)
    print(f"C entry {entry:.0f} ns")
    for name, nanoseconds in times.items():
        print(f"{name}: {nanoseconds:.0f} ns, {nanoseconds - entry:+.0f} over the C entry")


if __name__ == "__main__":
    main()
