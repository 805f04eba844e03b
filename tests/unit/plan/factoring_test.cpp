// Which sums of products are put into steps, into which, and that the steps compute the same.
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>
#include <tile_tune/edsl.h>

#include "frontend/einsum/einsum.h"
#include "frontend/ir/canonical.h"
#include "frontend/ir/json.h"
#include "frontend/ir/validate.h"
#include "frontend/plan/factoring.h"
#include "frontend/reference/reference.h"
#include "frontend/tc/parse.h"

using namespace tile_tune;

namespace {

double flops_only(double flops, double) { return flops; }

ir::Program bound(const std::string& text, const ir::Sizes& sizes) {
  const auto parsed = tc::parse(text, "test.tc");
  if (!parsed) FAIL(render(parsed.error()));
  ir::Sizes own;
  for (const auto& name : parsed->programs.front().sizes) own[name] = sizes.at(name);
  const auto program = ir::bind(parsed->programs.front(), own);
  if (!program) FAIL(render(program.error()));
  return *program;
}

/// "float(I,J) A, float(J,K) B" -> "O(i) +=! ..." in one def.
ir::Program product(const std::string& inputs, const std::string& statement, const ir::Sizes& sizes,
                    const std::string& output = "O") {
  return bound("def f(" + inputs + ") -> (" + output + ") { " + statement + " }", sizes);
}

std::string words(const ir::Program& program) {
  return plan::path_words(program, plan::best_path(program, flops_only));
}

const ir::Sizes kChain{{"I", 7}, {"J", 5}, {"K", 3}, {"L", 11}};
const std::string kMatrices = "float(I,J) A, float(J,K) B, float(K,L) C";

/// Both forms on the same inputs, by the reference.
void check_values(const ir::Program& program) {
  const auto path = plan::best_path(program, flops_only);
  REQUIRE_FALSE(path.empty());
  const auto steps = plan::factored(program, path);
  if (!steps) FAIL(render(steps.error()));
  CHECK(ir::validate(*steps));
  CHECK(ir::bind(*steps, {}));  // every read inside its tensor
  CHECK(ir::flops(*steps) < ir::flops(program));
  const auto inputs = reference::random_inputs(program, 3);
  const auto expected = reference::evaluate(program, inputs), got = reference::evaluate(*steps, inputs);
  REQUIRE(expected);
  if (!got) FAIL(render(got.error()));
  for (size_t i = 0; i < expected->size(); ++i) {
    const auto verdict = reference::compare((*expected)[i], reference::to_array(*steps, (*got)[i]));
    CHECK(verdict.worst <= 1);
  }
}

}  // namespace

TEST_CASE("a chain of three is put into the order of the fewest FLOP") {
  const auto program = product(kMatrices, "O(i,l) +=! A(i,j)*B(j,k)*C(k,l)", kChain);
  CHECK(words(program) == "O = (A * B) * C");
  CHECK(words(product(kMatrices, "O(i,l) +=! A(i,j)*B(j,k)*C(k,l)", {{"I", 11}, {"J", 5}, {"K", 7}, {"L", 2}})) ==
        "O = A * (B * C)");
  check_values(program);
  const auto steps = *plan::factored(program, plan::best_path(program, flops_only));
  REQUIRE(steps.statements.size() == 2);
  CHECK(ir::flops(program) == 3.0 * 7 * 5 * 3 * 11);
  CHECK(ir::flops(steps) == 2.0 * (7 * 5 * 3 + 7 * 3 * 11));
  const auto& left = steps.tensors[static_cast<size_t>(steps.statements.front().target)];
  CHECK(left.name == "O_part1");
  CHECK(left.role == ir::Role::Temporary);
  CHECK(left.type == DType::F32);
}

