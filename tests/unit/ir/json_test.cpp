#include <catch2/catch.hpp>
#include <cmath>
#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>

#include "frontend/ir/json.h"
#include "frontend/ir/validate.h"
#include "programs.h"

using namespace tile_tune;
using namespace tile_tune::ir;
using namespace tile_tune::ir::test;
using nlohmann::json;

namespace {

/// The message for matmul's JSON with the value at `pointer` replaced.
std::string message_with(const std::string& pointer, const json& value, const Program& program = matmul()) {
  json broken = to_json(program);
  broken[json::json_pointer(pointer)] = value;
  const auto read = program_from_json(broken);
  REQUIRE_FALSE(read);
  CHECK(read.error().error_class == ErrorClass::Program);
  CHECK(read.error().code == "malformed-program");
  return read.error().message;
}

/// A statement that uses every kind of node and size expression.
Program rich() {
  Program program = strided_convolution();
  program.tensors.push_back({"G", DType::I64, {size("N")}, Role::Input, Storage::col()});
  program.inputs.push_back(4);
  auto& statement = program.statements[0];
  const auto index = make_expr(DType::I64, IndexValue{1});
  const auto rows = make_expr(DType::I64, SizeValue{SizeExpr::min(size("N"), size("K") * size("N") - 7)});
  const auto gathered = read(0, {call(Op::Mod, {read(4, {at(1)}, DType::I64), rows}, DType::I64)});
  const auto condition = call(Op::And,
                              {call(Op::Le, {index, make_expr(DType::I64, Literal{int64_t{-3}})}, DType::Bool),
                               make_expr(DType::Bool, Literal{true})},
                              DType::Bool);
  statement.value = call(Op::Select, {condition, gathered, make_expr(DType::F32, Cast{index})});
  statement.constraints = {{affine({{0, 1}, {1, -3}}, size("N") - 1, 2), SizeExpr::max(size("K"), 4)}};
  statement.indices[1].lo = SizeExpr::floor_div(size("K"), size("N") + 1);
  statement.accumulator = DType::F64;
  statement.op = Aggregation::Max;
  return program;
}

}  // namespace

TEST_CASE("programs survive JSON and text") {
  for (const auto& program : {matmul(), matmul(true, DType::I8), strided_convolution(), running_sum(7), rich(),
                              ir::bind(matmul(), {{"M", 1}, {"K", 0}, {"N", 5}}).value()}) {
    const json once = to_json(program);
    CHECK(validate(program).has_value());
    const auto back = program_from_json(json::parse(once.dump()));
    REQUIRE(back);
    CHECK(to_json(*back) == once);
  }
  CHECK(ir::bind(program_from_json(to_json(rich())).value(), {{"N", 12}, {"K", 5}}).has_value());
}

TEST_CASE("the JSON of a program is what other programs rely on") {
  const json program = to_json(matmul(true));
  CHECK(program["kind"] == "program");
  CHECK(program["format"] == 1);
  CHECK(program["sizes"] == json::parse(R"(["M", "K", "N"])"));
  CHECK(program["tensors"][2] ==
        json::parse(R"({"name": "C", "type": "f32", "extents": [{"name": "M"}, {"name": "N"}], "role": "inout",
                        "layout": "row"})"));
  CHECK(program["statements"][0]["value"] == json::parse(R"({"type": "f32", "call": "mul", "arguments": [
          {"type": "f32", "read": 0, "subscripts": [{"terms": [[0, 1]], "constant": 0}, {"terms": [[2, 1]], "constant": 0}]},
          {"type": "f32", "read": 1, "subscripts": [{"terms": [[2, 1]], "constant": 0}, {"terms": [[1, 1]], "constant": 0}]}]})"));
  CHECK(program["statements"][0]["previous"] == 2);
  CHECK(to_json(strided_convolution())["tensors"][2]["extents"][0] ==
        json::parse(R"({"add": [{"floor_div": [{"add": [{"mul": [-1, {"name": "K"}]}, {"name": "N"}]}, 2]}, 1]})"));
  CHECK(
      to_json(rich())["statements"][0]["constraints"][0] ==
      json::parse(R"({"expr": {"terms": [[0, 1], [1, -3]], "constant": {"add": [{"name": "N"}, -1]}, "denominator": 2},
                        "bound": {"max": [4, {"name": "K"}]}})"));
}

