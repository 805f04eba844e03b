#!/usr/bin/env python3
"""Tunes workloads with tile-tune and with TVM MetaSchedule, as many trials each, and times both kernels side by side.

Both start from nothing and are timed by the wall clock; then both kernels are verified and timed interleaved in one
process. TVM comes from scripts/bench-tvm-requirements.txt into an environment of its own (.venv-tvm, 600 MB) on the
first call. Goes on where an earlier call stopped: searches that ended are kept in --dir."""

import argparse
import json
import os
import pathlib
import shutil
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "scripts"))

from benchmark import environment, kernels, measure, store, tvm_document  # noqa: E402

WORKLOADS = ("matmul_512", "tc_tmm_128x1024x1024", "resnet_c2_3x3_b1_nhwc", "tc_gc_32x32x4x56")
LIBRARIES = ("apache-tvm", "apache-tvm-ffi", "xgboost-cpu")
SEED = 1


def arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--suite", default=str(ROOT / "configs" / "suites" / "public.json"), metavar="FILE")
    parser.add_argument("--tool", default=str(ROOT / "build" / "cli" / "tile-tune"), metavar="FILE")
    parser.add_argument("--workloads", default=",".join(WORKLOADS), metavar="NAME,...", help="of %(default)s")
    parser.add_argument("--trials", type=int, default=64, metavar="N")
    parser.add_argument("--batch", type=int, default=16, metavar="N", help="TVM's trials a round, between which its "
                        "cost model learns (default: 16, four rounds)")
    parser.add_argument("--threads", type=int, default=2, metavar="N")
    parser.add_argument("--rounds", type=int, default=31, metavar="N", help="samples of each, at least (default: 31)")
    parser.add_argument("--time", type=float, default=2, metavar="S", help="seconds of rounds (default: 2)")
    parser.add_argument("--output", default=str(ROOT / "out" / "bench-tvm.json"), metavar="FILE",
                        help="read and written (default: out/bench-tvm.json)")
    parser.add_argument("--dir", default=str(ROOT / "out" / "tvm"), metavar="DIR",
                        help="where searches are kept (default: out/tvm)")
    parser.add_argument("--again", action="store_true", help="time kernels also where the file holds them already; "
                        "the searches stay as they are")
    parser.add_argument("--environment", default=str(ROOT / ".venv-tvm"), metavar="DIR")
    options = parser.parse_args()
    options.workloads = options.workloads.split(",")
    if unknown := set(options.workloads) - set(WORKLOADS):
        parser.error(f"there is no comparison of {', '.join(sorted(unknown))}; there are {', '.join(WORKLOADS)}")
    return options


def once(path, search):
    """What the search returned when it ended; runs it, from the beginning, unless it did already."""
    if path.exists():
        return json.loads(path.read_text(encoding="utf-8"))
    result = search()
    store.save(path, result)
    return result


def run(command, **keywords):
    """The JSON a command writes; raises CalledProcessError with the command's own words."""
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False, **keywords)
    if done.returncode != 0:
        raise subprocess.CalledProcessError(done.returncode, command, done.stdout, done.stderr)
    return json.loads(done.stdout)


def own_search(options, name, folder):
    shutil.rmtree(folder, ignore_errors=True)  # what an interrupted search has left would be a head start
    folder.mkdir(parents=True)
    start = time.monotonic()
    summary = run([options.tool, "tune", f"{options.suite}:{name}", "--db", str(folder / "tuning.db"), "--trials",
                   str(options.trials), "--threads", str(options.threads), "--seed", str(SEED), "--json"])
    return {"seconds": time.monotonic() - start, "trials": summary["trials"],
            "disturbed_trials": summary["disturbed_trials"]}


class Child:
    """A process in TVM's environment."""

    def __init__(self, python, cores):
        self.python = python
        # Without the variable TVM takes half of an x86 machine's cores, for it believes in hyper-threading.
        self.variables = {**os.environ, "TVM_NUM_THREADS": str(len(cores)), "PYTHONHASHSEED": "0"}

    def ask(self, module, request):
        return run([self.python, "-m", f"benchmark.{module}"], input=json.dumps(request), cwd=ROOT / "scripts",
                   env=self.variables)


def compared(options, workload, cores, child):
    """The workload as measured."""
    name = workload["name"]
    folder = pathlib.Path(options.dir).resolve() / f"{name}-{options.trials}-{options.threads}"
    ours = once(folder / "tile-tune.json", lambda: own_search(options, name, folder / "tile-tune"))
    built = kernels.build(options.tool, f"{options.suite}:{name}", options.threads, folder / "tile-tune" / "tuning.db",
                          folder / "kernel")
    if not built.is_tuned:
        raise ValueError(f"the database of {name}'s search holds no schedule")
    shapes = [argument.shape for argument in built.arguments]
    library = folder / f"tvm-{options.batch}.so"
    theirs = once(folder / f"tvm-{options.batch}.json", lambda: child.ask("tvm_tuning", {
        "workload": workload, "shapes": shapes, "trials": options.trials, "batch": options.batch,
        "threads": options.threads, "seed": SEED, "library": str(library)}))
    timed = child.ask("tvm_contest", {
        "workload": workload, "shapes": shapes, "libraries": {"tile-tune": str(built.library), "tvm": str(library)},
        "rounds": options.rounds, "seconds": options.time, "cores": cores})
    described = {key: workload[key] for key in ("name", "group", "flops", "bytes")}
    return {**described, "searches": {"tile-tune": ours, "tvm": theirs}, **timed}


def earlier(options):
    """What the output file holds, or nothing yet; raises ValueError if it was asked for something else."""
    asked = {"kind": "tvm", "format": 1, "threads": options.threads, "trials": options.trials, "batch": options.batch}
    path = pathlib.Path(options.output)
    if not path.exists():
        return {**asked, "workloads": []}
    result = json.loads(path.read_text(encoding="utf-8"))
    if any(result.get(key) != value for key, value in asked.items()):
        raise ValueError(f"{path} was measured with other options; name another file with --output")
    return result


def main():
    options = arguments()
    try:
        result = earlier(options)
        described = measure.suite_of(options.suite)
        python = environment.python(options.environment, ROOT / "scripts" / "bench-tvm-requirements.txt",
                                    "TVM (600 MB)")
        result["versions"] = environment.versions(python, LIBRARIES)
        cores = sorted(os.sched_getaffinity(0))[:options.threads]
        os.sched_setaffinity(0, cores)  # for both searches alike
        child = Child(python, cores)
        for number, name in enumerate(options.workloads, 1):
            if not options.again and any(one["name"] == name for one in result["workloads"]):
                continue
            print(f"{number} of {len(options.workloads)}, {name}", file=sys.stderr, flush=True)
            measured = store.trimmed(compared(options, described[name], cores, child))
            kept = {one["name"]: one for one in result["workloads"]} | {name: measured}
            result["workloads"] = [kept[known] for known in WORKLOADS if known in kept]
            store.save(options.output, result)
    except KeyboardInterrupt:
        sys.exit("bench_tvm: stopped; the next call goes on from here")
    except subprocess.CalledProcessError as error:
        words = error.stderr.strip().splitlines()[-1:] or [str(error)]
        sys.exit(f"bench_tvm: {words[0]}")
    except (OSError, ValueError) as error:
        sys.exit(f"bench_tvm: {error}")
    print(tvm_document.render(result))


if __name__ == "__main__":
    main()
