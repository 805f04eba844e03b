// Running and tuning in process: kernels on strided arrays, outputs in place, errors.
#include <catch2/catch.hpp>
#include <tile_tune/einsum.h>
#include <tile_tune/engine.h>
#include <tile_tune/tc.h>

#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <functional>
#include <stdexcept>

#include "frontend/ir/program.h"
#include "tests/integration/engine/handles.h"

using namespace tile_tune;
using namespace tile_tune::edsl;
using tile_tune::test::floats;

namespace {

template <typename OptionsType = engine::RunOptions>
OptionsType here(const tile_tune::test::Sandbox& box) {
  OptionsType options;
  options.executable = TILE_TUNE_BINARY;
  options.database = box.path("tuning.db").string();
  return options;
}

Program matmul(int64_t M, int64_t N, int64_t K) {
  const auto A = Placeholder(DType::F32, {M, K}, "A"), B = Placeholder(DType::F32, {K, N}, "B");
  TensorIndex i, j, k;
  auto C = TensorOutput(M, N);
  C(i, j) += A(i, k) * B(k, j);
  return Program("matmul", {A, B}, {{"C", C}});
}

std::string code_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const ProgramError& error) {
    return error.code();
  }
  return "";
}

}  // namespace

TEST_CASE("run writes outputs in place, whatever the strides are") {
  const tile_tune::test::Sandbox box;
  constexpr int64_t M = 5, N = 7, K = 3;
  auto a = floats(M * K, 7), b = floats(K * N, 5);
  std::vector<float> c(M * N * 2, -99), expected(M * N);
  for (int64_t i = 0; i < M; ++i)
    for (int64_t j = 0; j < N; ++j)
      for (int64_t k = 0; k < K; ++k)
        // A backwards, B transposed.
        expected[i * N + j] += a[M * K - 1 - (i * K + k)] * b[j * K + k];
  auto options = here(box);
  // The database does not exist: what is tuned is nothing, so Tuned runs with the default.
  for (const auto schedule : {engine::Schedule::Reference, engine::Schedule::Default, engine::Schedule::Tuned}) {
    options.schedule = schedule;
    std::fill(c.begin(), c.end(), -99.0f);
    const auto used = engine::run(matmul(M, N, K),
                                  {{"A", engine::array(&a[M * K - 1], {M, K}, {-K, -1})},
                                   {"B", engine::array(b.data(), {K, N}, {1, K})},
                                   {"C", engine::array(c.data(), {M, N}, {2 * N, 2})}},
                                  options);
    CHECK(used == (schedule == engine::Schedule::Tuned ? engine::Schedule::Default : schedule));
    for (int64_t e = 0; e < M * N; ++e) {
      CHECK(c[2 * e] == expected[e]);
      CHECK(c[2 * e + 1] == -99);  // between the elements
    }
  }
}

TEST_CASE("what does not fit is a ProgramError") {
  const tile_tune::test::Sandbox box;
  const auto program = matmul(2, 2, 2);
  std::vector<float> a(4), b(4), c(4);
  std::vector<double> d(4);
  engine::Arrays arrays{{"A", engine::array(a.data(), {2, 2})},
                        {"B", engine::array(b.data(), {2, 2})},
                        {"C", engine::array(c.data(), {2, 2})}};
  const auto with = [&](const std::string& name, const engine::Array& array) {
    auto other = arrays;
    other[name] = array;
    return code_of([&] { engine::run(program, other, here(box)); });
  };
  CHECK(with("A", engine::array(d.data(), {2, 2})) == "dtype-mismatch");
  CHECK(with("A", engine::array(a.data(), {4})) == "rank-mismatch");
  CHECK(with("A", engine::array(a.data(), {4, 1})) == "size-conflict");
  CHECK(with("C", engine::array(c.data(), {4, 1})) == "size-conflict");
  CHECK(with("C", engine::array(d.data(), {2, 2})) == "dtype-mismatch");
  CHECK(with("B", engine::array(b.data(), {2, 2}, {1})) == "bad-array");
  CHECK(with("B", engine::array(static_cast<float*>(nullptr), {2, 2})) == "bad-array");
  CHECK(with("D", engine::array(a.data(), {2, 2})) == "unknown-array");
  arrays.erase("C");
  CHECK(code_of([&] { engine::run(program, arrays, here(box)); }) == "missing-array");
  auto nowhere = here(box);
  nowhere.executable = box.path("no-such-file").string();
  CHECK(code_of([&] { engine::run(program, arrays, nowhere); }) == "no-executable");
  auto empty = here<engine::TuneOptions>(box);
  empty.trials = 0;
  CHECK(code_of([&] { engine::tune(program, empty); }) == "bad-budget");
}

