"""Element types, and numbers as far as the documents fix them: an interval of floats, or an exact integer.

A float that a program computes is known up to the roundings that docs/meaning.md leaves open, so every operation here
gives the interval in which its result lies, however the operation was rounded, fused or kept in more digits. Zeros have
signs: -0.0 lies below 0.0. An interval of one number is one that every way of computing it gives.
"""

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np


@dataclass(frozen=True)
class Type:
    name: str  # as TC spells it
    short: str  # as --dtype does
    kind: str  # b, i, u, f
    bits: int
    digits: int = 0  # of a float's significand
    least: int = 0  # exponent of its smallest normal number

    @property
    def is_float(self):
        return self.kind == "f"

    @property
    def largest(self):
        if not self.is_float:
            return 1 if self.kind == "b" else (1 << (self.bits - (self.kind == "i"))) - 1
        return math.ldexp(2.0 - math.ldexp(1.0, 1 - self.digits), 1 - self.least)

    @property
    def smallest(self):
        if self.is_float:
            return -self.largest
        return -(1 << (self.bits - 1)) if self.kind == "i" else 0

    @property
    def storage(self):
        return np.dtype({"f16": "<f2", "bf16": "<u2", "f32": "<f4", "f64": "<f8", "bool": "?"}.get(
            self.short, f"<{self.kind}{self.bits // 8}"))


BOOL = Type("bool", "bool", "b", 8)
I8, I16, I32, I64 = (Type(f"int{n}", f"i{n}", "i", n) for n in (8, 16, 32, 64))
U8, U16, U32, U64 = (Type(f"uint{n}", f"u{n}", "u", n) for n in (8, 16, 32, 64))
F16 = Type("float16", "f16", "f", 16, 11, -14)
BF16 = Type("bfloat16", "bf16", "f", 16, 8, -126)
F32 = Type("float", "f32", "f", 32, 24, -126)
F64 = Type("double", "f64", "f", 64, 53, -1022)
INTEGERS = (I8, I16, I32, I64, U8, U16, U32, U64)
FLOATS = (F16, BF16, F32, F64)


def computed_in(kind):
    """Halves are computed in f32."""
    return F32 if kind in (F16, BF16) else kind


def promoted(a, b):
    """The type in which operands of two types meet."""
    if a == b:
        return a
    if a.is_float and b.is_float:
        return F32 if a.bits == b.bits else max(a, b, key=lambda t: t.bits)
    if a.is_float or b.is_float:
        return a if a.is_float else b
    if BOOL in (a, b):
        return b if a == BOOL else a
    bits = max(a.bits, b.bits)
    signed = "i" in (a.kind, b.kind)
    return next(t for t in INTEGERS if t.bits == bits and (t.kind == "i") == signed)


def wrapped(number, kind):
    """An integer in the width of its type."""
    if kind == BOOL:
        return int(number != 0)
    number &= (1 << kind.bits) - 1
    return number - (1 << kind.bits) if kind.kind == "i" and number >> (kind.bits - 1) else number


def rounded(x, kind, how=round):
    """A float as the type has it: to the nearest, of two the even one; or by math.floor, math.ceil."""
    if x == 0 or math.isinf(x) or math.isnan(x):
        return x
    if kind == F64:
        return x
    toward_zero = (how is math.floor and x > 0) or (how is math.ceil and x < 0)
    beyond = math.copysign(kind.largest if toward_zero else math.inf, x)
    if abs(x) >= 2 * kind.largest:
        return beyond
    unit = max(math.frexp(x)[1] - kind.digits, kind.least - kind.digits + 1)
    result = math.ldexp(float(how(math.ldexp(x, -unit))), unit)
    return beyond if abs(result) > kind.largest else math.copysign(result, x)


def below(x, kind):
    """A bound of all that x rounds to: the next number of the type below it."""
    return math.nextafter(x, -math.inf) if kind == F64 and not math.isinf(x) else rounded(x, kind, math.floor)


def above(x, kind):
    return math.nextafter(x, math.inf) if kind == F64 and not math.isinf(x) else rounded(x, kind, math.ceil)


class Undecided(Exception):
    """The documents allow several results, and no interval holds them."""


def key(x):
    """In the order of numbers, -0.0 before 0.0."""
    return (x, math.copysign(1.0, x))


@dataclass(frozen=True)
class Span:
    """Every number from lo to hi, and NaN if `nan`; lo is None where NaN is all."""
    lo: float | None
    hi: float | None
    nan: bool = False

    @property
    def is_point(self):
        return not self.nan and key(self.lo) == key(self.hi)

    @property
    def is_nan(self):
        return self.lo is None

    def holds(self, x):
        if math.isnan(x):
            return self.nan
        return self.lo is not None and key(self.lo) <= key(x) <= key(self.hi)

    def may_be(self, x):
        """Whatever a zero's sign."""
        return self.lo is not None and self.lo <= x <= self.hi

    def __str__(self):
        if self.lo is None:
            return "NaN"
        numbers = f"{self.lo!r}" if key(self.lo) == key(self.hi) else f"{self.lo!r} to {self.hi!r}"
        return numbers + (" or NaN" if self.nan else "")


