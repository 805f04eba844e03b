-- Schema version 3: a target is stored as what it is, in names of ours, and no longer as one text in a compiler's words.
-- Ids stay as they were (db/former_target.h), and with them all that names a target.

CREATE TABLE target_3(
  id            BLOB NOT NULL PRIMARY KEY CHECK(length(id) = 32),
  architecture  TEXT NOT NULL,             -- with its bits: 'x86-64'; '' (and 0) to tuned_for where former_text says it
  os            TEXT NOT NULL,             -- 'linux'
  features      TEXT NOT NULL,             -- instruction sets by name, with blanks between them: 'avx avx2 fma'
  scalable_bits INTEGER NOT NULL,          -- of a vector whose length the instruction set leaves open; 0: not known
  device        TEXT NOT NULL,             -- 'cpu'
  deterministic INTEGER NOT NULL,          -- operations on floats are neither reordered nor fused
  tuned_for     TEXT NOT NULL,             -- the processor whose timings the compiler goes by: 'znver4'; '': any
  cpu_model     TEXT NOT NULL,             -- empty where the user named a target other than the host
  threads       INTEGER NOT NULL,
  vector_bytes     INTEGER NOT NULL,       -- from here to l3_bytes: 0 where former_facts says it
  vector_registers INTEGER NOT NULL,
  l1_bytes      INTEGER NOT NULL,
  l2_bytes      INTEGER NOT NULL,
  l3_bytes      INTEGER NOT NULL,
  former_text   TEXT,                      -- versions 1 and 2: `halide`, where this version does not know all its words
  former_facts  TEXT                       -- versions 1 and 2: `features`, where it is not what the columns say
) STRICT;
-- target_column() is db/former_target.h's.
INSERT INTO target_3 SELECT id,
  target_column('architecture', halide, cpu_model, features, threads),
  target_column('os', halide, cpu_model, features, threads),
  target_column('features', halide, cpu_model, features, threads),
  target_column('scalable_bits', halide, cpu_model, features, threads),
  target_column('device', halide, cpu_model, features, threads),
  target_column('deterministic', halide, cpu_model, features, threads),
  target_column('tuned_for', halide, cpu_model, features, threads),
  cpu_model,
  threads,
  target_column('vector_bytes', halide, cpu_model, features, threads),
  target_column('vector_registers', halide, cpu_model, features, threads),
  target_column('l1_bytes', halide, cpu_model, features, threads),
  target_column('l2_bytes', halide, cpu_model, features, threads),
  target_column('l3_bytes', halide, cpu_model, features, threads),
  target_column('former_text', halide, cpu_model, features, threads),
  target_column('former_facts', halide, cpu_model, features, threads)
  FROM target ORDER BY rowid;
DROP TABLE target;
ALTER TABLE target_3 RENAME TO target;
