// Statements as libraries see them: accesses as strides, casts and loops of one iteration out of the way.
#pragma once

#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "frontend/ir/program.h"

namespace tile_tune::search {

using Terms = std::vector<std::pair<int, int64_t>>;  // (index, coefficient), by index

/// One dimension of an access: what it adds up and how far apart its elements lie.
struct DimensionView {
  size_t number = 0;
  Terms terms;
  int64_t constant = 0;
  int64_t step = 0;
};

struct AccessView {
  int tensor = -1;
  std::vector<DimensionView> dimensions;

  /// Every dimension is one index of its own, counted from 0, or nothing.
  bool is_plain() const;
  /// Elements between neighbours along an index.
  int64_t stride(int index) const;
};

struct ConstraintView {
  Terms terms;
  int64_t constant = 0, bound = 0;
};

/// target[...] op= factor * read, or read * read, or (is_product false) any other reads.
struct StatementView {
  ir::Aggregation op = ir::Aggregation::Assign;
  AccessView target;
  std::vector<AccessView> reads;
  bool is_product = false;
  double factor = 1;
  std::map<int, ir::Range> ranges;  // of indices with more than one value, all of which start at 0
  std::vector<ConstraintView> constraints;

  bool is_output(int index) const { return target.stride(index) != 0; }
};

/// nullopt for a statement that is no such thing, starts from another tensor's value, or converts what it computes.
std::optional<StatementView> view_of(const ir::Program& program, const ir::Statement& statement);

/// relu(read * scale + bias) or parts of it, element by element, of what tensor `input` holds.
struct EpilogueView {
  StatementView view;
  double scale = 1;
  std::optional<AccessView> bias;
  bool relu = false;
};
std::optional<EpilogueView> epilogue_of(const ir::Program& program, const ir::Statement& statement, int input);

/// exp(a - b) and a / b, where b has fewer dimensions and the result those of a.
bool is_exp_of_difference(const ir::Program& program, const ir::Statement& statement, int a, int b);
bool is_quotient(const ir::Program& program, const ir::Statement& statement, int a, int b);

/// Whether a statement after `last` reads the tensor.
bool read_after(const ir::Program& program, int tensor, int last);

}  // namespace tile_tune::search
