// What every command gets: the common options as given, and where its words go.
#pragma once

#include <functional>
#include <string>

#include "cli/verb.h"
#include "cli/report.h"
#include "engine/session/session.h"

namespace tile_tune::cli {

/// How a command says what it has to say.
struct Output {
  bool json = false, quiet = false, verbose = false;
  std::string color = "auto";

  Volume volume() const { return quiet ? Volume::Quiet : verbose ? Volume::Verbose : Volume::Normal; }
  /// Whether people want to see how things stand meanwhile.
  bool tells_progress() const { return !json && !quiet; }
};

struct CommonOptions {
  engine::Settings settings;
  Output output;
  bool werror = false;
};
void add_common_options(Verb& app, CommonOptions& options);

/// Whether diagnostics are coloured: `choice` is --color's, `terminal` $TERM, `no_color` $NO_COLOR (no-color.org: any
/// value but the empty one asks for no colour).
bool wants_color(const std::string& choice, bool is_terminal, const std::string& terminal, const std::string& no_color);

/// Exit codes that are not failures. Interrupted: or what interrupt_exit_code() says.
enum class Exit { Success = 0, Interrupted = 130 };

struct Session : engine::Session {
  Output output;
};
Session make_session(const CommonOptions& options);

/// A parsed command, ready to run.
using Command = std::function<Result<Exit>(Session&)>;

}  // namespace tile_tune::cli
