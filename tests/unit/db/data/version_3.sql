-- sqlite3 FILE .dump of a file of schema version 3: that of version 2 brought up to date, with one more target. Never regenerated.
PRAGMA application_id = 1416918382;
PRAGMA user_version = 3;
PRAGMA foreign_keys=OFF;
BEGIN TRANSACTION;
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
INSERT INTO program VALUES(X'd3f787bf6b1e5fcb4a380787aaac4526c4b92ce65c7db2587fa995313bd4702f',X'504cc29089959546920676c5588de65719a6054e7ba9f666a7fd5b06e811413a','2beb084a986cb27a32bc063be81f9cdba4d8dd25ad153afa8bb2621a30419dc0','f14bdf6076533540dc77604a4f43d62c460830a7911be00f7405891c51a6703e','matmul','tc','def matmul(float(M,K) A, float(K,N) B) -> (C) { C(i,j) +=! A(i,k) * B(k,j) }','{"kind":"program"}','{"M":512,"N":511,"K":7}','f32,f32->f32','row',3662848.0,1075172.0);
CREATE TABLE schedule(
  id            BLOB NOT NULL PRIMARY KEY CHECK(length(id) = 32),  -- SHA-256 of the JSON text
  json          TEXT NOT NULL
) STRICT;
INSERT INTO schedule VALUES(X'e9ef03e8ae2e66a79983d0f62a96070aa187eb84786955fe8b9c14a6f0314810','{"tile":8}');
INSERT INTO schedule VALUES(X'96facfffbfd8381689a215454dd0ddaba26c6f7b99ef22e9317588afd48ef3c9','{"tile":16}');
INSERT INTO schedule VALUES(X'4ca160be61f519abc4f9ab324a577525172afff7f77e1d334d8462585bb0feed','{"tile":32}');
INSERT INTO schedule VALUES(X'7dac49283ea6961f45c15f81a6da715ed253d7610527ca54a3f9579c5cc1057e','{"tile":4}');
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
INSERT INTO session VALUES(X'000102030405060708090a0b0c0d0e0f',X'd3f787bf6b1e5fcb4a380787aaac4526c4b92ce65c7db2587fa995313bd4702f',X'1dbf1e82562f61bae314489fde7ab6e1e1690e4872d9f5d34a53bfe805452e01',X'3a9581f4817f8c34c21b266af5d70026df42c30c31c67210078f42d979a2f211',-9,'evolve','{"population":16}','{"trials":64}',1000,X'220b3d5a8509cc064a2579b7b5e1eee315047b06dfdea9cd2da158e1c6382f9d','done');
INSERT INTO session VALUES(X'101112131415161718191a1b1c1d1e1f',X'd3f787bf6b1e5fcb4a380787aaac4526c4b92ce65c7db2587fa995313bd4702f',X'1dbf1e82562f61bae314489fde7ab6e1e1690e4872d9f5d34a53bfe805452e01',X'3a9581f4817f8c34c21b266af5d70026df42c30c31c67210078f42d979a2f211',-9,'evolve','{"population":16}','{"trials":64}',2000,X'b7cc15362b928ccc15b4b54eedf025ecf791681c95f7e5cfbc08cf71c986e14e','aborted');
CREATE TABLE tool(
  id                BLOB NOT NULL PRIMARY KEY CHECK(length(id) = 32),
  tile_tune         TEXT NOT NULL,
  halide            TEXT NOT NULL,
  llvm              TEXT NOT NULL,
  schedule_version  INTEGER NOT NULL,
  protocol_version  INTEGER NOT NULL
) STRICT;
INSERT INTO tool VALUES(X'3a9581f4817f8c34c21b266af5d70026df42c30c31c67210078f42d979a2f211','0.1.0','21.0.0','21.1',1,1);
CREATE TABLE IF NOT EXISTS "trial"(
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
INSERT INTO trial VALUES(X'2f9eabec967346feafc3b8978fe5d7bf3b2065d1499c0b23c46c9ae9b5bd6593',X'000102030405060708090a0b0c0d0e0f',0,0,'mutation',X'b72b1e85458a7f054664b5d2cb36de2555035cffa59dd5e4f0a36e58b41ce2622b59ad7d3048e3aca460811b5a6657331e0672479b9df28f6e8d4a5b14e01383',X'e9ef03e8ae2e66a79983d0f62a96070aa187eb84786955fe8b9c14a6f0314810','ok','','5694d08a2e53ffcae0c3103e5ad6f6076abd960eb1f8a56577040bc1028f702b',123.45600000000000307,0.10000000000000000555,X'000000000000f83f0000000000000080355800662deb517e343333333333d33f',333.33333333333331439,1.25,0.0,0.0,0.0,0.0,0.0,0,0.0,2000);
INSERT INTO trial VALUES(X'1e035b7aa0ef1ae91dd4713e9f2f11f9fdc81fb023b93cf03bee35f475f2ca69',X'000102030405060708090a0b0c0d0e0f',1,0,'mutation',X'b72b1e85458a7f054664b5d2cb36de2555035cffa59dd5e4f0a36e58b41ce2622b59ad7d3048e3aca460811b5a6657331e0672479b9df28f6e8d4a5b14e01383',X'96facfffbfd8381689a215454dd0ddaba26c6f7b99ef22e9317588afd48ef3c9','wrong','C(0,3) is 1, not 2','5694d08a2e53ffcae0c3103e5ad6f6076abd960eb1f8a56577040bc1028f702b',123.45600000000000307,NULL,X'000000000000f83f0000000000000080355800662deb517e343333333333d33f',333.33333333333331439,1.25,0.0,0.0,0.0,0.0,0.0,0,0.5,2001);
INSERT INTO trial VALUES(X'0f52d076fb5b7b74aca56364a024894c6bfd5a3566482674a350d363e6ac9599',X'000102030405060708090a0b0c0d0e0f',2,0,'final',X'b72b1e85458a7f054664b5d2cb36de2555035cffa59dd5e4f0a36e58b41ce2622b59ad7d3048e3aca460811b5a6657331e0672479b9df28f6e8d4a5b14e01383',X'4ca160be61f519abc4f9ab324a577525172afff7f77e1d334d8462585bb0feed','ok','','5694d08a2e53ffcae0c3103e5ad6f6076abd960eb1f8a56577040bc1028f702b',123.45600000000000307,0.10000000000000000555,X'000000000000f83f0000000000000080355800662deb517e343333333333d33f',100.0,1.5,1.3999999999999999111,1.6000000000000000888,0.75,0.69999999999999995559,0.8000000000000000444,0,1.0,2002);
INSERT INTO trial VALUES(X'b132dfe5ba270b8d48756027007f7c2582ec3c1b6c7b1d063d3848110aeee4e8',X'101112131415161718191a1b1c1d1e1f',0,0,'mutation',X'b72b1e85458a7f054664b5d2cb36de2555035cffa59dd5e4f0a36e58b41ce2622b59ad7d3048e3aca460811b5a6657331e0672479b9df28f6e8d4a5b14e01383',X'e9ef03e8ae2e66a79983d0f62a96070aa187eb84786955fe8b9c14a6f0314810','ok','','5694d08a2e53ffcae0c3103e5ad6f6076abd960eb1f8a56577040bc1028f702b',123.45600000000000307,0.10000000000000000555,X'000000000000f83f0000000000000080355800662deb517e343333333333d33f',333.33333333333331439,1.25,0.0,0.0,0.0,0.0,0.0,0,0.0,2000);
INSERT INTO trial VALUES(X'0e3b9ff27e2f1a7fe5ffaeb947868087a28f93836d21dadc0e4e0187f2ddba9d',X'101112131415161718191a1b1c1d1e1f',1,0,'mutation',X'b72b1e85458a7f054664b5d2cb36de2555035cffa59dd5e4f0a36e58b41ce2622b59ad7d3048e3aca460811b5a6657331e0672479b9df28f6e8d4a5b14e01383',X'7dac49283ea6961f45c15f81a6da715ed253d7610527ca54a3f9579c5cc1057e','ok','','5694d08a2e53ffcae0c3103e5ad6f6076abd960eb1f8a56577040bc1028f702b',123.45600000000000307,0.10000000000000000555,X'000000000000f83f0000000000000080355800662deb517e343333333333d33f',333.33333333333331439,1.25,0.0,0.0,0.0,0.0,0.0,0,0.5,2001);
CREATE TABLE IF NOT EXISTS "winner"(
  trial         BLOB NOT NULL PRIMARY KEY REFERENCES "trial"(id),
  workload      BLOB NOT NULL CHECK(length(workload) = 32),
  accepted      INTEGER NOT NULL,          -- time; at least one more than every earlier winner's of the workload here
  digest        BLOB NOT NULL CHECK(length(digest) = 32)           -- of all the above
) STRICT, WITHOUT ROWID;
INSERT INTO winner VALUES(X'0f52d076fb5b7b74aca56364a024894c6bfd5a3566482674a350d363e6ac9599',X'504cc29089959546920676c5588de65719a6054e7ba9f666a7fd5b06e811413a',2002,X'9e5affe2e2372efc98820da3b2aaf7ccaf2d1f8db7ee5fc61561f8d17cf2257d');
CREATE TABLE IF NOT EXISTS "target"(
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
INSERT INTO target VALUES(X'1dbf1e82562f61bae314489fde7ab6e1e1690e4872d9f5d34a53bfe805452e01','x86-64','linux','avx avx2 fma',0,'cpu',0,'','Zen 5',2,0,0,0,0,0,NULL,'{"l1_bytes":32768,"cpu":"Zen 5"}');
INSERT INTO target VALUES(X'70fb18e3bd21d99c8e3d4f24af0774d7c40c34fae86f69e066c7390925879f5f','x86-64','linux','avx avx2 avx512 avx512_zen4 f16c fma sse41',0,'cpu',1,'znver4','AMD EPYC 9R14',2,64,32,32768,1048576,33554432,NULL,NULL);
CREATE INDEX program_workload ON program(workload);
CREATE INDEX program_family ON program(family_hash);
CREATE INDEX session_key ON session(program, target, tool);
CREATE INDEX session_running ON session(id) WHERE state = 'running';
CREATE INDEX winner_workload ON winner(workload, accepted);
CREATE INDEX trial_session ON trial(session, sequence);
CREATE INDEX trial_schedule ON trial(schedule);
COMMIT;
