"""What the kinds of programs draw from: numbers of a type, layouts, operands."""

import math

import numpy as np

import expressions as e
import scalars as s

NAMES = "ABCDEFG"
INDICES = "ijklmn"


def pick(rng, *choices):
    return rng.choice(choices)


def specials(kind):
    tiny = math.ldexp(1.0, kind.least - kind.digits + 1)
    return [0.0, -0.0, math.inf, -math.inf, math.nan, tiny, -tiny, math.ldexp(1.0, kind.least), kind.largest,
            -kind.largest, math.ldexp(-1.0, kind.least - 2)]


def number(rng, kind, plain=False):
    """One of moderate size; `plain`: so that sums of products are exact."""
    if kind == s.BOOL:
        return rng.randrange(2)
    if not kind.is_float:
        return max(rng.randint(-9, 9), kind.smallest)
    if plain:
        return rng.randint(-8, 8) / 2
    return s.rounded(math.ldexp(rng.uniform(-1, 1), rng.randint(-4, 3)), kind)


def array(rng, kind, shape, draw=None):
    draw = draw or (lambda: number(rng, kind))
    numbers = [draw() for _ in range(math.prod(shape))]
    return np.array(numbers, dtype=np.float64 if kind.is_float else object).reshape(shape)


def far(rng, kind):
    """Of any size that the type has: squares, inverses and exponentials of such numbers leave it."""
    x = math.ldexp(rng.uniform(1, 2), rng.randint(kind.least - 3, -kind.least))
    return s.rounded(rng.choice([x, -x]), kind)


def with_specials(rng, kind, shape, share, sizes=number):
    return array(rng, kind, shape, lambda: rng.choice(specials(kind)) if rng.random() < share else sizes(rng, kind))


def layouts(rng, names):
    """Options that store some tensors by columns, mostly none."""
    return [f"--layout={name}=col" for name in names if rng.random() < 0.15]


def extent(rng):
    """Mostly small and odd; now and then longer than a vector."""
    return rng.choice([1, 2, 3, 4, 5, 7, 9, 13, 17, 19])


def float_expression(rng, reads, depth, calls):
    """Of float reads, by the operations that IEEE rounds correctly or not at all, and `calls`."""
    if depth == 0 or rng.random() < 0.1:
        return rng.choice(reads)

    def inner():
        return float_expression(rng, reads, depth - 1, calls)
    what = rng.random()
    if what < 0.2:
        return e.Negative(inner())
    if what < 0.6:
        op = rng.choice("++--**/")
        left = e.Literal(rng.choice([1.0, 1.0, 2.0, 0.5, -1.0])) if rng.random() < 0.3 else inner()
        return e.Arithmetic(op, left, inner())
    if what < 0.7:
        test = e.Test(rng.choice(["<", "<=", ">", ">=", "==", "!="]), rng.choice(reads),
                      rng.choice(reads + [e.Literal(0.0), e.Literal(1.0)]))
        return e.Choice(test if rng.random() < 0.8 else e.IsNan(rng.choice(reads)), inner(), inner(),
                        rng.choice(["?:", "select"]))
    name = rng.choice(calls)
    return e.Call(name, [inner() for _ in range(2 if name in ("min", "max", "fmin", "fmax", "copysign") else 1)])


def shuffled(rng, parts):
    rng.shuffle(parts)
    return parts
