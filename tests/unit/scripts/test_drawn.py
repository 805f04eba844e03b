"""Workloads drawn at random, and the table of what they gave."""

import math
import random
import unittest

from benchmark import drawn, generality


class Drawing(unittest.TestCase):
    def test_the_same_seed_draws_the_same(self):
        first = drawn.suite(drawn.FAMILIES, 7, 2)
        self.assertEqual(first, drawn.suite(drawn.FAMILIES, 7, 2))
        self.assertNotEqual(first["workloads"], drawn.suite(drawn.FAMILIES, 8, 2)["workloads"])
        # A longer suite begins with the shorter one.
        self.assertEqual(first["workloads"], drawn.suite(drawn.FAMILIES, 7, 3)["workloads"][:2 * len(drawn.FAMILIES)])

    def test_work_lies_within_the_limits(self):
        for limits, families, count in (drawn.USUAL, drawn.FAMILIES, 20), (drawn.LARGE, drawn.LARGE_FAMILIES, 2):
            for workload in drawn.suite(families, 3, count, limits)["workloads"]:
                self.assertTrue(limits.fewest_flops <= workload["flops"] <= limits.most_flops, workload)
                self.assertLessEqual(workload["bytes"], limits.most_bytes, workload)
                self.assertTrue(all(size >= 1 for size in workload["sizes"].values()), workload)

    def test_every_storage_order_and_odd_extents_come(self):
        products = [drawn.draw("product", 1, number) for number in range(60)]
        self.assertEqual({one["einsum"].split("->")[0] for one in products}, {"mk,kn", "mk,nk", "km,kn", "km,nk"})
        extents = [size for one in products for size in one["sizes"].values()]
        self.assertGreater(sum(size % 2 for size in extents), len(extents) / 10)
        self.assertGreater(sum(size & (size - 1) == 0 for size in extents), len(extents) / 5)

    def test_convolutions_of_all_kinds_come(self):
        texts = [drawn.draw("dense-convolution", 1, number)["tc"] for number in range(60)]
        for part in ("I(n,c,x", "I(n,x", ",Z", " ? ", "fmax", "2*x", "2*kx"):
            self.assertTrue(any(part in text for text in texts), part)

    def test_figures_of_a_product(self):
        one = drawn.einsum("mk,kn->mn", {"m": 3, "n": 5, "k": 7})
        self.assertEqual((one["flops"], one["bytes"]), (210, 4 * (21 + 35 + 15)))

    def test_the_cheapest_order_of_a_chain(self):
        sizes = {"a": 2, "b": 100, "c": 3, "d": 50}
        best = min(2 * (2 * 100 * 3 + 2 * 3 * 50), 2 * (100 * 3 * 50 + 2 * 100 * 50))
        self.assertEqual(drawn.cheapest_chain(sizes, list("abcd"), ["", "", ""]), best)

    def test_affine_subscripts(self):
        self.assertEqual(drawn.affine((1, "x"), (1, "kx"), 0), "x + kx")
        self.assertEqual(drawn.affine((2, "x"), (3, "kx"), 1), "2*x + 3*kx - 1")

    def test_extents_reach_both_ends(self):
        rng = random.Random(1)
        extents = [drawn.extent(rng, 1, 9) for _ in range(300)]
        self.assertEqual((min(extents), max(extents)), (1, 9))


def run(group, ratio, best="onednn"):
    return {"group": group, "best_baseline": best, "default_over_best": {"median": ratio}}


class Table(unittest.TestCase):
    def test_by_family_and_by_who_computes_it(self):
        runs = {"a": run("x", 0.5), "b": run("x", 2.0), "c": run("y", 3.0, "openmp"), "d": {"group": "y"}}
        rows = generality.table(runs, "default", ["x", "y"])
        self.assertEqual(rows[0], ["x", "2", "1.00", "0.50", "0.50"])
        self.assertEqual(rows[1], ["y", "1", "3.00", "3.00", "3.00"])
        self.assertEqual(rows[2][:3], ["what a library computes", "2", "1.00"])
        self.assertEqual(rows[3][:3], ["the rest, over plain loops", "1", "3.00"])
        self.assertEqual(rows[4][2], f"{math.exp(math.log(3) / 3):.2f}")
        self.assertEqual(generality.weakest(runs, 1), ["a"])
        self.assertEqual(generality.worst(runs, "default", 2), [("a", 0.5), ("b", 2.0)])

    def test_generations_are_kept_apart(self):
        def entry(name, nanoseconds, kind="library", **more):
            return {"name": name, "kind": kind, "outcome": "ok", "interval_ns": [1, 2], "median_ns": nanoseconds, **more}

        one = run("x", 0.5) | {"entries": [
            entry("default", 10, "schedule"), entry("onednn", 30), entry("onednn-packed", 1), entry("openmp", 2),
            entry("mkl", 5, fetched=True), entry("onednn-sycl", 7, fetched=True)]}
        self.assertEqual(generality.over_releases(one, "default", False), 3)
        self.assertEqual(generality.over_releases(one, "default", True), 0.5)
        self.assertIsNone(generality.over_releases(one, "tuned", True))
        rows = {title: cells for title, *cells in generality.table({"a": one}, "default", ["x"])}
        self.assertEqual(rows["  of the system's releases"], ["1", "3.00", "3.00", "3.00"])
        self.assertEqual(rows["  of fetched releases"], ["1", "0.50", "0.50", "0.50"])

    def test_decile(self):
        self.assertEqual(generality.decile([float(one) for one in range(20)]), 2)
        self.assertEqual(generality.decile([3.0, 1.0, 2.0]), 1.0)


if __name__ == "__main__":
    unittest.main()
