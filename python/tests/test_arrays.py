"""Arrays of other kinds: DLPack, the buffer protocol, bfloat16, and without numpy."""

import array
import ctypes
import subprocess
import sys
import textwrap

import numpy as np
import pytest

import tile_tune
from tile_tune import einsum


class DLPack:
    """A producer that is no numpy array, of the newer or the older protocol."""

    def __init__(self, of, versioned=True, device=(1, 0)):
        self.of, self.versioned, self.device = of, versioned, device

    def __dlpack__(self, **options):
        if not self.versioned and "max_version" in options:
            raise TypeError("an unexpected keyword argument")
        return self.of.__dlpack__(**options)

    def __dlpack_device__(self):
        return self.device


@pytest.mark.parametrize("versioned", [True, False])
def test_dlpack_operands_and_outputs(versioned, random):
    a, b = random.standard_normal((3, 4))[::-1], random.standard_normal((4, 5)).T.copy().T
    result = einsum("ij,jk->ik", DLPack(a, versioned), DLPack(b, versioned))
    assert type(result) is np.ndarray
    np.testing.assert_allclose(result, a @ b, rtol=1e-12)
    out = np.zeros((3, 5))
    producer = DLPack(out, versioned)
    assert einsum("ij,jk->ik", a, b, out=producer) is producer
    np.testing.assert_allclose(out, a @ b, rtol=1e-12)


def test_arrays_of_ctypes():
    """Whose buffers have no strides, even where these are asked for."""
    row, matrix = (ctypes.c_float * 4)(1, 2, 3, -4), ((ctypes.c_double * 3) * 2)((1, 2, 3), (4, 5, 6))
    assert einsum("i->", row) == 2
    out = ((ctypes.c_double * 2) * 3)()
    assert einsum("ij->ji", matrix, out=out) is out and [list(line) for line in out] == [[1, 4], [2, 5], [3, 6]]
    assert einsum("i->i", (ctypes.c_float * 0)()).shape == (0,) and einsum("->", ctypes.c_float(3)) == 3


def test_dlpack_that_may_not_be_written():
    out = np.zeros(3)
    out.flags.writeable = False
    with pytest.raises(tile_tune.ArrayError, match="may not be written"):
        einsum("i->i", np.ones(3), out=DLPack(out))


def test_other_devices_are_refused():
    with pytest.raises(tile_tune.ArrayError, match="not in the host's memory") as caught:
        einsum("i->i", DLPack(np.ones(3), device=(2, 0)))
    assert caught.value.code == "wrong-device" and "x.cpu()" in str(caught.value)


def test_what_a_producer_raises_is_told():
    class Broken(DLPack):
        def __dlpack__(self, **options):
            raise RuntimeError("no memory to show")

    with pytest.raises(tile_tune.ArrayError, match="operand 0 shows no memory: no memory to show"):
        einsum("i->i", Broken(np.ones(3)))


def test_dlpack_memory_is_given_back():
    class Owner(np.ndarray):
        pass

    import gc
    import weakref
    of = np.ones(3).view(Owner)
    watch = weakref.ref(of)
    producer = DLPack(of)
    einsum("i->", producer)
    del of, producer
    gc.collect()
    assert watch() is None


@pytest.mark.parametrize("code", "bBhHiIlLqQfd")
def test_buffers(code):
    values = array.array(code, [3, 1, 2])
    assert einsum("i->", values) == 6
    assert einsum("i->", memoryview(values)[::-2]) == 5  # 2 and 3
    out = array.array(code, [0, 0, 0])
    assert einsum("i->i", values, out=out) is out and out == values


def test_buffers_of_several_dimensions():
    view = memoryview(bytes(range(6))).cast("B", (2, 3))
    np.testing.assert_array_equal(einsum("ij->ji", view), np.arange(6).reshape(2, 3).T)
    with pytest.raises(tile_tune.ArrayError, match="may not be written"):
        einsum("i->i", np.ones(3, np.uint8), out=b"abc")


def test_buffers_of_other_elements():
    import ctypes

    class Point(ctypes.Structure):
        _fields_ = [("x", ctypes.c_int), ("y", ctypes.c_int)]

    with pytest.raises(tile_tune.DTypeError, match="format"):
        einsum("i->i", (Point * 3)())
    with pytest.raises(tile_tune.DTypeError, match="format"):
        einsum("i->i", (ctypes.c_float.__ctype_be__ * 3)())


def test_numpy_scalars_are_arrays_without_dimensions():
    assert einsum("i,->i", np.ones(3), np.float64(2)).tolist() == [2, 2, 2]


def test_bfloat16_of_ml_dtypes(random):
    bfloat16 = pytest.importorskip("ml_dtypes").bfloat16
    a, b = random.integers(-8, 9, (3, 5)).astype(bfloat16), random.integers(-8, 9, (5, 4)).astype(bfloat16)
    result = einsum("ij,jk->ik", a, b)
    assert result.dtype == bfloat16
    np.testing.assert_array_equal(result, (a.astype(np.float32) @ b.astype(np.float32)).astype(bfloat16))
    out = np.empty((3, 4), np.float32)
    einsum("ij,jk->ik", a, b, out=out)
    np.testing.assert_array_equal(out, a.astype(np.float32) @ b.astype(np.float32))


def run(code):
    done = subprocess.run([sys.executable, "-W", "error", "-c", textwrap.dedent(code)], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def test_numpy_is_neither_imported_nor_needed():
    assert run("""
        import sys
        import array, tile_tune
        assert "numpy" not in sys.modules
        sys.modules["numpy"] = None  # as if it were not installed
        result = tile_tune.einsum("i,j->ij", array.array("d", [1, 2]), array.array("d", [3, 4, 5]))
        print(type(result).__name__, result.format, result.tolist())
        print(tile_tune.einsum("i->", array.array("i", [1, 2])).tolist())
    """) == "memoryview d [[3.0, 4.0, 5.0], [6.0, 8.0, 10.0]]\n3\n"


def test_a_process_that_imports_numpy_later():
    assert run("""
        import array, tile_tune
        assert tile_tune.einsum("i->", array.array("d", [1, 2])) == 3
        import numpy
        print(type(tile_tune.einsum("i->i", numpy.ones(2))).__name__)
    """) == "ndarray\n"
