// Who is who: tensors and sizes of a def; lets and index variables of a statement.
#pragma once

#include <map>
#include <set>
#include <string_view>
#include <vector>

#include "frontend/ir/program.h"
#include "frontend/tc/ast.h"

namespace tile_tune::tc {

/// A tensor name and the tensor that holds its value at this point of the def (each version is a tensor).
struct TensorSymbol {
  enum class Kind { Input, Output, Temporary } kind;
  const ast::Declaration* declaration = nullptr;  // null for temporaries
  std::optional<int> version = std::nullopt;
};

struct DefScope {
  ir::Program program;
  std::map<std::string_view, TensorSymbol> tensors;
  std::set<std::string_view> sizes;
  /// 0-D integer inputs that bound a range: sizes in every respect (decision 5).
  std::set<std::string_view> size_parameters;
  /// An input has a dimension of 0, which makes ranges empty that are not empty otherwise (decision 4).
  bool is_zero_sized = false;
  /// Sizes that nothing but the declared types of outputs names: the first output written defines them.
  std::map<std::string_view, std::optional<ir::SizeExpr>> derived_sizes;

  /// Adds a tensor to the program; its number.
  int add_tensor(ir::Tensor tensor) {
    program.tensors.push_back(std::move(tensor));
    return static_cast<int>(program.tensors.size()) - 1;
  }
  /// A declared dimension; nullopt for a derived size without a value yet.
  std::optional<ir::SizeExpr> extent_of(const ast::Dim& dim) const;
};

/// The names one statement brings.
struct StatementScope {
  std::vector<const ast::LetClause*> lets;
  std::map<std::string_view, size_t> let_numbers;
  std::vector<ast::Name> indices;  // by number: left side, then by first appearance; where each first appears
  std::map<std::string_view, int> index_numbers;
  int computed = 0;  // indices from this number on occur in `exists` clauses and unused lets only
};

/// Work that inlining lets may cause in one file. Without lets every node of the syntax is visited a few
/// times only; nested lets can ask for exponentially many visits.
class Budget {
 public:
  explicit Budget(size_t nodes) : left_(nodes) {}
  bool spend() { return left_ > 0 && left_-- > 0; }

 private:
  size_t left_;
};

/// Most index variables of a statement, and most dimensions of a tensor (numpy's limit before version 2).
inline constexpr size_t kMaxIndices = 64, kMaxDimensions = 32;

/// Sorts a statement's identifiers into sizes, tensors, lets and index variables, and refuses undefined,
/// redefined and reserved names.
Result<StatementScope> resolve_names(const Source& source, const DefScope& def, const ast::Statement& statement);

/// 0-D integer inputs of the def that occur in a range's bounds, directly or through lets.
std::set<std::string_view> find_size_parameters(const ast::Def& def);

/// Every name that the statements of the def mention.
std::set<std::string_view> names_in_body(const ast::Def& def);

}  // namespace tile_tune::tc
