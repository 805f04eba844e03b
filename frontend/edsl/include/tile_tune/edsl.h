// The Tile eDSL: tensor programs written as C++ expressions over index variables.
//
//   Tensor matmul(const Tensor& A, const Tensor& B) {
//     TensorDim I, J, K;
//     TensorIndex i, j, k;
//     A.bind_dims(I, K);
//     B.bind_dims(K, J);
//     auto C = TensorOutput(I, J);
//     C(i, j) += A(i, k) * B(k, j);
//     return C;
//   }
//
// A contraction visits every valid assignment of integers to its index variables: each subscript, evaluated exactly
// ("/" is no floor), is an integer inside its tensor, and every constraint has 0 <= left < right. Elements that
// nothing writes are 0. Whatever is wrong throws ProgramError with the caller's file and line, at the offending call
// or at the latest when the Program is made. Nothing computes here: tile_tune/engine.h runs and tunes programs.
// Part of the SDK: the standard library is all this header needs.
#pragma once

#include <concepts>
#include <cstdint>
#include <functional>
#include <iosfwd>
#include <map>
#include <memory>
#include <optional>
#include <source_location>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <tile_tune/dtype.h>
#include <tile_tune/message.h>
#include <tile_tune/program_error.h>
#include <tile_tune/version.h>
#include <tile_tune/where.h>

namespace tile_tune::ir {
struct Program;
}

namespace tile_tune::edsl {

namespace detail {
struct Affine;
struct Access;
struct Node;
using NodePtr = std::shared_ptr<Node>;
int64_t to_int64(uint64_t value, const Where& where);
}  // namespace detail

template <typename T>
concept Integer = std::integral<T> && !std::same_as<T, bool>;

class DimArg;
class BindArg;
class IndexArg;
class TensorArg;
class Combination;
class Constraint;

/// A size: unbound until Tensor::bind_dims gives it a value, or a number. Division truncates, as in C++.
class TensorDim {
 public:
  TensorDim() = default;
  template <Integer T>
  TensorDim(T value, const Where& where = std::source_location::current())
      : value_(std::is_signed_v<T> ? static_cast<int64_t>(value)
                                   : detail::to_int64(static_cast<uint64_t>(value), where)) {}

  bool is_bound() const { return value_.has_value(); }
  int64_t value(const Where& where = std::source_location::current()) const;

  friend TensorDim operator+(const DimArg& a, const DimArg& b);
  friend TensorDim operator-(const DimArg& a, const DimArg& b);
  friend TensorDim operator*(const DimArg& a, const DimArg& b);
  friend TensorDim operator/(const DimArg& a, const DimArg& b);
  friend TensorDim operator-(const DimArg& a);
  friend std::ostream& operator<<(std::ostream& stream, const TensorDim& dim);

 private:
  friend class Tensor;
  std::optional<int64_t> value_;
  std::string origin_;  // "dimension 1 of A (line 12)", for messages
};

TensorDim min(const TensorDim& a, const TensorDim& b, const Where& where = std::source_location::current());
TensorDim max(const TensorDim& a, const TensorDim& b, const Where& where = std::source_location::current());

/// An index variable, or an affine expression of index variables. Copies are the same variable. A name is for
/// messages only.
class TensorIndex {
 public:
  TensorIndex();
  explicit TensorIndex(const std::string& name);
  template <Integer T>
  TensorIndex(T value, const Where& where = std::source_location::current())
      : TensorIndex(TensorDim(value, where), where) {}
  TensorIndex(const TensorDim& value, const Where& where = std::source_location::current());

  friend TensorIndex operator+(const IndexArg& a, const IndexArg& b);
  friend TensorIndex operator-(const IndexArg& a, const IndexArg& b);
  friend TensorIndex operator*(const IndexArg& a, const IndexArg& b);
  friend TensorIndex operator/(const IndexArg& a, const IndexArg& b);
  /// 0 <= a % b < b, also of a negative a. b is a positive whole number.
  friend TensorIndex operator%(const IndexArg& a, const IndexArg& b);
  friend TensorIndex operator-(const IndexArg& a);
  /// 0 <= index < bound.
  friend Constraint operator<(const IndexArg& index, const DimArg& bound);
  friend std::ostream& operator<<(std::ostream& stream, const TensorIndex& index);

  const detail::Affine& affine() const { return *affine_; }

