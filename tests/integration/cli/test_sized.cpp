// tune and build of many sizes at once: one entry that C programs call with any of them.
#include <catch2/catch.hpp>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "db/database.h"
#include "sandbox.h"

using namespace tile_tune::test;
using nlohmann::json;

namespace {

// product(M, N, A, B, C) of the package "product", K = 19.
constexpr const char* kProductCaller = R"(#include <product.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHECK(condition)                                              \
  do {                                                                \
    if (!(condition)) {                                               \
      printf("%s:%d: %s is false\n", __FILE__, __LINE__, #condition); \
      exit(1);                                                        \
    }                                                                 \
  } while (0)

/* As <dlpack/dlpack.h> lays it out. */
struct DLTensor {
  void* data;
  struct { int32_t type, id; } device;
  int32_t ndim;
  struct { uint8_t code, bits; uint16_t lanes; } dtype;
  int64_t* shape;
  int64_t* strides;
  uint64_t byte_offset;
};

enum { K = 19, MOST = 70 };
static float a[MOST * K + 1], b[K * MOST + 1], c[MOST * MOST + 1];

static void check_product(int m, int n, int by_tensors) {
  for (int i = 0; i < m * K; ++i) a[i] = (float)(i % 7 - 3);
  for (int i = 0; i < K * n; ++i) b[i] = (float)(i % 11 - 5);
  memset(c, 0x5a, sizeof c);
  if (by_tensors) {
    int64_t shape_a[] = {m, K}, shape_b[] = {K, n}, shape_c[] = {m, n};
    struct DLTensor ta = {a, {1, 0}, 2, {2, 32, 1}, shape_a, NULL, 0}, tb = ta, tc = ta;
    tb.data = b, tb.shape = shape_b, tc.data = c, tc.shape = shape_c;
    struct DLTensor *inputs[] = {&ta, &tb}, *outputs[] = {&tc};
    CHECK(product_dl(inputs, outputs) == PRODUCT_OK);
    shape_b[0] = K + 1;
    CHECK(product_dl(inputs, outputs) == PRODUCT_ERROR_SHAPE);
    shape_b[0] = K, shape_c[1] = n + 1;
    CHECK(product_dl(inputs, outputs) == PRODUCT_ERROR_SHAPE);
    shape_c[1] = n, shape_a[0] = MOST + 1;
    CHECK(product_dl(inputs, outputs) == PRODUCT_ERROR_SIZE);
    tc.ndim = 1, shape_a[0] = m;
    CHECK(product_dl(inputs, outputs) == PRODUCT_ERROR_RANK);
    CHECK(product_dl(NULL, outputs) == PRODUCT_ERROR_NULL_POINTER);
  } else {
    CHECK((n % 2 ? product : product_unchecked)(m, n, a, b, c) == PRODUCT_OK);
  }
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < n; ++j) {
      float sum = 0;
      for (int k = 0; k < K; ++k) sum += a[i * K + k] * b[k * n + j];
      CHECK(c[i * n + j] == sum);
    }
  CHECK(((unsigned char*)&c[m * n])[0] == 0x5a);
}

