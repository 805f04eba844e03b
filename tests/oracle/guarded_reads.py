"""Random TC programs with guarded reads against numpy: nothing here is shared with tile-tune but the language.

    .venv/bin/python tests/oracle/guarded_reads.py [--programs 1000] [--kernels 200] [--seed 1] [--tool build/cli/tile-tune]

Each program is computed by the reference, and the first `--kernels` of them by their default kernels, too.
"""
import argparse
import pathlib
import random
import subprocess
import sys
import tempfile

import numpy as np


def join(rng, parts, all_of):
    """(TC text, Python text) of conditions that must all hold, or one of them, in one of the ways to write that."""
    if len(parts) == 1:
        return parts[0]
    if rng.random() < 0.2:
        tc, py = join(rng, [(f"!({a})", f"(not {b})") for a, b in parts], not all_of)
        return f"!({tc})", f"(not {py})"
    tc, py = (" && ", " and ") if all_of else (" || ", " or ")
    return "(" + tc.join(a for a, _ in parts) + ")", "(" + py.join(b for _, b in parts) + ")"


def comparison(rng, left, op, right):
    text = f"{left} {op} {right}"
    if rng.random() < 0.3:
        mirrored = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "==": "==", "!=": "!="}[op]
        text = f"{right} {mirrored} {left}"
    return text, text


def random_comparison(rng):
    index, op = rng.choice("ijk"), rng.choice(["<", "<=", ">", ">=", "==", "!="])
    return comparison(rng, index, op, f"{rng.choice('ijk')} + {rng.randint(-2, 2)}".replace("+ -", "- "))


def subscript(rng, index):
    a, c = rng.choice([0, 1, 1, -1, 2]), rng.randint(-2, 2)
    return f"{index} + {a}*k + {c}".replace("+ -", "- ")


def inside(rng, text, extent):
    low = comparison(rng, text, ">=", "0") if rng.random() < 0.5 else comparison(rng, text, ">", "-1")
    high = comparison(rng, text, "<", extent) if rng.random() < 0.5 else comparison(rng, text, "<=", f"{extent} - 1")
    return [low, high]


class Program:
    """o(i,j) op= (condition ? x(row,col) : other) * w(k), all of it random."""

    def __init__(self, rng):
        self.row, self.column = subscript(rng, "i"), subscript(rng, "j")
        conditions = inside(rng, self.row, "N") + inside(rng, self.column, "M")
        rng.shuffle(conditions)
        if rng.random() < 0.5:
            conditions.append(join(rng, [random_comparison(rng) for _ in range(rng.randint(1, 3))], rng.random() < 0.4))
        self.tc, self.holds = join(rng, conditions, True)
        self.data = rng.random() < 0.2
        self.op = rng.choice(["+=!", "+=!", "+=!", "max=!", "min=!"])
        self.other = rng.choice(["0", "0", "0.5", "y(i,j)", "-1e30"])
        self.product = rng.random() < 0.8
        self.swapped = rng.random() < 0.3
        self.nested = rng.random() < 0.2

    def text(self):
        read, condition = f"x({self.row}, {self.column})", self.tc
        data = "y(i,j) > 0"
        if self.data:
            condition = f"{condition} && {data}" if not self.nested else condition
            if self.nested:
                read = f"({data} ? {read} : {self.other})"
        factor = f"!({condition}) ? {self.other} : {read}" if self.swapped else f"{condition} ? {read} : {self.other}"
        value = f"({factor}) * w(k)" if self.product else f"({factor}) + w(k)"
        return (f"def f(float(N,M) x, float(N,M) y, float(K) w) -> (float(N,M) o) {{\n"
                f"  o(i,j) {self.op} {value} where i in 0:N, j in 0:M, k in 0:K\n}}\n")

    def expected(self, x, y, w):
        (rows, columns), taps = x.shape, len(w)
        start = {"+=!": 0.0, "max=!": -np.inf, "min=!": np.inf}[self.op]
        out = np.full(x.shape, start)
        names = {"N": rows, "M": columns}
        holds, at_row, at_column = (compile(t, "p", "eval") for t in (self.holds, self.row, self.column))
        for i in range(rows):
            for j in range(columns):
                for k in range(taps):
                    point = dict(names, i=i, j=j, k=k)
                    structural = eval(holds, {}, point)
                    other = float(y[i, j]) if self.other == "y(i,j)" else float(np.float32(self.other))
                    taken = structural and (not self.data or y[i, j] > 0)
                    if self.op == "+=!" and self.product and self.other == "0" and not structural:
                        continue  # left out, whatever w is
                    factor = float(x[eval(at_row, {}, point), eval(at_column, {}, point)]) if taken else other
                    term = factor * float(w[k]) if self.product else factor + float(w[k])
                    out[i, j] = {"+=!": lambda a, b: a + b, "max=!": np.maximum, "min=!": np.minimum}[self.op](
                        out[i, j], term)
        return out


def judge(tool, folder, program, rng, kernels):
    shape, taps = (rng.randint(1, 9), rng.choice([1, 2, 3, 7, 17, 33])), rng.randint(1, 4)
    numbers = np.random.default_rng(rng.randrange(2**32))
    arrays = {"x": numbers.standard_normal(shape), "y": numbers.standard_normal(shape),
              "w": numbers.standard_normal(taps)}
    arrays = {name: array.astype(np.float32) for name, array in arrays.items()}
    if rng.random() < 0.3:
        arrays["w"][rng.randrange(taps)] = rng.choice([np.inf, -np.inf, np.nan])
    for name, array in arrays.items():
        np.save(folder / f"{name}.npy", array)
    (folder / "f.tc").write_text(program.text())
    with np.errstate(all="ignore"):
        expected = program.expected(arrays["x"], arrays["y"], arrays["w"])
    for engine in ["reference"] + (["default"] if kernels else []):
        command = [tool, "run", folder / "f.tc", "--engine", engine, "--output-dir", folder / "out", "--quiet"]
        for name in arrays:
            command += ["--input", f"{name}={folder / name}.npy"]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode != 0:
            return f"{engine}: exit {done.returncode}: {done.stderr}"
        got = np.load(folder / "out" / "o.npy")
        if not np.allclose(got, expected, rtol=1e-4, atol=1e-5, equal_nan=True):
            return f"{engine}: got\n{got}\nwhere numpy has\n{expected}\nof {arrays}"
    return ""


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--programs", type=int, default=1000)
    parser.add_argument("--kernels", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--tool", default="build/cli/tile-tune")
    options = parser.parse_args()
    wrong = 0
    with tempfile.TemporaryDirectory() as folder:
        for number in range(options.programs):
            rng = random.Random(options.seed * 1_000_003 + number)
            program = Program(rng)
            fault = judge(options.tool, pathlib.Path(folder), program, rng, number < options.kernels)
            if fault:
                wrong += 1
                print(f"program {number}:\n{program.text()}{fault}\n")
    print(f"{options.programs} programs, {min(options.kernels, options.programs)} of them by kernels: {wrong} wrong")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
