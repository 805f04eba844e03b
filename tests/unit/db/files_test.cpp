// Files that are missing, foreign, broken, locked away, or on a full disk.
#include <fcntl.h>
#include <sqlite3.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <csignal>
#include <cstdio>
#include <fstream>
#include <sstream>

#include "db/connection.h"
#include "db/sql_statement.h"
#include "tests/unit/db/fixture.h"

namespace fs = std::filesystem;
using tile_tune::Diagnostic;
using tile_tune::ErrorClass;
using namespace tile_tune::db;
using namespace tile_tune::db::testing;

namespace {

Diagnostic error_of(const fs::path& path, Mode mode) {
  const auto db = Database::open(path, mode);
  REQUIRE_FALSE(db.has_value());
  CHECK(db.error().error_class == ErrorClass::Failure);
  CHECK_THAT(db.error().message, Catch::Contains(path.string()));
  return db.error();
}

/// A database with one winner, closed.
void store_winner(const fs::path& path) {
  Database db = open(path);
  const auto run = value(db.begin_session(matmul(), target(), tool(), session()));
  value(db.append_trial(run, winner(0, 8, 100)));
  value(db.finish_session(run, "done"));
}

/// Runs `body` where file permissions count: as root, in a child without its powers.
int unprivileged(const std::function<int()>& body) {
  const int status = in_child([&] {
    if (geteuid() == 0 && setresuid(65534, 65534, 65534) != 0) return 124;
    return body();
  });
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

}  // namespace

TEST_CASE("a page of noise anywhere in the file is found by checking its pages") {
  Folder folder;
  {
    Database db = open(folder.file());
    const auto run = value(db.begin_session(matmul(), target(), tool(), session()));
    for (int i = 0; i < 40; ++i) value(db.append_trial(run, trial(i, 8 + i)));
    value(db.finish_session(run, "done"));
    value(db.check_pages());
  }
  const std::string bytes = read(folder.file());
  const auto page = static_cast<size_t>(sql_number(folder.file(), "PRAGMA page_size"));
  REQUIRE(bytes.size() > 10 * page);
  for (size_t at = page; at < bytes.size(); at += page) {
    std::string damaged = bytes;
    for (size_t i = 0; i < page; ++i) damaged[at + i] = static_cast<char>((i * 2654435761u + at) >> 7);
    write(folder.file(), damaged);
    auto db = Database::open(folder.file(), Mode::ReadOnly);
    const auto checked = db ? db->check_pages() : tl::unexpected(db.error());
    INFO("page at " << at);
    REQUIRE_FALSE(checked.has_value());
    CHECK(checked.error().code == "database-corrupt");
  }
}

TEST_CASE("writing creates the file and its folders; reading never does") {
  Folder folder;
  const fs::path path = folder.file("new/deeper/tuning.db");
  CHECK(error_of(path, Mode::ReadOnly).code == "no-database");
  CHECK_FALSE(fs::exists(folder.file("new")));
  open(path);
  CHECK(fs::exists(path));
  CHECK(sql_number(path, "PRAGMA user_version") == 3);
  CHECK(sql_number(path, "PRAGMA application_id") == 0x5474756E);
}

TEST_CASE("a local file is in WAL mode") {
  Folder folder;
  open(folder.file());
  CHECK(read(folder.file()).substr(18, 2) == "\x02\x02");  // file format write and read version: 2 is WAL
}

TEST_CASE("without WAL, as on network file systems, eight writers lose nothing either") {
  Folder folder;
  {
    Connection network = value(open_connection(folder.file(), Mode::ReadWrite));
    value(choose_journal(network.get(), true));
  }
  CHECK(sql_number(folder.file(), "SELECT 1 FROM pragma_journal_mode WHERE journal_mode = 'delete'") == 1);
  CHECK_FALSE(fs::exists(folder.file().string() + "-wal"));
  std::vector<pid_t> children;
  for (int i = 0; i < 8; ++i)
    children.push_back(start_child([&, i] {
      sqlite3* raw = nullptr;
      if (sqlite3_open(folder.file().c_str(), &raw) != SQLITE_OK) return 1;
      sqlite3_busy_timeout(raw, 10'000);
      for (int n = 0; n < 10; ++n) {
        auto transaction = value(Transaction::begin(raw, Transaction::Kind::Write));
        value(Statement(raw, "INSERT INTO schedule VALUES (randomblob(32), ?1)").bind(std::to_string(i)).run());
        value(transaction.commit());
      }
      sqlite3_close(raw);
      return 0;
    }));
  for (const pid_t child : children) {
    int status = -1;
    waitpid(child, &status, 0);
    CHECK(status == 0);
  }
  CHECK(sql_number(folder.file(), "SELECT count(*) FROM schedule") == 80);
}

TEST_CASE("file systems of other machines are told from local ones") {
  CHECK(is_network_file_system(0x6969));                            // NFS
  CHECK(is_network_file_system(static_cast<int32_t>(0xFF534D42)));  // CIFS, as 32-bit f_type sign-extends
  CHECK(is_network_file_system(0x65735546));                        // FUSE
  CHECK_FALSE(is_network_file_system(0xEF53));                      // ext4
  CHECK_FALSE(is_network_file_system(0x01021994));                  // tmpfs
  CHECK_FALSE(is_network_file_system(0x9123683E));                  // btrfs
}

TEST_CASE("an empty file is a new database, and nothing to read") {
  Folder folder;
  write(folder.file(), "");
  CHECK(error_of(folder.file(), Mode::ReadOnly).code == "no-database");
  store_winner(folder.file());
  CHECK(value(open(folder.file(), Mode::ReadOnly).list()).size() == 1);
}

TEST_CASE("a file that is no database is refused and left alone") {
  Folder folder;
  const std::string text(5'000, 'x');
  write(folder.file(), text);
  for (const Mode mode : {Mode::ReadOnly, Mode::ReadWrite}) {
    CHECK(error_of(folder.file(), mode).code == "not-a-database");
  }
  CHECK(read(folder.file()) == text);
}

TEST_CASE("errors are returned, never printed") {
  Folder folder;
  write(folder.file(), std::string(5'000, 'x'));
  const int printed = in_child([&] {
    const int file = ::open(folder.file("printed").c_str(), O_WRONLY | O_CREAT, 0600);
    if (file < 0 || dup2(file, 1) < 0 || dup2(file, 2) < 0) return 1;
    const bool opened = Database::open(folder.file(), Mode::ReadWrite).has_value();
    std::fflush(nullptr);  // the child leaves by _exit
    return opened ? 1 : 0;
  });
  CHECK(printed == 0);
  CHECK(fs::file_size(folder.file("printed")) == 0);
}

TEST_CASE("another program's SQLite database is refused and left alone") {
  Folder folder;
  sql(folder.file(),
      "CREATE TABLE contacts(name TEXT); PRAGMA user_version = 1; PRAGMA writable_schema = ON; INSERT INTO "
      "sqlite_schema VALUES ('table', 'found', 'found', 0, 'CREATE VIRTUAL TABLE found USING of_that_program(name)')");
  const std::string before = read(folder.file());
  for (const Mode mode : {Mode::ReadOnly, Mode::ReadWrite}) {
    CHECK(error_of(folder.file(), mode).code == "not-a-database");
  }
  CHECK(read(folder.file()) == before);
}

TEST_CASE("a folder, a pipe and a path through a file cannot be opened") {
  Folder folder;
  REQUIRE(mkfifo(folder.file("pipe").c_str(), 0600) == 0);
  write(folder.file("plain"), "");
  for (const Mode mode : {Mode::ReadOnly, Mode::ReadWrite}) {
    CHECK(error_of(folder.path(), mode).code == "cannot-open-database");
    CHECK(error_of(folder.file("pipe"), mode).code == "cannot-open-database");
  }
  const auto through = Database::open(folder.file("plain/tuning.db"), Mode::ReadWrite);
  REQUIRE_FALSE(through.has_value());
  CHECK(through.error().code == "cannot-open-database");
}

TEST_CASE("a truncated file is recognised, whatever is left of it") {
  Folder folder;
  store_winner(folder.file("whole.db"));
  const std::string whole = read(folder.file("whole.db"));
  REQUIRE(whole.size() > 40'000);
  for (const size_t size : {size_t{50}, size_t{700}, size_t{4'096}, size_t{4'097}, whole.size() - 1}) {
    INFO(size << " of " << whole.size() << " bytes");
    write(folder.file(), whole.substr(0, size));
    for (const Mode mode : {Mode::ReadOnly, Mode::ReadWrite}) {
      auto db = Database::open(folder.file(), mode);
      const std::string code = db ? "opened" : db.error().code;
      CHECK((code == "database-corrupt" || code == "not-a-database"));
    }
  }
}

TEST_CASE("a path with characters that mean something in URIs and SQL") {
  Folder folder;
  const fs::path path = folder.file("a b?mode=memory&c#d%41'\".db");
  store_winner(path);
  CHECK(value(open(path, Mode::ReadOnly).list()).size() == 1);
  CHECK(fs::exists(path));
}

TEST_CASE("a relative path is a path, whatever SQLite would take it for") {
  const std::string name = GENERATE(as<std::string>(), "file:y", "file:z?mode=rwc", "file:m?mode=memory", ":memory:");
  INFO(name);
  Folder folder;
  const int status = in_child([&] {
    if (chdir(folder.path().c_str()) != 0) return 1;
    store_winner(name);
    return value(open(name, Mode::ReadOnly).list()).size() == 1 ? 0 : 2;
  });
  CHECK(status == 0);
  CHECK(fs::file_size(folder.file(name)) > 0);
  for (const auto& entry : fs::directory_iterator(folder.path()))
    CHECK_THAT(entry.path().filename().string(), Catch::StartsWith(name));
}

TEST_CASE("the log that a killed tuner left is read in a read-only folder, too") {
  const bool with_index = GENERATE(true, false);
  INFO((with_index ? "with" : "without") << " the shared memory beside it");
  Folder folder;
  const int killed = in_child([&] {
    Database db = open(folder.file());
    const auto run = value(db.begin_session(matmul(), target(), tool(), session()));
    value(db.append_trial(run, winner(0, 8, 100)));
    return kill(getpid(), SIGKILL);
  });
  REQUIRE(WIFSIGNALED(killed));
  const std::string log = folder.file().string() + "-wal";
  if (!with_index) fs::remove(folder.file().string() + "-shm");
  const std::string before = read(folder.file()), log_before = read(log);
  REQUIRE(!log_before.empty());
  for (const auto& entry : fs::directory_iterator(folder.path())) fs::permissions(entry, fs::perms(0444));
  fs::permissions(folder.path(), fs::perms(0555));
  const int as_found = unprivileged([&] {
    {
      Database db = open(folder.file(), Mode::ReadOnly);
      if (value(db.best(matmul(), target(), tool()))->median_ns != 100) return 1;
      value(db.check_pages());
      if (db.begin_session(matmul(), target(), tool(), session()).error().code != "database-read-only") return 2;
    }
    return open_damaged(folder.file()) ? 0 : 3;
  });
  fs::permissions(folder.path(), fs::perms(0755));
  CHECK(as_found == 0);
  CHECK(read(folder.file()) == before);
  CHECK(read(log) == log_before);
}

TEST_CASE("a database in a read-only folder can be read, and says so when written") {
  Folder folder;
  const fs::path path = folder.file("odd ?name%.db");
  store_winner(path);
  for (const auto& entry : fs::directory_iterator(folder.path())) fs::permissions(entry, fs::perms(0444));
  fs::permissions(folder.path(), fs::perms(0555));
  const int as_found = unprivileged([&] {
    const auto written = Database::open(path, Mode::ReadWrite);
    if (written || written.error().code != "database-read-only") return 1;
    Database db = open(path, Mode::ReadOnly);
    if (value(db.best(matmul(), target(), tool()))->median_ns != 100) return 2;
    if (db.begin_session(matmul(), target(), tool(), session()).error().code != "database-read-only") return 3;
    if (Database::open(folder.file("new.db"), Mode::ReadWrite).error().code != "cannot-open-database") return 4;
    return 0;
  });
  fs::permissions(folder.path(), fs::perms(0755));
  CHECK(as_found == 0);
}

TEST_CASE("an unreadable file is named with the reason") {
  Folder folder;
  store_winner(folder.file());
  fs::permissions(folder.file(), fs::perms(0));
  fs::permissions(folder.path(), fs::perms(0755));
  const int as_found = unprivileged([&] {
    const auto db = Database::open(folder.file(), Mode::ReadOnly);
    return !db && db.error().code == "cannot-open-database" &&
                   db.error().message.find("Permission denied") != std::string::npos
               ? 0
               : 1;
  });
  CHECK(as_found == 0);
}

TEST_CASE("a full disk is named, and what was stored before stays") {
  Folder folder;
  // A limit on file sizes stands in for the full disk: the same path through SQLite, without one to fill.
  const int status = in_child([&] {
    Database db = open(folder.file());
    const auto run = value(db.begin_session(matmul(), target(), tool(), session()));
    value(db.append_trial(run, trial(0, 8)));
    std::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{300'000, 300'000};
    setrlimit(RLIMIT_FSIZE, &limit);
    TrialRow big = trial(1, 16);
    big.reason.assign(500'000, 'r');
    const auto stored = db.append_trial(run, big);
    if (stored || stored.error().code != "disk-full") return 1;
    if (stored.error().note.find("--resume") == std::string::npos) return 2;
    value(db.append_trial(run, trial(1, 16)));  // a smaller one still fits
    return 0;
  });
  CHECK(status == 0);
  Database db = open(folder.file());
  CHECK(value(db.trials_of(matmul(), target(), tool())).size() == 2);
}

TEST_CASE("a disk that fills up while a database is made leaves nothing that is taken for a damaged one") {
  for (rlim_t limit = 0; limit < 130'000; limit += limit < 20'000 ? 1'000 : 10'000) {
    INFO("a disk of " << limit << " bytes");
    Folder folder;
    const int status = in_child([&] {
      std::signal(SIGXFSZ, SIG_IGN);
      const rlimit size{limit, limit};
      setrlimit(RLIMIT_FSIZE, &size);
      Database::open(folder.file(), Mode::ReadWrite);
      return 0;
    });
    CHECK(status == 0);
    const auto read = Database::open(folder.file(), Mode::ReadOnly);
    CHECK((read || read.error().code == "no-database"));
    store_winner(folder.file());
    CHECK(value(open(folder.file(), Mode::ReadOnly).list()).size() == 1);
  }
}

TEST_CASE("who cannot complete a new database does not delete what another has filled meanwhile") {
  for (int round = 0; round < 30; ++round) {
    Folder folder;
    const pid_t poor = start_child([&] {
      std::signal(SIGXFSZ, SIG_IGN);
      const rlimit size{5'000, 5'000};
      setrlimit(RLIMIT_FSIZE, &size);
      Database::open(folder.file(), Mode::ReadWrite);
      return 0;
    });
    const pid_t rich = start_child([&] {
      store_winner(folder.file());
      return 0;
    });
    int status = -1;
    waitpid(poor, &status, 0);
    waitpid(rich, &status, 0);
    REQUIRE(status == 0);
    REQUIRE(fs::exists(folder.file()));
    REQUIRE(value(open(folder.file(), Mode::ReadOnly).list()).size() == 1);
  }
}

TEST_CASE("a disk too full for the files beside a database stops no reader") {
  Folder folder;
  store_winner(folder.file());
  const int status = in_child([&] {
    std::signal(SIGXFSZ, SIG_IGN);
    const rlimit size{1'000, 1'000};
    setrlimit(RLIMIT_FSIZE, &size);
    Database db = open(folder.file(), Mode::ReadOnly);
    value(db.check_pages());
    return value(db.best(matmul(), target(), tool()))->median_ns == 100 ? 0 : 1;
  });
  CHECK(status == 0);
}

TEST_CASE("through a symbolic link a database is the same, its log and its sessions with it") {
  Folder folder;
  fs::create_directory(folder.file("real"));
  fs::create_symlink("real/tuning.db", folder.file("inner.db"));
  fs::create_symlink("inner.db", folder.file("link.db"));
  const fs::path real = folder.file("real/tuning.db"), link = folder.file("link.db");
  const fs::path made_by = GENERATE(0, 1) == 0 ? real : link, other = made_by == real ? link : real;
  Database db = open(made_by);
  const auto run = value(db.begin_session(matmul(), target(), tool(), session()));
  for (int i = 0; i < 50; ++i) value(db.append_trial(run, trial(i, i)));  // most of it in the log alone
  Database reader = open(other, Mode::ReadOnly);
  CHECK(value(reader.show("matmul"))[0].sessions[0].state == "running");
  Database second = open(other);
  CHECK_FALSE(value(second.unfinished_session(matmul(), target(), tool())).has_value());
  CHECK_FALSE(fs::exists(folder.file("link.db-sessions")));
  value(db.append_trial(run, trial(50)));
}

TEST_CASE("a pipe in the place of the file of sessions is not waited for") {
  Folder folder;
  store_winner(folder.file());
  const std::string sessions = folder.file().string() + "-sessions";
  fs::remove(sessions);
  REQUIRE(mkfifo(sessions.c_str(), 0600) == 0);
  alarm(20);
  CHECK(value(open(folder.file(), Mode::ReadOnly).list()).size() == 1);
  const auto written = Database::open(folder.file(), Mode::ReadWrite);
  REQUIRE_FALSE(written.has_value());
  CHECK_THAT(written.error().message, Catch::Contains("-sessions: not a file"));
  alarm(0);
}

TEST_CASE("SQLite's own word for a full disk") {
  Folder folder;
  Connection db = value(open_connection(folder.file(), Mode::ReadWrite));
  Statement(db.get(), "PRAGMA max_page_count = 1").step();  // as small as the file is already
  const auto stored = execute(db.get(), "INSERT INTO schedule VALUES (randomblob(32), hex(zeroblob(100000)))");
  REQUIRE_FALSE(stored.has_value());
  CHECK(stored.error().code == "disk-full");
}

TEST_CASE("a database that another process keeps locked is waited for, then named busy") {
  Folder folder;
  store_winner(folder.file());
  sqlite3* other = nullptr;
  REQUIRE(sqlite3_open(folder.file().c_str(), &other) == SQLITE_OK);
  REQUIRE(sqlite3_exec(other, "BEGIN IMMEDIATE", nullptr, nullptr, nullptr) == SQLITE_OK);
  // Readers are not held up by a writer.
  CHECK(value(open(folder.file(), Mode::ReadOnly).list()).size() == 1);
  Connection db = value(open_connection(folder.file(), Mode::ReadWrite));
  sqlite3_busy_timeout(db.get(), 1);  // instead of ten seconds
  const auto begun = Transaction::begin(db.get(), Transaction::Kind::Write);
  REQUIRE_FALSE(begun.has_value());
  CHECK(begun.error().code == "database-busy");
  sqlite3_close(other);
}
