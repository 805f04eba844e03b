"""One workload in one process: tile-tune's kernels beside numpy, PyTorch and JAX, verified, then in rounds.

Runs in the environment of scripts/bench-requirements.txt; what it needs arrives as JSON on standard input, and the
workload, as `tile-tune bench --json` writes one, leaves on standard output.
"""

import ctypes
import json
import math
import os
import statistics
import sys

from benchmark import rounds

M_TRIM_THRESHOLD, M_MMAP_MAX = -1, -4  # malloc.h


def keep_memory():
    """Freed memory stays with the process: results land where earlier ones did, in pages that are there."""
    libc = ctypes.CDLL(None)
    libc.mallopt(M_MMAP_MAX, 0)
    libc.mallopt(M_TRIM_THRESHOLD, 2**31 - 1)


def main():
    request = json.load(sys.stdin)
    os.sched_setaffinity(0, request["cores"])  # before anything counts the cores it may use
    keep_memory()
    replies = os.dup(1)
    os.dup2(2, 1)  # what libraries print must not get into the result
    placement = rounds.Placement(request["cores"])  # before any library starts threads
    from benchmark.contestants import Contest
    placement.close()
    result = Contest(request, placement).run()
    with os.fdopen(replies, "w", encoding="utf-8") as stream:
        json.dump(result, stream)


def entry(name, kind, outcome="ok", reason="", error=0.0):
    return {"name": name, "kind": kind, "outcome": outcome, "reason": reason, "note": "", "verify_error": error}


def with_samples(one, samples, workload, seed):
    lo, hi = rounds.bootstrap_median(samples, seed)
    median = statistics.median(samples)
    return {**one, "median_ns": median, "interval_ns": [lo, hi], "p10_ns": rounds.quantile(samples, 0.1),
            "p90_ns": rounds.quantile(samples, 0.9), "samples_ns": samples, "disturbed": rounds.is_disturbed(samples),
            "gflops": workload["flops"] / median, "gbytes": workload["bytes"] / median, "roof_share": 0}


def tolerance_factor(workload, output_elements):
    """4·√K of the reference's rule (frontend/reference/tolerance.h), K from the work for one element."""
    return 4 * math.sqrt(max(1.0, workload["flops"] / max(1, output_elements)))


if __name__ == "__main__":
    main()