TEST_CASE("the steps are those of the einsum") {
  const ir::Sizes sizes{{"I", 70}, {"J", 50}, {"K", 30}, {"L", 40}};
  const auto program = ir::canonicalize(product(kMatrices, "O(i,l) +=! A(i,j)*B(j,k)*C(k,l)", sizes));
  const auto steps = *plan::factored(program, plan::best_path(program, flops_only));
  const auto made = einsum::make_program(
      *einsum::parse("ij,jk,kl->il"),
      {{{DType::F32, {{70, 50}}}, {DType::F32, {{50, 30}}}, {DType::F32, {{30, 40}}}}, std::nullopt, {}});
  REQUIRE(made);
  CHECK(ir::content_hash(steps) == ir::content_hash(*ir::bind(made->program, made->sizes)));
}

TEST_CASE("written parentheses stay, others are no order") {
  const std::string sum = "O(i,l) +=! ";
  CHECK(words(product(kMatrices, sum + "A(i,j)*(B(j,k)*C(k,l))", kChain)) == "O = A * (B * C)");
  CHECK(words(product(kMatrices, sum + "(A(i,j)*B(j,k))*C(k,l)", {{"I", 11}, {"J", 5}, {"K", 7}, {"L", 2}})) ==
        "O = (A * B) * C");
  CHECK(words(product(kMatrices, sum + "((A(i,j)*B(j,k)*C(k,l)))", kChain)) == "O = (A * B) * C");
  CHECK(words(product(kMatrices, sum + "(A(i,j))*(B(j,k))*C(k,l)", kChain)) == "O = (A * B) * C");
  CHECK(words(product(kMatrices, sum + "C(k,l)*A(i,j)*B(j,k)", kChain)) == "O = (A * B) * C");
  check_values(product(kMatrices, sum + "A(i,j)*(B(j,k)*C(k,l))", kChain));
}

TEST_CASE("parentheses survive canonical forms, JSON and printing, and are told apart by the content hash") {
  const auto hash = [&](const std::string& value) {
    return ir::content_hash(product(kMatrices, "O(i,l) +=! " + value, kChain));
  };
  const auto open = hash("A(i,j)*B(j,k)*C(k,l)");
  CHECK(hash("C(k,l)*A(i,j)*B(j,k)") == open);
  CHECK(hash("(A(i,j)*B(j,k))*C(k,l)") != open);
  CHECK(hash("(A(i,j)*B(j,k))*C(k,l)") != hash("A(i,j)*(B(j,k)*C(k,l))"));
  CHECK(hash("(B(j,k)*A(i,j))*C(k,l)") == hash("C(k,l)*(A(i,j)*B(j,k))"));
  for (const std::string value : {"A(i,j)*(B(j,k)*C(k,l))", "C(k,l)*(A(i,j)*B(j,k))"}) {
    const auto program = ir::canonicalize(product(kMatrices, "O(i,l) +=! " + value, kChain));
    const auto read = ir::program_from_json(nlohmann::json::parse(ir::to_json(program).dump()));
    REQUIRE(read);
    CHECK(ir::to_json(*read) == ir::to_json(program));
    CHECK(plan::path_text(plan::best_path(*read, flops_only)) == plan::path_text(plan::best_path(program, flops_only)));
  }
  // Elsewhere they say nothing and are not kept.
  const auto assigned = [&](const std::string& value) {
    return ir::content_hash(product("float(I,J) A, float(I,J) B", "O(i,j) = " + value, {{"I", 3}, {"J", 5}}));
  };
  CHECK(assigned("(A(i,j)*B(i,j))*A(i,j)") == assigned("A(i,j)*B(i,j)*A(i,j)"));
}

