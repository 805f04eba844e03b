-- Schema version 1. The version of a file is PRAGMA user_version; files of this tool carry an application_id.
--
-- Facts are appended and never changed, and named by what they say (SHA-256 of the content), so that merging two
-- databases is INSERT OR IGNORE, table by table, in the order below. The only column that changes is session.state.
-- `digest` covers a row's content where the id alone does not; both are checked whenever a row is used, because
-- SQLite pages carry no checksums. Times are milliseconds since 1970 (UTC), durations are named with their unit;
-- REAL columns are NULL where the value is not a number. Texts ending in "JSON" below are opaque to the database.

-- One spelling of one computation. Equal computations share `workload` = SHA-256(content_hash, layout), whatever
-- their names, front end or argument order.
CREATE TABLE program(
  id            BLOB NOT NULL PRIMARY KEY CHECK(length(id) = 32),
  workload      BLOB NOT NULL CHECK(length(workload) = 32),
  content_hash  TEXT NOT NULL,
  family_hash   TEXT NOT NULL,             -- the same at every size
  name          TEXT NOT NULL,
  frontend      TEXT NOT NULL,
  source        TEXT NOT NULL,             -- as the user wrote it
  canonical     TEXT NOT NULL,             -- JSON of the canonical, bound program
  sizes         TEXT NOT NULL,             -- JSON
  dtypes        TEXT NOT NULL,
  layout        TEXT NOT NULL,
  flops         REAL,
  bytes         REAL
) STRICT;
CREATE INDEX program_workload ON program(workload);
CREATE INDEX program_family ON program(family_hash);

CREATE TABLE target(
  id            BLOB NOT NULL PRIMARY KEY CHECK(length(id) = 32),
  halide        TEXT NOT NULL,             -- canonical target string: the instruction set
  cpu_model     TEXT NOT NULL,             -- empty where the user named a target other than the host
  features      TEXT NOT NULL,             -- JSON: caches, vector width, ...
  threads       INTEGER NOT NULL
) STRICT;

-- What made and measured a kernel.
CREATE TABLE tool(
  id                BLOB NOT NULL PRIMARY KEY CHECK(length(id) = 32),
  tile_tune         TEXT NOT NULL,
  halide            TEXT NOT NULL,
  llvm              TEXT NOT NULL,
  schedule_version  INTEGER NOT NULL,
  protocol_version  INTEGER NOT NULL
) STRICT;

CREATE TABLE schedule(
  id            BLOB NOT NULL PRIMARY KEY CHECK(length(id) = 32),  -- SHA-256 of the JSON text
  json          TEXT NOT NULL
) STRICT;

-- One run of the tuner on one program, target and tool.
CREATE TABLE session(
  id            BLOB NOT NULL PRIMARY KEY CHECK(length(id) = 16),  -- random
  program       BLOB NOT NULL REFERENCES program(id),
  target        BLOB NOT NULL REFERENCES target(id),
  tool          BLOB NOT NULL REFERENCES tool(id),
  seed          INTEGER NOT NULL,          -- the 64 bits of an unsigned number
  strategy      TEXT NOT NULL,
  options       TEXT NOT NULL,             -- JSON
  budget        TEXT NOT NULL,             -- JSON
  created       INTEGER NOT NULL,
  digest        BLOB NOT NULL CHECK(length(digest) = 32),          -- of all the above
  state         TEXT NOT NULL CHECK(state IN ('running', 'done', 'aborted'))
) STRICT;
CREATE INDEX session_key ON session(program, target, tool);
CREATE INDEX session_running ON session(id) WHERE state = 'running';

-- One candidate tried; faults are trials too.
CREATE TABLE trial(
  id            BLOB NOT NULL PRIMARY KEY CHECK(length(id) = 32),  -- SHA-256(program, target, tool, schedule, session, sequence)
  session       BLOB NOT NULL REFERENCES session(id),
  sequence      INTEGER NOT NULL,          -- 0, 1, ... in the session
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
  created       INTEGER NOT NULL,
  digest        BLOB NOT NULL CHECK(length(digest) = 32),          -- of all the above
  UNIQUE(session, sequence)
) STRICT;

-- Trials that a tuner accepted as the best known, in the order they were accepted. The best schedule of a workload
-- is the latest winner: a fact to look up, not a minimum over times of different runs, which do not compare.
CREATE TABLE winner(
  trial         BLOB NOT NULL PRIMARY KEY REFERENCES trial(id),
  workload      BLOB NOT NULL CHECK(length(workload) = 32),
  accepted      INTEGER NOT NULL           -- time; at least one more than every earlier winner's of the workload
) STRICT, WITHOUT ROWID;
CREATE INDEX winner_workload ON winner(workload, accepted);
