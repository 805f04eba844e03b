"""Einsums and networks drawn at random, and paths as subscripts."""

import unittest

from benchmark import einsum_document, einsums


class Drawing(unittest.TestCase):
    def test_sixty_within_limits_none_plain(self):
        cases = einsums.cases()
        self.assertGreaterEqual(len(cases), 60)
        self.assertEqual(cases, einsums.cases())
        self.assertNotEqual(cases, einsums.cases(seed=2))
        self.assertEqual(len({case.name for case in cases}), len(cases))
        for case in cases:
            operands, _ = einsums.terms(case.subscripts)
            extents = {label: extent for term, shape in zip(operands, case.shapes)
                       for label, extent in zip(term, shape)}
            self.assertEqual([[extents[label] for label in term] for term in operands], case.shapes)
            self.assertTrue(1e5 <= einsums.flops(case.subscripts, extents) <= einsums.MOST_FLOP, case)
            self.assertTrue(any(kind != "plain" for kind in case.views), case)
        self.assertEqual({kind for case in cases for kind in case.views}, set(einsums.VIEWS))

    def test_networks_are_closed(self):
        for name, (subscripts, extents) in einsums.networks().items():
            operands, result = einsums.terms(subscripts)
            self.assertGreaterEqual(len(operands), 4, name)
            self.assertEqual(set("".join(operands)), set(extents), name)
            self.assertLessEqual(set(result), set(extents), name)
            self.assertEqual(len(set(result)), len(result), name)


class Paths(unittest.TestCase):
    def test_as_steps(self):
        steps = list(einsums.steps("ij,jk,kl->il", [(1, 2), (0, 1)]))
        self.assertEqual(steps, [((1, 2), ("kl,jk", "lj")), ((0, 1), ("lj,ij", "il"))])
        # What nothing else needs is summed at once.
        self.assertEqual(list(einsums.steps("ax,ab,b->", [(0, 1), (0, 1)]))[0], ((0, 1), ("ab,ax", "b")))

    def test_as_parentheses(self):
        self.assertEqual(einsums.with_parentheses("ij,jk,kl,lm->im", [(0, 3), (0, 1), (0, 1)]),
                         ("(lm,ij),(kl,jk)->im", [3, 0, 2, 1]))
        self.assertEqual(einsums.with_parentheses("i,i->", [(0, 1)]), ("i,i->", [0, 1]))


class Document(unittest.TestCase):
    @staticmethod
    def row(name, ratio, us):
        return {"name": name, "subscripts": "ij,j->i", "shapes": [[3, 1], []], "dtype": "float64", "views": ["permuted"],
                "entries": {"tile-tune": {"us": us, "ratio": 1, "interval": [1, 1], "disturbed": False},
                            "numpy": {"us": 4 * us * ratio, "ratio": 4 * ratio, "interval": [3, 5],
                                      "disturbed": True},
                            "torch": {"us": us * ratio, "ratio": ratio, "interval": [0.5, 2.25],
                                      "disturbed": us > 1500}}}

    def test_the_first_measurement_counts_and_the_fastest_is_compared_with(self):
        text = einsum_document.document([self.row("a", 0.5, 2000), self.row("b", 2, 7.25), self.row("a", 3, 1000)],
                                        [self.row("n", 4, 1)], "today")
        self.assertIn("| einsums on views | 2 | mean ≥ 1.2, each ≥ 0.9 | 1.00 | 0.50 | 1 |", text)
        self.assertIn("| networks, along opt_einsum's path | 1 | mean ≥ 1.5 | 4.00 | 4.00 | 0 |", text)
        self.assertIn("| `ij,j->i` | 3x1, scalar | float64 | permuted | 2 ms | torch 1 ms, numpy 4 ms |"
                      " 0.50 [0.50 2.25] ? |", text)
        self.assertIn("3.00 [0.50 2.25] |", text)
        self.assertEqual(text.count("| `ij,j->i` |"), 4)


if __name__ == "__main__":
    unittest.main()
