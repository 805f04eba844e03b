// Programs that einsums become: names, sizes, steps, and the hash they share with other spellings.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <algorithm>
#include <random>
#include <set>

#include "frontend/ir/canonical.h"
#include "frontend/ir/describe.h"
#include "frontend/ir/validate.h"
#include "frontend/tc/parse.h"
#include "tests/unit/einsum/run.h"

using namespace tile_tune;
using namespace tile_tune::einsum;

namespace {

Made made(std::string_view text, const Known& known = {}) {
  const auto parsed = parse(text);
  if (!parsed) FAIL(render(parsed.error()));
  auto result = make_program(*parsed, known);
  if (!result) FAIL(render(result.error()));
  const auto valid = ir::validate(result->program);
  if (!valid) FAIL(render(valid.error()));
  return std::move(*result);
}

std::vector<std::string> statements(const ir::Program& program) {
  std::vector<std::string> texts;
  for (const auto& statement : program.statements) texts.push_back(ir::to_text(program, statement));
  return texts;
}

using Texts = std::vector<std::string>;

ir::Program tc_program(const std::string& text, const ir::Sizes& sizes) {
  const auto parsed = tc::parse(text, "test.tc");
  if (!parsed) FAIL(render(parsed.error()));
  auto bound = ir::bind(parsed->programs.front(), sizes);
  REQUIRE(bound);
  return std::move(*bound);
}

}  // namespace

TEST_CASE("names, symbolic sizes and ranges") {
  const auto product = made("ij,jk->ik").program;
  CHECK(product.name == "einsum");
  CHECK(product.sizes == Texts{"i", "j", "k"});
  CHECK(ir::signature(product) == "einsum(float(i,j) in0, float(j,k) in1) -> (float(i,k) out)");
  CHECK(statements(product) == Texts{"out(i,k) +=! in0(i,j) * in1(j,k)"});
  CHECK(product.statements[0].indices[2].reason == "in0(i,j), dimension 1");
  // Labels that are no identifiers have one name everywhere.
  const auto other = made("0α->α0").program;
  CHECK(other.sizes == Texts{"label_0", "label_u3b1"});
  CHECK(statements(other) == Texts{"out(label_u3b1,label_0) = in0(label_0,label_u3b1)"});
  CHECK(other.statements[0].indices[0].reason == "in0(label_0,label_u3b1), dimension 1");
  CHECK(statements(made("ij->ji").program) == Texts{"out(j,i) = in0(i,j)"});
}

TEST_CASE("shapes and sizes tell what binding wants") {
  CHECK(made("ij,jk->ik").sizes.empty());
  const Known known{{{DType::F32, Shape{2, 3}}, {}}, {}, {{"k", 5}, {"other", 7}}};
  CHECK(made("ij,jk->ik", known).sizes == ir::Sizes{{"i", 2}, {"j", 3}, {"k", 5}});
}

TEST_CASE("a network is a statement a step, in the cheapest order once sizes are known") {
  CHECK(statements(made("ij,jk,kl->il").program) ==
        Texts{"partial0(i,k) +=! in0(i,j) * in1(j,k)", "out(i,l) +=! partial0(i,k) * in2(k,l)"});
  const Known known{{}, {}, {{"i", 64}, {"j", 64}, {"k", 64}, {"l", 2}}};
  const auto planned = made("ij,jk,kl->il", known).program;
  CHECK(statements(planned) == Texts{"partial0(j,l) +=! in1(j,k) * in2(k,l)", "out(i,l) +=! in0(i,j) * partial0(j,l)"});
  // Parentheses win over the cheapest order.
  CHECK(statements(made("(ij,jk),kl->il", known).program).front() == "partial0(i,k) +=! in0(i,j) * in1(j,k)");
  CHECK(statements(made("ij,k->ik").program) == Texts{"partial0(i) +=! in0(i,j)", "out(i,k) = partial0(i) * in1(k)"});
}

