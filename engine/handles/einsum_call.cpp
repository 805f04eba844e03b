#include <tile_tune/einsum_call.h>

#include <utility>

#include "engine/handles/einsum_kernels.h"
#include "frontend/diagnostic/diagnostic.h"
#include "frontend/ir/program.h"

namespace tile_tune::engine {

namespace {

Error error_from(const Diagnostic& diagnostic) { return {diagnostic.code, diagnostic.message, diagnostic.note}; }

/// Letters for axes: those of `a` first, then those of `b` that it does not share.
class Labels {
 public:
  Labels(const Array& a, const Array& b) : a_(a.shape.size(), 0), b_(b.shape.size(), 0) {}

  /// Axes of both that are one; false where there is none such, or it is named already.
  bool join(int axis_a, int axis_b) {
    const int rank_a = static_cast<int>(a_.size()), rank_b = static_cast<int>(b_.size());
    const int x = axis_a < 0 ? axis_a + rank_a : axis_a, y = axis_b < 0 ? axis_b + rank_b : axis_b;
    if (x < 0 || x >= rank_a || y < 0 || y >= rank_b || a_[x] != 0 || b_[y] != 0) return false;
    a_[x] = b_[y] = next();
    joined_ += a_[x];
    return true;
  }
  /// The letters of the pairs that were joined since the last call.
  std::string take_joined() { return std::exchange(joined_, {}); }

  std::string free_of_a() { return name_rest(a_); }
  std::string free_of_b() { return name_rest(b_); }
  std::string operands() const { return a_ + "," + b_; }

 private:
  char next() { return "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"[count_++ % 52]; }
  std::string name_rest(std::string& axes) {
    std::string named;
    for (char& axis : axes)
      if (axis == 0) named += axis = next();
    return named;
  }

  std::string a_, b_, joined_;
  int count_ = 0;
};

Error bad_axes(const char* operation) {
  return {"bad-axes", std::string(operation) + ": the axes do not pair dimensions of both operands, each once", ""};
}

}  // namespace

Expected<ArrayType> einsum_type(std::string_view subscripts, std::span<const Array> operands) {
  const auto parsed = einsum::parse(subscripts);
  if (!parsed) return error_from(parsed.error());
  einsum::Known known;
  for (const Array& array : operands) known.operands.push_back({array.type, array.shape});
  const auto made = make_program(*parsed, known);
  if (!made) return error_from(made.error());
  const auto bound = ir::bind(made->program, made->sizes);
  if (!bound) return error_from(bound.error());
  const ir::Tensor& result = bound->tensors[static_cast<size_t>(bound->outputs.front())];
  return ArrayType{result.type, ir::shape(result)};
}

Expected<void> einsum(std::string_view subscripts, std::span<const Array> operands, const Array& result) {
  const auto kernel = einsum_kernel(subscripts, operands, result.type);
  if (!kernel) return kernel.error();
  return (*kernel)(operands, {&result, 1});
}

Expected<Kernel> einsum_kernel(std::string_view subscripts, std::span<const Array> operands, DType result) {
  auto kernel = einsum_kernel({subscripts}, operands, result, [&]() -> Result<EinsumForm> {
    TILE_TUNE_TRY(notation, einsum::parse(subscripts));
    return EinsumForm{std::move(notation)};
  });
  if (!kernel) return error_from(kernel.error());
  return std::move(*kernel);
}

void set_einsum_options(CompileOptions options) { set_einsum_kernel_options(std::move(options)); }

Expected<void> tensordot(const Array& a, const Array& b, const std::vector<int>& axes_a, const std::vector<int>& axes_b,
                         const Array& result) {
  Labels labels(a, b);
  if (axes_a.size() != axes_b.size()) return bad_axes("tensordot");
  for (size_t i = 0; i < axes_a.size(); ++i)
    if (!labels.join(axes_a[i], axes_b[i])) return bad_axes("tensordot");
  const std::string of_a = labels.free_of_a(), of_b = labels.free_of_b();
  return einsum(labels.operands() + "->" + of_a + of_b, std::vector{a, b}, result);
}

Expected<void> dot_general(const Array& a, const Array& b, const DotDimensions& dimensions, const Array& result) {
  Labels labels(a, b);
  const auto& [contracting_a, contracting_b, batch_a, batch_b] = dimensions;
  if (contracting_a.size() != contracting_b.size() || batch_a.size() != batch_b.size()) return bad_axes("dot_general");
  for (size_t i = 0; i < contracting_a.size(); ++i)
    if (!labels.join(contracting_a[i], contracting_b[i])) return bad_axes("dot_general");
  labels.take_joined();
  for (size_t i = 0; i < batch_a.size(); ++i)
    if (!labels.join(batch_a[i], batch_b[i])) return bad_axes("dot_general");
  const std::string batch = labels.take_joined(), of_a = labels.free_of_a(), of_b = labels.free_of_b();
  return einsum(labels.operands() + "->" + of_a + of_b + batch, std::vector{a, b}, result);
}

}  // namespace tile_tune::engine
