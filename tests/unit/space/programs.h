// Programs from text, with sizes.
#pragma once

#include <string>

#include "frontend/ir/canonical.h"
#include "frontend/tc/parse.h"

namespace tile_tune::search {

inline const std::string kMatmul = "def f(float(M,K) A, float(K,N) B) -> (C) { C(m,n) +=! A(m,k) * B(k,n) }";

inline ir::Program bound(const std::string& text, const ir::Sizes& sizes) {
  return ir::canonicalize(ir::bind(tc::parse(text, "test.tc").value().programs.at(0), sizes).value());
}

inline ir::Program matmul(int64_t m, int64_t n, int64_t k, const std::string& text = kMatmul) {
  return bound(text, {{"M", m}, {"N", n}, {"K", k}});
}

}  // namespace tile_tune::search
