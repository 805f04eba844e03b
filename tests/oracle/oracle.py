#!/usr/bin/env python3
"""Random programs, computed here from what the documents say and by `tile-tune run`; what differs is shown.

    oracle.py --tool build/cli/tile-tune --count 100              of every kind, with the reference
    oracle.py --kind guarded --engine default --seed 7 --count 1  one again

Shares no code with the project: docs/meaning.md and numpy are all it takes. The program of seed S and kind K is the
same everywhere; a run of --count N takes the seeds S to S + N - 1.
"""

import argparse
import collections
import concurrent.futures
import pathlib
import random
import shutil
import subprocess
import sys
import tempfile

import runner
from kinds import KINDS

FAILURES = ("wrong", "refused", "accepted", "crashed", "slow")


def parse(arguments):
    root = pathlib.Path(__file__).resolve().parents[2]
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tool", default=str(root / "build/cli/tile-tune"))
    parser.add_argument("--kind", action="append", choices=sorted(KINDS), help="repeatable (default: all)")
    parser.add_argument("--engine", action="append", choices=["reference", "default"],
                        help="repeatable (default: reference)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=20, help="programs of each kind")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--save", help="a folder that keeps the programs and arrays of failures")
    parser.add_argument("--quiet", action="store_true", help="no programs, only what was wrong with them")
    return parser.parse_args(arguments)


def try_one(options, kind, seed, engine, folder):
    program = KINDS[kind](random.Random(f"{kind} {seed}"))
    case = runner.Case(options.tool, program, folder)
    try:
        verdict = runner.judge(case, engine)
    except subprocess.TimeoutExpired:
        verdict = runner.Verdict("slow", f"no result in {runner.TIMEOUT_S} s")
    if options.save and verdict.outcome in FAILURES:
        shutil.copytree(folder, pathlib.Path(options.save) / f"{kind}-{seed}-{engine}", dirs_exist_ok=True)
    shutil.rmtree(folder)
    return kind, seed, engine, case, verdict


def show(options, kind, seed, engine, case, verdict):
    again = f"python3 {sys.argv[0]} --tool {options.tool} --kind {kind} --engine {engine} --seed {seed} --count 1"
    print(f"\n{kind} {seed}, {engine}: {verdict.outcome}: {verdict.detail}")
    if not options.quiet:
        print(case.program.text().rstrip())
        print(" ".join(f"{name}: {kind.short}{list(shape)}" for name, (kind, shape) in case.program.inputs.items()),
              *case.program.options)
    print(f"  {again} --save DIR", flush=True)


def table(counts, elements):
    width = max(map(len, KINDS))
    for (kind, engine), outcomes in counts.items():
        texts = [f"{number} {outcome}" for outcome, number in sorted(outcomes.items())]
        seen = elements[kind, engine]
        print(f"{kind:{width}}  {engine:9}  {sum(outcomes.values()):5} programs, {seen['compared']:7} elements "
              f"and {seen['left_open']} left open: {', '.join(texts)}")


def main(arguments=None):
    options = parse(arguments)
    options.tool = str(pathlib.Path(options.tool).resolve())
    counts, elements = collections.defaultdict(collections.Counter), collections.defaultdict(collections.Counter)
    failures = 0
    with tempfile.TemporaryDirectory(prefix="tile-tune-oracle-") as folder, \
            concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        tasks = [pool.submit(try_one, options, kind, seed, engine, pathlib.Path(folder) / f"{kind}-{seed}-{engine}")
                 for engine in options.engine or ["reference"] for kind in options.kind or KINDS
                 for seed in range(options.seed, options.seed + options.count)]
        for task in tasks:
            kind, seed, engine, case, verdict = task.result()
            counts[kind, engine][verdict.outcome] += 1
            elements[kind, engine].update(compared=verdict.compared, left_open=verdict.left_open)
            if verdict.outcome in FAILURES:
                failures += 1
                show(options, kind, seed, engine, case, verdict)
    print()
    table(counts, elements)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
