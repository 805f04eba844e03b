"""Which records of a tuning database, as `tile-tune db export` writes them, are worth shipping."""

RECHECK = "verify"  # strategy of a session that timed stored schedules again (db/records.h, kRecheckStrategy)


def verdicts(records):
    """(program, target, schedule) -> the last trial of a recheck."""
    checks = {one["session"]: one for one in records if one["kind"] == "session" and one["strategy"] == RECHECK}
    trials = [one for one in records if one["kind"] == "trial" and one["session"] in checks]
    return {(checks[one["session"]]["program"], checks[one["session"]]["target"], one["schedule"]): one
            for one in sorted(trials, key=lambda one: one["created_ms"])}


def curated(records, checked, least):
    """The records, in their order, that winners faster than the default by `least` consist of."""
    trials = {one["digest"]: one for one in records if one["kind"] == "trial"}
    sessions = {one["session"]: one for one in records if one["kind"] == "session"}
    kept = set()
    for winner in (one for one in records if one["kind"] == "winner"):
        trial = trials[winner["trial"]]
        session = sessions[trial["session"]]
        verdict = checked.get((session["program"], session["target"], trial["schedule"]), trial)
        if verdict["outcome"] != "ok" or (verdict["ratio_lo"] or 0) < least:
            continue
        kept |= {winner["digest"], trial["digest"], trial["schedule"], session["digest"], session["program"],
                 session["target"], session["tool"]}
    return [one for one in records if one.get("digest") in kept or "digest" not in one]
