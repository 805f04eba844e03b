"""Einsums on views and tensor networks, drawn at random: the same ones for the same seed."""

import math
import random
from dataclasses import dataclass

NOTATIONS = ("ij,jk->ik", "ij,kj->ki", "bij,bjk->bik", "bqhd,bkhd->bhqk", "bhqk,bkhd->bqhd", "ij,j->i", "i,ij,j->",
             "abcd,dbea->ec", "abc,cd->abd", "acd,db->abc", "abcd,deab->ec", "ij,ij->i", "ijk->kji", "ijkl->ljk",
             "bij,bij->ij", "ai,bi,ci->abc")
VIEWS = ("plain", "permuted", "strided", "reversed", "broadcast")
MOST_FLOP, MOST_ELEMENTS = 4e8, 4e6


@dataclass
class Case:
    name: str
    subscripts: str
    dtype: str
    shapes: list
    views: list  # of each operand

    def operands(self):
        import numpy as np
        numbers = np.random.default_rng(sum(map(ord, self.name)))
        return [view(numbers, shape, self.dtype, kind) for shape, kind in zip(self.shapes, self.views)]


def terms(subscripts):
    left, result = subscripts.split("->")
    return left.split(","), result


def view(numbers, shape, dtype, kind):
    """An array of this shape that lies as `kind` says."""
    import numpy as np

    def drawn(extents):
        return numbers.standard_normal(extents).astype(dtype)

    if kind == "permuted" and len(shape) > 1:
        axes = numbers.permutation(len(shape))
        return drawn([shape[a] for a in axes]).transpose(np.argsort(axes))
    if kind == "strided":
        return drawn([2 * n for n in shape])[tuple(slice(None, None, 2) for _ in shape)]
    if kind == "reversed":
        return drawn(shape)[tuple(slice(None, None, -1) for _ in shape)]
    if kind == "broadcast" and len(shape) > 1:
        return np.broadcast_to(drawn([1, *shape[1:]]), shape)
    return drawn(shape)


def flops(subscripts, extents):
    return 2 * math.prod(extents[label] for label in set(subscripts) - set(",->"))


def largest(tensors, extents):
    return max(math.prod(extents[label] for label in term) for term in tensors)


def cases(count=64, seed=1):
    draw, made = random.Random(seed), []
    while len(made) < count:
        subscripts = NOTATIONS[len(made) % len(NOTATIONS)]
        operands, result = terms(subscripts)
        extents = {label: int(2 ** draw.uniform(2, 10)) for label in sorted(set(subscripts) - set(",->"))}
        while flops(subscripts, extents) > MOST_FLOP or largest([*operands, result], extents) > MOST_ELEMENTS:
            label = max(sorted(extents), key=extents.get)
            extents[label] = max(1, extents[label] * 3 // 4)
        if flops(subscripts, extents) < 1e5:
            continue
        dtype = draw.choice(("float32", "float32", "float64"))
        views = [draw.choice(VIEWS) for _ in operands]
        if all(kind == "plain" for kind in views):
            views[0] = "permuted"
        shapes = [[extents[label] for label in term] for term in operands]
        made.append(Case(f"{len(made):02d} {subscripts}", subscripts, dtype, shapes, views))
    return made


def networks(seed=1):
    """Name -> subscripts and extents: circuits, chains, trees."""
    draw, made = random.Random(seed), {}
    letters = [chr(n) for n in (*range(ord("a"), ord("z") + 1), *range(ord("A"), ord("Z") + 1))]

    def add(name, operands, result, extent_of):
        labels = sorted({label for term in operands for label in term})
        made[name] = (",".join("".join(term) for term in operands) + "->" + "".join(result),
                      {label: extent_of(label) for label in labels})

    for qubits, depth in ((6, 4), (8, 3)):
        wires, fresh, gates = letters[:qubits], iter(letters[qubits:]), [[label] for label in letters[:qubits]]
        for layer in range(depth):
            for first in range(layer % 2, qubits - 1, 2):
                if len(gates) >= 40:
                    break
                outs = [next(fresh, None), next(fresh, None)]
                if None in outs:
                    break
                gates.append([wires[first], wires[first + 1], *outs])
                wires[first], wires[first + 1] = outs
        add(f"circuit of {qubits} qubits", gates, wires, lambda _: 2)
    for bond in (16, 48):
        chain = [[letters[2 * n], letters[2 * n + 1], letters[2 * n + 2]] for n in range(6)]
        add(f"chain with bonds of {bond}", chain, [chain[0][0], *(site[1] for site in chain[:3]), chain[-1][2]],
            lambda label: 4 if letters.index(label) % 2 else bond)
    for extent in (8, 12):
        # Two isometries below two disentanglers, as one layer of a MERA.
        add(f"layer with bonds of {extent}", ["abcd", "efgh", "bckl", "fgmn", "akmo"], "odelhn", lambda _: extent)
    for number in range(2):
        sizes = [draw.choice((8, 16, 24, 32)) for _ in range(8)]
        add(f"products of four, {number}", ["abc", "cdb", "def", "fga"], "eg",
            lambda label, sizes=sizes: sizes["abcdefg".index(label)])
    return made


def steps(subscripts, path):
    """Of each step its places and its own subscripts, the operand at the later place first."""
    left, result = subscripts.split("->")
    left = left.split(",")
    for number, pair in enumerate(path):
        taken = [left.pop(place) for place in sorted(pair, reverse=True)]
        needed = set(result).union(*left)
        labels = dict.fromkeys("".join(taken))
        piece = result if number + 1 == len(path) else "".join(label for label in labels if label in needed)
        left.append(piece)
        yield pair, (",".join(taken), piece)


def with_parentheses(subscripts, path):
    """The subscripts in the path's order, and which operand each of them is of."""
    left, result = subscripts.split("->")
    left = [(term, [number]) for number, term in enumerate(left.split(","))]
    for pair in path[:-1]:
        taken = [left.pop(place) for place in sorted(pair, reverse=True)]
        left.append(("(" + ",".join(term for term, _ in taken) + ")", [n for _, numbers in taken for n in numbers]))
    return ",".join(term for term, _ in left) + "->" + result, [n for _, numbers in left for n in numbers]