TEST_CASE("literals keep their value") {
  const auto round_trip = [](DType type, const Literal& literal) {
    Program program = strided_convolution();
    program.statements[1].value = make_expr(type, literal);
    const auto back = program_from_json(json::parse(to_json(program).dump())).value();
    return std::get<Literal>(back.statements[1].value->node).value;
  };
  CHECK(std::get<double>(round_trip(DType::F64, {0.1})) == 0.1);
  CHECK(std::signbit(std::get<double>(round_trip(DType::F32, {-0.0}))));
  CHECK(std::get<double>(round_trip(DType::F32, {-std::numeric_limits<double>::infinity()})) < -1e308);
  CHECK(std::isnan(std::get<double>(round_trip(DType::F32, {std::nan("")}))));
  CHECK(std::get<int64_t>(round_trip(DType::F32, {int64_t{2}})) == 2);
  CHECK(std::get<int64_t>(round_trip(DType::U64, {int64_t{-1}})) == -1);
  CHECK(std::get<int64_t>(round_trip(DType::I64, {INT64_MIN})) == INT64_MIN);
}

TEST_CASE("constants survive JSON, and only inputs are some") {
  Program program = matmul();
  CHECK(to_json(program).dump().find("constant\":true") == std::string::npos);
  for (auto& tensor : program.tensors) tensor.constant = tensor.name == "B";
  const auto back = program_from_json(to_json(program));
  REQUIRE(back);
  for (const auto& tensor : back->tensors) CHECK(tensor.constant == (tensor.name == "B"));
  json wrong = to_json(program);
  wrong["tensors"][1]["constant"] = 1;
  CHECK_FALSE(program_from_json(wrong));
  for (auto& tensor : program.tensors) tensor.constant = tensor.name == "C";
  CHECK_FALSE(program_from_json(to_json(program)));
}

TEST_CASE("that callers' arrays are cold survives JSON") {
  Program program = matmul();
  CHECK_FALSE(to_json(program).contains("cold"));
  program.cold = true;
  CHECK(program_from_json(to_json(program)).value().cold);
  json wrong = to_json(program);
  wrong["cold"] = false;
  CHECK(program_from_json(wrong).error().message.find("cold") != std::string::npos);
}

TEST_CASE("JSON that is no program is refused") {
  for (const char* text : {"null", "3", "[]", "\"program\"", "{}", R"({"kind": "suite"})"}) {
    CAPTURE(text);
    const auto read = program_from_json(json::parse(text));
    REQUIRE_FALSE(read);
    CHECK(read.error().error_class == ErrorClass::Program);
  }
  CHECK(message_with("/kind", "suite") == "kind: must be \"program\", not \"suite\"");
  CHECK(message_with("/format", 2) == "format: this version reads format 1, not 2");
  CHECK(message_with("/colour", 2) == "colour: unknown field");
  // The format first: another one may have other fields.
  const auto later = program_from_json(json::parse(R"({"kind": "program", "format": 99, "colour": 2})"));
  CHECK(later.error().message.ends_with("format: this version reads format 1, not 99"));
  const auto none = program_from_json(json::parse(R"({"kind": "program", "version": 99})"));
  CHECK(none.error().message.ends_with("format: is missing, and this version reads format 1"));
  const json good = to_json(matmul());
  for (const auto& [key, value] : good.items()) {
    json broken = good;
    broken.erase(key);
    CHECK(program_from_json(broken).error().message.starts_with(key + ": is missing"));
  }
}

TEST_CASE("every field may be missing or of any type without harm") {
  // Replaces each value in the tree, one at a time, by each of these; none may crash, most are errors.
  const std::vector<json> replacements{nullptr, -1, 99, 1.5, "x", json::array(), json::object(), UINT64_MAX, true};
  for (const auto& program : {matmul(true), rich()}) {
    const json good = to_json(program);
    const json flat = good.flatten();
    for (const auto& [pointer, value] : flat.items()) {
      // The value itself and everything it lies in.
      for (json::json_pointer part(pointer); !part.empty(); part.pop_back()) {
        for (const auto& replacement : replacements) {
          json broken = good;
          broken[part] = replacement;
          const auto read = program_from_json(broken);
          if (!read) continue;
          CHECK(program_from_json(to_json(*read)).has_value());
          (void)ir::bind(*read, {{"M", 2}, {"N", 12}, {"K", 5}});
        }
        if (json broken = good; broken[part.parent_pointer()].is_object()) {
          broken[part.parent_pointer()].erase(part.back());
          (void)program_from_json(broken);
        }
      }
    }
  }
}

