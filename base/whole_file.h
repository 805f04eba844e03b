// Files that nobody finds half written: made beside the name they are to have, then renamed.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <filesystem>
#include <functional>
#include <iosfwd>
#include <string>

#include "frontend/diagnostic/diagnostic.h"

namespace tile_tune::base {

/// Takes the place of `file`, a link included. Code: cannot-write; nothing is left then. `mode`: as of open(2).
Result<void> replace_file(const std::filesystem::path& file, const std::string& text, mode_t mode = 0666);

/// What is there and no regular file, a pipe or /dev/null: it is written to as it is, and keeps what was written.
bool is_device(const std::string& output);

/// What `produce` writes: to standard output where `output` is empty, to a pipe or a device as it is; else beside that
/// file, or the one that a link of this name leads to, and then renamed. Once `stop` is set nothing is waited for.
Result<void> write_whole(const std::string& output, const std::function<Result<void>(std::ostream&)>& produce,
                         const std::atomic<bool>& stop);

}  // namespace tile_tune::base
