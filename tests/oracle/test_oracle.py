"""The oracle itself: numbers against numpy, programs against results worked out by hand or by numpy."""

import math
import random
import unittest

import numpy as np

import expressions as e
import programs
import scalars as s
from kinds import KINDS


def bfloat16(x):
    """Through the bits of the float32, which must have x: to the nearest, of two the even one."""
    bits = int(np.float32(x).view(np.uint32))
    return float(np.uint32((bits + 0x7fff + (bits >> 16 & 1)) >> 16 << 16).view(np.float32))


def result(program, name="O"):
    kind, elements = programs.results(program)[name]
    return {place: value.lo if kind.is_float else value for place, value in elements.items()}


class Numbers(unittest.TestCase):
    def test_rounding(self):
        rng = np.random.default_rng(1)
        for bits in rng.integers(0, 1 << 32, 3000, dtype=np.uint32):
            x = float(bits.view(np.float32))
            if math.isfinite(x):
                with np.errstate(over="ignore"):
                    self.assertEqual(s.rounded(x, s.F16), float(np.float16(x)))
                self.assertEqual(s.rounded(x, s.BF16), bfloat16(x))
        for exponent in range(-160, 130):
            x = math.ldexp(float(rng.random()) + 0.5, exponent)
            with np.errstate(over="ignore"):
                self.assertEqual(s.rounded(x, s.F32), float(np.float32(x)))
            self.assertTrue(s.below(x, s.F32) <= x <= s.above(x, s.F32))

    def test_signs_of_zeros(self):
        one, zero, minus = s.point(1.0), s.point(0.0), s.point(-0.0)
        self.assertEqual(s.arithmetic("/", one, s.negative(zero), s.F32), s.point(-math.inf))
        self.assertEqual(s.arithmetic("/", one, s.magnitude(minus), s.F64), s.point(math.inf))
        self.assertTrue(s.arithmetic("*", zero, s.point(math.inf), s.F32).is_nan)
        self.assertEqual(math.copysign(1, s.with_sign_of(zero, s.point(-3.0)).lo), -1)
        least = s.extreme(min, zero, minus, False)
        self.assertTrue(least.holds(0.0) and least.holds(-0.0))
        self.assertFalse(zero.holds(-0.0))
        self.assertTrue(s.extreme(max, s.NAN, one, False).is_nan)
        self.assertEqual(s.extreme(max, s.NAN, one, True), one)

    def test_results_beyond_f32(self):
        large = s.point(3e19)
        root = s.function("sqrt", s.arithmetic("+", s.arithmetic("*", large, large, s.F32), s.point(1.0), s.F32), s.F32)
        self.assertTrue(root.holds(math.inf) and root.holds(float(np.float32(3e19))))
        self.assertFalse(root.holds(1e19) or root.holds(math.nan))

    def test_casts(self):
        for x, kind, expected in [(-1.9, s.U8, 0), (300.0, s.U8, 255), (-129.5, s.I8, -128), (math.nan, s.I32, 0),
                                  (math.inf, s.I64, (1 << 63) - 1), (-math.inf, s.U64, 0), (math.nan, s.BOOL, 1),
                                  (0.25, s.BOOL, 1), (-0.0, s.BOOL, 0), (2.0**31, s.I32, (1 << 31) - 1)]:
            self.assertEqual(s.converted(s.point(x), s.F64, kind), expected)
        self.assertEqual(s.converted(300, s.I32, s.I8), 44)
        self.assertEqual(s.converted(s.point(1e300), s.F64, s.F32), s.point(math.inf))
        self.assertEqual(s.converted((1 << 53) + 1, s.I64, s.F64).lo, 2.0**53)


class Programs(unittest.TestCase):
    def test_padded_sum_leaves_out(self):
        """x(h + k - 1) * w(k), zero beyond x, with infinite weights."""
        subscript = e.Affine({"h": 1, "k": 1}, -1)
        inside = e.Both("&&", [e.Comparison(subscript, ">=", e.Affine({}, 0)),
                               e.Comparison(subscript, "<", e.Affine({}, 3))])
        value = e.Arithmetic("*", e.Choice(inside, e.Read("x", [subscript]), e.Literal(0)), e.Read("w", [e.index("k")]))
        statement = programs.Statement("O", ["h"], "+", value, {"h": (0, 3), "k": (0, 3)}, ["h"])
        data = {"x": np.array([1.0, 2.0, 4.0]), "w": np.array([math.inf, 1.0, 3.0])}
        program = programs.Program("f", {"x": (s.F32, (3,)), "w": (s.F32, (3,))}, {"O": s.F32}, [statement], data)
        self.assertEqual(result(program), {(0,): 7.0, (1,): math.inf, (2,): math.inf})
        self.assertIn("((h + k - 1 >= 0 && h + k - 1 < 3) ? x(h + k - 1) : 0) * w(k)", program.text())

    def test_halves_round_once(self):
        a, b = e.Read("A", [e.index("i")]), e.Read("B", [e.index("i")])
        value = e.Arithmetic("-", e.Arithmetic("*", a, a), b)
        statement = programs.Statement("O", ["i"], "=", value, {"i": (0, 1)})
        x = 1 + 2.0**-7
        data = {"A": np.array([x]), "B": np.array([1 + 2.0**-6])}
        inputs = {"A": (s.BF16, (1,)), "B": (s.BF16, (1,))}
        self.assertEqual(result(programs.Program("f", inputs, {"O": s.BF16}, [statement], data)), {(0,): 2.0**-14})

    def test_products_and_einsum(self):
        for seed in range(40):
            program = KINDS["factored"](random.Random(seed))
            (statement,) = program.statements
            ((kind, elements),) = programs.results(program).values()
            if kind in (s.F16, s.BF16):
                continue
            factors = e.factors(statement.value)
            letters = ["".join(next(iter(one.terms)) for one in read.subscripts) for read in factors]
            arrays = [program.data[read.tensor].astype(np.float64) for read in factors]
            expected = np.einsum(f"{','.join(letters)}->{''.join(statement.subscripts)}", *arrays)
            for place, value in elements.items():
                x = expected[place]
                holds = value.lo <= x <= value.hi if kind.is_float else value == x
                self.assertTrue(holds, f"{seed} {place} {x} {value}")

    def test_gather_out_of_range(self):
        read = e.Read("T", [e.Arithmetic("-", e.Read("I", [e.index("b")]), e.Literal(1))])
        statement = programs.Statement("O", ["b"], "=", read, {"b": (0, 2)})
        data = {"T": np.array([5.0, 6.0]), "I": np.array([2, 0], dtype=object)}
        program = programs.Program("f", {"T": (s.F32, (2,)), "I": (s.I32, (2,))}, {"O": s.F32}, [statement], data)
        with self.assertRaises(e.OutOfRange) as raised:
            programs.results(program)
        self.assertEqual(raised.exception.args, ("T", -1))
        data["I"][1] = 1
        self.assertEqual(result(program), {(0,): 6.0, (1,): 5.0})

    def test_every_kind_is_drawn_alike(self):
        for kind, draw in KINDS.items():
            first, again = draw(random.Random(f"{kind} 3")), draw(random.Random(f"{kind} 3"))
            self.assertEqual(first.text(), again.text())


if __name__ == "__main__":
    unittest.main()
