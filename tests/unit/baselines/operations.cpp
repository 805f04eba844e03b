// What libraries' operations programs are read as.
#include "search/baselines/operations.h"

#include <tile_tune/edsl.h>

#include <catch2/catch.hpp>

#include "frontend/einsum/einsum.h"
#include "frontend/ir/canonical.h"
#include "frontend/tc/parse.h"
#include "search/baselines/baseline_source.h"

namespace tile_tune::search {
namespace {

ir::Program tc(const std::string& text, const ir::Sizes& sizes) {
  const auto parsed = tc::parse(text, "test.tc");
  REQUIRE(parsed.has_value());
  const auto bound = ir::bind(parsed->programs.at(0), sizes);
  REQUIRE(bound.has_value());
  return ir::canonicalize(*bound);
}

ir::Program einsum(const std::string& text, const ir::Sizes& sizes) {
  const auto parsed = einsum::parse(text);
  REQUIRE(parsed.has_value());
  const auto made = einsum::make_program(*parsed);
  REQUIRE(made.has_value());
  const auto bound = ir::bind(made->program, sizes);
  REQUIRE(bound.has_value());
  return ir::canonicalize(*bound);
}

template <typename Operation>
Operation only(const ir::Program& program) {
  const auto steps = steps_of(program);
  REQUIRE(steps.size() == 1);
  REQUIRE(std::holds_alternative<Operation>(steps[0].operation));
  return std::get<Operation>(steps[0].operation);
}

using Axes = std::vector<Axis>;

TEST_CASE("a batch of products with a transposed operand keeps its axes apart") {
  const auto product = only<Product>(einsum("bnm,bkm->bnk", {{"b", 5}, {"n", 3}, {"m", 7}, {"k", 2}}));
  CHECK(product.batch == Axes{{5, 21, 14, 6}});
  CHECK(product.m == Axes{{3, 7, 0, 2}});
  CHECK(product.n == Axes{{2, 0, 7, 1}});
  CHECK(product.k == Axes{{7, 1, 1, 0}});
}

TEST_CASE("axes that lie next to each other everywhere are one") {
  const auto product =
      only<Product>(einsum("abcd,cdef->abef", {{"a", 2}, {"b", 3}, {"c", 4}, {"d", 5}, {"e", 6}, {"f", 7}}));
  CHECK(product.batch.empty());
  CHECK(product.m == Axes{{6, 20, 0, 42}});
  CHECK(product.k == Axes{{20, 1, 42, 0}});
  CHECK(product.n == Axes{{42, 0, 1, 1}});
}

TEST_CASE("axes that lie in another order in the result stay apart") {
  const auto product = only<Product>(einsum("adb,cd->cba", {{"a", 5}, {"b", 3}, {"c", 4}, {"d", 7}}));
  const bool large_first = product.m.size() == 2;
  CHECK(product.k == (large_first ? Axes{{7, 3, 1, 0}} : Axes{{7, 1, 3, 0}}));
  CHECK((large_first ? product.m : product.n).size() == 2);
  CHECK((large_first ? product.n : product.m).size() == 1);
}

TEST_CASE("an axis of one element is nobody's") {
  const auto product = only<Product>(einsum("ik,kj->ij", {{"i", 1}, {"k", 9}, {"j", 4}}));
  CHECK(product.m.empty());
  CHECK(product.n == Axes{{4, 0, 1, 1}});
}

TEST_CASE("a diagonal, a label that one operand sums alone and an in/out result are no library's product") {
  CHECK(std::holds_alternative<Nest>(steps_of(einsum("ii,ij->j", {{"i", 3}, {"j", 4}}))[0].operation));
  CHECK(std::holds_alternative<Nest>(steps_of(tc(
      "def f(float(M,K) A, float(K,N) B) -> (C) { C(m,n) += A(m,k) * B(k,n) }", {{"M", 3}, {"K", 4}, {"N", 5}}))[0]
                                         .operation));
}

edsl::Tensor padded(const edsl::Tensor& I, const edsl::Tensor& W) {
  using namespace edsl;
  TensorDim N, G, C, H, X, F, KH, KW;
  TensorIndex n, g, f, c, y, x, i, j;
  I.bind_dims(N, G, C, H, X);
  W.bind_dims(G, F, C, KH, KW);
  auto O = TensorOutput(N, G, F, TensorDim(5), TensorDim(4));
  O(n, g, f, y, x) += I(n, g, c, 2 * y + 3 * i - 2, 2 * x + 3 * j - 2) * W(g, f, c, i, j);
  return O;
}

TEST_CASE("a padded, strided, dilated, grouped convolution with bias and relu is one step") {
  using namespace edsl;
  const auto I = Placeholder(DType::F32, {2, 3, 4, 11, 9}, "I"), W = Placeholder(DType::F32, {3, 2, 4, 3, 2}, "W"),
             B = Placeholder(DType::F32, {3, 2, 1, 1}, "B");
  const auto program = ir::canonicalize(edsl::Program("conv", {I, W, B}, {{"O", relu(padded(I, W) + B)}}).ir());
  const auto steps = steps_of(program);
  REQUIRE(steps.size() == 1);
  const auto& convolution = std::get<Convolution>(steps[0].operation);
  CHECK(convolution.batch == Axis{2, 1188, 0, 120});
  CHECK(convolution.groups == Axis{3, 396, 48, 40});
  CHECK(convolution.features == Axis{2, 0, 24, 20});
  CHECK(convolution.channels == Axis{4, 99, 6, 0});
  REQUIRE(convolution.windows.size() == 2);
  // Rows: the last position is 2*4 + 3*2 - 2 = 12 of 11 elements.
  CHECK(convolution.windows[0] == Window{11, 3, 5, 2, 3, 2, 2, 9, 2, 4});
  CHECK(convolution.windows[1] == Window{9, 2, 4, 2, 3, 2, 0, 1, 1, 1});
  CHECK(program.tensors[steps[0].epilogue.bias].name == "B");
  CHECK(steps[0].epilogue.bias_n == std::vector<int64_t>{2, 1});
  CHECK(steps[0].epilogue.relu);
  CHECK(steps[0].target == program.outputs[0]);
}

TEST_CASE("an image that is read beyond what padding skips is no convolution") {
  // Rows of four by 2*h + kh with h < 2 and kh < 2 cover it; the constraint on w is none that keeps inside.
  using namespace edsl;
  const auto I = Placeholder(DType::F32, {9}, "I"), W = Placeholder(DType::F32, {3}, "W");
  TensorIndex x, k;
  auto O = TensorOutput(TensorDim(7));
  O.add_constraint(x - k < TensorDim(5));
  O(x) += I(x + k) * W(k);
  const auto steps = steps_of(ir::canonicalize(edsl::Program("conv", {I, W}, {{"O", O}}).ir()));
  CHECK(std::holds_alternative<Nest>(steps[0].operation));
}

TEST_CASE("windows of one element that move in steps, and rows that no window slides along, are windows") {
  const auto steps = only<Convolution>(
      tc("def f(float(N,C,H,W) I, float(F,C) K) -> (O) { O(n,f,y,x) +=! I(n,c,2*y,3*x) * K(f,c) where y in 0:4, x in "
         "0:5 }",
         {{"N", 2}, {"C", 6}, {"H", 7}, {"W", 13}, {"F", 9}}));
  CHECK(steps.batch == Axis{2, 546, 0, 180});
  CHECK(steps.channels == Axis{6, 91, 1, 0});
  CHECK(steps.features == Axis{9, 0, 6, 20});
  REQUIRE(steps.windows.size() == 2);
  CHECK(steps.windows[0] == Window{7, 1, 4, 2, 1, 0, 0, 13, 1, 5});
  CHECK(steps.windows[1] == Window{13, 1, 5, 3, 1, 0, 0, 1, 1, 1});
  const auto rows =
      only<Convolution>(tc("def f(float(N,C,H,W) I, float(F,C,L) K) -> (O) { O(n,f,y,x) +=! I(n,c,y,x+l) * K(f,c,l) }",
                           {{"N", 2}, {"C", 6}, {"H", 8}, {"W", 13}, {"F", 9}, {"L", 7}}));
  CHECK(rows.batch == Axis{2, 624, 0, 504});
  REQUIRE(rows.windows.size() == 2);
  CHECK(rows.windows[0] == Window{8, 1, 8, 1, 1, 0, 0, 13, 1, 7});
  CHECK(rows.windows[1] == Window{13, 7, 7, 1, 1, 0, 0, 1, 1, 1});
  const auto pool =
      only<Pooling>(tc("def f(float(N,C,H,W) I) -> (O) { O(n,c,y,x) max=! I(n,c,y,2*x+k) where k in 0:3 }",
                       {{"N", 2}, {"C", 6}, {"H", 8}, {"W", 13}}));
  CHECK(pool.batch.extent == 2);
  CHECK(pool.channels.extent == 6);
  REQUIRE(pool.windows.size() == 2);
  CHECK(pool.windows[0] == Window{8, 1, 8, 1, 1, 0, 0, 13, 1, 6});
}

TEST_CASE("pooling is the mean or the maximum of a window") {
  const std::string head = "def pool(float(N,C,H,W) I) -> (O) { O(n,c,h,w) ";
  const std::string tail = " where kh in 0:2, kw in 0:3 }";
  const ir::Sizes sizes{{"N", 2}, {"C", 3}, {"H", 8}, {"W", 10}};
  const auto mean = only<Pooling>(tc(head + "+=! I(n,c,2*h+kh,3*w+kw) / 6" + tail, sizes));
  CHECK(mean.is_mean);
  CHECK(mean.batch == Axis{2, 240, 0, 36});
  CHECK(mean.channels == Axis{3, 80, 0, 12});
  CHECK(mean.windows[1] == Window{10, 3, 3, 3, 1, 0, 0, 1, 0, 1});
  CHECK_FALSE(only<Pooling>(tc(head + "max=! I(n,c,2*h+kh,3*w+kw)" + tail, sizes)).is_mean);
  CHECK(std::holds_alternative<Nest>(steps_of(tc(head + "+=! I(n,c,2*h+kh,3*w+kw) / 4" + tail, sizes))[0].operation));
}

TEST_CASE("the softmax of an axis is one step, with another denominator it is not") {
  const std::string head =
      "def s(float(M,N) X) -> (O) { m(i) max=! X(i,j) e(i,j) = exp(X(i,j) - m(i)) z(i) +=! e(i,j) O(i,j) = e(i,j) / ";
  const auto softmax = only<Softmax>(tc(head + "z(i) }", {{"M", 3}, {"N", 5}}));
  CHECK(softmax.rows == Axes{{3, 5, 0, 5}});
  CHECK(softmax.along == Axis{5, 1, 0, 1});
  CHECK(steps_of(tc(head + "m(i) }", {{"M", 3}, {"N", 5}})).size() == 4);
}

TEST_CASE("a running sum is a scan, one that leaves out its own element is not") {
  using namespace edsl;
  const auto scan = [](int64_t bound) {
    const auto I = Placeholder(DType::F32, {9}, "I");
    TensorIndex i, k;
    auto O = TensorOutput(TensorDim(9));
    O.add_constraint(i - k < TensorDim(bound));
    O(i) += I(k);
    return steps_of(ir::canonicalize(edsl::Program("scan", {I}, {{"O", O}}).ir()))[0];
  };
  REQUIRE(std::holds_alternative<Scan>(scan(9).operation));
  CHECK(std::get<Scan>(scan(9).operation).axis == Axis{9, 1, 0, 1});
  CHECK(std::holds_alternative<Nest>(scan(8).operation));
}

TEST_CASE("a permutation and a reduction keep their strides") {
  const auto permutation = only<Permutation>(einsum("ijk->kij", {{"i", 2}, {"j", 3}, {"k", 5}}));
  CHECK(permutation.axes == Axes{{6, 5, 0, 1}, {5, 1, 0, 6}});
  const auto reduction = only<Reduction>(tc("def f(float(M,N) X) -> (O) { O(j) max=! X(i,j) }", {{"M", 4}, {"N", 3}}));
  CHECK(reduction.kept == Axes{{3, 1, 0, 1}});
  CHECK(reduction.reduced == Axes{{4, 3, 0, 0}});
}

TEST_CASE("a library that has none of the operations takes no part") {
  const auto lookup = tc("def f(float(E,D) T, int32(B,L) I) -> (O) { O(b,d) +=! T(I(b,l),d) }",
                         {{"E", 9}, {"D", 4}, {"B", 2}, {"L", 3}});
  CHECK_FALSE(has_operation(steps_of(lookup)));
  for (const auto baseline : kBaselines)
    CHECK(baseline_source(baseline, lookup, {}, 2, "/nowhere").has_value() == (baseline == Baseline::OpenMp));
  const auto product = einsum("ik,kj->ij", {{"i", 4}, {"k", 5}, {"j", 6}});
  CHECK_FALSE(baseline_source(Baseline::OneDnnPacked, product, {}, 2, "").has_value());
  CHECK(baseline_source(Baseline::OneDnnPacked, product, {1}, 2, "").has_value());
}

TEST_CASE("fetched libraries take part where their folder is known, each with an adapter of its own") {
  const auto product = einsum("ik,kj->ij", {{"i", 4}, {"k", 5}, {"j", 6}});
  std::set<std::string> adapters, names;
  for (const auto baseline : kBaselines) {
    names.insert(kind_of(baseline).name);
    if (!kind_of(baseline).is_fetched) continue;
    CHECK_FALSE(baseline_source(baseline, product, {1}, 2, "").has_value());
    const auto source = baseline_source(baseline, product, {1}, 2, "/some/where");
    REQUIRE(source.has_value());
    CHECK(baseline_source(baseline, product, {1}, 1, "/some/where").has_value() !=
          kind_of(baseline).has_one_thread_more);
    std::string flags;
    for (const auto& flag : source->flags) flags += flag;
    for (const auto& adapter : source->adapters)
      for (const auto& flag : adapter.flags) flags += flag;
    CHECK(flags.find("/some/where/lib") != std::string::npos);
    adapters.insert(source->adapters.at(1).name);
  }
  CHECK(names.size() == std::size(kBaselines));
  CHECK(adapters == std::set<std::string>{"mkl.cpp", "onednn-gomp.cpp", "onednn-sycl.cpp", "scipy-openblas.cpp"});
}

}  // namespace
}  // namespace tile_tune::search
