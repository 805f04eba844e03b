"""As much of CuPy as examples/devices/main.py asks for, on memory of the pretended driver (tests/support/fake_cuda)."""

import ctypes
import types

float32 = "float32"
_driver = ctypes.CDLL("libcuda.so.1")
_context = ctypes.c_void_p()
assert _driver.cuInit(0) == 0
assert _driver.cuDevicePrimaryCtxRetain(ctypes.byref(_context), 0) == 0
assert _driver.cuCtxPushCurrent_v2(_context) == 0


class _Stream:
    current = None

    def __init__(self):
        handle = ctypes.c_void_p()
        assert _driver.cuStreamCreate(ctypes.byref(handle), 1) == 0
        self.ptr = handle.value

    def __enter__(self):
        _Stream.current = self
        return self

    def __exit__(self, *_):
        _Stream.current = None


class _Array:
    def __init__(self, shape):
        self.shape = shape
        pointer, size = ctypes.c_uint64(), 4 * shape[0] * shape[1]
        assert _driver.cuMemAlloc_v2(ctypes.byref(pointer), ctypes.c_size_t(size)) == 0
        self.data = types.SimpleNamespace(ptr=pointer.value)

    def _elements(self):
        return (ctypes.c_float * (self.shape[0] * self.shape[1])).from_address(self.data.ptr)

    def __getitem__(self, at):
        return self._elements()[at[0] * self.shape[1] + at[1]]


def empty(shape, dtype):
    assert dtype == float32
    return _Array(shape)


def full(shape, value, dtype):
    array = empty(shape, dtype)
    array._elements()[:] = [value] * (shape[0] * shape[1])
    return array


cuda = types.SimpleNamespace(Stream=_Stream, get_current_stream=lambda: _Stream.current)
