"""How searches went, read from a tuning database (db/schema) without writing to it."""

import os
import pathlib
import sqlite3


def default_database():
    """Where the tool keeps its database unless --db names another."""
    data = os.environ.get("XDG_DATA_HOME") or pathlib.Path.home() / ".local" / "share"
    return os.environ.get("TILE_TUNE_DB") or str(pathlib.Path(data) / "tile-tune" / "tuning.db")


def efforts(database):
    """Workload's name -> {sessions, trials, seconds}: all searches for it together, and the time they were given.
    Sessions that only looked at stored schedules again (`db recheck`) are none. Finals, which are numbered after a session's trials, tell how many there were before some were pruned. Nothing where
    there is no database."""
    if not os.path.exists(database):
        return {}
    connection = sqlite3.connect(f"file:{database}?mode=ro", uri=True)
    rows = connection.execute("""
        SELECT program.name, COUNT(*), SUM(trials), SUM(json_extract(budget, '$.seconds'))
        FROM (SELECT session.program, budget,
                     COALESCE(MIN(CASE origin WHEN 'final' THEN sequence END), MAX(sequence) + 1) AS trials
              FROM session JOIN trial ON trial.session = session.id
              WHERE strategy IN ('model', 'genetic', 'random') GROUP BY session.id)
        JOIN program ON program.id = program GROUP BY program.name""").fetchall()
    connection.close()
    return {name: {"sessions": sessions, "trials": trials, "seconds": seconds or 0}
            for name, sessions, trials, seconds in rows}


def histories(database):
    """Workload's name -> how the session of it with most trials went: `trials`, and the `best` so far as (trials
    before, ratio to the default), from the first trial on, where it rose. Faults count as trials; the finals, which
    measure the same schedules again, do not. Nothing where there is no database."""
    if not os.path.exists(database):
        return {}
    connection = sqlite3.connect(f"file:{database}?mode=ro", uri=True)
    rows = connection.execute("""
        SELECT program.name, session.id, trial.sequence,
               CASE WHEN trial.outcome = 'ok' THEN COALESCE(trial.ratio, 0) ELSE 0 END
        FROM trial JOIN session ON session.id = trial.session JOIN program ON program.id = session.program
        WHERE trial.origin != 'final' ORDER BY session.created, trial.sequence""").fetchall()
    connection.close()
    sessions = {}
    for name, session, sequence, ratio in rows:
        sessions.setdefault((name, session), []).append((sequence, ratio))
    longest = {}
    for (name, _), trials in sessions.items():
        if len(trials) >= len(longest.get(name, [])):
            longest[name] = trials
    return {name: risen([ratio for _, ratio in sorted(trials)]) for name, trials in longest.items() if len(trials) > 1}


def risen(ratios):
    """The history of a session with these ratios, one a trial, 0 for a fault."""
    best = []
    for before, ratio in enumerate(ratios):
        if not best or ratio > best[-1][1]:
            best.append([before, float(f"{ratio:.5g}")])
    return {"trials": len(ratios), "best": best}