TEST_CASE("what stays as written") {
  const ir::Sizes sizes{{"I", 16}, {"J", 16}, {"K", 16}};
  const std::string two = "float(I,J) A, float(J,K) B, float a";
  CHECK(words(product(two, "O(i,k) +=! A(i,j)*B(j,k)", sizes)).empty());      // two tensors
  CHECK(words(product(two, "O(i,k) +=! 2.0*A(i,j)*B(j,k)", sizes)).empty());  // a number is none
  CHECK(words(product(two, "O(i,k) +=! a*A(i,j)*B(j,k)", sizes)).empty());    // nor has it an index
  const std::string three = "float(I) x, float(I) y, float(I) z";
  CHECK(words(product(three, "O +=! x(i)*y(i)*z(i)", sizes)).empty());    // nothing is saved
  CHECK(words(product(three, "O(i) = x(i)*y(i)*z(i)", sizes)).empty());   // no sum
  CHECK(words(product(three, "O max=! x(i)*y(i)*z(i)", sizes)).empty());  // another operator
  CHECK(words(product(three, "O *=! x(i)*y(i)*z(k)", sizes)).empty());    // products have no distributive law
  CHECK(words(product(three, "O +=! x(i)+y(i)*z(i)", sizes)).empty());    // a sum of two
  CHECK(
      words(product(kMatrices, "O(i,l) +=! A(i,j)*B(j,k)*C(k,l)", {{"I", 7}, {"J", 0}, {"K", 3}, {"L", 11}})).empty());
}

TEST_CASE("numbers without an index are multiplied where that is done least often") {
  const auto program = product(kMatrices + ", float a", "O(i,l) +=! a*A(i,j)*B(j,k)*2.0*C(k,l)",
                               {{"I", 7}, {"J", 5}, {"K", 3}, {"L", 2}});
  check_values(program);
  const auto steps = *plan::factored(program, plan::best_path(program, flops_only));
  CHECK(ir::flops(steps) == 2.0 * (5 * 3 * 2) + 2 * (5 * 3 * 2) + 2.0 * (7 * 5 * 2));
}

TEST_CASE("a sum that one factor alone has is taken beforehand") {
  const ir::Sizes sizes{{"I", 7}, {"J", 5}, {"K", 13}, {"L", 4}};
  const auto program = product("float(I,K) A, float(I,J) B, float(J,L) C", "O(i,l) +=! A(i,k)*B(i,j)*C(j,l)", sizes);
  check_values(program);
  CHECK(ir::flops(*plan::factored(program, plan::best_path(program, flops_only))) <=
        7 * 13 + 2 * 7 * 5 * 4 + 2 * 7 * 4);
}

TEST_CASE("diagonals, repeated tensors, casts and functions of one factor") {
  const ir::Sizes sizes{{"I", 7}, {"J", 5}, {"K", 9}};
  check_values(product("float(I,I) A, float(I,J) B, float(J,K) C", "O(k) +=! A(i,i)*B(i,j)*C(j,k)", sizes));
  check_values(product("float(I,J) A", "O(i,k) +=! A(i,j)*A(m,j)*A(m,n)*A(k,n)", sizes));
  check_values(product("half(I,J) A, float(J,K) B, float(K,I) C", "O(i,m) +=! float(A(i,j))*B(j,k)*C(k,m)", sizes));
  check_values(
      product("float(I,J) A, float(J,K) B, float(K,I) C", "O(i,m) +=! exp(A(i,j))*fabs(B(j,k))*C(k,m)", sizes));
}

TEST_CASE("factors with other subscripts or a condition stay in the last step") {
  const ir::Sizes sizes{{"I", 12}, {"J", 4}, {"K", 9}, {"L", 6}};
  const std::string inputs = "float(I) x, float(J,K) B, float(K,L) C";
  const auto program = product(inputs, "O(i,l) +=! x(i+j)*B(j,k)*C(k,l)", sizes);
  CHECK(words(program) == "O = (B * C) * x(i + j)");
  check_values(program);
  // With nothing else to multiply they keep the sum as it is.
  CHECK(words(product("float(I) x, float(J) y, float(I) z", "O(i) +=! x(i+j)*y(j)*z(i+j)", sizes)).empty());
  const auto chosen = product(inputs, "O(l) +=! (x(i) > 0.0 ? x(i) : 0.5)*B(j,k)*C(k,l)", sizes);
  check_values(chosen);
  const auto gathered =
      product("float(I) x, int32(J) p, float(J,K) B, float(K,L) C", "O(l) +=! x(p(j))*B(j,k)*C(k,l)", sizes);
  check_values(gathered);
}

TEST_CASE("an index that no factor has repeats every term") {
  const auto program = product(kMatrices, "O(i,l) +=! A(i,j)*B(j,k)*C(k,l) where m in 0:3, n in 2:7", kChain);
  CHECK(words(program) == "O = (A * B) * C");
  check_values(program);  // fifteen times the sum
}

