"""Tensor Comprehensions in Python."""

import copy

import numpy as np
import pytest

import tile_tune
from tile_tune import tc

TEXT = """
def matmul(float(M,K) A, float(K,N) B) -> (C) {
  C(m,n) +=! A(m,k) * B(k,n)
}
def both(float(M,N) A) -> (rows, columns) {
  rows(i) +=! A(i,j)
  columns(j) max=! A(i,j)
}
def accumulate(float(N) x, float(N) y) -> (total, product, largest) {
  total() += x(i) * y(i)
  product() *= x(i)
  largest(i) max= y(i)
}
def pool(float(N) x, int32 w) -> (o) {
  o(i) max=! x(2*i + k) where k in 0:w, i in 0:3
}
"""


@pytest.fixture(scope="module")
def lib():
    return tc.define(TEXT)


def test_sizes_come_from_the_arrays(lib, random):
    for m, k, n in [(5, 7, 3), (1, 1, 1), (13, 2, 5)]:
        a, b = random.standard_normal((m, k), np.float32), random.standard_normal((k, n), np.float32)
        result = lib.matmul(a, b)
        assert result.dtype == np.float32 and result.shape == (m, n)
        np.testing.assert_allclose(result, a @ b, rtol=1e-5, atol=1e-5)


def test_strided_arrays_and_out(lib, random):
    a, b = random.standard_normal((4, 6), np.float32).T, random.standard_normal((8, 5), np.float32)[::2, ::-1]
    out = np.empty((5, 6), np.float32).T
    assert lib.matmul(a, b, out=out) is out
    np.testing.assert_allclose(out, a @ b, rtol=1e-5, atol=1e-5)


def test_several_outputs(lib, random):
    a = random.integers(-9, 9, (4, 3)).astype(np.float32)
    rows, columns = lib.both(a)
    np.testing.assert_array_equal(rows, a.sum(1))
    np.testing.assert_array_equal(columns, a.max(0))
    outs = np.empty(4, np.float32), np.empty(3, np.float32)
    assert lib.both(a, out=outs)[1] is outs[1]
    np.testing.assert_array_equal(outs[0], a.sum(1))


def test_in_out_outputs_start_from_out_or_from_their_identity(lib):
    x, y = np.array([2, 3, -1], np.float32), np.array([-5, 1, 4], np.float32)
    total, product, largest = lib.accumulate(x, y)
    assert total == -11 and product == -6 and largest.tolist() == [-5, 1, 4]
    outs = np.array(10, np.float32), np.array(0.5, np.float32), np.zeros(3, np.float32)
    lib.accumulate(x, y, out=outs)
    assert outs[0] == -1 and outs[1] == -3 and outs[2].tolist() == [0, 1, 4]


def test_a_number_may_be_a_size(lib):
    x = np.array([3, 1, 4, 1, 5, 9, 2], np.float32)
    assert lib.pool(x, np.array(2, np.int32)).tolist() == [3, 4, 9]
    assert lib.pool(x, np.array(3, np.int32)).tolist() == [4, 5, 9]


def test_gathers_are_checked(random):
    lookup = tc.define("def lookup(float(R,C) T, int32(N) I) -> (o) { o(n,c) = T(I(n),c) where c in 0:C }").lookup
    table = random.standard_normal((5, 3), np.float32)
    np.testing.assert_array_equal(lookup(table, np.array([4, 0, 4], np.int32)), table[[4, 0, 4]])
    with pytest.raises(tile_tune.GatherError) as caught:
        lookup(table, np.array([0, 5, 1], np.int32))
    assert isinstance(caught.value, IndexError)


def test_the_library(lib):
    assert list(lib) == ["matmul", "both", "accumulate", "pool"] and len(lib) == 4 and "matmul" in dir(lib)
    assert lib["matmul"] is lib.matmul and lib.matmul.inputs == ("A", "B") and lib.both.outputs == ("rows", "columns")
    assert repr(lib.matmul) == "<tile_tune function matmul(float(M,K) A, float(K,N) B) -> (float(M,N) C)>"
    with pytest.raises(AttributeError, match="no def nothing; it has matmul, both"):
        lib.nothing


def test_the_library_is_copied(lib):
    assert list(copy.copy(lib)) == list(lib)
    with pytest.raises(AttributeError, match="no def nothing"):
        copy.copy(lib).nothing


def test_compile_makes_the_kernel_now(random):
    a, b = random.standard_normal((3, 5), np.float32), random.standard_normal((5, 4), np.float32)
    matmul = tc.define(TEXT).matmul.compile(a, b)
    np.testing.assert_allclose(matmul(a, b), a @ b, rtol=1e-5, atol=1e-5)


class TestErrors:
    def test_text_with_a_caret(self):
        with pytest.raises(tile_tune.ProgramError) as caught:
            tc.define("def broken(float(M,N) A) -> (o) {\n  o(i) +=! A(i,j) * y(j)\n}\n", file="broken.tc")
        assert str(caught.value).splitlines() == [
            "broken.tc:2:21: error: 'y' is not a size, a tensor, a let or an index variable here [undefined-name]",
            "    o(i) +=! A(i,j) * y(j)", "                      ^"]
        assert (caught.value.code, caught.value.filename, caught.value.lineno) == ("undefined-name", "broken.tc", 2)

    def test_arrays(self, lib):
        a = np.ones((2, 3), np.float32)
        for arrays, code in [((a,), "array-count"), ((a, a), "size-conflict"), ((a, a[0]), "rank-mismatch")]:
            with pytest.raises(tile_tune.ArrayError) as caught:
                lib.matmul(*arrays)
            assert caught.value.code == code
        with pytest.raises(tile_tune.DTypeError, match="A is f32, but its array is f64"):
            lib.matmul(a.astype(float), a)
        with pytest.raises(tile_tune.ArrayError):
            lib.both(a, out=np.empty(2, np.float32))

    def test_warnings_of_the_text(self):
        with pytest.warns(tile_tune.CompilerWarning, match="text:1:.*'B'.*unused-input"):
            tc.define("def f(float(N) A, float(N) B) -> (o) { o(i) = A(i) }")
