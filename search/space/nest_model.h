// What an analytical model of vectors, registers and reuse knows of one statement's nest.
#pragma once

#include <cstdint>
#include <vector>

#include "search/space/repair.h"

namespace tile_tune::search {

struct NestModel {
  const StageContext& context;

  /// Vectors by rows of accumulators.
  struct Tile {
    int64_t vectors = 1, rows = 1;
  };

  /// Elements between what two neighbours along the loop read; loops of the reduction after the output loops.
  int64_t stride(const codegen::Operand& operand, int loop) const;
  int natural_lanes() const;
  int64_t extent(int loop) const;
  double iterations() const;
  int64_t target_stride(int p) const;
  /// How often an element of the operand is used by iterations that differ in output loops only.
  double output_reuse(const codegen::Operand& operand) const;
  /// Bytes of what the statement reads of it, and of them all.
  double bytes_of(const codegen::Operand& operand) const;
  double bytes_read() const;
  /// Bound by memory, since nothing uses most of what is read twice: products of a large matrix and a vector.
  bool is_streamed() const;
  /// Cost of vectorising one loop, in vector operations an iteration: 1/lanes for contiguous or broadcast accesses, two
  /// an element for strided ones, unless the operand is reused so much that packing it is nearly free.
  double vector_cost(int loop) const;
  /// Of vectors along a loop of the reduction: narrower ones where they fill rows that wide ones do not. Sums over rows
  /// of 24 floats took 3.4 us in vectors of 16, 1.7 of 8, over rows of 20 2.9 of 16 and 2.1 of 4 (2048 rows
  /// for 8 sums, two Zen 4 cores, 2026-11-28).
  int lanes_along_row(int loop) const;
  /// Time of a row along a loop of the reduction, in that of a vector of so many lanes.
  double vectors_along_row(int loop, int lanes) const;
  double reduction_length() const;
  /// Of an iteration.
  double operations() const;
  /// -1: scalar code is the cheapest.
  int best_vector_loop() const;
  /// The output loop, other than the vector loop, along which most operands stay put: their loads serve several rows.
  int best_row_loop(int vector_loop) const;
  /// Reductions in which nothing is reused (pools) are bound by memory, which wants to be read in order: one row of the
  /// operand after the other, the accumulators of a whole output row at home in the first cache. 2x2 max-pooling of
  /// 268 MB ran at 40 GB/s so; with both rows of a window at once at 24, and at 32 with eight such pairs as streams
  /// (two Zen 4 cores whose memory gives 48).
  /// What caches hold is read in any order, and longer windows want more sums in flight than a row's.
  bool walks_rows(int vector_loop, int row_loop) const;
  /// Each tap of a window reads whole rows of the vector loop, the channels of a pixel: sums of a row stay in
  /// registers, in as few pieces as that takes, while its window is read in the order of memory. 5 x 5 windows in steps
  /// of 3 over 6 x 128 x 32 x 98 took 282 us at home, 152 so (AVX2), 7 x 7 in steps of 4 over 2 x 512 x 512 x 100 11.8
  /// ms and 8.0 (AVX-512; two Zen 4 cores, 2026-11-30).
  bool taps_read_rows(int vector_loop) const;
  /// Vectors side by side of sums of columns whose terms lie on pages of their own: as many as registers hold and the
  /// threads leave. 0: there are no such sums, or their terms are functions.
  int64_t vectors_across_pages(int vector_loop, int64_t lanes) const;
  /// Reduction loops one step of which leaves the piece of a row that one vector of outputs reads.
  std::vector<int> row_reductions(int vector_loop) const;
  /// Steps of the reduction go to another page though they have not walked through as much in a row.
  bool leaves_pages(const codegen::Operand& operand, int vector_loop) const;
  /// Lanes of a register tile that is a whole row, where rows shorter than a page follow one another in memory and are
  /// added up: they are read as one stream, though sums that registers do not hold wait in the first cache. 0: rows
  /// are others, no vectors fill them, or they are too long to be unrolled. (160000 x 100 by a vector, over its rows,
  /// took 6.7 ms in two tiles of 56, 3.9 so, 40000 x 400 4.9 and 3.4 with eight rows at a time at home; AVX2 on two
  /// Zen 3 cores, 2026-11-29.)
  int lanes_of_adjacent_rows(int vector_loop) const;
  /// Rows whose sums fit the registers, or those of half a row do, need no home where neighbouring rows share pages,
  /// nor do those of so few terms that all are unrolled: 0 if there is none. (Maxima over 3 x 3 of 8 x 112 x 112
  /// x 64, the channels last, took 4.1 ms with a home and 2.8 so, sums of three rows of 32 0.32 and 0.14: 2026-11-27.)
  int64_t tile_in_registers(int vector_loop, int64_t lanes) const;
  /// As many as keep the threads busy where there are no other tiles, if they are long enough to be read as streams.
  int64_t pieces_of_row(int64_t extent) const;
  /// Elements of a row that are summed up at a time, a multiple of the lanes: those of a line, of two where the last
  /// cache has all that is read. (With vectors of 256 bits, 120 x 8192 over its rows by a vector took 62 us a vector at
  /// a time, 34 with a line and 28 with two; 6144 x 6144 from memory 4.8 ms, 4.4 and 5.3 to 5.9: two Zen 4 cores,
  /// 2026-11-27. Vectors that move in steps are shuffled, and go one by one: 1.4 ms for 8 x 64 x 112 x 112 and 3 x
  /// 3, 1.9 with two.) Rather a little less if that divides a row, which then waits whole: 7480 x 600 over its rows by
  /// a vector took 330 us in halves of 320, 257 so (two Zen 3 cores, 2026-11-29).
  int64_t row_piece(int vector_loop, int64_t lanes) const;
  /// Elements whose accumulators fill a quarter of the first cache.
  int64_t longest_at_home(int64_t lanes) const;
  /// The output row cut into equal pieces of no more.
  int64_t row_tile(int64_t extent, int64_t lanes) const;
  /// Where no operand stays put: the output loop, beside the vector loop if there is one, with the nearest steps in
  /// memory, along which more sums are in flight; -1: none. Maxima over 71 rows of 4 floats took 2.3 us eight at a
  /// time, 5.3 one by one.
  int loop_of_more_sums(int vector_loop) const;
  /// Vectors are not of neighbours in some operand.
  bool moves_in_steps(int vector_loop) const;
  /// Vectors x rows of accumulators, for the best ratio of arithmetic to loads that registers hold: a vector load a
  /// column, a broadcast a row. Iterations that a shifted last tile repeats count as lost.
  Tile register_tile(int64_t vector_extent, int64_t lanes, int64_t row_extent) const;
  /// The same where nothing is used twice: so many sums that their latency is hidden, or nearly, and last tiles repeat
  /// few. Of equal ones the widest.
  static Tile tile_of_sums(int64_t vector_extent, int64_t lanes, int64_t row_extent);
  /// Iterations that tiles compute, the last one moved back to end at the border, over those that there are.
  static double repeated(int64_t extent, int64_t tile);
};

/// Loops shared by all operands first (they are batches), then the panels of the vector loop, then rows.
std::vector<int> loop_order(const NestModel& model, const codegen::NestSchedule& stage, int row_loop);

/// As many outermost loops as give every thread several pieces, if these are not too short; none for little work.
int parallel_loops(const NestModel& model, const codegen::NestSchedule& stage);

}  // namespace tile_tune::search
