"""The sizes that one entry for many sizes is measured at, and what is made of its times."""

import unittest

from benchmark import families


class Sizes(unittest.TestCase):
    def test_drawn_once_and_for_ever(self):
        sizes = families.unseen(1, 512, {64, 1})
        self.assertEqual(sizes, families.unseen(1, 512, {64, 1}))
        self.assertEqual(len(set(sizes)), 20)
        self.assertTrue(all(1 < size <= 512 and size != 64 for size in sizes))
        self.assertEqual(sum(size % 8 == 0 for size in sizes), 10)


class Summary(unittest.TestCase):
    def test_medians_and_geometric_mean(self):
        result = families.summary(["size 7 10 20 5", "size 7 10 30 5", "size 7 10 10 50", "size 9 4 4 8",
                                   "dispatch 4 31 20", "dispatch 4 30 20", "dispatch 4 90 20"])
        self.assertEqual(result["rows"], [{"size": 7, "over_tuned": 0.5, "over_generic": 2},
                                          {"size": 9, "over_tuned": 2, "over_generic": 1}])
        self.assertAlmostEqual(result["geometric_mean"], 1)
        self.assertEqual(result["least_over_generic"], 1)
        self.assertEqual(result["dispatch_ns"], 11)

    def test_driver_names_every_library(self):
        text = families.driver(2, 3, 5, [3], 1)
        self.assertIn("#include <one_3.h>", text)
        self.assertIn("{family_unchecked, generic_unchecked, only_3}, 3, 3)", text)


if __name__ == "__main__":
    unittest.main()
