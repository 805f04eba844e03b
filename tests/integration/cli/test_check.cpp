// tile-tune check: signature, ranges and their bounds, extents, work.
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "sandbox.h"

using namespace tile_tune::test;

TEST_CASE("check prints signature, ranges, what bounds them, and output extents") {
  const Sandbox box;
  const auto result = box.run({"check", "matmul.tc"});
  CHECK(result.exit_code == 0);
  CHECK(result.err.empty());
  CHECK(result.out == R"(matmul(float(M,K) A, float(K,N) B) -> (float(M,N) C)

  C(m,n) +=! A(m,k) * B(k,n)
    index  range   reduced  bounded by
    m      [0, M)           A(m,k), dimension 0
    n      [0, N)           B(k,n), dimension 1
    k      [0, K)  summed   A(m,k), dimension 1

  output  C  f32  (M, N)
)");
}

TEST_CASE("check with sizes adds numbers, FLOP and bytes") {
  const Sandbox box;
  const auto result = box.run({"check", "maxpool2x2.tc", "-s", "B=3", "-s", "C=5", "-s", "H=7", "--size", "W=9"});
  CHECK(result.exit_code == 0);
  // 3*5*3*4 outputs of 4 maxima each; 3*5*7*9 floats read, 180 written.
  CHECK(result.out == R"(maxpool2x2(float(B,C,H,W) input) -> (float(B,C,floor(H/2),floor(W/2)) output)

  output(b,c,i,j) max=! input(b,c,2*i + kw,2*j + kh)
    index  range   reduced  bounded by
    b      [0, 3)           input(b,c,2*i + kw,2*j + kh), dimension 0
    c      [0, 5)           input(b,c,2*i + kw,2*j + kh), dimension 1
    i      [0, 3)           input(b,c,2*i + kw,2*j + kh), dimension 2
    j      [0, 4)           input(b,c,2*i + kw,2*j + kh), dimension 3
    kw     [0, 2)  maximum  where clause
    kh     [0, 2)  maximum  where clause

  output  output  f32  (3, 5, 3, 4)
  work   720 FLOP
  bytes  4.50 kB (3.78 kB read, 720 B written)
)");
}

TEST_CASE("check says what is wrong with a def, not that nobody has its sizes") {
  const Sandbox box;
  box.write("wrong.tc", "def f(float(N) A) -> (O) { O(i) = A(j) }\n");
  const auto result = box.run({"check", "wrong.tc", "-s", "N=4"});
  CHECK(result.exit_code == 2);
  CHECK(result.err.find("[assign-reduces]") != std::string::npos);
  CHECK(result.err.find("[unknown-size]") == std::string::npos);
}

TEST_CASE("check as JSON") {
  const Sandbox box;
  const auto result = box.run({"check", "conv2d.tc", "--json", "-s", "B=1", "-s", "IP=2", "-s", "H=5", "-s", "W=5",
                               "-s", "OP=3", "-s", "KH=3", "-s", "KW=1"});
  REQUIRE(result.exit_code == 0);
  const auto json = nlohmann::json::parse(result.out)["programs"][0];
  CHECK(json["name"] == "conv2d");
  CHECK(json["outputs"][0]["extents"] == nlohmann::json({1, 3, 3, 5}));
  CHECK(json["flops"] == 2.0 * 1 * 3 * 3 * 5 * 2 * 3 * 1);
  CHECK(json["bytes_written"] == 4.0 * 45);
  CHECK(json["statements"][0]["indices"].size() == 7);
}

TEST_CASE("check shows every def of a file, or the one that is named; sizes go to those that have them") {
  const Sandbox box;
  box.write("two.tc",
            "def one(float(N) A) -> (o) { o(i) = A(i) }\n"
            "def two(float(M) A) -> (o) { o += A(i) }\n");
  const auto both = box.run({"check", "two.tc", "-s", "N=3", "-s", "M=4"});
  CHECK(both.exit_code == 0);
  CHECK(both.out.find("one(float(N) A)") != std::string::npos);
  CHECK(both.out.find("two(float(M) A)") != std::string::npos);
  CHECK(both.out.find("starts from the caller's value") != std::string::npos);
  const auto named = box.run({"check", "two.tc:two"});
  CHECK(named.exit_code == 0);
  CHECK(named.out.find("one(") == std::string::npos);
  CHECK(box.run({"check", "two.tc:three"}).exit_code == 2);
  CHECK(box.run({"check", "two.tc", "-s", "N=3", "-s", "M=4", "-s", "Q=1"}).exit_code == 3);
  const auto run = box.run({"run", "two.tc", "--output-dir", "out"});
  CHECK(run.exit_code == 2);
  CHECK(run.err.find("one, two") != std::string::npos);
}