TEST_CASE("an index outside its tensor is a ProgramError, and outputs stay as they were") {
  const tile_tune::test::Sandbox box;
  const auto programs = tc::parse("def look(float(V) T, int32(N) idx) -> (float(N) O) { O(i) = T(idx(i)) }");
  std::vector<float> table(5, 3), out(10000, -99);
  std::vector<int32_t> idx(10000, 4);
  const engine::Arrays arrays{{"T", engine::array(table.data(), {5})},
                              {"idx", engine::array(idx.data(), {10000})},
                              {"O", engine::array(out.data(), {10000})}};
  auto options = here(box);
  for (const auto schedule : {engine::Schedule::Reference, engine::Schedule::Default}) {
    options.schedule = schedule;
    idx[7777] = -1;
    out.assign(out.size(), -99);
    CHECK(code_of([&] { engine::run(programs.at(0), arrays, options); }) == "gather-out-of-range");
    CHECK(out == std::vector<float>(10000, -99));
    idx[7777] = 0;
    engine::run(programs.at(0), arrays, options);
    CHECK(out == std::vector<float>(10000, 3));
  }
}

TEST_CASE("programs from text run, sizes from the arrays") {
  const tile_tune::test::Sandbox box;
  const auto a = floats(6, 7), x = floats(3, 5);
  std::vector<float> y(2), z(2);
  const auto programs = tc::parse("def mv(float(M,K) A, float(K) x) -> (y) { y(m) +=! A(m,k) * x(k) }");
  REQUIRE(programs.size() == 1);
  auto options = here(box);
  options.schedule = engine::Schedule::Default;
  engine::run(programs[0],
              {{"A", engine::array(a.data(), {2, 3})},
               {"x", engine::array(x.data(), {3})},
               {"y", engine::array(y.data(), {2})}},
              options);
  const auto product = einsum::parse("ij,j->i", {{DType::F32, {2, 3}}, {DType::F32, {3}}});
  engine::run(product,
              {{"in0", engine::array(a.data(), {2, 3})},
               {"in1", engine::array(x.data(), {3})},
               {"out", engine::array(z.data(), {2})}},
              options);
  for (int i = 0; i < 2; ++i) {
    const float expected = a[3 * i] * x[0] + a[3 * i + 1] * x[1] + a[3 * i + 2] * x[2];
    CHECK(y[i] == expected);
    CHECK(z[i] == expected);
  }
  CHECK(code_of([] { tc::parse("def f() -> "); }) != "");
  CHECK(code_of([] { einsum::parse("ij,jk->il"); }) != "");
  CHECK(programs[0].bind({{"M", 2}, {"K", 3}}).json() != programs[0].json());
  CHECK(code_of([&] { programs[0].bind({{"M", 2}}); }) != "");
}

TEST_CASE("tune keeps what run then uses") {
  const tile_tune::test::Sandbox box;
  const auto program = matmul(17, 19, 23);
  auto options = here<engine::TuneOptions>(box);
  options.trials = 3;
  options.seed = 1;
  int called = 0;
  options.progress = [&](const engine::TuneProgress& now) {
    CHECK(now.trials >= 0);
    ++called;
    return true;
  };
  const auto tuned = engine::tune(program, options);
  CHECK(tuned.trials >= 3);
  CHECK(tuned.default_ns > 0);
  CHECK(tuned.tuned_ns > 0);
  CHECK(tuned.ratio > 0);
  CHECK(tuned.seed == 1);
  CHECK(tuned.database == options.database);
  CHECK(called > 0);
  const auto a = floats(17 * 23, 7), b = floats(23 * 19, 5);
  std::vector<float> c(17 * 19);
  const auto used = engine::run(program,
                                {{"A", engine::array(a.data(), {17, 23})},
                                 {"B", engine::array(b.data(), {23, 19})},
                                 {"C", engine::array(c.data(), {17, 19})}},
                                here(box));
  CHECK(used == engine::Schedule::Tuned);
  float first = 0;
  for (int k = 0; k < 23; ++k) first += a[k] * b[19 * k];
  CHECK(c[0] == first);
}

