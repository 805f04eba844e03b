// What can be said of one stage of a schedule on a target before anything is compiled: the features of the learned
// cost model, and what the filter of hopeless schedules looks at.
//
// Everything follows from the loop nest (nest.h), so that new kinds of schedules need a word here only where they make
// another nest; what a decision changes that no nest shows, it says itself (codegen::Figure). Caches are taken as fully
// associative and as large as the target says; traffic between two levels is what the largest set of inner loops that
// fits the nearer one reads anew each time they are entered.
#pragma once

#include <array>
#include <cstddef>
#include <vector>

#include "codegen/schedule/figure.h"
#include "codegen/schedule/loops.h"
#include "codegen/schedule/schedule.h"
#include "codegen/target/target.h"

namespace tile_tune::predict {

/// Plain quantities; features.cpp takes logarithms of the amounts.
struct StageFacts {
  // What is to be done, whatever the schedule
  double points = 0;         // iterations of all loops
  double output = 0;         // elements computed
  double reduction = 0;      // iterations for each
  double element_bytes = 0;  // of an accumulator
  double intensity = 0;      // iterations for each byte that must be read or written at least
  double constraints = 0;    // guards that cut the loops into pieces

  // Vectors
  double lanes = 1;           // over the target's natural width; 0: scalar code
  double reduces_lanes = 0;   // 1: partial results in lanes, folded in the end
  double vector_extent = 1;   // of the vectorised loop
  double store_stride = 0;    // elements between lanes where results are stored
  double contiguous = 0;      // share of the operands read (or read from their copy) with stride 1 between lanes
  double broadcast = 0;       // with stride 0
  double strided = 0;         // with any other, or gathered
  double unaligned_tail = 0;  // share of the vector loop's iterations that its last, partial vector holds

  // The unrolled body
  double accumulators = 1;      // vectors of partial results
  double pressure = 0;          // registers wanted over registers there are
  double vectors = 1;           // side by side along the vector loop
  double rows = 1;              // of such vectors
  double loads = 0;             // vector loads and broadcasts for one vector operation
  double body = 1;              // vector operations unrolled
  double unroll = 1;            // steps of the reduction among them
  double latency = 1;           // share of the multiply-add pipeline that independent accumulators fill
  double row_streams = 1;       // rows of memory the body reads at once
  double inner_trips = 1;       // of the innermost loop that runs more than once
  double accumulate_trips = 1;  // passes through the body for one set of accumulators

  // Tiles
  double levels = 1;
  double wasted = 1;         // iterations run over iterations needed: moved-back last tiles repeat some
  double tile_points = 1;    // iterations in a tile of the outermost level
  double tile_output = 1;    // elements of it
  double middle_output = 1;  // of a tile of the second level
  double home_visits = 0;    // blocks of the reduction: times the accumulators go to their home and come back
  double home_bytes = 0;     // of that home
  double home_l1 = 0;        // over the first cache
  double home_l2 = 0;        // over the second

  // Threads
  double parallel_loops = 0;
  double grains = 1;        // iterations of the parallel loop
  double grains_each = 1;   // for a thread
  double imbalance = 1;     // slowest thread over the mean
  double grain_points = 1;  // iterations in one of them
  double idle = 1;          // threads there are over threads at work

  // Packing
  double packed = 0;          // operands copied
  double packed_strided = 0;  // of those that would be read with a stride, the share copied
  double copied = 0;          // elements copied for one iteration
  double copied_alone = 0;    // of them, by one thread while the others wait
  double copy_stride = 0;     // elements apart in memory that the copy reads side by side (the largest)
  double panel_l1 = 0;        // the largest copy over the first cache
  double panel_l2 = 0;        // over the second, ...
  double panel_l3 = 0;

  // Memory: bytes for one iteration that pass from a cache to the next nearer one, and how what should fit fits
  double traffic_l1 = 0;  // into the first cache
  double traffic_l2 = 0;
  double traffic_l3 = 0;
  double body_l1 = 0;       // what all passes through the body for one set of accumulators touch, over L1
  double middle_l2 = 0;     // what a tile of the second level touches, over L2
  double tile_l2 = 0;       // what a tile of the outermost level touches, over L2
  double tile_l3 = 0;       // and over the last cache
  double reuse_most = 1;    // iterations for each byte of an operand in a tile: the best operand,
  double reuse_least = 1;   // and the worst
  double inner_stride = 0;  // largest stride of an operand in the innermost loop, in elements
  double written = 0;       // bytes stored for one iteration, homes included

  /// Of the decisions that bring figures of their own, in the order of decision_figures().
  std::vector<double> decided;
};

struct FactInfo {
  const char* name;
  double StageFacts::*value;
  bool amount;  // spans orders of magnitude: the model sees log2(1 + x)
};
extern const std::array<FactInfo, 58> kFacts;
/// The figures of all decisions (codegen/schedule/decisions.h).
const std::vector<codegen::Figure>& decision_figures();

/// `stage` must be valid and not inlined.
StageFacts stage_facts(const ir::Program& program, int statement, const codegen::Loops& loops,
                       const codegen::NestSchedule& stage, const codegen::Target& target);

}  // namespace tile_tune::predict
