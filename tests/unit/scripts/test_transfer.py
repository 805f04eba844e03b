"""The sizes of the transfer sweep, and what is made of its times."""

import unittest

from benchmark import transfer


class Sizes(unittest.TestCase):
    def test_the_sweep_is_always_the_same(self):
        known, unseen = transfer.known_and_unseen(transfer.FAMILIES["matmul"])
        self.assertEqual((known, unseen), transfer.known_and_unseen(transfer.FAMILIES["matmul"]))
        self.assertEqual(len(known), 8)
        self.assertEqual(len(unseen), 20)

    def test_no_size_is_in_both_lots_and_half_are_no_multiples_of_8(self):
        for family in transfer.FAMILIES.values():
            known, unseen = transfer.known_and_unseen(family)
            for sizes in unseen:
                self.assertNotIn(sizes, known)
                low, high = family.flops
                self.assertTrue(low <= family.work(sizes) <= high)
            self.assertEqual(sum(transfer.is_round(family, one) for one in unseen), 10)
            odd = [one for one in unseen if not transfer.is_round(family, one)]
            drawn = [name for name in family.ranges if family.ranges[name][1] > 64 and name not in ("b", "B")]
            for sizes in odd:
                self.assertTrue(all(sizes[name] % 8 != 0 for name in drawn), sizes)

    def test_sizes_spread_over_the_range(self):
        _, unseen = transfer.known_and_unseen(transfer.FAMILIES["matmul"])
        values = [sizes[name] for sizes in unseen for name in ("M", "K", "N")]
        self.assertLess(min(values), 64)
        self.assertGreater(max(values), 1024)

    def test_work_counts_the_outputs_of_a_convolution(self):
        sizes = {"B": 2, "IP": 3, "OP": 5, "H": 10, "W": 12, "KH": 3, "KW": 3}
        self.assertEqual(transfer.FAMILIES["conv"].work(sizes), 2 * 2 * 3 * 5 * 8 * 10 * 9)


class Summary(unittest.TestCase):
    def test_geometric_means_by_family_and_over_all(self):
        lines = [
            {"family": "matmul", "over_tuned": 0.5, "default_over_tuned": 1.0, "rung": "nearest"},
            {"family": "matmul", "over_tuned": 2.0, "default_over_tuned": 0.25, "rung": "default"},
            {"family": "bmm", "over_tuned": 0.125, "default_over_tuned": 1.0, "rung": "nearest"},
        ]
        matmul, bmm, everything = transfer.summary(lines)
        self.assertAlmostEqual(matmul["transferred"], 1.0)
        self.assertAlmostEqual(matmul["default"], 0.5)
        self.assertEqual(matmul["least"], 0.5)
        self.assertEqual(matmul["default_taken"], 1)
        self.assertEqual(bmm["sizes"], 1)
        self.assertAlmostEqual(everything["transferred"], 0.5)
        self.assertEqual(transfer.summary(lines[2:])[0]["family"], "bmm")
        self.assertEqual(len(transfer.summary(lines[2:])), 1)


if __name__ == "__main__":
    unittest.main()
