// One program at many sizes, from the command line to a kernel with one entry for all of them.
//
// `tune` searches schedules at some sizes, which are ordinary records, and then times at these and at others the
// kernels that an entry could run there. What was chosen is the options of a session (db::kSizedStrategy) of the
// program at its largest sizes. `build` takes it from there, and times nothing unless it is asked to
// (recheck.h).
//
// These options are codegen::to_json(SizedEntry) with "roles" (spelling.h) and, where the kernels were tuned
// elsewhere or by another version and rechecked here, "rechecked": true.
#pragma once

#include <atomic>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "codegen/emit/package.h"
#include "engine/programs/bindings.h"
#include "engine/records/workload.h"
#include "engine/session/session.h"
#include "frontend/plan/path.h"

namespace tile_tune::engine {

struct SizedWorkload {
  LoadedProgram loaded;
  codegen::SizedProgram program;
  ir::Program written;  // as it was before its sums of products were put into the steps of `path`, by the top's sizes
  plan::Path path;
  /// Of the largest sizes; the key of what is stored.
  Workload top;

  ir::Sizes sizes_at(const std::vector<int64_t>& values) const;
  Result<Workload> at(const std::vector<int64_t>& values) const;
};

/// Whether a kernel for many sizes may take strides: entries of packages (emit/dispatch_text.h) pass none on.
enum class Strides { Refused, Taken };

/// `sizes` are those of take_entry_sizes(), `options` hold the others. Errors: what bind_program() finds, at either
/// end of each size; constants, which are packed for one size; strides, where they are refused. Warnings are those of
/// the largest sizes.
Result<SizedWorkload> load_sized(const LoadedProgram& loaded, const BindingOptions& options,
                                 const std::vector<codegen::EntrySize>& sizes, const Session& session,
                                 Strides strides = Strides::Refused);

/// The entry with its generic kernel, of the default schedule. Without any where no kernel of the program serves many
/// sizes; of a range that is an error (no-size-range) of class Program.
Result<codegen::SizedEntry> generic_entry(const SizedWorkload& workload, const codegen::Target& target);

struct StoredEntry {
  codegen::SizedEntry entry;
  std::string rung;  // as of ScheduleChoice: "exact", "rechecked", "stale", or "nearest", of one for more threads
  int threads = 1;   // it was tuned for
  std::string session = "";
};

/// What `tune` chose for exactly these sizes, however they are spelled, and this instruction set, if it did: the
/// nearest, of this target and this version before others; none that was refuted for them. Of one that fits less than
/// it might a warning says so.
Result<std::optional<StoredEntry>> stored_entry(const SizedWorkload& workload, const codegen::Target& target,
                                                const Session& session);
/// Returns the session's id.
Result<std::string> store_entry(const SizedWorkload& workload, const codegen::SizedEntry& entry, uint64_t seed,
                                const codegen::Target& target, const Session& session, bool is_rechecked = false);
/// This tool takes the entry of that session on this target no longer.
Result<void> refute_entry(const SizedWorkload& workload, const std::string& refuted, const codegen::Target& target,
                          const Session& session);

/// Rechecks what was not tuned for this target by this version (recheck.h); nullopt if it does not hold.
using RecheckEntry = std::function<Result<std::optional<StoredEntry>>(const StoredEntry&)>;

/// The kernel to build: of the stored entry; else, with a warning, of the generic kernel and, for listed sizes, of the
/// schedules that stored_choice() finds. Without `recheck` a stored entry is taken untimed.
Result<codegen::Kernel> sized_kernel(const SizedWorkload& workload, const std::string& function,
                                     const codegen::Target& target, const Session& session,
                                     const RecheckEntry& recheck = {});
/// Writes the package of what sized_kernel() says, as engine::package() that of a program at one size.
Result<std::vector<std::string>> package(const SizedWorkload& workload, const codegen::Target& target,
                                         const std::string& directory, const Session& session,
                                         const std::atomic<bool>* stop);
/// "matmul (N=1..512)"
std::string described(const SizedWorkload& workload);

}  // namespace tile_tune::engine
