"""One random program of each kind: KINDS[kind](rng)."""

import math

import expressions as e
import kinds_reads
import scalars as s
from draws import (INDICES, NAMES, array, extent, far, float_expression, layouts, number, shuffled, specials,
                   with_specials)
from programs import Program, Statement

SIGN_CALLS = ["fabs", "abs", "copysign", "min", "max", "fmin", "fmax", "floor", "ceil", "trunc", "round", "sqrt",
              "relu", "exp", "log", "tanh"]


def elementwise(rng, kinds, outputs, expression, data, reduce=None):
    """Operands of two dimensions or one that its rows share; one statement, `reduce`d along the rows if so named."""
    rows, columns = extent(rng), extent(rng)
    inputs, reads = {}, []
    for name, kind in zip(NAMES, kinds):
        whole = name == "A" or rng.random() < 0.6
        inputs[name] = (kind, (rows, columns) if whole else (columns,))
        reads.append(e.Read(name, [e.index("i"), e.index("j")] if whole else [e.index("j")]))
    value = expression(reads)
    ranges = {"i": (0, rows), "j": (0, columns)}
    statement = Statement("O", ["i"] if reduce else ["i", "j"], reduce or "=", value, ranges)
    if all(one.tensor != "A" for one in e.reads(value)):  # whose rows would have no bound
        statement.value = e.Choice(e.Test("==", reads[0], reads[0]), value, value)
    arrays = {name: data(kind, shape) for name, (kind, shape) in inputs.items()}
    return Program("f", inputs, {"O": outputs}, [statement], arrays, options=layouts(rng, [*inputs, "O"]))


def plain(rng):
    """Sums of products and extremes that leave nothing open but the order: that the oracle itself is right."""
    kind = rng.choice([s.F32, s.F64, s.I32, s.I64, s.U8, s.F16, s.BF16])
    m, n, k = extent(rng), extent(rng), extent(rng)
    form = rng.choice(["product", "convolution", "extreme", "difference"])
    exact = rng.random() < 0.5
    def data(shape):
        return array(rng, kind, shape, lambda: number(rng, kind, exact))
    out = s.I32 if kind == s.U8 else kind
    if form == "product":
        inputs = {"A": (kind, (m, k)), "B": (kind, (k, n))}
        value = e.Arithmetic("*", e.Read("A", [e.index("i"), e.index("k")]), e.Read("B", [e.index("k"), e.index("j")]))
        statement = Statement("O", ["i", "j"], "+", value, {"i": (0, m), "j": (0, n), "k": (0, k)})
    elif form == "convolution":
        inputs = {"A": (kind, (n + k - 1, m)), "B": (kind, (k,))}
        value = e.Arithmetic("*", e.Read("A", [e.Affine({"i": 1, "k": 1}), e.index("j")]), e.Read("B", [e.index("k")]))
        statement = Statement("O", ["j", "i"], "+", value, {"i": (0, n), "j": (0, m), "k": (0, k)})
    else:
        out = kind
        inputs = {"A": (kind, (m, n)), "B": (kind, (n,))}
        reads = e.Read("A", [e.index("i"), e.index("j")]), e.Read("B", [e.index("j")])
        value = e.Arithmetic("-", *reads) if kind.is_float else e.Call("max", list(reads))
        statement = Statement("O", ["i"], rng.choice(["min", "max"]) if form == "extreme" else "+", value,
                              {"i": (0, m), "j": (0, n)})
        out = s.I32 if kind == s.U8 and form == "difference" else kind
    return Program("f", inputs, {"O": out}, [statement], {name: data(shape) for name, (_, shape) in inputs.items()},
                   options=layouts(rng, [*inputs, "O"]))


def signs(rng):
    kind = rng.choice([s.F32, s.F32, s.F32, s.F64, s.F16, s.BF16])
    reduce = rng.choice([None, None, "+", "max", "min"])
    share = 0.15 if reduce else 0.5
    depth = 1 if reduce == "+" else rng.randint(1, 3)
    sizes = rng.choice([number, number, far, lambda rng, kind: s.rounded(rng.uniform(-150, 150), kind)])
    inverse = reduce is None and rng.random() < 0.4  # which tells the signs of zeros

    def expression(reads):
        value = float_expression(rng, reads, depth, SIGN_CALLS)
        return e.Arithmetic("/", e.Literal(1.0), value) if inverse else value
    return elementwise(rng, [kind, kind], kind, expression,
                       lambda kind, shape: with_specials(rng, kind, shape, share, sizes), reduce)