 private:
  explicit TensorIndex(detail::Affine affine);
  std::shared_ptr<const detail::Affine> affine_;
};

/// 0 <= index < bound; made by `index < bound`.
class Constraint {
 public:
  friend Constraint operator<(const IndexArg& index, const DimArg& bound);
  friend std::ostream& operator<<(std::ostream& stream, const Constraint& constraint);

  const TensorIndex& index() const { return index_; }
  int64_t bound() const { return bound_; }
  const Where& where() const { return where_; }

 private:
  Constraint(TensorIndex index, int64_t bound, const Where& where)
      : index_(std::move(index)), bound_(bound), where_(where) {}
  TensorIndex index_;
  int64_t bound_;
  Where where_;
};

/// A tensor at subscripts: an operand of a contraction, or its target. Writing is possible once for each TensorOutput.
/// sum, product, max, min and assign are other names of += *= >= <= and =.
class IndexedTensor {
 public:
  IndexedTensor(const IndexedTensor&) = default;

  void operator+=(const Combination& value) const { sum(value); }
  void operator*=(const Combination& value) const { product(value); }
  void operator>=(const Combination& value) const { max(value); }
  void operator<=(const Combination& value) const { min(value); }
  void operator=(const Combination& value) const { assign(value); }
  void operator=(const IndexedTensor& value) const;

  void sum(const Combination& value) const;
  void product(const Combination& value) const;
  void max(const Combination& value) const;
  void min(const Combination& value) const;
  void assign(const Combination& value) const;

  friend std::ostream& operator<<(std::ostream& stream, const IndexedTensor& indexed);

 private:
  friend class Combination;
  friend class Tensor;
  explicit IndexedTensor(std::shared_ptr<const detail::Access> access) : access_(std::move(access)) {}
  std::shared_ptr<const detail::Access> access_;
};

/// What a contraction combines: one operand, or a product or a sum of several.
class Combination {
 public:
  Combination(const IndexedTensor& operand) : operands_{operand.access_} {}
  const std::vector<std::shared_ptr<const detail::Access>>& operands() const { return operands_; }
  bool is_sum() const { return is_sum_; }

 protected:
  Combination(const Combination& a, const Combination& b, bool is_sum);

 private:
  std::vector<std::shared_ptr<const detail::Access>> operands_;
  bool is_sum_ = false;
};

class Product : public Combination {
 public:
  Product(const IndexedTensor& operand) : Combination(operand) {}
  Product(const Product& a, const Product& b) : Combination(a, b, false) {}
};
inline Product operator*(const Product& a, const Product& b) { return {a, b}; }

class Sum : public Combination {
 public:
  Sum(const IndexedTensor& operand) : Combination(operand) {}
  Sum(const Sum& a, const Sum& b) : Combination(a, b, true) {}
};
inline Sum operator+(const Sum& a, const Sum& b) { return {a, b}; }

/// An input (Placeholder), a contraction's output (TensorOutput), a scalar, or an elementwise function of these.
/// Copies are the same tensor.
class Tensor {
 public:
  /// No tensor yet: assign one before use.
  Tensor() = default;
  /// A scalar takes the type of what it meets; alone it is i32 (i64 where needed), f32 or bool.
  template <std::same_as<bool> T>
  Tensor(T value, const Where& = std::source_location::current()) : Tensor(boolean(value)) {}
  template <Integer T>
  Tensor(T value, const Where& where = std::source_location::current()) : Tensor(TensorDim(value, where), where) {}
  template <std::floating_point T>
  Tensor(T value, const Where& = std::source_location::current()) : Tensor(real(static_cast<double>(value))) {}
  Tensor(const TensorDim& value, const Where& where = std::source_location::current());

  /// Gives unbound dims this tensor's sizes; bound dims and numbers must agree with them.
  void bind_dims(const Where& where = std::source_location::current()) const;
  template <typename... Dims>
  void bind_dims(const BindArg& first, Dims&&... rest) const;
  void bind_dims(std::vector<TensorDim>& dims, const Where& where = std::source_location::current()) const;
  void bind_dims(const std::vector<BindArg>& dims, const Where& where = std::source_location::current()) const;

  IndexedTensor operator()(const Where& where = std::source_location::current()) const;
  template <std::convertible_to<TensorIndex>... Indices>
  IndexedTensor operator()(const IndexArg& first, const Indices&... rest) const;
  IndexedTensor operator()(const std::vector<TensorIndex>& indices,
                           const Where& where = std::source_location::current()) const;

