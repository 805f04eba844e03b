// Handles: kernels in this process, on the caller's arrays.
#include <catch2/catch.hpp>
#include <tile_tune/einsum.h>
#include <tile_tune/kernel.h>
#include <tile_tune/tc.h>

#include <cmath>
#include <filesystem>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <fstream>
#include <functional>
#include <linux/filter.h>
#include <limits>
#include <random>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

#include "tests/integration/engine/handles.h"

using namespace tile_tune;
using engine::Array;
using engine::array;
using tile_tune::test::floats;
using tile_tune::test::handle_options;
using tile_tune::test::Sandbox;

extern "C" int c_caller(const char* tool, const char* folder);

namespace {

engine::Kernel compiled(const edsl::Program& program, const engine::CompileOptions& options) {
  auto kernel = engine::compile(program, options);
  if (!kernel) FAIL(kernel.error().code << ": " << kernel.error().message << " " << kernel.error().note);
  return *kernel;
}

void call(const engine::Kernel& kernel, const std::vector<Array>& inputs, const std::vector<Array>& outputs) {
  const auto called = kernel(inputs, outputs);
  if (!called) FAIL(called.error().code << ": " << called.error().message);
}

std::string call_error(const engine::Kernel& kernel, const std::vector<Array>& inputs,
                       const std::vector<Array>& outputs) {
  const auto called = kernel(inputs, outputs);
  return called ? "" : called.error().code;
}

size_t files_in(const std::filesystem::path& folder) {
  return static_cast<size_t>(std::distance(std::filesystem::directory_iterator(folder), {}));
}

constexpr const char* kMatmul = "def matmul(float(M,K) A, float(K,N) B) -> (C) { C(m,n) +=! A(m,k) * B(k,n) }";

}  // namespace

TEST_CASE("a handle computes for whatever shapes and strides it is called with") {
  const Sandbox box;
  const auto kernel = compiled(tc::parse(kMatmul).front(), handle_options(box));
  for (const auto& [M, N, K] : std::vector<std::array<int64_t, 3>>{{5, 7, 3}, {17, 1, 13}, {5, 7, 3}}) {
    const auto a = floats(M * K, 7), b = floats(K * N, 5);
    std::vector<float> c(static_cast<size_t>(2 * M * N), -99);
    // A as it is, then from its last row up; B transposed; every second element of C.
    std::vector<float> transposed(b.size());
    for (int64_t k = 0; k < K; ++k)
      for (int64_t n = 0; n < N; ++n) transposed[n * K + k] = b[k * N + n];
    call(kernel, {array(a.data() + (M - 1) * K, {M, K}, {-K, 1}), array(transposed.data(), {K, N}, {1, K})},
         {array(c.data(), {M, N}, {2 * N, 2})});
    for (int64_t m = 0; m < M; ++m)
      for (int64_t n = 0; n < N; ++n) {
        float sum = 0;
        for (int64_t k = 0; k < K; ++k) sum += a[(M - 1 - m) * K + k] * b[k * N + n];
        CHECK(c[2 * (m * N + n)] == sum);
        CHECK(c[2 * (m * N + n) + 1] == -99);
      }
  }
  CHECK(files_in(box.path("kernels")) == 2);  // the third call found the first one's
}

TEST_CASE("where the value of an input is a size, it is part of what a kernel is for") {
  const Sandbox box;
  const auto program =
      tc::parse("def pool(float(N) x, int32 w) -> (o) { o(i) max=! x(2*i + k) where k in 0:w, i in 0:3 }").front();
  CHECK(engine::size_inputs(program) == std::vector<size_t>{1});
  const auto kernel = compiled(program, handle_options(box));
  std::vector<float> x{3, 1, 4, 1, 5, 9, 2}, o(3);
  for (const auto& [width, expected] :
       std::vector<std::pair<int32_t, std::vector<float>>>{{2, {3, 4, 9}}, {3, {4, 5, 9}}, {2, {3, 4, 9}}}) {
    call(kernel, {array(x.data(), {7}), array(&width, {})}, {array(o.data(), {3})});
    CHECK(o == expected);
    CHECK(kernel.schedule() == engine::Schedule::Default);
  }
  CHECK(call_error(kernel, {array(x.data(), {7})}, {array(o.data(), {3})}) == "array-count");
  CHECK(call_error(kernel, {array(x.data(), {7}), array(x.data(), {})}, {array(o.data(), {3})}) == "dtype-mismatch");
}

