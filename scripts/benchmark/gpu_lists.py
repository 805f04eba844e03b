"""Which workloads scripts/gpu-check takes for which part: a file a part, of lines SUITE NAME."""

import json
import pathlib
import sys

# Of the public suite by group, what is larger in a suite of its own; most telling first.
PARTS = {"products": ("matrix-products", "batched-products", "dtypes"),
         "memory": ("reductions", "permutations", "fused-chains"),
         "contractions": ("grouped-convolutions", "contractions", "dense-convolutions")}
SEARCHED = (("gpu", "matmul_2048"), ("public", "tc_gc_32x32x16x14"), ("public", "tccg20_abcd-aebf-dfce"),
            ("public", "sum_axis0_6144"), ("public", "softmax_4096x1024"), ("public", "tc_bmm_500x72x26x72"))


def lists(suites):
    """`suites`: name -> its workloads. Part -> [(suite, workload's name)]."""
    measured = [(suite, workload) for suite in ("gpu", "public") for workload in suites[suite]]
    parts = {"correctness": [("examples", workload["name"]) for workload in suites["examples"]]}
    for part, groups in PARTS.items():
        parts[part] = [(suite, workload["name"]) for group in groups for suite, workload in measured
                       if workload["group"] == group]
    parts["libraries"] = [one for part in PARTS for one in parts[part]]
    parts["search"] = list(SEARCHED)
    parts["schedulers"] = list(SEARCHED) + [one for one in parts["libraries"] if one not in SEARCHED]
    return parts


def main():
    folder = pathlib.Path(sys.argv[1])
    suites = {name: json.loads((folder / "suites" / f"{name}.json").read_text(encoding="utf-8"))["workloads"]
              for name in ("examples", "public", "gpu")}
    (folder / "parts").mkdir(exist_ok=True)
    for part, names in lists(suites).items():
        (folder / "parts" / part).write_text("".join(f"{suite} {name}\n" for suite, name in names), encoding="utf-8")


if __name__ == "__main__":
    main()
