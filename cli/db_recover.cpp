// tile-tune db recover: what is left of a damaged database, into a new one.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/units.h"
#include "cli/db_verbs.h"
#include "db/connection.h"
#include "db/recover.h"

namespace tile_tune::cli {

namespace {

namespace fs = std::filesystem;

struct RecoverArguments {
  std::string input, output;
};

Result<Exit> tell(const db::Recovered& recovered, const RecoverArguments& arguments, const Session& session) {
  warn_of_refusals(recovered.refused, session.report);
  if (session.output.json) {
    TILE_TUNE_CHECK(print_json({{"database", arguments.output},
                                {"saved", recovered.saved},
                                {"unreadable", recovered.unreadable},
                                {"cut_off", recovered.cut_off},
                                {"refused", to_json(recovered.refused)}}));
    return Exit::Success;
  }
  std::string text =
      fmt::format("{} saved into {}, {} lost", base::format_number(static_cast<size_t>(recovered.saved), "record"),
                  arguments.output, recovered.refused.size() + static_cast<size_t>(recovered.unreadable));
  if (recovered.cut_off) text += "; how many more there were where nothing can be read is not known";
  TILE_TUNE_CHECK(print(text + "\n"));
  return Exit::Success;
}

Result<Exit> recover(const RecoverArguments& arguments, const Session& session) {
  std::error_code error;
  if (fs::exists(fs::symlink_status(arguments.output, error)))
    return failure("cannot-write", fmt::format("{} is there already", arguments.output), "name a new file");
  TILE_TUNE_CHECK(db::open_damaged(arguments.input));  // before a file is made
  TILE_TUNE_TRY(fresh, db::Database::open(arguments.output, db::Mode::ReadWrite));
  TILE_TUNE_TRY(recovered, db::recover(arguments.input, fresh));
  return tell(recovered, arguments, session);
}

}  // namespace

void add_db_recover(Verb& db, Command& command) {
  auto arguments = std::make_shared<RecoverArguments>();
  Verb verb = db.add_verb("recover", "Saves what can still be read of a damaged database into a new one");
  verb.add_option("IN", arguments->input, "The damaged file; it is not changed").required().type_name("");
  verb.add_option("OUT", arguments->output, "The new one; there is no such file yet").required().type_name("");
  verb.on_parsed(
      [&command, arguments] { command = [arguments](Session& session) { return recover(*arguments, session); }; });
}

}  // namespace tile_tune::cli
