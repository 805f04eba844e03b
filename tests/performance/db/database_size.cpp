// How large 100,000 trials are, and how long a database of that size takes to answer (a best-schedule query is to
// be under 1 ms).
//
// 200 programs of 10 families, each tuned in five sessions of 100 trials, the last of which chose a winner; schedules,
// samples and texts are as long as those of tuned matrix products.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <sstream>

#include "base/sha256.h"
#include "db/database.h"
#include "db/json_lines.h"

using namespace tile_tune;
using namespace tile_tune::db;

namespace {

constexpr int kPrograms = 200, kFamilies = 10, kSessions = 5, kTrials = 100;
constexpr size_t kScheduleBytes = 200, kCanonicalBytes = 2'500;  // of matmul 512^3

template <typename T>
T value(Result<T> result) {
  if (!result) {
    fmt::print(stderr, "{}", render(result.error()));
    std::exit(1);
  }
  if constexpr (!std::is_void_v<T>) return std::move(*result);
}

double seconds(const std::function<void()>& work) {
  const auto began = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
}

ProgramRow program(int number) {
  ProgramRow row;
  row.content_hash = base::sha256_hex(fmt::format("program {}", number));
  row.family_hash = base::sha256_hex(fmt::format("family {}", number % kFamilies));
  row.name = "matmul";
  row.frontend = "tc";
  row.source = "def matmul(float(M,K) A, float(K,N) B) -> (C) { C(i,j) +=! A(i,k) * B(k,j) }";
  row.canonical_json = fmt::format("{{\"number\":{},\"text\":\"{}\"}}", number, std::string(kCanonicalBytes, 'x'));
  row.sizes_json = fmt::format("{{\"M\":{},\"N\":512,\"K\":512}}", number);
  row.dtypes = "f32,f32->f32";
  row.layout = "row";
  return row;
}

TargetRow target() {
  auto machine = *tile_tune::codegen::parse_target("x86-64-linux-avx-avx2-avx512-fma");
  machine.cpu_model = "EPYC";
  machine.threads = 2;
  return {.machine = std::move(machine)};
}
ToolRow tool() { return {"0.1.0", "21.0.0", "21.1.8", 3, 4}; }

TrialRow trial(int program, int session, int sequence) {
  TrialRow row;
  row.sequence = sequence;
  row.origin = sequence + 1 == kTrials ? "final" : "mutation";
  row.schedule_json = fmt::format("{{\"number\":\"{}/{}/{}\",\"text\":\"{}\"}}", program, session, sequence,
                                  std::string(kScheduleBytes, 'x'));
  row.schedule_id = base::sha256_hex(row.schedule_json);
  row.parents = {base::sha256_hex("parent")};
  row.outcome = sequence % 3 == 1 ? "slow" : "ok";
  row.reason = row.outcome == "slow" ? "several times slower than the best" : "";
  row.code_hash = base::sha256_hex(row.schedule_id);
  row.samples_ns.assign(31, 123456.789);
  row.median_ns = 123456.789;
  row.ratio = 1 + sequence / 100.0;
  row.ratio_lo = row.ratio_hi = row.ratio;
  row.created_ms = 1'700'000'000'000 + session * 1'000 + sequence;
  return row;
}

/// As records of another database, which is how so many get in within seconds.
Result<void> hand_out(const RecordVisitor& visitor) {
  TILE_TUNE_CHECK(visitor({target_id(target()), target()}));
  TILE_TUNE_CHECK(visitor({tool_id(tool()), tool()}));
  for (int p = 0; p < kPrograms; ++p) {
    const ProgramRow row = program(p);
    TILE_TUNE_CHECK(visitor({program_id(row), row}));
    const SessionKey key{program_id(row), target_id(target()), tool_id(tool())};
    for (int s = 0; s < kSessions; ++s) {
      SessionRow session;
      session.id = base::sha256_hex(fmt::format("session {}/{}", p, s)).substr(0, 32);
      session.strategy = "model";
      session.state = "done";
      session.created_ms = 1'700'000'000'000 + s;
      TILE_TUNE_CHECK(visitor({session_digest(key, session), SessionRecord{key, session}}));
      for (int i = 0; i < kTrials; ++i) {
        const TrialRow one = trial(p, s, i);
        TILE_TUNE_CHECK(visitor({one.schedule_id, ScheduleRow{one.schedule_id, one.schedule_json}}));
        const std::string id = trial_id(key, session.id, one);
        TILE_TUNE_CHECK(visitor({id, TrialRecord{session.id, one}}));
        if (one.origin != "final") continue;
        const WinnerRow winner{id, workload_id(row), one.created_ms};
        TILE_TUNE_CHECK(visitor({winner_digest(id, winner.workload, winner.accepted_ms), winner}));
      }
    }
  }
  return {};
}

std::string megabytes(const std::filesystem::path& path) {
  return fmt::format("{:.1f} MB", static_cast<double>(std::filesystem::file_size(path)) / 1e6);
}

void questions(Database& db) {
  std::vector<double> best, relatives;
  for (int i = 0; i < kPrograms; ++i) {
    best.push_back(seconds([&] { value(db.best(program(i), target(), tool())); }));
    if (i % 20 == 0) relatives.push_back(seconds([&] { value(db.relatives(program(i), target(), tool())); }));
  }
  const auto report = [](const char* what, std::vector<double>& times) {
    std::sort(times.begin(), times.end());
    fmt::print("{:<28} median {:.3f} ms, worst {:.3f} ms\n", what, 1e3 * times[times.size() / 2], 1e3 * times.back());
  };
  report("best schedule", best);
  report("19 relatives", relatives);
}

}  // namespace

int main() {
  const auto folder = std::filesystem::temp_directory_path() / fmt::format("tile-tune-size-{}", getpid());
  const auto file = folder / "large.db";
  {
    Database db = value(Database::open(file, Mode::ReadWrite));
    fmt::print("{:<28} {:.1f} s\n", "take in 100,000 trials", seconds([&] { value(db.absorb(hand_out)); }));
  }
  fmt::print("{:<28} {}\n", "the file", megabytes(file));
  fmt::print("{:<28} {:.1f} ms\n", "open", 1e3 * seconds([&] { value(Database::open(file, Mode::ReadOnly)); }));
  Database db = value(Database::open(file, Mode::ReadWrite));
  questions(db);
  fmt::print("{:<28} {:.2f} s\n", "check pages", seconds([&] { value(db.check_pages()); }));
  size_t bytes = 0;
  const double exported = seconds([&] {
    value(db.each_record([&](const Record& record) -> Result<void> {
      bytes += to_line(record).size() + 1;
      return {};
    }));
  });
  fmt::print("{:<28} {:.1f} s, {:.1f} MB of text\n", "export", exported, static_cast<double>(bytes) / 1e6);
  Pruned pruned;
  const double took = seconds([&] { pruned = value(db.prune({.older_than_ms = 1'800'000'000'000})); });
  fmt::print("{:<28} {:.1f} s, {:.1f} MB are left\n", "prune", took, static_cast<double>(pruned.bytes_after) / 1e6);
  std::error_code ignored;
  std::filesystem::remove_all(folder, ignored);
}
