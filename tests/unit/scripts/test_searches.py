import pathlib
import sqlite3
import tempfile
import unittest

from benchmark import document, search_document, searches


def search(ratio, seconds=60.0, share=0.01, disturbed=False):
    return {"ratio": ratio, "ratio_interval": [ratio - 0.1, ratio + 0.1], "gflops": 1.0, "disturbed": disturbed,
            "disturbed_trials": 0, "trials": 64, "seconds": seconds, "search_share": share,
            "model": {"pairs": 10, "pairwise_accuracy": 0.8, "top_recall": 0.6}}


def measured(**workloads):
    return {"kind": "searches", "format": 1, "threads": 2, "long_trials": 1000, "short_trials": 64, "seeds": 3,
            "replays": 20, "workloads": workloads}


def replay(model, genetic):
    return {"model": {"median_trials_to_90": model}, "genetic": {"median_trials_to_90": genetic}}


class Counting(unittest.TestCase):
    def test_trials_until_one_that_works_is_fast_enough(self):
        trials = [("ok", 1.0), ("wrong", 9.0), ("ok", 1.7), ("ok", 1.8), ("ok", 2.0)]
        self.assertEqual(searches.trials_to(1.8, trials), 4)
        self.assertEqual(searches.trials_to(1.0, trials), 1)
        self.assertEqual(searches.trials_to(2.1, trials), 6)

    def test_finals_are_no_trials(self):
        with tempfile.TemporaryDirectory() as directory:
            path = pathlib.Path(directory) / "t.db"
            self.assertEqual(searches.trials_in(path), [])
            connection = sqlite3.connect(path)
            connection.execute("CREATE TABLE trial(sequence, origin, outcome, ratio)")
            connection.executemany("INSERT INTO trial VALUES(?,?,?,?)",
                                   [(2, "final", "ok", 3.0), (1, "mutation", "crash", None), (0, "default", "ok", 1.0)])
            connection.commit()
            connection.close()
            self.assertEqual(searches.trials_in(path), [("ok", 1.0), ("crash", 0)])

    def test_twelve_workloads_of_which_four_are_live(self):
        self.assertEqual(len(set(searches.WORKLOADS)), 12)
        self.assertEqual(len(set(searches.LIVE) & set(searches.WORKLOADS)), 4)


class Verdicts(unittest.TestCase):
    def test_means_are_geometric_and_the_dearest_search_counts(self):
        data = measured(a={"long": search(2.0), "short": [search(1.8), search(2.0)], "replay": replay(10, 40)},
                        b={"long": search(4.0, share=0.06), "short": [search(3.6)], "replay": replay(30, 30)},
                        c={"long": search(1.0), "short": [], "replay": replay(1, 1)})
        found = {what: (value, met) for what, *_, value, met in search_document.verdicts(data)}
        value, met = found["64 trials against 1000"]
        self.assertAlmostEqual(value, (0.9 * 1.0 * 0.9)**(1 / 3))
        self.assertTrue(met)
        value, met = found["trials to 90 %, model over genetic, by replay"]
        self.assertAlmostEqual(value, 0.5)
        self.assertEqual(found["the same, live"], (None, False))
        self.assertEqual(found["searching itself, share of the wall clock"], (0.06, False))

    def test_what_was_not_measured_is_not_judged(self):
        text = search_document.render(measured(a={"long": search(2.0), "short": []}))
        self.assertIn("| 64 trials against 1000 | 0 of 12 | mean ≥ 0.92 | - | not measured in full |", text)
        self.assertIn("| a | 2.00 [1.90 2.10] | - | 60 s | - | - | - | 0.80 | 0.60 | 1.0 % |", text)

    def test_a_bar_is_judged_when_all_twelve_were_measured(self):
        twelve = {name: {"long": search(2.0), "short": [search(1.9)] * 3} for name in searches.WORKLOADS}
        row = "| 64 trials against 1000 | {} | mean ≥ 0.92 | 0.95 | {} |"
        self.assertIn(row.format("12", "yes"), search_document.render(measured(**twelve)))
        last = searches.WORKLOADS[-1]
        twelve[last] = {"long": search(2.0), "short": [search(1.9)] * 2}  # of three
        self.assertIn(row.format("11 of 12", "not measured in full"), search_document.render(measured(**twelve)))
        twelve["another"] = twelve.pop(searches.WORKLOADS[0])
        self.assertIn(row.format("10 of 12", "not measured in full"), search_document.render(measured(**twelve)))

    def test_the_section_is_part_of_the_document(self):
        machine = {"target": {"cpu_model": "CPU", "halide": "x86-64-linux", "l3_bytes": 1}, "cores": 2,
                   "version": "1.2.3", "date": "2020-01-02"}
        data = {"machine": machine, "suite": [], "passes": {}, "histories": {}}
        long = measured(a={"long": search(2.0, disturbed=True), "short": [search(1.9)],
                           "live": {"model": {"median": 12}, "genetic": {"median": 48}}})
        text = document.render(data, {}, long)
        self.assertIn("## The search, 2 threads", text)
        self.assertIn("| a (disturbed) | 2.00 [1.90 2.10] | 0.95 | 60 s | 60 s | - | 12 / 48 |", text)
        self.assertNotIn("## The search", document.render(data, {}))


if __name__ == "__main__":
    unittest.main()