TEST_CASE("a sign goes to the first factor, a divisor to the last step or to a factor with its summed index") {
  const std::string sum = "O(i,l) +=! ", inputs = kMatrices + ", float(I) y, float(K) z, float(I,L) D";
  const auto of = [&](const std::string& value) { return product(inputs, sum + value, kChain); };
  const std::vector<std::pair<std::string, std::string>> expected{
      {"-A(i,j)*B(j,k)*C(k,l)", "O = ((-A(i,j)) * B) * C"},
      {"-(A(i,j)*B(j,k)*C(k,l))", "O = ((-A(i,j)) * B) * C"},
      {"A(i,j)*-(B(j,k)*C(k,l))", "O = (A * (-B(j,k))) * C"},
      {"A(i,j)*B(j,k)*C(k,l)/3", "O = ((A * B) * C) / 3.0"},
      {"A(i,j)*B(j,k)/3*C(k,l)", "O = ((A * B) * C) / 3.0"},
      {"A(i,j)*B(j,k)*C(k,l)/D(i,l)", "O = ((A * B) * C) / D(i,l)"},
      {"-(A(i,j)*B(j,k)*C(k,l))/y(i)/7", "O = (((-A(i,j)) * B) * C) / y(i) / 7.0"},
      {"A(i,j)*B(j,k)*C(k,l)/z(k)", "O = (A * (B(j,k) / z(k))) * C"},
      {"A(i,j)*B(j,k)/z(k)*C(k,l)", "O = (A * (B(j,k) / z(k))) * C"},
      {"A(i,j)*(B(j,k)*C(k,l))/y(i)", "O = (A * (B * C)) / y(i)"},
      {"(A(i,j)*(B(j,k)*C(k,l)))/3", "O = (A * (B * C)) / 3.0"},
      {"2*A(i,j)*B(j,k)*C(k,l)/3", "O = ((A * B) * C) * 2.0 / 3.0"}};
  for (const auto& [value, order] : expected) {
    INFO(value);
    const auto program = of(value);
    CHECK(words(program) == order);
    check_values(program);
    const auto path = plan::best_path(program, flops_only);
    CHECK(plan::path_text(*plan::parse_path(plan::path_text(path))) == plan::path_text(path));
  }
  // A divisor with more indices than any factor: all is multiplied before it divides, nothing is summed.
  check_values(
      product(kMatrices + ", float(I,J) E, float(K,L) F", sum + "A(i,j)*B(j,k)*C(k,l)/(4+E(i,j)+F(k,l))", kChain));
  // Quotients of integers are rounded one by one.
  CHECK(words(product("int32(I,J) A, int32(J,K) B, int32(K,L) C", sum + "A(i,j)*B(j,k)*C(k,l)/3", kChain)).empty());
  check_values(product("int32(I,J) A, int32(J,K) B, int32(K,L) C", sum + "-(A(i,j)*B(j,k)*C(k,l))", kChain));
  check_values(product("half(I,J) A, half(J,K) B, half(K,L) C", sum + "-(A(i,j)*B(j,k)*C(k,l))/3", kChain));
}

TEST_CASE("a step multiplies something, whatever it divides by") {
  const auto program = product(kMatrices + ", float(I) y", "O(i,l) +=! A(i,j)*B(j,k)*C(k,l)/y(i)", kChain);
  CHECK(plan::path_text(plan::best_path(program, flops_only)) == "0:0*1>0,3;4*2>0,1;5*3");
  for (const std::string bad : {"0:0*1>0,3;3>0;4*2*5", "0:0*1*3>0,3;4*2", "0:0*1>0,3;4*2>0,1;3"}) {
    INFO(bad);
    CHECK_FALSE(plan::factored(program, *plan::parse_path(bad)));
  }
}

