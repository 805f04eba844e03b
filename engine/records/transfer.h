// Schedules for programs that nobody tuned: those of their nearest relatives, adapted.
//
// Relatives are the same computation at other sizes (family hash), then computations of the same form (ir/form.h: other
// element types, storage orders, batches). Each offers its best schedule in one or several fits (Space::transfer),
// unless that was its default one; of them and the default schedule the one is taken that a cost model, trained on the
// relatives' own trials, ranks first.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "db/database.h"
#include "engine/records/workload.h"

namespace tile_tune::engine {

/// Five records, tried one by one, reach 93 % of the optimum; farther ones fit worse.
inline constexpr size_t kRelatives = 5;

struct Transferred {
  codegen::Schedule schedule;
  nlohmann::json record;       // of the relative: sizes, types, layout, content hash, trial
  std::string relative;        // in words: "matmul (M=512 ...)"
  bool beats_default = false;  // ranked before the default schedule
};

/// The best fit of each of the nearest relatives that the databases know for this instruction set and number of
/// threads, the most promising first; distinct, none of them the default schedule, at most `count` and kRelatives.
Result<std::vector<Transferred>> transferred_schedules(const Workload& workload, const codegen::Target& target,
                                                       std::vector<db::Database>& stack, size_t count);

}  // namespace tile_tune::engine
