"""The Tile eDSL in Python: the document's functions, what C++ makes of the same, and misuse."""

import functools
from pathlib import Path

import numpy as np
import pytest

import document
import tile_tune
from tile_tune import edsl, tc
from tile_tune.edsl import Placeholder, Program, TensorDim, TensorDims, TensorIndex, TensorIndexes, TensorOutput

# Name in the C++ tests, the function, and the shapes of its tensors there.
EXAMPLES = {
    "sum": (document.sum_over_axis, [(5, 7)]),
    "max_negative": (document.max_over_axis, [(5, 3)]),
    "matmul": (document.matmul, [(5, 7), (7, 3)]),
    "global_min": (document.global_min, [(5, 3, 2)]),
    "avg": (document.avg, [(5, 7)]),
    "avg_stages": (document.avg_stages, [(5, 7)]),
    "avg_merge": (document.avg_merge, [(5, 7)]),
    "wrong_max_pool_7": (document.wrong_max_pool_1d, [(7,)]),
    "max_pool_up_7": (document.max_pool_1d, [(7,)]),
    "skip": (document.skip, [(6, 7)]),
    "csum": (document.csum, [(11,)]),
    "conv_1d": (document.conv_1d, [(2, 9, 2), (3, 2, 3)]),
    "conv_2d_dilated": (document.conv_2d_dilated, [(1, 9, 11, 2), (3, 2, 2, 3)]),
    "complex_conv_2d_22": (functools.partial(document.complex_conv_2d, s0=2, s1=3, d0=2, d1=1),
                           [(1, 9, 7, 2, 2), (3, 2, 2, 2, 3)]),
}


