"""TVM MetaSchedule's search for one workload in a process of its own.

Runs in the environment of scripts/bench-tvm-requirements.txt; what it needs arrives as JSON on standard input, what
became of the search leaves on standard output, and the best kernel as a shared library at the path asked for.
"""

import json
import os
import pathlib
import sys
import tempfile
import time

import tvm
import tvm.s_tir.tensor_intrin  # takes 16 s, which would else count as part of the search
from tvm.s_tir import meta_schedule as ms
from tvm.target import codegen

from benchmark import operators, tvm_operators


# Each round starts new building processes, which are busy importing TVM for most of the 30 s they have by default: on a
# machine that does anything else none of them would build anything.
LONGEST_BUILD_S = 120


def host_target(threads):
    """This CPU by the name LLVM has for it."""
    target = tvm.target.Target({"kind": "llvm", "mcpu": codegen.llvm_get_system_cpu(), "num-cores": threads})
    has_wide_vectors = "avx512f" in pathlib.Path("/proc/cpuinfo").read_text(encoding="utf-8")
    if has_wide_vectors and not codegen.llvm_cpu_has_features("avx512f", target):
        raise RuntimeError(f"TVM's LLVM takes this CPU for {target.attrs['mcpu']}, which has no AVX-512")
    return target


def search(request, module, target, folder):
    """The database and the seconds that filled it; importing TVM and compiling the winner are not in them."""
    threads = request["threads"]
    start = time.perf_counter()
    builder = ms.builder.LocalBuilder(max_workers=threads, timeout_sec=LONGEST_BUILD_S)
    database = ms.tune_tir(module, target, folder, request["trials"], num_trials_per_iter=request["batch"],
                           builder=builder, num_tuning_cores=threads, seed=request["seed"])
    return database, time.perf_counter() - start


def main():
    request = json.load(sys.stdin)
    replies = os.dup(1)
    os.dup2(2, 1)  # what TVM prints must not get into the result
    target = host_target(request["threads"])
    operation = operators.operation_of(request["workload"])
    module = tvm.IRModule({"main": tvm_operators.primitive(operation, request["shapes"])})
    with tempfile.TemporaryDirectory() as folder:
        database, seconds = search(request, module, target, folder)
    schedule = ms.tir_integration.compile_tir(database, module, target)
    if schedule is None:
        raise RuntimeError(f"none of {request['trials']} trials gave a kernel")
    with tvm.transform.PassContext(opt_level=3):
        tvm.compile(schedule.mod, target).export_library(request["library"])
    with os.fdopen(replies, "w", encoding="utf-8") as stream:
        json.dump({"seconds": seconds, "trials": request["trials"], "batch": request["batch"], "target": str(target),
                   "kernels": len(database.get_all_tuning_records())}, stream)


if __name__ == "__main__":
    main()
