import math
import unittest

import runs
from benchmark import judge
from benchmark.judge import Row

CACHE = 32 << 20


def verdict(row, *all_runs):
    by_name = {}
    for one in all_runs:
        by_name.setdefault(one["name"], []).append(one)
    suite = runs.suite_of(*{one["name"]: one for one in all_runs}.values())
    return judge.judge(suite, by_name, [row], CACHE)[0]


class Judge(unittest.TestCase):
    def test_each_and_mean_are_bars_of_their_own(self):
        row = Row("group", "g", "tuned_over_best", mean=1.5, least=1.0)
        met = verdict(row, runs.run("a", "g", 1.0), runs.run("b", "g", 2.25), runs.run("c", "h", 0.1))
        self.assertEqual(met.state, "met")
        self.assertAlmostEqual(met.mean, 1.5)
        self.assertEqual(met.least.name, "a")
        self.assertEqual(verdict(row, runs.run("a", "g", 0.99), runs.run("b", "g", 9.0)).state, "missed")
        self.assertEqual(verdict(row, runs.run("a", "g", 1.2), runs.run("b", "g", 1.8)).state, "missed")

    def test_those_below_are_named_worst_first(self):
        row = Row("group", "g", "tuned_over_best", least=1.0)
        below = verdict(row, runs.run("a", "g", 0.9), runs.run("b", "g", 1.1), runs.run("c", "g", 0.7)).below
        self.assertEqual([ratio.name for ratio in below], ["c", "a"])

    def test_what_was_not_measured_is_missing_never_met(self):
        row = Row("group", "g", "tuned_over_best", least=1.0)
        untuned = runs.run("b", "g")
        del untuned["tuned_over_best"]
        some = verdict(row, runs.run("a", "g", 2.0), untuned)
        self.assertEqual((some.state, some.missing), ("incomplete", ["b"]))
        self.assertEqual(verdict(row, untuned).state, "incomplete")
        absent = judge.judge(runs.suite_of(runs.run("a", "g")), {}, [row], CACHE)[0]
        self.assertEqual(absent.missing, ["a"])

    def test_of_several_processes_the_worst_counts(self):
        row = Row("group", "g", "peak_share", least=0.85)
        one = verdict(row, *(runs.run("a", "g", share=share) for share in (0.9, 0.84, 0.95)))
        self.assertEqual(one.state, "missed")
        self.assertAlmostEqual(one.least.median, 0.84)
        self.assertAlmostEqual(one.least.lo, 0.83)

    def test_shares_are_asked_of_large_workloads_alone(self):
        peak, band = Row("p", "g", "peak_share", least=0.85), Row("b", "g", "bandwidth_share", least=0.85)
        small = runs.run("small", "g", flops=2 * 128 * 1024 * 1024 - 1, size=4 * CACHE - 1, share=0.1)
        large = runs.run("large", "g", flops=2 * 128 * 1024 * 1024, size=4 * CACHE, share=0.9)
        for row in (peak, band):
            self.assertEqual([ratio.name for ratio in verdict(row, small, large).ratios], ["large"])

    def test_a_disturbed_probe_has_no_share(self):
        row = Row("p", "g", "peak_share", least=0.85)
        self.assertEqual(verdict(row, runs.run("a", "g", share=0)).missing, ["a"])

    def test_a_kernel_faster_than_the_streams_counts_by_its_lower_end(self):
        row = Row("b", "g", "bandwidth_share", least=0.85)
        faster = runs.run("a", "g", size=4 * CACHE, share=0)
        tuned = judge.entry_of(faster, "tuned")
        tuned["roof_share_interval"] = [1.06, 1.2]  # as earlier versions called it
        self.assertEqual(verdict(row, faster).least.median, 1.06)
        tuned["above_roof_interval"] = [1.08, 1.2]
        self.assertEqual(verdict(row, faster).least.median, 1.08)
        del tuned["above_roof_interval"]
        tuned["roof_share_interval"] = [0.7, 1.4]
        self.assertEqual(verdict(row, faster).missing, ["a"])

    def test_default_over_tuned_is_the_gain_upside_down(self):
        row = Row("d", None, "default_over_tuned", mean=0.6)
        one = verdict(row, runs.run("a", "g", gain=2.0))
        self.assertEqual(one.state, "missed")
        self.assertAlmostEqual(one.least.median, 0.5)
        self.assertLess(one.least.lo, one.least.median)
        self.assertGreater(one.least.hi, one.least.median)

    def test_an_automatic_schedule_too_slow_for_the_rounds_counts_by_its_one_time(self):
        row = Row("auto", None, "tuned_over_autoscheduler", mean=2.5, least=1.0)
        slow = runs.run("a", "g")
        slow["entries"] += [
            {"name": "Adams2019", "kind": "autoscheduler", "outcome": "slow", "reason": "", "median_ns": 12000.0},
            {"name": "Mullapudi2016", "kind": "autoscheduler", "outcome": "crash", "reason": "it died"}]
        self.assertAlmostEqual(verdict(row, slow).least.median, 12.0)
        failed = runs.run("b", "g")
        failed["entries"].append(slow["entries"][-1])
        # Nobody to compare with, and no fault of ours.
        self.assertEqual((verdict(row, failed).missing, verdict(row, failed).ratios), ([], []))
        self.assertEqual(verdict(row, runs.run("c", "g")).missing, ["c"])

    def test_disturbance_of_what_a_ratio_stands_on_is_seen(self):
        quiet = runs.run("a", "g")
        quiet["entries"].append(runs.entry("eigen", 9e9, kind="library", disturbed=True))
        self.assertFalse(judge.is_disturbed(quiet))
        self.assertTrue(judge.is_disturbed(runs.run("a", "g", disturbed=True)))
        self.assertTrue(judge.is_disturbed({**quiet, "alone": False}))
        best = runs.run("a", "g")
        best["entries"][-1]["disturbed"] = True
        self.assertTrue(judge.is_disturbed(best))

    def test_the_mean_of_nothing_is_no_number(self):
        self.assertTrue(math.isnan(judge.geometric_mean([])))
        self.assertAlmostEqual(judge.geometric_mean([0.5, 2.0]), 1.0)

    def test_the_rows_of_the_suite_name_groups_it_has(self):
        import json
        import os
        path = os.path.join(os.environ["TILE_TUNE_SOURCE_DIR"], "configs", "suites", "public.json")
        with open(path, encoding="utf-8") as file:
            groups = {workload["group"] for workload in json.load(file)["workloads"]}
        # The table has no row for permutations.
        self.assertEqual({row.group for row in judge.ROWS if row.group}, groups - {"permutations"})


if __name__ == "__main__":
    unittest.main()
