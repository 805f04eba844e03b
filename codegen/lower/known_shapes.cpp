#include "codegen/lower/known_shapes.h"

#include <algorithm>
#include <iterator>
#include <string_view>
#include <utility>

namespace tile_tune::codegen {

namespace {

using Halide::Internal::AssertStmt;
using Halide::Internal::Call;
using Halide::Internal::Stmt;

constexpr std::string_view kAccess = "halide_error_access_out_of_bounds",
                           kConstraint = "halide_error_constraint_violated";
constexpr std::string_view kOthers[] = {"halide_error_bad_dimensions",
                                        "halide_error_bad_type",
                                        "halide_error_buffer_allocation_too_large",
                                        "halide_error_buffer_argument_is_null",
                                        "halide_error_buffer_extents_negative",
                                        "halide_error_buffer_extents_too_large",
                                        "halide_error_constraints_make_required_region_smaller",
                                        "halide_error_device_dirty_with_no_device_support",
                                        "halide_error_host_is_null"};

// The numbers that buffers are held to, from where code would complain of others.
class Numbers : public Halide::Internal::IRVisitor {
 public:
  std::map<std::string, Halide::Expr> found;

 protected:
  using IRVisitor::visit;
  void visit(const AssertStmt* op) override {
    const auto* error = op->message.as<Call>();
    if (!error || error->name != kConstraint) return;
    const auto* name = error->args.front().as<Halide::Internal::StringImm>();
    if (name && Halide::Internal::is_const(error->args.back())) found[name->value] = error->args.back();
  }
};

}  // namespace

bool have_known_shapes(const ir::Program& program) {
  return std::none_of(program.tensors.begin(), program.tensors.end(),
                      [](const auto& tensor) { return tensor.storage.has_strides_from_buffer(); });
}

Stmt KnownShapes::mutate(const Stmt& stmt) {
  if (!has_looked_) {
    has_looked_ = true;
    Numbers numbers;
    stmt.accept(&numbers);
    numbers_ = std::move(numbers.found);
  }
  return IRMutator::mutate(stmt);
}

Stmt KnownShapes::visit(const AssertStmt* op) {
  const auto* error = op->message.as<Call>();
  const std::string_view name = error ? std::string_view(error->name) : std::string_view();
  bool is_known = name == kConstraint || std::find(std::begin(kOthers), std::end(kOthers), name) != std::end(kOthers);
  if (name == kAccess) {
    is_known = Halide::Internal::is_const_one(
        Halide::Internal::simplify(Halide::Internal::substitute(numbers_, op->condition)));
    if (is_collapsed_ && !is_known)
      throw Halide::CompileError("a kernel of collapsed dimensions would access what is outside of a tensor");
  }
  return is_known ? Halide::Internal::Evaluate::make(0) : IRMutator::visit(op);
}

}  // namespace tile_tune::codegen