TEST_CASE("a reduction over part of an operand warns, with the guarded read that pads") {
  const Sandbox box;
  box.write("bare.tc", R"(def conv(float(H,W) x, float(KH,KW) w) -> (float(H,W) o) {
  o(h,v) +=! x(h+kh-1,v) * w(kh,kw) where h in 0:H, v in 0:W })");
  const auto symbolic = box.run({"check", "bare.tc"});
  CHECK(symbolic.exit_code == 0);
  CHECK(symbolic.err.find("(h + kh - 1 >= 0 && h + kh - 1 < H ? x(h + kh - 1,v) : 0)") != std::string::npos);
  const std::vector<std::string> sizes{"-s", "H=5", "-s", "W=7", "-s", "KH=3", "-s", "KW=1"};
  const auto with_sizes = [&](std::vector<std::string> command) {
    command.insert(command.end(), sizes.begin(), sizes.end());
    return box.run(command);
  };
  for (const auto& command : {std::vector<std::string>{"check", "bare.tc"},
                              {"build", "bare.tc", "-o", "out"},
                              {"tune", "bare.tc", "--dry-run"}}) {
    const auto result = with_sizes(command);
    CAPTURE(command[0], result.err);
    CHECK(result.exit_code == 0);
    CHECK(result.err.find("warning: kh takes 1 of the 3 values of dimension 0 of w") != std::string::npos);
  }
  box.write("padded.tc", R"(def conv(float(H,W) x, float(KH,KW) w) -> (float(H,W) o) {
  o(h,v) +=! (h+kh-1 >= 0 && h+kh-1 < H ? x(h+kh-1,v) : 0) * w(kh,kw) where h in 0:H, v in 0:W })");
  const auto padded = with_sizes({"check", "padded.tc"});
  CHECK(padded.err.empty());
  CHECK(padded.out.find("    where 0 <= h + kh - 1 < 5\n") != std::string::npos);
}

TEST_CASE("a def that is wrong does not stop the others of its file, and the message says whose it is") {
  const Sandbox box;
  box.write("three.tc", R"(def first(float(N) A) -> (O) { O(i) = A(i) }
def unknown(float(N) A) -> (O) { O(i) = A(i) * y(i) }
def broken(float(N) A) -> (O) { O(i) = A(i @) }
def unended(float(N) A) -> (O) { O(i) = A(i)
def last(float(N,4) A) -> (O) { O(i) +=! A(i,j) }
)");
  const auto all = box.run({"check", "three.tc"});
  CHECK(all.exit_code == 2);
  CHECK(all.out.find("first(float(N) A)") != std::string::npos);
  CHECK(all.out.find("last(float(N,4) A)") != std::string::npos);
  CHECK(all.err.find("three.tc:2:48: error: in def 'unknown': 'y' is not") != std::string::npos);
  CHECK(all.err.find("three.tc:3:44: error: in def 'broken': the character '@'") != std::string::npos);
  CHECK(all.err.find("three.tc:4:5: error: def 'unended' has no closing") != std::string::npos);

  const auto one = box.run({"check", "three.tc:last", "-s", "N=3"});
  INFO(one.err);
  CHECK(one.exit_code == 0);
  CHECK(one.err.empty());
  CHECK(box.run({"check", "three.tc:broken"}).err.find("[unsupported-character]") != std::string::npos);
  CHECK(box.run({"explain", "three.tc:first", "-s", "N=4", "--what", "loops"}).exit_code == 0);
  const auto none = box.run({"check", "three.tc:nobody"});
  CHECK(none.err.find("it has first, unknown, broken, unended, last") != std::string::npos);
  CHECK(box.run({"build", "three.tc", "-s", "N=3", "-o", "out"}).err.find("in def 'unknown'") != std::string::npos);
}

TEST_CASE("sizes that do not fit one def do not hide what others are") {
  const Sandbox box;
  box.write("two.tc", R"(def far(float(N) A) -> (O) { O(i) = A(i) + A(i + 5) where i in 0:2 }
def near(float(N) A) -> (O) { O(i) = A(i) }
)");
  const auto both = box.run({"check", "two.tc", "-s", "N=3"});
  CHECK(both.exit_code == 3);
  CHECK(both.out.find("near(") != std::string::npos);
  CHECK(both.err.find("far: ") != std::string::npos);
}

TEST_CASE("what is no size, target or einsum is told with what would be one") {
  const Sandbox box;
  for (const char* size : {"M=1.5", "M=64.0", "M=1e3"})
    for (const char* verb : {"check", "tune"}) {
      const auto result = box.run({verb, "matmul.tc", "-s", size});
      CHECK(result.exit_code == 2);
      CHECK(result.err == std::string("error: the size '") + size + "' is not a whole number [bad-size]\n");
    }
  CHECK(box.run({"check", "einsum:"}).err.find("'ij,jk->ik'") != std::string::npos);
  CHECK(box.run({"check", "einsum"}).err.find("einsum:ij,jk->ik") != std::string::npos);
  const std::vector<std::string> build{"build", "matvec.tc", "-s", "R=3", "-s", "C=5", "-o", "out", "--target"};
  const auto error = [&](const char* target) {
    auto command = build;
    command.emplace_back(target);
    return box.run(command).err;
  };
  CHECK(error("wasm").find("wasm-32-wasmrt-wasm_simd128") != std::string::npos);
  CHECK(error("arm-64-windows-arm_fp16").find("it can for arm-64-windows without features") != std::string::npos);
}