namespace {

/// Everything that a call says.
struct Said {
  std::vector<Message> all;

  engine::RunOptions options(const tile_tune::test::Sandbox& box, engine::Schedule schedule) {
    auto options = here(box);
    options.schedule = schedule;
    options.on_message = [this](const Message& message) { all.push_back(message); };
    return options;
  }
  std::vector<Message> with(const std::string& code) const {
    std::vector<Message> some;
    for (const auto& message : all)
      if (message.code == code) some.push_back(message);
    return some;
  }
};

/// What a call writes to standard error.
std::string errors_of(const tile_tune::test::Sandbox& box, const std::function<void()>& call) {
  const int before = dup(STDERR_FILENO);
  REQUIRE(std::freopen(box.path("errors.txt").c_str(), "w", stderr));
  call();
  std::fflush(stderr);
  dup2(before, STDERR_FILENO);
  close(before);
  return box.read("errors.txt");
}

constexpr const char* kUnused =
    "def first(float(N) A) -> (o) { o(i) = A(i) }\n"
    "def f(float(N) A,\n      float(N) B) -> (o) { o(i) = A(i) }\n";

}  // namespace

TEST_CASE("warnings and notices of a call reach who asks for them, before any work is begun") {
  const tile_tune::test::Sandbox box;
  const auto programs = tc::parse(kUnused, "text.tc");
  CHECK(programs.at(0).warnings().empty());
  REQUIRE(programs.at(1).warnings().size() == 1);
  std::vector<float> a(3, 1), b(3, 2), o(3, -1);
  const engine::Arrays arrays{
      {"A", engine::array(a.data(), {3})}, {"B", engine::array(b.data(), {3})}, {"o", engine::array(o.data(), {3})}};
  Said said;
  auto options = said.options(box, engine::Schedule::Tuned);
  engine::run(programs[1], arrays, options);
  REQUIRE(said.with("unused-input").size() == 1);
  const auto warning = said.with("unused-input")[0];
  CHECK(warning.severity == Message::Severity::Warning);
  CHECK(warning.file == "text.tc");
  CHECK(warning.line == 3);
  CHECK(warning.text.find("text.tc:3:16: warning: the input 'B' is never read [unused-input]") == 0);
  CHECK(said.with("untuned").size() == 1);
  CHECK(o == a);
  // With numbers, too.
  said.all.clear();
  engine::run(programs[1].bind({{"N", 3}}), arrays, options);
  CHECK(said.with("unused-input").size() == 1);
  // Whoever throws ends the call.
  std::fill(o.begin(), o.end(), -1.0f);
  options.on_message = [](const Message& message) { throw std::runtime_error(message.code); };
  CHECK_THROWS_WITH(engine::run(programs[1], arrays, options), "unused-input");
  CHECK(o[0] == -1);
  auto tuning = here<engine::TuneOptions>(box);
  tuning.trials = 1;
  tuning.on_message = options.on_message;
  CHECK_THROWS_WITH(engine::tune(programs[1].bind({{"N", 3}}), tuning), "unused-input");
  CHECK_FALSE(std::filesystem::exists(tuning.database));
}

TEST_CASE("what the sizes in a program's text give rise to is told as well") {
  const tile_tune::test::Sandbox box;
  const std::string rest = ") x, float(3) w) -> (y) { y(h) +=! x(h+k-1) * w(k) where h in 0:7 }";
  for (const bool has_numbers : {false, true}) {
    const auto program = tc::parse(has_numbers ? "def f(float(7" + rest : "def f(float(H" + rest).at(0);
    CHECK(program.warnings().size() == (has_numbers ? 1 : 0));
    std::vector<float> x(7, 1), w(3, 1), y(7, -1);
    const engine::Arrays arrays{
        {"x", engine::array(x.data(), {7})}, {"w", engine::array(w.data(), {3})}, {"y", engine::array(y.data(), {7})}};
    auto options = here(box);
    options.schedule = engine::Schedule::Reference;
    options.on_message = [](const Message& message) { throw std::runtime_error(message.code); };
    CHECK_THROWS_WITH(engine::run(program, arrays, options), "partial-reduction");
    auto tuning = here<engine::TuneOptions>(box);
    tuning.trials = 1;
    tuning.on_message = options.on_message;
    CHECK_THROWS_WITH(engine::tune(has_numbers ? program : program.bind({{"H", 7}}), tuning), "partial-reduction");
  }
}

