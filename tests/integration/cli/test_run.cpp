// tile-tune run: every engine on odd sizes, and arrays that do not fit.
#include <catch2/catch.hpp>
#include <functional>
#include <nlohmann/json.hpp>

#include "frontend/tensor/npy.h"
#include "tests/integration/cli/arrays.h"

using namespace tile_tune;
using namespace tile_tune::test;

namespace {

tensor::Array floats(std::vector<int64_t> shape, const std::function<double(int64_t)>& value = pattern) {
  auto array = tensor::Array::zeros(DType::F32, std::move(shape));
  for (int64_t i = 0; i < array.element_count(); ++i) array.as<float>()[i] = static_cast<float>(value(i));
  return array;
}

std::vector<float> values(const Sandbox& box, const std::string& file) {
  const auto array = tensor::read_npy(box.path(file));
  REQUIRE(array);
  return {array->as<float>(), array->as<float>() + array->element_count()};
}

}  // namespace

TEST_CASE("all engines give the product of odd sizes, row and column order") {
  const Sandbox box;
  constexpr int64_t M = 13, N = 17, K = 7;
  save(box, "a.npy", floats({M, K}));
  save(box, "b.npy", floats({K, N}), true);  // numpy's Fortran order is the same array
  std::vector<float> product(M * N);
  for (int64_t m = 0; m < M; ++m)
    for (int64_t n = 0; n < N; ++n)
      for (int64_t k = 0; k < K; ++k) product[m * N + n] += static_cast<float>(pattern(m * K + k) * pattern(k * N + n));
  const std::vector<std::string> run = {"run", "matmul.tc", "--input", "A=a.npy", "--input", "B=b.npy", "--output-dir"};
  const auto with = [&](std::vector<std::string> more) {
    auto arguments = run;
    arguments.insert(arguments.end(), more.begin(), more.end());
    return box.run(arguments);
  };
  const auto reference = with({"ref", "--engine", "reference"});
  REQUIRE(reference.exit_code == 0);
  CHECK(reference.out == "C  f32  (13, 17)  ref/C.npy\n");
  CHECK(values(box, "ref/C.npy") == product);

  const auto fallen_back = with({"def", "--db", "new.db"});  // nothing is tuned
  INFO(fallen_back.err);
  REQUIRE(fallen_back.exit_code == 0);
  CHECK(fallen_back.err.find("[untuned]") != std::string::npos);
  CHECK(values(box, "def/C.npy") == product);

  const auto column = with({"col", "--engine", "default", "--layout", "col"});
  REQUIRE(column.exit_code == 0);
  INFO(column.err);  // it may say that it waits for another program that times kernels
  CHECK(column.err.find("warning:") == std::string::npos);
  CHECK(values(box, "col/C.npy") == product);
  CHECK(box.read("col/C.npy").find("'fortran_order': True") != std::string::npos);
  CHECK(box.names("ref") == std::vector<std::string>{"C.npy"});
}

TEST_CASE("elements that a layout has in one place have to be equal, whatever computes") {
  const Sandbox box;
  save(box, "a.npy", floats({5, 7}));
  save(box, "rows.npy", floats({5, 7}, [](int64_t i) { return pattern(i % 7); }));
  save(box, "b.npy", floats({7, 3}));
  const auto run = [&](const std::string& a, const std::string& layout, const std::string& engine) {
    return box.run({"run", "matmul.tc", "--input", "A=" + a, "--input", "B=b.npy", "--layout", "A=" + layout,
                    "--engine", engine, "--output-dir", engine + a});
  };
  for (const std::string engine : {"default", "reference"}) {
    CAPTURE(engine);
    for (const char* layout : {"0,1", "1,1", "0,0"}) {
      const auto refused = run("a.npy", layout, engine);
      CHECK(refused.exit_code == 3);
      CHECK(code_of(refused) == "elements-differ");
      CHECK(refused.err.find("elements of A differ that its layout has in one place") != std::string::npos);
    }
    require(run("rows.npy", "0,1", engine));
  }
  CHECK(values(box, "defaultrows.npy/C.npy") == values(box, "referencerows.npy/C.npy"));
}

