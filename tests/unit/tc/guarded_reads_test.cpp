// Guarded reads: what they bound, where they must be inside, and what is left out of a sum (docs/meaning.md).
#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>
#include <map>

#include "frontend/ir/canonical.h"
#include "frontend/ir/json.h"
#include "frontend/ir/partial_reductions.h"
#include "frontend/reference/reference.h"
#include "frontend/tc/parse.h"

using namespace tile_tune;

namespace {

const std::string kPadded = R"(
def conv(float(B,C,H,W) x, float(C,KH,KW) w) -> (float(B,C,H,W) o) {
  o(b,c,h,v) +=! (h+kh-1 >= 0 && h+kh-1 < H && v+kw-1 >= 0 && v+kw-1 < W ? x(b,c,h+kh-1,v+kw-1) : 0) * w(c,kh,kw)
    where h in 0:H, v in 0:W
})";
const ir::Sizes kSizes{{"B", 1}, {"C", 2}, {"H", 5}, {"W", 7}, {"KH", 3}, {"KW", 3}};

ir::Program parsed(const std::string& text) {
  auto result = tc::parse(text, "test.tc");
  if (!result) FAIL(render(result.error()));
  return result->programs.at(0);
}

ir::Program bound(const std::string& text, const ir::Sizes& sizes) {
  auto result = ir::bind(parsed(text), sizes);
  if (!result) FAIL(render(result.error()));
  return *result;
}

std::string error_of(const std::string& text, const ir::Sizes& sizes) {
  const auto program = tc::parse(text, "test.tc");
  if (!program) return program.error().code + ": " + program.error().message;
  const auto result = ir::bind(program->programs.at(0), sizes);
  return result ? "" : result.error().code + ": " + result.error().message;
}

std::vector<double> values(const ir::Program& program, const std::vector<std::vector<float>>& arrays) {
  reference::Inputs inputs;
  for (size_t i = 0; i < arrays.size(); ++i) {
    auto array = tensor::Array::zeros(DType::F32, ir::shape(program.tensors[program.inputs[i]]));
    REQUIRE(array.data.size() == arrays[i].size() * sizeof(float));
    std::memcpy(array.data.data(), arrays[i].data(), array.data.size());
    inputs[program.inputs[i]] = std::move(array);
  }
  const auto expected = reference::evaluate(program, inputs);
  if (!expected) FAIL(render(expected.error()));
  return expected->at(0).values;
}

std::vector<double> computed(const std::string& text, const ir::Sizes& sizes,
                             const std::vector<std::vector<float>>& arrays) {
  const auto program = bound(text, sizes);
  const auto result = values(program, arrays), again = values(ir::canonicalize(program), arrays);
  REQUIRE(result.size() == again.size());
  for (size_t i = 0; i < result.size(); ++i)
    CHECK((result[i] == again[i] || (std::isnan(result[i]) && std::isnan(again[i]))));
  return result;
}

}  // namespace

TEST_CASE("a guarded read bounds what its condition does not mention") {
  const auto program = parsed(kPadded);
  const auto& statement = program.statements.at(0);
  std::map<std::string, std::string> ranges;
  for (const auto& index : statement.indices) ranges[index.name] = index.lo.str() + ":" + index.hi.str();
  CHECK(ranges == std::map<std::string, std::string>{
                      {"b", "0:B"}, {"c", "0:C"}, {"h", "0:H"}, {"v", "0:W"}, {"kh", "0:KH"}, {"kw", "0:KW"}});
  // The conditions are the constraints of Tile's valid indices.
  REQUIRE(statement.constraints.size() == 2);
  for (const auto& constraint : statement.constraints) CHECK(constraint.expr.constant == ir::SizeExpr(-1));
  CHECK(statement.constraints[0].bound == ir::SizeExpr::name("H"));
  CHECK(statement.constraints[1].bound == ir::SizeExpr::name("W"));
}

TEST_CASE("one padded sum in several spellings is one program") {
  const auto hash = ir::content_hash(bound(kPadded, kSizes));
  const auto spelled = [](const std::string& factor) {
    return "def conv(float(B,C,H,W) x, float(C,KH,KW) w) -> (float(B,C,H,W) o) {\n  o(b,c,h,v) +=! " + factor +
           " where h in 0:H, v in 0:W\n}";
  };
  const std::string x = "x(b,c,h+kh-1,v+kw-1)", w = "w(c,kh,kw)";
  for (const auto& factor : {
           "w(c,kh,kw) * (h+kh > 0 && h+kh <= H && v+kw > 0 && v+kw <= W ? " + x + " : 0.0)",
           "(h+kh < 1 || h+kh > H || v+kw < 1 || W < v+kw ? 0 : " + x + ") * " + w,
           "(!(h+kh < 1) && !(h+kh > H || v+kw < 1 || W < v+kw) ? " + x + " : 0) * " + w,
           "(h+kh >= 1 && h+kh <= H ? (v+kw < 1 ? 0 : v+kw > W ? 0 : " + x + ") : 0) * " + w,
       })
    CHECK(ir::content_hash(bound(spelled(factor), kSizes)) == hash);
  // Around the whole term the condition guards the weights, too.
  const auto whole = spelled("select(h+kh >= 1 && h+kh <= H && v+kw-1 >= 0 && v+kw-1 < W, " + x + " * " + w + ", 0)");
  CHECK(error_of(whole, kSizes).starts_with("no-range"));
  const auto given = whole.substr(0, whole.size() - 2) + ", kh in 0:KH, kw in 0:KW\n}";
  CHECK(ir::content_hash(bound(given, kSizes)) == hash);
}

