#!/usr/bin/env python3
"""Times a tuning database's kernels against numpy, PyTorch (eager and compiled) and JAX, interleaved in one process.

Emits each workload's kernels with `tile-tune build`, loads them through ctypes, verifies everybody, and writes what
`tile-tune bench --json` writes. The libraries come from scripts/bench-requirements.txt into an environment of their own
(.venv-bench, 9 GB) on the first call. Goes on where an earlier call stopped."""

import argparse
import fnmatch
import json
import os
import pathlib
import subprocess
import sys
import tempfile
from dataclasses import asdict

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "scripts"))

from benchmark import environment, kernels, measure, operators, store  # noqa: E402


def arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--suite", default=str(ROOT / "configs" / "suites" / "public.json"), metavar="FILE")
    parser.add_argument("--tool", default=str(ROOT / "build" / "cli" / "tile-tune"), metavar="FILE")
    parser.add_argument("--db", metavar="FILE", help="tuning database (default: the tool's own)")
    parser.add_argument("--only", default="*", metavar="GLOB,...", help="names of workloads (patterns) or groups")
    parser.add_argument("--threads", type=int, default=2, metavar="N")
    parser.add_argument("--rounds", type=int, default=31, metavar="N", help="samples of each, at least (default: 31)")
    parser.add_argument("--time", type=float, default=1, metavar="S", help="seconds of rounds (default: 1)")
    parser.add_argument("--output", default=str(ROOT / "out" / "bench-python.json"), metavar="FILE",
                        help="read and written (default: out/bench-python.json)")
    parser.add_argument("--again", action="store_true", help="measure also what the file holds already")
    parser.add_argument("--environment", default=str(ROOT / ".venv-bench"), metavar="DIR")
    return parser.parse_args()


def emitted(options, name, directory):
    """The libraries by name, tuned only if the database has a schedule, and the kernel's arguments."""
    program = f"{options.suite}:{name}"
    default = kernels.build(options.tool, program, options.threads, pathlib.Path(directory) / "none.db",
                            pathlib.Path(directory) / "default")
    tuned = kernels.build(options.tool, program, options.threads, options.db, pathlib.Path(directory) / "tuned")
    libraries = {"default": str(default.library)} | ({"tuned": str(tuned.library)} if tuned.is_tuned else {})
    return libraries, [asdict(argument) for argument in default.arguments]


def contest(options, workload, python, variables):
    """The workload as measured; raises CalledProcessError."""
    with tempfile.TemporaryDirectory() as directory:
        libraries, signature = emitted(options, workload["name"], directory)
        request = {"workload": workload, "libraries": libraries, "arguments": signature, "rounds": options.rounds,
                   "seconds": options.time, "cores": sorted(os.sched_getaffinity(0))[:options.threads]}
        described = {key: workload[key] for key in ("name", "group", "flops", "bytes", "dtype", "weights")}
        return {**described, "alone": True, **environment.ask("contest", request, python, variables)}


def main():
    options = arguments()
    described = measure.suite_of(options.suite)
    names = [name for name, one in described.items() if operators.operation_of(one) and any(
        fnmatch.fnmatchcase(name, pattern) or one["group"] == pattern for pattern in options.only.split(","))]
    if not names:
        sys.exit(f"no workload of {options.suite} is named {options.only}, nor its group")
    python = environment.python(options.environment, ROOT / "scripts" / "bench-requirements.txt",
                                "numpy, PyTorch, JAX and oneDNN (9 GB)")
    with tempfile.TemporaryDirectory() as directory:
        variables = environment.variables(directory)
        path = pathlib.Path(options.output)
        result = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {
            "kind": "benchmark", "format": 1, "seed": 1, "threads": options.threads, "workloads": []}
        if result["threads"] != options.threads:
            sys.exit(f"{path} was measured with {result['threads']} threads; name another file with --output")
        result["versions"] = environment.versions(python, environment.LIBRARIES)
        for number, name in enumerate(names, 1):
            known = [one for one in result["workloads"] if one["name"] == name]
            if known and not options.again:
                continue
            print(f"{number} of {len(names)}, {name}", file=sys.stderr, flush=True)
            try:
                measured = contest(options, described[name], python, variables)
            except (subprocess.CalledProcessError, subprocess.TimeoutExpired) as error:
                words = (error.stderr or "").strip().splitlines()[-1:] or [str(error)]
                print(f"{name} is left out: {words[0]}", file=sys.stderr)
                continue
            result["workloads"] = [one for one in result["workloads"] if one["name"] != name] + [measured]
            store.save(path, result)
    print(path)


if __name__ == "__main__":
    main()
