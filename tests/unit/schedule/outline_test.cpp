// Schedules as pseudo-code.
#include "codegen/schedule/outline.h"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "frontend/ir/canonical.h"
#include "frontend/tc/parse.h"

using namespace tile_tune;

namespace {

std::string outline_of(const char* text, const ir::Sizes& sizes, const char* schedule) {
  const auto parsed = tc::parse(text, "test.tc");
  REQUIRE(parsed);
  const auto bound = ir::bind(parsed->programs.front(), sizes);
  REQUIRE(bound);
  const auto read = codegen::schedule_from_json(nlohmann::json::parse(schedule));
  REQUIRE(read);
  return codegen::outline(ir::canonicalize(*bound), *read);
}

}  // namespace

TEST_CASE("a product's loops: parallel tiles, blocks of the reduction, copies, registers") {
  CHECK(outline_of("def f(float(M,K) A, float(K,N) B) -> (C) { C(m,n) +=! A(m,k) * B(k,n) }",
                   {{"M", 48}, {"N", 70}, {"K", 40}},
                   R"({"kind": "schedule", "version": 2, "stages": [{"tiles": [[24, 4], [32, 16]],
                      "order": [[0, 1], [1, 0]], "parallel": 1, "vector_loop": 1, "lanes": 4, "reduction_order": [0],
                      "reduction_block": [20], "reduction_unroll": [2],
                      "packings": [{"operand": 1, "depth": 2, "order": [1, 0]}],
                      "prefetches": [{"operand": 0, "loop": 2, "distance": 8}]}]})") ==
        R"(parallel for m by 24 (2 times)
  for n by 32 (3 times)
    for k by 20 (2 times)
      copy B, packed
      for n by 16 (2 times), m by 4 (6 times)
        for k (20 times), unrolled by 2
          C(m,n) +=! A(m,k) * B(k,n)    4 m x 16 n in registers, vectors of 4 n, A asked for 8 k ahead
)");
}

TEST_CASE("a product's loops on a GPU: blocks, what they stage, threads, registers") {
  CHECK(outline_of("def f(float(M,K) A, float(K,N) B) -> (C) { C(m,n) +=! A(m,k) * B(k,n) }",
                   {{"M", 128}, {"N", 200}, {"K", 40}},
                   R"({"kind": "schedule", "version": 2, "stages": [{"tiles": [[64, 8], [128, 8]],
                      "order": [[0, 1], [0, 1]], "gpu_vector_loop": 1, "gpu_lanes": 4, "interleaved": true,
                      "reduction_threads": 1, "padding": 4, "pipelined": false, "resident_blocks": 0,
                      "reduction_order": [0], "reduction_block": [8], "reduction_unroll": [8],
                      "packings": [{"operand": 0, "depth": 2, "order": [0, 1]},
                                   {"operand": 1, "depth": 2, "order": [1, 0]}]}]})") ==
        R"(blocks: m by 64 (2), n by 128 (2)
  for k by 8 (5 times)
    copy A, B into shared memory, 4 elements between its rows
    threads: m by 8 (8), n by 8 (16), 128 in a block
      for k (8 times), unrolled by 8
        C(m,n) +=! A(m,k) * B(k,n)    8 m x 8 n in registers, vectors of 4 n, interleaved with other threads'
)");
}

TEST_CASE("what shares a nest stands inside it") {
  CHECK(outline_of("def f(float(N,K) A) -> (O) { s(n) +=! A(n,k)\n t(n) = s(n) * 2\n O(n) = t(n) + 1 }",
                   {{"N", 8}, {"K", 12}},
                   R"({"kind": "schedule", "version": 2, "stages": [
                      {"tiles": [[1]], "order": [[0]], "parallel": 1, "vector_loop": 1, "lanes": 4,
                       "reduction_order": [0], "reduction_block": [12], "reduction_unroll": [1], "packings": []},
                      {"inlined": true}, {"epilogue_of": 0}]})") == R"(parallel for n (8 times)
  for k (12 times), in vectors of 4
    s(n) +=! A(n,k)
  O(n) = t(n) + 1.0    before the tile is stored
t(n) = s(n) * 2.0    computed where it is read
)");
}
