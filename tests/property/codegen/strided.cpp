#include "tests/property/codegen/strided.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <numeric>
#include <random>

#include "search/space/space.h"
#include "tests/property/codegen/kernel_check.h"

namespace tile_tune::test {
namespace {

using ir::Role;
using ir::Storage;
using ir::Stride;

const std::vector<StridedCase> kCases{
    {"product",
     "def f(float(M,K) A, float(K,N) B) -> (C) { C(m,n) +=! A(m,k) * B(k,n) }",
     {{"M", 21}, {"N", 37}, {"K", 19}}},
    {"product onto the caller's values",
     "def f(double(M,K) A, double(N,K) B) -> (C) { C(m,n) += A(m,k) * B(n,k) }",
     {{"M", 13}, {"N", 24}, {"K", 17}}},
    {"product of bytes",
     "def f(uint8(M,K) A, int8(K,N) B) -> (C) { C(m,n) +=! A(m,k) * B(k,n) }",
     {{"M", 9}, {"N", 35}, {"K", 16}}},
    {"batched product, bias and limits",
     "def f(float(B,M,K) X, float(B,K,N) Y, float(N) c) -> (O) { C(b,m,n) +=! X(b,m,k) * Y(b,k,n)  "
     "O(b,m,n) = fmax(C(b,m,n) + c(n), 0) }",
     {{"B", 3}, {"M", 11}, {"N", 29}, {"K", 7}}},
    {"convolution",
     "def f(float(C,H,W) I, float(F,C,KH,KW) V) -> (O) { O(f,h,w) +=! I(c,h+kh,w+kw) * V(f,c,kh,kw) }",
     {{"C", 3}, {"F", 5}, {"H", 11}, {"W", 19}, {"KH", 3}, {"KW", 3}}},
    {"sums of rows and of all",
     "def f(float(M,N) A) -> (r, s) { r(i) +=! A(i,j)  s +=! A(i,j) }",
     {{"M", 31}, {"N", 53}}},
    {"a permutation", "def f(int16(A,B,C) X) -> (O) { O(c,a,b) = X(a,b,c) }", {{"A", 7}, {"B", 12}, {"C", 17}}},
    {"a gather", "def f(float(V,D) T, int32(N) I) -> (O) { O(n,d) = T(I(n),d) }", {{"V", 9}, {"D", 21}, {"N", 13}}},
    {"unit extents",
     "def f(float(M,K) A, float(K,N) B) -> (C) { C(m,n) +=! A(m,k) * B(k,n) }",
     {{"M", 1}, {"N", 23}, {"K", 1}}},
    {"no terms",
     "def f(float(M,K) A, float(K,N) B) -> (C) { C(m,n) +=! A(m,k) * B(k,n) }",
     {{"M", 5}, {"N", 9}, {"K", 0}}},
    {"product of halves",
     "def f(float16(M,K) A, float16(K,N) B) -> (C) { C(m,n) +=! A(m,k) * B(k,n) }",
     {{"M", 11}, {"N", 33}, {"K", 14}}},
    {"product of signed bytes, from rows of both",
     "def f(int8(M,K) A, int8(N,K) B) -> (C) { C(m,n) +=! A(m,k) * B(n,k) }",
     {{"M", 7}, {"N", 18}, {"K", 33}}},
    {"softmax",
     "def f(float(M,N) X) -> (m, E, s, O) { m(i) max=! X(i,j)  E(i,j) = exp(X(i,j) - m(i))  s(i) +=! E(i,j)  "
     "O(i,j) = E(i,j) / s(i) }",
     {{"M", 6}, {"N", 27}}},
};

class Draw {
 public:
  explicit Draw(uint64_t seed) : engine_(seed) {}

  int64_t below(int64_t count) { return static_cast<int64_t>(engine_() % static_cast<uint64_t>(count)); }
  bool once_in(int64_t count) { return below(count) == 0; }

  /// Dimensions in any order, with gaps, either way around; of inputs also repeated or overlapping ones.
  Storage storage(const ir::Tensor& tensor) {
    const auto extents = ir::shape(tensor);
    if (extents.empty() || once_in(6)) return once_in(2) ? Storage::row() : Storage::col();
    std::vector<int> order(extents.size());
    std::iota(order.begin(), order.end(), 0);
    std::shuffle(order.begin(), order.end(), engine_);
    std::vector<Stride> strides(extents.size());
    int64_t next = once_in(4) ? 2 : 1;
    for (const int d : order) {
      const auto own = static_cast<size_t>(d);
      strides[own] = once_in(3) ? -next : next;
      if (tensor.role == Role::Input && once_in(5)) {
        strides[own] = int64_t{0};
      } else if (tensor.role != Role::Input || !once_in(5)) {  // else the next one overlaps this one
        next = next * extents[own] + (once_in(2) ? 0 : 1 + below(5));
      }
    }
    return Storage::strided(std::move(strides));
  }

 private:
  std::mt19937_64 engine_;
};

ir::Program with_storage(ir::Program program, Draw& draw) {
  for (auto& tensor : program.tensors) {
    if (tensor.role == Role::Temporary || tensor.role == Role::InOut) continue;
    tensor.storage = draw.storage(tensor);
    for (auto& initial : program.tensors)
      if (initial.role == Role::InOut && initial.name == tensor.name && tensor.role == Role::Output)
        initial.storage = tensor.storage;
  }
  return ir::bind(program, {}).value();
}

/// The class of a storage: strides other than 0 and 1 are the buffer's, in the order that they have.
Storage class_of(const Storage& storage) {
  if (storage.is_compact()) return storage;
  auto strides = storage.strides();
  for (auto& stride : strides)
    if (stride != Stride{0} && stride != Stride{1}) stride = ir::FromBuffer();
  return Storage::strided(std::move(strides), storage.order(storage.strides().size()));
}

}  // namespace

const std::vector<StridedCase>& strided_cases() { return kCases; }

std::string storage_text(const ir::Program& program) {
  std::string text;
  for (const auto& tensor : program.tensors) text += tensor.name + "=" + ir::to_text(tensor.storage) + " ";
  return text;
}

std::vector<codegen::Schedule> schedules_of(const ir::Program& program, uint64_t seed, int count) {
  const search::Space space(program, host(2));
  search::Rng rng(seed);
  std::vector<codegen::Schedule> schedules{space.default_schedule()};
  while (static_cast<int>(schedules.size()) < count) schedules.push_back(space.sample(rng).schedule);
  return schedules;
}

void check_drawn_storage(const std::string& name, const ir::Program& plain, uint64_t seed) {
  Draw draw(seed);
  const auto program = with_storage(plain, draw);
  auto by_class = program;
  for (auto& tensor : by_class.tensors) tensor.storage = class_of(tensor.storage);
  CAPTURE(name, seed, storage_text(program), storage_text(by_class));
  KernelCheck check(program);
  for (const auto& schedule : schedules_of(program, seed, 2)) check.expect_right(schedule);
  for (const auto& schedule : schedules_of(by_class, seed, 2)) check.expect_right(schedule, by_class);
}

}  // namespace tile_tune::test
