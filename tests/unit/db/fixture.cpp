#include "tests/unit/db/fixture.h"

#include <fmt/format.h>
#include <sqlite3.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <sstream>
#include <stdexcept>

#include "base/sha256.h"
#include "db/former_target.h"
#include "db/json_lines.h"

namespace tile_tune::db::testing {

Folder::Folder() {
  std::string name = (std::filesystem::temp_directory_path() / "tile-tune-db-XXXXXX").string();
  if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("mkdtemp failed");
  path_ = name;
}
Folder::~Folder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

void fail_with(const Diagnostic& diagnostic) { throw std::runtime_error(render(diagnostic)); }

Database open(const std::filesystem::path& path, Mode mode) { return value(Database::open(path, mode)); }
void value(Result<void> result) {
  if (!result) fail_with(result.error());
}

ProgramRow matmul() {
  ProgramRow row;
  row.content_hash = base::sha256_hex("matmul 512x511x7");
  row.family_hash = base::sha256_hex("matmul");
  row.name = "matmul";
  row.frontend = "tc";
  row.source = "def matmul(float(M,K) A, float(K,N) B) -> (C) { C(i,j) +=! A(i,k) * B(k,j) }";
  row.canonical_json = R"({"kind":"program"})";
  row.sizes_json = R"({"M":512,"N":511,"K":7})";
  row.dtypes = "f32,f32->f32";
  row.layout = "row";
  row.flops = 2.0 * 512 * 511 * 7;
  row.bytes = 4.0 * (512 * 7 + 7 * 511 + 512 * 511);
  return row;
}

TargetRow target(int threads, const std::string& cpu_model) {
  TargetRow row{.machine = value(codegen::parse_target("x86-64-linux-avx-avx2-fma"))};
  row.machine.cpu_model = cpu_model;
  row.machine.threads = threads;
  return row;
}
TargetRow former_target() {
  return target_row({"x86-64-linux-avx-avx2-fma", "Zen 5", R"({"l1_bytes":32768,"cpu":"Zen 5"})", 2});
}
ToolRow tool(const std::string& version) { return {version, "21.0.0", "21.1", 1, 1}; }

SessionRow session(int64_t created_ms) {
  SessionRow row;
  row.seed = 0xFFFFFFFFFFFFFFF7u;  // above the largest signed number
  row.strategy = "evolve";
  row.options_json = R"({"population":16})";
  row.budget_json = R"({"trials":64})";
  row.created_ms = created_ms;
  return row;
}

TrialRow trial(int sequence, int tile) {
  TrialRow row;
  row.sequence = sequence;
  row.generation = sequence / 16;
  row.origin = "mutation";
  row.schedule_json = fmt::format(R"({{"tile":{}}})", tile);
  row.schedule_id = base::sha256_hex(row.schedule_json);
  row.parents = {base::sha256_hex("parent a"), base::sha256_hex("parent b")};
  row.outcome = "ok";
  row.code_hash = base::sha256_hex("code");
  row.compile_ms = 123.456;
  row.verify_error = 0.1;
  row.samples_ns = {1.5, -0.0, 3e17, 0.1 + 0.2};
  row.median_ns = 1000.0 / 3;
  row.ratio = 1.25;
  row.elapsed_s = 0.5 * sequence;
  row.created_ms = 2'000 + sequence;
  return row;
}

TrialRow winner(int sequence, int tile, double median_ns) {
  TrialRow row = trial(sequence, tile);
  row.origin = "final";
  row.median_ns = median_ns;
  row.ratio = 1.5;
  row.ratio_lo = 1.4;
  row.ratio_hi = 1.6;
  row.peak_fraction = 0.75;
  row.peak_fraction_lo = 0.7;
  row.peak_fraction_hi = 0.8;
  row.chosen = true;
  return row;
}

namespace {
sqlite3* raw(const std::filesystem::path& path) {
  sqlite3* db = nullptr;
  if (sqlite3_open(path.c_str(), &db) != SQLITE_OK) throw std::runtime_error("cannot open " + path.string());
  return db;
}
}  // namespace

void sql(const std::filesystem::path& path, const std::string& text) {
  sqlite3* db = raw(path);
  char* message = nullptr;
  const int rc = sqlite3_exec(db, text.c_str(), nullptr, nullptr, &message);
  const std::string error = message != nullptr ? message : "";
  sqlite3_free(message);
  sqlite3_close(db);
  if (rc != SQLITE_OK) throw std::runtime_error(error);
}

int64_t sql_number(const std::filesystem::path& path, const std::string& text) {
  sqlite3* db = raw(path);
  sqlite3_stmt* statement = nullptr;
  sqlite3_prepare_v2(db, text.c_str(), -1, &statement, nullptr);
  const bool row = sqlite3_step(statement) == SQLITE_ROW;
  const int64_t number = sqlite3_column_int64(statement, 0);
  sqlite3_finalize(statement);
  sqlite3_close(db);
  if (!row) throw std::runtime_error("no row: " + text);
  return number;
}

std::string read(const std::filesystem::path& path) {
  std::ostringstream bytes;
  bytes << std::ifstream(path, std::ios::binary).rdbuf();
  return bytes.str();
}

void write(const std::filesystem::path& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

Result<Absorbed> take_text(Database& db, const std::string& text) {
  std::istringstream stream(text);
  TILE_TUNE_TRY(source, records_of(stream, "shared.jsonl"));
  return db.absorb(source);
}

pid_t start_child(const std::function<int()>& body) {
  std::fflush(nullptr);  // or the child would write the parent's buffers a second time
  const pid_t child = fork();
  if (child != 0) return child;
  int status = 125;
  try {
    status = body();
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}\n", error.what());
  }
  _exit(status);
}

int in_child(const std::function<int()>& body) {
  int status = 0;
  waitpid(start_child(body), &status, 0);
  return status;
}

}  // namespace tile_tune::db::testing