TEST_CASE("a file in Fortran order is taken as it lies: by a kernel that is tuned for that") {
  const Sandbox box;
  constexpr int64_t M = 13, N = 17, K = 7;
  save(box, "a.npy", floats({M, K}));
  save(box, "b.npy", floats({K, N}), true);
  save(box, "rows.npy", floats({K, N}));
  REQUIRE(box.run({"tune", "matmul.tc", "-s", "M=13,N=17,K=7", "--layout", "B=col", "--trials", "1", "--db", "t.db"})
              .exit_code == 0);
  const auto rung = [&](const std::string& file, const std::string& folder, std::vector<std::string> more) {
    std::vector<std::string> words{"run",          "matmul.tc", "--input", "A=a.npy", "--input", "B=" + file,
                                   "--output-dir", folder,      "--db",    "t.db",    "--json"};
    words.insert(words.end(), more.begin(), more.end());
    const auto result = box.run(words);
    INFO(result.err);
    REQUIRE(result.exit_code == 0);
    return nlohmann::json::parse(result.out)["rung"].get<std::string>();
  };
  CHECK(rung("b.npy", "fortran", {}) == "exact");
  CHECK(rung("rows.npy", "c", {}) != "exact");
  CHECK(rung("b.npy", "said", {"--layout", "B=row"}) != "exact");
  CHECK(rung("rows.npy", "turned", {"--layout", "B=col"}) == "exact");
  CHECK(rung("b.npy", "padded", {"--layout", "B=40,2", "--layout", "C=-30,1"}) != "exact");
  for (const char* folder : {"c", "said", "turned", "padded"})
    CHECK(values(box, std::string(folder) + "/C.npy") == values(box, "fortran/C.npy"));
}

TEST_CASE("in/out outputs start from the given value, else from zeros or the identity with a warning") {
  const Sandbox box;
  box.write("acc.tc", "def acc(float(N) A) -> (s, m) { s += A(i) m max= A(i) }\n");
  save(box, "a.npy", floats({5}, [](int64_t i) { return -1.0 - static_cast<double>(i); }));
  save(box, "s.npy", floats({}, [](int64_t) { return 100.0; }));
  const auto result = box.run(
      {"run", "acc.tc", "--input", "A=a.npy", "--input", "s=s.npy", "--output-dir", "out", "--engine", "reference"});
  INFO(result.err);
  REQUIRE(result.exit_code == 0);
  CHECK(result.err.find("m accumulates") != std::string::npos);
  CHECK(result.err.find("s accumulates") == std::string::npos);
  CHECK(values(box, "out/s.npy") == std::vector<float>{85});
  CHECK(values(box, "out/m.npy") == std::vector<float>{-1});
}

TEST_CASE("a zero extent gives an empty output") {
  const Sandbox box;
  save(box, "a.npy", floats({0, 3}));
  save(box, "b.npy", floats({3}));
  const auto result = box.run({"run", "matvec.tc", "--input", "A=a.npy", "--input", "B=b.npy", "--output-dir", "out",
                               "--engine", "reference", "--json"});
  INFO(result.err);
  REQUIRE(result.exit_code == 0);
  CHECK(nlohmann::json::parse(result.out)["outputs"][0]["shape"] == nlohmann::json({0}));
  CHECK(values(box, "out/o.npy").empty());
}

