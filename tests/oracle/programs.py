"""Programs of TC as statements over given ranges, and their results, element by element."""

import copy
import functools
import itertools
import math
import operator
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np

import expressions as e
import scalars as s


@dataclass
class Statement:
    target: str
    subscripts: list  # names of indices, each once
    op: str  # "=", or that of a reduction: + * min max
    value: object
    ranges: dict  # index -> (first, end): what inference must find, or what `where` says
    where: list = field(default_factory=list)  # the indices whose ranges are written

    def text(self):
        op = "=" if self.op == "=" else f"{self.op}=!"
        target = f"{self.target}({', '.join(self.subscripts)})" if self.subscripts else self.target
        text = f"  {target} {op} {self.value.text()}"
        clauses = ", ".join(f"{i} in {self.ranges[i][0]}:{self.ranges[i][1]}" for i in self.where)
        return text + (f" where {clauses}" if clauses else "")


@dataclass
class Program:
    name: str
    inputs: dict  # name -> (type, extents)
    outputs: dict  # name -> type
    statements: list
    data: dict  # input -> array of numbers that its type has
    sizes: dict = field(default_factory=dict)  # names for extents of inputs: name -> number
    options: list = field(default_factory=list)  # of `tile-tune run`
    expect: str = "values"  # or "index": a gather out of range; or "refused"
    named: dict = field(default_factory=dict)  # input -> extents as they are spelled, where these are sizes
    einsum: str = ""  # instead of TC's text

    def text(self):
        if self.einsum:
            return self.einsum
        inputs = [f"{kind.name}({', '.join(map(str, self.named.get(name, shape)))}) {name}" if shape else
                  f"{kind.name} {name}" for name, (kind, shape) in self.inputs.items()]
        outputs = [self.declaration(name) for name in self.outputs]
        lines = [f"def {self.name}({', '.join(inputs)}) -> ({', '.join(outputs)}) {{"]
        return "\n".join(lines + [one.text() for one in self.statements] + ["}", ""])

    def declaration(self, name):
        kind = self.outputs[name]
        if kind is None:
            return name
        shape = self.shape_of(name)
        return f"{kind.name}({', '.join(map(str, shape))}) {name}" if shape else f"{kind.name} {name}"

    def shape_of(self, name):
        statement = next(one for one in self.statements if one.target == name)
        return tuple(statement.ranges[i][1] for i in statement.subscripts)


def narrower(program, index):
    """The program with a third of the values of an index, each a plain subscript; None if there are too few."""
    extent = max((one.ranges[index][1] for one in program.statements if index in one.ranges), default=0)
    if extent < 2:
        return None
    fewer = (extent + 1) // 3
    result = copy.deepcopy(program)
    for statement in result.statements:
        if index in statement.ranges:
            statement.ranges[index] = (0, fewer)
    for read in {one.tensor: one for statement in program.statements for one in e.reads(statement.value)}.values():
        for d, subscript in enumerate(read.subscripts):
            if read.tensor in result.inputs and subscript.terms == {index: 1}:
                kind, shape = result.inputs[read.tensor]
                result.inputs[read.tensor] = kind, shape[:d] + (fewer,) + shape[d + 1:]
                result.data[read.tensor] = np.take(result.data[read.tensor], range(fewer), axis=d)
    return result


def types_of(program):
    """Of every tensor; a result that is not declared has its statement's type."""
    types = {name: kind for name, (kind, _) in program.inputs.items()}
    for statement in program.statements:
        kind = program.outputs.get(statement.target) or statement.value.type(types)
        if program.outputs.get(statement.target) is None and statement.op in "+*" and kind.bits < 32 and \
                kind.kind in "iu":
            kind = s.I32
        types[statement.target] = kind
    return types


def results(program):
    """Of every output its type and {subscripts: span, integer or None where the documents leave it open}."""
    types = types_of(program)
    shapes = {name: shape for name, (_, shape) in program.inputs.items()} | {"sizes": program.sizes}
    arrays = {}
    for name, (kind, shape) in program.inputs.items():
        numbers = np.asarray(program.data[name]).reshape(shape)
        arrays[name] = {place: s.of(numbers[place], kind) for place in np.ndindex(*shape)}
    for statement in program.statements:
        shapes[statement.target] = program.shape_of(statement.target)
        arrays[statement.target] = elements(statement, e.Point({}, arrays, shapes, types))
    return {name: (types[name], arrays[name]) for name in program.outputs}


