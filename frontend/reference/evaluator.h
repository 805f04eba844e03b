// Runs a program's statements element by element, on demand.
//
// value() computes one element; elements of intermediate tensors that it reads are computed when first asked for
// and kept. So a sample of a fused chain costs only what the sample depends on. Statements that are
// not in gather form (ir/gather.h) are computed whole at first use.
#pragma once

#include <vector>

#include "frontend/reference/plan.h"
#include "frontend/reference/reduction.h"
#include "frontend/reference/reference.h"

namespace tile_tune::reference {

class Evaluator {
 public:
  /// The program must be bound and valid, `inputs` fit it, and both outlive the evaluator. A tensor that is neither
  /// computed nor among the inputs is read as zeros.
  Evaluator(const ir::Program& program, const Inputs& inputs, OutsideIndices outside = OutsideIndices::AreErrors);

  /// Element at a C-order position of any tensor. Meaningless once there is a fault.
  Value value(int tensor, int64_t position);

  /// The first access outside of its tensor, if there was one.
  const std::optional<Diagnostic>& fault() const { return fault_; }

  /// Computes every element that statements read from each other, in program order.
  void compute_intermediates();

  /// False where single elements cost as much as all of them: of one tensor, or of any.
  bool computes_single_elements(int tensor) const;
  bool computes_single_elements() const;

  /// What is held of tensors that statements read from each other.
  size_t bytes_kept() const;

 private:
  // A statement with its working memory. A statement never reads itself, so one is enough.
  struct Task {
    Plan plan;
    ReductionKind kind;
    bool converts;  // the value's type is not the accumulator's
    std::vector<int64_t> index;
    std::vector<Value> nodes;
  };
  struct Tensor {
    DType type = DType::F32;
    bool real = true;
    bool complex = false;
    int task = -1;  // that computes it; -1 for inputs
    const std::byte* data = nullptr;
    const tensor::Array* strided = nullptr;  // an input that is not in C order, as positions are
    // Of computed tensors that are kept:
    std::vector<std::byte> kept;
    std::vector<double> errors;
    std::vector<Outcomes> also;  // empty: none has any
    std::vector<bool> ready;
    bool all_ready = false;
  };

  void keep(Tensor& tensor);
  void store(Tensor& tensor, int64_t position, const Value& value);
  Value load(const Tensor& tensor, int64_t position) const;

  Value compute_element(Task& task, int64_t position);
  bool solve(Task& task, int64_t position) const;
  void compute_all(Task& task, Tensor& target);
  Reduction start(const Task& task, int64_t position);
  Value result(Task& task, const Reduction& reduction, bool in_range, int64_t position);

  void add_products(Task& task, Reduction& reduction);
  Run run_along(const Task& task, const Access& access, int index);

  bool assigns_start(Task& task) const;
  bool guards_hold(const Task& task) const;
  static bool is_taken(const Task& task, const Access& access);
  Value term(Task& task);
  static void allow_other_orders(const Task& task, Value& product);
  int64_t position(const Task& task, const Access& access);
  int64_t gathered(const Task& task, const Access& access, const CheckedSubscript& subscript);
  void report(const Task& task, const Access& access, const CheckedSubscript& subscript, const std::string& index);

  const ir::Program& program_;
  const OutsideIndices outside_;
  std::vector<Task> tasks_;
  std::vector<Tensor> tensors_;
  std::optional<Diagnostic> fault_;
};

}  // namespace tile_tune::reference
