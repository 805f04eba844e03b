"""The recorded space of one program in a tuning database, trimmed to what strategies are compared on."""

import json
import sqlite3


def recording(database, name=None):
    """JSON text: {"program", "target", "trials": [[origin, outcome, ratio, stages], ...]}; of the only program if none
    is named. A collapsed schedule is there as a whole. Samples, reasons and finals are left out."""
    connection = sqlite3.connect(f"file:{database}?mode=ro", uri=True)
    rows = connection.execute(
        "SELECT p.canonical, g.features, t.origin, t.outcome, t.ratio, c.json FROM trial t"
        " JOIN session s ON s.id = t.session JOIN program p ON p.id = s.program JOIN target g ON g.id = s.target"
        " JOIN schedule c ON c.id = t.schedule WHERE (?1 IS NULL OR p.name = ?1) AND t.origin <> 'final'"
        " ORDER BY s.created, t.sequence", [name]).fetchall()
    connection.close()
    # Timeouts come from a busy machine as often as from a schedule; duplicates were measured as another schedule.
    trials = [[origin, outcome, round(ratio or 0, 3), json.loads(schedule)]
              for _, _, origin, outcome, ratio, schedule in rows if outcome not in ("timeout", "duplicate", "no-space")]
    for trial in trials:
        if "collapsed" not in trial[3]:
            trial[3] = trial[3]["stages"]
    compact = {"separators": (",", ":")}
    return ('{"program":' + json.dumps(json.loads(rows[0][0]), **compact) + ',\n"target":' + rows[0][1] +
            ',\n"trials":[\n' + ",\n".join(json.dumps(trial, **compact) for trial in trials) + "\n]}\n")
