"""Reads that are guarded by a condition, and reads whose index is data."""

import itertools
import math

import expressions as e
import scalars as s
from draws import array, layouts, shuffled
from programs import Program, Statement


class Dimension:
    """One that a window slides over: its elements scale * h + dilation * k - pad, h in 0:outputs, k in 0:window."""

    def __init__(self, rng, number, windowed):
        self.h, self.k = f"h{number}", f"k{number}" if windowed else ""
        self.size = f"N{number}" if rng.random() < 0.5 else ""
        self.extent, self.window = rng.choice([1, 2, 3, 5, 8, 11, 17]), rng.choice([1, 2, 3, 3, 5]) if windowed else 1
        self.pad, self.outputs = rng.randint(0, 3), rng.choice([1, 3, 5, 8, 13, 20])
        terms = {self.h: rng.choice([1, 1, 1, 2])} | ({self.k: rng.choice([1, 1, 2])} if windowed else {})
        self.subscript = e.Affine(terms, -self.pad)

    @property
    def ranges(self):
        return {self.h: (0, self.outputs)} | ({self.k: (0, self.window)} if self.k else {})

    def end(self, offset):
        return e.Affine({}, offset, self.size) if self.size else e.Affine({}, self.extent + offset)

    def bounds(self, rng, slip):
        """The comparisons that say: inside. With a slip of one the first or the last element beyond passes for that."""
        low, high = int(slip == "low"), int(slip == "high")
        plain = e.Affine(self.subscript.terms, 0)
        lower = [e.Comparison(self.subscript, ">=", e.Affine({}, -low)),
                 e.Comparison(e.Affine({}, -low), "<=", self.subscript),
                 e.Comparison(self.subscript, ">", e.Affine({}, -1 - low)),
                 e.Comparison(plain, ">=", e.Affine({}, self.pad - low))]
        upper = [e.Comparison(self.subscript, "<", self.end(high)),
                 e.Comparison(self.subscript, "<=", self.end(high - 1)),
                 e.Comparison(self.end(high), ">", self.subscript),
                 e.Comparison(plain, "<", self.end(self.pad + high))]
        both = [rng.choice(lower), rng.choice(upper)]
        holds = [one for one in both if all(one.at(dict(zip(self.ranges, place)), {self.size: self.extent}) for place in
                                            itertools.product(*(range(*each) for each in self.ranges.values())))]
        return [one for one in both if one not in holds] or both if rng.random() < 0.3 and not slip else both


OPPOSITE = {"<": ">=", "<=": ">", ">": "<=", ">=": "<"}


def choice(rng, comparisons, read, other):
    """The guarded read, spelled in one of the ways there are."""
    spelled = rng.choice(["?:", "select"])
    form = rng.choice(["and", "and", "not", "or", "nested", "more"])
    if form == "or":
        outside = e.Both("||", [e.Comparison(one.left, OPPOSITE[one.op], one.right) for one in comparisons])
        return e.Choice(outside, other, read, spelled)
    if form == "not":
        return e.Choice(e.Not(e.Both("&&", comparisons)), other, read, spelled)
    if form == "nested":
        result = read
        for one in comparisons:
            result = e.Choice(one, result, other, spelled)
        return result
    if form == "more":  # a condition that asks for more than it must
        first = next(iter(comparisons[0].left.terms or comparisons[0].right.terms))
        further = e.Both("||", [e.Comparison(e.index(first), "!=", e.Affine({}, 1)),
                                e.Comparison(e.index(first), ">", e.Affine({}, 4))])
        return e.Choice(e.Both("&&", [*comparisons, further]), read, other, spelled)
    return e.Choice(e.Both("&&", comparisons), read, other, spelled)


