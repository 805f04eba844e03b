// Borders are peeled off: the interior of every convolution and pool runs without a select, an if or a clamp.
//
// On integers, whose max is one operation: the select that makes a float's maximum see NaN is no guard.
#include <catch2/catch.hpp>
#include <map>
#include <regex>
#include <sstream>

#include "codegen/lower/compile.h"
#include "search/space/space.h"
#include "tests/property/codegen/edsl_program.h"
#include "tests/property/codegen/kernel_check.h"

namespace tile_tune {
namespace {

using edsl::Placeholder;
using edsl::TensorIndex;
using edsl::TensorOutput;
using test::program_of;

/// Innermost loops by the name of their variable, copies that Halide cut apart included; bodies are their text.
std::map<std::string, std::vector<std::string>> innermost_loops(const std::string& text) {
  struct Open {
    std::string name, body;
    size_t indent;
    bool innermost = true;
  };
  std::map<std::string, std::vector<std::string>> loops;
  std::vector<Open> open;
  std::istringstream lines(text);
  const std::regex head(R"(^ *(?:for|parallel|for_parallel)[^(]*\(([^,]+),.*\{$)");
  for (std::string line; std::getline(lines, line);) {
    const size_t indent = line.find_first_not_of(' ');
    if (!open.empty() && indent == open.back().indent && line[indent] == '}') {
      // What Halide cuts off counts from 0 again, under a name that says so.
      auto name = open.back().name;
      if (const auto suffix = name.find(".rebased"); suffix != std::string::npos) name.erase(suffix);
      if (open.back().innermost) loops[name].push_back(open.back().body);
      open.pop_back();
      continue;
    }
    std::smatch match;
    if (std::regex_match(line, match, head)) {
      if (!open.empty()) open.back().innermost = false;
      open.push_back({match[1], "", indent});
    } else if (!open.empty()) {
      open.back().body += line + "\n";
    }
  }
  return loops;
}

bool guarded(const std::string& body) { return std::regex_search(body, std::regex(R"(select\(|if \(|\bmin\()")); }

/// Every innermost loop has a copy without guards, but for the copies of operands, whose rows may end within a vector.
void check_interior(const std::string& name, const ir::Program& program,
                    const codegen::Target& target = test::host(1)) {
  DYNAMIC_SECTION(name) {
    const search::Space space(program, target);
    const auto text = codegen::lowered_loops(program, space.default_schedule(), target);
    REQUIRE(text.has_value());
    const auto loops = innermost_loops(*text);
    REQUIRE(!loops.empty());
    for (const auto& [variable, copies] : loops) {
      if (variable.find("_pack") != std::string::npos) continue;
      CAPTURE(variable, *text);
      CHECK(std::any_of(copies.begin(), copies.end(), [](const std::string& body) { return !guarded(body); }));
    }
  }
}

}  // namespace

TEST_CASE("interiors have no guards", "[property]") {
  TensorIndex n, x, y, i, j, ci, co;
  {
    const auto I = Placeholder(DType::I32, {4, 256, 8}, "I"), K = Placeholder(DType::I32, {3, 8, 16}, "K");
    auto valid = TensorOutput(4, 254, 16), same = TensorOutput(4, 256, 16), larger = TensorOutput(4, 300, 16);
    valid(n, x, co) += I(n, x + i, ci) * K(i, ci, co);
    same(n, x, co) += I(n, x + i - 1, ci) * K(i, ci, co);
    larger(n, x, co) += I(n, x + i - 20, ci) * K(i, ci, co);
    check_interior("conv1d", program_of({I, K}, valid));
    check_interior("conv1d, same size", program_of({I, K}, same));
    check_interior("conv1d, larger than its input", program_of({I, K}, larger));
  }
  {
    const auto I = Placeholder(DType::I32, {2, 64, 64, 8}, "I"), K = Placeholder(DType::I32, {3, 3, 8, 16}, "K");
    auto valid = TensorOutput(2, 62, 58, 16), same = TensorOutput(2, 64, 64, 16), strided = TensorOutput(2, 32, 32, 16);
    valid(n, x, y, co) += I(n, x + i, y + 3 * j, ci) * K(i, j, ci, co);
    same(n, x, y, co) += I(n, x + i - 1, y + j - 1, ci) * K(i, j, ci, co);
    strided(n, x, y, co) += I(n, 2 * x + i - 1, 2 * y + j - 1, ci) * K(i, j, ci, co);
    check_interior("dilated conv2d", program_of({I, K}, valid));
    check_interior("conv2d, same size", program_of({I, K}, same));
    check_interior("conv2d, strided", program_of({I, K}, strided));
  }
  {
    const auto I = Placeholder(DType::I32, {3, 65, 131}, "I");
    auto down = TensorOutput(3, 32, 65), up = TensorOutput(3, 33, 66);
    down(n, x, y) >= I(n, 2 * x + i, 2 * y + j);
    down.add_constraints({i < 2, j < 2});
    up(n, x, y) >= I(n, 2 * x + i, 2 * y + j);
    up.add_constraints({i < 2, j < 2});
    check_interior("max pool", program_of({I}, down));
    check_interior("max pool, rounding up", program_of({I}, up));
  }
}

TEST_CASE("interiors have no guards where the loop around them is cut, or is one with others", "[property]") {
  const auto program = test::bound_program(R"(
    def f(float(3,4,4008) I, float(256,4,7) K) -> (O) {
      O(n,f,x) +=! (2*x + k - 3 >= 0 && 2*x + k - 3 < 4008 ? I(n,c,2*x + k - 3) : 0) * K(f,c,k)
        where x in 0:2004, k in 0:7
    })",
                                           {});
  for (const char* text :
       {"x86-64-linux-avx-avx2-f16c-fma-sse41", "x86-64-linux-avx-avx2-avx512-avx512_skylake-f16c-fma-sse41"}) {
    auto target = codegen::parse_target(text).value();
    target.threads = 2;
    check_interior(text, program, target);
  }
}

