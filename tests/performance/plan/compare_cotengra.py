"""Orders of contractions beside cotengra's: FLOP of both on the networks of networks.py, and their ratio.

Needs `pip install cotengra cotengrust kahypar optuna`, in an environment of its own, and the program beside it:

    cmake --build build --target order_networks
    python tests/performance/plan/compare_cotengra.py --cotengra out.json --repeats 3 --seconds 30
    python tests/performance/plan/compare_cotengra.py --cotengra out.json --ours "default=" "5 s=--seconds 5"

The first fills the file with what it lacks, as long as that takes; the second prints a table. Times are CPU time of
one thread, so that a busy machine judges nobody."""

import argparse
import json
import math
import pathlib
import statistics
import subprocess
import sys
import time
import types

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from networks import flops, networks

PROGRAM = pathlib.Path(__file__).parents[3] / "build/tests/performance/plan/order_networks"


def of_cotengra(network, seconds, seed):
    import random

    import cotengra
    from cotengra.hyperoptimizers import hyper

    hyper.time = types.SimpleNamespace(time=time.process_time, sleep=time.sleep)
    random.seed(seed)
    symbols = [cotengra.get_symbol(i) for i in range(len(network["extents"]))]
    optimizer = cotengra.HyperOptimizer(
        methods=["greedy", "kahypar"],
        minimize="flops",
        reconf_opts={},
        max_time=seconds,
        max_repeats=1_000_000,
        parallel=False,
        progbar=False,
        on_trial_error="ignore",
    )
    tree = optimizer.search(
        [[symbols[label] for label in operand] for operand in network["operands"]],
        [symbols[label] for label in network["result"]],
        {symbols[label]: extent for label, extent in enumerate(network["extents"])},
    )
    return flops(network, tree.get_ssa_path())


def fill(path, repeats, seconds):
    known = json.loads(path.read_text()) if path.exists() else {}
    for repeat in range(repeats):
        for network in networks():
            runs = known.setdefault(network["name"], [])
            if len(runs) > repeat:
                continue
            runs.append(of_cotengra(network, seconds, repeat))
            path.write_text(json.dumps(known, indent=1))


def ours(options):
    """What the program says of each network: its order, and the seconds that took."""
    text = "\n".join(json.dumps(network) for network in networks())
    done = subprocess.run([PROGRAM, *options.split()], input=text, text=True, capture_output=True, check=True)
    return [json.loads(line) for line in done.stdout.splitlines()]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cotengra", type=pathlib.Path, required=True)
    parser.add_argument("--repeats", type=int, default=0)
    parser.add_argument("--seconds", type=float, default=30)
    parser.add_argument("--ours", nargs="*", default=[], metavar="NAME=OPTIONS")
    arguments = parser.parse_args()
    fill(arguments.cotengra, arguments.repeats, arguments.seconds)
    if not arguments.ours:
        return
    theirs = json.loads(arguments.cotengra.read_text())
    columns = [column.split("=", 1) for column in arguments.ours]
    results = {name: ours(options) for name, options in columns}
    print("| network | tensors | cotengra, log10 FLOP |", *(f"{name}: ratio, s |" for name, _ in columns))
    print("| --- |" + " --- |" * (2 + len(columns)))
    ratios = {name: [] for name, _ in columns}
    for i, network in enumerate(networks()):
        runs = theirs.get(network["name"])
        best = statistics.median(runs) if runs else math.nan
        cells = []
        for name, _ in columns:
            found = results[name][i]
            ratio = flops(network, found["order"]) / best
            ratios[name].append(ratio)
            cells.append(f"{ratio:.3f}, {found['seconds']:.2f} |")
        print(f"| {network['name']} | {len(network['operands'])} | {math.log10(best):.2f} |", *cells)
    for name, values in ratios.items():
        values = [value for value in values if not math.isnan(value)]
        mean = math.exp(statistics.mean(map(math.log, values)))
        print(f"{name}: geometric mean {mean:.3f}, worst {max(values):.3f}")


if __name__ == "__main__":
    main()
