"""One workload tuned from Python, by tile_tune.tune(): a request as JSON on standard input, what was found on standard
output. Runs where the package is."""

import dataclasses
import json
import sys

import torch

from benchmark import package_calls, torch_operators


def main():
    request = json.load(sys.stdin)
    import tile_tune
    what, _ = package_calls.call_of(request["workload"])
    arrays = [torch.empty(one.shape, dtype=torch_operators.TYPES[one.dtype])
              for one in package_calls.arguments_of(request["workload"]) if not one.is_output]
    result = tile_tune.tune(what, *arrays, seconds=request["seconds"], threads=request["threads"],
                            database=request["database"], progress=False)
    found = dataclasses.asdict(result)
    json.dump({key: found[key] for key in ("default_ns", "tuned_ns", "ratio", "trials", "seconds")}, sys.stdout)


if __name__ == "__main__":
    main()