def halves(rng):
    """Statements of several operations on halves, one after the other, with outputs of halves and floats."""
    kind = rng.choice([s.F16, s.BF16])
    other = rng.choice([kind, kind, kind, s.I32, s.F32])
    rows, columns = extent(rng), extent(rng)
    inputs = {"A": (kind, (rows, columns)), "B": (kind, (columns,)), "C": (other, (rows, columns))}
    i, j = e.index("i"), e.index("j")
    reads = [e.Read("A", [i, j]), e.Read("B", [j]), e.Read("C", [i, j])]
    calls = ["fabs", "max", "min", "sqrt", "exp", "tanh"]
    ranges = {"i": (0, rows), "j": (0, columns)}
    value = e.Arithmetic("+", reads[0], float_expression(rng, reads[:2], 2, calls))
    first = Statement("T", ["i", "j"], "=", value, ranges)
    reads.append(e.Read("T", [i, j]))
    second = e.Arithmetic("-", e.Arithmetic("*", e.Read("T", [i, j]), rng.choice(reads)), rng.choice(reads))
    reduce = rng.choice([None, "+", "max"])
    last = Statement("O", ["i"] if reduce else ["i", "j"], reduce or "=", second, ranges)
    outputs = {"T": rng.choice([kind, s.F32])} if rng.random() < 0.3 else {}
    types = {name: one for name, (one, _) in inputs.items()} | {"T": outputs.get("T", kind)}
    outputs["O"] = rng.choice([second.type(types), s.F32])
    data = {name: array(rng, one, shape) for name, (one, shape) in inputs.items()}
    return Program("f", inputs, outputs, [first, last], data, options=layouts(rng, [*inputs, "O"]))


def at_borders(rng, source, target):
    """A number at which the conversion may go wrong."""
    if not source.is_float:
        return rng.choice([source.smallest, source.largest, 0, 1, source.largest // 2 + 1,
                           rng.randint(source.smallest, source.largest),
                           min(max(target.largest + rng.randint(-1, 2), source.smallest), source.largest)
                           if not target.is_float else source.largest - 1])
    edges = specials(source) + [0.5, -0.5, 0.999, -1.9, 1.5, 2.5]
    if not target.is_float:
        edges += [float(target.largest), float(target.smallest), target.largest + 1.0, target.smallest - 1.0,
                  target.largest + 0.5, target.smallest - 0.5, 2.0 * target.largest, 1e9, -1e9, 1e19, -1e19]
    else:
        edges += [target.largest, 2 * target.largest, -1.5 * target.largest, math.ldexp(1.0, target.least - 3)]
    x = rng.choice(edges) if rng.random() < 0.7 else rng.uniform(-300, 300)
    return s.rounded(x, source) if math.isfinite(x) else x


def casts(rng):
    everything = [*s.INTEGERS, *s.FLOATS]
    source = rng.choice([*s.FLOATS, *s.FLOATS, *s.INTEGERS])
    target = rng.choice([one for one in [*everything, s.BOOL] if one != source])
    via = rng.choice([one for one in s.INTEGERS if one != target])
    shape = rng.choice(["cast", "cast", "scaled", "chain", "sum"])

    def expression(reads):
        read = reads[0]
        if shape == "scaled" and source.is_float:
            return e.Cast(target, e.Arithmetic("*", read, e.Literal(rng.choice([2.0, 0.5, -1.0]))))
        if shape == "chain":
            return e.Cast(target, e.Cast(via, read))
        if shape == "sum" and target != s.BOOL and not target.is_float:
            return e.Cast(s.I64, e.Cast(target, read))
        return e.Cast(target, read)
    summed = shape == "sum" and target != s.BOOL and not target.is_float
    return elementwise(rng, [source], s.I64 if summed else target, expression,
                       lambda kind, extents: array(rng, kind, extents, lambda: at_borders(rng, kind, target)),
                       "+" if summed else None)


