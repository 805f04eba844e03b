import os
import unittest

from benchmark import rounds


class Statistics(unittest.TestCase):
    def test_ratios_are_paired_by_round(self):
        ratio = rounds.speed_ratio([1, 100, 10], [2, 200, 20], seed=1)
        for key in ("median", "lo", "hi"):
            self.assertAlmostEqual(ratio[key], 2)

    def test_quantiles_lie_between_neighbours(self):
        self.assertEqual([rounds.quantile([4, 0, 2], share) for share in (0, 0.25, 0.5, 1)], [0, 1, 2, 4])

    def test_scattered_samples_are_disturbed(self):
        self.assertFalse(rounds.is_disturbed([100, 101, 99, 100, 102]))
        self.assertTrue(rounds.is_disturbed([100, 180, 100, 100, 190]))

    def test_an_interval_holds_the_median_and_is_reproducible(self):
        values = [1.0, 5.0, 2.0, 4.0, 3.0]
        lo, hi = rounds.bootstrap_median(values, seed=3)
        self.assertTrue(1.0 <= lo <= 3.0 <= hi <= 5.0)
        self.assertEqual((lo, hi), rounds.bootstrap_median(values, seed=3))

    def test_a_sample_is_as_many_calls_as_fill_its_time(self):
        self.assertEqual([rounds.calls_per_sample(ns) for ns in (1e9, 200_000, 150_000, 1000)], [1, 1, 2, 200])


class Rounds(unittest.TestCase):
    def test_everybody_is_called_in_every_round(self):
        calls = {"one": 0, "other": 0}

        def counted(name):
            def call():
                calls[name] += 1
            return call

        affinity = os.sched_getaffinity(0)
        try:
            samples, _ = rounds.run({name: counted(name) for name in calls}, ["one", "other"],
                                    rounds.Placement(sorted(affinity)), rounds=3, seconds=0, seed=1)
        finally:
            os.sched_setaffinity(0, affinity)
        self.assertEqual({name: len(values) for name, values in samples.items()}, {"one": 3, "other": 3})
        self.assertTrue(all(count >= 4 + 3 for count in calls.values()))


if __name__ == "__main__":
    unittest.main()
