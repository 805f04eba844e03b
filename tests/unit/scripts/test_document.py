import json
import pathlib
import tempfile
import unittest

import runs
from benchmark import document, markdown, store


def measured(*all_runs, **passes):
    machine = {"target": {"cpu_model": "CPU", "halide": "x86-64-linux", "l3_bytes": 32 << 20}, "cores": 2,
               "version": "1.2.3", "date": "2020-01-02"}
    data = store.empty(machine, {one["name"]: one for one in all_runs})
    data["passes"] = {"threads-2": {one["name"]: [one] for one in all_runs}, **passes}
    return data


class Formatting(unittest.TestCase):
    def test_times(self):
        self.assertEqual([markdown.time_text(ns) for ns in (0.5, 12.34, 1500, 2.5e6, 3e9)],
                         ["0.5 ns", "12.3 ns", "1.5 µs", "2.5 ms", "3 s"])

    def test_ratios_show_their_interval(self):
        self.assertEqual(markdown.ratio_text((1.234, 1.2, 1.3)), "1.23 [1.20 1.30]")
        self.assertEqual(markdown.ratio_text((10.54, 10.54, 10.54)), "10.54")
        self.assertEqual(markdown.ratio_text(None), "-")

    def test_reasons_fit_into_a_cell(self):
        self.assertEqual(markdown.short("it | died\nlater"), "it \\| died")
        self.assertEqual(len(markdown.short("x" * 100)), 60)


