// einsum:SUBSCRIPTS as a program of every command: sizes by label, types and shapes by option or by array.
#include <catch2/catch.hpp>
#include <complex>
#include <functional>
#include <nlohmann/json.hpp>

#include "frontend/tensor/convert.h"
#include "frontend/tensor/npy.h"
#include "tests/integration/cli/arrays.h"

using namespace tile_tune;
using namespace tile_tune::test;

namespace {

tensor::Array filled(DType type, std::vector<int64_t> shape) {
  auto array = tensor::Array::zeros(type, std::move(shape));
  for (int64_t i = 0; i < array.element_count(); ++i) {
    const auto value = static_cast<double>(pattern(i));
    if (is_complex(type))
      tensor::store_complex(type, array.data.data(), i, {value, static_cast<double>(pattern(i + 3))});
    else if (is_float(type))
      tensor::store_real(type, array.data.data(), i, value);
    else
      tensor::store_integer(type, array.data.data(), i, pattern(i));
  }
  return array;
}

tensor::Array load(const Sandbox& box, const std::string& name) {
  auto array = tensor::read_npy(box.path(name));
  REQUIRE(array);
  return std::move(*array);
}

/// The last line of standard error that begins with "error" or holds ": error:".
void check_error(const Finished& finished, int exit_code, const std::string& code) {
  INFO(finished.err);
  CHECK(finished.exit_code == exit_code);
  CHECK(finished.err.find("[" + code + "]") != std::string::npos);
  CHECK(finished.out.empty());
}

}  // namespace

TEST_CASE("check shows an einsum with symbolic sizes, with sizes, and with shapes") {
  const Sandbox box;
  const auto symbolic = box.run({"check", "einsum:ij,jk->ik"});
  INFO(symbolic.err);
  REQUIRE(symbolic.exit_code == 0);
  CHECK(symbolic.out.find("einsum(float(i,j) in0, float(j,k) in1) -> (float(i,k) out)") != std::string::npos);
  CHECK(symbolic.out.find("out(i,k) +=! in0(i,j) * in1(j,k)") != std::string::npos);

  const auto sized = box.run({"check", "einsum:αj,jk->αk", "-s", "α=3", "-s", "j=5", "--size", "k=7", "--json"});
  INFO(sized.err);
  REQUIRE(sized.exit_code == 0);
  CHECK(nlohmann::json::parse(sized.out)["programs"][0]["flops"] == 2 * 3 * 5 * 7);

  const auto shaped = box.run({"check", "einsum:...i,i->...", "--shape", "in0=4,1,2", "--shape", "in1=2", "--dtype",
                               "i8", "--dtype", "out=i64", "--json"});
  INFO(shaped.err);
  REQUIRE(shaped.exit_code == 0);
  const auto output = nlohmann::json::parse(shaped.out)["programs"][0]["outputs"][0];
  CHECK(output["extents"] == std::vector<int>{4, 1});
  CHECK(output["dtype"] == "i64");

  // The order is the cheapest once sizes are known.
  const auto chain = box.run({"check", "einsum:ij,jk,kl->il", "-s", "i=64", "-s", "j=64", "-s", "k=64", "-s", "l=2"});
  REQUIRE(chain.exit_code == 0);
  CHECK(chain.out.find("partial0(j,l) +=! in1(j,k) * in2(k,l)") != std::string::npos);
}

