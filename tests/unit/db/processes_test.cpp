// Several tuners on one file, and tuners that are killed.
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <csignal>
#include <set>

#include "tests/unit/db/fixture.h"

using namespace tile_tune::db;
using namespace tile_tune::db::testing;

namespace {

constexpr int kTrialsOfOne = 200;

/// One tuner: a session of `kTrialsOfOne` trials, the last of them chosen.
int tune(const std::filesystem::path& path) {
  Database db = open(path);
  const auto run = value(db.begin_session(matmul(), target(), tool(), session()));
  for (int i = 0; i < kTrialsOfOne; ++i)
    value(db.append_trial(run, i + 1 < kTrialsOfOne ? trial(i, i) : winner(i, i, 100)));
  value(db.finish_session(run, "done"));
  return 0;
}

}  // namespace

TEST_CASE("two tuners on one database, both new, lose nothing") {
  Folder folder;
  const pid_t first = start_child([&] { return tune(folder.file()); });
  const pid_t second = start_child([&] { return tune(folder.file()); });
  int status = -1;
  waitpid(first, &status, 0);
  CHECK(status == 0);
  waitpid(second, &status, 0);
  CHECK(status == 0);
  Database db = open(folder.file(), Mode::ReadOnly);
  const auto trials = value(db.trials_of(matmul(), target(), tool()));
  CHECK(trials.size() == 2 * kTrialsOfOne);
  std::set<std::string> ids;
  for (const auto& row : trials) ids.insert(row.id);
  CHECK(ids.size() == 2 * kTrialsOfOne);
  CHECK(value(db.best(matmul(), target(), tool())).has_value());
  CHECK(sql_number(folder.file(), "SELECT count(*) FROM winner") == 2);
  CHECK(db.damaged_records().empty());
}

TEST_CASE("eight processes may create one database at the same time") {
  Folder folder;
  std::vector<pid_t> children;
  for (int i = 0; i < 8; ++i) {
    children.push_back(start_child([&] {
      Database db = open(folder.file());
      const auto run = value(db.begin_session(matmul(), target(), tool(), session()));
      value(db.append_trial(run, trial(0)));
      return 0;
    }));
  }
  for (const pid_t child : children) {
    int status = -1;
    waitpid(child, &status, 0);
    CHECK(status == 0);
  }
  CHECK(value(open(folder.file()).list())[0].sessions == 8);
}

TEST_CASE("kill -9 at any instant loses no trial that append_trial had returned") {
  const int killed_after = GENERATE(1, 2, 5, 17, 40);
  Folder folder;
  { open(folder.file()); }
  int acknowledged[2];
  REQUIRE(pipe(acknowledged) == 0);
  const pid_t child = start_child([&] {
    Database db = open(folder.file());
    const auto run = value(db.begin_session(matmul(), target(), tool(), session()));
    for (int i = 0;; ++i) {
      value(db.append_trial(run, trial(i, i)));
      const char byte = 'x';
      if (write(acknowledged[1], &byte, 1) != 1) return 1;
    }
  });
  close(acknowledged[1]);
  char byte = 0;
  int returned = 0;
  while (returned < killed_after && read(acknowledged[0], &byte, 1) == 1) ++returned;
  kill(child, SIGKILL);
  int status = 0;
  waitpid(child, &status, 0);
  CHECK(WIFSIGNALED(status));
  while (read(acknowledged[0], &byte, 1) == 1) ++returned;
  close(acknowledged[0]);

  Database db = open(folder.file());
  const auto trials = value(db.trials_of(matmul(), target(), tool()));
  CHECK(trials.size() >= static_cast<size_t>(returned));
  CHECK(trials.size() <= static_cast<size_t>(returned) + 1);  // stored but not yet acknowledged
  for (size_t i = 0; i < trials.size(); ++i) CHECK(trials[i].trial.sequence == static_cast<int>(i));
  CHECK(sql_number(folder.file(), "SELECT count(*) FROM session WHERE state = 'aborted'") == 1);
  CHECK(db.damaged_records().empty());

  // And the next run takes it up where it was.
  const auto unfinished = value(db.unfinished_session(matmul(), target(), tool()));
  REQUIRE(unfinished.has_value());
  CHECK(unfinished->next_sequence == static_cast<int>(trials.size()));
  value(db.resume_session(unfinished->session.id));
  value(db.append_trial(unfinished->session.id, trial(unfinished->next_sequence)));
  value(db.finish_session(unfinished->session.id, "done"));
}

TEST_CASE("a session at work in another process is left alone until that process ends") {
  Folder folder;
  { open(folder.file()); }
  int ready[2];
  REQUIRE(pipe(ready) == 0);
  const pid_t child = start_child([&] {
    Database db = open(folder.file());
    value(db.append_trial(value(db.begin_session(matmul(), target(), tool(), session())), trial(0)));
    const char byte = 'x';
    if (write(ready[1], &byte, 1) != 1) return 1;
    pause();
    return 0;
  });
  close(ready[1]);
  char byte = 0;
  REQUIRE(read(ready[0], &byte, 1) == 1);
  Database db = open(folder.file());
  CHECK(value(db.show("matmul"))[0].sessions[0].state == "running");
  CHECK_FALSE(value(db.unfinished_session(matmul(), target(), tool())).has_value());
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  close(ready[0]);
  CHECK(value(db.show("matmul"))[0].sessions[0].state == "aborted");
  CHECK(value(db.unfinished_session(matmul(), target(), tool())).has_value());
}
