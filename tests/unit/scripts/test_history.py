import os
import pathlib
import sqlite3
import tempfile
import unittest

from benchmark import history


class History(unittest.TestCase):
    def test_without_a_database_there_is_no_history(self):
        self.assertEqual(history.histories("/nowhere/at/all.db"), {})
        self.assertEqual(history.efforts("/nowhere/at/all.db"), {})

    def test_the_longest_session_counts_without_its_finals(self):
        schema = pathlib.Path(os.environ["TILE_TUNE_SOURCE_DIR"], "db", "schema", "001_initial.sql")
        with tempfile.TemporaryDirectory() as directory:
            path = pathlib.Path(directory) / "t.db"
            connection = sqlite3.connect(path)
            connection.executescript(schema.read_text(encoding="utf-8"))
            connection.execute("PRAGMA foreign_keys = OFF")
            key = bytes(32)
            connection.execute("INSERT INTO program VALUES(?,?,'','','conv','tc','','','','','row',1,1)", (key, key))
            for number, strategy, trials in (
                    (1, "model", [("default", "ok", 1.0)]),
                    (2, "genetic", [("default", "ok", 1.0), ("random", "crash", None), ("mutation", "ok", 1.5),
                                    ("final", "ok", 9.0)]),
                    (3, "verify", [("default", "ok", 1.0), ("final", "ok", 1.1)])):
                session = bytes([number]) * 16
                connection.execute("INSERT INTO session VALUES(?,?,?,?,0,?,'','{\"seconds\": 5}',?,?,'done')",
                                   (session, key, key, key, strategy, number, key))
                for sequence, (origin, outcome, ratio) in enumerate(trials):
                    connection.execute(
                        "INSERT INTO trial VALUES(?,?,?,0,?,x'',?,?,'','',1,0,x'',1,?,0,0,0,0,0,0,1,1,?)",
                        (bytes([number, sequence]) + bytes(30), session, sequence, origin, key, outcome, ratio, key))
            connection.commit()
            connection.close()
            self.assertEqual(history.histories(path), {"conv": {"trials": 3, "best": [[0, 1.0], [2, 1.5]]}})
            self.assertEqual(history.efforts(path), {"conv": {"sessions": 2, "trials": 4, "seconds": 10}})
            connection = sqlite3.connect(path)
            connection.execute("DELETE FROM trial WHERE origin = 'mutation'")  # as `db prune` does
            connection.commit()
            connection.close()
            self.assertEqual(history.efforts(path)["conv"]["trials"], 4)


if __name__ == "__main__":
    unittest.main()
