#include "tests/property/plan/random_sums.h"

#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <random>
#include <set>

#include "frontend/ir/canonical.h"
#include "frontend/ir/validate.h"
#include "frontend/plan/factoring.h"
#include "frontend/reference/reference.h"
#include "frontend/tc/parse.h"
#include "search/space/space.h"
#include "tests/property/codegen/kernel_check.h"

namespace tile_tune::test {

namespace {

const std::string kIndices = "ijklm";
constexpr const char* kTypes[] = {"float", "float", "double", "half", "bfloat16", "int8", "uint8", "int32", "uint32"};

/// The TC text of one def with sizes I, J, K, L, M and one, N, that is larger than two of them.
class Text {
 public:
  explicit Text(uint64_t seed) : engine_(seed), type_(kTypes[below(std::size(kTypes))]) {}

  std::string make() {
    std::vector<std::string> factors;
    for (size_t n = 2 + below(4); n > 0; --n) factors.push_back(factor());
    // Every index has a tensor to itself in one place: then its range is known.
    for (const char index : indices_) factors.push_back(read(std::string(1, index)));
    std::shuffle(factors.begin(), factors.end(), engine_);
    std::string product = finished(grouped(factors));
    std::string left;
    for (const char index : indices_)
      if (below(2) == 0) left += (left.empty() ? "" : ",") + std::string(1, index);
    const bool continues = below(4) == 0;
    std::string where;
    for (const char index : indices_)
      if (left.find(index) == std::string::npos && below(6) == 0)
        where += fmt::format("{} {} in 1:{}", where.empty() ? " where" : ",", index, static_cast<char>(index - 32));
    if (widens()) product = fmt::format("double({})", product);
    const std::string target = left.empty() ? "O" : fmt::format("O({})", left);
    return fmt::format("def f({}) -> (O) {{ {} {} {}{} }}", parameters_, target, continues ? "+=" : "+=!", product,
                       where);
  }

 private:
  size_t below(size_t count) { return engine_() % count; }

  /// Whether a product of floats is cast to a wider one.
  bool widens() { return type_.find("int") == std::string::npos && below(5) == 0; }

  std::string tensor(const std::string& dims) {
    const std::string name = fmt::format("A{}", tensors_++);
    std::string extents;
    for (const char index : dims)
      extents += (extents.empty() ? "" : ",") + std::string(1, static_cast<char>(index - 32));
    parameters_ += fmt::format("{}{}{} {}", parameters_.empty() ? "" : ", ", type_,
                               extents.empty() ? "" : "(" + extents + ")", name);
    return name;
  }

  std::string read(const std::string& dims) {
    indices_.insert(dims.begin(), dims.end());
    std::string subscripts;
    for (const char index : dims) subscripts += (subscripts.empty() ? "" : ",") + std::string(1, index);
    const std::string name =
        !again_.empty() && again_.front().second == dims && below(2) == 0 ? again_.front().first : tensor(dims);
    again_ = {{name, dims}};
    return dims.empty() ? name : fmt::format("{}({})", name, subscripts);
  }

  std::string factor() {
    std::string dims;
    for (size_t n = 1 + below(3); n > 0; --n) dims += kIndices[below(kIndices.size())];
    switch (below(10)) {
      case 0:
        return "2";
      case 1:
        return read("");
      case 2:  // a condition on an index
        indices_.insert(dims[0]);
        return fmt::format("({} > 1 ? {} : {})", dims[0], read(dims), read(dims));
      case 3:
        return fmt::format("({} + {})", read(dims), read(dims));
      case 4: {  // another subscript than a plain index
        const char other = kIndices[below(kIndices.size())];
        indices_.insert({dims[0], other});
        const std::string name = fmt::format("A{}", tensors_++);
        parameters_ += fmt::format("{}{}(N) {}", parameters_.empty() ? "" : ", ", type_, name);
        return fmt::format("{}({} + {})", name, dims[0], other);
      }
      default:
        return read(dims);
    }
  }