int main(void) {
  static const int sizes[] = {1, 2, 3, 5, 7, 8, 9, 15, 16, 17, 31, 40, 41, 48, 64, 67, 70};
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; ++i)
    for (size_t j = 0; j < sizeof sizes / sizeof *sizes; ++j) check_product(sizes[i], sizes[j], (i + j) % 2);
  CHECK(product(0, 4, a, b, c) == PRODUCT_ERROR_SIZE);
  CHECK(product(4, -1, a, b, c) == PRODUCT_ERROR_SIZE);
  CHECK(product(4, MOST + 1, a, b, c) == PRODUCT_ERROR_SIZE);
  CHECK(product((int64_t)1 << 32, 4, a, b, c) == PRODUCT_ERROR_SIZE);
  CHECK(product_unchecked(MOST + 1, 4, a, b, c) == PRODUCT_ERROR_SIZE);
  CHECK(strcmp(product_error_string(PRODUCT_ERROR_SIZE), "a size is none that the kernel was built for") == 0);
  CHECK(product(4, 4, NULL, b, c) == PRODUCT_ERROR_NULL_POINTER);
  CHECK(product(4, 4, a, b, a) == PRODUCT_ERROR_OVERLAP);
  CHECK(product(4, 4, (const float*)((char*)a + 1), b, c) == PRODUCT_ERROR_MISALIGNED);
  product_context* context = product_context_create();
  CHECK(product_ctx(context, 33, 21, a, b, c) == PRODUCT_OK);
  CHECK(product_ctx(NULL, 33, 21, a, b, c) == PRODUCT_ERROR_NULL_POINTER);
  product_context_destroy(context);
  return 0;
}
)";

constexpr const char* kSpans = R"(#include <product.hpp>
#include <cstdio>
#include <vector>
int main() {
  std::vector<float> a(3 * 19, 1), b(19 * 5, 2), c(3 * 5), small(14);
  std::printf("%d", product_cpp::product(3, 5, a, b, c));
  std::printf(" %g", c[14]);
  std::printf(" %d", product_cpp::product(3, 5, a, b, small) == PRODUCT_ERROR_SHAPE);
  std::printf(" %d", product_cpp::product(3, 71, a, b, c) == PRODUCT_ERROR_SIZE);
  std::printf(" %d\n", product_cpp::product(product_cpp::make_context(), 3, 4, a, b, c) == PRODUCT_ERROR_SHAPE);
}
)";

// doubled(N, A, C): every size up to `last` that `good` takes; 13 of any other.
constexpr const char* kDoubled = R"(#include <doubled.h>
#include <stdio.h>
#include <stdlib.h>
int main(int count, char** words) {
  static float a[4096], c[4096];
  for (int i = 0; i < 4096; ++i) a[i] = (float)(i - 7);
  for (int k = 1; k < count; ++k) {
    const int n = atoi(words[k]);
    const int status = doubled(n, a, c);
    int right = 1;
    for (int i = 0; status == 0 && i < n; ++i) right = right && c[i] == 2 * a[i];
    printf("%d:%d:%d ", n, status, right);
  }
  return 0;
}
)";

void compile(const Sandbox& box, const std::string& name, const std::string& source, const std::string& package,
             const std::string& text) {
  box.write(source, text);
  const bool is_c = source.ends_with(".c");
  const auto compiled = box.run_program({is_c ? "cc" : "c++", is_c ? "-std=c11" : "-std=c++20", "-Wall", "-Wextra",
                                         "-Werror", "-I" + package + "/include", source, "-L" + package + "/lib",
                                         "-l" + name, "-ltile_tune_rt", "-lpthread", "-ldl", "-lm", "-o", "caller"});
  INFO(compiled.err);
  REQUIRE(compiled.exit_code == 0);
}

void write_programs(const Sandbox& box) {
  box.write("product.tc", "def product(float(M,K) A, float(K,N) B) -> (C) { C(i,j) +=! A(i,k) * B(k,j) }");
  box.write("doubled.tc", "def doubled(float(N) A) -> (C) { C(i) = A(i) + A(i) }");
}

const Words kFiles = {"lib/libproduct.a", "include/product.h", "include/product.hpp", "share/product/manifest.json"};

}  // namespace

