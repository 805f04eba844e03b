// Indices that are known at run time only: what every engine and --checked libraries say of one outside its tensor.
#include <catch2/catch.hpp>

#include "frontend/tensor/npy.h"
#include "sandbox.h"

using namespace tile_tune;
using namespace tile_tune::test;

namespace {

constexpr const char* kGathers = R"(
def plain(float(V,E) T, int32(B,L) idx) -> (float(B,L,E) O) { O(b,l,e) = T(idx(b,l), e) }
def used(float(V) T, int32(N) idx) -> (float(N) O) { O(i) = T(idx(i)) where i in 0:9 }
def wide(float(V) T, uint64(N) idx) -> (float(N) O) { O(i) = T(idx(i)) }
def branch(float(V) T, int64(N) idx, float(N) c) -> (float(N) O) { O(i) = c(i) > 0 ? T(idx(i)) : 0 }
def rounded(float(V) T, float(N) m) -> (float(N) O) { O(i) = T(int32(m(i))) }
def chain(float(V) T, int32(N) J, int32(N) K) -> (float(N) O) {
  I(i) = J(i) + K(i)
  O(i) = T(I(i) - 1)
}
)";

template <typename T>
void save(const Sandbox& box, const std::string& name, DType type, std::vector<int64_t> shape,
          const std::vector<T>& values) {
  auto array = tensor::Array::zeros(type, std::move(shape));
  std::copy(values.begin(), values.end(), array.as<T>());
  REQUIRE(tensor::write_npy(box.path(name), array, false));
}

/// [0, 1, 2, 3, 4, 0, 1, ...] with one of them another one.
template <typename T>
std::vector<T> indices(size_t count, size_t place, T other) {
  std::vector<T> values(count);
  for (size_t i = 0; i < count; ++i) values[i] = static_cast<T>(i % 5);
  values[place] = other;
  return values;
}

void save_tables(const Sandbox& box) {
  box.write("p.tc", kGathers);
  save<float>(box, "t.npy", DType::F32, {5}, {10, 11, 12, 13, 14});
  save<float>(box, "t2.npy", DType::F32, {5, 2}, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9});
  save<float>(box, "empty.npy", DType::F32, {0}, {});
}

struct Case {
  std::string program;
  std::vector<std::string> inputs;
  std::string says;  // empty: fine
};

}  // namespace

TEST_CASE("every engine names an index outside its tensor, its value and its place, wherever it is used") {
  const Sandbox box;
  save_tables(box);
  constexpr int64_t kCount = 20000;  // far more than a sample has
  save(box, "grid.npy", DType::I32, {100, 200}, indices<int32_t>(kCount, 7001, 1000000));
  save(box, "below.npy", DType::I32, {kCount}, indices<int32_t>(kCount, 19998, -1));
  save(box, "beyond.npy", DType::U64, {kCount}, indices<uint64_t>(kCount, 7, UINT64_MAX));
  save(box, "far.npy", DType::I64, {kCount}, indices<int64_t>(kCount, 12345, int64_t{1} << 40));
  std::vector<float> positive(kCount, 1), negative(kCount, 1), halves(kCount, 2.5F);
  negative[12345] = -1;
  halves[17] = 5.0F;
  save(box, "yes.npy", DType::F32, {kCount}, positive);
  save(box, "no.npy", DType::F32, {kCount}, negative);
  save(box, "halves.npy", DType::F32, {kCount}, halves);
  save(box, "ones.npy", DType::I32, {kCount}, std::vector<int32_t>(kCount, 1));
  save(box, "none.npy", DType::I32, {0}, std::vector<int32_t>());
  const std::vector<Case> cases = {
      {"plain",
       {"T=t2.npy", "idx=grid.npy"},
       "index idx(b,l) of T is 1000000 at b = 35, l = 1, but dimension 0 of T has extent 5"},
      {"used", {"T=t.npy", "idx=below.npy"}, ""},
      {"wide",
       {"T=t.npy", "idx=beyond.npy"},
       "index idx(i) of T is 18446744073709551615 at i = 7, but dimension 0 of T has extent 5"},
      {"branch", {"T=t.npy", "idx=far.npy", "c=no.npy"}, ""},
      {"branch",
       {"T=t.npy", "idx=far.npy", "c=yes.npy"},
       "index idx(i) of T is 1099511627776 at i = 12345, but dimension 0 of T has extent 5"},
      {"rounded",
       {"T=t.npy", "m=halves.npy"},
       "index int32(m(i)) of T is 5 at i = 17, but dimension 0 of T has extent 5"},
      {"chain",
       {"T=t.npy", "J=below.npy", "K=ones.npy"},
       "index I(i) - 1 of T is -1 at i = 19998, but dimension 0 of T has extent 5"},
      {"wide", {"T=empty.npy", "idx=beyond.npy"}, "index idx(i) of T is 0 at i = 0, but dimension 0 of T has extent 0"},
      {"used", {"T=empty.npy", "idx=below.npy"}, "index idx(i) of T is 0 at i = 0, but dimension 0 of T has extent 0"},
      {"chain", {"T=empty.npy", "J=none.npy", "K=none.npy"}, ""},
  };
  for (const std::string engine : {"reference", "default"})
    for (const auto& [program, inputs, says] : cases) {
      std::vector<std::string> arguments = {"run", "p.tc:" + program, "--engine", engine, "--output-dir", "out"};
      for (const auto& input : inputs) arguments.insert(arguments.end(), {"--input", input});
      const auto result = box.run(arguments);
      INFO(engine << " " << program << " " << inputs.back() << "\n" << result.err);
      CHECK(result.exit_code == (says.empty() ? 0 : 3));
      CHECK(result.err.find(says) != std::string::npos);
      CHECK((says.empty() || result.err.find("[gather-out-of-range]") != std::string::npos));
    }
}

