#include "engine/sdk/given_program.h"

#include "engine/caller/installation.h"
#include "engine/caller/messages.h"
#include "frontend/plan/program_warnings.h"

namespace tile_tune::engine {

Session session_of(const Options& options, bool is_deterministic) {
  Session session{.settings = {.target = options.target, .threads = options.threads, .deterministic = is_deterministic},
                  .report = reporter_of(options)};
  if (!options.database.empty()) session.settings.databases = {options.database};
  value(session.check_settings());
  session.executable = value(tool(options.executable));
  return session;
}

void tell_all(const edsl::Program& program, const ir::Program& sized, const Options& options, const Session& session) {
  for (const auto& warning : program.warnings()) tell(warning, options);
  // Of a program that has its numbers they were told with its other warnings.
  if (!program.ir().is_bound()) value(session.report.program_warnings(plan::program_warnings(sized)));
}

BindingOptions bindings_of(const ProgramOptions& options) {
  BindingOptions bindings{options.sizes, options.layouts, {}, {}, options.constants, options.objective};
  if (!options.objective.empty() && options.objective != "hot" && options.objective != "cold")
    edsl::raise({ErrorClass::Program, "bad-objective", "ProgramOptions::objective is \"hot\" or \"cold\""});
  return bindings;
}

GivenProgram given_program(const edsl::Program& program, const BindingOptions& bindings) {
  const auto sizes = value(parse_sizes(bindings.sizes));
  value(check_size_names({program.ir()}, sizes));
  // Einsums of several operands are ordered by their sizes.
  const bool is_complete = sizes.size() == program.ir().sizes.size();
  GivenProgram given{
      {is_complete && !sizes.empty() ? program.ir_at(sizes) : program.ir(), "edsl", program.json()}, sizes, {}};
  given.stored = value(with_storage(given.loaded.program, bindings));
  return given;
}

}  // namespace tile_tune::engine
