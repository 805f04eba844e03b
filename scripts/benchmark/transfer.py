"""The sweep that says how good transferred schedules are: sizes drawn by a committed seed, and what to make of times.

Every family has sizes that a database knows (tuned before) and sizes that it does not. Of each lot half are multiples of
8 in all their dimensions and half in none; all are drawn log-uniformly."""

import dataclasses
import math
import random

SEED = 20261121  # of the sizes; another one would be another sweep
KNOWN, UNSEEN = 8, 20


@dataclasses.dataclass(frozen=True)
class Family:
    name: str
    program: str  # as the command line takes it
    ranges: dict  # size name -> (least, most), drawn
    fixed: dict   # size name -> value
    flops: tuple  # least and most work: what takes minutes to tune, or a microsecond to run, says nothing

    def work(self, sizes):
        """Multiply-adds count twice. Every size is a loop's extent, but for an image's, which holds the window, too."""
        loops = dict(sizes)
        if self.name == "conv":
            loops["H"] = sizes["H"] - sizes["KH"] + 1
            loops["W"] = sizes["W"] - sizes["KW"] + 1
        return 2 * math.prod(loops.values())


FAMILIES = {
    family.name: family
    for family in (
        Family("matmul", "examples/matmul.tc", {"M": (16, 2048), "K": (16, 2048), "N": (16, 2048)}, {}, (1e6, 4e9)),
        Family("conv", "examples/conv2d.tc",
               {"B": (1, 16), "IP": (8, 256), "OP": (8, 256), "H": (8, 128), "W": (8, 128)}, {"KH": 3, "KW": 3},
               (1e6, 4e9)),
        Family("bmm", "einsum:bij,bjk->bik", {"b": (2, 256), "i": (16, 512), "j": (16, 512), "k": (16, 512)}, {},
               (1e6, 4e9)),
    )
}


def draw(family, lot, count):
    """`count` sizes of the lot, the same ones for ever. Batches are drawn too, but are no multiples of anything."""
    generator = random.Random(f"{SEED} {family.name} {lot}")
    sizes = []
    while len(sizes) < count:
        round_sizes = len(sizes) < count // 2
        one = dict(family.fixed)
        for name, (least, most) in family.ranges.items():
            value = round(math.exp(generator.uniform(math.log(least), math.log(most))))
            if most > 64 and name not in ("b", "B"):
                if round_sizes:
                    value = max(8 * round(value / 8), 8)
                elif value % 8 == 0:
                    value += 1
            one[name] = value
        low, high = family.flops
        if low <= family.work(one) <= high and one not in sizes:
            sizes.append(one)
    return sizes


def known_and_unseen(family):
    known = draw(family, "known", KNOWN)
    unseen = [one for one in draw(family, "unseen", UNSEEN + KNOWN) if one not in known]
    # Half and half again: the lot drawn is longer than the sweep, in case it met known ones.
    halves = [one for one in unseen if is_round(family, one)], [one for one in unseen if not is_round(family, one)]
    return known, halves[0][:UNSEEN // 2] + halves[1][:UNSEEN // 2]


def is_round(family, sizes):
    drawn = [name for name, (_, most) in family.ranges.items() if most > 64 and name not in ("b", "B")]
    return all(sizes[name] % 8 == 0 for name in drawn)


def geometric_mean(values):
    return math.exp(sum(math.log(value) for value in values) / len(values))


def summary(lines):
    """Rows of text: a family each, then all of them. A line holds `family`, `over_tuned`, `default_over_tuned`, `rung`."""
    rows = []
    names = [name for name in FAMILIES if any(line["family"] == name for line in lines)]
    for name in names + (["all"] if len(names) > 1 else []):
        of = [line for line in lines if name in ("all", line["family"])]
        rows.append({
            "family": name,
            "sizes": len(of),
            "transferred": geometric_mean([line["over_tuned"] for line in of]),
            "default": geometric_mean([line["default_over_tuned"] for line in of]),
            "least": min(line["over_tuned"] for line in of),
            "default_taken": sum(line["rung"] == "default" for line in of),
        })
    return rows