TEST_CASE("one entry takes every size of two ranges, the same from C, C++ and tensors") {
  const Sandbox box;
  write_programs(box);
  const Words build = {"build", "product.tc", "-s", "M=1..70,N=1..70", "-s", "K=19", "-o", "out"};
  const auto built = box.run(build);
  require(built);
  CHECK(built.err.find("[untuned]") != std::string::npos);
  compile(box, "product", "caller.c", "out", kProductCaller);
  const auto called = box.run_program({"./caller"});
  CHECK(called.out == "");
  CHECK(called.exit_code == 0);
  compile(box, "product", "spans.cpp", "out", kSpans);
  CHECK(box.run_program({"./caller"}).out == "0 38 1 1 1\n");
  const auto header = box.read("out/include/product.h");
  CHECK(header.find("int product(int64_t M, int64_t N, const float* A, const float* B, float* C);") != header.npos);
  CHECK(header.find(" N: any size from 1 to 70; any other is an error") != header.npos);
  CHECK(header.find(" B: input, f32, extents 19 x N, compact") != header.npos);
  // The same again, from the manifest too.
  require(box.run({"build", "--from", "out/share/product/manifest.json", "-o", "again"}));
  for (const auto& file : kFiles) CHECK(box.read("out/" + file) == box.read("again/" + file));
}

TEST_CASE("what tune chose for a range is what build builds") {
  const Sandbox box;
  write_programs(box);
  const auto tuned =
      box.run({"tune", "doubled.tc", "-s", "N=1..300", "--trials", "4", "--seed", "1", "--emit", "tuned", "--json"});
  require(tuned);
  const auto summary = json::parse(tuned.out);
  CHECK(summary["searched"].size() == 2);
  CHECK(summary["searched"][0]["at"] == json{300});
  CHECK(summary["searched"][1]["at"] == json{1});
  CHECK(summary["timed_points"] >= 4);
  const auto built = box.run({"build", "doubled.tc", "-s", "N=1..300", "-o", "built"});
  require(built);
  CHECK(built.err.find("[untuned]") == std::string::npos);
  for (const char* file : {"lib/libdoubled.a", "include/doubled.h", "share/doubled/manifest.json"})
    CHECK(box.read(std::string("tuned/") + file) == box.read(std::string("built/") + file));
  const auto kernel = json::parse(box.read("built/share/doubled/manifest.json"))["kernels"][0];
  CHECK(kernel["provenance"] == "tuned");
  CHECK(kernel["family"]["sizes"][0]["last"] == 300);
  CHECK(kernel["family"]["members"].size() == summary["family"]["members"].size());
  compile(box, "doubled", "doubled.c", "built", kDoubled);
  CHECK(box.run_program({"./caller", "1", "2", "13", "16", "31", "127", "257", "300", "0", "301"}).out ==
        "1:0:1 2:0:1 13:0:1 16:0:1 31:0:1 127:0:1 257:0:1 300:0:1 0:13:1 301:13:1 ");
  // The points are ordinary records; another range is another entry.
  CHECK(box.run({"build", "doubled.tc", "-s", "N=300", "-o", "one"}).err.find("tuned schedule (exact)") !=
        std::string::npos);
  CHECK(box.run({"build", "doubled.tc", "-s", "N=1..299", "-o", "other"}).err.find("[untuned]") != std::string::npos);
}