TEST_CASE("einsums that are wrong or do not fit") {
  const Sandbox box;
  const auto unknown = box.run({"check", "einsum:ij,jk->iz"});
  check_error(unknown, 2, "unknown-output-label");
  CHECK(unknown.err.find("einsum:1:16: error:") != std::string::npos);
  CHECK(unknown.err.find("  einsum:ij,jk->iz\n                 ^\n") != std::string::npos);
  check_error(box.run({"check", "einsum:...i->..."}), 3, "missing-shape");
  check_error(box.run({"check", "einsum:ij->i", "--shape", "in0=3"}), 3, "rank-mismatch");
  check_error(box.run({"check", "einsum:ij->i", "--shape", "in0=3,4", "-s", "i=5"}), 3, "size-conflict");
  check_error(box.run({"check", "einsum:ij->i", "-s", "i=5"}), 3, "missing-size");
  check_error(box.run({"check", "einsum:ij->i", "-s", "q=5"}), 3, "unknown-size");
  check_error(box.run({"check", "einsum:ij->i", "--shape", "in1=3"}), 2, "unknown-tensor");
  check_error(box.run({"check", "einsum:ij->i", "--shape", "in0=3,x"}), 2, "bad-shape");
  check_error(box.run({"check", "einsum:ij->i", "--shape", "in0=3,"}), 2, "bad-shape");
  check_error(box.run({"check", "einsum:ij->i", "--shape", "3,4"}), 2, "bad-shape");
  check_error(box.run({"check", "einsum:ij->i", "--dtype", "float"}), 2, "bad-dtype");
  check_error(box.run({"check", "einsum:ij->i", "--dtype", "f64", "--dtype", "out=f32"}), 2, "narrowing");
  check_error(box.run({"check", "matmul.tc", "--dtype", "f64"}), 2, "command-line");
  check_error(box.run({"check", "matmul.tc", "--shape", "A=2,2"}), 2, "command-line");
}

