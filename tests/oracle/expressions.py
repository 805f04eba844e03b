"""Expressions of TC: their text, their types, and what they are at one point of a statement's indices."""

from dataclasses import dataclass

import scalars as s


class OutOfRange(Exception):
    """A gather reads outside its tensor: the tensor's name and the index."""


@dataclass
class Point:
    """Where an expression is computed: the values of indices, and the tensors' elements so far."""
    indices: dict
    arrays: dict  # name -> {subscripts: value}
    shapes: dict
    types: dict


# Affine expressions of indices and sizes: subscripts and sides of conditions.

@dataclass
class Affine:
    terms: dict  # index -> coefficient
    constant: int = 0
    size: str = ""  # added

    def text(self):
        parts = [(f"{c} * {i}" if c not in (1, -1) else i if c == 1 else f"-{i}") for i, c in self.terms.items()]
        parts += [self.size] if self.size else []
        parts += [str(self.constant)] if self.constant or not parts else []
        return " + ".join(parts).replace("+ -", "- ")

    def at(self, indices, sizes=None):
        size = sizes[self.size] if self.size else 0
        return sum(c * indices[i] for i, c in self.terms.items()) + self.constant + size


def index(name, offset=0, scale=1):
    return Affine({name: scale}, offset)


@dataclass
class Comparison:
    """Of affine expressions: it depends on no data."""
    left: Affine
    op: str
    right: Affine

    def text(self):
        return f"{self.left.text()} {self.op} {self.right.text()}"

    def at(self, indices, sizes):
        a, b = self.left.at(indices, sizes), self.right.at(indices, sizes)
        return {"<": a < b, "<=": a <= b, ">": a > b, ">=": a >= b, "==": a == b, "!=": a != b}[self.op]


@dataclass
class Both:
    op: str  # && or ||
    parts: list

    def text(self):
        return "(" + f" {self.op} ".join(part.text() for part in self.parts) + ")"

    def at(self, indices, sizes):
        return (all if self.op == "&&" else any)(part.at(indices, sizes) for part in self.parts)


@dataclass
class Not:
    part: object

    def text(self):
        return f"!({self.part.text()})"

    def at(self, indices, sizes):
        return not self.part.at(indices, sizes)


# Values. Each has type(types) and at(point), a span of a float type or an integer.

@dataclass
class Literal:
    number: object  # takes the type of what it meets

    def text(self):
        return repr(self.number)

    def type(self, types):
        return None if isinstance(self.number, int) else s.F32

    def at(self, point):
        return self.number


@dataclass
class IndexValue:
    name: str

    def text(self):
        return self.name

    def type(self, types):
        return s.I32

    def at(self, point):
        return point.indices[self.name]


@dataclass
class Read:
    tensor: str
    subscripts: list  # Affine, or a value: a gather

    def text(self):
        if not self.subscripts:
            return self.tensor
        return f"{self.tensor}({', '.join(one.text() for one in self.subscripts)})"

    def type(self, types):
        return types[self.tensor]

    def at(self, point):
        place = []
        for one, extent in zip(self.subscripts, point.shapes[self.tensor]):
            gather = not isinstance(one, Affine)
            place.append(one.at(point) if gather else one.at(point.indices))
            if not 0 <= place[-1] < extent:
                if gather:
                    raise OutOfRange(self.tensor, place[-1])
                raise AssertionError(f"{self.text()} reads {place} of {point.shapes[self.tensor]}")
        value = point.arrays[self.tensor][tuple(place)]
        if value is None:
            raise s.Undecided
        return value


def unify(nodes, types):
    """The type that operands meet in; of literals alone that of the widest."""
    known = [node.type(types) for node in nodes if not isinstance(node, Literal)]
    result = None
    for kind in known:
        result = kind if result is None else s.promoted(result, kind)
    literal_float = any(isinstance(node, Literal) and isinstance(node.number, float) for node in nodes)
    if literal_float and not result.is_float:
        return s.F32
    return result


def operand(node, kind, point):
    """The node's value in the type that it meets others in."""
    if isinstance(node, Literal):
        return s.of(node.number, kind)
    return widened(node.at(point), node.type(point.types), kind)


def widened(value, source, kind):
    if kind.is_float and not source.is_float:
        return s.converted(value, source, s.computed_in(kind))
    return value if kind.is_float else s.wrapped(value, kind)


