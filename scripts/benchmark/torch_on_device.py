"""What PyTorch, by NVIDIA's libraries, takes for workloads of suites on a GPU: JSON like that of an entry of bench.

As its own script on machines that have PyTorch: torch_on_device SUITES FOLDER DEVICE SECONDS, with lines of SUITE NAME
on standard input; each finding is FOLDER/NAME.json as soon as it is there. Nothing is begun after so many seconds, and
then the exit code is 1. What ends the process, or takes longer than 30 s, leaves FOLDER/NAME.part. TF32 is off. The time
is the device's, of calls in a row, in samples of about a millisecond or a hundred calls, where it can be by a graph that
holds them: what Python takes to hand over a short one is none of the libraries' time. Outputs are new memory each time,
from PyTorch's pool.
"""

import json
import pathlib
import signal
import statistics
import sys
import time

from benchmark import operators

SAMPLES, SAMPLE_MS = 31, 1.0
LONGEST = 30  # seconds


def inputs_of(workload, operation):
    """[(shape, type's name)]: what the operation takes of the workload's shapes, of which outputs are the last."""
    shapes = workload["shapes"]
    if isinstance(operation, operators.Lookup):
        count = 2 * (len(shapes) // 3)
        return [(shape, "i32" if place % 2 else workload["dtype"]) for place, shape in enumerate(shapes[:count])]
    return [(shape, workload["dtype"]) for shape in shapes[:-1]]


def _random(torch, shape, dtype, rows):
    if dtype == torch.int32:
        return torch.randint(0, rows, shape, dtype=dtype, device="cuda")
    if dtype == torch.int8:
        return torch.randint(-8, 8, shape, dtype=dtype, device="cuda")
    return (2 * torch.rand(shape, device="cuda") - 1).to(dtype)


def _milliseconds(torch, call, calls):
    begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    begin.record()
    for _ in range(calls):
        call()
    end.record()
    end.synchronize()
    return begin.elapsed_time(end)


def _captured(torch, call, calls):
    """A graph's replay that makes so many calls, or None where one of them cannot be captured."""
    graph = torch.cuda.CUDAGraph()
    try:
        with torch.cuda.graph(graph):
            for _ in range(calls):
                call()
    except RuntimeError:
        return None
    graph.replay()
    return graph.replay


def measure(workload):
    import torch
    from benchmark import torch_operators
    operation = operators.operation_of(workload)
    function = operation and torch_operators.function_of(operation)
    if function is None:
        return {"outcome": "absent", "reason": "PyTorch has no such operation"}
    torch.set_grad_enabled(False)
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = False
    torch.backends.cudnn.benchmark = True
    arguments = [_random(torch, shape, torch_operators.TYPES[dtype], workload["shapes"][0][0])
                 for shape, dtype in inputs_of(workload, operation)]
    call = lambda: function(*arguments)  # noqa: E731
    try:
        _milliseconds(torch, call, 3)
        calls = max(1, min(100, round(SAMPLE_MS / max(1e-3, _milliseconds(torch, call, 1)))))
        replay = _captured(torch, call, calls)
        samples = [(_milliseconds(torch, replay, 1) if replay else _milliseconds(torch, call, calls)) / calls * 1e6
                   for _ in range(SAMPLES)]
    except RuntimeError as error:
        return {"outcome": "run-error", "reason": str(error).strip().splitlines()[0][:300]}
    source = torch.empty(max(1, int(workload["bytes"]) // 8), dtype=torch.float32, device="cuda")
    sink = torch.empty_like(source)
    copies = [_milliseconds(torch, lambda: sink.copy_(source), 10) / 10 * 1e6 for _ in range(SAMPLES)]
    return {"name": "torch", "outcome": "ok", "median_ns": statistics.median(samples), "samples_ns": samples,
            "copy_ns": statistics.median(copies), "version": torch.__version__, "device": torch.cuda.get_device_name()}


def workload_of(suites, suite, name):
    with open(suites / f"{suite}.json", encoding="utf-8") as file:
        return next(one for one in json.load(file)["workloads"] if one["name"] == name)


def main():
    suites, folder, device, seconds = sys.argv[1:]
    ends = time.monotonic() + float(seconds)
    import torch
    torch.cuda.set_device(int(device))
    for suite, name in map(str.split, sys.stdin):
        if time.monotonic() >= ends:
            return 1
        found = pathlib.Path(folder) / f"{name}.json"
        part = found.with_suffix(".part")
        part.write_text("PyTorch ended while it measured this, or did not end", encoding="utf-8")
        signal.alarm(LONGEST)
        try:
            result = measure(workload_of(pathlib.Path(suites), suite, name))
        except Exception as error:  # whatever PyTorch raises is of one workload, unless the device is lost
            torch.cuda.synchronize()
            result = {"outcome": "run-error", "reason": str(error)[:300]}
        signal.alarm(0)
        part.write_text(json.dumps(result), encoding="utf-8")
        part.rename(found)
    return 0


if __name__ == "__main__":
    sys.exit(main())
