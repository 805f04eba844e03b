import unittest
import xml.etree.ElementTree as xml

import runs
from benchmark import history, plots, svg

SVG = "{http://www.w3.org/2000/svg}"


class Plots(unittest.TestCase):
    def test_best_so_far_never_falls_and_ends_at_the_best(self):
        self.assertEqual(plots.best_so_far(history.risen([1.0, 4.0, 0.0, 2.0])), [0.25, 1.0, 1.0, 1.0])
        self.assertEqual(plots.best_so_far(history.risen([0.0])), [0.0])

    def test_convergence_draws_a_line_for_each_workload_and_the_median(self):
        root = xml.fromstring(plots.convergence({"a": history.risen([1.0, 2.0]), "b": history.risen([1.0, 1.0, 3.0])}))
        lines = root.findall(f"{SVG}polyline")
        self.assertEqual([line.findtext(f"{SVG}title") for line in lines], ["a", "b", None])
        # The shorter session stays where it ended.
        self.assertEqual(len(lines[-1].get("points").split()), 3)
        self.assertIsNone(plots.convergence({}))

    def test_roofline_has_a_filled_mark_for_tuned_and_a_hollow_one_for_default(self):
        root = xml.fromstring(plots.roofline([runs.run("a", "g", flops=1 << 30), runs.run("b & <c>", "h")]))
        marks = [mark for mark in root.findall(f"{SVG}circle") if mark.find(f"{SVG}title") is not None]
        self.assertEqual(len(marks), 4)
        tuned = [mark for mark in marks if "tuned" in mark.findtext(f"{SVG}title")]
        self.assertEqual(len(tuned), 2)
        self.assertTrue(all(mark.get("fill") != svg.PAPER for mark in tuned))
        self.assertTrue(any("b & <c>" in mark.findtext(f"{SVG}title") for mark in marks))

    def test_nothing_measured_draws_nothing(self):
        failed = runs.run("a", "g")
        failed["entries"] = []
        self.assertIsNone(plots.roofline([failed]))
        self.assertIsNone(plots.roofline([]))

    def test_roofs_that_lie_together_share_a_line(self):
        self.assertEqual(plots._told_apart({"f16": 505.0, "f32": 500.0, "f64": 250.0}),
                         [("f64", 250.0), ("f32, f16", 500.0)])

    def test_ticks_are_powers_of_ten_inside_the_range(self):
        self.assertEqual(svg.decades(0.05, 100), [(0.1, "0.1"), (1.0, "1"), (10.0, "10"), (100.0, "100")])


if __name__ == "__main__":
    unittest.main()