@dataclass
class Arithmetic:
    op: str  # + - * / %
    left: object
    right: object

    def text(self):
        return f"({self.left.text()} {self.op} {self.right.text()})"

    def type(self, types):
        return unify((self.left, self.right), types)

    def at(self, point):
        kind = self.type(point.types)
        a, b = operand(self.left, kind, point), operand(self.right, kind, point)
        if kind.is_float:
            return s.arithmetic(self.op, a, b, s.computed_in(kind))
        if self.op in "/%":
            return 0 if b == 0 else s.wrapped(a // b if self.op == "/" else a % b, kind)
        return s.wrapped({"+": a + b, "-": a - b, "*": a * b}[self.op], kind)


@dataclass
class Negative:
    argument: object

    def text(self):
        return f"(-{self.argument.text()})"

    def type(self, types):
        return self.argument.type(types)

    def at(self, point):
        value, kind = self.argument.at(point), self.type(point.types)
        return s.negative(value) if kind.is_float else s.wrapped(-value, kind)


@dataclass
class Call:
    name: str
    arguments: list

    def text(self):
        return f"{self.name}({', '.join(one.text() for one in self.arguments)})"

    def type(self, types):
        kind = unify(self.arguments, types)
        return kind if kind.is_float or self.name in ("min", "max", "abs") else s.F32

    def at(self, point):
        kind = self.type(point.types)
        given = [operand(one, kind, point) for one in self.arguments]
        if not kind.is_float:
            return s.wrapped({"min": min, "max": max, "abs": abs}[self.name](*given), kind)
        a, b = given[0], given[-1]
        if self.name in ("min", "max", "fmin", "fmax"):
            return s.extreme(min if self.name.endswith("min") else max, a, b, self.name.startswith("f"))
        if self.name in ("abs", "fabs"):
            return s.magnitude(a)
        if self.name == "relu":
            if a.nan:
                raise s.Undecided
            return s.either_zero(s.extreme(max, a, s.point(0.0), False))
        return s.with_sign_of(a, b) if self.name == "copysign" else s.function(self.name, a, s.computed_in(kind))


@dataclass
class Cast:
    target: s.Type
    argument: object

    def text(self):
        return f"{self.target.name}({self.argument.text()})"

    def type(self, types):
        return self.target

    def at(self, point):
        return s.converted(self.argument.at(point), self.argument.type(point.types), self.target)


@dataclass
class Test:
    """A comparison of data."""
    op: str
    left: object
    right: object

    def text(self):
        return f"{self.left.text()} {self.op} {self.right.text()}"

    def holds(self, point):
        kind = unify((self.left, self.right), point.types)
        a, b = operand(self.left, kind, point), operand(self.right, kind, point)
        if not kind.is_float:
            return {"<": a < b, "<=": a <= b, ">": a > b, ">=": a >= b, "==": a == b, "!=": a != b}[self.op]
        if self.op in ("==", "!="):
            return s.equal(a, b) == (self.op == "==")
        if self.op in (">", ">="):
            a, b = b, a
        return s.less(a, b) or (self.op in ("<=", ">=") and s.equal(a, b))


@dataclass
class AllOf:
    """Tests of data."""
    tests: list

    def text(self):
        return "(" + " && ".join(one.text() for one in self.tests) + ")"

    def holds(self, point):
        return all(one.holds(point) for one in self.tests)


@dataclass
class IsNan:
    argument: object

    def text(self):
        return f"isnan({self.argument.text()})"

    def holds(self, point):
        value = self.argument.at(point)
        if value.nan != value.is_nan:
            raise s.Undecided
        return value.nan


@dataclass
class Choice:
    """condition ? yes : no, or select(condition, yes, no). The other branch's indices and reads do not count."""
    condition: object  # of indices (at), or of data (holds)
    yes: object
    no: object
    spelled: str = "?:"

    def text(self):
        parts = self.condition.text(), self.yes.text(), self.no.text()
        return "({} ? {} : {})".format(*parts) if self.spelled == "?:" else "select({}, {}, {})".format(*parts)

    def type(self, types):
        return unify((self.yes, self.no), types)

    def takes(self, point):
        if hasattr(self.condition, "holds"):
            return self.condition.holds(point)
        return self.condition.at(point.indices, point.shapes["sizes"])

    def at(self, point):
        kind = self.type(point.types)
        return operand(self.yes if self.takes(point) else self.no, kind, point)

    def pads(self, point):
        """A read that is guarded and 0 otherwise, where it is 0: a sum leaves out the term of which it is a factor."""
        taken, other = (self.yes, self.no) if self.takes(point) else (self.no, self.yes)
        if isinstance(taken, Choice):  # nested: the read is in the inner one
            return taken.pads(point)
        inner = other
        while isinstance(inner, Choice):
            inner = inner.yes if isinstance(inner.yes, (Read, Choice)) else inner.no
        return isinstance(taken, Literal) and taken.number == 0 and isinstance(inner, Read)


def reads(node):
    """All reads of an expression, those in subscripts included."""
    if isinstance(node, Read):
        return [node] + [one for subscript in node.subscripts for one in reads(subscript)]
    found = []
    for child in vars(node).values() if hasattr(node, "__dict__") and not isinstance(node, s.Type) else []:
        for one in child if isinstance(child, list) else [child]:
            found += reads(one)
    return found


def factors(expression):
    """Of a product, left to right."""
    if isinstance(expression, Arithmetic) and expression.op == "*":
        return factors(expression.left) + factors(expression.right)
    return [expression]


def product(parts):
    result = parts[0]
    for part in parts[1:]:
        result = Arithmetic("*", result, part)
    return result