TEST_CASE("what a guard leaves out is told with the order") {
  const auto program = product("float(I) x, float(J,K) B, float(K,L) C",
                               "O(i,l) +=! (i+j < 12 ? x(i+j) : 0)*B(j,k)*C(k,l) where i in 0:12",
                               {{"I", 12}, {"J", 4}, {"K", 9}, {"L", 6}});
  CHECK(words(program) == "O = (B * C) * x(i + j) where 0 <= i + j < 12");
}

TEST_CASE("sums that steps would do with far fewer FLOP say why they are not taken apart") {
  const ir::Sizes sizes{{"I", 37}, {"J", 29}, {"K", 41}, {"L", 31}};
  const std::string inputs = "float(I,J) A, float(J,K) B, float(K,L) C, float(J) p, float(K,L) Q";
  const auto of = [&](const ir::Program& program) {
    return plan::unfactored(program, plan::best_path(program, flops_only));
  };
  const auto reason = [&](const std::string& value, const std::string& with = "") {
    const auto found = of(product(inputs + with, "O(i,l) +=! " + value, sizes));
    if (found.empty()) return std::string();
    CHECK(found.front().statement == 0);
    CHECK(found.front().flops > 2 * found.front().possible_flops);
    return found.front().reason;
  };
  const auto sum = of(product(inputs, "O(i,l) +=! A(i,j)*B(j,k)*C(k,l) + A(i,j)*p(j)*Q(k,l)", sizes));
  REQUIRE(sum.size() == 1);
  CHECK(sum.front().reason == "the term is a sum of products");
  CHECK(sum.front().flops == 6.0 * 37 * 29 * 41 * 31);
  // B*C, A*T; and the sums of A*p over j and of Q over k, then their product.
  CHECK(sum.front().possible_flops == 2.0 * 29 * 31 * (41 + 37) + 2.0 * 37 * 29 + 41 * 31 + 2.0 * 37 * 31);
  CHECK(reason("-(A(i,j)*B(j,k)*C(k,l) - A(i,j)*p(j)*Q(k,l))/3") == "the term is a sum of products");
  CHECK(reason("A(i,j)*B(j,k+1)*C(k+1,l) where k in 0:30") ==
        "B(j,k + 1) has a condition or other subscripts than plain indices");
  CHECK(reason("int32(A(i,j))*int32(B(j,k))*int32(C(k,l))/3") == "a quotient of integers is rounded term by term");
  const auto chain = product(inputs, "O(i,l) +=! A(i,j)*B(j,k)*C(k,l)", sizes);
  const auto left =
      plan::unfactored(chain, plan::best_path(chain, [](double flops, double bytes) { return flops + 1e9 * bytes; }));
  REQUIRE(left.size() == 1);
  CHECK(left.front().reason == "what its steps leave in memory costs more than their FLOP save");
  const auto wide =
      of(product("int32(I,J) A, int32(J,K) B, int32(K,L) C", "O(i,l) +=! A(i,j)*B(j,k)*C(k,l)", sizes, "int64(I,L) O"));
  REQUIRE(wide.size() == 1);
  CHECK(wide.front().reason == "its products are i32 and their sum is i64, which wraps elsewhere");
  for (const std::string value :
       {"A(i,j)*B(j,k)*C(k,l)", "A(i,j)*B(j,k)*C(k,l)/3", "A(i,j)*(p(j) + p(j))*Q(j,l)", "A(i,j)*B(j,k) + C(k,l)"})
    CHECK(reason(value) == "");
}

TEST_CASE("sums that go on, and those of a part") {
  const ir::Sizes sizes{{"I", 7}, {"J", 9}, {"K", 8}, {"L", 11}};
  check_values(product(kMatrices, "O(i,l) += A(i,j)*B(j,k)*C(k,l)", sizes));
  check_values(product(kMatrices, "O(i,l) +=! A(i,j)*B(j,k)*C(k,l) where j in 2:7, k in 3:8, i in 0:5", sizes));
  check_values(
      product(kMatrices + ", float(I,L) D", "O(i,l) = D(i,l) O(i,l) +=! A(i,j)*B(j,k)*C(k,l) where i in 0:5", sizes));
  check_values(product(kMatrices + ", float(I,L) D", "O(i,l) = D(i,l) O(i,l) += A(i,j)*B(j,k)*C(k,l)", sizes));
  check_values(
      product(kMatrices, "T(i,k) +=! A(i,j)*B(j,k) O(i,l) +=! T(i,k)*C(k,l)*A(m,j)*B(j,n) where n in 0:3", sizes));
}