NAN = Span(None, None, True)


def point(x):
    return NAN if math.isnan(x) else Span(x, x)


def span(candidates, nan=False):
    """The smallest that holds these numbers; a NaN among them counts as one."""
    numbers = [x for x in candidates if not math.isnan(x)]
    nan = nan or len(numbers) < len(candidates)
    if not numbers:
        return NAN
    return Span(min(numbers, key=key), max(numbers, key=key), nan)


def hull(a, b):
    return span([x for s in (a, b) if s.lo is not None for x in (s.lo, s.hi)], a.nan or b.nan)


def outward(s, kind, ulps=0):
    """What a result within the span may be rounded to, and where it is not exact `ulps` more."""
    if s.lo is None or (s.is_point and (s.lo == 0 or math.isinf(s.lo))):
        return s
    lo, hi = below(s.lo, kind), above(s.hi, kind)
    for _ in range(ulps):
        lo, hi = step(lo, kind, -1), step(hi, kind, 1)
    return Span(lo, hi, s.nan)


def step(x, kind, direction):
    """The next number of the type in this direction."""
    if math.isinf(x):
        return x
    if kind == F64:
        return math.nextafter(x, direction * math.inf)
    unit = math.ldexp(1.0, max(math.frexp(x)[1] - kind.digits, kind.least - kind.digits + 1))
    result = rounded(x + direction * unit, kind)
    return result if result != 0 else math.copysign(0.0, x if x != 0 else direction)


def of(number, kind):
    """An input or a constant."""
    return point(float(number)) if kind.is_float else int(number)


def stored(value, kind):
    """A statement's result, rounded once."""
    if not kind.is_float:
        return wrapped(value, kind)
    if value.lo is None:
        return value
    return Span(rounded(value.lo, kind), rounded(value.hi, kind), value.nan)


# Arithmetic.

def is_exact(op, a, b, r):
    if math.isinf(r):
        return math.isinf(a) or math.isinf(b) or (op == "/" and b == 0)
    if r == 0 and op in "*/":
        return a == 0 or (op == "/" and math.isinf(b))
    fraction = {"+": lambda x, y: x + y, "-": lambda x, y: x - y, "*": lambda x, y: x * y}.get(op)
    if op == "/":
        return math.isinf(b) or Fraction(r) * Fraction(b) == Fraction(a)
    return fraction(Fraction(a), Fraction(b)) == Fraction(r)


def plain(op, a, b):
    """As IEEE has it."""
    if op == "/" and b == 0:
        return math.nan if a == 0 or math.isnan(a) else math.copysign(math.inf, a) * math.copysign(1.0, b)
    return {"+": lambda: a + b, "-": lambda: a - b, "*": lambda: a * b, "/": lambda: a / b}[op]()


def power_of_two(x):
    return x != 0 and not math.isinf(x) and abs(math.frexp(x)[0]) == 0.5


def arithmetic(op, a, b, kind):
    if a.is_nan or b.is_nan:
        return NAN
    if a.is_point and b.is_point:
        r = plain(op, a.lo, b.lo)
        if math.isnan(r) or (math.isinf(r) and is_exact(op, a.lo, b.lo, r)):
            return point(r)
        if rounded(r, kind) == r and is_exact(op, a.lo, b.lo, r) and (op != "/" or r == 0 or power_of_two(b.lo)):
            return point(r)
        return outward(Span(r, r), kind, 1 if op == "/" else 0)
    nan = a.nan or b.nan or may_be_nan(op, a, b)
    if (op == "*" and nan and may_be_nan(op, a, b)) or (op == "/" and key(b.lo) <= key(0.0) and key(b.hi) >= key(-0.0)):
        return Span(-math.inf, math.inf, nan)
    corners = [plain(op, x, y) for x in (a.lo, a.hi) for y in (b.lo, b.hi)]
    known = [x for x in corners if not math.isnan(x)] or [-math.inf, math.inf]
    return outward(span(known, nan), kind, 1 if op == "/" else 0)


def may_be_nan(op, a, b):
    def infinite(s, sign=0):
        return (sign >= 0 and s.hi == math.inf) or (sign <= 0 and s.lo == -math.inf)
    if op in "+-":
        flip = -1 if op == "-" else 1
        return (infinite(a, 1) and infinite(b, -flip)) or (infinite(a, -1) and infinite(b, flip))
    if op == "*":
        return (a.may_be(0) and infinite(b)) or (b.may_be(0) and infinite(a))
    return (a.may_be(0) and b.may_be(0)) or (infinite(a) and infinite(b))


def negative(a):
    return a if a.lo is None else Span(-a.hi, -a.lo, a.nan)


def magnitude(a):
    if a.lo is None:
        return a
    if key(a.lo) >= key(0.0):
        return a
    if key(a.hi) <= key(-0.0):
        return negative(a)
    return Span(0.0, max(-a.lo, a.hi), a.nan)


def with_sign_of(a, b):
    size = magnitude(a)
    if size.lo is None:
        return size
    if not b.nan and key(b.lo) >= key(0.0):
        return size
    if not b.nan and key(b.hi) <= key(-0.0):
        return negative(size)
    return hull(size, negative(size))