  /// With a sign or a divisor: a number, or a tensor over what the product has already.
  std::string finished(std::string product) {
    if (below(6) == 0) product = fmt::format("-({})", product);
    if (below(4) != 0) return product;
    if (below(3) == 0) return product + " / 3";
    std::string dims;
    for (const char index : indices_)
      if (below(3) == 0 && dims.size() < 2) dims += index;
    return product + " / " + read(dims);
  }

  std::string grouped(std::vector<std::string> factors) {
    while (factors.size() > 2 && below(3) == 0) {
      const size_t first = below(factors.size() - 1), count = 2 + below(factors.size() - first - 1);
      std::string group = factors[first];
      for (size_t i = 1; i < count; ++i) group += "*" + factors[first + i];
      factors[first] = (widens() ? "double(" : "(") + group + ")";
      factors.erase(factors.begin() + static_cast<std::ptrdiff_t>(first + 1),
                    factors.begin() + static_cast<std::ptrdiff_t>(first + count));
    }
    std::string text = factors.front();
    for (size_t i = 1; i < factors.size(); ++i) text += "*" + factors[i];
    return text;
  }

  std::mt19937_64 engine_;
  std::string type_, parameters_;
  int tensors_ = 0;
  std::set<char> indices_;
  std::vector<std::pair<std::string, std::string>> again_;  // the tensor read last, and with what
};

ir::Program bound_at_random(const std::string& text, uint64_t seed) {
  const auto parsed = tc::parse(text, "test.tc");
  if (!parsed) FAIL(render(parsed.error()));
  const auto& program = parsed->programs.front();
  std::mt19937_64 engine(seed);
  ir::Sizes sizes;
  for (const auto& name : program.sizes) sizes[name] = name == "N" ? 14 : 2 + static_cast<int64_t>(engine() % 5);
  const auto bound = ir::bind(program, sizes);
  if (!bound) FAIL(render(bound.error()));
  return ir::canonicalize(*bound);
}

void judge_values(const ir::Program& written, const ir::Program& steps) {
  const auto inputs = reference::random_inputs(written, 5);
  const auto expected = reference::evaluate(written, inputs), got = reference::evaluate(steps, inputs);
  REQUIRE(expected);
  if (!got) FAIL(render(got.error()));
  for (size_t i = 0; i < expected->size(); ++i)
    CHECK(reference::compare((*expected)[i], reference::to_array(steps, (*got)[i])).worst <= 1);
}

void judge_kernel(const ir::Program& written, const ir::Program& steps) {
  const auto target = host(2);
  auto problem = search::make_problem(steps, 7, &written);
  REQUIRE(problem);
  KernelCheck check(std::move(*problem), target);
  check.expect_right(search::Space(steps, target).default_schedule());
}

}  // namespace

void judge_random_sums(uint64_t seed, int count, int kernels) {
  int in_steps = 0;
  for (int run = 0; run < count; ++run) {
    const std::string text = Text(seed + static_cast<uint64_t>(run)).make();
    INFO(text);
    const auto program = bound_at_random(text, seed + static_cast<uint64_t>(run));
    const auto path = plan::best_path(program, [](double flops, double) { return flops; });
    if (path.empty()) continue;
    ++in_steps;
    INFO(plan::path_words(program, path));
    const auto parsed = plan::parse_path(plan::path_text(path));
    REQUIRE(parsed);
    const auto factored = plan::factored(program, *parsed);
    if (!factored) FAIL(render(factored.error()));
    REQUIRE(ir::validate(*factored));
    REQUIRE(ir::bind(*factored, {}));
    CHECK(ir::flops(*factored) < ir::flops(program));
    const auto steps = ir::canonicalize(*factored);
    judge_values(program, *factored);
    if (in_steps <= kernels) judge_kernel(program, steps);
  }
  CHECK(in_steps > count / 3);
}

}  // namespace tile_tune::test