TEST_CASE("types in which products are summed apart, and the type of what steps leave") {
  const ir::Sizes sizes{{"I", 5}, {"J", 7}, {"K", 9}, {"L", 6}};
  const auto of = [&](const std::string& type, const std::string& output = "O") {
    return product(type + "(I,J) A, " + type + "(J,K) B, " + type + "(K,L) C", "O(i,l) +=! A(i,j)*B(j,k)*C(k,l)", sizes,
                   output);
  };
  const auto left_by = [](const ir::Program& program) {
    const auto steps = *plan::factored(program, plan::best_path(program, flops_only));
    return steps.tensors[static_cast<size_t>(steps.statements.front().target)].type;
  };
  const std::map<std::string, DType> types{{"int8", DType::I32},    {"uint8", DType::I32},    {"int16", DType::I32},
                                           {"int32", DType::I32},   {"int64", DType::I64},    {"uint32", DType::U32},
                                           {"float16", DType::F32}, {"bfloat16", DType::F32}, {"float64", DType::F64}};
  for (const auto& [name, type] : types) {
    INFO(name);
    check_values(of(name));
    CHECK(left_by(of(name)) == type);
  }
  // Products that wrap in 32 bits and are then added in 64 cannot be taken apart.
  CHECK(words(of("int32", "int64(I,L) O")).empty());
}

TEST_CASE("products of floats that are narrower than their sum are taken apart as products of its type") {
  const auto left_by = [](const ir::Program& program) {
    const auto steps = *plan::factored(program, plan::best_path(program, flops_only));
    return steps.tensors[static_cast<size_t>(steps.statements.front().target)].type;
  };
  for (const std::string type : {"float16", "bfloat16", "float"}) {
    INFO(type);
    const std::string inputs = type + "(I,J) A, " + type + "(J,K) B, " + type + "(K,L) C";
    const auto of = [&](const std::string& value, const std::string& output = "O") {
      return product(inputs + ", float64(J) y", "O(i,l) +=! " + value, kChain, output);
    };
    const auto declared = of("A(i,j)*B(j,k)*C(k,l)", "double(I,L) O");
    check_values(declared);
    CHECK(left_by(declared) == DType::F64);
    const std::vector<std::pair<std::string, std::string>> expected{
        {"double(A(i,j)*B(j,k)*C(k,l))", "O = (double(A(i,j)) * double(B(j,k))) * double(C(k,l))"},
        {"-double(A(i,j)*B(j,k)*C(k,l)/3)",
         "O = (((-double(A(i,j))) * double(B(j,k))) * double(C(k,l))) / double(3.0)"},
        {"double(A(i,j)*(B(j,k)*C(k,l)))", "O = double(A(i,j)) * (double(B(j,k)) * double(C(k,l)))"},
        {"double(B(j,k)*C(k,l))*double(A(i,j))", "O = (double(B(j,k)) * double(C(k,l))) * double(A(i,j))"},
        {"y(j)*double(A(i,j)*B(j,k)*C(k,l))", "O = y * (double(A(i,j)) * (double(B(j,k)) * double(C(k,l))))"},
    };
    for (const auto& [value, path] : expected) {
      INFO(value);
      CHECK(words(of(value)) == path);
      check_values(of(value));
    }
  }
  const auto halves = "float16(I,J) A, float16(J,K) B, float16(K,L) C";
  check_values(product(halves, "O(i,l) +=! float(A(i,j)*B(j,k)*C(k,l))", kChain));
  // What is cast to a narrower type is rounded term by term.
  CHECK(words(product("double(I,J) A, double(J,K) B, double(K,L) C", "O(i,l) +=! float(A(i,j)*B(j,k)*C(k,l))", kChain))
            .empty());
}

