// Work that is done while the caller goes on: one piece at a time, on a thread of its own.
#pragma once

#include <atomic>
#include <functional>

namespace tile_tune::engine {

/// `work` is to end soon after `stop` is set. Nothing is done once end_background() was called.
void in_background(std::function<void(const std::atomic<bool>& stop)> work);

/// What runs ends, what waits is dropped; also done when the process ends. Returns when the thread is gone. In the
/// child of a fork there is none.
void end_background();

}  // namespace tile_tune::engine
