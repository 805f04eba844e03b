"""What is shipped of a tuning database."""

import unittest

from benchmark import curation


def trial(digest, session, schedule, ratio_lo, created_ms=1, outcome="ok"):
    return {"kind": "trial", "digest": digest, "session": session, "schedule": schedule, "ratio_lo": ratio_lo,
            "outcome": outcome, "created_ms": created_ms}


def session(name, program, strategy="model"):
    return {"kind": "session", "digest": f"digest of {name}", "session": name, "program": program, "target": "T",
            "tool": "L", "strategy": strategy}


def plain(kind, digest):
    return {"kind": kind, "digest": digest}


HEADER = {"kind": "tile-tune-records", "format": 1}


class Curation(unittest.TestCase):
    def records(self):
        return [HEADER, plain("program", "fast"), plain("program", "slow"), plain("target", "T"), plain("target", "U"),
                plain("tool", "L"), session("a", "fast"), session("b", "slow"), plain("schedule", "s1"),
                plain("schedule", "s2"), trial("t1", "a", "s1", 1.5), trial("t2", "b", "s2", 1.01),
                {"kind": "winner", "digest": "w1", "trial": "t1"}, {"kind": "winner", "digest": "w2", "trial": "t2"}]

    def digests(self, kept):
        return [one.get("digest") for one in kept]

    def test_winners_that_are_faster_come_with_all_they_consist_of(self):
        kept = curation.curated(self.records(), {}, 1.03)
        self.assertEqual(self.digests(kept), [None, "fast", "T", "L", "digest of a", "s1", "t1", "w1"])

    def test_a_recheck_has_the_last_word(self):
        checks = [session("c", "fast", "verify"), session("d", "slow", "verify"), trial("t3", "c", "s1", 1.2, 5),
                  trial("t4", "c", "s1", 1.0, 9), trial("t5", "d", "s2", 1.4), trial("t6", "b", "s2", 3.0, 99)]
        checked = curation.verdicts(self.records() + checks)
        self.assertEqual(checked["fast", "T", "s1"]["digest"], "t4")
        kept = curation.curated(self.records(), checked, 1.03)
        self.assertEqual(self.digests(kept), [None, "slow", "T", "L", "digest of b", "s2", "t2", "w2"])

    def test_what_fails_now_is_left_out(self):
        checks = [session("c", "fast", "verify"), trial("t3", "c", "s1", 9.0, outcome="crash")]
        kept = curation.curated(self.records(), curation.verdicts(self.records() + checks), 1.03)
        self.assertEqual(self.digests(kept), [None])


if __name__ == "__main__":
    unittest.main()