TEST_CASE("bools are taken apart as or of and") {
  const ir::Sizes sizes{{"I", 5}, {"J", 7}, {"K", 9}, {"L", 6}};
  check_values(product("bool(I,J) A, bool(J,K) B, bool(K,L) C", "O(i,l) +=! A(i,j) && B(j,k) && C(k,l)", sizes));
}

TEST_CASE("traffic: what saves less than it leaves is not made") {
  const std::string inputs = "float(I,J,K) X, float(J,R) B, float(K,R) C";
  const std::string sum = "O(i,r) +=! X(i,j,k)*B(j,r)*C(k,r)";
  const auto costly = [](double flops, double bytes) { return flops + 5 * bytes; };
  const auto wide = product(inputs, sum, {{"I", 64}, {"J", 64}, {"K", 256}, {"R", 16}});
  const auto narrow = product(inputs, sum, {{"I", 8}, {"J", 8}, {"K", 8}, {"R", 16}});
  CHECK_FALSE(plan::best_path(wide, costly).empty());
  CHECK_FALSE(plan::best_path(narrow, flops_only).empty());
  CHECK(plan::best_path(narrow, costly).empty());
}

TEST_CASE("sums over seven and more factors are taken apart in the best order") {
  const std::string sum = "v(p)*A(p,q)*A(q,r)*A(r,s)*A(s,t)*A(t,u)*A(u,a)*A(a,b)";
  check_values(product("float(I,I) A, float(I) v", "O(b) +=! " + sum, {{"I", 3}}));
  const auto flops = [&](const std::string& statement, int64_t size) {
    const auto program = product("float(I,I) A, float(I) v", statement, {{"I", size}});
    return ir::flops(*plan::factored(program, plan::best_path(program, flops_only)));
  };
  const double matvec = 2 * 64 * 64;
  CHECK(flops("O(b) +=! " + sum, 64) == 7 * matvec);
  CHECK(flops("O(p) +=! A(p,q)*A(q,r)*A(r,s)*A(s,t)*A(t,u)*A(u,a)*v(a)", 64) == 6 * matvec);
  CHECK(flops("O(p) +=! A(p,q)*A(q,r)*A(r,s)*A(s,t)*A(t,u)*A(u,a)*A(a,b)*A(b,c)*A(c,d)*A(d,e)*A(e,f)*v(f)", 64) ==
        11 * matvec);
  // Parentheses keep their order, and what they group is taken apart in itself.
  CHECK(flops("O(p) +=! A(p,q)*A(q,r)*A(r,s)*A(s,t)*A(t,u)*(A(u,a)*A(a,b))*v(b)", 64) == 6 * matvec + 2 * 64 * 64 * 64);
  CHECK(flops("O(p) +=! A(p,q)*(A(q,r)*A(r,s)*A(s,t)*A(t,u)*A(u,a)*A(a,b)*v(b))", 64) == 7 * matvec);
}

TEST_CASE("of seven and more factors beside one that stays not all become one piece") {
  // x needs i and j in the last step. As one piece the others would be an outer product over i, j and all of l.
  const std::string inputs = "float(I) x, float(I,P) A, float(P,P) M, float(J,P) B, float(P) v";
  const ir::Sizes sizes{{"I", 40}, {"J", 17}, {"P", 5}};
  const auto program =
      product(inputs, "O +=! x(i+j)*A(i,p)*M(p,q)*M(q,r)*v(r)*B(j,s)*M(s,t)*M(t,u)*v(u) where i in 0:24", sizes);
  check_values(program);
  const auto steps = *plan::factored(program, plan::best_path(program, flops_only));
  // Two chains of matrices onto vectors, and then x with both.
  CHECK(ir::flops(steps) <= 2 * (4 * 2.0 * 5 * 5) + 2.0 * 24 * 5 + 2.0 * 17 * 5 + 3.0 * 24 * 17);
}

