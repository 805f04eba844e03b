import argparse
import json
import pathlib
import tempfile
import unittest

import bench_tvm
import runs
from benchmark import document, tvm_document


def workload(name, ratio, ours=40.0, theirs=200.0, disturbed=False):
    return {"name": name, "group": "matrix-products", "flops": 1 << 28, "bytes": 1 << 20, "tuned_over_tvm": ratio,
            "searches": {"tile-tune": {"seconds": ours}, "tvm": {"seconds": theirs}},
            "entries": [{**runs.entry("tile-tune", 1000.0, disturbed=disturbed), "gflops": 440.4},
                        {**runs.entry("tvm", 1250.0), "gflops": 352.3}]}


def measured(*workloads):
    return {"kind": "tvm", "format": 1, "threads": 2, "trials": 64, "batch": 16, "versions": {"apache-tvm": "1.2"},
            "workloads": list(workloads)}


def options(output, trials=64):
    return argparse.Namespace(output=str(output), threads=2, trials=trials, batch=16)


class Document(unittest.TestCase):
    def test_workloads_show_both_kernels_and_both_searches(self):
        text = tvm_document.render(measured(workload("a", runs.ratio(1.25)),
                                            workload("b", runs.ratio(3.0), ours=60.0, disturbed=True)))
        self.assertIn("## TVM MetaSchedule, 2 threads, 16 of its trials a round", text)
        self.assertIn("(apache-tvm 1.2): 64 trials each", text)
        self.assertIn("| a | 440 | 352 | 1.25 [1.23 1.27] | 40 s | 200 s | 0.20 |", text)
        self.assertIn("| b (disturbed) | 440 | 352 | 3.00 [2.94 3.06] | 60 s | 200 s | 0.30 |", text)
        self.assertIn("| faster kernels | each > 1 | 1.25 [1.23 1.27] | yes |", text)
        self.assertIn("| seconds of the search, ours over TVM's | each ≤ 1/3 | 0.30 | yes |", text)

    def test_a_lead_within_its_interval_and_a_longer_search_are_named(self):
        text = tvm_document.render(measured(workload("near", runs.ratio(1.01)),
                                            workload("long", runs.ratio(2.0), ours=70.0)))
        self.assertIn("| faster kernels | each > 1 | 1.01 [0.99 1.03] | **no**: near |", text)
        self.assertIn("| each ≤ 1/3 | 0.35 | **no**: long |", text)

    def test_a_third_is_met(self):
        self.assertIn("| each ≤ 1/3 | 0.33 | yes |",
                      tvm_document.render(measured(workload("a", runs.ratio(2.0), ours=40.0, theirs=120.0))))

    def test_a_wrong_kernel_has_no_ratio_and_is_no_win(self):
        one = workload("a", None)
        del one["tuned_over_tvm"]
        one["entries"][1] = {"name": "tvm", "kind": "schedule", "outcome": "wrong", "reason": "its result differs"}
        text = tvm_document.render(measured(one))
        self.assertIn("| a | 440 | - | tvm: its result differs | 40 s |", text)
        self.assertIn("| faster kernels | each > 1 | - | **no**: a |", text)

    def test_the_section_is_part_of_the_document(self):
        machine = {"target": {"cpu_model": "CPU", "halide": "x86-64-linux", "l3_bytes": 1}, "cores": 2,
                   "version": "1.2.3", "date": "2020-01-02"}
        data = {"machine": machine, "suite": [], "passes": {}, "histories": {}}
        self.assertNotIn("TVM", document.render(data, {}))
        text = document.render({**data, "tvm": [measured(workload("a", runs.ratio(2.0))),
                                                {**measured(workload("b", runs.ratio(3.0))), "batch": 64}]}, {})
        first, second = text.split("threads, 64 of its trials a round")
        self.assertIn("| a | 440 |", first)
        self.assertIn("| b | 440 |", second)


class Resuming(unittest.TestCase):
    def test_a_search_that_ended_is_not_run_again(self):
        with tempfile.TemporaryDirectory() as directory:
            path = pathlib.Path(directory) / "new" / "tvm.json"

            def interrupted():
                raise KeyboardInterrupt

            with self.assertRaises(KeyboardInterrupt):
                bench_tvm.once(path, interrupted)
            self.assertEqual(bench_tvm.once(path, lambda: {"seconds": 3.5}), {"seconds": 3.5})
            self.assertEqual(bench_tvm.once(path, interrupted), {"seconds": 3.5})

    def test_results_of_other_options_are_not_mixed(self):
        with tempfile.TemporaryDirectory() as directory:
            path = pathlib.Path(directory) / "out.json"
            self.assertEqual(bench_tvm.earlier(options(path))["workloads"], [])
            result = measured(workload("a", runs.ratio(2.0)))
            path.write_text(json.dumps(result), encoding="utf-8")
            self.assertEqual(bench_tvm.earlier(options(path)), result)
            with self.assertRaises(ValueError):
                bench_tvm.earlier(options(path, trials=4))

    def test_the_workloads_are_the_suites(self):
        root = pathlib.Path(bench_tvm.__file__).resolve().parent.parent
        suite = json.loads((root / "configs" / "suites" / "public.json").read_text(encoding="utf-8"))
        self.assertLessEqual(set(bench_tvm.WORKLOADS), {one["name"] for one in suite["workloads"]})


if __name__ == "__main__":
    unittest.main()
