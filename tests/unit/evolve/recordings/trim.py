#!/usr/bin/env python3
"""Prints the recorded space of one program in a tuning database: what the strategies of a search are compared on."""
import json
import sqlite3
import sys

database, name = sys.argv[1:]
connection = sqlite3.connect(f"file:{database}?mode=ro", uri=True)
rows = connection.execute(
    "SELECT p.canonical, g.features, t.origin, t.outcome, t.ratio, c.json FROM trial t"
    " JOIN session s ON s.id = t.session JOIN program p ON p.id = s.program JOIN target g ON g.id = s.target"
    " JOIN schedule c ON c.id = t.schedule WHERE p.name = ? AND t.origin <> 'final' ORDER BY s.created, t.sequence",
    [name]).fetchall()
# Timeouts come from a busy machine as often as from a schedule; duplicates were measured as another schedule.
trials = [[origin, outcome, round(ratio or 0, 3), json.loads(schedule)["stages"]]
          for _, _, origin, outcome, ratio, schedule in rows if outcome not in ("timeout", "duplicate", "no-space")]
compact = {"separators": (",", ":")}
print('{"program":' + json.dumps(json.loads(rows[0][0]), **compact) + ',\n"target":' + rows[0][1] + ',\n"trials":[\n'
      + ",\n".join(json.dumps(trial, **compact) for trial in trials) + "\n]}")