namespace {

// Index and table end where a page that cannot be touched begins.
constexpr const char* kGuardingCaller = R"(#include <g.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
static void* at_end(size_t bytes) {
  char* pages = mmap(0, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  mprotect(pages + 4096, 4096, PROT_NONE);
  return pages + 4096 - bytes;
}
int main(void) {
  enum { N = 37, V = 5 };
  float *T = at_end(V * sizeof(float)), *c = at_end(N * sizeof(float)), *o = at_end(N * sizeof(float));
  int32_t *J = at_end(N * sizeof(int32_t)), *K = at_end(N * sizeof(int32_t));
  int64_t* far = at_end(N * sizeof(int64_t));
  for (int i = 0; i < V; ++i) T[i] = (float)(10 + i);
  for (int i = 0; i < N; ++i) J[i] = i % V, K[i] = 1, far[i] = i % V, c[i] = 1;
  printf("%d", chain(J, K, T, o));
  printf(" %g %g\n", o[0], o[36]);
  J[36] = 1 << 30;
  printf("%d", chain(J, K, T, o));
  J[36] = -7;
  printf(" %d\n", chain(J, K, T, o));
  printf("%d", branch(c, far, T, o));
  far[3] = (int64_t)1 << 40, c[3] = 0;
  printf(" %d", branch(c, far, T, o));
  printf(" %g", o[3]);
  c[3] = 2;
  printf(" %d\n", branch(c, far, T, o));
  printf("%s\n", g_error_string(G_STATUS_ERROR_INDEX));
  return 0;
}
)";

}  // namespace

TEST_CASE("libraries built with --checked return an error for an index outside, and read nothing there") {
  const Sandbox box;
  save_tables(box);
  // The order of arguments as the caller has it.
  box.write("g.tc", R"(
def branch(float(N) c, int64(N) far, float(V) T) -> (float(N) O) { O(i) = c(i) > 0 ? T(far(i)) : 0 }
def chain(int32(N) J, int32(N) K, float(V) T) -> (float(N) O) {
  I(i) = J(i) + K(i)
  O(i) = T(I(i) - 1)
}
)");
  box.write("caller.c", kGuardingCaller);
  const std::vector<std::string> sizes = {"-s", "N=37", "-s", "V=5"};
  const auto build = [&](std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "build");
    arguments.insert(arguments.end(), sizes.begin(), sizes.end());
    const auto result = box.run(arguments);
    INFO(result.err);
    REQUIRE(result.exit_code == 0);
  };
  build({"g.tc", "--name", "g", "-o", "out", "--checked"});
  CHECK(box.read("out/include/g.h").find("are checked by all its entries: G_STATUS_ERROR_INDEX") != std::string::npos);
  const auto compiled = box.run_program(
      {"cc", "-Iout/include", "caller.c", "-Lout/lib", "-lg", "-ltile_tune_rt", "-lpthread", "-lm", "-o", "caller"});
  INFO(compiled.err);
  REQUIRE(compiled.exit_code == 0);
  const auto called = box.run_program({"./caller"});
  CHECK(called.out ==
        "0 10 11\n16 16\n0 0 0 16\n"
        "an index in an argument, or computed from one, is outside the tensor it is used in\n");

  build({"g.tc", "--name", "g", "-o", "plain"});
  CHECK(box.read("plain/include/g.h").find("are NOT checked") != std::string::npos);

  const auto again = box.run({"build", "--from", "out/share/g/manifest.json", "-o", "again"});
  INFO(again.err);
  REQUIRE(again.exit_code == 0);
  CHECK(box.read("again/lib/libg.a") == box.read("out/lib/libg.a"));
}

TEST_CASE("checked libraries of several instruction sets and of many sizes") {
  const Sandbox box;
  box.write("g.tc", "def g(float(V) T, int32(N) idx) -> (float(N) O) { O(i) = T(idx(i)) }\n");
  box.write("caller.c", R"(#include <g.h>
#include <stdio.h>
int main(void) {
  float T[3] = {1, 2, 3}, o[9];
  int32_t idx[9] = {0, 1, 2, 2, 1, 0, 0, 1, 2};
#ifdef MANY
#define G(n) g(n, T, idx, o)
#else
#define G(n) g(T, idx, o)
#endif
  printf("%d", G(9));
  printf(" %g", o[8]);
  idx[8] = 3;
  printf(" %d", G(9));
#ifdef MANY
  printf(" %d", G(8));
#endif
  return 0;
}
)");
  const auto outcome = [&](std::vector<std::string> arguments, const std::string& define) {
    arguments.insert(arguments.begin(), {"build", "g.tc", "--checked", "-s", "V=3", "-o", "out"});
    const auto built = box.run(arguments);
    INFO(built.err);
    REQUIRE(built.exit_code == 0);
    const auto compiled = box.run_program({"cc", define, "-Iout/include", "caller.c", "-Lout/lib", "-lg",
                                           "-ltile_tune_rt", "-lpthread", "-lm", "-o", "caller"});
    INFO(compiled.err);
    REQUIRE(compiled.exit_code == 0);
    return box.run_program({"./caller"}).out;
  };
  CHECK(outcome({"-s", "N=9", "--target", "x86-64-linux-avx-avx2-fma,x86-64-linux"}, "-DONE") == "0 3 16");
  CHECK(outcome({"-s", "N=1..20"}, "-DMANY") == "0 3 16 0");
}
