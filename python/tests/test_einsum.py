"""einsum on numpy's arrays: values, layouts, types, results, errors."""

import numpy as np
import pytest

import tile_tune
from tile_tune import einsum

SPECS = [
    ("ij,jk->ik", [(5, 7), (7, 3)]),
    ("bhqd,bhkd->bhqk", [(2, 3, 5, 7), (2, 3, 4, 7)]),
    ("ii->i", [(5, 5)]),
    ("ii->", [(7, 7)]),
    ("i->ii", [(3,)]),
    ("ij->ji", [(1, 5)]),
    (",->", [(), ()]),
    ("ab,bc,cd->ad", [(3, 5), (5, 2), (2, 7)]),
    ("...i,...i->...", [(4, 1, 3), (5, 3)]),
    ("ij,jk->ik", [(0, 3), (3, 2)]),
    ("ij,jk->ik", [(2, 0), (0, 3)]),
]


@pytest.mark.parametrize("spec, shapes", SPECS)
def test_values(spec, shapes, random):
    operands = [random.standard_normal(shape) for shape in shapes]
    expected = embedded(operands[0]) if spec == "i->ii" else np.einsum(spec, *operands)
    result = einsum(spec, *operands)
    assert type(result) is np.ndarray and result.dtype == np.float64 and result.shape == expected.shape
    np.testing.assert_allclose(result, expected, rtol=1e-12, atol=1e-12)


def embedded(diagonal):
    return np.diag(diagonal)


def views(array):
    yield array
    yield array[::-1]
    yield array[:, ::-2]
    yield array.T.copy().T
    padded = np.full((array.shape[0] * 2, array.shape[1] + 3), np.nan)
    padded[::2, 1:-2] = array
    yield padded[::2, 1:-2]
    yield np.broadcast_to(array[:1], array.shape)


def test_strided_operands_are_taken_as_they_lie(random):
    a, b = random.standard_normal((5, 6)), random.standard_normal((6, 4))
    for x in views(a):
        y = b[:x.shape[1]]
        np.testing.assert_allclose(einsum("ij,jk->ik", x, y), x @ y, rtol=1e-12)


def test_more_elements_than_fit_32_bits_in_little_memory(random):
    row = random.standard_normal(50_000).astype(np.float32)
    sums = einsum("ij->i", np.broadcast_to(row, (50_000, 50_000)))
    np.testing.assert_allclose(sums, np.full(50_000, row.sum(dtype=np.float64)), rtol=1e-3)


def test_out_is_written_where_it_lies(random):
    a, b = random.standard_normal((5, 7)), random.standard_normal((7, 3))
    memory = np.full((9, 12), -1.0)
    out = memory[2:7, 1:10:4]
    assert einsum("ij,jk->ik", a, b, out=out) is out
    np.testing.assert_allclose(out, a @ b, rtol=1e-12)
    memory[2:7, 1:10:4] = -1
    assert (memory == -1).all()  # and nothing beside it


def test_out_may_be_transposed_or_reversed(random):
    a, b = random.standard_normal((5, 7)), random.standard_normal((7, 3))
    for out in (np.empty((3, 5)).T, np.empty((5, 3))[::-1, ::-1]):
        einsum("ij,jk->ik", a, b, out=out)
        np.testing.assert_allclose(out, a @ b, rtol=1e-12)


@pytest.mark.parametrize("dtype", "float16 float32 float64 complex64 complex128 int8 uint8 int16 uint16 int32 uint32 "
                                  "int64 uint64 bool".split())
def test_element_types(dtype, random):
    a, b = (random.integers(0, 2, shape).astype(dtype) for shape in [(3, 5), (5, 7)])
    if a.dtype.kind in "ifc" and dtype != "int8":
        a = -a
    if a.dtype.kind == "c":
        b = b * a.dtype.type(1 + 2j)
    result = einsum("ij,jk->ik", a, b)
    expected = np.einsum("ij,jk->ik", a, b)
    np.testing.assert_array_equal(result, expected)
    assert result.dtype == {"int8": "int32", "uint8": "int32", "int16": "int32", "uint16": "int32"}.get(dtype, dtype)


def test_mixed_types_promote(random):
    result = einsum("i,i->i", np.arange(3, dtype=np.int32), np.ones(3, np.float32))
    assert result.dtype == np.float64


def test_signs_that_would_be_lost_are_refused():
    large = np.full(1, 2 ** 31 + 5, np.uint32)
    for other in (np.int32, np.int16):
        with pytest.raises(tile_tune.DTypeError, match="an operand of uint32 has numbers that are none of .* int32"):
            einsum("i,i->i", large, np.ones(1, other))
    assert einsum("i,i->i", large, np.ones(1, np.int64)).tolist() == [2 ** 31 + 5]
    assert einsum("i,i->i", np.full(1, 255, np.uint8), np.full(1, -1, np.int8)).tolist() == [-255]


