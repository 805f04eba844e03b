import io
import json
import os
import pathlib
import sys
import tempfile
import unittest
from unittest import mock

from benchmark import gpu_document, gpu_lists, operators, torch_on_device

ROOT = pathlib.Path(os.environ["TILE_TUNE_SOURCE_DIR"])


def suites():
    return {name: json.loads((ROOT / "configs" / "suites" / f"{name}.json").read_text(encoding="utf-8"))["workloads"]
            for name in ("examples", "public", "gpu")}


def bench(name, group, median, other=None, from_memory=False, **more):
    def entry(kind, ns):
        return {"name": kind, "outcome": "ok", "median_ns": ns, "gflops": 1e6 / ns, "gbytes": 2e6 / ns, "launch_ns": 2500}
    entries = [entry("default", median)] + ([entry("tuned", other)] if other else [])
    return {"kind": "benchmark", "workloads": [{"name": name, "group": group, "from_memory": from_memory,
                                                "roofs": {"gflops": 0, "gbytes": 2500}, "device": "1980 MHz, 54 C",
                                                "entries": entries, **more}]}


def findings(**parts):
    return {"kind": "gpu-check", "format": 1, "version": "1.2.3", "target": "host-cuda", "date": "2020-01-02",
            "search_seconds": 180, "device": {"name": "Pretended", "driver": "CUDA 13.0"}, "parts": parts}


def states(data):
    return [one.state for one in gpu_document.verdicts(data)]


class Lists(unittest.TestCase):
    def test_every_workload_is_measured_once_and_exists(self):
        all_suites = suites()
        parts = gpu_lists.lists(all_suites)
        self.assertEqual(list(parts), ["correctness", "products", "memory", "contractions", "libraries", "search",
                                       "schedulers"])
        known = {(suite, one["name"]) for suite, workloads in all_suites.items() for one in workloads}
        for names in parts.values():
            self.assertEqual(len(names), len(set(names)))
            self.assertLessEqual(set(names), known)
        self.assertEqual(set(parts["libraries"]), {one for one in known if one[0] != "examples"})
        self.assertEqual(parts["products"][0], ("gpu", "matmul_2048"))
        self.assertEqual(len(parts["search"]), 6)

    def test_the_examples_are_those_of_all_three_documents(self):
        kinds = [one["name"].split("_")[0] for one in suites()["examples"]]
        self.assertEqual([kinds.count(kind) for kind in ("tile", "tc", "einsum")], [22, 5, 4])


class Torch(unittest.TestCase):
    def test_inputs_are_those_of_the_programs(self):
        for suite in ("public", "gpu"):
            for workload in suites()[suite]:
                operation = operators.operation_of(workload)
                found = torch_on_device.inputs_of(workload, operation)
                with self.subTest(workload["name"]):
                    if isinstance(operation, operators.Einsum):
                        self.assertEqual(len(found), operation.subscripts.count(",") + 1)
                    elif isinstance(operation, operators.Lookup):
                        self.assertEqual([dtype for _, dtype in found][:2], ["f32", "i32"])
                        self.assertIn(len(found), (2, 4))
                    else:
                        self.assertEqual(len(found), len(workload["shapes"]) - 1)


class OnDevice(unittest.TestCase):
    def found(self, seconds, measure):
        with tempfile.TemporaryDirectory() as folder, \
                mock.patch.dict(sys.modules, torch=mock.MagicMock()), \
                mock.patch.object(torch_on_device, "measure", measure), \
                mock.patch.object(sys, "argv", ["", ROOT / "configs" / "suites", folder, "1", seconds]), \
                mock.patch.object(sys, "stdin", io.StringIO("gpu matmul_2048\npublic softmax_4096x1024\n")):
            status = torch_on_device.main()
            return status, {path.name: json.loads(path.read_text()) for path in pathlib.Path(folder).iterdir()}

    def test_what_fails_is_of_one_workload(self):
        def measure(workload):
            if workload["name"] == "matmul_2048":
                raise TypeError("no such type")
            return {"shapes": len(workload["shapes"])}
        status, found = self.found("100", measure)
        self.assertEqual(status, 0)
        self.assertEqual(found, {"matmul_2048.json": {"outcome": "run-error", "reason": "no such type"},
                                 "softmax_4096x1024.json": {"shapes": 2}})

    def test_nothing_is_begun_when_the_time_is_up(self):
        self.assertEqual(self.found("0", None), (1, {}))


class Document(unittest.TestCase):
    def test_nothing_measured_is_nothing_met(self):
        self.assertEqual(set(states(findings())), {"open"})

    def test_bars_are_met_by_all_that_they_are_about(self):
        right = {"outcomes": {"ok": 5, "slow": 1, "duplicate": 1, "compile-error": 1}}
        products = {name: bench(name, "matrix-products", 2000, 1000) for name in gpu_document.LARGE_PRODUCTS}
        libraries = {name: {"outcome": "ok", "median_ns": 900} for name in products}
        memory = {"sum": bench("sum", "reductions", 880, from_memory=True), "small": bench("small", "reductions", 1)}
        data = findings(correctness={"a": right, "b": right}, products=products, libraries=libraries, memory=memory,
                        schedulers={"x": bench("x", "reductions", 1, default_over_autoscheduler={"median": 2.5})},
                        search={str(i): {"trials": 200 + i} for i in range(6)})
        self.assertEqual(states(data), ["yes", "yes", "yes", "open", "yes", "yes"])
        text = gpu_document.render(data)
        self.assertIn("12 schedules of 2 programs right, 0 not | yes |", text)
        self.assertIn("| matmul_2048 | 2 µs | 1 µs | 900 ns | 0.90 | 1000 | 2000 | - | 2.5 µs |", text)
        self.assertIn("| sum | 880 ns | - | - | - | 1136 | 2273 | 0.91 | 2.5 µs |", text)
        self.assertIn("1980 MHz, 54 C", text)

        libraries["tmm_2048"]["median_ns"] = 840
        memory["sum"] = bench("sum", "reductions", 900, from_memory=True)
        data["parts"]["correctness"]["b"] = {"outcomes": {"ok": 1, "wrong": 1}}
        data["parts"]["search"]["0"]["trials"] = 199
        self.assertEqual(states(data), ["**no**", "**no**", "**no**", "open", "yes", "**no**"])
        self.assertIn("least 0.84 (tmm_2048)", gpu_document.render(data))

    def test_what_failed_says_why_and_keeps_its_bar_open(self):
        data = findings(products={"matmul_2048": {"failed": "tile-tune: error: | no"}},
                        correctness={"a": {"failed": "ended after 60 s"}})
        self.assertEqual(states(data)[:2], ["**no**", "open"])
        self.assertIn("| matmul_2048 | tile-tune: error: \\| no | |", gpu_document.render(data))

    def test_other_files_are_not_taken_for_findings(self):
        self.assertFalse(gpu_document.is_of_gpu({"kind": "performance", "format": 2}))
        self.assertFalse(gpu_document.is_of_gpu([]))


if __name__ == "__main__":
    unittest.main()
