// A step of a program as a call of a library's adapter.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "search/baselines/operations.h"
#include "search/baselines/baseline_source.h"

namespace tile_tune::search {

struct CallContext {
  const ir::Program& program;
  const Step& step;
  std::set<int> constants;
  int threads;
};

struct LibraryCall {
  std::string definition;  // of what the kernel calls
  std::string call;
  bool packs = false;                         // a constant operand is brought into another layout beforehand
  std::optional<AdapterSource> adapter = {};  // that it needs beside its library's
};

/// nullopt where the library has no such operation for these types and strides.
std::optional<LibraryCall> library_call(Baseline baseline, const CallContext& context);

/// Whether the library's operation takes the step's epilogue; otherwise that is to follow as loops.
bool can_fuse(Baseline baseline, const CallContext& context);

/// What a baseline's source includes, and what it is linked with.
struct Adapter {
  const char* header;
  std::optional<AdapterSource> source;  // nullopt: there is none for all calls
  std::vector<std::string> flags;       // of the linker
};
/// `fetched`: the folder of those that are.
Adapter adapter_of(Baseline baseline, const std::string& fetched);

/// What waits for the library's calls before anything else looks at their results, or "".
const char* waiting_for(Baseline baseline);

}  // namespace tile_tune::search