TEST_CASE("operands in any order are one computation") {
  struct Network {
    Texts operands;
    std::string result;
    ir::Sizes sizes;
  };
  const ir::Sizes equal{{"a", 8}, {"b", 8}, {"c", 8}, {"d", 8}, {"e", 8}};
  const std::vector<Network> networks{
      {{"ab", "bc", "cd"}, "ad", {{"a", 30}, {"b", 4}, {"c", 50}, {"d", 6}}},
      {{"ab", "bc", "cd"}, "ad", equal},  // two orders of one cost
      {{"ab", "bc", "cd"}, "da", {{"a", 4}, {"b", 40}, {"c", 3}, {"d", 7}}},
      {{"ab", "cb", "cd", "de"}, "ae", {{"a", 3}, {"b", 5}, {"c", 4}, {"d", 5}, {"e", 9}}},
      {{"ab", "bc", "cd", "de"}, "ae", equal},
      {{"ab", "bc", "ca"}, "", equal},
      {{"abe", "b", "bce", "dc"}, "aed", {{"a", 2}, {"b", 6}, {"c", 3}, {"d", 5}, {"e", 4}}},
      {{"a", "a", "a", "a"}, "a", equal},
      {{"ab", "a", "cd"}, "", {{"a", 2}, {"b", 3}, {"c", 4}, {"d", 5}}},
  };
  for (auto [operands, result, sizes] : networks) {
    std::sort(operands.begin(), operands.end());
    std::set<std::string> hashes;
    do {
      const auto text = fmt::format("{}->{}", fmt::join(operands, ","), result);
      INFO(text);
      hashes.insert(ir::content_hash(program_of(text, {{}, {}, sizes})));
      CHECK(hashes.size() == 1);
    } while (std::next_permutation(operands.begin(), operands.end()));
  }
  // What is written from the left stays so: the result's last axis is innermost in what steps leave.
  const Known known{{}, {}, networks[0].sizes};
  CHECK(statements(made("ab,bc,cd->ad", known).program)[0] == "partial0(b,d) +=! in1(b,c) * in2(c,d)");
  CHECK(statements(made("cd,ab,bc->ad", known).program)[0] == "partial0(b,d) +=! in2(b,c) * in0(c,d)");
}

TEST_CASE("larger networks in any order are one computation, and keep their parentheses") {
  const ir::Sizes sizes{{"a", 4},  {"b", 30}, {"c", 5}, {"d", 20}, {"e", 3},
                        {"f", 16}, {"g", 7},  {"h", 9}, {"i", 11}, {"j", 2}};
  std::mt19937 engine(1);
  for (Texts operands :
       {Texts{"ab", "bc", "cd", "de", "ef", "fg", "gh", "hi"},
        Texts{"ab", "bc", "cdj", "de", "efj", "fg", "gaj", "h", "bh", "cih"},
        Texts{"ab", "bc", "cd", "de", "ef", "fg", "gh", "hi", "ij", "ace", "bdf", "ceg", "dj", "eh", "gi"}}) {
    std::set<std::string> hashes;
    for (int run = 0; run < 6; ++run) {
      const auto text = fmt::format("{}->ai", fmt::join(operands, ","));
      INFO(text);
      hashes.insert(ir::content_hash(program_of(text, {{}, {}, sizes})));
      CHECK(hashes.size() == 1);
      std::shuffle(operands.begin(), operands.end(), engine);
    }
  }
  const auto grouped = made("ab,bc,cd,(de,ef),fg,gh,hi,ij->aj", {{}, {}, sizes}).program;
  CHECK(statements(grouped).front() == "partial0(d,f) +=! in4(e,f) * in3(d,e)");
  const auto left = made("(((((((ab,bc),cd),de),ef),fg),gh),hi),ij->aj", {{}, {}, sizes}).program;
  CHECK(statements(left).back() == "out(a,j) +=! partial6(i,a) * in8(i,j)");
}

TEST_CASE("a network of two hundred operands is planned, and its steps have few dimensions") {
  // Twenty rows of ten sites, bonds of one and of two elements: an order that counted elements alone would not mind
  // what has more dimensions than tensors may have.
  for (const int64_t extent : {1, 2}) {
    std::vector<std::vector<int64_t>> sites(200);
    Known known;
    int64_t labels = 0;
    const auto bond = [&](size_t a, size_t b) {
      sites[a].push_back(labels);
      sites[b].push_back(labels++);
    };
    for (size_t site = 0; site < sites.size(); ++site) {
      if (site % 10 < 9) bond(site, site + 1);
      if (site + 10 < sites.size()) bond(site, site + 10);
    }
    for (const auto& site : sites) known.operands.push_back({DType::F32, Shape(site.size(), extent)});
    const auto einsum = parse(sites, {});
    REQUIRE(einsum);
    const auto program = make_program(*einsum, known);
    if (!program) FAIL(render(program.error()));
    CHECK(program->program.statements.size() == 199);
    for (const auto& tensor : program->program.tensors) CHECK(tensor.extents.size() <= 12);
  }
}