def elements(statement, point):
    kind = point.types[statement.target]
    reduced = [i for i in statement.ranges if i not in statement.subscripts]
    found = {}
    for place in itertools.product(*(range(*statement.ranges[i]) for i in statement.subscripts)):
        point.indices = dict(zip(statement.subscripts, place))
        found[place] = element(statement, point, reduced, kind)
    return found


def element(statement, point, reduced, kind):
    """Every term is looked at, also behind one that is undecided: its gathers must be in range."""
    terms, open_terms = [], False
    here = dict(point.indices)
    for values in itertools.product(*(range(*statement.ranges[i]) for i in reduced)):
        point.indices = here | dict(zip(reduced, values))
        try:
            if statement.op == "+" and any(isinstance(one, e.Choice) and one.pads(point)
                                           for one in e.factors(statement.value)):
                continue
            terms.append(e.widened(statement.value.at(point), statement.value.type(point.types), kind))
        except s.Undecided:
            open_terms = True
    try:
        return None if open_terms else s.stored(combined(statement.op, terms, kind), kind)
    except s.Undecided:
        return None


def combined(op, terms, kind):
    if op == "=":
        return terms[0]
    if not kind.is_float:
        if kind == s.BOOL and op in "+*":
            return int((any if op == "+" else all)(terms))
        start = {"+": 0, "*": 1, "min": kind.largest, "max": kind.smallest}[op]
        step = {"+": operator.add, "*": operator.mul, "min": min, "max": max}[op]
        return s.wrapped(functools.reduce(step, terms, start), kind)
    if op in ("min", "max"):
        result = s.point(math.inf if op == "min" else -math.inf)
        for term in terms:
            result = s.extreme(min if op == "min" else max, result, term, False)
        return s.either_zero(result)
    return total(terms, s.computed_in(kind)) if op == "+" else multiplied(terms, s.computed_in(kind))


def total(terms, kind):
    """A sum in any order, in which an element begins with 0."""
    if any(term.is_nan for term in terms):
        return s.NAN
    infinite = {x for term in terms for x in (term.lo, term.hi) if math.isinf(x)}
    certain = {term.lo for term in terms if term.is_point and math.isinf(term.lo)}
    if len(certain) == 2:
        return s.NAN
    nan = any(term.nan for term in terms) or len(infinite) == 2
    sizes = [max(abs(term.lo), abs(term.hi)) for term in terms]
    if not infinite and fits(terms, kind):
        x = float(sum(Fraction(term.lo) for term in terms))
        return s.point(x) if x != 0 else s.Span(-0.0, 0.0)
    weight = sum(x for x in sizes if not math.isinf(x))
    slack = (len(terms) + 4) * math.ldexp(weight, -kind.digits) + len(terms) * math.ldexp(1.0, kind.least - kind.digits)
    lo = one_sided([term.lo for term in terms], -slack)
    hi = one_sided([term.hi for term in terms], slack)
    if weight + slack > kind.largest:  # partial sums may be infinite, of both signs
        lo, hi, nan = -math.inf, math.inf, True
    return s.outward(s.Span(lo, hi, nan), kind, 1)


def one_sided(numbers, slack):
    infinite = [x for x in numbers if math.isinf(x)]
    if infinite:
        return (min if slack < 0 else max)(infinite) if len(set(infinite)) > 1 else infinite[0]
    return math.fsum(numbers) + slack


def fits(terms, kind):
    """Every partial sum, in any order, is exact."""
    if not all(term.is_point for term in terms):
        return False
    parts = [Fraction(term.lo) for term in terms if term.lo != 0]
    unit = max((part.denominator for part in parts), default=1)
    if unit == 1:
        return sum(map(abs, parts)) <= 1 << kind.digits
    return sum(map(abs, parts)) * unit <= 1 << kind.digits


def multiplied(terms, kind):
    large = math.fsum(math.log2(abs(x)) for t in terms if t.lo is not None for x in [max(abs(t.lo), abs(t.hi))]
                      if 1 < x < math.inf)
    small = math.fsum(math.log2(x) for t in terms if t.lo is not None for x in [min(abs(t.lo), abs(t.hi))] if 0 < x < 1)
    if large > -kind.least or small < kind.least:
        raise s.Undecided
    result = s.point(1.0)
    for term in terms:
        result = s.arithmetic("*", result, term, kind)
    return s.outward(result, kind, len(terms)) if not result.is_point else result