TEST_CASE("what a border excludes for all lanes is branched around") {
  TensorIndex n, k, c, h, v, i, j;
  const auto x = Placeholder(DType::F32, {1, 8, 28, 28}, "x"), w = Placeholder(DType::F32, {64, 8, 3, 3}, "w");
  auto same = TensorOutput(1, 64, 28, 28);
  same(n, k, h, v) += x(n, c, h + i - 1, v + j - 1) * w(k, c, i, j);
  const auto program = program_of({x, w}, same);
  const auto target = codegen::parse_target("x86-64-linux-avx-avx2-f16c-fma-sse41").value();
  const auto text = codegen::lowered_loops(program, search::Space(program, target).default_schedule(), target).value();
  CAPTURE(text);
  CHECK(text.find("stage0_part[ramp(0, 1, 8)] = select(") == std::string::npos);
  CHECK(text.find("select(x8(") == std::string::npos);
  CHECK(text.find("if (") != std::string::npos);
}

TEST_CASE("a convolution padded in TC is the program that the eDSL makes of it") {
  TensorIndex n, k, c, h, v, i, j;
  const auto x = Placeholder(DType::F32, {2, 8, 13, 17}, "x"), w = Placeholder(DType::F32, {5, 8, 3, 3}, "w");
  auto same = TensorOutput(2, 5, 13, 17), strided = TensorOutput(2, 5, 7, 9);
  same(n, k, h, v) += x(n, c, h + i - 1, v + j - 1) * w(k, c, i, j);
  strided(n, k, h, v) += x(n, c, 2 * h + i - 1, 2 * v + j - 1) * w(k, c, i, j);
  const auto in_tc = [](const std::string& h, const std::string& v, const std::string& ranges) {
    return test::bound_program("def f(float(2,8,13,17) x, float(5,8,3,3) w) -> (o) { o(n,k,h,v) +=! (" + h +
                                   "+i >= 1 && " + h + "+i <= 13 && " + v + "+j >= 1 && " + v + "+j <= 17 ? x(n,c," +
                                   h + "+i-1," + v + "+j-1) : 0) * w(k,c,i,j) where " + ranges + "}",
                               {});
  };
  CHECK(ir::content_hash(in_tc("h", "v", "h in 0:13, v in 0:17")) == ir::content_hash(program_of({x, w}, same)));
  CHECK(ir::content_hash(in_tc("2*h", "2*v", "h in 0:7, v in 0:9")) == ir::content_hash(program_of({x, w}, strided)));
}

// Guarded reads of TC, with values in the other branch that no constraint could stand for.
TEST_CASE("interiors of guarded reads have no guards", "[property]") {
  const auto check = [](const std::string& name, const std::string& text) {
    check_interior(name, test::bound_program(text, {}));
  };
  check("conv2d padded with zeros", R"(
    def f(int32(2,8,64,64) x, int32(16,8,3,3) w) -> (int32(2,16,64,64) o) {
      o(n,k,h,v) +=! (h + i - 1 >= 0 && h + i - 1 < 64 && v + j - 1 >= 0 && v + j - 1 < 64
                      ? x(n,c,h+i-1,v+j-1) : 0) * w(k,c,i,j) where h in 0:64, v in 0:64
    })");
  check("conv2d padded with another number", R"(
    def f(int32(2,8,64,300) x, int32(16,8,3,3) w) -> (int32(2,16,64,300) o) {
      o(n,k,h,v) +=! (h + i >= 1 && h + i <= 64 && v + j >= 1 && v + j <= 300
                      ? x(n,c,h+i-1,v+j-1) : 7) * w(k,c,i,j) where h in 0:64, v in 0:300
    })");
  check("max pool padded with the least number", R"(
    def f(int32(3,65,131) x) -> (int32(3,65,131) o) {
      o(c,h,v) max=! h + i < 1 || h + i > 65 || v + j < 1 || v + j > 131 ? -2147483647 : x(c,h+i-1,v+j-1)
        where h in 0:65, v in 0:131, i in 0:3, j in 0:3
    })");
  check("stencil with its edges repeated", R"(
    def f(int32(200,300) x) -> (int32(200,300) o) {
      o(h,v) = (h == 0 ? x(h,v) : x(h-1,v)) + (h == 199 ? x(h,v) : x(h+1,v)) +
               (v == 0 ? x(h,v) : v == 1 ? x(h,v-1) : x(h,v-2)) + (v < 298 ? x(h,v+2) : v < 299 ? x(h,v+1) : x(h,v))
        where h in 0:200, v in 0:300
    })");
  check("corners in nested conditionals", R"(
    def f(int32(200,300) x) -> (int32(200,300) o) {
      o(h,v) = h == 0 ? (v == 0 ? x(0,0) : x(0,v-1)) : (v == 0 ? x(h-1,0) : x(h-1,v-1)) where h in 0:200, v in 0:300
    })");
  check("another tensor beyond the border", R"(
    def f(int32(64,300) x, int32(64,400) y) -> (int32(64,400) o) {
      o(h,v) = v >= 5 && v < 305 ? x(h,v-5) : y(h,v) * 3 where h in 0:64, v in 0:400
    })");
  check("sum outside of a window", R"(
    def f(int32(64,300) x, int32(300,20) w) -> (int32(64,20) o) {
      o(h,k) +=! (h < 3 || h > 60 ? 0 : x(h-3,v) + x(h+3,v)) * w(v,k) where h in 0:64
    })");
}

}  // namespace tile_tune