TEST_CASE("what a program gives is known before it is called") {
  const auto program =
      tc::parse("def both(float(M,N) A) -> (sums, least) { sums(i) += A(i,j)\n least(j) min= A(i,j)\n }").front();
  const std::vector<float> a(15, 1);
  const auto fit = engine::fit(program, std::vector{array(a.data(), {3, 5})});
  REQUIRE(fit);
  CHECK(fit->sizes == std::map<std::string, int64_t>{{"M", 3}, {"N", 5}});
  REQUIRE(fit->outputs.size() == 2);
  CHECK(fit->outputs[0].shape == std::vector<int64_t>{3});
  CHECK(fit->outputs[0].initial == std::string(4, '\0'));
  const float infinity = std::numeric_limits<float>::infinity();
  CHECK(fit->outputs[1].initial == std::string(reinterpret_cast<const char*>(&infinity), 4));
  CHECK(engine::fit(program, {}).error().code == "array-count");
  CHECK(engine::fit(program, std::vector{array(a.data(), {15})}).error().code == "rank-mismatch");
  const auto whole = tc::parse("def copy(float(N) A) -> (o) { o(i) = A(i) }").front();
  CHECK(engine::fit(whole, std::vector{array(a.data(), {15})})->outputs[0].initial.empty());
}

TEST_CASE("many shapes of one program cost few compilations") {
  const Sandbox box;
  const auto kernel = compiled(tc::parse(kMatmul).front(), handle_options(box));
  for (int64_t i = 0; i < 60; ++i) {
    const int64_t M = 1 + i * 7 % 23, N = 1 + i * 5 % 41, K = 1 + i * 11 % 19;
    const auto a = floats(M * K, 7), b = floats(K * N, 5);
    std::vector<float> c(static_cast<size_t>(M * N), -99);
    call(kernel, {array(a.data(), {M, K}), array(b.data(), {K, N})}, {array(c.data(), {M, N})});
    int wrong = 0;
    for (int64_t m = 0; m < M; ++m)
      for (int64_t n = 0; n < N; ++n) {
        float sum = 0;
        for (int64_t k = 0; k < K; ++k) sum += a[m * K + k] * b[k * N + n];
        wrong += c[m * N + n] != sum;
      }
    CAPTURE(M, N, K);
    CHECK(wrong == 0);
  }
  CHECK(files_in(box.path("kernels")) == 2);
  // Of nothing, which the kernel for many sizes does not compute.
  std::vector<float> c(6, -99);
  call(kernel, {array(c.data(), {2, 0}), array(c.data(), {0, 3})}, {array(c.data(), {2, 3})});
  CHECK(c == std::vector<float>(6, 0));
  const auto a = floats(6, 1);
  CHECK(call_error(kernel, {array(a.data(), {2, 3}), array(a.data(), {2, 3})}, {array(c.data(), {2, 3})}) ==
        "size-conflict");
}

namespace {

/// A matrix of whole numbers in memory of its own, as a view of more: its dimensions in either order, forward or
/// backward, every element or every second one, and, if it is read, one row or column for all.
struct Drawn {
  Drawn(int64_t rows, int64_t columns, bool is_read, std::mt19937& random) {
    const auto chance = [&](unsigned one_in) { return random() % one_in == 0; };
    const int64_t extents[] = {rows, columns};
    int64_t strides[2], next = chance(4) ? 2 : 1, first = 0;
    const int inner = chance(2) ? 1 : 0;
    for (const int d : {inner, 1 - inner}) {
      strides[d] = is_read && chance(8) ? 0 : chance(4) ? -next : next;
      if (strides[d] == 0) continue;
      next *= extents[d] + (chance(3) ? 3 : 0);
      if (strides[d] < 0) first -= strides[d] * (extents[d] - 1);
    }
    memory.resize(static_cast<size_t>(next) + 1);
    for (float& value : memory) value = static_cast<float>(static_cast<int>(random() % 9) - 4);
    view = array(memory.data() + first, {rows, columns}, {strides[0], strides[1]});
  }
  float& at(int64_t i, int64_t j) { return static_cast<float*>(view.data)[i * view.strides[0] + j * view.strides[1]]; }

