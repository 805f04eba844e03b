// The lock that keeps the tile-tune processes of a machine from disturbing each other's timing.
#pragma once

#include <filesystem>
#include <optional>

#include "base/process/fd.h"
#include "search/timing/deadline.h"
#include "search/workers/onlooker.h"

namespace tile_tune::search {

/// Where the lock's file is: in the one directory that all users of a machine share, and, for whoever cannot use that,
/// in a directory of their own.
struct LockFiles {
  std::filesystem::path shared, own;
};
LockFiles lock_files();

/// Whoever times holds it alone, those who build or verify share it, so that nothing of ours runs while anything is
/// timed.
class MachineLock {
 public:
  enum class Mode { Shared, Exclusive };
  /// Waits, but not for ever: after 10 s, or a third of the time that is left, it goes on without, and figures are to
  /// be marked. nullopt once `until` is over. A wait longer than half a second is told of: who holds the lock, and how
  /// long it was waited for.
  /// Where the shared file is no regular file, or cannot be opened, the own one is taken, with a warning; where that
  /// cannot be opened either, everybody goes on without.
  static std::optional<MachineLock> acquire(Mode mode, const Until& until, const Onlooker& onlooker = {},
                                            const LockFiles& files = lock_files());

  bool held() const { return held_; }

 private:
  base::Fd file_;
  bool held_ = false;
};

}  // namespace tile_tune::search
