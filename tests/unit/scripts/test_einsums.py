"""Einsums and networks drawn at random, and paths as subscripts."""

import unittest

from benchmark import einsums


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


if __name__ == "__main__":
    unittest.main()
