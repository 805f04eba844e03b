#include "aged_database.h"

#include <catch2/catch.hpp>

#include "db/database.h"

namespace tile_tune::test {

void age(const Sandbox& box, const std::string& from, const std::string& to) {
  auto source = db::Database::open(box.path(from), db::Mode::ReadOnly);
  auto copy = db::Database::open(box.path(to), db::Mode::ReadWrite);
  REQUIRE(source);
  REQUIRE(copy);
  const auto rows = source->recorded();
  REQUIRE(rows);
  for (auto row : *rows) {
    const auto trials = *source->trials_of(row.program, row.target, row.tool);
    row.tool.tile_tune = "0.0.1";
    const auto session = copy->begin_session(row.program, row.target, row.tool, {});
    REQUIRE(session);
    for (const auto& stored : trials) REQUIRE(copy->append_trial(*session, stored.trial));
    REQUIRE(copy->finish_session(*session, "done"));
  }
}

}  // namespace tile_tune::test