def unguarded(rng):
    """A condition on data guards no read: it must be inside for every index."""
    extent, pad = rng.choice([1, 3, 8]), rng.randint(1, 3)
    inputs = {"x": (s.F32, (extent,)), "y": (s.F32, (extent,))}
    condition = e.Test(rng.choice("<>"), e.Read("y", [e.index("h")]), e.Literal(0.0))
    value = e.Choice(condition, e.Read("x", [e.index("h", rng.choice([-pad, pad]))]), e.Literal(0.0))
    statement = Statement("O", ["h"], "=", value, {"h": (0, extent)}, ["h"])
    data = {name: array(rng, one, shape) for name, (one, shape) in inputs.items()}
    return Program("f", inputs, {"O": s.F32}, [statement], data, expect="refused")


def stencil(rng):
    """Neighbours of an element, where there are any."""
    kind = rng.choice([s.F32, s.F64, s.F16, s.I32])
    extent, columns = rng.choice([1, 2, 3, 7, 16, 19]), rng.choice([1, 4, 9])
    inputs = {"x": (kind, (extent, columns))}
    value = e.Read("x", [e.index("i"), e.index("j")])
    for offset in rng.sample([-3, -2, -1, 1, 2, 4], rng.randint(1, 3)):
        there = e.Read("x", [e.index("i", offset), e.index("j")])
        edge = e.Read("x", [e.Affine({}, 0 if offset < 0 else extent - 1), e.index("j")])
        first, end = max(0, -offset), extent - max(0, offset)
        outside = [i for i in range(extent) if not first <= i < end]
        if len(outside) < 3 and rng.random() < 0.4 and outside:
            condition = e.Both("&&", [e.Comparison(e.index("i"), "!=", e.Affine({}, one)) for one in outside])
        else:
            op, border = (">=", first) if offset < 0 else ("<", end)
            condition = e.Comparison(e.index("i"), op, e.Affine({}, border))
        other = rng.choice([e.Literal(0), e.Literal(2), edge])
        neighbour = e.Choice(condition, there, other, rng.choice(["?:", "select"]))
        value = (e.Arithmetic(rng.choice("+-"), value, neighbour) if rng.random() < 0.8 else
                 e.Call("max", [value, neighbour]))
    ranges = {"i": (0, extent), "j": (0, columns)}
    reduce = rng.choice([None, None, "+", "max"]) if kind != s.I32 else None
    statement = Statement("O", ["j"] if reduce else ["i", "j"], reduce or "=", value, ranges)
    return Program("f", inputs, {"O": kind}, [statement], {"x": array(rng, kind, (extent, columns))},
                   options=layouts(rng, ["x", "O"]))


def triangle(rng):
    """A part of a matrix times a vector, which may be infinite where the part ends."""
    kind, n = rng.choice([s.F32, s.F64]), rng.choice([1, 3, 5, 8, 17])
    inputs = {"A": (kind, (n, n)), "x": (kind, (n,))}
    condition = e.Comparison(e.index("j"), rng.choice(["<=", "<", ">", ">=", "!="]), e.index("i", rng.randint(-1, 2)))
    part = e.Choice(condition, e.Read("A", [e.index("i"), e.index("j")]), e.Literal(0), rng.choice(["?:", "select"]))
    value = e.product(shuffled(rng, [part, e.Read("x", [e.index("j")])]))
    statement = Statement("O", ["i"], "+", value, {"i": (0, n), "j": (0, n)}, ["i", "j"])
    data = {name: array(rng, one, shape) for name, (one, shape) in inputs.items()}
    if rng.random() < 0.5:
        data["x"][rng.randrange(n)] = math.inf
    return Program("f", inputs, {"O": kind}, [statement], data, options=layouts(rng, ["A", "x"]))


def guarded(rng):
    draw = rng.random()
    make = unguarded if draw < 0.05 else stencil if draw < 0.2 else triangle if draw < 0.3 else window
    return make(rng)