  /// Constraints of the contraction that writes this TensorOutput; before anything reads it.
  Tensor& add_constraint(const Constraint& constraint);
  Tensor& add_constraints(const std::vector<Constraint>& constraints);
  /// Elements of this TensorOutput that nothing writes come from `values` (broadcast to its shape) instead of being 0.
  Tensor& use_default(const Tensor& values, const Where& where = std::source_location::current());

  DType dtype(const Where& where = std::source_location::current()) const;
  const std::vector<int64_t>& shape(const Where& where = std::source_location::current()) const;

  friend Tensor operator+(const TensorArg& a, const TensorArg& b);
  friend Tensor operator-(const TensorArg& a, const TensorArg& b);
  friend Tensor operator*(const TensorArg& a, const TensorArg& b);
  /// Floors on integers.
  friend Tensor operator/(const TensorArg& a, const TensorArg& b);
  friend Tensor operator-(const TensorArg& a);
  friend Tensor operator==(const TensorArg& a, const TensorArg& b);
  friend Tensor operator!=(const TensorArg& a, const TensorArg& b);
  friend Tensor operator<(const TensorArg& a, const TensorArg& b);
  friend Tensor operator<=(const TensorArg& a, const TensorArg& b);
  friend Tensor operator>(const TensorArg& a, const TensorArg& b);
  friend Tensor operator>=(const TensorArg& a, const TensorArg& b);
  friend std::ostream& operator<<(std::ostream& stream, const Tensor& tensor);

  explicit Tensor(detail::NodePtr node) : node_(std::move(node)) {}
  const detail::NodePtr& node(const Where& where) const;

 private:
  static detail::NodePtr boolean(bool value);
  static detail::NodePtr real(double value);
  detail::NodePtr node_;
};

/// Operands of operators. They convert implicitly, so that the operator knows the caller's line.
class DimArg {
 public:
  template <std::convertible_to<TensorDim> T>
  DimArg(const T& value, const Where& where = std::source_location::current()) : dim(value), where(where) {}
  int64_t value() const { return dim.value(where); }

  TensorDim dim;
  Where where;
};

class IndexArg {
 public:
  template <std::convertible_to<TensorIndex> T>
  IndexArg(const T& value, const Where& where = std::source_location::current())
      : index(make(value, where)), where(where) {}

  TensorIndex index;
  Where where;

 private:
  static TensorIndex make(const TensorIndex& index, const Where&) { return index; }
  template <typename T>
  static TensorIndex make(const T& value, const Where& where) {
    return TensorIndex(value, where);
  }
};

class TensorArg {
 public:
  template <std::convertible_to<Tensor> T>
  TensorArg(const T& value, const Where& where = std::source_location::current())
      : tensor(make(value, where)), where(where) {}

  Tensor tensor;
  Where where;

 private:
  static Tensor make(const Tensor& tensor, const Where&) { return tensor; }
  template <typename T>
  static Tensor make(const T& value, const Where& where) {
    return Tensor(value, where);
  }
};

/// A dim to bind, or a size to compare with.
class BindArg {
 public:
  BindArg(TensorDim& dim, const Where& where = std::source_location::current()) : dim(&dim), where(where) {}
  template <std::convertible_to<TensorDim> T>
  BindArg(const T& value, const Where& where = std::source_location::current())
      : size(TensorDim(value)), where(where) {}