TEST_CASE("messages name the path") {
  const std::string value = "/statements/0/value";
  CHECK(message_with("/statements/0/target", "C") == "statements[0].target: must be an integer from 0 to 2147483647");
  CHECK(message_with("/tensors/1/type", "float") == "tensors[1].type: there is no element type 'float'");
  CHECK(message_with("/tensors/1/extents/0", 1.5) == "tensors[1].extents[0]: must be a 64-bit integer");
  CHECK(message_with("/tensors/0/extents/0", json{{"name", "Q"}}) ==
        "tensors[0].extents[0]: 'Q' is not among the sizes");
  CHECK(message_with("/tensors/0/extents/0", -2) == "tensors[0].extents[0]: must not be negative");
  CHECK(message_with("/tensors/0/extents/0", json{{"floor_div", {7, 0}}}) ==
        "tensors[0].extents[0].floor_div: divides by zero");
  CHECK(message_with("/tensors/0/extents/0", json{{"mul", {INT64_MAX, 2}}}) ==
        "tensors[0].extents[0]: exceeds 64 bits");
  CHECK(message_with("/tensors/0/extents/0", json{{"max", {1, 2, 3}}}) ==
        "tensors[0].extents[0].max: must be an array of two operands");
  CHECK(message_with(value + "/call", "mull") == "statements[0].value.call: there is no operation 'mull'");
  CHECK(message_with(value + "/arguments", json::array()) ==
        "statements[0].value.arguments: 'mul' takes 2 arguments, not 0");
  CHECK(message_with(value + "/call", "and") == "statements[0].value: 'and' gives bool");
  CHECK(message_with(value + "/arguments/1", json{{"type", "f64"}, {"literal", 1}}) ==
        "statements[0].value.arguments[1]: is f64, but 'mul' needs f32 here");
  CHECK(message_with(value + "/arguments/1", json{{"type", "f32"}, {"index", 3}}) ==
        "statements[0].value.arguments[1].index: there is no index 3");
  CHECK(message_with(value + "/arguments/1/read", 7) == "statements[0].value.arguments[1].read: there is no tensor 7");
  CHECK(message_with(value + "/arguments/1/read", 2) ==
        "statements[0].value.arguments[1].read: tensor 2 (C) is read before it is written");
  CHECK(message_with(value + "/arguments/1/subscripts", json::array()) ==
        "statements[0].value.arguments[1].subscripts: B has 2 dimensions, not 0");
  CHECK(message_with(value + "/arguments/0/subscripts/1/terms/0", json{0, 0}) ==
        "statements[0].value.arguments[0].subscripts[1].terms[0]: a coefficient must not be 0");
  CHECK(message_with(value + "/arguments/0/subscripts/1/denominator", 0) ==
        "statements[0].value.arguments[0].subscripts[1].denominator: must be at least 1");
  CHECK(message_with(value + "/arguments/0/subscripts/1", json{{"type", "f32"}, {"literal", 1}}) ==
        "statements[0].value.arguments[0].subscripts[1]: a subscript must be an integer");
}

TEST_CASE("literals must be of their type") {
  const auto message = [](const char* type, const json& value) {
    return message_with("/statements/0/value/arguments/1", json{{"type", type}, {"literal", value}});
  };
  const std::string path = "statements[0].value.arguments[1].literal: ";
  CHECK(message("i8", 128) == path + "must be an integer from -128 to 127");
  CHECK(message("u8", -1) == path + "must be an integer from 0 to 255");
  CHECK(message("i32", 1.5) == path + "must be an integer from -2147483648 to 2147483647");
  CHECK(message("u64", -1) == path + "must be an unsigned 64-bit integer");
  CHECK(message("bool", 1) == path + "must be true or false");
  CHECK(message("f32", "one") == path + "must be a number, \"inf\", \"-inf\" or \"nan\"");
  CHECK(message("f32", true) == path + "must be a number, \"inf\", \"-inf\" or \"nan\"");
}

