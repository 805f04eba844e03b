#!/usr/bin/env python3
"""Times einsums on permuted, strided, reversed and broadcast views, against numpy, PyTorch and oneDNN by hand, and tensor
networks, against numpy and PyTorch.

Each einsum is tuned for some seconds, everybody's result is compared with one in double, and rounds are interleaved;
networks are contracted along the same path by everybody. A line of JSON for each goes to the output file, and what it
holds already is left out. The libraries come from scripts/bench-requirements.txt (.venv-bench, 9 GB) unless
--here takes this interpreter's."""

import argparse
import json
import math
import os
import pathlib
import statistics
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "scripts"))

from benchmark import contest, einsum_document, einsums, environment, rounds  # noqa: E402

SEED = 1  # of the order in rounds and of the intervals
# Threads that are not pinned may wake on their caller's CPU, from which Linux moves them after some milliseconds.
WARM_S = 0.01


def arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--package", default=str(ROOT / "build" / "python"), metavar="DIR", help="with tile_tune")
    parser.add_argument("--tune", type=float, default=30, metavar="S", help="seconds of search for each (default: 30)")
    parser.add_argument("--threads", type=int, default=2, metavar="N")
    parser.add_argument("--rounds", type=int, default=31, metavar="N")
    parser.add_argument("--count", type=int, default=64, metavar="N", help="einsums (default: 64)")
    parser.add_argument("--most", type=int, default=10**9, metavar="N", help="measure so many and end")
    parser.add_argument("--networks", action="store_true", help="networks in place of einsums")
    parser.add_argument("--output", default=str(ROOT / "out" / "bench-einsum.jsonl"), metavar="FILE")
    parser.add_argument("--document", nargs=3, metavar=("FILE", "NETWORKS", "ABOUT"),
                        help="measure nothing: write FILE from --output, that of the networks, and a few words")
    parser.add_argument("--here", action="store_true", help="with this interpreter's libraries")
    parser.add_argument("--environment", default=str(ROOT / ".venv-bench"), metavar="DIR")
    return parser.parse_args()


def contestants(case_operands, subscripts, path, threads):
    """Name -> a call that gives the result; who cannot compute it is not there."""
    import numpy as np
    import tile_tune

    expression, own = subscripts, case_operands
    if path:
        expression, order = einsums.with_parentheses(subscripts, path)
        own = [case_operands[number] for number in order]
    # A permutation is a view in numpy and PyTorch, of which nothing was computed.
    owned = np.ascontiguousarray
    all_of = {"tile-tune": lambda: tile_tune.einsum(expression, *own),
              "numpy": lambda: owned(np.einsum(subscripts, *case_operands,
                                               optimize=["einsum_path", *path] if path else True))}
    if not path:
        all_of["numpy, one loop"] = lambda: owned(np.einsum(subscripts, *case_operands))
    try:
        import torch
    except ImportError:
        return all_of
    torch.set_num_threads(threads)
    # What it has no strides for it gets as a copy, which is part of the call.
    needs_copy = [any(stride < 0 for stride in one.strides) for one in case_operands]

    def tensors():
        return [torch.from_numpy(np.ascontiguousarray(one) if copy else one)
                for one, copy in zip(case_operands, needs_copy)]

    def along_the_path():
        left = tensors()
        for pair, (term, piece) in einsums.steps(subscripts, path):
            right = [left.pop(place) for place in sorted(pair, reverse=True)]
            left.append(torch.einsum(f"{term}->{piece}", *right))
        return left[0]

    all_of["torch"] = (lambda: along_the_path().numpy()) if path else (
        lambda: torch.einsum(subscripts, *tensors()).contiguous().numpy())
    return all_of if path else {**all_of, **by_hand(subscripts, case_operands)}


def by_hand(subscripts, operands):
    from benchmark import onednn

    calls = {}
    for library in onednn.installed():
        try:
            calls[library.name] = onednn.einsum(library, subscripts, operands)
        except onednn.Refused:
            continue
    return calls


