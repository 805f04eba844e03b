-- Schema version 2: a trial is named by all it says, so that two databases which both went on with a copy of one session
-- can be merged and keep both trials of one number; winners carry a digest like every other record.

CREATE TABLE trial_2(
  id            BLOB NOT NULL PRIMARY KEY CHECK(length(id) = 32),  -- version 1's digest: of the key and all below
  session       BLOB NOT NULL REFERENCES session(id),
  sequence      INTEGER NOT NULL,          -- 0, 1, ... in the session; of merged databases two may have one number
  generation    INTEGER NOT NULL,
  origin        TEXT NOT NULL,
  parents       BLOB NOT NULL CHECK(length(parents) % 32 = 0),     -- schedule ids, one after the other
  schedule      BLOB NOT NULL REFERENCES schedule(id),
  outcome       TEXT NOT NULL,
  reason        TEXT NOT NULL,
  code_hash     TEXT NOT NULL,
  compile_ms    REAL,
  verify_error  REAL,
  samples       BLOB NOT NULL CHECK(length(samples) % 8 = 0),      -- nanoseconds, little-endian float64
  median_ns     REAL,
  ratio         REAL,                      -- speed relative to the default schedule, with its 95 % interval
  ratio_lo      REAL,
  ratio_hi      REAL,
  peak_fraction REAL,
  peak_fraction_lo REAL,
  peak_fraction_hi REAL,
  disturbed     INTEGER NOT NULL,
  elapsed_s     REAL,                      -- search time spent in the session when the trial was finished
  created       INTEGER NOT NULL
) STRICT;
INSERT INTO trial_2 SELECT digest, session, sequence, generation, origin, parents, schedule, outcome, reason, code_hash,
  compile_ms, verify_error, samples, median_ns, ratio, ratio_lo, ratio_hi, peak_fraction, peak_fraction_lo,
  peak_fraction_hi, disturbed, elapsed_s, created FROM trial;

CREATE TABLE winner_2(
  trial         BLOB NOT NULL PRIMARY KEY REFERENCES trial_2(id),
  workload      BLOB NOT NULL CHECK(length(workload) = 32),
  accepted      INTEGER NOT NULL,          -- time; at least one more than every earlier winner's of the workload here
  digest        BLOB NOT NULL CHECK(length(digest) = 32)           -- of all the above
) STRICT, WITHOUT ROWID;
-- winner_digest() is db/identity.h's: SQLite has no SHA-256.
INSERT INTO winner_2 SELECT t.digest, w.workload, w.accepted, winner_digest(t.digest, w.workload, w.accepted)
  FROM winner w JOIN trial t ON t.id = w.trial;

DROP TABLE winner;
DROP TABLE trial;
ALTER TABLE trial_2 RENAME TO trial;
ALTER TABLE winner_2 RENAME TO winner;
CREATE INDEX winner_workload ON winner(workload, accepted);
CREATE INDEX trial_session ON trial(session, sequence);
CREATE INDEX trial_schedule ON trial(schedule);  -- all that happened to a schedule; schedules that no trial needs
