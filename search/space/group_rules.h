// How the search treats decisions (codegen/schedule/decisions.h): for each group of them how many values it has, how
// these are drawn and changed, and what is done about it where another part of the schedule changes.
#pragma once

#include <functional>
#include <vector>

#include "codegen/schedule/decisions.h"
#include "search/space/drawn.h"
#include "search/space/repair.h"
#include "search/space/rng.h"

namespace tile_tune::search {

struct Move {
  double share;  // of all changes of one stage, among those that can be made
  Changed (*make)(const StageContext&, codegen::NestSchedule, Rng&);
};

/// One block of a nest that several statements share.
struct SharedBlock {
  struct Part {
    int statement;
    std::vector<int64_t> extents;  // iterations of its output loops in one block
  };
  std::vector<Part> parts;  // the last statement first
  bool has_contraction = false;
};

/// What is null the group has no need of.
struct GroupRules {
  codegen::Group group;
  /// Natural logarithm of how many values the group has in a stage.
  double (*log_count)(const StageContext&);
  /// Draws the group for a stage in which the groups above it in the table are drawn.
  void (*draw)(const StageContext&, codegen::NestSchedule&, Rng&) = nullptr;
  std::vector<Move> moves = {};
  /// Takes back what a stage that is valid otherwise does not allow.
  void (*repair)(const StageContext&, codegen::NestSchedule&, Notes&) = nullptr;
  /// Says it of another nest: loop(l) is the other's loop, -1 where that has none.
  void (*restate)(codegen::NestSchedule&, const std::function<int(int)>& loop) = nullptr;
  /// What the default schedule decides once the statements of a nest have their tiles.
  void (*plan)(const std::vector<StageContext>&, const SharedBlock&, codegen::Schedule&) = nullptr;
};

GroupRules place_rules();
GroupRules vector_rules();
GroupRules tile_rules();
GroupRules thread_rules();
GroupRules reduction_rules();
GroupRules copy_rules();
GroupRules prefetch_rules();
GroupRules store_rules();

/// Those of nests that are mapped to a GPU (gpu_moves.cpp), without repair, restate and plan: gpu_repair.cpp and
/// gpu_default.cpp see to whole nests.
std::vector<GroupRules> rules_on_gpu();

inline const std::vector<GroupRules>& group_rules(codegen::Device device = codegen::Device::Cpu) {
  static const std::vector<GroupRules> rules{place_rules(),     vector_rules(), tile_rules(),     thread_rules(),
                                             reduction_rules(), copy_rules(),   prefetch_rules(), store_rules()};
  static const std::vector<GroupRules> on_gpu = rules_on_gpu();
  return device == codegen::Device::Gpu ? on_gpu : rules;
}

}  // namespace tile_tune::search