  std::vector<float> memory;
  Array view;
};

/// How many of so many products of any shapes and strides are wrong.
int wrong_products(const engine::Kernel& kernel, int count, const std::function<int64_t(std::mt19937&)>& size) {
  std::mt19937 random(7);
  int wrong = 0;
  for (int n = 0; n < count; ++n) {
    const int64_t M = size(random), N = size(random), K = size(random);
    Drawn a(M, K, true, random), b(K, N, true, random), c(M, N, false, random);
    std::vector<float> around = c.memory;
    call(kernel, {a.view, b.view}, {c.view});
    bool is_wrong = false;
    for (int64_t i = 0; i < M; ++i)
      for (int64_t j = 0; j < N; ++j) {
        float sum = 0;
        for (int64_t k = 0; k < K; ++k) sum += a.at(i, k) * b.at(k, j);
        is_wrong |= c.at(i, j) != sum;
        c.at(i, j) = around[static_cast<size_t>(&c.at(i, j) - c.memory.data())];
      }
    wrong += is_wrong || c.memory != around;
  }
  return wrong;
}

}  // namespace

TEST_CASE("a thousand shapes and strides of one program need eight kernels at most") {
  const Sandbox box;
  const auto kernel = compiled(tc::parse(kMatmul).front(), handle_options(box));
  CHECK(wrong_products(kernel, 1000, [](std::mt19937& random) { return static_cast<int64_t>(1 + random() % 23); }) ==
        0);
  CHECK(files_in(box.path("kernels")) <= 8);
  CHECK(files_in(box.path("kernels")) > 2);
}

TEST_CASE("one kernel computes all shapes of a product with five sizes") {
  const Sandbox box;
  const auto kernel = compiled(
      tc::parse("def scores(float(B,H,Q,D) q, float(B,H,K,D) k) -> (S) { S(b,h,i,j) +=! q(b,h,i,d) * k(b,h,j,d) }")
          .front(),
      handle_options(box));
  std::mt19937 random(3);
  const auto q = floats(4 * 4 * 37 * 37, 7), k = floats(4 * 4 * 37 * 37, 5);
  for (int n = 0; n < 30; ++n) {
    const auto drawn = [&](int64_t most) { return static_cast<int64_t>(1 + random() % most); };
    const int64_t B = drawn(4), H = drawn(4), Q = drawn(37), K = drawn(37), D = drawn(37);
    std::vector<float> s(B * H * Q * K + 1, -99);
    call(kernel, {array(q.data(), {B, H, Q, D}), array(k.data(), {B, H, K, D})}, {array(s.data(), {B, H, Q, K})});
    int wrong = s.back() != -99;
    for (int64_t bh = 0; bh < B * H; ++bh)
      for (int64_t i = 0; i < Q; ++i)
        for (int64_t j = 0; j < K; ++j) {
          float sum = 0;
          for (int64_t d = 0; d < D; ++d) sum += q[(bh * Q + i) * D + d] * k[(bh * K + j) * D + d];
          wrong += s[(bh * Q + i) * K + j] != sum;
        }
    CAPTURE(B, H, Q, K, D);
    CHECK(wrong == 0);
  }
  CHECK(files_in(box.path("kernels")) == 2);
}

TEST_CASE("strides of one shape need eight kernels at most") {
  const Sandbox box;
  const auto kernel = compiled(tc::parse(kMatmul).front().bind({{"M", 7}, {"N", 7}, {"K", 7}}), handle_options(box));
  CHECK(wrong_products(kernel, 200, [](std::mt19937&) { return int64_t{7}; }) == 0);
  CHECK(files_in(box.path("kernels")) <= 8);
}

