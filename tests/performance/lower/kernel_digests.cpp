// Hashes of the kernels of many schedules, a line each, so that two versions of the code generator can be compared: the
// same schedule is to give the same object code. For the default schedules of the public suite and of random programs
// that is the object file's hash, for sampled schedules, and for those of kernels for many sizes, the hash of the
// lowered code. Every kernel is made in a child of its own, as packages do, since the compiler makes up names.
//   kernel_digests            all of them
//   kernel_digests 10         of every tenth schedule
//   kernel_digests 1 lowered  the lowered code alone, also of default schedules
//   kernel_digests 1 NAME     the lowered code of the schedule of this name, as text
#include <fmt/format.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>
#include <nlohmann/json.hpp>
#include <regex>
#include <sstream>

#include "base/process/children.h"
#include "base/sha256.h"
#include "codegen/lower/compile.h"
#include "codegen/schedule/runtime_sizes.h"
#include "codegen/target/host.h"
#include "engine/programs/suite.h"
#include "frontend/ir/canonical.h"
#include "frontend/tc/parse.h"
#include "search/space/space.h"
#include "tests/property/codegen/edsl_program.h"
#include "tests/property/programs/generator.h"

namespace {

using namespace tile_tune;
using nlohmann::json;

constexpr uint64_t kRandomPrograms = 100;
constexpr int kSamples = 3;

struct Case {
  std::string name;
  ir::Program program;
  codegen::Target target;
  codegen::Schedule schedule;
  bool compiled = false;  // else lowered alone
};

template <typename T>
T require(Result<T> result) {
  if (result) return std::move(*result);
  std::cerr << render(result.error());
  std::exit(1);
}

std::vector<codegen::Target> targets() {
  const auto here = require(codegen::describe_target("host", 2));
  return {here, codegen::deterministic(here),
          require(codegen::describe_target("x86-64-linux-avx-avx2-f16c-fma-sse41", 1))};
}

void add_schedules(const std::string& name, const ir::Program& program, uint64_t seed, std::vector<Case>& cases) {
  int number = 0;
  for (const auto& target : targets()) {
    const search::Space space(program, target);
    search::Rng rng(seed);
    const std::string place = fmt::format("{} target{}", name, number++);
    cases.push_back({place + " default", program, target, space.default_schedule(), true});
    for (int i = 0; i < kSamples; ++i)
      cases.push_back({fmt::format("{} sample{}", place, i), program, target, space.sample(rng).schedule});
  }
}

void add_suite(std::vector<Case>& cases) {
  const std::string path = std::string(TILE_TUNE_SOURCE_DIR) + "/configs/suites/public.json";
  std::ifstream file(path);
  const engine::Reporter quiet({});
  for (const auto& loaded : require(engine::load_suite(json::parse(file), path, quiet))) {
    const auto bound = require(ir::bind(loaded.program, loaded.sizes));
    add_schedules(engine::name_of(loaded), ir::canonicalize(bound), 1, cases);
  }
}

void add_random_programs(std::vector<Case>& cases) {
  using test::Theme;
  for (const auto theme : {Theme::Any, Theme::Guards, Theme::Signs, Theme::Halves, Theme::Gathers})
    for (uint64_t seed = 0; seed < (theme == Theme::Any ? kRandomPrograms : kRandomPrograms / 5); ++seed)
      if (const auto random = test::random_program(seed, theme))
        add_schedules(fmt::format("random{}.{}", static_cast<int>(theme), seed), random->program, seed, cases);
}

ir::Program bound_program(const std::string& text, const ir::Sizes& sizes) {
  const auto parsed = require(tc::parse(text, "text"));
  return require(ir::bind(parsed.programs.front(), sizes));
}

struct Text {
  const char* text;
  std::vector<std::string> sizes;  // also those of kernels for many sizes; others are numbers
};

const Text kTexts[] = {
    {"def f(float(M,K) A, float(K,N) B) -> (C) { C(i,j) +=! A(i,k) * B(k,j) }", {"M", "N", "K"}},
    {"def f(int8(M,K) A, uint8(K,N) B) -> (C) { C(i,j) +=! int32(A(i,k)) * int32(B(k,j)) }", {"M", "N", "K"}},
    {"def f(float(N,M) X) -> (o) { m(i) max=! X(i,j)  e(i,j) = exp(X(i,j) - m(i))  s(i) +=! e(i,j)  "
     "o(i,j) = e(i,j) / s(i) }",
     {"N", "M"}},
    {"def f(float(3,H) I, float(5,3,3) W) -> (O) { O(f,x) +=! I(c,x+j-1) * W(f,c,j) where x in 0:H }", {"H"}},
};

void add_kernels_for_many_sizes(const std::string& name, const Text& text, std::vector<Case>& cases) {
  const auto at = [&](const std::vector<int64_t>& values) -> Result<ir::Program> {
    ir::Sizes sizes;
    for (size_t k = 0; k < values.size(); ++k) sizes[text.sizes[k]] = values[k];
    return ir::canonicalize(bound_program(text.text, sizes));
  };
  const std::vector<int64_t> base(text.sizes.size(), 200);
  std::vector<std::vector<int64_t>> tried;
  for (const int64_t step : {0, 2, 5, 1000}) tried.emplace_back(base.size(), base[0] + step);
  const auto found = codegen::find_runtime_sizes(at, text.sizes, tried);
  if (!found) return;
  const auto program = at(base).value();
  const auto target = targets().front();
  const search::Space space(program, target);
  search::Rng rng(7);
  for (int i = 0; i < 12; ++i)
    for (const bool guarded : {false, true})
      if (auto schedule = codegen::for_all_sizes(program, space.sample(rng).schedule, *found, guarded))
        cases.push_back({fmt::format("{} sizes{}{}", name, i, guarded ? " guarded" : ""), program, target, *schedule});
}

// Constants are packed beforehand.
void add_texts(std::vector<Case>& cases) {
  int number = 0;
  for (const auto& text : kTexts) {
    const std::string name = fmt::format("text{}", number++);
    add_kernels_for_many_sizes(name, text, cases);
    ir::Sizes sizes;
    for (const auto& size : text.sizes) sizes[size] = 203;
    auto bound = bound_program(text.text, sizes);
    add_schedules(name, ir::canonicalize(bound), 3, cases);
    bound.tensors[bound.inputs.back()].constant = true;
    add_schedules(name + " constant", ir::canonicalize(bound), 4, cases);
  }
}

// Running totals.
void add_scans(std::vector<Case>& cases) {
  edsl::TensorIndex b, i, k, c;
  const auto batches = edsl::Placeholder(DType::F32, {5, 271, 19}, "I");
  auto totals = edsl::TensorOutput(5, 271, 19);
  totals(b, i, c) += batches(b, k, c);
  totals.add_constraint(i - k < 271);
  add_schedules("scan", test::program_of({batches}, totals), 5, cases);
  const auto row = edsl::Placeholder(DType::F32, {1009}, "I");
  auto prefix = edsl::TensorOutput(1009);
  prefix(i) += row(k);
  prefix.add_constraint(i - k < 1009);
  add_schedules("scan along memory", test::program_of({row}, prefix), 6, cases);
}

// The code with the names that the compiler made up numbered as they come: it counts names that occur nowhere, too.
std::string with_own_names(const std::string& code) {
  static const std::regex kMadeUp(R"(\b(v[0-9]+|f[0-9]+_))");
  std::map<std::string, size_t> numbers;
  std::string result;
  auto rest = code.begin();
  for (std::sregex_iterator at(code.begin(), code.end(), kMadeUp), end; at != end; ++at) {
    result.append(rest, code.begin() + at->position());
    result += fmt::format("name{}_", numbers.try_emplace(at->str(), numbers.size()).first->second);
    rest = code.begin() + at->position() + at->length();
  }
  return result.append(rest, code.end());
}

std::string contents(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream bytes;
  bytes << file.rdbuf();
  return bytes.str();
}

Result<json> digest(const Case& one) {
  if (!one.compiled) {
    TILE_TUNE_TRY(loops, codegen::lowered_loops(one.program, one.schedule, one.target));
    return base::sha256_hex(with_own_names(loops));
  }
  const auto path = std::filesystem::temp_directory_path() / fmt::format("kernel_digests_{}.o", ::getpid());
  TILE_TUNE_CHECK(codegen::compile_object(one.program, one.schedule, one.target, "kernel", path));
  const std::string object = base::sha256_hex(contents(path));
  std::filesystem::remove(path);
  return object;
}

}  // namespace

int main(int count, char** arguments) {
  const size_t step = count > 1 ? std::stoul(arguments[1]) : 1;  // 10: of every tenth schedule alone
  const std::string what = count > 2 ? arguments[2] : "";
  std::vector<Case> all;
  add_texts(all);
  add_scans(all);
  add_suite(all);
  add_random_programs(all);
  for (const auto& one : all)
    if (one.name == what)
      return fmt::print("{}\n", require(codegen::lowered_loops(one.program, one.schedule, one.target))), 0;
  if (what == "lowered")
    for (auto& one : all) one.compiled = false;
  std::vector<Case> cases;
  for (size_t i = 0; i < all.size(); i += step) cases.push_back(all[i]);
  const auto digests = base::in_children(cases.size(), 2, [&](size_t i) -> Result<json> {
    const auto found = digest(cases[i]);
    return found ? *found : json("error: " + found.error().message);
  });
  const auto found = require(digests);
  for (size_t i = 0; i < cases.size(); ++i) fmt::print("{}: {}\n", cases[i].name, found[i].get<std::string>());
}