def test_a_wider_out_takes_the_result():
    out = np.empty((), np.float64)
    assert einsum("i->", np.full(5, 0.5, np.float32), out=out) is out and out == 2.5


def test_the_same_text_in_another_object_is_the_same_call():
    a = np.arange(6.0).reshape(2, 3)
    for _ in range(3):
        np.testing.assert_array_equal(einsum("".join(["ij", "->ji"]), a), a.T)


def test_calls_that_differ_in_one_thing_alone_are_kept_apart():
    """Types, shapes, strides, texts and outputs are all part of what a call is looked up by."""
    a = np.arange(12.0).reshape(3, 4)
    for _ in range(2):
        np.testing.assert_array_equal(einsum("ij->ji", a), a.T)
        np.testing.assert_array_equal(einsum("ij->ij", a), a)
        np.testing.assert_array_equal(einsum("ij->ji", a.reshape(4, 3)), a.reshape(4, 3).T)
        np.testing.assert_array_equal(einsum("ij->ji", a.T), a)
        np.testing.assert_array_equal(einsum("ij->ji", a.astype(np.int64)), a.T)
        np.testing.assert_array_equal(einsum("ij->ji", a.view(np.int64)), a.view(np.int64).T)
        out = np.empty((4, 3))
        assert einsum("ij->ji", a, out=out) is out
        np.testing.assert_array_equal(out, a.T)


def test_memmaps_are_arrays_and_masked_ones_are_not(tmp_path):
    mapped = np.memmap(tmp_path / "x", dtype="f8", mode="w+", shape=(3,))
    mapped[:] = [1, 2, 3]
    assert einsum("i->", mapped) == 6
    with pytest.raises(tile_tune.DTypeError, match="more than its elements"):
        einsum("i->", np.ma.masked_array([1.0, 2.0], [True, False]))


class TestErrors:
    def test_notation_with_a_caret(self):
        with pytest.raises(tile_tune.ProgramError) as caught:
            einsum("ij,jk->iz", np.ones((2, 3)), np.ones((3, 2)))
        assert caught.value.code == "unknown-output-label"
        assert str(caught.value).splitlines()[1:] == ["  einsum:ij,jk->iz", "                 ^"]

    def test_what_is_no_text(self):
        with pytest.raises(UnicodeEncodeError):
            einsum("i\ud800->i", np.ones(3))
        with pytest.raises(UnicodeEncodeError):
            einsum("i->i", np.ones(3), **{"\ud800": 1})

    def test_shapes(self):
        with pytest.raises(tile_tune.ArrayError, match="label 'j' is 3 by .* but 4 by") as caught:
            einsum("ij,jk->ik", np.ones((2, 3)), np.ones((4, 2)))
        assert caught.value.code == "size-conflict" and isinstance(caught.value, ValueError)

    def test_shape_of_out(self):
        with pytest.raises(tile_tune.ArrayError, match=r"out has the shape \(2\), but its array \(3\)"):
            einsum("ij->i", np.ones((2, 3)), out=np.empty(3))
        for shape in [(6, 4), (4, 5), (4, 7), (1, 6)]:
            words = r"out has the shape \(4, 6\), but its array \(%d, %d\)" % shape
            with pytest.raises(tile_tune.ArrayError, match=words):
                einsum("ij,jk->ik", np.ones((4, 3)), np.ones((3, 6)), out=np.empty(shape))

    def test_element_types(self):
        for array in (np.ones(3, ">f4"), np.array(["a"]), np.ones(3, "f4,f4"), np.ones(3, np.longdouble)):
            with pytest.raises(tile_tune.DTypeError, match="kernels lack"):
                einsum("i->i", array)
        with pytest.raises(TypeError):
            einsum("i->i", [1.0])

    def test_arguments(self):
        for call in (lambda: einsum(), lambda: einsum(3, np.ones(3)), lambda: einsum("i->i"),
                     lambda: einsum("i->i", np.ones(3), optimize=True)):
            with pytest.raises(TypeError, match="einsum"):
                call()

    def test_read_only_outputs(self):
        out = np.zeros(3)
        out.flags.writeable = False
        with pytest.raises(tile_tune.ArrayError, match="may not be written"):
            einsum("i->i", np.ones(3), out=out)
        assert (out == 0).all()

    def test_overlapping_memory(self):
        a = np.arange(9.0).reshape(3, 3)
        with pytest.raises(tile_tune.ArrayError, match="overlap|over"):
            einsum("ij->ji", a, out=a)
        with pytest.raises(tile_tune.ArrayError):
            einsum("i->i", np.ones(3), out=np.lib.stride_tricks.as_strided(np.zeros(1), (3,), (0,)))

    def test_a_failed_call_leaves_no_trace(self):
        a = np.ones((2, 3))
        for _ in range(2):
            with pytest.raises(tile_tune.ArrayError):
                einsum("ij,jk->ik", a, a)
        np.testing.assert_array_equal(einsum("ij,kj->ik", a, a), np.full((2, 2), 3.0))