TEST_CASE("of a class of strides those that the database has a schedule of have their own kernel") {
  const Sandbox box;
  auto options = handle_options(box);
  const auto program = tc::parse(kMatmul).front().bind({{"M", 7}, {"N", 7}, {"K", 7}});
  const auto a = floats(7 * 40, 7);
  std::vector<float> c(49);
  // Rows of A as far apart as it says.
  const auto call_with = [&](const engine::Kernel& kernel, int64_t stride) {
    std::fill(c.begin(), c.end(), -99);
    call(kernel, {array(a.data(), {7, 7}, {stride, 1}), array(a.data(), {7, 7})}, {array(c.data(), {7, 7})});
    float sum = 0;
    for (int64_t k = 0; k < 7; ++k) sum += a[6 * stride + k] * a[7 * k + 6];
    CHECK(c.back() == sum);
  };
  auto tuning = options;
  tuning.tune_seconds = 1;
  tuning.cache = box.path("others").string();
  call_with(compiled(program, tuning), 31);

  const auto kernel = compiled(program, options);
  const auto first = files_in(*options.cache);  // in C order
  for (const int64_t stride : {11, 13, 17, 19, 23}) call_with(kernel, stride);
  CHECK(files_in(*options.cache) == first + 3);  // two sets of strides, and their class
  call_with(kernel, 31);
  CHECK(files_in(*options.cache) == first + 4);
  call_with(kernel, 29);
  CHECK(files_in(*options.cache) == first + 4);
}

TEST_CASE("kernels of a class of strides add to an output") {
  const Sandbox box;
  const auto kernel =
      compiled(tc::parse("def f(float(N,M) A, float(M) v) -> (float(N) o) { o(n) += A(n,m) * v(m) }").front(),
               handle_options(box));
  std::mt19937 random(3);
  for (int n = 0; n < 40; ++n) {
    const auto N = static_cast<int64_t>(1 + random() % 9), M = static_cast<int64_t>(1 + random() % 17);
    Drawn a(N, M, true, random), v(M, 2, true, random), o(N, 3, false, random);
    std::vector<float> expected;
    for (int64_t i = 0; i < N; ++i) {
      expected.push_back(o.at(i, 1));
      for (int64_t j = 0; j < M; ++j) expected.back() += a.at(i, j) * v.at(j, 1);
    }
    call(kernel, {a.view, {&v.at(0, 1), DType::F32, {M}, {v.view.strides[0]}}},
         {{&o.at(0, 1), DType::F32, {N}, {o.view.strides[0]}}});
    for (int64_t i = 0; i < N; ++i) CHECK(o.at(i, 1) == expected[static_cast<size_t>(i)]);
  }
  CHECK(files_in(box.path("kernels")) <= 8);
}

TEST_CASE("what a handle is called with is checked") {
  const Sandbox box;
  const auto kernel = compiled(tc::parse(kMatmul).front().bind({{"M", 4}, {"N", 3}, {"K", 2}}), handle_options(box));
  auto a = floats(8, 3), b = floats(6, 5), c = floats(12, 1);
  const Array A = array(a.data(), {4, 2}), B = array(b.data(), {2, 3}), C = array(c.data(), {4, 3});
  const auto untouched = c;
  CHECK(call_error(kernel, {A}, {C}) == "array-count");
  CHECK(call_error(kernel, {A, B, B}, {C}) == "array-count");
  CHECK(call_error(kernel, {A, {b.data(), DType::F64, {2, 3}}}, {C}) == "dtype-mismatch");
  CHECK(call_error(kernel, {A, array(b.data(), {3, 2})}, {C}) == "size-conflict");
  CHECK(call_error(kernel, {A, B}, {array(c.data(), {3, 4})}) == "size-conflict");
  CHECK(call_error(kernel, {A, array(b.data(), {2, 3}, {3})}, {C}) == "bad-array");
  CHECK(call_error(kernel, {A, {nullptr, DType::F32, {2, 3}}}, {C}) == "bad-array");
  CHECK(call_error(kernel, {A, {reinterpret_cast<char*>(b.data()) + 1, DType::F32, {2, 3}}}, {C}) == "bad-array");
  CHECK(call_error(kernel, {array(c.data() + 4, {4, 2}), B}, {C}) == "bad-array");      // an output over an input
  CHECK(call_error(kernel, {A, B}, {array(c.data(), {4, 3}, {0, 1})}) == "bad-array");  // two elements in one place
  CHECK(c == untouched);
  CHECK(call_error(kernel, {A, B}, {C}) == "");
  CHECK(c[0] == a[0] * b[0] + a[1] * b[3]);
}