TEST_CASE("terms are left out of a sum where a guarded factor is 0, whatever the weights are") {
  const float inf = INFINITY;
  const auto window = [&](const std::string& condition) {
    return computed(
        "def f(float(N) x, float(K) w) -> (float(N) o) { o(i) +=! (" + condition + ") * w(k) where i in 0:N }",
        {{"N", 4}, {"K", 3}}, {{1, 2, 3, 4}, {10, 1, inf}});
  };
  // The last weight is infinite, and meets no element at the last place.
  const auto last = [](const std::vector<double>& of) { return of.back(); };
  CHECK(last(window("i+k-1 >= 0 && i+k-1 < N ? x(i+k-1) : 0")) == 34);
  CHECK(last(window("i+k < 1 || i+k > N ? 0 : x(i+k-1)")) == 34);
  // A disjunction is no constraint, but leaves out as well: only k = 2 and i = 0 are read.
  const auto either = window("k == 2 && i+1 < N || i == 0 && k > 0 ? x(i+k-1) : 0");
  CHECK(either == std::vector<double>{inf, inf, inf, 0});
  // A number that is not read is a factor like any other.
  CHECK(std::isnan(last(window("k < 2 ? 1 : 0"))));
  // So is what data decide.
  CHECK(
      std::isnan(last(computed("def f(float(N) x, float(N) w) -> (float(N) o) { o(i) +=! (x(i) > 2 ? x(i) : 0) * "
                               "w(k) where i in 0:N }",
                               {{"N", 2}}, {{3, 1}, {1, inf}}))));
}

TEST_CASE("reads need to be inside only where their branch is taken") {
  const ir::Sizes sizes{{"N", 4}};
  const std::vector<std::vector<float>> x{{1, 2, 3, 4}};
  const auto f = [&](const std::string& value) {
    return computed("def f(float(N) x) -> (float(N) o) { o(i) = " + value + " where i in 0:N }", sizes, x);
  };
  using V = std::vector<double>;
  CHECK(f("i == 0 ? x(0) : x(i-1)") == V{1, 1, 2, 3});
  CHECK(f("i+2 < N ? x(i+2) : -x(i-2)") == V{3, 4, -1, -2});
  CHECK(f("(i > 0 ? x(i-1) : 10) + (i != N-1 ? x(i+1) : 20)") == V{12, 4, 6, 23});
  CHECK(f("i < 1 ? 0 : i < 2 ? x(i-1) : x(i-2)") == V{0, 1, 1, 2});
  CHECK(f("(i < 2 ? i > 0 : i > 2) ? x(2*i-i-1) : -1") == V{-1, 1, -1, 3});
  CHECK(f("(i < 2) == (i > 0) ? x(i-1) : -1") == V{-1, 1, -1, -1});
  CHECK(f("select(i >= N/2, x(i - N/2), x(i + N/2))") == V{3, 4, 1, 2});
  CHECK(f("i > 0 && x(i) > 2 ? x(i-1) : 0") == V{0, 0, 2, 3});
  CHECK(f("i > 2 ? x((i+5)/4 + 1) : 0") == V{0, 0, 0, 4});
  CHECK(f("i < i && i > 1 ? x(i-9) : 7") == V{7, 7, 7, 7});
}

TEST_CASE("maxima are padded by what the other branch says") {
  CHECK(computed("def f(float(N) x) -> (float(N) o) { o(i) max=! (i+k >= 1 && i+k <= N ? x(i+k-1) : -1000) where i in "
                 "0:N, k in 0:3 }",
                 {{"N", 3}}, {{-1, -2, -3}}) == std::vector<double>{-1, -1, -2});
  CHECK(computed("def f(float(N) x) -> (float(N) o) { o(i) max=! (i+k >= 1 && i+k <= N ? x(i+k-1) : 0) where i in "
                 "0:N, k in 0:3 }",
                 {{"N", 3}}, {{-1, -2, -3}}) == std::vector<double>{0, -1, 0});
}

