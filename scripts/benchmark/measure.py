"""Runs `tile-tune bench` workload by workload."""

import json
import subprocess
import sys
from dataclasses import dataclass

from benchmark import judge, store

# A bar in percent of a peak is met in each of three fresh processes (the clock moves by a tenth between them).
PEAK_PROCESSES = 3


@dataclass(frozen=True)
class Pass:
    """One way of measuring the suite: a name in the file, and the options of `bench` it takes."""
    name: str
    threads: int
    options: tuple = ()


AVX2 = "x86-64-linux-avx-avx2-f16c-fma-sse41"
PASSES = (Pass("threads-2", 2), Pass("threads-1", 1), Pass("avx2", 2, ("--target", AVX2)),
          Pass("autoschedulers", 2, ("--autoschedulers", "--against", "none")))


def suite_of(path):
    """name -> what the suite says of a workload, in its order."""
    with open(path, encoding="utf-8") as file:
        return {workload["name"]: workload for workload in json.load(file)["workloads"]}


def processes_wanted(one, workload, last_cache):
    """In how many fresh processes the pass times the workload."""
    shares = [row for row in judge.ROWS if row.key.endswith("_share")]
    judged = one.name == "threads-2" and any(judge.in_row(row, workload, last_cache) for row in shares)
    return PEAK_PROCESSES if judged else 1


def bench(tool, suite, name, one, options):
    """The workload as `bench --json` has it, with the target; raises CalledProcessError with the tool's own words."""
    command = [tool, "bench", f"{suite}:{name}", "--json", "--threads", str(one.threads), *one.options, *options]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
    if done.returncode != 0:
        raise subprocess.CalledProcessError(done.returncode, command, done.stdout, done.stderr)
    result = json.loads(done.stdout)
    return result["workloads"][0], result["target"]


def measure_once(tool, suite, described, one, options, tries):
    """The least disturbed of at most `tries` runs."""
    best = None
    for _ in range(tries):
        workload, _ = bench(tool, suite, described["name"], one, options)
        workload.update(dtype=described.get("dtype", "f32"), weights=described.get("weights", []))
        if best is None or not judge.is_disturbed(workload):
            best = store.trimmed(workload)
        if not judge.is_disturbed(workload):
            break
    return best


def measure_pass(data, path, one, suite, names, described, tool, options, tries, again):
    """Fills in what the file lacks of a pass; a workload that cannot be measured is named and passed over."""
    runs = data["passes"].setdefault(one.name, {})
    last_cache = data["machine"]["target"]["l3_bytes"]
    for number, name in enumerate(names, 1):
        wanted = processes_wanted(one, described[name], last_cache)
        kept = [] if again else [run for run in runs.get(name, []) if not judge.is_disturbed(run)]
        if len(kept) >= wanted:
            continue
        print(f"{one.name}: {number} of {len(names)}, {name}", file=sys.stderr, flush=True)
        try:
            while len(kept) < wanted:
                kept.append(measure_once(tool, suite, described[name], one, options, tries))
        except subprocess.CalledProcessError as error:
            if error.returncode == 130:
                raise KeyboardInterrupt from error
            print(f"{name} is left out: {error.stderr.strip().splitlines()[-1:]}", file=sys.stderr)
            continue
        runs[name] = kept
        in_order = {known: runs[known] for known in described if known in runs}
        data["passes"][one.name] = runs = in_order
        store.save(path, data)