def factored(rng):
    """A sum over a product of three or four tensors, in TC or as an einsum."""
    kind = rng.choice([s.F32, s.F32, s.F64, s.I32, s.I64, s.F16, s.BF16])
    count = rng.choice([3, 3, 4])
    names = INDICES[:rng.randint(3, 4)]
    extents = {name: rng.choice([1, 2, 3, 4, 5]) for name in names}
    inputs, parts, spelled = {}, [], []
    for name in NAMES[:count]:
        used = rng.sample(names, rng.randint(1, min(3, len(names))))
        if rng.random() < 0.1:
            used.append(used[0])  # a diagonal
        inputs[name] = (kind, tuple(extents[one] for one in used))
        parts.append(e.Read(name, [e.index(one) for one in used]))
        spelled.append("".join(used))
    seen = [name for name in names if any(name in one for one in spelled)]
    kept = rng.sample(seen, rng.randint(0, min(2, len(seen) - 1)))
    exact = rng.random() < 0.5
    value = e.product(parts)
    if rng.random() < 0.2:
        value = e.Arithmetic("*", parts[0], e.product(parts[1:]))
    statement = Statement("O", kept, "+", value, {name: (0, extents[name]) for name in seen})
    data = {name: array(rng, kind, shape, lambda: number(rng, kind, exact)) for name, (_, shape) in inputs.items()}
    program = Program("f", inputs, {"O": kind}, [statement], data)
    if rng.random() < 0.4 and kind in (s.F32, s.F64, s.I32, s.I64):
        as_einsum(program, spelled, kept, kind)
    else:
        program.options = layouts(rng, [*inputs, "O"])
    return program


def as_einsum(program, spelled, kept, kind):
    names = {name: f"in{number}" for number, name in enumerate(program.inputs)}
    program.inputs = {names[name]: one for name, one in program.inputs.items()}
    program.data = {names[name]: one for name, one in program.data.items()}
    for part in e.factors(program.statements[0].value):
        part.tensor = names[part.tensor]
    program.statements[0].target = "out"
    program.outputs = {"out": kind}
    program.einsum = f"einsum:{','.join(spelled)}->{''.join(kept)}"
    program.options = [f"--dtype={kind.short}"]


def deterministic(rng):
    """What float sums and quotients are made of; the runner compares bits (runner.py)."""
    kind = rng.choice([s.F32, s.F32, s.F64, s.F16])
    form = rng.choice(["product", "mean", "softmax", "elementwise", "quotient"])
    m, n, k = (rng.choice([1, 3, 5, 8, 13, 17, 31]) for _ in range(3))
    i, j, l = e.index("i"), e.index("j"), e.index("k")
    inputs = {"A": (kind, (m, k)), "B": (kind, (k, n)), "C": (kind, (n,))}
    a, b, c = e.Read("A", [i, l]), e.Read("B", [l, j]), e.Read("C", [j])
    ranges = {"i": (0, m), "j": (0, n), "k": (0, k)}
    if form == "product":
        value = e.Arithmetic("*", e.Arithmetic("/", a, e.Literal(3.0)), b)
        statements = [Statement("O", ["i", "j"], "+", value, ranges)]
        inputs.pop("C")
    elif form == "mean":
        quotient = e.Arithmetic("/", e.Read("T", [i, j]), e.Arithmetic("+", e.Call("fabs", [c]), e.Literal(0.5)))
        statements = [Statement("T", ["i", "j"], "+", e.Arithmetic("*", a, b), ranges),
                      Statement("O", ["i", "j"], "=", quotient, {"i": (0, m), "j": (0, n)})]
    elif form == "softmax":
        inputs = {"A": (kind, (m, k))}
        each = {"i": (0, m), "k": (0, k)}
        statements = [Statement("S", ["i"], "+", e.Call("exp", [a]), each),
                      Statement("O", ["i", "k"], "=", e.Arithmetic("/", e.Call("exp", [a]), e.Read("S", [i])), each)]
    elif form == "quotient":
        inputs.pop("A")
        value = e.Arithmetic("/", *shuffled(rng, [b, rng.choice([c, e.Literal(3.0), e.Literal(7.0)])]))
        statements = [Statement("O", ["k", "j"], "=", value, {"k": (0, k), "j": (0, n)})]
    else:
        inputs.pop("A")
        value = e.Arithmetic("/", float_expression(rng, [b, c], 2, ["fabs", "sqrt"]),
                             e.Arithmetic("+", e.Call("fabs", [b]), e.Literal(1.0)))
        statements = [Statement("O", ["k", "j"], "=", e.Arithmetic("+", value, e.Arithmetic("*", b, c)),
                                {"k": (0, k), "j": (0, n)})]
    data = {name: array(rng, one, shape) for name, (one, shape) in inputs.items()}
    return Program("f", inputs, {"O": kind}, statements, data, options=["--deterministic"])


KINDS = {"plain": plain, "signs": signs, "halves": halves, "casts": casts, "guarded": kinds_reads.guarded,
         "gathers": kinds_reads.gathers, "factored": factored, "deterministic": deterministic}
