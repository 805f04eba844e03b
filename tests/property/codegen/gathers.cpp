#include "gathers.h"

#include <catch2/catch.hpp>
#include <map>
#include <random>

#include "frontend/ir/canonical.h"
#include "frontend/ir/index_checks.h"
#include "frontend/tensor/convert.h"
#include "kernel_check.h"
#include "search/space/checked_schedule.h"
#include "search/space/space.h"

namespace tile_tune::test {

namespace {

class Draft {
 public:
  explicit Draft(int seed) : engine_(static_cast<uint64_t>(seed)) {}

  int below(int count) { return static_cast<int>(engine_() % static_cast<uint64_t>(count)); }

  std::string one_of(std::vector<std::string> choices) {
    return choices[static_cast<size_t>(below(static_cast<int>(choices.size())))];
  }

  /// An integer that may be outside of [0, V).
  std::string index(int depth) {
    switch (below(depth > 0 ? 9 : 6)) {
      case 0:
        return "int32(m(i))";
      case 1:
        return "J(i) - 1";
      case 2:
        return "I(i)";
      case 3:
        return "J(i) + K(" + reduced() + ")";
      case 4:
        return "K(" + reduced() + ") * 2 % 5";
      case 5:
        return "K(" + reduced() + ")";
      case 6:
        return "J(" + index(depth - 1) + ")";
      case 7:
        return condition() + " ? " + index(depth - 1) + " : 0";
      default:
        return "int32(T(" + index(depth - 1) + ") * 4)";
    }
  }

  std::string condition() {
    return "(" + one_of({"c(i) > 0", "i < 4", "!(c(i) > 0.5)", "c(i) > 0 && i > 2", "J(i) < V"}) + ")";
  }

  std::string value(int depth) {
    switch (below(depth > 0 ? 6 : 3)) {
      case 0:
        return "c(i)";
      case 1:
        return "T(" + index(1) + ")";
      case 2:
        return "M(" + index(1) + ", " + one_of({reduced(), index(0)}) + ")";
      case 3:
        return "(" + condition() + " ? " + value(depth - 1) + " : " + value(depth - 1) + ")";
      case 4:
        return "(" + value(depth - 1) + " * " + value(depth - 1) + ")";
      default:
        return "(" + value(depth - 1) + " + " + value(depth - 1) + ")";
    }
  }

  std::string text() {
    const std::string j = one_of({"int8", "uint8", "int16", "int32", "int64", "uint32"});
    const std::string k = one_of({"int32", "int64", "uint64"});
    sums_ = below(2) == 1;
    const std::string first =
        one_of({"I(i) = int32(J(i)) + i - 2 where i in 0:N", "I(i) max=! int32(K(k)) - i where i in 0:N, k in 0:N"});
    std::string o = sums_ ? "O(i) +=! " + value(2) + " + 0 * x(i,k)" : "O(i) = " + value(2);
    const std::string given = "def g(float(V) T, float(V,N) M, " + j + "(N) J, " + k +
                              "(N) K, float(N) m, float(N) c, " + "float(N,N) x) -> (O)";
    // Ranges that reads alone do not tell.
    return given + " { " + first + "  " + o + " where i in 0:N" + (sums_ ? ", k in 0:N" : "") + " }";
  }

  /// Indices are mostly inside; floats are halves, of which no rounding makes another integer.
  reference::Inputs inputs(const ir::Program& program, int64_t v) {
    auto inputs = reference::random_inputs(program, engine_());
    const bool wild = below(2) == 1;
    for (auto& [number, array] : inputs) {
      const DType type = array.type;
      for (int64_t i = 0; i < array.element_count(); ++i) {
        int64_t value = below(static_cast<int>(v) + 1);
        if (wild && below(8) == 0) value = below(2) == 1 ? -3 : 1'000'000'007;
        if (is_float(type))
          tensor::store_real(type, array.data.data(), i, static_cast<double>(value) + (value < 0 ? -0.5 : 0.5));
        else
          tensor::store_integer(type, array.data.data(), i, value);
      }
    }
    return inputs;
  }

  uint64_t seed() { return engine_(); }

 private:
  std::string reduced() const { return sums_ ? "k" : "i"; }

  std::mt19937_64 engine_;
  bool sums_ = false;
};

bool notes_something(const ir::Program& checked, size_t plain, const reference::Inputs& inputs) {
  const auto expected = reference::evaluate(checked, inputs, reference::OutsideIndices::BecomeNearest).value();
  for (size_t i = plain; i < expected.size(); ++i)
    if (expected[i].integers.at(0) != 0) return true;
  return false;
}

}  // namespace

void expect_right_gathers(int first_seed, int count) {
  for (int seed = first_seed; seed < first_seed + count; ++seed) {
    Draft draft(seed);
    const auto text = draft.text();
    const int64_t v = 1 + draft.below(9), n = 5 + draft.below(13);
    CAPTURE(seed, text, v, n);
    const auto program = bound_program(text, {{"V", v}, {"N", n}});
    const auto inputs = draft.inputs(program, v);
    const auto checked = ir::with_index_checks(program);
    const auto checks = ir::index_checks(program);
    CHECK(checked.outputs.size() == program.outputs.size() + checks.size());
    CHECK(reference::check_indices(program, inputs, checks).has_value() ==
          !notes_something(checked, program.outputs.size(), inputs));
    const search::Space space(program, host(2));
    search::Rng rng(draft.seed());
    KernelCheck kernels(checked, inputs);
    for (const auto& schedule : {space.default_schedule(), space.sample(rng).schedule})
      for (const int64_t piece_bytes : {int64_t{8}, int64_t{1} << 15})
        kernels.expect_right(search::with_index_checks(checked, schedule, host(2), piece_bytes));
  }
}

}  // namespace tile_tune::test
