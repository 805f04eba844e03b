"""One program through `tile-tune run`, and what is wrong with what came out."""

import os
import pathlib
import platform
import subprocess
from dataclasses import dataclass

import numpy as np

import expressions as e
import programs
import scalars as s

TIMEOUT_S = 300


@dataclass
class Verdict:
    outcome: str  # right, wrong, refused, accepted, crashed, undecided
    detail: str = ""
    compared: int = 0  # elements
    left_open: int = 0  # by the documents


class Case:
    """A program in a folder of its own."""

    def __init__(self, tool, program, folder):
        self.tool, self.program, self.folder = tool, program, pathlib.Path(folder)
        self.folder.mkdir(parents=True, exist_ok=True)
        if not program.einsum:
            (self.folder / "program.tc").write_text(program.text())
        for name, (kind, _) in program.inputs.items():
            self.save(name, program.data[name], kind)

    def save(self, name, numbers, kind):
        with np.errstate(over="ignore"):
            np.save(self.folder / f"{name}.npy", s.to_storage(numbers, kind))

    def command(self, engine, *options):
        inputs = [f"--input={name}={name}.npy" for name in self.program.inputs]
        return [self.tool, "run", self.program.einsum or "program.tc", *inputs, "--output-dir=out",
                f"--engine={engine}", *self.program.options, *options]

    def run(self, engine, *options):
        environment = os.environ | {"TILE_TUNE_DB": str(self.folder / "none.db")}
        return subprocess.run(self.command(engine, *options), cwd=self.folder, env=environment, capture_output=True,
                              text=True, timeout=TIMEOUT_S)

    def bits(self):
        """Of every output, as unsigned integers of its elements' size."""
        arrays = {name: np.load(self.folder / "out" / f"{name}.npy") for name in self.program.outputs}
        return {name: array.view(f"u{array.itemsize}") for name, array in arrays.items()}

    def outputs(self):
        types = programs.types_of(self.program)
        return {name: s.from_storage(np.load(self.folder / "out" / f"{name}.npy"), types[name])
                for name in self.program.outputs}


def judge(case, engine):
    program = case.program
    try:
        expected = None if program.expect == "refused" else programs.results(program)
        offence = None
    except e.OutOfRange as error:
        expected, offence = None, error
    ran = case.run(engine)
    said = ran.stderr.strip()
    if ran.returncode not in (0, 2, 3, 4, 5):
        return Verdict("crashed", f"exit {ran.returncode}: {said}")
    if program.expect == "refused":
        return Verdict("right") if ran.returncode in (2, 3) else Verdict("accepted", "reads outside its tensor")
    if offence:
        return judge_offence(ran, said, offence)
    if ran.returncode != 0:
        return Verdict("refused", f"exit {ran.returncode}: {said}")
    verdict = compare(expected, case.outputs())
    if verdict.outcome == "right" and "--deterministic" in program.options and engine != "reference":
        return same_bits(case, engine, verdict)
    return verdict


def judge_offence(ran, said, offence):
    tensor, index = offence.args
    if ran.returncode == 0:
        return Verdict("accepted", f"index {index} of {tensor}")
    if ran.returncode != 3 or str(index) not in said or tensor not in said:
        return Verdict("wrong", f"exit {ran.returncode} where index {index} of {tensor} is out of range: {said}")
    return Verdict("right")


def compare(expected, outputs):
    compared = 0
    for name, (kind, elements) in expected.items():
        got = outputs[name]
        for place, value in elements.items():
            if value is None:
                continue
            compared += 1
            x = got[place].item()
            if not (value.holds(x) if kind.is_float else int(x) == value):
                where = f"{name}[{', '.join(map(str, place))}]"
                return Verdict("wrong", f"{where} is {x!r}, not {value}", compared)
    left_open = sum(len(elements) for _, elements in expected.values()) - compared
    return Verdict("undecided" if left_open and not compared else "right", "", compared, left_open)


def same_bits(case, engine, verdict):
    """On any number of threads and any CPU, in rows of any length and any storage order, of which files do not tell."""
    first = case.bits()
    columns = [f"--layout={name}=col" for name in case.program.inputs]
    others = [["--threads=1"], ["--threads=2"], columns]
    if platform.machine() == "x86_64":
        others.append(["--target=x86-64-linux"])
    variants = [(case, options, first) for options in others]
    narrower = programs.narrower(case.program, "j")
    if narrower:
        shorter = {name: array[:, :narrower.shape_of(name)[1]] for name, array in first.items()}
        variants.append((Case(case.tool, narrower, case.folder / "narrower"), [], shorter))
    for one, options, expected in variants:
        ran, what = one.run(engine, *options), " ".join(options) or "fewer columns"
        if ran.returncode != 0:
            return Verdict("refused", f"{what}: exit {ran.returncode}: {ran.stderr.strip()}")
        got = one.bits()
        if any(not np.array_equal(got[name], expected[name]) for name in got):
            return Verdict("wrong", f"other bits with {what}", verdict.compared)
    return verdict
