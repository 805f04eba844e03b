"""Networks that contraction orders are judged on: random 3-regular graphs, lattices, MPS and trees, circuits, random
hyper-edges. The same for every run.

A network is a dict: name, operands (lists of labels), result (labels), extents (by label)."""

import random


def network(name, operands, result, extents):
    return {"name": name, "operands": operands, "result": result, "extents": extents}


class Labels:
    def __init__(self):
        self.extents = []

    def new(self, extent):
        self.extents.append(extent)
        return len(self.extents) - 1


def regular(count, extent, seed):
    """A random 3-regular graph, by pairing stubs until there are neither loops nor repeated edges."""
    rng = random.Random(seed)
    while True:
        stubs = [node for node in range(count) for _ in range(3)]
        rng.shuffle(stubs)
        edges = {tuple(sorted(stubs[i : i + 2])) for i in range(0, len(stubs), 2)}
        if len(edges) == 3 * count // 2 and all(a != b for a, b in edges):
            break
    labels, operands = Labels(), [[] for _ in range(count)]
    for a, b in sorted(edges):
        label = labels.new(extent)
        operands[a].append(label)
        operands[b].append(label)
    return network(f"regular-3 {count} extent {extent}", operands, [], labels.extents)


def lattice(rows, columns, extent, layers=1):
    """A PEPS: one layer closed, or two that meet in an index of extent 2 at each site (its norm)."""
    labels = Labels()
    operands = [[[[] for _ in range(columns)] for _ in range(rows)] for _ in range(layers)]
    for layer in operands:
        for r in range(rows):
            for c in range(columns):
                for dr, dc in ((0, 1), (1, 0)):
                    if r + dr < rows and c + dc < columns:
                        label = labels.new(extent)
                        layer[r][c].append(label)
                        layer[r + dr][c + dc].append(label)
    if layers == 2:
        for r in range(rows):
            for c in range(columns):
                label = labels.new(2)
                operands[0][r][c].append(label)
                operands[1][r][c].append(label)
    flat = [site for layer in operands for row in layer for site in row]
    return network(f"PEPS {rows}x{columns} extent {extent} layers {layers}", flat, [], labels.extents)


def mps(sites, extent, operator=None):
    """The overlap of two MPS, with an MPO of that extent between them."""
    labels = Labels()
    layers = [extent, operator, extent] if operator else [extent, extent]
    operands = [[[] for _ in range(sites)] for _ in layers]
    for layer, bond in zip(operands, layers):
        for i in range(sites - 1):
            label = labels.new(bond)
            layer[i].append(label)
            layer[i + 1].append(label)
    for above, below in zip(operands, operands[1:]):
        for i in range(sites):
            label = labels.new(2)
            above[i].append(label)
            below[i].append(label)
    name = f"MPS {sites} extent {extent}" + (f" with MPO {operator}" if operator else "")
    return network(name, [site for layer in operands for site in layer], [], labels.extents)


def tree(count, seed):
    """A random tree of mixed extents; every tenth tensor keeps an index."""
    rng = random.Random(seed)
    labels, operands, result = Labels(), [[] for _ in range(count)], []
    for node in range(1, count):
        label = labels.new(rng.choice([2, 3, 4, 6, 8, 16]))
        operands[node].append(label)
        operands[rng.randrange(max(0, node - 12), node)].append(label)
    for node in range(0, count, 10):
        label = labels.new(2)
        operands[node].append(label)
        if len(result) < 8:
            result.append(label)
    return network(f"tree {count}", operands, result, labels.extents)


def circuit(rows, columns, cycles):
    """An amplitude of a Sycamore-like circuit: two-qubit gates in the pattern ABCDCDAB, one-qubit gates inside them."""
    labels, operands = Labels(), []
    wires = {}
    for r in range(rows):
        for c in range(columns):
            wires[r, c] = labels.new(2)
            operands.append([wires[r, c]])
    pairs = {"A": (1, 0, 0), "B": (1, 0, 1), "C": (0, 1, 0), "D": (0, 1, 1)}
    for cycle in range(cycles):
        dr, dc, parity = pairs["ABCDCDAB"[cycle % 8]]
        for r in range(rows):
            for c in range(columns):
                other = (r + dr, c + dc)
                # Sycamore's couplers alternate along rows and columns.
                if other not in wires or ((r if dr else c) + (c if dr else r)) % 2 != parity:
                    continue
                gate = [wires[r, c], wires[other]]
                for qubit in ((r, c), other):
                    wires[qubit] = labels.new(2)
                    gate.append(wires[qubit])
                operands.append(gate)
    operands += [[wire] for wire in wires.values()]
    return network(f"circuit {rows}x{columns} depth {cycles}", operands, [], labels.extents)


def hyper(count, label_count, seed):
    """Labels in two to four of the operands, some in the result."""
    rng = random.Random(seed)
    labels, operands, result = Labels(), [[] for _ in range(count)], []
    for i in range(label_count):
        label = labels.new(rng.choice([1, 2, 2, 3, 4, 5]))
        near = rng.randrange(count)
        members = {near}
        for _ in range(rng.choice([1, 1, 1, 2, 3])):
            members.add(min(count - 1, max(0, near + rng.randint(-6, 6))) if rng.random() < 0.85 else rng.randrange(count))
        if i < count:
            members.add(i)
        for member in sorted(members):
            operands[member].append(label)
        if rng.random() < 0.04 and len(result) < 5:
            result.append(label)
    return network(f"hyper-edges {count}", operands, result, labels.extents)


def networks():
    return [
        regular(30, 4, 1),
        regular(60, 3, 2),
        regular(100, 2, 3),
        regular(150, 2, 4),
        regular(200, 2, 5),
        lattice(6, 6, 4),
        lattice(7, 7, 4),
        lattice(8, 8, 3),
        lattice(6, 6, 2, 2),
        lattice(7, 7, 2, 2),
        mps(100, 16),
        mps(60, 12, 5),
        tree(80, 6),
        tree(200, 7),
        circuit(4, 5, 10),
        circuit(4, 6, 10),
        circuit(5, 5, 10),
        circuit(5, 6, 10),
        hyper(40, 60, 8),
        hyper(120, 160, 9),
    ]


def flops(network, order):
    """Of an order of contractions, as tile_tune::plan counts them (frontend/plan/order.h)."""
    extents, pieces = network["extents"], [frozenset(operand) for operand in network["operands"]]
    uses = [0] * len(extents)
    for axes in [*pieces, frozenset(network["result"])]:
        for axis in axes:
            uses[axis] += 1

    def volume(axes):
        product = 1
        for axis in axes:
            product *= extents[axis]
        return product

    total = 0
    for left, right in order:
        left, right = pieces[left], pieces[right]
        for axes in (left, right):
            for axis in axes:
                uses[axis] -= 1
        needed = {axis for axis in left | right if uses[axis]}
        alone_left = left - right - needed if right - left else frozenset()
        alone_right = right - left - needed if left - right else frozenset()
        axes = (left | right) - alone_left - alone_right
        result = axes & needed
        total += volume(axes) * (1 if result == axes else 2)
        total += (volume(left) if alone_left else 0) + (volume(right) if alone_right else 0)
        for axis in result:
            uses[axis] += 1
        pieces.append(frozenset(result))
    return total
