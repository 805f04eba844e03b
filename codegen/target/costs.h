// What operations cost on a machine, as far as choosing schedules goes by it: all figures that were found by measuring,
// in one place. Search and cost model use them for every target; how a target differs is in Target itself, and in what
// this file says of processors.
//
// Measured on two cores of an AMD EPYC (Zen 4) on 2026-11-21 and 22, unless a line says otherwise. Figures of another
// machine would stand beside these under its name.
#pragma once

#include <cstdint>

#include "codegen/target/target.h"

namespace tile_tune::codegen::costs {

/// A processor that splits operations on vectors of 512 bits in two: half of them take half the time.
inline bool halves_wide_vectors(const Target& target) {
  return target.vector_bytes == 64 && target.tuned_for == Processor::ZnVer4;
}

inline namespace zen4_2026_11 {

// The unit is a vector operation of one core.

/// Multiply-adds in flight that hide their latency: 4 cycles and 2 units a core on x86 since Haswell; on Zen 4, where a
/// 512-bit operation takes both units, 4.
inline constexpr double kInFlight = 8;
/// Operations that wait for others meanwhile: 256 to 512 on x86 since 2019 (Zen 3: 256, Zen 4: 320), beside which are
/// addresses and loops. 3 x 3 windows in steps of 2 of 64 x 33 x 145 took 28 us with 4 vectors in a tile, 23 with two
/// (Zen 4 with AVX2, 2026-11-28).
inline constexpr double kOperationsAhead = 192;
/// How much that may overstate the time of a tile with few accumulators. Reductions in lanes that need copies or the
/// second cache are held against what is left: 256 x 408 by 408 x 8 took 10.5 us so where the estimate is 0.56 of that
/// of a tile of columns, which took 9.2; 64 x 4096 by 4096 x 3 took 13.7 where it is 0.26, of 81 (two cores,
/// 2026-11-26).
inline constexpr double kOverestimated = 2;
/// The same where one vector is longer than the loop: 2048 x 128 by 128 x 3 of f64 took 26 us so and 21 in lanes, whose
/// estimate is 0.66 of it, 777 x 133 by 133 x 5 with AVX2 10.9 and 8.6 at 0.80, 2048 x 128 by 128 x 7 of f64 46 and 48
/// at 0.95 (two cores, 2026-11-28).
inline constexpr double kOverestimatedMasked = 1.2;
/// Loads a core finishes in the time of one multiply-add. A broadcast from memory is part of the instruction, and as
/// long into half a vector.
inline constexpr double kVectorLoad = 1, kBroadcast = 0.5;
/// Halves and bf16 that are loaded to be computed with in f32, bytes in 16 bits: a load that extends and a shift, or a
/// conversion in two steps. Chosen, not measured.
inline constexpr double kWidening = 2;
/// LLVM loads neighbours as one vector and then takes it apart with shuffles, which costs more than broadcasts from
/// memory: 16 channels a group ran at 44 % of the FMA peak with rows along the image's width, at 75 along its height. A
/// convolution of 88 features and steps of 2 took 7.6 ms with rows along its width, 3.4 with vectors along it, but with
/// AVX2 5.6 and 6.5.
inline constexpr double kBroadcastOfRun = 3;
/// Rows a multiple of a way apart (a page: first caches are indexed by virtual addresses) share a set of the first
/// cache. With more rows than ways each load of an element comes from the second cache, though its line was just there:
/// 1024 x 1024 by 1024 x 16 ran at 59 % of the FMA peak with 13 rows, at 86 with 8. A vector takes as long (kFromL2). A
/// depthwise convolution of 14 images of 16 x 8 x 128 took 94 us with rows along the images, 57 along their width (Zen
/// 4, 2026-11-27): five taps, too, lie a page apart.
inline constexpr int64_t kWayBytes = 4096;
inline constexpr double kLoadFromSecondCache = 2;
/// Pages that the first TLB knows: 64 to 96 of x86's since 2013.
inline constexpr int64_t kPagesAtOnce = 64;
/// Pages that the second TLB knows: 1536 to 3072 of x86's since 2015, 2048 of Zen 2 and 3 and of Ice Lake.
inline constexpr int64_t kPagesOfSecondTlb = 2048;
/// A contiguous vector loaded and stored.
inline constexpr double kVectorMove = 2;
/// Steps in memory up to which lanes are whole vectors that are shuffled; others are loaded one by one. Maxima over 27
/// of 8 x 39 x 40 x 4 floats, along a loop that steps by 8, took 14 us in vectors of 16, 8.0 of 8, 6.6 one by one (two
/// Zen 4 cores, 2026-11-27).
inline constexpr int64_t kMostShuffled = 4;
/// A scalar moved out of or into a vector: extract and store, load and insert.
inline constexpr double kScalarMove = 2;
/// An element copied into another order through blocks that are transposed in registers (codegen/lower/transposes.h):
/// 0.06 ns within the first caches, 0.2 where an operand is read for the first time, as those that are copied are.
inline constexpr double kTransposedMove = 0.75;
/// The same of a complex number, whose parts go one by one: 12 x 569 of them took 5 us of 12 to be copied for vectors
/// along the 12, beside (569 x 7)^T, in vectors along the 7 the product took 4.7 (AVX2 on two Zen 4 cores, 2026-11-29).
/// So do results: 520 x 240 sums of 4 terms took 151 us in vectors across their rows, 75 along them (two Zen 3 cores,
/// 2026-11-29).
inline constexpr double kComplexMove = 4 * kTransposedMove;  // chosen, of the 5 to 10 that this makes
inline double copy_of_element(DType type) { return is_complex(type) ? kComplexMove : kTransposedMove; }
/// The same of results, which wait at home for their neighbours before. With up to 0.62 products of 65 x (145 x 16) by
/// (16 x 128), transposed, take 266 us, with 0.75 and more, in vectors along the batch, 790; with 0.5 some with sums of
/// 18 terms take 1.4 times as long (two Zen 4 cores, 2026-11-27). With AVX2 it has no part: of 13 kernels that it
/// would change seven were slower, up to three times, and one faster.
inline constexpr double kCollectedMove = 0.62;
/// Of complex results, whose parts lie in pairs, and of tiles whose neighbours fill no vectors of this many.
inline constexpr double kCollectedPiece = 1.05;
inline constexpr int64_t kNeighboursOfVector = 8;
/// Load and arithmetic units share the front end: of two equal tiles the one with fewer loads is faster. Grouped
/// convolutions of 32 channels: 88 % of the peak with 1 vector x 25 rows, 85 with 2 x 10, 72 with 2 x 10 of two rows.
inline constexpr double kLoadShare = 0.15;
/// Where vectors slide over a window, its taps share loads and leave no loop only if they are unrolled as a whole: 3x3
/// depthwise NHWC ran at 16 % of the FMA peak with a loop over taps and at 72 unrolled, four channels a group at 39
/// and 73.
inline constexpr double kLoopOverTaps = 1.3;
/// Multiply-adds of a body whose window is unrolled as a whole: beyond it registers spill (24 accumulators with three
/// taps ran at half the speed of those with a loop).
inline constexpr int64_t kMostUnrolledTaps = 80;
/// A border tile runs through the copy of the loop that has guards. 3x3 NHWC convolution of 56 columns, padded: 93 % of
/// the peak in tiles of 8 columns (2 of 7 at a border), 72 in tiles of 14 (2 of 4).
inline constexpr double kBorder = 0.3;
/// The same of vectors that hang over it, whose lanes are masked (codegen/lower/border_loads.h). Chosen, not measured.
inline constexpr double kBorderOfVector = 0.1;
/// A row of a tile that is read from a page of its own, and its results stored to another. 3 x 3 windows of 8 x 128
/// channels of 56 x 56 took 467 us with eight rows of an image in a tile, 544 with two rows of four images (Zen 4,
/// 2026-11-28).
inline constexpr double kPageOfRow = 4;
/// Results of more than one row that are written in thirds of rows and less, an element (in halves three quarters of
/// it): stores of whole rows one after the other are a stream that the hardware fetches ahead. 500 products 72x26x72
/// took 608 us with tiles of whole rows, 650 to 690 with a third of a row each; 700 and 1000 from memory.
inline constexpr double kPieceOfRow = 0.15;
/// Accumulators beyond twice the registers are loaded and stored for every operation on them: 2x3 rows of a grouped
/// convolution with unrolled taps fell from 111 to 48 GFLOP/s (decision 29).
inline constexpr double kSpilling = 2;

/// Vectors in a row of a register tile: of 32 registers 4 x 6 takes the fewest loads an accumulator. Rows along one
/// loop: beside two vectors 32 registers hold no more (14 x 2, one row of vectors and a broadcast).
inline constexpr int64_t kMostVectors = 4, kMostRows = 14;

/// Rows of a reduction in lanes read side by side, as streams for the hardware to fetch ahead. A matrix-vector product
/// of 8192 x 8192 ran at 25 GB/s with one row, 47 with four and with eight.
inline constexpr int64_t kRowStreams = 4;
/// Vectors of a row below which adding up lanes is most of the work, which many rows share: 3093 rows of 26 by a vector
/// took 4.1 us four rows at a time, 3.7 with eight (2026-11-26).
inline constexpr double kShortRow = 8;
/// Of many rows so many are added up in registers between a load and a store of the accumulators: 6144 x 6144 summed
/// over its rows took 5.3 to 6.1 ms with 8, 8.2 to 9.9 with 1. A pool's few rows are left one by one.
inline constexpr int64_t kManyRows = 64, kRowsAtOnce = 8;

/// Vectors along the loop that they cover, and iterations of a reduction that are unrolled together, at most;
/// iterations of a block of one, at least: short blocks of long reductions spend more on their home than on work.
inline constexpr int64_t kMostVectorsInRow = 6, kMostUnrolledIterations = 8, kLeastBlock = 8;

/// Copying an operand whose vectors are contiguous already pays for fewer pages and no conflicts, if so many tiles read
/// it again; and so does widening halves once: two passes over memory for the copy and a third to widen it. What is
/// read so often is worth a register tile of its own rather than a transposition.
inline constexpr int64_t kPassesToPack = 4;

/// Lanes of a reduction, of which fewer save nothing, and what it takes to add up those of one element, in vector
/// operations (lane_tile.h): sums over rows of 8 of a 4096 x 8 matrix took 2.2 us so, 7.4 with strided loads.
inline constexpr int kFewestLanes = 4;
inline constexpr double kFolds = 3;
/// Of the vector registers so many hold sums of whole rows, and the others operands: 456 sums over 2736 rows took 45 us
/// with their sums at home in the first cache, 38 so.
inline constexpr double kRegistersForRows = 0.75;
/// An operand that moves along neither of two loops saves a broadcast where a tile has rows along the one, one that
/// moves along the other a vector load. Chosen, not measured.
inline constexpr double kSharedBroadcast = 0.25;
/// Bytes of a piece of a row, at least, for the hardware to read it as a stream, which ends with a page: 16384 rows of
/// 5760 bytes, added up, took 5.1 ms in pieces of 1472 bytes, 3.5 in halves, 3.2 as whole rows (2026-11-27).
inline constexpr int64_t kShortestStream = 4096;
/// Windows of so few taps (2x2 pools, 3 taps) are unrolled whole while a body has no more operations than this, well
/// below what compiles for long. Chosen, not measured.
inline constexpr int64_t kMostTapsUnrolled = 4, kMostUnrolledByDefault = 128;
/// The same of all taps or terms there are: sums of 6 terms into rows of 6 floats took 21 us with a loop, 9.5 unrolled
/// (64 x 6 x 123 x 6, Zen 4 with AVX2, 2026-11-28).
inline constexpr int64_t kShortReduction = 8;
/// The same of windows that vectors move over in steps: 5x5 pools of 8 x 67 x 5 x 128, in steps of 3, took 33 us with a
/// loop over taps, 17 unrolled (two Zen 4 cores, 2026-11-27).
inline constexpr int64_t kMostSharingTaps = 8;
/// Rows of results that are written side by side where nothing is summed: outer products of 2000 and 2000 took 490 us
/// in panels with 6 rows, 299 row by row, 168 with 4 (two Zen 4 cores, 2026-11-27).
inline constexpr int64_t kRowsStored = 4;
/// Rows of a block that is transposed in registers: 16 x 16 floats fill 16 of AVX-512's 32. Of fewer elements a side a
/// transposition is not worth its shuffles. Blocks a tile has each way: four by four make runs of 256 bytes both ways:
/// permutations of 256^3 floats took 8.0 ms (ijk->kij) and 12.3 (ijk->kji) so, 10.0 and 12.3 with single blocks. Of
/// smaller elements no more fit: 512 x 512 of i16 took 43 us in blocks of 32 x 32, 18 in these, and of i8 compiled for
/// minutes (Zen 4, 2026-11-27).
inline constexpr int64_t kMostTransposedRows = 16, kLeastTransposed = 4, kTransposedBlocks = 4;
/// Bytes of what a statement and the check of its indices take turns with, and pieces there are at least: so a check
/// finds in the nearest cache what the statement has just read. 4 million int32 indices into a table of 4096 floats
/// take 1.10 times as long as unchecked, with AVX2 1.14; with a check of them all behind the statement 1.36 and 1.32,
/// and no less in pieces of 32 KB (AMD EPYC (Zen 5), 2026-11-23).
inline constexpr int64_t kCheckedPiece = 2048, kLeastCheckedPieces = 8;

// What LLVM compiles in reasonable time.

/// Bodies with more unrolled operations than this compile for seconds (512 FMA: 278 ms, 2048: 1440 ms on a Zen 5 core,
/// decision 23), so no schedule may unroll further.
inline constexpr int64_t kMostUnrolled = 512;
/// Lanes of a reduction are folded for every element: two shuffles and two combinations a halving. (36 elements of 32
/// lanes took 2.5 s before this was counted.)
inline constexpr int64_t kOperationsPerHalving = 4;
/// Elements that are read one by one and count as an operation: 1,024 of them take 0.9 s, 2,048 2.6, 5,760 10.
inline constexpr int64_t kScatteredPerOperation = 2;
/// Operations of an element that is stored by itself because its vector's neighbours lie elsewhere, and only if the
/// loop goes that far: 112 of them take 0.5 s, 192 take 7, 224 take 11 and 896 more than twelve minutes (Zen 4,
/// 2026-11).
inline constexpr int64_t kOperationsPerGuardedStore = 4;
/// Operations that a function, and one of the longest, compile like; of a term at most, so that every term may be
/// computed once. 32 vectors of f32 more take 0.1 to 0.2 s (exp, erf, tanh), of the longest 0.8 (pow) to 2.7 (tan), 512
/// multiply-adds 0.28.
inline constexpr int64_t kShortFunction = 8, kLongFunction = 32, kMostOfFunctions = 256;

/// Work done again at the borders of blocks that may be lost for keeping results in cache, and the same where it is
/// only a question of how large the blocks are (attention over 512 rows in blocks of 72 computes 576 of them).
inline constexpr double kMostRepeated = 1.1, kMostRepeatedForSize = 1.02;

/// What a model takes for up to so much slower than its best may well be faster: 4096 x 256 by 256 x 256 ran 1.13 times
/// as fast with 1 vector x 16 rows as with 4 x 4, which it takes for the better. (For GPUs the same, unmeasured.)
inline constexpr double kWorthATrial = 1.25;

/// Chains of dependent additions that run side by side in running totals, each of so many elements at least: 4096 f32
/// take 1.8 us on one core, 154 us when every element is added up by itself. Other numbers were not tried.
inline constexpr int64_t kChains = 16, kLeastOfChain = 4;
/// Elements of an output from which on running totals are the default. An estimate from 16 lanes and a latency of 4,
/// not a measured crossing.
inline constexpr int64_t kLeastTotals = 64;

/// FLOP that take the time of a byte from memory: two cores reach 483 to 530 GFLOP/s in f32 and stream 98 GB/s. Of a
/// sum's steps part of records' keys, and so the same for every target, as are the bytes of an intermediate that is
/// there when the next step reads it: those of a core's second cache.
inline constexpr double kFlopsPerByte = 5, kBytesBetweenSteps = 1 << 20;
/// Times of two sessions differ by as much for no reason.
inline constexpr double kClearlyFaster = 0.97;

/// Bytes of a copy below which starting threads takes longer.
inline constexpr int64_t kLeastSharedCopy = 1 << 17;

/// Scalar operations of statements that share a nest, below which that stays on one thread: starting a parallel loop
/// costs some 5 us (two threads, halide_do_par_for of the 21.0 runtime), the time of about so many.
inline constexpr double kSerialWork = 1e5;
/// The same in cycles of one core, as the model has them, for statements whose functions take longer than their
/// elements are many: softmax of 16 x 11 rows of 64 took 4.9 us on one thread and 2.7 on two (13500 cycles), a
/// normalisation of 16 x 4 x 157 2.0 and 2.9 (11800; two Zen 4 cores, 2026-11-28; nothing between was looked at).
inline constexpr double kSerialSharedCycles = 1.3e4;
/// Cycles of one core, 3 us, below which one thread does it alone. While the others wait for work threads pay sooner
/// (products of 48^3 take 1.55 us on two and 1.98 on one, of 64^3 2.85 and 4.49), but one that sleeps comes after 20 us
/// (2026-11-26).
inline constexpr double kSerialCycles = 1e4;
/// Elements that are no more than moved, below which one thread does it alone: transposing 25,600 floats took 2.5 us on
/// one thread and 3.7 on two, 40,000 7.2 and 3.0 (2026-11-27).
inline constexpr double kSerialMoves = 4e4;
/// Cycles of an iteration of a parallel loop, below which calling it takes as long: sums of pairs over 6 x 1128 pieces
/// of 8 floats took 2.8 us on one thread, 13 where each was an iteration (2026-11-27).
inline constexpr double kLeastPiece = 100;
/// Cycles of a group of such iterations, called as one: sums of 3584 rows of 363 took 41 us row by row, 29 in groups of
/// 112, of 29696 rows of 16 14.7 by eights and 12.6 in groups of 512 rows (two Zen 4 cores, 2026-11-28).
inline constexpr double kCyclesOfGroup = 2000;

/// Results are stored past the caches from so many times the last one on that a call reads and writes: max(a, 0) of
/// 16, 20, 24, 28 and 64 MiB took 1.19, 1.02, 0.92, 0.82 and 0.67 of the time so, beside a last cache of 32 MiB
/// (2026-11-27).
inline constexpr double kStreamedCaches = 1.25;
/// Where they are such a share of it at least: a tenth of a depthwise convolution in steps of 3 took 1.4 times as long
/// past the caches, a fifth of 3 x 3 pools in steps of 2 1.3 times, a half of normalisations 0.7 (two Zen 4 cores,
/// 2026-11-28).
inline constexpr double kLeastStreamedShare = 1.0 / 3;
/// Work below this takes a few microseconds: threads, vectors and caches matter little, and nothing is hopeless.
inline constexpr double kLittleWork = 1e5;
/// Iterations below which a thread gets one block: what a block copies (weights of a network) is then copied once a
/// thread, and 50 us are too short for threads to drift apart. A network of three layers, 1.3e6 iterations: 13.7 us in
/// two blocks of 64 rows, 16.3 in eight of 16.
inline constexpr double kOneBlockWork = 1e7;

// The unit is a cycle.

/// Bytes a cycle that one core draws from its second cache, the last cache and memory: 32, 16 and 8 are the orders of
/// magnitude of AVX-512 servers since 2017 (two cores stream 48 GB/s at 3.7 GHz: 6.5 a core).
inline constexpr double kFromL2 = 32, kFromL3 = 16, kFromMemory = 8;
/// From where so many bytes stay.
inline double bytes_a_cycle(const Target& target, double bytes) {
  return bytes <= static_cast<double>(target.l2_bytes)   ? kFromL2
         : bytes <= static_cast<double>(target.l3_bytes) ? kFromL3
                                                         : kFromMemory;
}
/// Vector multiply-adds and vector loads: two of each on x86 since Haswell.
inline constexpr double kOperations = 2, kLoads = 2;
/// A spilled accumulator is loaded and stored around every operation on it.
inline constexpr double kSpill = 3;
/// To set up a set of accumulators and to store it, for each of them: a zeroing and a store.
inline constexpr double kPerAccumulator = 2;
/// An element copied: rows as vectors, else element by element. Chosen, not measured.
inline constexpr double kCopiedInRows = 0.5, kCopiedByElements = 2;

}  // namespace zen4_2026_11

/// Of GPUs, in cycles: orders of magnitude of devices since 2017 (microbenchmarks of Volta, Turing and Ampere by
/// several authors, 2018 to 2021). Nothing here but registers was measured by this project.
namespace gpu {

inline constexpr double kMemoryLatency = 500, kCacheLatency = 200, kBarrier = 30, kFmaLatency = 4;
/// Bytes that the first cache hands out in a cycle, which looks up a line in one (128 on paper, of which 108 were
/// measured on Volta; shared memory, in the same place, reaches what it has on paper); that the second cache gives a
/// multiprocessor (64 on paper).
inline constexpr double kFirstCacheBytes = 108, kSecondCacheBytes = 32;
/// The start of a kernel, some 2 us.
inline constexpr double kLaunch = 3000;
/// Of what is done at the same time so much is not hidden by the slowest part.
inline constexpr double kNotHidden = 0.1;
/// Instructions beside the arithmetic: for an address of a direct load, for a pass through an unrolled body, and at the
/// start and end of a thread.
inline constexpr double kPerAddress = 1, kPerPass = 4, kPerThread = 20;
/// ... and for a turn of a copy to shared memory that is made in a loop, whose rows and columns are told apart by
/// divisions: a grouped convolution's 18 turns made 122 instructions more than 9 unrolled ones (sm_80).
inline constexpr double kPerTurnOfLoop = 6;

/// Registers that a thread needs beside its sums: loop counters, addresses. With two sets of the operands' elements of
/// one step, of which one is loaded while the other is used, products of 64 and 128 sums come to 124 and 204 where
/// ptxas 13.0 takes 119 to 127 and 212 to 229, of 32 sums to 84 where it takes 90 to 95 (sm_80 and sm_90, November
/// 2026). Of what is loaded for the next block of the reduction about half is on its way at a time: in an unrolled
/// block ptxas moves the loads to where they are needed; beside a loop all of it is held.
inline constexpr double kBesideSums = 28, kSetsOfOperands = 2, kStagedAhead = 0.5, kStagedAheadOfLoop = 1;

/// A block of a reduction that takes more than these unrolled operations compiles for seconds (1024: 1.8 s to PTX and
/// through ptxas for two devices, schedules of a product on Zen 3, 2026-11).
inline constexpr int64_t kMostUnrolled = 2048;
/// Of the 255 registers that a thread can have: 16 x 8 sums of f32 took 212 in all (ptxas 13).
inline constexpr int64_t kMostSumRegisters = 128;

}  // namespace gpu
}  // namespace tile_tune::codegen::costs