TEST_CASE("run takes an einsum's types and shapes from the arrays") {
  const Sandbox box;
  save(box, "a.npy", filled(DType::F32, {13, 7}));
  save(box, "b.npy", filled(DType::F32, {7, 17}));
  for (const std::string engine : {"reference", "default"}) {
    const auto result = box.run({"run", "einsum:ij,jk->ki", "--input", "in0=a.npy", "--input", "in1=b.npy",
                                 "--output-dir", engine, "--engine", engine});
    INFO(result.err);
    REQUIRE(result.exit_code == 0);
    CHECK(result.out == "out  f32  (17, 13)  " + engine + "/out.npy\n");
    const auto out = load(box, engine + "/out.npy");
    for (int64_t k = 0; k < 17; ++k)
      for (int64_t i = 0; i < 13; ++i) {
        int64_t sum = 0;
        for (int64_t j = 0; j < 7; ++j) sum += pattern(i * 7 + j) * pattern(j * 17 + k);
        REQUIRE(out.as<float>()[k * 13 + i] == static_cast<float>(sum));
      }
  }
  const auto with = [&](std::vector<std::string> more) {
    std::vector<std::string> arguments{"run", "einsum:ij,jk->ki", "--input", "in0=a.npy", "--output-dir", "x"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return box.run(arguments);
  };
  check_error(with({"--input", "in1=b.npy", "--dtype", "f64"}), 3, "dtype-mismatch");
  check_error(with({"--input", "in1=b.npy", "--shape", "in1=17,7"}), 3, "shape-mismatch");
  check_error(with({"--input", "in1=b.npy", "-s", "j=8"}), 3, "size-conflict");
  check_error(with({"--input", "in1=a.npy"}), 3, "size-conflict");
  check_error(with({}), 3, "missing-input");
  check_error(with({"--input", "in2=b.npy"}), 3, "unknown-input");
}

TEST_CASE("run broadcasts, mixes types, and chains, with both engines") {
  const Sandbox box;
  save(box, "a.npy", filled(DType::I8, {3, 1, 5}));
  save(box, "b.npy", filled(DType::I8, {4, 5}));
  save(box, "c.npy", filled(DType::F32, {4}));
  for (const std::string engine : {"reference", "default"}) {
    const auto result =
        box.run({"run", "einsum:...j,...j,...->...", "--input", "in0=a.npy", "--input", "in1=b.npy", "--input",
                 "in2=c.npy", "--output-dir", engine, "--engine", engine, "--dtype", "out=f64"});
    INFO(result.err);
    REQUIRE(result.exit_code == 0);
    const auto out = load(box, engine + "/out.npy");
    REQUIRE(out.shape == std::vector<int64_t>{3, 4});
    for (int64_t a = 0; a < 3; ++a)
      for (int64_t b = 0; b < 4; ++b) {
        int64_t sum = 0;
        for (int64_t j = 0; j < 5; ++j) sum += pattern(a * 5 + j) * pattern(b * 5 + j) * pattern(b);
        REQUIRE(out.as<double>()[a * 4 + b] == static_cast<double>(sum));
      }
  }
}

TEST_CASE("run of complex numbers and of bf16 by the reference") {
  const Sandbox box;
  const auto a = filled(DType::C64, {3, 2}), b = filled(DType::C64, {2, 4});
  save(box, "a.npy", a);
  save(box, "b.npy", b);
  const auto result = box.run({"run", "einsum:ij,jk->ik", "--input", "in0=a.npy", "--input", "in1=b.npy",
                               "--output-dir", "out", "--engine", "reference"});
  INFO(result.err);
  REQUIRE(result.exit_code == 0);
  CHECK(result.out == "out  c64  (3, 4)  out/out.npy\n");
  const auto out = load(box, "out/out.npy");
  REQUIRE(out.type == DType::C64);
  using Complex = std::complex<double>;
  for (int64_t i = 0; i < 3; ++i)
    for (int64_t k = 0; k < 4; ++k) {
      Complex sum = 0;
      for (int64_t j = 0; j < 2; ++j) sum += a.as<Complex>()[i * 2 + j] * b.as<Complex>()[j * 4 + k];
      CHECK(out.as<Complex>()[i * 4 + k] == sum);
    }
  save(box, "h.npy", filled(DType::BF16, {4}));
  REQUIRE(box.run({"run", "einsum:i,i->", "--input", "in0=h.npy", "--input", "in1=h.npy", "--output-dir", "half",
                   "--engine", "reference", "--dtype", "bf16"})
              .exit_code == 0);
  auto half = tensor::read_npy(box.path("half/out.npy"), DType::BF16);
  REQUIRE(half);
  CHECK(tensor::load_real(DType::BF16, half->data.data(), 0) == 25 + 4 + 4 + 25);
}

TEST_CASE("build makes a function named einsum, or as --name says") {
  const Sandbox box;
  const auto plain = box.run({"build", "einsum:ij,jk->ik", "-s", "i=3", "-s", "j=5", "-s", "k=7", "-o", "out"});
  INFO(plain.err);
  REQUIRE(plain.exit_code == 0);
  CHECK(box.read("out/include/einsum.h").find("int einsum(const float* in0, const float* in1, float* out)") !=
        std::string::npos);
  const auto named =
      box.run({"build", "einsum:i->", "--shape", "in0=9", "--dtype", "i8", "-o", "out", "--name", "total"});
  INFO(named.err);
  REQUIRE(named.exit_code == 0);
  CHECK(box.read("out/include/total.h").find("int total(const int8_t* in0, int32_t* out)") != std::string::npos);
}

TEST_CASE("an einsum's order is given by --path, and explain tells it") {
  const Sandbox box;
  const std::vector<std::string> chain{"einsum:ij,jk,kl->il", "-s", "i=8", "-s", "j=9", "-s", "k=7", "-s", "l=5"};
  const auto with = [&](const char* verb, std::vector<std::string> more) {
    std::vector<std::string> words{verb};
    words.insert(words.end(), chain.begin(), chain.end());
    words.insert(words.end(), more.begin(), more.end());
    return box.run(words);
  };
  for (const std::string path : {"0,1;0,1", "1,2;0,1", "0,2;0,1"}) {
    const auto explained = with("explain", {"--path", path});
    INFO(explained.err);
    CHECK(explained.exit_code == 0);
    CHECK(explained.out.find("\n  path: " + path + "\n") != std::string::npos);
    CHECK(nlohmann::json::parse(with("explain", {"--path", path, "--json"}).out)["programs"][0]["path"] == path);
  }
  CHECK(with("check", {"--path", "0,1;0,1"}).out.find("partial0(i,k) +=! in0(i,j) * in1(j,k)") != std::string::npos);
  const auto refused = with("check", {"--path", "0,1;0,2"});
  check_error(refused, 2, "bad-path");
  CHECK(refused.err.find("--path:1:5: error: ") != std::string::npos);
  CHECK(refused.err.find("0,1;0,2\n") != std::string::npos);
  check_error(with("check", {"--path", "0,1"}), 2, "bad-path");
  check_error(box.run({"check", "einsum:(ij,jk),kl->il", "--path", "0,1;0,1"}), 2, "bad-path");
  box.write("f.tc", "def f(float(N) A) -> (o) { o(i) = A(i) }");
  check_error(box.run({"check", "f.tc", "--path", "0,1"}), 2, "command-line");
  // The same numbers whichever order.
  save(box, "a.npy", filled(DType::F32, {8, 9}));
  save(box, "b.npy", filled(DType::F32, {9, 7}));
  save(box, "c.npy", filled(DType::F32, {7, 5}));
  std::vector<std::vector<std::byte>> results;
  for (const char* path : {"0,1;0,1", "0,2;0,1"}) {
    const auto ran = box.run({"run", "einsum:ij,jk,kl->il", "--input", "in0=a.npy", "--input", "in1=b.npy", "--input",
                              "in2=c.npy", "--path", path, "--output-dir", "x", "--engine", "default"});
    INFO(ran.err);
    REQUIRE(ran.exit_code == 0);
    results.push_back(load(box, "x/out.npy").data);
  }
  CHECK(results[0] == results[1]);
}

TEST_CASE("the steps of a network are tuned alone, and found by other networks") {
  const Sandbox box;
  const auto tuned = box.run({"tune", "einsum:ij,jk,kl->il", "-s", "i=96", "-s", "j=80", "-s", "k=72", "-s", "l=64",
                              "--trials", "36", "--seed", "1", "--db", "t.db"});
  INFO(tuned.err);
  REQUIRE(tuned.exit_code == 0);
  CHECK(tuned.err.find("first its step jk,kl->jl (j=80 k=72 l=64)") != std::string::npos);
  // The network and its two steps.
  const auto listed = nlohmann::json::parse(box.run({"db", "list", "--db", "t.db", "--json"}).out);
  CHECK(listed.size() == 3);
  // One of the steps is in this network, too, which is not tuned itself.
  const std::vector<std::string> other{
      "einsum:ij,jk,kl->il", "-s", "i=90", "-s", "j=80", "-s", "k=72", "-s", "l=64", "--db", "t.db"};
  const auto with = [&](std::vector<std::string> words, const std::vector<std::string>& more) {
    words.insert(words.end(), other.begin(), other.end());
    words.insert(words.end(), more.begin(), more.end());
    return box.run(words);
  };
  const auto explained = with({"explain"}, {});
  INFO(explained.out);
  CHECK(explained.out.find("as tuned alone") != std::string::npos);
  const auto json = nlohmann::json::parse(with({"explain"}, {"--json"}).out)["programs"][0]["statements"];
  CHECK(std::count_if(json.begin(), json.end(), [](const auto& one) { return one.contains("tuned_ns"); }) == 1);
}

// Both were refused as wrong: LLVM leaves out the product of a sum by the 0 beside a real number, infinite or not, and
// a sum of -1 and 1 by 0 has either sign.
TEST_CASE("a complex network that ends with a real factor is built, and a zero has the sign of a sum that is none") {
  const Sandbox box;
  const auto built = box.run({"build", "einsum:ij,jk,k->ik", "-s", "i=4", "-s", "j=5", "-s", "k=4", "--dtype", "c64",
                              "--dtype", "in2=f64", "-o", "out"});
  INFO(built.err);
  CHECK(built.exit_code == 0);
  for (const char* type : {"f16", "f32"}) {
    const auto array = [&](const char* file, const std::vector<double>& values, const std::vector<int64_t>& shape) {
      tensor::Array filled = tensor::Array::zeros(*parse_dtype(type), shape);
      for (size_t i = 0; i < values.size(); ++i)
        tensor::store_real(filled.type, filled.data.data(), static_cast<int64_t>(i), values[i]);
      save(box, file, filled);
    };
    array("a.npy", {1, -1}, {2});
    array("b.npy", {-1, -1}, {2, 1});
    array("c.npy", {0}, {});
    const auto ran = box.run({"run", "einsum:i,ij,->", "--dtype", type, "--input", "in0=a.npy", "--input", "in1=b.npy",
                              "--input", "in2=c.npy", "--output-dir", "x"});
    INFO(ran.err);
    CHECK(ran.exit_code == 0);
  }
}