class Document(unittest.TestCase):
    def test_groups_and_workloads_are_shown_with_what_is_disturbed(self):
        quick, noisy = runs.run("quick", "matrix-products", 1.5), runs.run("noisy", "matrix-products", 0.5, disturbed=True)
        quick["entries"][0]["rounds"], noisy["entries"][0]["rounds"] = 400, 31
        text = document.render(measured(quick, noisy), {})
        self.assertIn("ratios over the rounds (31 to 400) of one", text)
        self.assertIn("| matrix products | 2 | each ≥ 0.95 | 0.87 | 0.50 [0.49 0.51] noisy (disturbed) | **no** (1 below) |",
                      text)
        self.assertIn("| noisy (disturbed) |", text)
        self.assertIn("- matrix products (each ≥ 0.95): noisy 0.50 (disturbed)", text)
        self.assertIn("### matrix-products", text)
        self.assertNotIn("One thread", text)
        self.assertNotIn("![", text)

    def test_one_thread_has_bars_of_its_own(self):
        one = runs.run("a", "dtypes", 1.25)
        text = document.render(measured(one, **{"threads-1": {"a": [one]}}), {})
        two, single = text.split("## One thread, by group")
        self.assertIn("| whole suite | 1 | mean ≥ 1.3 | 1.25 |", two)
        self.assertTrue(single.startswith("\n\nTuned schedules."))
        self.assertIn("| whole suite | 1 | mean ≥ 1.3, each ≥ 0.9 | 1.25 | 1.25 [1.23 1.27] a | **no** |", single)
        self.assertIn("## All workloads, one thread", single)

    def test_other_instructions_are_judged_by_default_schedules_where_nothing_is_tuned(self):
        one, default = runs.run("a", "dtypes", 1.25), runs.run("a", "dtypes", 1.25)
        default["default_over_best"] = runs.ratio(0.85)
        del default["tuned_over_best"]
        text = document.render(measured(one, avx2={"a": [default]}), {}).split("## AVX2, two threads, by group")[1]
        self.assertTrue(text.startswith("\n\nDefault schedules."))
        self.assertIn("- whole suite (each ≥ 0.9): a 0.85", text)
        self.assertIn("## All workloads, AVX2, two threads", text)

    def test_what_was_not_searched_for_is_judged_by_its_default(self):
        one, default = runs.run("a", "dtypes", 1.25), runs.run("b", "dtypes", 1.25)
        default["default_over_best"] = runs.ratio(1.6)
        del default["tuned_over_best"]
        data = measured(one, avx2={"a": [one], "b": [default]})
        data["suite"].append({**data["suite"][0], "name": "b"})
        text = document.render(data, {}).split("## AVX2, two threads, by group")[1]
        self.assertTrue(text.startswith("\n\nTuned schedules; default ones of the 1 for which no search was made."))
        self.assertIn("| whole suite | 2 | mean ≥ 1.3, each ≥ 0.9 | 1.41 | 1.25", text)

    def test_drawn_workloads_are_a_table_of_their_own(self):
        data = measured(runs.run("a", "dtypes"))
        data["generated"] = [{"seed": 7, "title": "AVX2", "date": "2020-01-03", "worst": [["x_7_1", 0.5]],
                              "rows": [["product", "4", "1.50", "0.50", "0.50"]]}]
        text = document.render(data, {})
        self.assertIn("## Drawn workloads, seed 7, AVX2", text)
        self.assertIn("| product | 4 | 1.50 | 0.50 | 0.50 |", text)
        self.assertIn("The worst: x_7_1 0.50.", text)
        self.assertNotIn("short searches", text)
        data["generated"][0]["tuned"] = {"rows": [["all", "2", "1.75", "1.25", "1.25"]], "worst": [["x_7_1", 1.25]],
                                         "default_over_tuned": [0.5, 0.25]}
        text = document.render(data, {})
        self.assertIn("| all | 2 | 1.75 | 1.25 | 1.25 |", text)
        self.assertIn("The worst: x_7_1 1.25.", text)
        self.assertIn("Default schedules over those: geometric mean 0.50, least 0.25.", text)

    def test_ratios_of_other_passes_come_in_by_name(self):
        plain, automatic, python = (runs.run("a", "fused-chains", 2.0) for _ in range(3))
        automatic["tuned_over_autoscheduler"] = runs.ratio(4.0)
        automatic["entries"].append({"name": "Adams2019", "kind": "autoscheduler", "outcome": "timeout",
                                     "reason": "compiling took longer than 300 s"})
        python["tuned_over_torch_compiled"] = runs.ratio(1.75)
        text = document.render(measured(plain, autoschedulers={"a": [automatic]}, python={"a": [python]}), {})
        self.assertIn("| against Halide's automatic schedulers | 1 | mean ≥ 2.5, each ≥ 1 | 4.00 |", text)
        self.assertIn("| the same against PyTorch compiled | 1 | each ≥ 1.5 | 1.75 | 1.75 [1.71 1.79] a | yes |", text)
        self.assertIn("timeout: compiling took longer than 300 s", text)

    def test_plots_are_linked_where_they_are_drawn(self):
        text = document.render(measured(runs.run("a", "dtypes")), {"roofline": "r.svg"})
        self.assertIn("![Roofline](r.svg)", text)
        self.assertNotIn("Convergence", text)


class Store(unittest.TestCase):
    def test_what_is_saved_is_loaded_without_samples(self):
        one = runs.run("a", "dtypes", 1.23456789)
        one["entries"][0]["samples_ns"] = [1.0, 2.0]
        trimmed = store.trimmed(one)
        self.assertNotIn("samples_ns", trimmed["entries"][0])
        self.assertEqual(trimmed["entries"][0]["rounds"], 2)
        self.assertEqual(trimmed["tuned_over_best"]["median"], 1.2346)
        with tempfile.TemporaryDirectory() as directory:
            path = pathlib.Path(directory) / "new" / "data.json"
            store.save(path, measured(trimmed))
            self.assertEqual(store.load(path), measured(trimmed))
            self.assertEqual([file.name for file in path.parent.iterdir()], ["data.json"])

    def test_other_files_are_refused(self):
        with tempfile.TemporaryDirectory() as directory:
            path = pathlib.Path(directory) / "suite.json"
            path.write_text(json.dumps({"kind": "suite", "format": 1}), encoding="utf-8")
            with self.assertRaises(ValueError):
                store.load(path)


if __name__ == "__main__":
    unittest.main()
