// What the iterations of a statement add to its elements: its value in terms of the stage's loops, read from tensors or
// from the copies that the schedule asks for.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "codegen/lower/arguments.h"
#include "codegen/lower/packed.h"
#include "codegen/lower/product.h"
#include "codegen/lower/stage_loops.h"

namespace tile_tune::codegen {

/// What one iteration adds, where all conditions hold.
struct Term {
  Values value;
  std::vector<Halide::Expr> conditions{};
};

/// Of one stage. Everything they are made of must outlive them. `tensors`: what expressions read; of constants packed
/// beforehand, the packed elements.
class Terms {
 public:
  Terms(const KernelContext& kernel, int statement, const NestSchedule& schedule, const TensorFuncs& tensors,
        const StageLoops& stage);

  /// The copies that the terms read, by the schedule's packings.
  const std::vector<PackedOperand>& packed() const { return packed_; }

  /// Of an iteration of each reduction loop. `part`: which of a dot product's iterations, where the schedule has them;
  /// `only_if`: what must hold beside the statement's conditions.
  Term of(std::vector<Halide::Expr> reduction, const Halide::Expr& part = {},
          const std::optional<Halide::Expr>& only_if = {}) const;

  /// Values of the statement's indices, given one expression per reduction loop. Elements outside the written range
  /// are computed from the nearest index and thrown away, so that no read leaves its tensor.
  std::vector<Halide::Expr> index_values(const std::vector<Halide::Expr>& reduction) const;

  /// A sum has several terms with one element of a tensor whose elements overlap, or complex terms that read a tensor
  /// twice: products and, but in lanes, sums have to be strict.
  bool repeats_operand() const { return repeats_operand_; }

  /// Constants of the IR where they are numbers, else expressions over the runtime sizes.
  Halide::Expr extent_of(int tensor, size_t dimension) const;

 private:
  const ir::Statement& spelled() const;
  bool leaves_terms_out() const;
  const ir::Expr& term() const;
  Halide::Expr bound_of(size_t constraint) const;
  bool reads_nothing() const;
  bool reads_inside(int operand, size_t dimension) const;
  Halide::Expr moved_inside(int operand, size_t dimension, Halide::Expr subscript, bool likely) const;
  bool stays_inside_its_tensor(const Operand& operand) const;
  Values read(int number, const ir::Read& node, std::vector<Halide::Expr> subscripts, const Halide::Expr& part) const;
  static bool reaches_beyond(const PackedOperand& packed, size_t dimension, bool follows_masked_loop);
  const PackedOperand* copy_read_as(int operand) const;
  Values unpacked(int tensor, const std::vector<Halide::Expr>& subscripts) const;
  Halide::Expr dot_term(const std::vector<Halide::Expr>& indices, const std::vector<Halide::Expr>& of_row,
                        const ReadOperand& read_operand) const;
  bool is_sum() const;
  bool find_repeated_operand() const;
  bool reads_complex_twice() const;
  std::vector<Halide::Expr> conditions_at(const std::vector<Halide::Expr>& indices) const;
  std::vector<Halide::Expr> known_to_tiles(const std::vector<Halide::Expr>& conditions) const;
  std::optional<Values> copied(int node, const std::vector<Halide::Expr>& indices) const;
  int product_to_copy(const Packing& choice) const;
  PackedOperand copy_of(const Packing& choice, const std::vector<PackedForm>& forms) const;
  Values product_at(int node, const std::vector<Halide::Expr>& indices) const;

  const ir::Program& program_;
  const size_t number_;
  const ir::Statement& statement_;
  const NestSchedule& schedule_;
  const TensorFuncs& tensors_;
  const RuntimeProgram* runtime_;
  const StageLoops& stage_;
  const Branches branches_;
  const bool repeats_operand_;      // looked for once: strides that interleave take a look at each element
  std::optional<Product> product_;  // that a sum adds up
  std::vector<PackedOperand> packed_;
};

}  // namespace tile_tune::codegen