def measured(calls, count):
    """Median microseconds of each, and how many times faster ours is: the median over rounds with its interval.

    Threads are not pinned: of five pools in one process, nobody can tell which threads compute and which only wait."""
    with rounds.alone():
        samples, _ = rounds.run(calls, calls, None, count, 0, SEED, WARM_S)
    entries = {}
    for name, taken in samples.items():
        ratio = rounds.speed_ratio(samples["tile-tune"], taken, SEED)
        entries[name] = {"us": statistics.median(taken) / 1e3, "ratio": ratio["median"],
                         "interval": [ratio["lo"], ratio["hi"]], "disturbed": rounds.is_disturbed(taken)}
    return entries


def work(options):
    """What is to be measured: name, subscripts, operands, path."""
    import numpy as np

    if not options.networks:
        for case in einsums.cases(options.count):
            yield case.name, case.subscripts, case.operands, None, {"dtype": case.dtype, "views": case.views}
        return
    import opt_einsum
    for name, (subscripts, extents) in einsums.networks().items():
        shapes = [[extents[label] for label in term] for term in subscripts.split("->")[0].split(",")]
        path, info = opt_einsum.contract_path(subscripts, *shapes, shapes=True, optimize="auto")
        numbers = np.random.default_rng(1)
        yield (name, subscripts, lambda shapes=shapes, numbers=numbers: [
            numbers.standard_normal(shape).astype("float32") for shape in shapes], [tuple(p) for p in path],
               {"flops": float(info.opt_cost)})


def measure(options):
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:options.threads])  # before anything counts the cores
    contest.keep_memory()
    import numpy as np
    import tile_tune

    path = pathlib.Path(options.output)
    path.parent.mkdir(parents=True, exist_ok=True)
    rows = rows_of(path) if path.exists() else []
    done, new = {row["name"] for row in rows}, 0
    for name, subscripts, make, order, more in work(options):
        if name in done or new == options.most:
            continue
        operands, new = make(), new + 1
        exact = np.einsum(subscripts, *(one.astype("float64") for one in operands), optimize=True)
        with tile_tune.tuning(options.tune, threads=options.threads, database=options.database):
            calls = contestants(operands, subscripts, order, options.threads)
            for who, call in calls.items():
                close = 1e-3 if operands[0].dtype == np.float32 else 1e-9
                if not np.allclose(call(), exact, rtol=close, atol=close * max(1.0, float(np.abs(exact).max()))):
                    sys.exit(f"{name}: {who} is wrong")
            row = {"name": name, "subscripts": subscripts, "shapes": [one.shape for one in operands], **more,
                   "entries": measured(calls, options.rounds)}
        rows.append(row)
        with path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(row) + "\n")
        print(line_of(row), flush=True)
    summarize(rows)


def line_of(row):
    who, ratio = einsum_document.best_of(row)
    entry = row["entries"]
    return (f"{row['name']:30} {'x'.join(map(str, row['shapes'][0])):>16} {entry['tile-tune']['us']:10.1f} us"
            f" {ratio:7.2f} [{entry[who]['interval'][0]:.2f} {entry[who]['interval'][1]:.2f}] of {who}")


def summarize(rows):
    ratios = [einsum_document.best_of(row)[1] for row in rows]
    if ratios:
        mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
        print(f"{len(ratios)}: geometric mean {mean:.2f}, least {min(ratios):.2f}, {sum(r < 0.9 for r in ratios)} below 0.9")


def rows_of(path):
    return [json.loads(line) for line in pathlib.Path(path).read_text(encoding="utf-8").splitlines()]


def main():
    options = arguments()
    if options.document:
        file, networks, about = options.document
        text = einsum_document.document(rows_of(options.output), rows_of(networks), about)
        pathlib.Path(file).write_text(text, encoding="utf-8")
        return
    if not options.here:
        python = environment.python(options.environment, ROOT / "scripts" / "bench-requirements.txt",
                                    "numpy, PyTorch, JAX and oneDNN (9 GB)")
        with tempfile.TemporaryDirectory() as directory:
            variables = environment.variables(directory)
            variables["OPENBLAS_NUM_THREADS"] = variables["OMP_NUM_THREADS"] = str(options.threads)
            sys.exit(os.spawnve(os.P_WAIT, python, [python, __file__, *sys.argv[1:], "--here"], variables))
    sys.path.insert(0, options.package)
    with tempfile.TemporaryDirectory() as directory:
        # Kernels and records of this measurement alone.
        os.environ["XDG_CACHE_HOME"] = directory
        options.database = str(pathlib.Path(directory) / "tuning.db")
        measure(options)


if __name__ == "__main__":
    main()
