// Subscripts as syntax: labels, terms, groups, and names of sizes.
#include <catch2/catch.hpp>

#include "frontend/einsum/einsum.h"

using namespace tile_tune;
using einsum::Einsum;

namespace {

Einsum parsed(std::string_view text) {
  auto result = einsum::parse(text);
  if (!result) FAIL(render(result.error()));
  return std::move(*result);
}

/// "ij|jk>ik": terms as labels, `...` as a dot.
std::string terms(const Einsum& einsum) {
  const auto spell = [&](const einsum::Term& term) {
    std::string text;
    for (size_t i = 0; i <= term.labels.size(); ++i) {
      if (term.ellipsis == i) text += '.';
      if (i < term.labels.size()) text += einsum.labels[term.labels[i]];
    }
    return text;
  };
  std::string text;
  for (const auto& operand : einsum.operands) text += (text.empty() ? "" : "|") + spell(operand);
  return text + ">" + spell(einsum.result);
}

/// "((0 1) 2)".
std::string order(const einsum::Group& group) {
  if (group.operand >= 0) return std::to_string(group.operand);
  std::string text;
  for (const auto& member : group.members) text += (text.empty() ? "(" : " ") + order(member);
  return text + ")";
}

}  // namespace

TEST_CASE("terms, with blanks anywhere and every character as label") {
  CHECK(terms(parsed("ij,jk->ik")) == "ij|jk>ik");
  CHECK(terms(parsed(" i j ,\tj k\n-> i k ")) == "ij|jk>ik");
  CHECK(terms(parsed("->")) == ">");
  CHECK(terms(parsed("ij->")) == "ij>");
  CHECK(parsed(",ij->ij").operands.size() == 2);
  CHECK(parsed(",,->").operands.size() == 3);
  CHECK(terms(parsed("0α,α字->0字")) == "0α|α字>0字");
  CHECK(terms(parsed("...ij,j...->i...")) == ".ij|j.>i.");
  CHECK(terms(parsed("i...j->ij...")) == "i.j>ij.");
  CHECK(terms(parsed("a'b*->*")) == "a'b*>*");
}

TEST_CASE("parentheses group operands, and groups of one are no groups") {
  CHECK(order(parsed("a,b,c->").order) == "(0 1 2)");
  CHECK(order(parsed("(a,b),c->").order) == "((0 1) 2)");
  CHECK(order(parsed("a,((b,c),d)->").order) == "(0 ((1 2) 3))");
  CHECK(order(parsed("((a,b))->").order) == "(0 1)");
  CHECK(order(parsed("(((a)))->").order) == "0");
  CHECK(order(parsed("(a),(b)->").order) == "(0 1)");
  CHECK(order(parsed("(),i->i").order) == "(0 1)");  // a scalar in parentheses
  const std::string deep(100000, '('), closed(100000, ')');
  CHECK(order(parsed(deep + "a" + closed + "->").order) == "0");
}

TEST_CASE("integer labels") {
  const auto product = einsum::parse({{0, 12}, {12, 7}}, {0, 7});
  REQUIRE(product);
  CHECK(product->labels == std::vector<std::string>{"0", "12", "7"});
  CHECK(product->operands[1].labels == std::vector<int>{1, 2});
  CHECK(product->result.labels == std::vector<int>{0, 2});
  const auto broadcast = einsum::parse({{einsum::kEllipsis, 3}}, {3, einsum::kEllipsis});
  REQUIRE(broadcast);
  CHECK(broadcast->operands[0].ellipsis == 0u);
  CHECK(broadcast->result.ellipsis == 1u);
  CHECK(einsum::parse({{-2}}, {}).error().code == "bad-label");
  const auto unknown = einsum::parse({{0, 1}}, {0, 15});
  REQUIRE_FALSE(unknown);
  CHECK(unknown.error().place->source_line == "einsum:0 1->0 15");
  CHECK(unknown.error().place->column == 15);
  CHECK(unknown.error().place->length == 2);
}

TEST_CASE("sizes are named after labels where these are identifiers") {
  CHECK(einsum::size_name("i") == "i");
  CHECK(einsum::size_name("_") == "_");
  CHECK(einsum::size_name("3") == "label_3");
  CHECK(einsum::size_name("12") == "label_12");
  CHECK(einsum::size_name("α") == "label_u3b1");
  CHECK(einsum::size_name("'") == "label_u27");
}
