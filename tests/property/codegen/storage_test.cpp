// Kernels compute what the reference does wherever the elements of their arguments lie: transposed, padded, reversed,
// repeated and overlapping inputs, outputs with gaps, with strides in the kernel and strides from the buffer.
#include <algorithm>
#include <catch2/catch.hpp>
#include <numeric>
#include <random>

#include "frontend/einsum/einsum.h"
#include "frontend/ir/canonical.h"
#include "search/space/space.h"
#include "tests/property/codegen/kernel_check.h"

namespace tile_tune {
namespace {

using ir::Role;
using ir::Storage;
using ir::Stride;

struct Case {
  std::string name, text;
  ir::Sizes sizes;
};

const std::vector<Case> kCases{
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

std::string text(const ir::Program& program) {
  std::string text;
  for (const auto& tensor : program.tensors) text += tensor.name + "=" + ir::to_text(tensor.storage) + " ";
  return text;
}

std::vector<codegen::Schedule> schedules_of(const ir::Program& program, uint64_t seed, int count) {
  const search::Space space(program, test::host(2));
  search::Rng rng(seed);
  std::vector<codegen::Schedule> schedules{space.default_schedule()};
  while (static_cast<int>(schedules.size()) < count) schedules.push_back(space.sample(rng).schedule);
  return schedules;
}

void check_storages(const std::string& name, const ir::Program& plain, uint64_t seed) {
  Draw draw(seed);
  const auto program = with_storage(plain, draw);
  auto by_class = program;
  for (auto& tensor : by_class.tensors) tensor.storage = class_of(tensor.storage);
  CAPTURE(name, seed, text(program), text(by_class));
  test::KernelCheck check(program);
  for (const auto& schedule : schedules_of(program, seed, 2)) check.expect_right(schedule);
  for (const auto& schedule : schedules_of(by_class, seed, 2)) check.expect_right(schedule, by_class);
}

TEST_CASE("kernels for given strides, and for those of the buffer") {
  for (size_t number = 0; number < kCases.size(); ++number) {
    const auto& [name, source, sizes] = kCases[number];
    const auto plain = test::bound_program(source, sizes);
    for (uint64_t seed = 0; seed < 3; ++seed) check_storages(name, plain, 100 * number + seed);
  }
}

TEST_CASE("complex numbers, whose parts stay side by side, and diagonals") {
  const auto check = [](const char* subscripts, DType type, const std::vector<std::vector<int64_t>>& shapes) {
    einsum::Known known;
    for (const auto& shape : shapes) known.operands.push_back({type, shape});
    const auto made = einsum::make_program(einsum::parse(subscripts).value(), known).value();
    const auto plain = ir::canonicalize(ir::bind(made.program, made.sizes).value());
    for (uint64_t seed = 0; seed < 3; ++seed) check_storages(subscripts, plain, seed);
  };
  check("ij,jk->ik", DType::C32, {{7, 13}, {13, 11}});
  check("ij->ji", DType::C64, {{5, 9}});
  check("i->ii", DType::F32, {{19}});
  check("iji->j", DType::F32, {{6, 21, 6}});
  check("ij,k->ikij", DType::F64, {{3, 5}, {4}});
}

TEST_CASE("a constant with strides is packed, or taken as it is") {
  auto program = test::bound_program(kCases[0].text, kCases[0].sizes);
  for (auto& tensor : program.tensors)
    if (tensor.name == "B") tensor.constant = true;
  for (const auto& strides : {std::vector<Stride>{-1, -23}, {90, 2}, {0, 1}, {1, 1}}) {
    for (auto& tensor : program.tensors)
      if (tensor.name == "B") tensor.storage = Storage::strided(strides);
    const auto bound = ir::bind(program, {}).value();
    CAPTURE(text(bound));
    test::KernelCheck check(bound);
    for (const auto& schedule : schedules_of(bound, 7, 3)) check.expect_right(schedule);
  }
}

TEST_CASE("a kernel that writes between an output's elements is wrong") {
  auto program = test::bound_program("def f(float(N) A) -> (O) { O(i) = A(i) * 2 }", {{"N", 33}});
  auto spread = program;
  for (auto& tensor : spread.tensors)
    if (tensor.role == Role::Output) tensor.storage = Storage::strided({2});
  // Of a kernel for any stride but the memory's: all elements side by side.
  auto wrong = spread;
  for (auto& tensor : wrong.tensors)
    if (tensor.role == Role::Output) tensor.storage = Storage::strided({3});
  const auto schedule = schedules_of(program, 1, 1).front();
  test::KernelCheck check(spread);
  check.expect_right(schedule, spread);
  const auto result = check(schedule, wrong);
  CHECK(result.verdict.outcome == search::Outcome::RunError);  // the kernel compares strides, too
}

}  // namespace
}  // namespace tile_tune