TEST_CASE("tensors are written once, in order, and listed") {
  CHECK(message_with("/statements/0/target", 0) == "statements[0].target: A is an input and must not be written");
  json twice = to_json(matmul());
  twice["statements"].push_back(twice["statements"][0]);
  CHECK(program_from_json(twice).error().message == "statements[1].target: C is written twice");
  CHECK(message_with("/statements", json::array()) == "tensors[2]: C is never written");
  CHECK(message_with("/inputs", json{0}) == "inputs: tensor 1 (B) is missing");
  CHECK(message_with("/inputs", json{0, 1, 1}) == "inputs[2]: is listed twice");
  CHECK(message_with("/inputs", json{0, 2}) == "inputs[1]: the tensor has another role");
  CHECK(message_with("/tensors/1/name", "A") == "tensors[1].name: 'A' names two things");
  CHECK(message_with("/tensors/1/name", "M") == "tensors[1].name: 'M' names two things");
  CHECK(message_with("/tensors/1/name", "B); system(") == "tensors[1].name: 'B); system(' is no identifier");
  CHECK(message_with("/name", "") == "name: '' is no identifier");
  CHECK(message_with("/sizes/1", "M") == "sizes[1]: 'M' is listed twice");
  CHECK(message_with("/statements/0/previous", 0) == "statements[0].previous: A has another shape or type than C");
  CHECK(message_with("/statements/0/unwritten", 0) == "statements[0].unwritten: A has another shape or type than C");
  CHECK(message_with("/statements/0/unwritten", 2, matmul(true)) ==
        "statements[0].unwritten: elements already start from another tensor");
  CHECK(message_with("/tensors/2/type", "f64", matmul(true)) ==
        "tensors[2]: no output of this shape and type is named 'C'");
}

TEST_CASE("the order of statements is the order of time") {
  json later = to_json(strided_convolution());
  std::swap(later["statements"][0], later["statements"][1]);
  CHECK(program_from_json(later).error().message ==
        "statements[0].value.arguments[0].read: tensor 2 (o) is read before it is written");
}

TEST_CASE("complex values only do what complex numbers can") {
  const auto complex = [](Op op) {
    Program program = matmul(false, DType::C32);
    auto& value = program.statements[0].value;
    value = call(op, std::get<Call>(value->node).arguments, DType::C32);
    return validate(program);
  };
  CHECK(complex(Op::Mul).has_value());
  CHECK(complex(Op::Min).error().message == "statements[0].value: complex numbers have no 'min'");
  Program program = matmul(false, DType::C32);
  program.statements[0].op = Aggregation::Max;
  CHECK(validate(program).error().message == "statements[0].op: complex numbers have no order");
}

TEST_CASE("a tensor of numbers that no memory holds is refused") {
  Program program = bind(matmul(), {{"M", 2}, {"K", 3}, {"N", 5}}).value();
  program.tensors[0].extents = {int64_t{1} << 35, int64_t{1} << 36};  // 2^71 elements: 0 in 64 bits
  const auto read = program_from_json(to_json(program));
  REQUIRE_FALSE(read);
  CHECK(read.error().code == "tensor-too-large");
  CHECK(read.error().error_class == ErrorClass::Mismatch);
  CHECK(read.error().message == "tensors[0]: A would not fit a 64-bit address space");
  // Of sizes without numbers bind() tells.
  CHECK(program_from_json(to_json(matmul())).has_value());
}

TEST_CASE("deep nesting is refused before it is descended into") {
  const auto repeated = [](std::string_view text, int times) {
    std::string result;
    for (int i = 0; i < times; ++i) result += text;
    return result;
  };
  const auto nested = [&](int depth) {
    json program = to_json(matmul());
    program["statements"][0]["value"] = json::parse(repeated(R"({"type": "f32", "cast": )", depth - 1) +
                                                    R"({"type": "f32", "literal": 1})" + repeated("}", depth - 1));
    return program_from_json(program);
  };
  CHECK(nested(kMaxExprDepth).has_value());
  CHECK(nested(kMaxExprDepth + 1).error().message == "statements[0].value: expressions nest more than 2000 deep");
  CHECK_FALSE(nested(100'000).has_value());

  json program = to_json(matmul());
  program["tensors"][0]["extents"][0] = json::parse(repeated(R"({"add": [)", 100'000) + "1" + repeated("]}", 100'000));
  CHECK(program_from_json(program).error().message.find("size expressions have at most 64 operands") !=
        std::string::npos);
}