def window(rng):
    kind = rng.choice([s.F32, s.F32, s.F64, s.F16, s.I32])
    use = rng.choice(["factor", "factor", "around", "value", "extreme", "assigned"])
    dimensions = [Dimension(rng, number, use != "assigned") for number in range(rng.choice([1, 1, 2]))]
    sizes = {one.size: one.extent for one in dimensions if one.size}
    channel = rng.choice([0, 0, 1, 3, 4])
    subscripts = [one.subscript for one in dimensions] + ([e.index("c")] if channel else [])
    inputs = {"x": (kind, tuple(one.extent for one in dimensions) + ((channel,) if channel else ()))}
    named = {"x": [one.size or one.extent for one in dimensions] + ([channel] if channel else [])}
    ranges = dict(itertools.chain(*[one.ranges.items() for one in dimensions]))
    ranges |= {"c": (0, channel)} if channel else {}
    slip = rng.choice(["low", "high"]) if rng.random() < 0.2 else ""
    comparisons = list(itertools.chain(*[one.bounds(rng, slip if one is dimensions[0] else "") for one in dimensions]))
    read = e.Read("x", subscripts)
    outputs = [one.h for one in dimensions] + (["c"] if channel and rng.random() < 0.5 else [])
    windows = [one.k for one in dimensions if one.k]
    if use in ("factor", "around"):
        inputs["w"] = (kind, tuple(one.window for one in dimensions))
    other = e.Literal(0) if use in ("factor", "around") else other_branch(rng, kind, inputs)
    weight = e.Read("w", [e.index(one) for one in windows])
    value = {"factor": lambda: e.product(shuffled(rng, [choice(rng, comparisons, read, other), weight])),
             "around": lambda: choice(rng, comparisons, e.Arithmetic("*", read, weight), other)}.get(
                 use, lambda: choice(rng, comparisons, read, other))()
    if use == "value" and rng.random() < 0.5 and kind.is_float:
        value = e.Arithmetic("+", e.Call("fabs", [value]), e.Literal(1.0))
    op = {"extreme": rng.choice(["max", "min"]), "assigned": "="}.get(use, "+")
    if op == "=":
        outputs = [one.h for one in dimensions] + (["c"] if channel else [])
    # A read under a condition does not bound what the condition mentions.
    written = [i for i in ranges if i != "c" and (i not in windows or use != "factor")]
    if channel and (slip or rng.random() < 0.3):
        written.append("c")
    statement = Statement("O", outputs, op, value, ranges, written)
    data = {name: array(rng, one, shape) for name, (one, shape) in inputs.items()}
    if use == "factor" and kind.is_float and rng.random() < 0.4:
        data["w"].flat[rng.randrange(data["w"].size)] = rng.choice([math.inf, -math.inf, math.nan])
    program = Program("f", inputs, {"O": kind}, [statement], data, sizes, layouts(rng, [*inputs, "O"]), named=named)
    if slip and reads_outside(program, read):
        program.expect = "refused"
    return program


def other_branch(rng, kind, inputs):
    """A number, a number far below all others, or a read."""
    far = -60000.0 if kind == s.F16 else -1e30 if kind.is_float else -1000
    what = rng.random()
    if what < 0.3:
        return e.Literal(0.0 if kind.is_float else 0)
    if what < 0.7:
        return e.Literal(rng.choice([far, 1.5 if kind.is_float else 3]))
    inputs["y"] = (kind, ())
    return e.Read("y", [])


def reads_outside(program, read):
    """Whether the guarded read leaves its tensor somewhere."""
    ranges = program.statements[0].ranges
    point = e.Point({}, {"x": AnyElement()}, {"x": program.inputs["x"][1], "sizes": program.sizes}, {"x": s.I32})
    for place in itertools.product(*(range(*one) for one in ranges.values())):
        point.indices = dict(zip(ranges, place))
        if leaves(program.statements[0].value, point):
            return True
    return False


class AnyElement:
    def __getitem__(self, place):
        return 0


def leaves(node, point):
    if isinstance(node, e.Choice):
        return leaves(node.yes if node.takes(point) else node.no, point)
    if isinstance(node, e.Read) and node.tensor == "x":
        return any(not 0 <= one.at(point.indices) < extent for one, extent in zip(node.subscripts, point.shapes["x"]))
    children = itertools.chain(*[child if isinstance(child, list) else [child] for child in vars(node).values()])
    return any(leaves(one, point) for one in children
               if isinstance(one, (e.Arithmetic, e.Call, e.Choice, e.Read, e.Negative)))


