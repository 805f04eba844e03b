// Which indices are checked, and over what.
#include "frontend/ir/index_checks.h"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "frontend/ir/describe.h"
#include "frontend/ir/json.h"
#include "programs.h"

using namespace tile_tune;
using namespace tile_tune::ir;
using namespace tile_tune::ir::test;

namespace {

constexpr int kTable = 0, kIdx = 1, kC = 2, kTarget = 3;

/// O(i,e) = value over i in [0,4), e in [0,5), of T (7,5) f32, idx (4) of `type`, C (4) f32.
Program gather(const ExprPtr& value, DType type = DType::I32) {
  Program program;
  program.name = "gather";
  program.tensors = {{"T", DType::F32, {7, 5}, Role::Input, Storage::row()},
                     {"idx", type, {4}, Role::Input, Storage::row()},
                     {"C", DType::F32, {4}, Role::Input, Storage::row()},
                     {"O", DType::F32, {4, 5}, Role::Output, Storage::row()}};
  program.inputs = {kTable, kIdx, kC};
  program.outputs = {kTarget};
  Statement statement;
  statement.target = kTarget;
  statement.subscripts = {at(0), at(1)};
  statement.indices = {{"i", 0, 4, ""}, {"e", 0, 5, ""}};
  statement.value = value;
  program.statements = {statement};
  return program;
}

ExprPtr idx(DType type = DType::I32) { return read(kIdx, {at(0)}, type); }
ExprPtr element(ExprPtr index) { return read(kTable, {std::move(index), at(1)}); }

std::string check_text(const Program& program) {
  const auto checked = with_index_checks(program);
  std::string text;
  for (size_t s = program.statements.size(); s < checked.statements.size(); ++s) {
    const auto& statement = checked.statements[s];
    text += to_text(checked, statement) + ";";
    for (const auto& index : statement.indices)
      text += " " + index.name + " in [" + index.lo.str() + "," + index.hi.str() + ")";
    for (const auto& constraint : statement.constraints)
      text += " 0 <= " + to_text(statement, constraint.expr) + " < " + constraint.bound.str();
    text += "\n";
  }
  return text;
}

}  // namespace

TEST_CASE("a check runs over the indices that its subscript uses, and compares signed ones with 0") {
  CHECK(check_text(gather(element(idx()))) == "index_check4 max=! idx(i) < 0 || idx(i) >= 7 ? 1 : 0; i in [0,4)\n");
  CHECK(check_text(gather(element(idx(DType::U64)), DType::U64)) ==
        "index_check4 +=! idx(i) >= 7 ? 1 : 0; i in [0,4)\n");
  CHECK(check_text(gather(element(idx(DType::I8)), DType::I8)) ==
        "index_check4 max=! int32(idx(i)) < 0 || int32(idx(i)) >= 7 ? 1 : 0; i in [0,4)\n");
}

TEST_CASE("programs with their checks are programs") {
  const auto checked = with_index_checks(gather(element(idx())));
  CHECK(bind(checked, {}));
  CHECK(to_json(program_from_json(to_json(checked)).value()) == to_json(checked));
  CHECK(checked.outputs.size() == 2);
}

TEST_CASE("in branches of selects indices count where these are taken") {
  const auto condition = call(Op::Gt, {read(kC, {at(0)}), number(0)}, DType::Bool);
  CHECK(check_text(gather(call(Op::Select, {condition, element(idx()), number(0)}))) ==
        "index_check4 max=! C(i) > 0.0 ? (idx(i) < 0 || idx(i) >= 7 ? 1 : 0) : 0; i in [0,4)\n");
  CHECK(check_text(gather(call(Op::Select, {condition, number(0), element(idx())}))) ==
        "index_check4 max=! C(i) > 0.0 ? 0 : idx(i) < 0 || idx(i) >= 7 ? 1 : 0; i in [0,4)\n");
}

TEST_CASE("one index counts once, and one that is known to stay inside not at all") {
  CHECK(index_checks(gather(call(Op::Mul, {element(idx()), element(idx())}))).size() == 1);
  const auto of_number = [](int64_t value) { return make_expr(DType::I32, Literal{value}); };
  const auto known = call(Op::Div, {make_expr(DType::I32, IndexValue{0}), of_number(2)}, DType::I32);
  CHECK(index_checks(gather(element(known))).empty());
  const auto unknown = call(Op::Mul, {make_expr(DType::I32, IndexValue{0}), of_number(2)}, DType::I32);
  CHECK(index_checks(gather(element(call(Op::Add, {unknown, idx()}, DType::I32)))).size() == 1);
}

TEST_CASE(
    "constraints that tie indices to those of the subscript stay, and a statement that visits nothing has no check") {
  auto program = gather(element(idx()));
  program.statements[0].constraints = {{affine({{0, 1}, {1, 1}}), 3}};
  CHECK(check_text(program) ==
        "index_check4 max=! idx(i) < 0 || idx(i) >= 7 ? 1 : 0; i in [0,4) e in [0,5) 0 <= i + e < 3\n");
  program.statements[0].constraints = {{affine({{1, 1}}, -2), 2}};
  CHECK(check_text(program) == "index_check4 max=! idx(i) < 0 || idx(i) >= 7 ? 1 : 0; i in [0,4)\n");
  program.statements[0].constraints = {{affine({{1, 2}}, -20), 2}};
  CHECK(check_text(program).empty());
  program.statements[0].constraints.clear();
  program.statements[0].indices[1].hi = 0;
  CHECK(check_text(program).empty());
}