TEST_CASE("what another version or more threads were given for a range is taken with a warning, and listed") {
  namespace db = tile_tune::db;
  const Sandbox box;
  write_programs(box);
  require(box.run(
      {"tune", "doubled.tc", "-s", "N=1..64", "--trials", "4", "--seed", "1", "--threads", "2", "--db", "t.db"}));
  {
    auto source = db::Database::open(box.path("t.db"), db::Mode::ReadOnly);
    auto copy = db::Database::open(box.path("old.db"), db::Mode::ReadWrite);
    REQUIRE(source);
    REQUIRE(copy);
    auto entry = source->done_sessions(db::kSizedStrategy)->front();
    entry.tool.tile_tune = "0.0.1";
    entry.session.id.clear();
    const auto session = copy->begin_session(entry.program, entry.target, entry.tool, entry.session);
    REQUIRE(session);
    REQUIRE(copy->finish_session(*session, "done"));
  }
  const auto rung = [&](const Words& more) {
    Words words{"build", "doubled.tc", "-s", "N=1..64", "-o", "out"};
    words.insert(words.end(), more.begin(), more.end());
    const auto built = box.run(words);
    require(built);
    return json::parse(box.read("out/share/doubled/manifest.json"))["kernels"][0]["rung"].get<std::string>() + " " +
           code_of(built);
  };
  CHECK(rung({"--db", "t.db", "--threads", "2"}) == "exact ");
  CHECK(rung({"--db", "old.db", "--threads", "2"}) == "stale stale-record");
  CHECK(rung({"--db", "t.db", "--threads", "1"}) == "nearest untuned");
  CHECK(rung({"--db", "t.db", "--threads", "3"}) == "default untuned");
  const auto listed = box.run({"db", "list", "--db", "old.db"}).out;
  CHECK(listed.find("N=1..64") != std::string::npos);
  CHECK(listed.find("0.0.1") != std::string::npos);
  const auto rows = json::parse(box.run({"db", "list", "--db", "t.db", "--json"}).out);
  CHECK(rows.back()["family"] == "N=1..64");
  CHECK(rows.back()["kernels"] > 0);
}

TEST_CASE("what tune chose for ranges is found under other names, in another order and from an einsum") {
  const Sandbox box;
  write_programs(box);
  box.write("other.tc", "def product(float(P,R) X, float(R,Q) Y) -> (Z) { Z(p,q) +=! X(p,r) * Y(r,q) }");
  require(
      box.run({"tune", "product.tc", "-s", "M=1..3", "-s", "N=1..3", "-s", "K=19", "--trials", "4", "--seed", "1"}));
  const auto rung = [&](const Words& program) {
    Words words{"build", "-o", "out"};
    words.insert(words.end(), program.begin(), program.end());
    const auto built = box.run(words);
    require(built);
    const auto name = box.names("out/share").front();
    const auto kernel = json::parse(box.read("out/share/" + name + "/manifest.json"))["kernels"][0];
    std::filesystem::remove_all(box.path("out"));
    return kernel["rung"].get<std::string>();
  };
  CHECK(rung({"product.tc", "-s", "M=1..3", "-s", "N=1..3", "-s", "K=19"}) == "exact");
  CHECK(rung({"product.tc", "-s", "N=1..3", "-s", "K=19", "-s", "M=1..3"}) == "exact");
  CHECK(rung({"other.tc", "-s", "Q=1..3", "-s", "P=1..3", "-s", "R=19"}) == "exact");
  CHECK(rung({"einsum:mk,kn->mn", "-s", "n=1..3", "-s", "m=1..3", "-s", "k=19"}) == "exact");
  CHECK(rung({"product.tc", "-s", "M=1..3", "-s", "K=1..3", "-s", "N=19"}) == "default");
}

