"""One workload in one process: tile-tune's tuned kernel beside TVM's, verified, then in rounds.

Runs in the environment of scripts/bench-tvm-requirements.txt; what it needs arrives as JSON on standard input, and the
workload, as `tile-tune bench --json` writes one, leaves on standard output.
"""

import json
import os
import sys

from benchmark import contest, kernels, operators, rounds

SEED = 1
OWN, TVM = "tile-tune", "tvm"


def main():
    request = json.load(sys.stdin)
    os.sched_setaffinity(0, request["cores"])  # before anything counts the cores it may use
    replies = os.dup(1)
    os.dup2(2, 1)  # what libraries print must not get into the result
    placement = rounds.Placement(request["cores"])  # before any library starts threads
    result = compared(request, placement)
    with os.fdopen(replies, "w", encoding="utf-8") as stream:
        json.dump(result, stream)


def compared(request, placement):
    # numpy's threads start when it is imported.
    import numpy as np
    import tvm

    from benchmark import tvm_operators

    workload = request["workload"]
    tensors = [tvm.runtime.empty(shape, "float32") for shape in request["shapes"]]
    *inputs, output = [np.from_dlpack(tensor) for tensor in tensors]  # the same memory
    generator = np.random.default_rng(SEED)
    for array in inputs:
        array[...] = generator.uniform(-1, 1, array.shape)
    operation = operators.operation_of(workload)
    expected = tvm_operators.reference(operation, [array.astype(np.float64) for array in inputs])
    terms = tvm_operators.reference(operation, [np.abs(array).astype(np.float64) for array in inputs])
    epsilon = float(np.finfo(np.float32).eps)
    bound = contest.tolerance_factor(workload, output.size) * epsilon * terms + 2 * epsilon * np.abs(expected)
    placement.close()

    pointers = [array.ctypes.data for array in [*inputs, output]]
    function = tvm.runtime.load_module(request["libraries"][TVM])["main"]
    calls = {OWN: kernels.load(request["libraries"][OWN], pointers, len(request["cores"])),
             TVM: lambda: function(*tensors)}
    entries = {}
    for name, call in calls.items():
        output.fill(np.nan)
        placement.open()  # libraries that start threads count the cores it may use
        call()
        placement.close()
        error = float(np.nan_to_num(np.abs(output - expected) / bound, nan=np.inf).max())
        entries[name] = contest.entry(name, "schedule", "ok" if error <= 1 else "wrong",
                                      "" if error <= 1 else "its result differs", error)
    if any(entry["outcome"] != "ok" for entry in entries.values()):
        return {"entries": list(entries.values())}
    with rounds.alone():
        samples, _ = rounds.run(calls, calls, placement, request["rounds"], request["seconds"], SEED)
    timed = [contest.with_samples(entries[name], values, workload, SEED) for name, values in samples.items()]
    return {"entries": timed, "tuned_over_tvm": rounds.speed_ratio(samples[OWN], samples[TVM], SEED)}


if __name__ == "__main__":
    main()