TEST_CASE("a sum that cannot be put into steps is told of when its sizes are known") {
  const tile_tune::test::Sandbox box;
  for (const bool has_numbers : {false, true}) {
    const std::string n = has_numbers ? "9" : "N", size = "float(" + n + "," + n + ") ";
    const auto program = tc::parse("def f(" + size + "A, " + size + "B, " + size +
                                   "C) -> (O) { O(i,l) +=! A(i,j) * B(j,k) * C(k,l) - A(j,i) * B(j,k) * C(k,l) }")
                             .at(0);
    CHECK(program.warnings().size() == (has_numbers ? 1 : 0));
    std::vector<float> a(81, 1), o(81, -1);
    const engine::Arrays arrays{{"A", engine::array(a.data(), {9, 9})},
                                {"B", engine::array(a.data(), {9, 9})},
                                {"C", engine::array(a.data(), {9, 9})},
                                {"O", engine::array(o.data(), {9, 9})}};
    auto options = here(box);
    options.schedule = engine::Schedule::Reference;
    options.on_message = [](const Message& message) { throw std::runtime_error(message.code); };
    CHECK_THROWS_WITH(engine::run(program, arrays, options), "unfactored-sum");
  }
}

TEST_CASE("without anybody who asks, warnings go to standard error once, notices nowhere") {
  const tile_tune::test::Sandbox box;
  auto options = here(box);
  options.schedule = engine::Schedule::Reference;
  const auto program = tc::parse("def once(float(N) A, float(N) Unused) -> (o) { o(i) = A(i) }", "once.tc").at(0);
  std::vector<float> a(6, 1), b(3), o(3);
  const engine::Arrays arrays{{"A", engine::array(a.data(), {3}, {2})},
                              {"Unused", engine::array(b.data(), {3})},
                              {"o", engine::array(o.data(), {3})}};
  const auto written = errors_of(box, [&] {
    engine::run(program, arrays, options);
    engine::run(program, arrays, options);
  });
  const std::string sentence = "once.tc:1:31: warning: the input 'Unused' is never read [unused-input]";
  CHECK(written.find(sentence) == 0);
  CHECK(written.find(sentence, 1) == std::string::npos);
  CHECK(written.find("strided") == std::string::npos);
  options.on_message = [](const Message&) {};
  CHECK(errors_of(box, [&] { engine::run(program, arrays, options); }).empty());
}

TEST_CASE("arrays of any strides are taken as they lie, and nothing is said of it") {
  const tile_tune::test::Sandbox box;
  constexpr int64_t M = 5, N = 7, K = 3;
  std::vector<float> a(200), b(200);
  for (size_t i = 0; i < a.size(); ++i) a[i] = static_cast<float>(i % 11) - 5;
  for (size_t i = 0; i < b.size(); ++i) b[i] = static_cast<float>(i * 5 % 13) - 6;
  using Strides = std::vector<int64_t>;
  struct Case {
    int64_t a_first;
    Strides a;
    int64_t b_first;
    Strides b;
    int64_t c_first;
    Strides c;
  };
  const std::vector<Case> cases{
      {0, {K, 1}, 0, {1, K}, 0, {N, 1}},              // transposed
      {3, {20, 2}, 1, {30, 3}, 2, {17, 1}},           // with gaps
      {100, {-7, 1}, 50, {1, -4}, 150, {-20, -2}},    // backwards
      {9, {0, 1}, 4, {1, 0}, 0, {1, M}},              // repeated
      {0, {1, 1}, 0, {2, 1}, 0, {9, 1}},              // overlapping
      {0, {999, -1}, 0, {-1, 1}, 0, {int64_t{1}, 8}}  // unit dimensions below
  };
  for (const bool reference : {false, true}) {
    for (const auto& test : cases) {
      const int64_t m = test.a[0] == 999 ? 1 : M;
      const float* const from_a = a.data() + (test.a[0] == 999 ? 8 : test.a_first);
      const float* const from_b = b.data() + (test.b[0] == -1 ? 20 : test.b_first);
      std::vector<float> c(200, 77), expected(200, 77);
      for (int64_t i = 0; i < m; ++i)
        for (int64_t j = 0; j < N; ++j) {
          float sum = 0;
          for (int64_t k = 0; k < K; ++k)
            sum += from_a[i * test.a[0] + k * test.a[1]] * from_b[k * test.b[0] + j * test.b[1]];
          expected[static_cast<size_t>(test.c_first + i * test.c[0] + j * test.c[1])] = sum;
        }
      Said said;
      const auto options = said.options(box, reference ? engine::Schedule::Reference : engine::Schedule::Default);
      engine::run(matmul(m, N, K),
                  {{"A", engine::array(from_a, {m, K}, test.a)},
                   {"B", engine::array(from_b, {K, N}, test.b)},
                   {"C", engine::array(c.data() + test.c_first, {m, N}, test.c)}},
                  options);
      CAPTURE(reference, test.a, test.b, test.c);
      CHECK(c == expected);
      // Who times kernels on this machine at the moment is waited for, and that is said.
      for (const auto& one : said.all) CHECK(one.text.starts_with("waiting "));
    }
  }
}

