// The three standard streams of a process that is started.
#pragma once

namespace tile_tune::base {

/// Descriptors of this process, or one of these.
inline constexpr int kInherited = -1, kNothing = -2;  // kNothing: /dev/null, for `in` alone

struct Streams {
  int in = kNothing;
  int out = kInherited;
  int err = kInherited;
};

}  // namespace tile_tune::base