TEST_CASE("kernels are found again by later handles, and what is damaged is compiled again") {
  const Sandbox box;
  auto options = handle_options(box);
  const auto program = tc::parse("def twice(float(N) A) -> (O) { O(n) = 2.0 * A(n) }").front().bind({{"N", 37}});
  compiled(program, options);
  REQUIRE(files_in(box.path("kernels")) == 1);
  const auto file = std::filesystem::directory_iterator(box.path("kernels"))->path();
  CHECK(std::filesystem::status(box.path("kernels")).permissions() == std::filesystem::perms::owner_all);
  const auto a = floats(37, 3);
  std::vector<float> o(37);
  const auto check = [&](const engine::Kernel& kernel) {
    std::fill(o.begin(), o.end(), -1);
    call(kernel, {array(a.data(), {37})}, {array(o.data(), {37})});
    for (size_t i = 0; i < o.size(); ++i) CHECK(o[i] == 2 * a[i]);
  };
  // Nothing can be compiled by this tool.
  auto without = options;
  without.executable = "/bin/false";
  check(compiled(program, without));

  for (const int where : {0, 1, 2}) {
    {
      const auto size = std::filesystem::file_size(file);  // how long it took to compile is in it, as text
      const uint64_t at = where == 0 ? 3 : where == 1 ? size / 2 : size - 1;
      std::fstream stream(file, std::ios::in | std::ios::out | std::ios::binary);
      stream.seekg(static_cast<std::streamoff>(at));
      const char byte = static_cast<char>(stream.get());
      stream.seekp(static_cast<std::streamoff>(at));
      stream.put(static_cast<char>(byte ^ 1));
    }
    const auto refused = engine::compile(program, without);
    CHECK_FALSE(refused);
    if (!refused) CHECK(refused.error().code == "kernel-failed");
    check(compiled(program, options));
  }
  without.executable = "/nowhere/tile-tune";
  const auto missing = engine::compile(program, without);
  REQUIRE_FALSE(missing);
  CHECK(missing.error().code == "no-executable");
  options.threads = -3;
  const auto threadless = engine::compile(program, options);
  REQUIRE_FALSE(threadless);
  CHECK(threadless.error().code == "bad-threads");
}

TEST_CASE("without a place to keep kernels they live in memory") {
  const Sandbox box;
  auto options = handle_options(box);
  options.cache = "/proc/nowhere";
  const auto program = tc::parse("def f(int8(N) A) -> (int32 O) { O +=! int32(A(n)) }").front();
  const auto kernel = compiled(program, options);
  const std::vector<int8_t> a{-128, 127, -128, 5, -7};
  int32_t sum = 99;
  call(kernel, {array(a.data(), {5})}, {array(&sum, {})});
  CHECK(sum == -131);
  // Reversed, and an element that is there three times.
  call(kernel, {array(a.data() + 4, {5}, {-1})}, {array(&sum, {})});
  CHECK(sum == -131);
  call(kernel, {array(a.data(), {3}, {0})}, {array(&sum, {})});
  CHECK(sum == -384);
  // Of nothing.
  call(kernel, {array(a.data(), {0})}, {array(&sum, {})});
  CHECK(sum == 0);
}

TEST_CASE("in/out outputs, gathers, and indices that leave their tensors") {
  const Sandbox box;
  const auto add =
      compiled(tc::parse("def add(float(N,D) T, int32(B) idx) -> (float(B,D) O) { O(b,d) += T(idx(b), d) }").front(),
               handle_options(box));
  const auto table = floats(6 * 5, 7);
  std::vector<int32_t> idx{5, 0, 5};
  std::vector<float> o(15, 1);
  const std::vector<Array> inputs{array(table.data(), {6, 5}), array(idx.data(), {3})};
  call(add, inputs, {array(o.data(), {3, 5})});
  for (int b = 0; b < 3; ++b)
    for (int d = 0; d < 5; ++d) CHECK(o[b * 5 + d] == 1 + table[idx[b] * 5 + d]);
  for (const int32_t outside : {6, -1, 1 << 30}) {
    idx[1] = outside;
    CHECK(call_error(add, inputs, {array(o.data(), {3, 5})}) == "gather-out-of-range");
  }
}