def either_zero(s):
    """Which zero min and max give of two is not said."""
    if s.lo is None:
        return s
    return Span(-0.0 if s.lo == 0 else s.lo, 0.0 if s.hi == 0 else s.hi, s.nan)


def extreme(pick, a, b, ignores_nan):
    if a.is_nan or b.is_nan:
        return (b if a.is_nan else a) if ignores_nan else NAN
    best = Span(pick(a.lo, b.lo, key=key), pick(a.hi, b.hi, key=key), a.nan or b.nan)
    if a.lo == b.lo == 0 or a.hi == b.hi == 0 or a.lo == b.hi == 0 or a.hi == b.lo == 0:
        best = either_zero(best)
    if ignores_nan and best.nan:
        best = hull(hull(best, Span(a.lo, a.hi)) if b.nan else best, Span(b.lo, b.hi) if a.nan else best)
        return Span(best.lo, best.hi, a.nan and b.nan)
    return best


def less(a, b):
    if a.is_nan or b.is_nan:
        return False
    if a.nan or b.nan:
        raise Undecided
    if a.hi < b.lo:
        return True
    if a.lo >= b.hi:
        return False
    raise Undecided


def equal(a, b):
    if a.is_nan or b.is_nan:
        return False
    if a.nan or b.nan:
        raise Undecided
    if a.lo == a.hi == b.lo == b.hi:
        return True
    if a.hi < b.lo or b.hi < a.lo:
        return False
    raise Undecided


# Functions of one float.

def whole(how):
    def apply(x):
        return x if x == 0 or math.isinf(x) else math.copysign(float(how(x)), x)
    return apply


def away(x):
    return math.copysign(math.floor(abs(x) + 0.5) if abs(x) < 1 << 52 else abs(x), x)


def guarded(function, at_overflow=math.inf):
    def apply(x):
        try:
            return function(x)
        except OverflowError:
            return at_overflow
        except ValueError:
            return math.nan
    return apply


def logarithm(x):
    return -math.inf if x == 0 else math.log(x) if x > 0 else math.nan


EXACT = {"floor": whole(math.floor), "ceil": whole(math.ceil), "trunc": whole(math.trunc), "round": whole(away)}
RISING = {"sqrt": lambda x: x if x == 0 else guarded(math.sqrt)(x), "exp": guarded(math.exp), "log": logarithm,
          "tanh": math.tanh, "atan": math.atan}


def function(name, a, kind):
    if a.is_nan:
        return a
    if name in EXACT:
        return span([EXACT[name](a.lo), EXACT[name](a.hi)], a.nan)
    low, high = RISING[name](a.lo), RISING[name](a.hi)
    nan = a.nan or math.isnan(low)
    if math.isnan(high):
        return NAN
    least = {"sqrt": -0.0, "log": -math.inf}.get(name)  # where its domain begins
    return outward(Span(least if math.isnan(low) else low, high, nan), kind, 5)


# Conversions between types.

def converted(value, source, target):
    if source.is_float and target.is_float:
        return cast_to_float(value, target) if target.bits < computed_in(source).bits else value
    if source.is_float:
        return to_integer(value, target)
    if target.is_float:
        return cast_to_float(Span(float_below(value), float_above(value)), target)
    return wrapped(value, target)


def cast_to_float(s, target):
    """A cast rounds once; the operand's own digits are known up to its span."""
    if s.lo is None:
        return s
    ends = [rounded(x, target) for x in (s.lo, s.hi)]
    if target in (F16, BF16):  # or through f32, in which halves are computed
        ends += [rounded(rounded(x, F32), target) for x in (s.lo, s.hi)]
    return span(ends, s.nan)


def float_below(number):
    x = float(number)
    return x if int(x) <= number else math.nextafter(x, -math.inf)


def float_above(number):
    x = float(number)
    return x if int(x) >= number else math.nextafter(x, math.inf)


def to_integer(s, target):
    """Truncates, saturates; NaN is 0, of bool true."""
    if target == BOOL:
        if s.is_nan:
            return 1
        if s.lo == 0 == s.hi and not s.nan:
            return 0
        if not s.may_be(0):
            return 1
        raise Undecided
    if s.is_nan:
        return 0
    ends = {saturated(x, target) for x in (s.lo, s.hi)} | ({0} if s.nan else set())
    if len(ends) > 1:
        raise Undecided
    return ends.pop()


def saturated(x, target):
    if math.isinf(x):
        return target.largest if x > 0 else target.smallest
    return min(max(math.trunc(x), target.smallest), target.largest)


# Bit patterns of bfloat16, which numpy lacks.

def to_storage(numbers, kind):
    """Numbers that the type has, as numpy stores them."""
    if kind == BF16:
        return (np.asarray(numbers, dtype=np.float32).view(np.uint32) >> 16).astype(np.uint16)
    return np.asarray(numbers).astype(kind.storage)


def from_storage(array, kind):
    if kind == BF16:
        return (array.astype(np.uint32) << 16).view(np.float32).astype(np.float64)
    return array.astype(np.float64) if kind.is_float else array
