// The tuning database: programs, targets, tools, schedules, sessions and every trial, in one SQLite file.
//
// Facts are appended, never changed, and named by their content (db/schema/*.sql). A function that writes is one
// short transaction and durable when it returns, whatever happens to the process or the machine afterwards. Any
// number of processes may read and write one file; each waits up to ten seconds for another's transaction.
// Every record is checked against its digest when it is read; one that fails is left out and named by
// damaged_records(). Nothing read from a file is executed or used as a path.
//
// Errors are of class Failure. Codes: no-database, not-a-database, database-newer, database-older,
// database-corrupt, foreign-schema, database-read-only, database-busy, cannot-open-database, disk-full, value-too-long,
// database-error; session-in-use, no-such-session, bad-record, no-such-record.
//
// Objects are thread-compatible (one thread at a time) and must not be carried through a fork.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "db/exchange.h"
#include "db/records.h"
#include "frontend/diagnostic/diagnostic.h"

namespace tile_tune::db {

enum class Mode { ReadWrite, ReadOnly };

/// Which trials prune() keeps: whatever was chosen, finals and defaults, faults (they are not tried again for it), the
/// fastest of each session, and an even sample of the rest, slow ones among them, for cost models to learn from.
struct PruneRules {
  int64_t older_than_ms = 0;  // only sessions that began earlier
  int keep_fastest = 10;      // a session
  int keep_share = 8;         // one of so many of the rest, the same in every copy of a database
};

struct Pruned {
  int trials = 0, schedules = 0;              // deleted
  int64_t bytes_before = 0, bytes_after = 0;  // of the file
};

/// Whether a stored schedule may be taken.
using Acceptable = std::function<Result<bool>(const BestRow&)>;

class Database {
 public:
  /// ReadWrite creates the file and its folders, brings an older file to the current schema, and marks sessions
  /// whose process is gone as aborted. ReadOnly never changes the file; where there is none: no-database.
  static Result<Database> open(const std::filesystem::path& path, Mode mode);
  Database(Database&&) noexcept;
  Database& operator=(Database&&) noexcept;
  ~Database();

  /// Stores the session (state "running") and what it works on; returns its id. The session belongs to this object
  /// until it is finished or the object or its process ends; nobody else can resume it meanwhile.
  Result<std::string> begin_session(const ProgramRow& program, const TargetRow& target, const ToolRow& tool,
                                    SessionRow session);
  /// Takes up a session that unfinished_session() named.
  Result<void> resume_session(const std::string& session);
  /// Stores one trial of a session of this object; returns its id. The same trial twice is one row. A trial with
  /// `chosen` becomes the best of its program and target from now on; refused (bad-record) unless it is an "ok"
  /// trial of origin "final" whose interval does not lie below the default schedule's speed (decision 17).
  Result<std::string> append_trial(const std::string& session, const TrialRow& trial);
  /// `state`: "done", or "aborted" when it may be resumed.
  Result<void> finish_session(const std::string& session, const std::string& state);

  /// The latest chosen trial for this computation (content_hash and layout; nothing else of `program` is looked
  /// at) with this instruction set and number of threads. Prefers, in this order: the same target, the same CPU
  /// model, the same tool, the latest. A challenger wins by being chosen, never by a smaller median: times of
  /// different runs do not compare. Left out is what `acceptable` does not take; without it, schedules whose
  /// verdict() refutes them.
  Result<std::optional<BestRow>> best(const ProgramRow& program, const TargetRow& target, const ToolRow& tool,
                                      const Acceptable& acceptable = {});
  /// The latest trial by this tool on this target that says for good what a schedule is worth: that it fails (whatever
  /// the origin), or how fast it is (a final). refutes() (db/stack.h) says which of the two; of several files the
  /// latest verdict counts.
  Result<std::optional<StoredTrial>> verdict(const ProgramRow& program, const TargetRow& target, const ToolRow& tool,
                                             const std::string& schedule_id);
  /// The best of each other computation of the same family and layout for this instruction set and number of threads.
  Result<std::vector<BestRow>> relatives(const ProgramRow& program, const TargetRow& target, const ToolRow& tool);
  /// A program of each family and layout of which something was chosen, whatever for, in an order of their own: what to
  /// look for relatives of other families by.
  Result<std::vector<ProgramRow>> families();
  /// Every trial for exactly this key, sessions in order of time, trials in sequence; of one session if it is named.
  Result<std::vector<StoredTrial>> trials_of(const ProgramRow& program, const TargetRow& target, const ToolRow& tool,
                                             const std::string& session = "");
  /// Every key that has trials, the latest session first; of one family of programs (ProgramRow::family_hash) if it is
  /// named.
  Result<std::vector<RecordedRow>> recorded(const std::string& family_hash = "");
  /// The latest session for exactly this key that is neither done nor at work; one without trials only if none has any.
  Result<std::optional<UnfinishedSession>> unfinished_session(const ProgramRow& program, const TargetRow& target,
                                                              const ToolRow& tool);

  /// Sessions of this strategy that are done, whatever the target and the tool, the latest first; of one computation
  /// if its workload_id() is given.
  Result<std::vector<DoneSession>> done_sessions(const std::string& strategy, const std::string& workload = "");

  /// One row per computation and target that has trials, the latest session first. Sessions without any trial are
  /// left out, here and in show().
  Result<std::vector<ListRow>> list();
  /// All rows whose program has this name (of an einsum: these subscripts), or whose id starts with these (4 or more)
  /// digits; at least one.
  Result<std::vector<ShowRow>> show(const std::string& name_or_id);
  /// Every trial of origin "final" of a computation on a target, by whatever tool, sessions in order of time, trials in
  /// sequence: numbers without a gap were timed side by side.
  Result<std::vector<StoredTrial>> finals(const ProgramRow& program, const TargetRow& target);

  /// Of what lies in the file, intact or not.
  Result<Counts> counts();

  /// Every intact record, sorted by kind, then by session and number or by name: equal contents come in one order.
  /// Sessions at work count as aborted.
  Result<void> each_record(const RecordVisitor& visitor);
  /// Those of them that are in use: for each computation, target and tool the trial that best() gives, with its winner
  /// and all they refer to, and sessions that chose kernels for ranges of sizes.
  Result<void> each_record_in_use(const RecordVisitor& visitor);
  /// Takes in what `source` hands out, a thousand records at a time, between which others may write; what a record
  /// refers to must have come before or be there. Records whose digest or references are wrong are refused one by one;
  /// an error of the source ends it, what came more than a thousand records before it is there. Taking in the same
  /// records in any order and any number of times, to the end or not, leaves the same content in the end.
  Result<Absorbed> absorb(const RecordSource& source);

  /// Deletes trials of sessions that are over, by the rules of PruneRules, with the schedules nothing refers to any
  /// more, and gives the space back.
  Result<Pruned> prune(const PruneRules& rules);
  /// Every trial of a schedule that did not work, the latest first; of one program if it is named.
  Result<std::vector<FaultRow>> faults(const std::string& name = "");

  /// Reads the whole file and checks how its pages hang together, which SQLite otherwise does only for pages it happens
  /// to need; database-corrupt if they do not. (A file of 125 MB took 1.4 s on a busy machine.) Indexes are compared
  /// with their tables only where that is asked for: it takes several times as long.
  enum class Depth { Pages, Indexes };
  Result<void> check_pages(Depth depth = Depth::Pages);

  /// Records this object met whose digest does not match their content: "trial 3fa1...".
  const std::vector<std::string>& damaged_records() const;

 private:
  struct State;
  explicit Database(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace tile_tune::db