def convolution(x, w, strides, dilations):
    """Of one group, (n, x, y, ci) with (kx, ky, ci, co), outputs as many as are asked for; by loops."""
    n, *sizes, _ = x.shape
    k = w.shape[:2]
    outputs = [(size + s - 1) // s for size, s in zip(sizes, strides)]
    pads = [((y - 1) * s + d * (kk - 1) + 1 - size) // 2
            for y, s, d, kk, size in zip(outputs, strides, dilations, k, sizes)]
    result = np.zeros((n, *outputs, w.shape[-1]))
    for place in np.ndindex(*outputs, *k):
        at = [s * p + d * kk - pad for s, p, d, kk, pad in zip(strides, place[:2], dilations, place[2:], pads)]
        if all(0 <= a < size for a, size in zip(at, sizes)):
            result[:, place[0], place[1]] += x[:, at[0], at[1]] @ w[place[2], place[3]]
    return result


def padded_pairs(x):
    return np.append(x, x[-1]).reshape(-1, 2).max(axis=1)


EXPECTED = {
    "sum": lambda x: x.sum(0),
    "max_negative": lambda x: x.max(0),
    "matmul": lambda a, b: a @ b,
    "global_min": lambda x: x.min(),
    "avg": lambda x: x.mean(0),
    "avg_stages": lambda x: x.mean(),
    "avg_merge": lambda x: x.mean(),
    "wrong_max_pool_7": lambda x: np.full(3, x.max()),
    "max_pool_up_7": padded_pairs,
    "skip": lambda x: np.array([x[i].sum() if i % 2 == 0 and i < 6 else 0 for i in range(7)]),
    "csum": np.cumsum,
    "conv_1d": lambda x, w: sum(x[:, k:k + 7] @ w[k] for k in range(3)),
    "conv_2d_dilated": lambda x, w: sum(x[:, 2 * i:2 * i + 5, 3 * j:3 * j + 8] @ w[i, j]
                                        for i in range(3) for j in range(2)),
    "complex_conv_2d_22": lambda x, w: np.stack([convolution(x[..., g, :], w[:, :, g], (2, 3), (2, 1))
                                                 for g in range(2)], axis=3),
}


def program_of(name):
    write, shapes = EXAMPLES[name]
    return edsl.program(write, *(("float32", shape) for shape in shapes), name="example")


@pytest.mark.parametrize("name", EXAMPLES)
def test_the_document_computes_what_numpy_does(name, random):
    write, shapes = EXAMPLES[name]
    arrays = [(random.integers(-6, 7, shape) - 7).astype(np.float32) for shape in shapes]
    result = edsl.function(write)(*arrays)
    np.testing.assert_allclose(result, EXPECTED[name](*(array.astype(np.float64) for array in arrays)), rtol=1e-6)


@pytest.mark.parametrize("name", EXAMPLES)
def test_it_is_the_program_that_cpp_makes(name):
    """tests/unit/edsl compares the same file with what C++ makes."""
    file = Path(__file__).parents[2] / "tests" / "golden" / "edsl" / "document_hashes.txt"
    hashes = dict(line.split() for line in file.read_text().splitlines())
    assert program_of(name).content_hash == hashes[name]


def test_avg_as_typed_is_an_error_at_its_line():
    with pytest.raises(tile_tune.Error) as caught:
        edsl.program(document.avg_as_typed, ("float32", (5, 7)))
    line = Path(document.__file__).read_text().splitlines()[caught.value.lineno - 1]
    assert caught.value.code == "rank-mismatch" and line == "  Sum[y] += I[x, y]"
    assert caught.value.filename == document.__file__
    assert f"{document.__file__}:{caught.value.lineno}:" in str(caught.value)


class TestSurface:
    def test_aggregations_by_operator_and_by_name(self):
        def by_operator(op):
            I, O, i, j = Placeholder("f32", [3, 1], "I"), TensorOutput(3), TensorIndex("i"), TensorIndex()
            if op == "sum":
                O[i] += I[i, j]
            elif op == "product":
                O[i] *= I[i, j]
            elif op == "max":
                O[i] >= I[i, j]
            elif op == "min":
                O[i] <= I[i, j]
            else:
                O[i] = I[i, j]
            return Program("p", [I], {"O": O}).content_hash

        def by_name(op):
            I, O, i, j = Placeholder("f32", [3, 1], "I"), TensorOutput(3), TensorIndex(), TensorIndex()
            getattr(O[i], op)(I[i, j]) if op != "assign" else O.__setitem__(i, I[i, j])
            return Program("p", [I], {"O": O}).content_hash

        operations = ["sum", "product", "max", "min", "assign"]
        assert [by_operator(op) for op in operations] == [by_name(op) for op in operations]
        assert len({by_operator(op) for op in operations}) == 5

    def test_sums_and_products_of_several(self, random):
        @edsl.function
        def both(A, B, C):
            I, J = TensorDims(2)
            i, j = TensorIndexes(2)
            A.bind_dims(I, J)
            P, S = TensorOutput(I), TensorOutput(J)
            P[i] += A[i, j] * B[j] * C[i]
            S[j] += A[i, j] + B[j] + C[i]
            return P, S

        a, b, c = (random.integers(-5, 6, shape).astype(np.float64) for shape in [(3, 5), (5,), (3,)])
        products, sums = both(a, b, c)
        np.testing.assert_array_equal(products, (a * b * c[:, None]).sum(1))
        np.testing.assert_array_equal(sums, (a + b + c[:, None]).sum(0))

    def test_dims(self):
        N = TensorDim(7)
        assert [int(d) for d in (N + 1, 1 + N, N - 1, 10 - N, N * 2, 2 * N, N // 2, 15 // N, -N)] == \
            [8, 8, 6, 3, 14, 14, 3, 2, -7]
        assert list(range(N)) == list(range(7)) and repr(N) == "TensorDim(7)" and not TensorDim().is_bound

    def test_indices(self):
        i, j = TensorIndex("i"), TensorIndex("j")
        assert repr((2 * i + j - 3) / 2) == "(2*i + j - 3)/2"
        assert repr(i - j < 5) == "i - j < 5"

    def test_remainders(self, random):
        """Around a circle of odd length, also before its beginning; whole numbers, so that sums are exact."""
        @edsl.function
        def circular(I, K):
            N, M = TensorDims(2)
            i, j = TensorIndexes(2)
            I.bind_dims(N)
            K.bind_dims(M)
            O, R = TensorOutput(N), TensorOutput(3)
            O[i] += I[(i - j) % N] * K[j]
            R[i % 3] += I[i]
            return O, R

        x, k = (random.integers(-9, 9, n).astype(np.float32) for n in (7, 4))
        values, residues = circular(x, k)
        np.testing.assert_array_equal(values, sum(np.roll(x, j) * k[j] for j in range(4)))
        np.testing.assert_array_equal(residues, [x[r::3].sum() for r in range(3)])
        for divisor in (0, -2):
            with pytest.raises(tile_tune.ProgramError, match="positive whole number"):
                TensorIndex() % divisor
        with pytest.raises(tile_tune.ProgramError, match="divide by an index variable"):
            7 % TensorIndex()

    def test_functions_and_operators_on_elements(self, random):
        x = random.uniform(0.5, 2, (3, 4)).astype(np.float32)
        y = random.uniform(0.5, 2, (4,)).astype(np.float32)

        def check(write, expected):
            np.testing.assert_allclose(edsl.function(write)(x, y), expected, rtol=3e-6, atol=1e-6)

        check(lambda A, B: A + B * 2 - 1 / A, x + y * 2 - 1 / x)
        check(lambda A, B: edsl.select(A < B, -A, 3.5), np.where(x < y, -x, 3.5))
        check(lambda A, B: edsl.select((A >= B) != (A == 1), A, B), np.maximum(x, y))
        check(lambda A, B: edsl.pow(A, B), x ** y)
        check(lambda A, B: edsl.max(A, B) + edsl.min(A, 1), np.maximum(x, y) + np.minimum(x, 1))
        check(lambda A, B: edsl.cast(edsl.cast(A, "int32"), np.float32), np.trunc(x))
        for name in "exp log sin cos tan tanh sqrt abs floor ceil".split():
            check(lambda A, B: getattr(edsl, name)(A), getattr(np, name)(x))
        check(lambda A, B: edsl.sigmoid(A) + edsl.relu(-B), 1 / (1 + np.exp(-x)) + 0 * y)

    def test_use_default_and_constraints(self):
        @edsl.function
        def shifted(I, D):
            N = TensorDim()
            i, j = TensorIndexes(2)
            I.bind_dims(N)
            O = TensorOutput(N)
            O[i + 1] = I[i]
            O.use_default(D)
            O.add_constraints([i < 2])
            return O

        np.testing.assert_array_equal(shifted(np.arange(4.0), np.float64(-1).reshape(())), [-1, 0, 1, -1])

    def test_lists_of_dims_and_indices(self):
        I = Placeholder(np.float32, (2, 3), "I")
        X, x = TensorDims(2), TensorIndexes(2)
        I.bind_dims(list(X))
        O = TensorOutput(list(X))
        O[x] += I[x]
        assert O.shape == (2, 3) and O.dtype == "float32"

    def test_a_program_is_saved_as_the_command_line_reads_it(self, tmp_path):
        program = program_of("matmul")
        program.save(tmp_path / "matmul.json")
        assert (tmp_path / "matmul.json").read_text() == program.json()
        assert repr(program).startswith("example(float(5,7) A, float(7,3) B) -> (float(5,3) output)")

    def test_a_function_takes_constants_by_name(self):
        @edsl.function(factor=3)
        def scaled(I, factor, offset=0):
            return I * factor + offset

        np.testing.assert_array_equal(scaled(np.arange(3)), [0, 3, 6])
        np.testing.assert_array_equal(scaled(np.arange(3), offset=1), [1, 4, 7])
        np.testing.assert_array_equal(scaled(np.arange(3.0)), [0, 3, 6])


class TestMisuse:
    def raises(self, code, work):
        with pytest.raises(tile_tune.Error) as caught:
            work()
        assert caught.value.code == code and caught.value.filename == __file__
        return caught.value

    def test_a_dim_that_stands_twice(self):
        I, K = Placeholder("f32", [3, 4], "I"), TensorDim()
        error = self.raises("size-conflict", lambda: I.bind_dims(K, K))
        assert "I, dimension 1: its size is 4, but the dim given for it is 3" in str(error)

    def test_dims_without_a_value(self):
        self.raises("unbound-dim", lambda: TensorOutput(TensorDim()))
        self.raises("unbound-dim", lambda: TensorDim() + 1)
        self.raises("unbound-dim", lambda: int(TensorDim()))

    def test_outputs(self):
        I, O, i = Placeholder("f32", [3], "I"), TensorOutput(3), TensorIndex()
        O[i] += I[i]
        self.raises("second-contraction", lambda: O[i].sum(I[i]))
        self.raises("never-written", lambda: -TensorOutput(3))
        self.raises("not-an-output", lambda: I.add_constraint(i < 3))

    def test_an_index_without_bounds(self):
        A, P, i, j = Placeholder("f32", [3, 3], "A"), TensorOutput(), TensorIndex("i"), TensorIndex("j")
        P[()] += A[i + j, i + j]
        with pytest.raises(tile_tune.ProgramError, match="no bounds|unbounded"):
            Program("p", [A], {"P": P})

    def test_python_types(self):
        i, I, O = TensorIndex(), Placeholder("f32", [3], "I"), TensorOutput(3)
        for work in (lambda: I["x"], lambda: I + "x", lambda: i + 1.5, lambda: O.__setitem__(i, 3), lambda: bool(i < 3),
                     lambda: bool(I == I), lambda: TensorOutput(1.5), lambda: edsl.exp("x")):
            with pytest.raises(TypeError):
                work()
        with pytest.raises(tile_tune.DTypeError, match="'float33' is no element type"):
            Placeholder("float33", [3], "I")
        with pytest.raises(OverflowError):
            i + 2 ** 70
        with pytest.raises(MemoryError):
            TensorDims(2 ** 60)
        with pytest.raises(ValueError):
            TensorDims(-1)
        with pytest.raises(TypeError, match="operand"):
            I + np.ones(4)
        with pytest.raises(TypeError, match="nothing is to return a tensor or a tuple of them, not None"):
            def nothing(I):
                pass
            edsl.program(nothing, ("float32", (3,)))

    def test_numbers_of_numpy_are_weak_scalars(self):
        double = edsl.function(lambda I: np.float64(2) * I * np.float32(1) + np.float16(0.5))
        result = double(np.arange(3, dtype=np.float32))
        assert result.dtype == np.float32 and result.tolist() == [0.5, 2.5, 4.5]


def test_errors_and_warnings_are_placed_where_the_caller_is():
    with pytest.raises(tile_tune.ProgramError) as caught:
        edsl.program(lambda I: TensorOutput(3), ("float32", (3,)))
    assert caught.value.filename == __file__
    with pytest.warns(tile_tune.CompilerWarning) as warned:
        tc.define("def f(float(N) A, float(N) B) -> (o) { o(i) = A(i) }")
    assert {one.filename for one in warned} == {__file__}


def test_functions_are_parts_of_others(random):
    @edsl.function
    def twice(I):
        return 2 * I

    x = random.integers(-9, 9, 5).astype(np.float32)
    assert edsl.function(lambda I: twice(I) + 1)(x).tolist() == (2 * x + 1).tolist() and twice(x).tolist() == (2 * x).tolist()


def test_tensors_are_no_sequences():
    def write(I):
        with pytest.raises(TypeError, match="not iterable"):
            list(I)
        return I

    edsl.program(write, ("float32", (3,)))
