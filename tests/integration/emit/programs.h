// Small bound, canonical programs with odd extents and one schedule each.
#pragma once

#include <algorithm>

#include "codegen/emit/package.h"

namespace tile_tune::test {

struct MatmulOptions {
  int64_t m = 17, n = 33, k = 19;
  DType type = DType::F32;
  bool in_out = false;  // C += A * B instead of C +=! A * B
  ir::Storage b_layout = ir::Storage::row();
};

/// float(M,K) A, float(K,N) B -> float(M,N) C.
inline ir::Program matmul_program(const MatmulOptions& o) {
  using namespace ir;
  Program p;
  p.name = "matmul";
  p.tensors = {{"A", o.type, {o.m, o.k}, Role::Input, Storage::row()},
               {"B", o.type, {o.k, o.n}, Role::Input, o.b_layout},
               {"C", o.type, {o.m, o.n}, Role::Output, Storage::row()}};
  if (o.in_out) p.tensors.push_back({"C", o.type, {o.m, o.n}, Role::InOut, Storage::row()});
  p.inputs = {0, 1};
  p.outputs = {2};
  auto read = [&](int tensor, int i, int j) {
    return make_expr(o.type, Read{tensor, {AffineExpr::index(i), AffineExpr::index(j)}});
  };
  Statement s;
  s.target = 2;
  s.subscripts = {AffineExpr::index(0), AffineExpr::index(1)};
  s.indices = {{"i", 0, o.m, "A"}, {"j", 0, o.n, "B"}, {"k", 0, o.k, "A"}};
  s.op = Aggregation::Sum;
  if (o.in_out) s.previous = 3;
  s.accumulator = o.type;
  s.value = make_expr(o.type, Call{Op::Mul, {read(0, 0, 2), read(1, 2, 1)}});
  s.place = Place{"/somewhere/else/matmul.tc", 1, 1, 1, "C(i,j) +=! A(i,k) * B(k,j)"};
  p.statements = {s};
  return p;
}

/// One level of tiles clipped to the extents; vectorised where a vector fits, rows in parallel.
inline codegen::Schedule matmul_schedule(const MatmulOptions& o) {
  codegen::NestSchedule s;
  const bool vector = o.n >= 8;
  s.tiles = {{std::clamp<int64_t>(o.m, 1, 4)}, {vector ? 8 : 1}};
  s.order = {{0, 1}};
  s.cpu().parallel = 1;
  s.cpu().vector_loop = vector ? 1 : -1;
  s.cpu().lanes = vector ? 8 : 1;
  s.reduction_order = {0};
  s.reduction_block = {std::max<int64_t>(o.k, 1)};
  s.reduction_unroll = {1};
  return {{s}};
}

/// B copied once into scratch memory: the kernel must allocate.
inline codegen::Schedule packed_schedule(const MatmulOptions& o) {
  codegen::Schedule schedule = matmul_schedule(o);
  schedule.stages[0].nest().packings = {{.operand = 1, .depth = 0, .order = {1, 0}}};
  return schedule;
}

/// T x(n) -> T o(n), o(i) = x(i); with `scaled`, T a, T x(n) -> T o(n), o(i) = a * x(i).
inline codegen::Kernel vector_kernel(const std::string& function, DType type, int64_t n, bool scaled = false) {
  using namespace ir;
  Program p;
  p.name = function;
  p.tensors = {{"x", type, {n}, Role::Input, Storage::row()}, {"o", type, {n}, Role::Output, Storage::row()}};
  p.inputs = {0};
  p.outputs = {1};
  Statement s;
  s.target = 1;
  s.subscripts = {AffineExpr::index(0)};
  s.indices = {{"i", 0, n, "x"}};
  s.accumulator = type;
  s.value = make_expr(type, Read{0, {AffineExpr::index(0)}});
  if (scaled) {
    p.tensors.insert(p.tensors.begin(), {"a", type, {}, Role::Input, Storage::row()});
    p.inputs = {0, 1};
    p.outputs = {2};
    s.target = 2;
    s.value = make_expr(
        type, Call{Op::Mul, {make_expr(type, Read{0, {}}), make_expr(type, Read{1, {AffineExpr::index(0)}})}});
  }
  p.statements = {s};
  codegen::NestSchedule schedule;
  schedule.tiles = {{1}};
  schedule.order = {{0}};
  return {p, {{schedule}}, function, "default", {}};
}

inline codegen::Kernel matmul_kernel(const std::string& function, const MatmulOptions& o = {}) {
  return {matmul_program(o), matmul_schedule(o), function, "default", {{"median_ns", 1234}}};
}

}  // namespace tile_tune::test