TEST_CASE("one handle is called by several threads, also the first time") {
  const Sandbox box;
  auto options = handle_options(box);
  options.threads = 2;
  // With a temporary, which is memory of each thread's own.
  const auto kernel =
      compiled(tc::parse("def soft(float(N,M) A) -> (m, S, O) { m(n) max=! A(n,k)  S(n) +=! exp(A(n,k) - m(n))\n"
                         "  O(n,k) = exp(A(n,k) - m(n)) / S(n) }")
                   .front(),
               options);
  std::vector<std::thread> threads;
  std::atomic<int> wrong = 0;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      const int64_t N = 31 + t % 2, M = 67;
      const auto a = floats(N * M, 7 + t);
      std::vector<float> m(static_cast<size_t>(N)), s(m), o(a.size());
      for (int round = 0; round < 50; ++round) {
        if (!kernel(std::vector{array(a.data(), {N, M})},
                    std::vector{array(m.data(), {N}), array(s.data(), {N}), array(o.data(), {N, M})}))
          ++wrong;
        for (int64_t n = 0; n < N; ++n) {
          double sum = 0;
          for (int64_t k = 0; k < M; ++k) sum += o[static_cast<size_t>(n * M + k)];
          if (std::abs(sum - 1) > 1e-5) ++wrong;
        }
      }
    });
  for (auto& thread : threads) thread.join();
  CHECK(wrong == 0);
}

TEST_CASE("a handle takes the tuned schedule once there is one") {
  const Sandbox box;
  auto options = handle_options(box);
  const auto program = tc::parse(kMatmul).front().bind({{"M", 33}, {"N", 29}, {"K", 31}});
  CHECK(compiled(program, options).schedule() == engine::Schedule::Default);
  options.tune_seconds = 3;
  const auto tuned = compiled(program, options);
  const auto a = floats(33 * 31, 7), b = floats(31 * 29, 5);
  std::vector<float> c(33 * 29);
  call(tuned, {array(a.data(), {33, 31}), array(b.data(), {31, 29})}, {array(c.data(), {33, 29})});
  float sum = 0;
  for (int k = 0; k < 31; ++k) sum += a[k] * b[k * 29];
  CHECK(c[0] == sum);
  CHECK(std::filesystem::exists(box.path("tuning.db")));
  options.schedule = engine::Schedule::Default;
  options.tune_seconds = 0;
  CHECK(compiled(program, options).schedule() == engine::Schedule::Default);
  options.schedule = engine::Schedule::Reference;
  CHECK_FALSE(engine::compile(program, options));
}

TEST_CASE("a search in the background leaves its trials, and ends at once when it is told to") {
  const Sandbox box;
  auto options = handle_options(box);
  options.background_seconds = 300;
  const auto program = tc::parse(kMatmul).front().bind({{"M", 65}, {"N", 63}, {"K", 61}});
  const auto code_of_child = [&] {
    const auto kernel = engine::compile(program, options);
    if (!kernel) return 1;
    std::vector<float> a(65 * 61, 1), b(61 * 63, 2), c(65 * 63);
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(100);
    for (bool is_stored = false; !is_stored;) {
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
      if (!(*kernel)(std::vector{array(a.data(), {65, 61}), array(b.data(), {61, 63})},
                     std::vector{array(c.data(), {65, 63})}) ||
          c[7] != 122)
        return 2;
      if (std::chrono::steady_clock::now() > end) return 3;
      is_stored = box.run({"db", "stats", "--db", options.database}).out.find("ok") != std::string::npos;
    }
    const auto asked = std::chrono::steady_clock::now();
    engine::shutdown();
    return std::chrono::steady_clock::now() - asked > std::chrono::seconds(2) ? 4 : 0;  // 0.2 on a quiet machine
  };
  const pid_t child = fork();
  if (child == 0) _exit(code_of_child());
  int status = -1;
  waitpid(child, &status, 0);
  REQUIRE(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 0);
}

TEST_CASE("a call that is interrupted ends, and writes nothing") {
  const Sandbox box;
  auto options = handle_options(box);
  options.tune_seconds = 300;
  int asked = 0;
  options.interrupted = [&] { return ++asked > 3; };
  const auto kernel = compiled(tc::parse(kMatmul).front(), options);
  const auto a = floats(15, 7);
  std::vector<float> c(9, -99);
  const std::vector inputs{array(a.data(), {3, 5}), array(a.data(), {5, 3})}, outputs{array(c.data(), {3, 3})};
  CHECK(call_error(kernel, inputs, outputs) == "interrupted");
  CHECK(asked == 4);
  CHECK(c == std::vector<float>(9, -99));
}