TEST_CASE("types: operands are widened, partial results wide, the output as ruled") {
  const auto output_type = [](std::string_view text, const Known& known) {
    const auto program = made(text, known).program;
    return program.tensors[program.outputs[0]].type;
  };
  CHECK(output_type("i,i->", {{{DType::I32, {}}, {DType::F32, {}}}, {}, {}}) == DType::F64);
  CHECK(output_type("i,i->", {{{DType::I8, {}}, {DType::I8, {}}}, {}, {}}) == DType::I32);
  CHECK(output_type("i->i", {{{DType::I8, {}}}, {}, {}}) == DType::I8);
  CHECK(output_type("i,i->i", {{{DType::F16, {}}, {DType::F16, {}}}, {}, {}}) == DType::F16);
  CHECK(output_type("i,i->i", {{{DType::F16, {}}, {DType::F16, {}}}, DType::F64, {}}) == DType::F64);
  const auto chain = made("ij,jk,kl->il", {{{DType::F16, {}}, {DType::F16, {}}, {DType::F16, {}}}, {}, {}}).program;
  CHECK(chain.tensors[chain.statements[0].target].type == DType::F32);
  CHECK(chain.statements[1].accumulator == DType::F32);
}

TEST_CASE("TC and einsum spell one program") {
  struct Spelling {
    std::string einsum, tc;
    ir::Sizes einsum_sizes, tc_sizes;
  };
  const ir::Sizes ijk{{"i", 13}, {"j", 7}, {"k", 17}}, mnk{{"M", 13}, {"N", 17}, {"K", 7}};
  const std::vector<Spelling> spellings{
      {"ij,jk->ik", "def mm(float(M,K) A, float(K,N) B) -> (C) { C(m,n) +=! A(m,k) * B(k,n) }", ijk, mnk},
      {"ij,kj->ik", "def mm(float(M,K) A, float(N,K) B) -> (C) { C(m,n) +=! A(m,k) * B(n,k) }", ijk, mnk},
      {"ij,j->i",
       "def mv(float(M,K) A, float(K) x) -> (y) { y(m) +=! A(m,k) * x(k) }",
       {{"i", 5}, {"j", 3}},
       {{"M", 5}, {"K", 3}}},
      {"ij->ji", "def t(float(M,N) A) -> (B) { B(n,m) = A(m,n) }", {{"i", 5}, {"j", 3}}, {{"M", 5}, {"N", 3}}},
      {"i,j->ij",
       "def o(float(M) A, float(N) B) -> (C) { C(m,n) = A(m) * B(n) }",
       {{"i", 5}, {"j", 3}},
       {{"M", 5}, {"N", 3}}},
      {"ii->", "def tr(float(M,M) A) -> (t) { t +=! A(i,i) }", {{"i", 5}}, {{"M", 5}}},
  };
  for (const auto& one : spellings) {
    INFO(one.einsum);
    const auto einsum_program = program_of(one.einsum, {{}, {}, one.einsum_sizes});
    const auto tc = tc_program(one.tc, one.tc_sizes);
    CHECK(ir::content_hash(ir::canonicalize(einsum_program)) == ir::content_hash(ir::canonicalize(tc)));
  }
  const auto half = program_of("ij,jk->ik", {{{DType::F16, {}}, {DType::F16, {}}}, {}, ijk});
  const auto half_tc = tc_program("def mm(half(M,K) A, half(K,N) B) -> (C) { C(m,n) +=! A(m,k) * B(k,n) }", mnk);
  CHECK(ir::content_hash(ir::canonicalize(half)) == ir::content_hash(ir::canonicalize(half_tc)));
  const auto other = program_of("ij,jk->ki", {{}, {}, ijk});
  CHECK(ir::content_hash(ir::canonicalize(other)) !=
        ir::content_hash(ir::canonicalize(program_of("ij,jk->ik", {{}, {}, ijk}))));
}
