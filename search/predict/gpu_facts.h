// What can be said of one stage that is mapped to a GPU before anything is compiled: the cost model's features there,
// what the filter of hopeless schedules looks at, and what a rough time follows from.
#pragma once

#include <array>

#include "codegen/schedule/gpu_shape.h"

namespace tile_tune::predict {

/// Plain quantities; features.cpp takes logarithms of the amounts.
struct GpuFacts {
  // What is to be done, whatever the schedule
  double points = 0;         // iterations of all loops
  double output = 0;         // elements computed
  double reduction = 0;      // iterations for each, in one piece
  double element_bytes = 0;  // of an accumulator
  double intensity = 0;      // iterations for each byte that must be read or written at least
  double constraints = 0;    // guards

  // Blocks and what they take
  double threads = 1;       // of a block
  double idle_lanes = 1;    // lanes of its warps over its threads
  double blocks = 1;        // of the grid
  double wasted = 1;        // iterations run over iterations needed: last blocks in part
  double registers = 0;     // of a thread, estimated
  double shared_bytes = 0;  // of a block
  double resident = 1;      // blocks on a multiprocessor
  double occupancy = 0;     // warps on a multiprocessor over those it can hold
  double waves = 1;         // of blocks over all multiprocessors
  double tail = 1;          // places for blocks in all waves over blocks
  double busy = 1;          // multiprocessors at work over those there are

  // What a thread does
  double sums = 1;               // elements it holds
  double unrolled = 1;           // multiply-adds in its innermost body
  double lanes = 1;              // of its vectors
  double interleaved = 0;        // 1: its elements lie apart
  double reduction_threads = 1;  // that share a reduction
  double pieces = 1;             // of the reduction, in blocks of their own
  double fma_share = 0;          // multiply-adds over all instructions

  // Shared memory
  double staged = 0;           // operands
  double reduction_trips = 0;  // blocks of the reduction, each with its barriers
  double pipelined = 0;
  double copied = 0;     // elements staged for one iteration
  double conflicts = 1;  // passes through shared memory over those without bank conflicts

  // Memory: bytes for one iteration
  double sectors = 0;      // 32 bytes for each sector that warps ask for
  double sector_use = 1;   // bytes used of those read
  double store_use = 1;    // bytes used of those written
  double from_l2 = 0;      // that leave the second cache, results included
  double from_memory = 0;  // and the device's memory

  // Cycles of a multiprocessor for one block
  double issue_cycles = 0, fma_cycles = 0, load_cycles = 0;
  double waiting_cycles = 0;  // for memory and barriers, if nothing else runs
  double warp_cycles = 0;     // that a warp's instructions take, one after the other
};

struct GpuFactInfo {
  const char* name;
  double GpuFacts::*value;
  bool amount;  // spans orders of magnitude: the model sees log2(1 + x)
};
extern const std::array<GpuFactInfo, 34> kGpuFacts;

/// `loops` are those of one piece (one_piece()); the stage must be valid.
GpuFacts gpu_facts(const ir::Program& program, int statement, const codegen::Loops& loops,
                   const codegen::NestSchedule& stage, const codegen::DeviceLimits& limits);

/// Cycles from the first block to the last. Meant to rank schedules, not to be right.
double gpu_cycles(const GpuFacts& facts, const codegen::DeviceLimits& limits);

}  // namespace tile_tune::predict
