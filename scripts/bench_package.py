#!/usr/bin/env python3
"""Times the Python package, called from Python, against numpy, PyTorch (eager and compiled) and JAX.

Takes the suite's einsums and texts: tunes each by tile_tune.tune(), verifies everybody in double precision, times them
interleaved in one process, and writes a table. The libraries come from scripts/bench-requirements.txt into an
environment of their own (.venv-bench, 9 GB) on the first call. Goes on where an earlier call stopped."""

import argparse
import fnmatch
import os
import pathlib
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "scripts"))

from benchmark import environment, measure, package_calls, package_document, store  # noqa: E402


def arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--suite", default=str(ROOT / "configs" / "suites" / "public.json"), metavar="FILE")
    parser.add_argument("--package", default=str(ROOT / "build" / "python"), metavar="DIR",
                        help="where the package tile_tune is (default: build/python)")
    parser.add_argument("--only", default="*", metavar="GLOB,...", help="names of workloads (patterns) or groups")
    parser.add_argument("--tune", type=float, default=60, metavar="S", help="seconds of each search (default: 60)")
    parser.add_argument("--threads", type=int, default=2, metavar="N")
    parser.add_argument("--rounds", type=int, default=31, metavar="N", help="samples of each, at least (default: 31)")
    parser.add_argument("--time", type=float, default=1, metavar="S", help="seconds of rounds (default: 1)")
    parser.add_argument("--output", default=str(ROOT / "out" / "bench-package.json"), metavar="FILE",
                        help="read and written (default: out/bench-package.json); its database is beside it")
    parser.add_argument("--document", metavar="FILE", help="also writes the table as Markdown")
    parser.add_argument("--again", action="store_true", help="tune and measure also what the file holds already")
    parser.add_argument("--environment", default=str(ROOT / ".venv-bench"), metavar="DIR")
    return parser.parse_args()


def measured(options, workload, python, variables):
    """The workload as `tile-tune bench --json` has one, with what its search found."""
    database = str(pathlib.Path(options.output).with_suffix(".db").absolute())
    search = environment.ask("package_tuning", {"workload": workload, "seconds": options.tune, "threads": options.threads,
                                    "database": database}, python, variables)
    cores = sorted(os.sched_getaffinity(0))[:options.threads]
    result = environment.ask("contest", {"workload": workload, "libraries": {}, "package_database": database, "cores": cores,
                             "rounds": options.rounds, "seconds": options.time}, python, variables)
    described = {key: workload[key] for key in ("name", "group", "flops", "bytes", "dtype")}
    return store.trimmed({**described, "search": search, "load": os.getloadavg()[0], **result})


def main():
    options = arguments()
    described = measure.suite_of(options.suite)
    names = [name for name, one in described.items() if package_calls.is_called(one) and any(
        fnmatch.fnmatchcase(name, pattern) or one["group"] == pattern for pattern in options.only.split(","))]
    if not names:
        sys.exit(f"no einsum or text of {options.suite} is named {options.only}, nor its group")
    python = environment.python(options.environment, ROOT / "scripts" / "bench-requirements.txt",
                                "numpy, PyTorch, JAX and oneDNN (9 GB)")
    path = pathlib.Path(options.output)
    data = store.read_json(path) if path.exists() else {"kind": "package", "format": 1, "threads": options.threads,
                                                        "workloads": {}}
    if data["threads"] != options.threads:
        sys.exit(f"{path} was measured with {data['threads']} threads; name another file with --output")
    data.update(versions=environment.versions(python, environment.LIBRARIES), date=time.strftime("%Y-%m-%d"),
                cpu=environment.cpu_model(), of=sum(map(package_calls.is_called, described.values())))
    with tempfile.TemporaryDirectory() as directory:
        variables = {**environment.variables(directory), "PYTHONPATH": str(pathlib.Path(options.package).absolute())}
        for number, name in enumerate(names, 1):
            known = data["workloads"].get(name)
            if known and known["search"]["asked"] >= options.tune and not options.again:
                continue
            print(f"{number} of {len(names)}, {name}", file=sys.stderr, flush=True)
            try:
                one = measured(options, described[name], python, variables)
            except (subprocess.CalledProcessError, subprocess.TimeoutExpired) as error:
                words = (error.stderr or "").strip().splitlines()[-1:] or [str(error)]
                print(f"{name} is left out: {words[0]}", file=sys.stderr)
                continue
            one["search"]["asked"] = options.tune
            data["workloads"][name] = one
            data["workloads"] = {known: data["workloads"][known] for known in described if known in data["workloads"]}
            store.save(path, data)
    if options.document:
        pathlib.Path(options.document).write_text(package_document.render(data), encoding="utf-8")
    print(package_document.verdict(data))


if __name__ == "__main__":
    main()
