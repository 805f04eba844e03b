// tile-tune explain: the domain the tool inferred for every statement, the schedule it would take, or its loops.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "cli/bindings.h"
#include "cli/domain_text.h"
#include "cli/memory.h"
#include "cli/planned.h"
#include "cli/program_argument.h"
#include "cli/schedule_choice.h"
#include "cli/units.h"
#include "cli/verbs.h"
#include "codegen/lower/compile.h"
#include "codegen/schedule/limits.h"
#include "frontend/ir/describe.h"
#include "frontend/ir/domain.h"
#include "frontend/ir/warnings.h"

namespace tile_tune::cli {

namespace {

struct ExplainOptions {
  std::string program;
  BindingOptions bindings;
  std::string what = "domain";
};

/// A program as written, and with numbers for its sizes if they were given.
struct Explained {
  std::string signature;
  ir::Program program;
  bool bound = false;
  std::optional<Workload> steps = std::nullopt;  // where its sums of products are computed in steps
};

Result<std::string> statement_text(const Explained& explained, const ir::Statement& statement) {
  const ir::Program& program = explained.program;
  std::string text = "  " + ir::to_text(program, statement) + "\n" + indices_text(program, statement, 4);
  for (const auto& constraint : constraint_texts(statement)) text += fmt::format("    where {}\n", constraint);
  if (const auto combines = combines_text(program, statement); !combines.empty()) text += "    " + combines + "\n";
  TILE_TUNE_TRY(writes, writes_text(program, statement));
  text += "    " + writes + "\n";
  if (!explained.bound) return text;
  TILE_TUNE_TRY(points, ir::domain_size(program, statement));
  return text + fmt::format("    {}\n", format_count(points, points == 1 ? "point" : "points"));
}

Result<nlohmann::json> statement_json(const Explained& explained, const ir::Statement& statement) {
  TILE_TUNE_TRY(writes, writes_json(explained.program, statement));
  nlohmann::json json{{"text", ir::to_text(explained.program, statement)},
                      {"indices", indices_json(explained.program, statement)},
                      {"constraints", constraint_texts(statement)},
                      {"writes", std::move(writes)}};
  if (!explained.bound) return json;
  TILE_TUNE_TRY(points, ir::domain_size(explained.program, statement));
  json["points"] = points;
  return json;
}

Result<std::vector<Explained>> load(const ExplainOptions& options, const Session& session) {
  TILE_TUNE_TRY(loaded, load_programs({options.program}, options.bindings, session.report));
  TILE_TUNE_TRY(stored, with_storage(loaded, options.bindings));
  std::vector<ir::Program> bound;
  if (!options.bindings.sizes.empty()) {
    TILE_TUNE_TRY(all, bind_programs(loaded, options.bindings, session.report));
    bound = std::move(all);
  }
  std::vector<Explained> explained;
  for (size_t i = 0; i < loaded.size(); ++i) {
    const ir::Program& written = loaded[i].program;
    auto signature = ir::signature(written);
    if (!bound.empty()) {
      explained.push_back({std::move(signature), bound[i], true, workload_in_steps(loaded[i], bound[i], session)});
    } else if (loaded[i].sizes.size() < written.sizes.size()) {
      TILE_TUNE_CHECK(session.report.program_warnings(ir::warnings_of(written)));
      explained.push_back({std::move(signature), written, false});
    } else {
      TILE_TUNE_TRY(numbers, bind_and_warn(stored[i], loaded[i].sizes, session.report));
      explained.push_back({std::move(signature), numbers, true, workload_in_steps(loaded[i], numbers, session)});
    }
  }
  return explained;
}

Result<Exit> explain_domain(const ExplainOptions& options, const Session& session) {
  TILE_TUNE_TRY(explained, load(options, session));
  for (const auto& one : explained)
    if (one.bound) TILE_TUNE_CHECK(check_extents(one.program));
  nlohmann::json programs = nlohmann::json::array();
  std::vector<std::string> texts;
  for (const auto& one : explained) {
    nlohmann::json statements = nlohmann::json::array();
    std::string text = one.signature + "\n";
    for (const auto& statement : one.program.statements) {
      TILE_TUNE_TRY(json, statement_json(one, statement));
      TILE_TUNE_TRY(words, statement_text(one, statement));
      statements.push_back(std::move(json));
      text += "\n" + words;
    }
    programs.push_back({{"name", one.program.name}, {"signature", one.signature}, {"statements", statements}});
    if (one.steps) {
      programs.back()["factored"] = steps_json(*one.steps);
      text += fmt::format("\n  factored: {}\n", steps_text(*one.steps));
      for (const auto& statement : one.steps->program.statements)
        text += fmt::format("    {}\n", ir::to_text(one.steps->program, statement));
    }
    texts.push_back(std::move(text));
  }
  if (session.report.json()) {
    TILE_TUNE_CHECK(print_json({{"programs", programs}}));
  } else {
    TILE_TUNE_CHECK(print(fmt::format("{}", fmt::join(texts, "\n"))));
  }
  return Exit::Success;
}

/// The schedule that run and build would take, the best stored one or else the default, or the loops it makes.
Result<Exit> explain_schedule(const ExplainOptions& options, const Session& session) {
  TILE_TUNE_TRY(loaded, load_program(options.program, options.bindings, session.report));
  TILE_TUNE_TRY(sizes, parse_sizes(options.bindings.sizes));
  TILE_TUNE_TRY(bound, bind_program(loaded, options.bindings, session.report));
  TILE_TUNE_CHECK(codegen::check_countable(bound));
  TILE_TUNE_TRY(target, session.target());
  const Workload planned = planned_workload(loaded, bound, sizes, session);
  TILE_TUNE_TRY(databases, open_stack(session));
  TILE_TUNE_TRY(workload, faster_form(planned, target, databases));
  tell_of_steps(workload, session.report);
  TILE_TUNE_TRY(choice, stored_choice(workload, target, databases, session));
  const auto schedule = codegen::to_json(choice.schedule);
  nlohmann::json json{
      {"provenance", choice.provenance}, {"rung", choice.rung}, {"record", choice.record}, {"schedule", schedule}};
  if (options.what == "loops") {
    TILE_TUNE_TRY(loops, codegen::lowered_loops(workload.program, choice.schedule, target));
    json["loops"] = loops;
    if (!session.report.json()) {
      TILE_TUNE_CHECK(print(loops));
      return Exit::Success;
    }
  }
  TILE_TUNE_CHECK(print_json(session.report.json() ? json : schedule));
  return Exit::Success;
}

}  // namespace

void add_explain(CLI::App& app, Command& command) {
  auto options = std::make_shared<ExplainOptions>();
  auto* verb = app.add_subcommand("explain", "Shows what the tool understood of a program, or the schedule it takes");
  verb->add_option("PROGRAM", options->program, kProgramArgument)->required()->type_name("");
  verb->add_option("--what", options->what,
                   "domain: ranges, what bounds them, and what is written; schedule: the stored or default schedule; "
                   "loops: the loop nest it makes")
      ->type_name("WHAT")
      ->check(CLI::IsMember({"domain", "schedule", "loops"}))
      ->capture_default_str();
  add_binding_options(*verb, options->bindings);
  verb->callback([&command, options] {
    command = [options](Session& session) {
      return options->what == "domain" ? explain_domain(*options, session) : explain_schedule(*options, session);
    };
  });
}

}  // namespace tile_tune::cli
