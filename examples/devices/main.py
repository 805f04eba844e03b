"""A product on CuPy's arrays, in CuPy's stream, by an emitted library: main.py LIBRARY.so M N K."""

import ctypes
import sys

import cupy


def load(path):
    library = ctypes.CDLL(path)
    library.matmul_device.argtypes = [ctypes.c_void_p] * 4
    library.matmul_device_message.restype = library.matmul_error_string.restype = ctypes.c_char_p
    return library


def multiply(library, a, b):
    """a @ b of C-contiguous float32 matrices; the work is in CuPy's current stream when this returns."""
    c = cupy.empty((a.shape[0], b.shape[1]), dtype=cupy.float32)
    stream = cupy.cuda.get_current_stream().ptr
    status = library.matmul_device(stream, a.data.ptr, b.data.ptr, c.data.ptr)
    if status != 0:
        raise RuntimeError(f"{library.matmul_error_string(status).decode()}: {library.matmul_device_message().decode()}")
    return c


def main():
    path, *sizes = sys.argv[1:]
    m, n, k = map(int, sizes)
    a = cupy.full((m, k), 0.5, dtype=cupy.float32)
    b = cupy.full((k, n), 2, dtype=cupy.float32)
    with cupy.cuda.Stream():
        c = multiply(load(path), a, b)
        print(f"Python: {float(c[0, 0]):g} of {k}")


if __name__ == "__main__":
    main()
