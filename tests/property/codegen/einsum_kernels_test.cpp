// Einsums as kernels, in every element type: diagonals read and embedded, hyper-edges, broadcasts, networks, empty
// sums.
#include <catch2/catch.hpp>

#include "frontend/einsum/einsum.h"
#include "frontend/ir/canonical.h"
#include "search/space/space.h"
#include "tests/property/codegen/kernel_check.h"

namespace tile_tune {
namespace {

struct EinsumCase {
  std::string subscripts;
  std::vector<std::vector<int64_t>> shapes;
};

const std::vector<EinsumCase> kEinsumCases{
    {"ij,jk->ik", {{13, 17}, {17, 19}}},
    {"ij,jk->ki", {{1, 17}, {17, 35}}},
    {"ii->i", {{11, 11}}},
    {"i->ii", {{11}}},
    {"ii->", {{7, 7}}},
    {"i,j->ij", {{5}, {23}}},
    {"ij,ij,ij->i", {{5, 9}, {5, 9}, {5, 9}}},
    {",i->i", {{}, {37}}},
    {"bij,bjk->bik", {{3, 5, 7}, {3, 7, 33}}},
    {"...ij,...jk->...ik", {{2, 1, 5, 6}, {3, 6, 17}}},
    {"(ij,jk),kl->il", {{5, 6}, {6, 7}, {7, 18}}},
    {"ij,jk->ik", {{4, 0}, {0, 6}}},
    {"ij,k->ikij", {{3, 5}, {4}}},
    {"iji->j", {{6, 21, 6}}},
};

ir::Program program_of(const EinsumCase& test, DType type) {
  einsum::Known known;
  for (const auto& shape : test.shapes) known.operands.push_back({type, shape});
  const auto made = einsum::make_program(einsum::parse(test.subscripts).value(), known).value();
  return ir::canonicalize(ir::bind(made.program, made.sizes).value());
}

void check_all(DType type, bool columns) {
  for (const auto& test : kEinsumCases) {
    DYNAMIC_SECTION(test.subscripts << " " << dtype_name(type)) {
      ir::Program program = program_of(test, type);
      if (columns)
        for (auto& tensor : program.tensors) tensor.storage = ir::Storage::col();
      const search::Space space(program, test::host(2));
      test::KernelCheck check(program);
      search::Rng rng(std::hash<std::string>()(test.subscripts));
      for (const auto& schedule : {space.default_schedule(), space.sample(rng).schedule}) check.expect_right(schedule);
    }
  }
}

}  // namespace

TEST_CASE("kernels of einsums in single precision", "[property]") { check_all(DType::F32, false); }
TEST_CASE("kernels of einsums of complex numbers", "[property]") { check_all(DType::C32, false); }
TEST_CASE("kernels of einsums of complex numbers, first index fastest", "[property]") { check_all(DType::C64, true); }
TEST_CASE("kernels of einsums of small integers", "[property]") { check_all(DType::I8, false); }
TEST_CASE("kernels of einsums of truth values", "[property]") { check_all(DType::Bool, false); }
TEST_CASE("kernels of einsums of half precision", "[property]") { check_all(DType::F16, true); }

TEST_CASE("complex arithmetic in kernels", "[property]") {
  // Every operation that complex numbers know.
  using ir::Op;
  ir::Program program;
  program.name = "complex";
  for (const char* name : {"a", "b", "o", "p"}) program.tensors.push_back({name, DType::C32, {7, 19}});
  program.inputs = {0, 1};
  program.outputs = {2, 3};
  program.tensors[2].role = program.tensors[3].role = ir::Role::Output;
  const std::vector<ir::Subscript> at{ir::AffineExpr::index(0), ir::AffineExpr::index(1)};
  const auto read = [&](int tensor) { return ir::make_expr(DType::C32, ir::Read{tensor, at}); };
  const auto call = [](DType type, Op op, std::vector<ir::ExprPtr> arguments) {
    return ir::make_expr(type, ir::Call{op, std::move(arguments)});
  };
  const auto same = call(DType::Bool, Op::Eq, {read(0), read(1)});
  const auto differ = call(DType::Bool, Op::Ne, {read(0), ir::make_expr(DType::C32, ir::Literal{2.0})});
  const auto quotient = call(DType::C32, Op::Div, {call(DType::C32, Op::Sub, {read(0), read(1)}), read(1)});
  const auto product =
      call(DType::C32, Op::Mul, {call(DType::C32, Op::Neg, {read(0)}), call(DType::C32, Op::Conj, {read(1)})});
  ir::Statement statement;
  statement.subscripts = {ir::AffineExpr::index(0), ir::AffineExpr::index(1)};
  statement.indices = {{"i", 0, 7, ""}, {"j", 0, 19, ""}};
  statement.accumulator = DType::C32;
  statement.target = 2;
  statement.value = call(DType::C32, Op::Select, {same, product, quotient});
  program.statements.push_back(statement);
  statement.target = 3;
  statement.value = call(DType::C32, Op::Select, {differ, call(DType::C32, Op::Add, {product, read(2)}), read(1)});
  program.statements.push_back(statement);
  program = ir::canonicalize(ir::bind(program, {}).value());
  const auto result = test::KernelCheck(program)(search::Space(program, test::host(2)).default_schedule());
  CHECK(result.error == "");
  CHECK(result.verdict.reason == "");
}

}  // namespace tile_tune