TEST_CASE("build --recheck races the kernels of a range that another version chose, and keeps the outcome") {
  namespace db = tile_tune::db;
  const Sandbox box;
  write_programs(box);
  const Words product = {"product.tc", "-s", "M=64", "-s", "K=64", "-s"};
  const auto run = [&](const char* verb, const std::string& sizes, const Words& more) {
    Words words{verb};
    words.insert(words.end(), product.begin(), product.end());
    words.push_back(sizes);
    words.insert(words.end(), more.begin(), more.end());
    return box.run(words);
  };
  const auto built = [&](const std::string& file, const Words& more, std::string* warnings = nullptr) {
    Words words{"-o", "out", "--db", file};
    words.insert(words.end(), more.begin(), more.end());
    const auto finished = run("build", "N=1..64", words);
    require(finished);
    if (warnings) *warnings = finished.err;
    return json::parse(box.read("out/share/product/manifest.json"))["kernels"][0];
  };
  // What the kernels are made of: the default schedules of all sizes and of one.
  require(run("tune", "N=64", {"--trials", "1", "--seed", "1", "--db", "one.db"}));
  const json entry = built("none.db", {})["family"];
  require(run("build", "N=1", {"-o", "small", "--db", "none.db"}));
  const json small = json::parse(box.read("small/share/product/manifest.json"))["kernels"][0]["schedule"];
  const auto store = [&](const std::string& file, int at, const json& schedule) {
    auto source = db::Database::open(box.path("one.db"), db::Mode::ReadOnly);
    auto copy = db::Database::open(box.path(file), db::Mode::ReadWrite);
    REQUIRE(source);
    REQUIRE(copy);
    const auto row = source->recorded()->front();
    json options = {{"sizes", entry["sizes"]}, {"members", entry["members"]}, {"table", entry["table"]}};
    json own = options["members"][0];
    own["at"] = {at};
    own["only"] = true;
    own["guarded"] = false;
    own["schedule"] = schedule;
    options["members"] = {own, options["members"][0]};
    for (auto& member : options["table"]) member = 1;
    auto tool = row.tool;
    tool.tile_tune = "0.0.1";
    db::SessionRow session;
    session.strategy = db::kSizedStrategy;
    session.options_json = options.dump();
    const auto id = copy->begin_session(row.program, row.target, tool, session);
    REQUIRE(id);
    REQUIRE(copy->finish_session(*id, "done"));
  };

  // At N=1 a kernel for that alone is many times as fast as one that computes 16 columns.
  store("good.db", 1, small);
  CHECK(built("good.db", {})["rung"] == "stale");
  const json checked = built("good.db", {"--recheck"});
  CHECK(checked["rung"] == "rechecked");
  CHECK(checked["family"]["members"][0]["at"] == json{1});
  std::string warnings;
  CHECK(built("good.db", {}, &warnings) == checked);
  CHECK(warnings.find("(rechecked)") != std::string::npos);

  // Scalar code, one element at a time.
  json slow = entry["members"][0]["schedule"];
  auto& stage = slow["stages"][0];
  stage["tiles"] = {{1}, {1}};
  stage["order"] = {{0, 1}};
  stage["lanes"] = 1;
  stage["vector_loop"] = -1;
  stage["parallel"] = 0;
  stage["packings"] = json::array();
  store("bad.db", 64, slow);
  CHECK(built("bad.db", {})["rung"] == "stale");
  CHECK(built("bad.db", {"--recheck"}, &warnings)["rung"] == "default");
  CHECK(warnings.find("[not-rechecked]") != std::string::npos);
  // It is not taken again.
  CHECK(built("bad.db", {}, &warnings)["rung"] == "default");
  CHECK(warnings.find("[stale-record]") == std::string::npos);
}

TEST_CASE("a list of sizes has a kernel for each and one for all others") {
  const Sandbox box;
  write_programs(box);
  require(box.run({"tune", "doubled.tc", "-s", "N=16,64,200", "--trials", "3", "--seed", "1", "--emit", "out"}));
  compile(box, "doubled", "doubled.c", "out", kDoubled);
  CHECK(box.run_program({"./caller", "16", "64", "200", "1", "61", "1000", "0"}).out ==
        "16:0:1 64:0:1 200:0:1 1:0:1 61:0:1 1000:0:1 0:13:1 ");
  const auto entry = json::parse(box.read("out/share/doubled/manifest.json"))["kernels"][0]["family"];
  std::vector<int64_t> own;
  for (const auto& member : entry["members"])
    if (member["only"]) own.push_back(member["at"][0]);
  for (const int64_t size : own) CHECK((size == 16 || size == 64 || size == 200));
  CHECK_FALSE(entry["members"].back()["only"].get<bool>());
}

