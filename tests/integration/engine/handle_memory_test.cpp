// Calls of a handle take no memory after each thread's first. This program counts what malloc is asked for.
#include <catch2/catch.hpp>
#include <tile_tune/einsum_call.h>
#include <tile_tune/tc.h>

#include <atomic>
#include <cstdlib>

#include "tests/integration/engine/handles.h"

// glibc's own names for them.
extern "C" {
void* __libc_malloc(size_t bytes);
void* __libc_calloc(size_t count, size_t bytes);
void* __libc_realloc(void* memory, size_t bytes);
}

namespace {
std::atomic<long> requests = 0;
}

extern "C" {
void* malloc(size_t bytes) {
  ++requests;
  return __libc_malloc(bytes);
}
void* calloc(size_t count, size_t bytes) {
  ++requests;
  return __libc_calloc(count, bytes);
}
void* realloc(void* memory, size_t bytes) {
  ++requests;
  return __libc_realloc(memory, bytes);
}
}

using namespace tile_tune;
using engine::array;

TEST_CASE("calls after the first take no memory, also for what is computed on the way") {
  const test::Sandbox box;
  auto options = test::handle_options(box);
  options.schedule = engine::Schedule::Default;
  options.threads = 2;
  // Two products, the first of which is a temporary of 300 KB.
  const auto program = tc::parse(
                           "def two(float(M,K) A, float(K,N) B, float(N,L) C) -> (O) {\n"
                           "  T(m,n) +=! A(m,k) * B(k,n)\n  O(m,l) +=! T(m,n) * C(n,l) }")
                           .front();
  const auto kernel = engine::compile(program, options);
  REQUIRE(kernel);
  constexpr int64_t M = 253, K = 31, N = 301, L = 17;
  std::vector<float> a(M * K, 1), b(K * N, 2), c(N * L, 3), o(M * L), t(M * N);
  const std::vector inputs{array(a.data(), {M, K}), array(b.data(), {K, N}), array(c.data(), {N, L})};
  const std::vector outputs{array(o.data(), {M, L})};
  bool all = true;
  // The thread beside the caller takes part when it comes to it, in whichever call, and takes its memory then, once:
  // what a thousand calls after the caller's first ask for is that alone. 3 requests were seen.
  constexpr long kOneThreadsFirst = 10;
  const auto requests_of_1000 = [&](const auto& call) {
    all &= call();
    const long before = requests;
    for (int i = 0; i < 1000; ++i) all &= call();
    return requests - before;
  };
  const auto by_kernel = requests_of_1000([&] { return static_cast<bool>((*kernel)(inputs, outputs)); });
  CHECK(all);
  CHECK(o[0] == 2.0f * 3 * K * N);
  CHECK(by_kernel <= kOneThreadsFirst);

  engine::set_einsum_options(options);
  const std::vector operands{array(a.data(), {M, K}), array(b.data(), {K, N})};
  const auto result = array(t.data(), {M, N});
  const auto by_einsum =
      requests_of_1000([&] { return static_cast<bool>(engine::einsum("ij,jk->ik", operands, result)); });
  CHECK(all);
  CHECK(t[0] == 2.0f * K);
  CHECK(by_einsum <= kOneThreadsFirst);
  engine::set_einsum_options({});
}
