// Tensor: making inputs and outputs, binding their sizes, indexing them.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <filesystem>
#include <ostream>

#include "frontend/edsl/errors.h"
#include "frontend/edsl/node.h"

namespace tile_tune::edsl {

using detail::Contraction;
using detail::Node;
using detail::NodePtr;

namespace {

/// TC's limit; what lies beyond is a mistake.
constexpr size_t kMaxDimensions = 32;

std::string count(size_t number, const char* what) {
  return fmt::format("{} {}{}", number, what, number == 1 ? "" : "s");
}

std::string dimensions(size_t rank) { return rank == 0 ? "no dimensions" : count(rank, "dimension"); }

void check_sizes(const std::vector<int64_t>& sizes, const std::string& name, const Where& where) {
  if (sizes.size() > kMaxDimensions)
    raise("too-many-dimensions", fmt::format("{} has more than {} dimensions", name, kMaxDimensions), where);
  int64_t elements = 1;
  for (size_t d = 0; d < sizes.size(); ++d) {
    if (sizes[d] <= 0)
      raise("bad-extent", fmt::format("{}, dimension {}: a size must be positive, not {}", name, d, sizes[d]), where);
    if (__builtin_mul_overflow(elements, sizes[d], &elements))
      raise("overflow", fmt::format("{} has more elements than 64 bits can count", name), where);
  }
}

Contraction& output_of(const NodePtr& node, const char* what, const Where& where) {
  auto* contraction = std::get_if<Contraction>(&node->kind);
  if (!contraction)
    raise("not-an-output", fmt::format("{} cannot be given {}", name_of(*node), what), where,
          "only a TensorOutput can");
  if (contraction->is_read)
    raise("already-read", fmt::format("{} is given {} after it was read", name_of(*node), what), where,
          "finish a TensorOutput before using it");
  return *contraction;
}

}  // namespace

Tensor Placeholder(DType type, const std::vector<int64_t>& sizes, const std::string& name, const Where& where) {
  if (!is_identifier(name))
    raise("bad-name", fmt::format("'{}' cannot name an input", name), where, "take letters, digits and underscores");
  check_sizes(sizes, name, where);
  return Tensor(std::make_shared<Node>(type, sizes, where, detail::Input{name}));
}

Tensor TensorOutput(const std::vector<TensorDim>& dims, const Where& where) {
  std::vector<int64_t> sizes;
  for (const auto& dim : dims) sizes.push_back(dim.value(where));
  check_sizes(sizes, "this TensorOutput", where);
  return Tensor(std::make_shared<Node>(DType::F32, std::move(sizes), where, Contraction{}));
}

const NodePtr& Tensor::node(const Where& where) const {
  if (!node_) raise("no-tensor", "this Tensor holds nothing yet", where, "assign a tensor to it first");
  return node_;
}

NodePtr Tensor::boolean(bool value) {
  return std::make_shared<Node>(DType::Bool, std::vector<int64_t>{}, Where(), detail::Scalar{ir::Literal{value}});
}

NodePtr Tensor::real(double value) {
  return std::make_shared<Node>(DType::F32, std::vector<int64_t>{}, Where(), detail::Scalar{ir::Literal{value}});
}

Tensor::Tensor(const TensorDim& value, const Where& where) {
  const detail::Scalar scalar{ir::Literal{value.value(where)}};
  node_ = std::make_shared<Node>(detail::own_type(scalar), std::vector<int64_t>{}, where, scalar);
}

DType Tensor::dtype(const Where& where) const {
  const auto& self = node(where);
  if (const auto* contraction = std::get_if<Contraction>(&self->kind); contraction && !contraction->op)
    raise("never-written", fmt::format("{} has no type before a contraction writes it", name_of(*self)), where);
  return self->type;
}

const std::vector<int64_t>& Tensor::shape(const Where& where) const { return node(where)->shape; }

// ---- sizes ----

void Tensor::bind_dims(const Where& where) const { bind_dims(std::vector<BindArg>{}, where); }

void Tensor::bind_dims(std::vector<TensorDim>& dims, const Where& where) const {
  std::vector<BindArg> arguments;
  for (auto& dim : dims) arguments.emplace_back(dim, where);
  bind_dims(arguments, where);
}

void Tensor::bind_dims(const std::vector<BindArg>& dims, const Where& where) const {
  const auto& self = *node(where);
  const std::string name = name_of(self);
  if (dims.size() != self.shape.size())
    raise("rank-mismatch",
          fmt::format("{} has {}, but bind_dims is given {}", name, dimensions(self.shape.size()), dims.size()), where);
  for (size_t d = 0; d < dims.size(); ++d) {
    const int64_t size = self.shape[d];
    const TensorDim& given = dims[d].dim ? *dims[d].dim : dims[d].size;
    if (dims[d].dim && !given.is_bound()) {
      *dims[d].dim = TensorDim(size);
      dims[d].dim->origin_ = fmt::format("dimension {} of {}, bound at {}:{}", d, name,
                                         std::filesystem::path(where.file_name()).filename().string(), where.line());
      continue;
    }
    const int64_t expected = given.value(where);
    if (expected == size) continue;
    const std::string origin = given.origin_.empty() ? "" : fmt::format(" ({})", given.origin_);
    raise("size-conflict",
          fmt::format("{}, dimension {}: its size is {}, but the dim given for it is {}{}", name, d, size, expected,
                      origin),
          where);
  }
}

// ---- indexing ----

IndexedTensor Tensor::operator()(const Where& where) const { return (*this)(std::vector<TensorIndex>{}, where); }

IndexedTensor Tensor::operator()(const std::vector<TensorIndex>& indices, const Where& where) const {
  detail::Access access{node(where), {}, where};
  const size_t rank = access.tensor->shape.size();
  if (indices.size() != rank)
    raise("rank-mismatch",
          fmt::format("{} has {}, but {} given", name_of(*access.tensor), dimensions(rank),
                      indices.size() == 1 ? "1 index is" : fmt::format("{} indices are", indices.size())),
          where);
  for (const auto& index : indices) access.subscripts.push_back(index.affine());
  return IndexedTensor(std::make_shared<const detail::Access>(std::move(access)));
}

Tensor& Tensor::add_constraint(const Constraint& constraint) {
  output_of(node(constraint.where()), "a constraint", constraint.where()).constraints.push_back(constraint);
  return *this;
}

Tensor& Tensor::add_constraints(const std::vector<Constraint>& constraints) {
  for (const auto& constraint : constraints) add_constraint(constraint);
  return *this;
}

Tensor& Tensor::use_default(const Tensor& values, const Where& where) {
  auto& contraction = output_of(node(where), "a default", where);
  if (contraction.unwritten)
    raise("second-default", fmt::format("{} is given a second default", name_of(*node_)), where);
  const NodePtr& given = values.node(where);
  if (given == node_)
    raise("own-default", fmt::format("{} cannot be its own default", name_of(*node_)), where,
          "give it another tensor or a number");
  read(*given, where);
  const auto common = detail::broadcast(given->shape, node_->shape);
  if (!common || *common != node_->shape)
    raise("shape-mismatch",
          fmt::format("a default of shape {} does not fit {} of shape {}", detail::shape_text(given->shape),
                      name_of(*node_), detail::shape_text(node_->shape)),
          where);
  contraction.unwritten = detail::default_for(*node_, given, where);
  return *this;
}

std::ostream& operator<<(std::ostream& stream, const Tensor& tensor) {
  if (!tensor.node_) return stream << "no tensor";
  const Node& node = *tensor.node_;
  const auto* contraction = std::get_if<Contraction>(&node.kind);
  const bool has_type = !contraction || contraction->op;
  if (const auto* scalar = std::get_if<detail::Scalar>(&node.kind))
    return std::visit([&](auto value) -> std::ostream& { return stream << fmt::format("{}", value); },
                      scalar->value.value);
  return stream << name_of(node) << ": " << (has_type ? dtype_name(node.type) : "unwritten")
                << detail::shape_text(node.shape);
}

}  // namespace tile_tune::edsl
