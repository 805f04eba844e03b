// Programs from text, with sizes, and targets for them.
#pragma once

#include <string>

#include "codegen/target/target.h"
#include "frontend/ir/canonical.h"
#include "frontend/tc/parse.h"

namespace tile_tune::search {

inline const std::string kMatmul = "def f(float(M,K) A, float(K,N) B) -> (C) { C(m,n) +=! A(m,k) * B(k,n) }";

/// Two threads of a CPU with such vectors, registers and second cache, and 32 KiB of first.
inline codegen::Target two_threads(int vector_bytes, int vector_registers, int64_t l2_bytes) {
  codegen::Target target;
  target.vector_bytes = vector_bytes;
  target.vector_registers = vector_registers;
  target.threads = 2;
  target.l1_bytes = 32 << 10;
  target.l2_bytes = l2_bytes;
  return target;
}

inline ir::Program bound(const std::string& text, const ir::Sizes& sizes) {
  return ir::canonicalize(ir::bind(tc::parse(text, "test.tc").value().programs.at(0), sizes).value());
}

inline ir::Program matmul(int64_t m, int64_t n, int64_t k, const std::string& text = kMatmul) {
  return bound(text, {{"M", m}, {"N", n}, {"K", k}});
}

}  // namespace tile_tune::search