TEST_CASE("arrays that do not fit the program are exit 3, and nothing is written") {
  const Sandbox box;
  save(box, "a.npy", floats({4, 3}));
  save(box, "b.npy", floats({5}));
  save(box, "flat.npy", floats({12}));
  save(box, "ints.npy", tensor::Array::zeros(DType::I32, {4, 3}));
  save(box, "good.npy", floats({3}));
  box.write("text.npy", "no array at all");
  box.write("short.npy", box.read("a.npy").substr(0, 140));
  struct Bad {
    std::string a, b;
    std::vector<std::string> more;
    int exit_code;
    std::string code;
    std::vector<std::string> mentions;
  };
  const std::vector<Bad> all = {
      {"A=a.npy", "B=b.npy", {}, 3, "size-conflict", {"C", "3", "5", "A", "B"}},
      {"A=a.npy", "B=good.npy", {"-s", "R=9"}, 3, "size-conflict", {"R", "9", "4", "-s"}},
      {"A=flat.npy", "B=good.npy", {}, 3, "rank-mismatch", {"A"}},
      {"A=ints.npy", "B=good.npy", {}, 3, "dtype-mismatch", {"A", "f32", "i32"}},
      {"A=a.npy", "Q=good.npy", {}, 3, "unknown-input", {"Q"}},
      {"A=text.npy", "B=good.npy", {}, 3, "", {"text.npy"}},
      {"A=short.npy", "B=good.npy", {}, 3, "", {"short.npy"}},
      {"A=missing.npy", "B=good.npy", {}, 1, "", {"missing.npy"}},
      {"A=a.npy", "A=a.npy", {}, 2, "bad-input", {"A"}},
  };
  for (const auto& bad : all) {
    std::vector<std::string> arguments{"run", "matvec.tc",    "--input", bad.a,      "--input",
                                       bad.b, "--output-dir", "out",     "--engine", "reference"};
    arguments.insert(arguments.end(), bad.more.begin(), bad.more.end());
    const auto result = box.run(arguments);
    INFO(result.err);
    CHECK(result.exit_code == bad.exit_code);
    CHECK(result.err.find("[" + bad.code) != std::string::npos);
    for (const auto& mention : bad.mentions) CHECK(result.err.find(mention) != std::string::npos);
    CHECK(box.names("out").empty());
  }
  const auto missing = box.run({"run", "matvec.tc", "--input", "A=a.npy", "--output-dir", "out"});
  CHECK(missing.exit_code == 3);
  CHECK(missing.err.find("[missing-input]") != std::string::npos);
}

TEST_CASE("outputs that cannot be written are exit 1") {
  const Sandbox box;
  save(box, "a.npy", floats({4, 3}));
  save(box, "b.npy", floats({3}));
  const std::vector<std::string> run = {"run",     "matvec.tc", "--input",   "A=a.npy",     "--input",
                                        "B=b.npy", "--engine",  "reference", "--output-dir"};
  auto into_file = run;
  into_file.push_back("a.npy/out");
  CHECK(box.run(into_file).exit_code == 1);
  auto limited = run;
  limited.push_back("out");
  const auto result = box.run(limited, 64);  // less than an .npy header
  CHECK(result.exit_code == 1);
  CHECK_FALSE(std::filesystem::exists(box.path("out")));
}

TEST_CASE("outputs are written together or not at all") {
  const Sandbox box;
  box.write("two.tc", "def two(float(N) A) -> (s, copy) { s +=! A(i) copy(i) = A(i) }\n");
  save(box, "a.npy", floats({100}));
  const auto run = [&](const std::string& folder, long limit) {
    return box.run({"run", "two.tc", "--input", "A=a.npy", "--engine", "reference", "--output-dir", folder}, limit);
  };
  CHECK(run("new/out", 200).exit_code == 1);  // the sum's file has 132 bytes, the copy's 528
  CHECK_FALSE(std::filesystem::exists(box.path("new")));
  REQUIRE(run("out", 0).exit_code == 0);
  CHECK(run("out", 200).exit_code == 1);
  CHECK(box.names("out") == std::vector<std::string>{"copy.npy", "s.npy"});
}

TEST_CASE("a schedule from a file is checked") {
  const Sandbox box;
  save(box, "a.npy", floats({4, 3}));
  save(box, "b.npy", floats({3}));
  box.write("schedule.json", R"({"version": 1, "stages": []})");
  const auto result = box.run({"run", "matvec.tc", "--input", "A=a.npy", "--input", "B=b.npy", "--output-dir", "out",
                               "--schedule", "schedule.json"});
  CHECK(result.exit_code == 2);
  CHECK(result.err.find("schedule.json") != std::string::npos);
}