TEST_CASE("an interrupted call does not keep later ones from the kernel for many sizes") {
  const Sandbox box;
  auto options = handle_options(box);
  bool stop = false;
  options.interrupted = [&] { return stop; };
  const auto kernel = compiled(tc::parse(kMatmul).front(), options);
  const auto a = floats(11 * 11, 7);
  std::vector<float> c(11 * 11);
  const auto error_of = [&](int64_t n) {
    return call_error(kernel, {array(a.data(), {n, 5}), array(a.data(), {5, n})}, {array(c.data(), {n, n})});
  };
  CHECK(error_of(3) == "");
  stop = true;
  CHECK(error_of(5) == "interrupted");
  stop = false;
  const auto before = files_in(*options.cache);
  for (const int64_t n : {5, 7, 11}) CHECK(error_of(n) == "");
  // One for all of them.
  CHECK(files_in(*options.cache) == before + 1);
}

TEST_CASE("what a search in the background finds is called from then on") {
  const Sandbox box;
  auto options = handle_options(box);
  // A default that is far from the best: a copy that is transposed, and a budget that finds something else.
  options.background_seconds = 6;
  const auto program =
      tc::parse("def t(float(N,M) A) -> (O) { O(m,n) = A(n,m) * 2.0 }").front().bind({{"N", 509}, {"M", 1021}});
  const auto kernel = compiled(program, options);
  std::vector<float> a = floats(509 * 1021, 7), o(a.size());
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(40);
  while (std::chrono::steady_clock::now() < end && kernel.schedule() == engine::Schedule::Default) {
    call(kernel, {array(a.data(), {509, 1021})}, {array(o.data(), {1021, 509})});
    CHECK(o[509 * 3 + 5] == 2 * a[5 * 1021 + 3]);
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  call(kernel, {array(a.data(), {509, 1021})}, {array(o.data(), {1021, 509})});
  CHECK(o[509 * 3 + 5] == 2 * a[5 * 1021 + 3]);
  CHECK(std::filesystem::exists(options.database));
}

TEST_CASE("a handle works after fork, and where no process may be started says so") {
  const Sandbox box;
  auto options = handle_options(box);
  options.threads = 2;
  const auto program = tc::parse(kMatmul).front();
  const auto kernel = compiled(program, options);
  const auto a = floats(64 * 64, 7), b = floats(64 * 64, 5);
  std::vector<float> c(64 * 64);
  const std::vector inputs{array(a.data(), {64, 64}), array(b.data(), {64, 64})};
  const std::vector outputs{array(c.data(), {64, 64})};
  call(kernel, inputs, outputs);
  const auto expected = c;
  const auto exit_code_of = [](const std::function<int()>& work) {
    const pid_t child = fork();
    if (child == 0) _exit(work());
    int status = -1;
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  };
  CHECK(exit_code_of([&] {
          std::fill(c.begin(), c.end(), 0);
          return kernel(inputs, outputs) && c == expected ? 0 : 1;
        }) == 0);
  CHECK(exit_code_of([&] {
          // execve, execveat: not permitted.
          sock_filter filter[] = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
                                  BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_execve, 1, 0),
                                  BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_execveat, 0, 1),
                                  BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
                                  BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
          const sock_fprog rules{std::size(filter), filter};
          if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &rules) != 0)
            return 2;
          if (!kernel(inputs, outputs)) return 3;  // it is here
          if (call_error(kernel, {array(a.data(), {2, 3}, {3, 1}), array(b.data(), {3, 5})},
                         {array(c.data(), {2, 5})}) != "cannot-start")
            return 4;
          return !compiled(program, options)(inputs, outputs) ? 5 : 0;  // in the cache
        }) == 0);
}

TEST_CASE("C calls programs, kernels and einsums") {
  const Sandbox box;
  CHECK(c_caller(TILE_TUNE_BINARY, box.path("kernels").string().c_str()) == 0);
}
