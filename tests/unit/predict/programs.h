// Programs the tests of the cost model speak of.
#pragma once

#include <stdexcept>
#include <string>

#include "codegen/target/target.h"
#include "frontend/ir/canonical.h"
#include "frontend/tc/parse.h"

namespace tile_tune::predict {

inline ir::Program program_of(const std::string& text, const ir::Sizes& sizes) {
  const auto parsed = tc::parse(text, "test.tc");
  if (!parsed) throw std::runtime_error(render(parsed.error()));
  const auto bound = ir::bind(parsed->programs.at(0), sizes);
  if (!bound) throw std::runtime_error(render(bound.error()));
  return ir::canonicalize(*bound);
}

inline ir::Program matmul(int64_t m, int64_t n, int64_t k) {
  return program_of("def f(float(M,K) A, float(K,N) B) -> (C) { C(m,n) +=! A(m,k) * B(k,n) }",
                    {{"M", m}, {"N", n}, {"K", k}});
}

/// Two cores with 32 vector registers of 64 bytes.
inline codegen::Target machine(int threads = 2) {
  codegen::Target target = codegen::parse_target("x86-64-linux-avx512_skylake").value();
  target.threads = threads;
  target.l1_bytes = 32 << 10;
  target.l2_bytes = 1 << 20;
  target.l3_bytes = 32 << 20;
  return target;
}

}  // namespace tile_tune::predict