# Gathers.

def gathers(rng):
    kind = rng.choice([s.F32, s.F32, s.F64, s.I32, s.F16])
    rows, width, batch = rng.choice([1, 2, 5, 9, 40]), rng.choice([1, 3, 8, 17]), rng.choice([1, 3, 6, 12])
    form = rng.choice(["plain", "plain", "offset", "moving", "cast", "nested", "guarded by index", "guarded by data"])
    of_index = rng.choice([s.I32, s.I64, s.I8] if form in ("offset", "moving", "guarded by data") else
                          [s.I8, s.I16, s.I32, s.I64, s.U8, s.U32, s.U64])
    inputs = {"T": (kind, (rows, width)), "I": (of_index, (batch,))}
    offset = rng.choice([-1, 1, 2]) if form == "offset" else 0
    steps = min(rows, 2) if form == "moving" else 1
    data = {"T": array(rng, kind, (rows, width)),
            "I": array(rng, of_index, (batch,), lambda: rng.randrange(rows - steps + 1) - offset)}
    index = e.Read("I", [e.index("b")])
    ranges = {"b": (0, batch), "e": (0, width)}
    if form == "offset":
        index = e.Arithmetic("+" if offset > 0 else "-", index, e.Literal(abs(offset)))
    elif form == "moving":
        index = e.Arithmetic("+", index, e.IndexValue("k"))
        ranges["k"] = (0, steps)
    elif form == "cast":
        inputs["I"] = (s.F32, (batch,))
        data["I"] = array(rng, s.F32, (batch,), lambda: rng.randrange(rows) + rng.choice([0.0, 0.25, 0.75]))
        index = e.Cast(s.I32, index)
    elif form == "nested":
        inputs["J"] = (s.I32, (batch,))
        data["J"] = array(rng, s.I32, (batch,), lambda: rng.randrange(batch))
        index = e.Read("I", [e.Read("J", [e.index("b")])])
    bad = rng.random() < 0.35
    if bad:
        spoil(rng, form, inputs, data, rows, offset)
    value = guarded_gather(rng, form, e.Read("T", [index, e.index("e")]), batch, rows)
    reduced = form == "moving" or rng.random() < 0.4
    if reduced:
        inputs["W"] = (kind, (batch,))
        data["W"] = array(rng, kind, (batch,))
        value = e.Arithmetic("*", value, e.Read("W", [e.index("b")]))
    statement = Statement("O", ["e"] if reduced else ["b", "e"], "+" if reduced else "=", value, ranges,
                          ["k"] if form == "moving" else [])
    return Program("f", inputs, {"O": kind}, [statement], data, options=layouts(rng, ["T", "O"]))


def spoil(rng, form, inputs, data, rows, offset):
    """One index outside, which a condition may leave out."""
    kind = inputs["I"][0]
    if kind.is_float:
        outside = rng.choice([-1.0, float(rows), 1e9, math.nan if rows == 0 else -1e20])
    elif form in ("offset", "moving"):
        outside = rng.choice([-1 - offset - rng.randrange(3), rows - offset + rng.randrange(3) + (form == "moving")])
    else:
        outside = rng.choice([x for x in (-1, rows, rows + 7, kind.largest, kind.smallest)
                              if kind.smallest <= x <= kind.largest and not 0 <= x < rows] or [0])
    data["I"].flat[rng.randrange(data["I"].size)] = outside


def guarded_gather(rng, form, read, batch, rows):
    if form == "guarded by index":
        return e.Choice(e.Comparison(e.index("b"), "<", e.Affine({}, rng.randint(0, batch))), read, e.Literal(0))
    if form == "guarded by data":
        index = read.subscripts[0]
        inside = e.AllOf([e.Test(">=", index, e.Literal(0)), e.Test("<", index, e.Literal(rows))])
        return e.Choice(inside if rng.random() < 0.7 else inside.tests[0], read, e.Literal(0))
    return read