TEST_CASE("a product in parentheses is planned once") {
  std::string group = "A(a,b)";
  for (char index = 'b'; index < 'x'; ++index)
    group += "*A(" + std::string{index, ',', static_cast<char>(index + 1)} + ")";
  const auto program =
      product("float(I,I) A, float(I) D", "O(y) +=! D(a)*D(a)*D(a)*(" + group + ")*D(y)*D(x)", {{"I", 8}});
  CHECK_FALSE(plan::best_path(program, flops_only).empty());
}

TEST_CASE("a product of thousands stays within the depth of expressions") {
  std::string factors = "x(i)";
  for (int n = 0; n < 600; ++n) factors += n % 2 == 0 ? "*x(i)" : "*x(i+j)";
  const auto program =
      product("float(N) x, float(J) y, float(J) z",
              "O +=! (" + factors + ")*(" + factors + ")*y(j)*z(j) where i in 0:4", {{"N", 9}, {"J", 3}});
  const auto path = plan::best_path(program, flops_only);
  REQUIRE_FALSE(path.empty());
  CHECK(ir::validate(*plan::factored(program, path)));
}

TEST_CASE("products of the eDSL have no order") {
  using namespace edsl;
  const auto A = Placeholder(DType::F32, {7, 5}, "A"), B = Placeholder(DType::F32, {5, 3}, "B"),
             C = Placeholder(DType::F32, {3, 11}, "C");
  auto O = TensorOutput(7, 11);
  TensorIndex i, j, k, l;
  O(i, l) += A(i, j) * (B(j, k) * C(k, l));
  const Program made("chain", {A, B, C}, {{"O", O}});
  const auto program = ir::bind(made.ir(), {});
  REQUIRE(program);
  CHECK(words(*program) == "O = (A * B) * C");
  check_values(*program);
}

TEST_CASE("what a constraint leaves out is left out in the last step") {
  using namespace edsl;
  const auto A = Placeholder(DType::F32, {7, 5}, "A"), B = Placeholder(DType::F32, {5, 13}, "B"),
             C = Placeholder(DType::F32, {13, 6}, "C");
  auto O = TensorOutput(7);
  TensorIndex i, j, k, l;
  O(i) += A(i, j) * B(j, k) * C(k, l);
  O.add_constraint(i + j < 6);
  const Program made("part", {A, B, C}, {{"O", O}});
  const auto program = ir::bind(made.ir(), {});
  REQUIRE(program);
  check_values(*program);
  const auto steps = *plan::factored(*program, plan::best_path(*program, flops_only));
  for (const auto& statement : steps.statements)
    CHECK(statement.constraints.empty() == (&statement != &steps.statements.back()));
}

TEST_CASE("paths are text, and others than our own are refused") {
  const auto program = product(kMatrices, "O(i,l) +=! A(i,j)*B(j,k)*C(k,l)", kChain);
  const auto path = plan::best_path(program, flops_only);
  const auto text = plan::path_text(path);
  CHECK(text == "0:0*1>0,3;3*2");
  CHECK(plan::path_text(*plan::parse_path(text)) == text);
  // Indices are i, l, j, k.
  for (const std::string bad :
       {"", "0", "0:", "0:0*1", "x:0*1>0,3;3*2", "0:0*1>0,3;3*2*9", "0:0*1>0;3*2", "0:0*1>0,1,3;3*2", "0:0*0>0,3;3*2",
        "0:0*1>0,3,0;3*2", "0:0*1>0,3;3", "1:0*1>0,3;3*2", "0:0*1>0,3;3*2|0:0*1>0,3;3*2", "0:0*1>0,3;3*-2",
        "0:99999999999*1>0;3*2", "0:0*1>0,3;2*4", "0:0*1>0,3;0*2*1"}) {
    INFO(bad);
    const auto parsed = plan::parse_path(bad);
    CHECK_FALSE((parsed && plan::factored(program, *parsed)));
  }
  const auto shifted = product("float(I) x, float(J,K) B, float(K,L) C", "O(i,l) +=! x(i+j)*B(j,k)*C(k,l)",
                               {{"I", 12}, {"J", 4}, {"K", 9}, {"L", 6}});
  CHECK_FALSE(plan::factored(shifted, *plan::parse_path("0:0*1>0,3;3*2")));
}
