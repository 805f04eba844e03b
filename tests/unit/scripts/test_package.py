import os
import unittest

import runs
from benchmark import measure, package_calls, package_document

SUITE = os.path.join(os.environ["TILE_TUNE_SOURCE_DIR"], "configs", "suites", "public.json")


class Calls(unittest.TestCase):
    def setUp(self):
        self.suite = measure.suite_of(SUITE)

    def test_einsums_and_texts_are_called(self):
        called = {name for name, one in self.suite.items() if package_calls.is_called(one)}
        self.assertTrue({"matmul_256", "softmax_4096x1024"} <= called)
        self.assertNotIn("maxpool_40x64x112_k3s2p1", called)

    def test_arguments_of_an_einsum(self):
        arguments = package_calls.arguments_of(self.suite["matmul_i8_1024"])
        self.assertEqual([(one.dtype, one.shape, one.is_output) for one in arguments],
                         [("i8", (1024, 1024), False)] * 2 + [("i32", (1024, 1024), True)])
        bilinear = package_calls.arguments_of(self.suite["bilinear_128x128x64"])
        self.assertEqual([one.shape for one in bilinear], [(128, 128), (64, 128, 128), (128, 128), (128, 64)])


def workload(name, ratio, disturbed=False):
    return {"name": name, "group": "contractions", "flops": 1, "bytes": 1, "weights": [], "load": 0.5,
            "search": {"asked": 60.0, "trials": 7}, "best_baseline": "torch", "tuned_over_best": ratio,
            "entries": [runs.entry("tuned", 1000.0, disturbed=disturbed),
                        runs.entry("torch", 1500.0, kind="library"),
                        {"name": "jax", "kind": "library", "outcome": "slow", "median_ns": 9e9}]}


def measured(*workloads):
    return {"threads": 2, "versions": {"torch": "1.2"}, "date": "2020-01-02", "cpu": "CPU", "of": 55,
            "workloads": {one["name"]: one for one in workloads}}


class Document(unittest.TestCase):
    def test_a_line_has_the_search_the_libraries_and_the_ratio(self):
        text = package_document.render(measured(workload("a", runs.ratio(1.5)), workload("b", runs.ratio(2.0), True)))
        self.assertIn("| a | 60 s, 7 | 1 µs | torch 1.5 µs, jax slow | 1.50 [1.47 1.53] |", text)
        self.assertIn("| b (disturbed) |", text)
        self.assertIn("2 of the suite's 55 einsums and texts.", text)
        self.assertIn("on 2020-01-02: CPU, 2 threads, load 0.5", text)
        self.assertIn("| 2 | mean ≥ 1.4, each ≥ 0.9 | 1.73 | 1.50 [1.47 1.53] a | yes |", text)

    def test_who_is_slower_than_a_library_is_named(self):
        text = package_document.verdict(measured(workload("a", runs.ratio(3.0)), workload("b", runs.ratio(0.8))))
        self.assertIn("**no** (1 below)", text)
        self.assertIn("(each ≥ 0.9): b 0.80", text)


if __name__ == "__main__":
    unittest.main()