  TensorDim* dim = nullptr;
  TensorDim size;
  Where where;
};

template <typename... Dims>
void Tensor::bind_dims(const BindArg& first, Dims&&... rest) const {
  bind_dims(std::vector<BindArg>{first, BindArg(std::forward<Dims>(rest), first.where)...}, first.where);
}

template <std::convertible_to<TensorIndex>... Indices>
IndexedTensor Tensor::operator()(const IndexArg& first, const Indices&... rest) const {
  return (*this)(std::vector<TensorIndex>{first.index, IndexArg(rest, first.where).index...}, first.where);
}

/// An input of a program. The name, an identifier, is the argument's name in everything made from the program.
Tensor Placeholder(DType type, const std::vector<int64_t>& sizes, const std::string& name,
                   const Where& where = std::source_location::current());

/// A tensor of these sizes for one contraction to write.
Tensor TensorOutput(const std::vector<TensorDim>& dims, const Where& where = std::source_location::current());
inline Tensor TensorOutput(const Where& where = std::source_location::current()) {
  return TensorOutput(std::vector<TensorDim>{}, where);
}
template <std::convertible_to<TensorDim>... Dims>
Tensor TensorOutput(const DimArg& first, const Dims&... rest) {
  return TensorOutput(std::vector<TensorDim>{first.dim, TensorDim(rest)...}, first.where);
}

/// Elementwise functions. Shapes broadcast as in numpy, from the right.
Tensor exp(const Tensor& x, const Where& where = std::source_location::current());
Tensor log(const Tensor& x, const Where& where = std::source_location::current());
Tensor sin(const Tensor& x, const Where& where = std::source_location::current());
Tensor cos(const Tensor& x, const Where& where = std::source_location::current());
Tensor tan(const Tensor& x, const Where& where = std::source_location::current());
Tensor tanh(const Tensor& x, const Where& where = std::source_location::current());
Tensor sqrt(const Tensor& x, const Where& where = std::source_location::current());
Tensor abs(const Tensor& x, const Where& where = std::source_location::current());
Tensor floor(const Tensor& x, const Where& where = std::source_location::current());
Tensor ceil(const Tensor& x, const Where& where = std::source_location::current());
Tensor sigmoid(const Tensor& x, const Where& where = std::source_location::current());
Tensor relu(const Tensor& x, const Where& where = std::source_location::current());
Tensor pow(const Tensor& x, const Tensor& y, const Where& where = std::source_location::current());
Tensor min(const Tensor& x, const Tensor& y, const Where& where = std::source_location::current());
Tensor max(const Tensor& x, const Tensor& y, const Where& where = std::source_location::current());
/// `condition` is of type Bool.
Tensor select(const Tensor& condition, const Tensor& if_true, const Tensor& if_false,
              const Where& where = std::source_location::current());
/// Floats become integers by truncation and saturate (docs/meaning.md).
Tensor cast(const Tensor& x, DType type, const Where& where = std::source_location::current());

/// What the engine and the command line take. A value that never changes.
class Program {
 public:
  /// Inputs and outputs in the order of the compiled function's arguments. Names are identifiers, all different.
  /// Errors: everything the language forbids that its calls could not tell yet, such as an index without bounds, an
  /// element that `=` writes twice, a Placeholder that is used but not among the inputs.
  Program(const std::string& name, const std::vector<Tensor>& inputs,
          const std::vector<std::pair<std::string, Tensor>>& outputs,
          const Where& where = std::source_location::current());
  /// `at_sizes` gives a program of the same signature whose statements suit sizes that are known later.
  using AtSizes = std::function<ir::Program(const std::map<std::string, int64_t>&)>;
  explicit Program(ir::Program program, AtSizes at_sizes = {}, std::vector<Message> warnings = {});
  /// `symbolic` with numbers for its sizes; what does not fit is placed at `where`, if it is given.
  Program(ir::Program symbolic, const std::map<std::string, int64_t>& sizes, const Where* where = nullptr);

  const std::string& name() const;
  /// What is legal but hardly meant, such as constraints that nothing satisfies, or an input of a text that nothing
  /// reads. engine::run and engine::tune pass them on (Options::on_message).
  const std::vector<Message>& warnings() const { return warnings_; }

  /// Programs from text (tile_tune/tc.h) have symbolic sizes: this one with numbers for all of them. Contractions of an
  /// einsum of several operands are ordered by them.
  Program bind(const std::map<std::string, int64_t>& sizes, const Where& where = std::source_location::current()) const;

  /// The name of what is computed, whatever it was written in and its arguments are called: SHA-256 of the canonical
  /// program. All sizes must have numbers.
  std::string content_hash(const Where& where = std::source_location::current()) const;

  /// The JSON that the command line takes as FILE.json.
  std::string json() const;
  /// Writes it beside `path`, then renames.
  void save(const std::string& path, const Where& where = std::source_location::current()) const;

  /// Signature and statements.
  friend std::ostream& operator<<(std::ostream& stream, const Program& program);

  const ir::Program& ir() const { return *program_; }
  /// With the statements that suit the sizes, which stay symbolic.
  ir::Program ir_at(const std::map<std::string, int64_t>& sizes) const;
  /// ir() before its sizes got numbers, and these numbers; of a program that never had names for sizes itself, and
  /// none.
  const ir::Program& symbolic() const { return symbolic_ ? *symbolic_ : *program_; }
  const std::map<std::string, int64_t>& sizes() const { return sizes_; }

 private:
  std::shared_ptr<const ir::Program> program_;
  AtSizes at_sizes_;
  std::vector<Message> warnings_;
  std::shared_ptr<const ir::Program> symbolic_;
  std::map<std::string, int64_t> sizes_;
};

}  // namespace tile_tune::edsl