TEST_CASE("arrays without elements may have extents of any size: their results need no kernel") {
  const Sandbox box;
  constexpr int64_t kHuge = int64_t{1} << 62;
  box.write("map.tc", "def f(uint8(M,N) A) -> (o, s) { o(i,j) = A(i,j) s(i) max=! A(i,j) }\n");
  box.write("rest.tc", "def f(float(M,N) A, float(K) B) -> (o, p) { o(i,j) = A(i,j) p(k) = B(k) }\n");
  save(box, "a.npy", tensor::Array{DType::U8, {0, kHuge}, {}});
  save(box, "b.npy", floats({5}));
  save(box, "c.npy", tensor::Array{DType::F32, {kHuge, 0}, {}});
  for (const std::string engine : {"reference", "default", "tuned"}) {
    const auto done = box.run({"run", "map.tc", "--input", "A=a.npy", "--engine", engine, "--output-dir", engine});
    INFO(done.err);
    REQUIRE(done.exit_code == 0);
    CHECK(tensor::read_npy(box.path(engine + "/o.npy"))->shape == std::vector<int64_t>{0, kHuge});
    CHECK(tensor::read_npy(box.path(engine + "/s.npy"))->shape == std::vector<int64_t>{0});
  }
  // Where another output has elements a kernel would have to count to 2^62.
  const auto refused = box.run(
      {"run", "rest.tc", "--input", "A=c.npy", "--input", "B=b.npy", "--output-dir", "out", "--engine", "default"});
  CHECK(refused.exit_code == 3);
  CHECK(refused.err.find("[too-large]") != std::string::npos);
  CHECK_FALSE(std::filesystem::exists(box.path("out")));
}

TEST_CASE("a database that does not exist is told of also where no schedule is asked of it") {
  const Sandbox box;
  box.write("text.db", "this is no database, but it is long enough to be one: " + std::string(2000, 'x'));
  save(box, "a.npy", floats({3, 5}));
  save(box, "x.npy", floats({5}));
  const std::vector<std::string> run = {"run",      "matvec.tc", "--input",      "A=a.npy", "--input", "B=x.npy",
                                        "--engine", "reference", "--output-dir", "out",     "--db"};
  const auto with = [&](const std::string& file) {
    auto command = run;
    command.push_back(file);
    return box.run(command);
  };
  const auto missing = with("missing.db");
  CHECK(missing.exit_code == 0);
  CHECK(missing.err.find("[no-database]") != std::string::npos);
  CHECK(with("text.db").exit_code == 1);
}

TEST_CASE("an output folder that cannot be is found before anything runs") {
  const Sandbox box;
  save(box, "a.npy", floats({3, 5}));
  save(box, "b.npy", floats({5}));
  box.write("file", "");
  std::filesystem::create_directories(box.path("taken/o.npy"));
  std::filesystem::create_symlink(box.path("nowhere"), box.path("dangling"));
  for (const char* folder : {"file", "file/below", "taken", "dangling", "/proc/none"}) {
    // The target is one that nothing runs on: that would be told next.
    const auto ran = box.run({"run", "matvec.tc", "--input", "A=a.npy", "--input", "B=b.npy", "--output-dir", folder,
                              "--target", "arm-64-linux"});
    INFO(folder << ": " << ran.err);
    CHECK(ran.exit_code == 1);
    CHECK(ran.err.find("[cannot-write]") != std::string::npos);
  }
  CHECK(box.run({"run", "matvec.tc", "--input", "A=a.npy", "--input", "B=b.npy", "--output-dir", "new/one", "--target",
                 "arm-64-linux"})
            .exit_code == 5);
  CHECK_FALSE(std::filesystem::exists(box.path("new")));
}
