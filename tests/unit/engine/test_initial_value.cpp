#include <catch2/catch.hpp>
#include <limits>

#include "engine/programs/initial_value.h"
#include "frontend/tc/parse.h"
#include "frontend/tensor/convert.h"

using namespace tile_tune;
using namespace tile_tune::engine;

namespace {

/// The initial value of the only output of "o(i) OP A(i)" on three elements of a type.
InitialValue initial(const std::string& type, const std::string& op) {
  auto parsed = tc::parse("def f(" + type + "(3) A) -> (o) { o(i) " + op + " A(i) }", "test.tc");
  REQUIRE(parsed);
  const auto bound = ir::bind(parsed->programs.front(), {});
  REQUIRE(bound);
  const auto number = bound->initial_value_of(bound->outputs.front());
  REQUIRE(number);
  auto value = initial_value(*bound, *number);
  CHECK(value.array.shape == std::vector<int64_t>{3});
  return value;
}

double last_real(const InitialValue& value) { return tensor::load_real(value.array.type, value.array.data.data(), 2); }
int64_t last_integer(const InitialValue& value) {
  return tensor::load_integer(value.array.type, value.array.data.data(), 2);
}

}  // namespace

TEST_CASE("in/out outputs start from the operation's identity") {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  CHECK(last_real(initial("float", "+=")) == 0);
  CHECK(last_real(initial("float", "*=")) == 1);
  CHECK(last_real(initial("double", "min=")) == kInfinity);
  CHECK(last_real(initial("float16", "max=")) == -kInfinity);
  CHECK(last_integer(initial("int32", "min=")) == std::numeric_limits<int32_t>::max());
  CHECK(last_integer(initial("int32", "max=")) == std::numeric_limits<int32_t>::min());
  CHECK(last_integer(initial("int64", "max=")) == std::numeric_limits<int64_t>::min());
  CHECK(last_integer(initial("uint8", "min=")) == 255);
  CHECK(last_integer(initial("uint64", "min=")) == -1);  // all bits set
  CHECK(last_integer(initial("uint64", "max=")) == 0);
}