TEST_CASE("outputs whose elements overlap, and strides beyond all memory, are refused") {
  const tile_tune::test::Sandbox box;
  std::vector<float> a(64, 1), b(64, 1), c(64, 0);
  const auto run = [&](std::vector<int64_t> of_a, std::vector<int64_t> of_c) {
    return code_of([&] {
      engine::run(matmul(3, 5, 2),
                  {{"A", engine::array(a.data(), {3, 2}, of_a)},
                   {"B", engine::array(b.data(), {2, 5})},
                   {"C", engine::array(c.data(), {3, 5}, of_c)}},
                  here(box));
    });
  };
  CHECK(run({2, 1}, {0, 1}) == "bad-array");
  CHECK(run({2, 1}, {1, 1}) == "bad-array");
  CHECK(run({2, 1}, {4, 1}) == "bad-array");
  CHECK(run({2, 1}, {5}) == "bad-array");
  CHECK(run({INT64_MIN, 1}, {5, 1}) == "bad-array");
  CHECK(run({INT64_MAX, 1}, {5, 1}) == "bad-array");
}

TEST_CASE("sizes and options that no call can do with are errors before anything is copied") {
  const tile_tune::test::Sandbox box;
  const auto copy = tc::parse("def f(uint8(N) A) -> (o) { o(i) = A(i) }").at(0);
  constexpr int64_t kHuge = int64_t{1} << 31;
  uint8_t one = 0;
  const auto run = [&](int64_t size, engine::RunOptions options) {
    return code_of([&] {
      engine::run(copy, {{"A", engine::array(&one, {size})}, {"o", engine::array(&one, {size})}}, options);
    });
  };
  CHECK(run(kHuge, here(box)) == "too-large");
  CHECK(code_of([&] { engine::tune(copy.bind({{"N", kHuge}}), here<engine::TuneOptions>(box)); }) == "too-large");
  auto elsewhere = here(box);
  elsewhere.target = "toaster";
  elsewhere.schedule = engine::Schedule::Reference;
  CHECK(run(1, elsewhere) == "unknown-target");
  // Of no elements there is nothing to count.
  const auto rows = tc::parse("def f(uint8(M,N) A) -> (o) { o(i,j) = A(i,j) }").at(0);
  CHECK(engine::run(rows, {{"A", engine::array(&one, {0, kHuge << 31})}, {"o", engine::array(&one, {0, kHuge << 31})}},
                    here(box)) == engine::Schedule::Default);
}

TEST_CASE("a program keeps the names of its sizes for the small instance that its schedules are checked on") {
  const auto text = tc::parse("def f(float(N) A) -> (o) { o(i) = A(i) }").at(0).bind({{"N", 4096}});
  CHECK(text.ir().sizes.empty());
  CHECK(text.symbolic().sizes == std::vector<std::string>{"N"});
  CHECK(text.sizes() == std::map<std::string, int64_t>{{"N", 4096}});
  const auto product = einsum::parse("ij,jk->ik", {{DType::F32, {512, 256}}, {DType::F32, {256, 64}}});
  CHECK(product.symbolic().sizes.size() == 3);
  CHECK(product.sizes().at("j") == 256);
  const auto numbers = matmul(4, 5, 6);
  CHECK(numbers.symbolic().sizes.empty());
  CHECK(numbers.sizes().empty());
}