TEST_CASE("a manifest's sized entry is checked like what is typed") {
  const Sandbox box;
  write_programs(box);
  require(box.run({"build", "doubled.tc", "-s", "N=1..90", "-o", "out"}));
  const auto manifest = json::parse(box.read("out/share/doubled/manifest.json"));
  const auto refused = [&](auto change) {
    auto other = manifest;
    change(other["kernels"][0]["family"]);
    box.write("other.json", other.dump());
    const auto result = box.run({"build", "--from", "other.json", "-o", "never"});
    CHECK(box.names("never").empty());
    return std::to_string(result.exit_code) + " " + code_of(result);
  };
  CHECK(refused([](json& one) { one["table"][7] = 9; }) == "2 bad-family");
  CHECK(refused([](json& one) { one["members"][0]["guarded"] = false; }) == "2 bad-family");
  CHECK(refused([](json& one) { one["members"][0]["schedule"]["stages"][0]["tiles"][0][0] = 0; }) ==
        "2 invalid-schedule");
  CHECK(refused([](json& one) { one["members"][0]["schedule_id"] = "00"; }) == "2 bad-manifest");
  CHECK(refused([](json& one) { one["members"][0]["at"] = {89}; }) != "0 ");
  CHECK(refused([](json& one) { one.erase("program"); }) == "2 bad-manifest");
  CHECK(refused([](json& one) {
          one["members"] = json::array();
          for (int i = 0; i < 100000; ++i) one["members"].push_back(7);
        }) == "2 bad-family");
  CHECK(refused([](json& one) { one["sizes"] = json(100000, one["sizes"][0]); }) == "2 bad-family");
  CHECK(refused([](json& one) { one = 7; }) == "2 bad-manifest");
  // Another program behind the same numbers.
  CHECK(refused([](json& one) { one["fixed"]["N"] = 3, one["sizes"][0]["name"] = "Q"; }) != "0 ");
}

TEST_CASE("sizes that cannot be many are errors with a way out") {
  const Sandbox box;
  write_programs(box);
  box.write("halved.tc", "def halved(float(N) A) -> (C) { C(i) = A(2*i) }");
  box.write("two.tc", "def f(float(N) A) -> (C) { C(i) = A(i) }\ndef g(float(N) A) -> (C) { C(i) = A(i) }");
  const auto refused = [&](Words words) {
    words.insert(words.end(), {"-o", "never"});
    const auto result = box.run(words);
    CHECK(box.names("never").empty());
    return std::to_string(result.exit_code) + " " + code_of(result);
  };
  CHECK(refused({"build", "halved.tc", "-s", "N=1..64"}) == "2 no-size-range");
  CHECK(refused({"build", "doubled.tc", "-s", "Q=1..64"}) == "3 unknown-size");
  CHECK(refused({"build", "product.tc", "-s", "N=1..64"}) == "3 missing-size");
  CHECK(refused({"build", "doubled.tc", "-s", "N=64..1"}) == "2 bad-size");
  CHECK(refused({"build", "two.tc", "-s", "N=1..64"}) == "2 several-programs");
  CHECK(refused({"build", "doubled.tc", "-s", "N=1..64", "--constant", "A"}) == "2 constant-of-many-sizes");
  CHECK(refused({"build", "doubled.tc", "-s", "N=1..64", "--target", "x86-64-linux,x86-64-linux-avx2-fma"}) ==
        "2 several-targets");
  CHECK(code_of(box.run({"tune", "two.tc:f", "two.tc:g", "-s", "N=1..64"})) == "several-programs");
  CHECK(code_of(box.run({"tune", "two.tc", "-s", "N=1..64"})) == "several-defs");
  CHECK(box.run({"tune", "doubled.tc", "-s", "N=1..64", "--resume"}).exit_code == 2);
  CHECK(box.run({"tune", "doubled.tc", "-s", "N=1..64", "--dry-run"}).exit_code == 2);
  const auto explained = box.run({"explain", "doubled.tc", "-s", "N=1..64"});
  CHECK(explained.exit_code == 2);
  CHECK(explained.err.find("ranges and lists of sizes are for tune and build") != std::string::npos);
}