TEST_CASE("conditions that do not keep a read inside are errors") {
  const auto f = [](const std::string& value) {
    return error_of("def f(float(N) x, float(N) y) -> (float(N) o) { o(i) = " + value + " where i in 0:N }",
                    {{"N", 5}});
  };
  CHECK(f("i >= 0 && i < N ? x(i-1) : 0") ==
        "out-of-bounds: subscript i - 1 of x runs from -1 to 3, but dimension 0 of x has extent 5");
  CHECK(f("i > 1 ? x(i+1) : 0") ==
        "out-of-bounds: subscript i + 1 of x runs from 3 to 5 where its condition holds, but dimension 0 of x has "
        "extent 5");
  CHECK(f("i > 1 ? 0 : x(i-1)") ==
        "out-of-bounds: subscript i - 1 of x runs from -1 to 0 where its condition holds, but dimension 0 of x has "
        "extent 5");
  CHECK(f("y(i) > 0 ? x(i-1) : 0").starts_with("out-of-bounds: the subscript 'i-1' takes the values -1 to N - 2"));
  CHECK(f("i > 0 || y(i) > 0 ? x(i-1) : 0").starts_with("out-of-bounds: the subscript 'i-1'"));
  CHECK(f("i != 2 ? x(i-1) : 0").starts_with("out-of-bounds: subscript i - 1 of x runs from -1 to 3"));
  CHECK(f("i > 0 ? x((i+9)/2) : 0").starts_with("out-of-bounds: subscript (i + 9) / 2 of x runs from 5 to 6"));
}

TEST_CASE("an index that only guarded reads mention needs a range") {
  CHECK(
      error_of("def f(float(N) x) -> (o) { o(i) = i > 0 && i < N ? x(i-1) : 0 }", {{"N", 5}}).starts_with("no-range"));
}

TEST_CASE("a reduction over part of an operand warns") {
  const auto warnings = [](const std::string& text, const ir::Sizes& sizes) {
    std::vector<std::string> messages;
    for (const auto& warning : ir::partial_reductions(sizes.empty() ? parsed(text) : bound(text, sizes)))
      messages.push_back(warning.message + " | " + warning.note);
    return messages;
  };
  const std::string bare = R"(def conv(float(B,C,H,W) x, float(C,KH,KW) w) -> (float(B,C,H,W) o) {
    o(b,c,h,v) +=! x(b,c,h+kh-1,v+kw-1) * w(c,kh,kw) where h in 0:H, v in 0:W })";
  const auto both = warnings(bare, kSizes);
  REQUIRE(both.size() == 2);
  CHECK(both[0] ==
        "kh takes 1 of the 3 values of dimension 1 of w: its range [1, 2) was inferred so that every read is inside "
        "its tensor | to pad with zeros, write (h + kh - 1 >= 0 && h + kh - 1 < 5 && v + kw - 1 >= 0 && v + kw - 1 < 7 "
        "? x(b,c,h + kh - 1,v + kw - 1) : 0); where only a part is meant, say so: where kh in 1:2");
  // What pads without a trace: not 0 in a product, and no number in a maximum.
  const auto with_operator = [&](const std::string& op) {
    std::string text = bare;
    return warnings(text.replace(text.find("+=!"), 3, op), kSizes)[0];
  };
  CHECK(with_operator("*=!").find("to pad with ones, write (h + kh - 1 >= 0 && ") != std::string::npos);
  CHECK(with_operator("*=!").find(": 1); where only") != std::string::npos);
  CHECK(with_operator("max=!").find("inside its tensor | where only a part is meant, say so: ") != std::string::npos);
  // All that is known without sizes: KH values are more than min(2, KH) - 1.
  CHECK(warnings(bare, {}).size() == 2);
  CHECK(warnings(bare, {})[0].find("h + kh - 1 < H && v + kw - 1 >= 0") != std::string::npos);
  CHECK(warnings(kPadded, kSizes).empty());
  CHECK(warnings(kPadded, {}).empty());
  const auto sum = [&](const std::string& value, const ir::Sizes& sizes) {
    return warnings("def f(float(N) x, float(M) y) -> (float(1) o) { o(i) +=! " + value + " }", sizes).size();
  };
  CHECK(sum("x(k) * y(k)", {{"N", 3}, {"M", 5}}) == 1);
  CHECK(sum("x(k) * y(k)", {{"N", 4}, {"M", 4}}) == 0);
  CHECK(sum("x(k) * y(k)", {}) == 0);
  CHECK(sum("x(k) * y(k) where k in 0:3", {{"N", 3}, {"M", 5}}) == 0);
  CHECK(sum("x(2*k) + y(2*k+1) * 0", {{"N", 6}, {"M", 6}}) == 0);
  CHECK(sum("x(2*k+j) where j in 0:2", {{"N", 7}, {"M", 1}}) == 0);
  CHECK(sum("(k < M ? y(k) : 0) * x(k)", {{"N", 5}, {"M", 3}}) == 0);
}
