// tile-tune explain: the domain the tool inferred for every statement, or the schedule it would take: as loops, as
// Halide C++, or the machine code of its hot loop.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <nlohmann/json.hpp>

#include "base/process/children.h"
#include "base/units.h"
#include "cli/binding_options.h"
#include "cli/domain_text.h"
#include "cli/option_checks.h"
#include "cli/verbs.h"
#include "codegen/schedule/countable.h"
#include "codegen/schedule/outline.h"
#include "engine/programs/bindings.h"
#include "engine/programs/memory.h"
#include "engine/programs/path_argument.h"
#include "engine/programs/program_argument.h"
#include "engine/records/planned.h"
#include "engine/records/schedule_choice.h"
#include "engine/run/schedule_text.h"
#include "frontend/ir/describe.h"
#include "frontend/ir/domain.h"
#include "frontend/plan/program_warnings.h"
#include "search/workers/session_directory.h"

namespace tile_tune::cli {

namespace {

struct ExplainOptions {
  std::string program;
  engine::BindingOptions bindings;
  std::string what = "domain";
  std::string schedule;  // a file
};

/// A program as written, and with numbers for its sizes if they were given.
struct Explained {
  std::string signature;
  ir::Program program;
  bool bound = false;
  std::optional<engine::Workload> steps = std::nullopt;  // where its sums of products are computed in steps
  std::string path = "";                                 // of an einsum's contractions, as --path takes it
  std::vector<std::optional<double>> tuned_ns = {};      // of each statement, if it was tuned alone
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
  return text + fmt::format("    {}\n", base::format_count(points, points == 1 ? "point" : "points"));
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
  TILE_TUNE_TRY(loaded, engine::load_programs({options.program}, options.bindings, session.report));
  TILE_TUNE_TRY(stored, engine::with_storage(loaded, options.bindings));
  std::vector<ir::Program> bound;
  if (!options.bindings.sizes.empty()) {
    TILE_TUNE_TRY(all, engine::bind_programs(loaded, options.bindings, session.report));
    bound = std::move(all);
  }
  std::vector<Explained> explained;
  for (size_t i = 0; i < loaded.size(); ++i) {
    const ir::Program& written = loaded[i].program;
    std::optional<ir::Program> numbers;  // with them
    if (!bound.empty()) {
      numbers = std::move(bound[i]);
    } else if (loaded[i].sizes.size() < written.sizes.size()) {
      TILE_TUNE_CHECK(session.report.program_warnings(plan::program_warnings(written)));
    } else {
      TILE_TUNE_TRY(complete, engine::bind_and_warn(stored[i], loaded[i].sizes, session.report));
      numbers = std::move(complete);
    }
    Explained one{ir::signature(written), written};
    if (numbers) {
      one.bound = true;
      one.program = engine::planned_order(*numbers, session);
      one.steps = engine::workload_in_steps(loaded[i], *numbers, session);
      one.tuned_ns = engine::tuned_times(one.program, session);
    }
    if (loaded[i].frontend == "einsum") one.path = engine::path_of(one.program);
    explained.push_back(std::move(one));
  }
  return explained;
}

Result<Exit> explain_domain(const ExplainOptions& options, const Session& session) {
  TILE_TUNE_TRY(explained, load(options, session));
  for (const auto& one : explained)
    if (one.bound) TILE_TUNE_CHECK(engine::check_extents(one.program));
  nlohmann::json programs = nlohmann::json::array();
  std::vector<std::string> texts;
  for (const auto& one : explained) {
    nlohmann::json statements = nlohmann::json::array();
    std::string text = one.signature + "\n";
    if (!one.path.empty()) text += fmt::format("\n  path: {}\n", one.path);
    for (size_t s = 0; s < one.program.statements.size(); ++s) {
      TILE_TUNE_TRY(json, statement_json(one, one.program.statements[s]));
      TILE_TUNE_TRY(words, statement_text(one, one.program.statements[s]));
      text += "\n" + words;
      if (const auto ns = one.bound ? one.tuned_ns[s] : std::nullopt) {
        json["tuned_ns"] = *ns;
        text += fmt::format("    {} as tuned alone\n", base::format_time(*ns));
      }
      statements.push_back(std::move(json));
    }
    programs.push_back({{"name", one.program.name}, {"signature", one.signature}, {"statements", statements}});
    if (!one.path.empty()) programs.back()["path"] = one.path;
    if (one.steps) {
      programs.back()["factored"] = engine::steps_json(*one.steps);
      text += fmt::format("\n  factored: {}\n", engine::steps_text(*one.steps));
      for (const auto& statement : one.steps->program.statements)
        text += fmt::format("    {}\n", ir::to_text(one.steps->program, statement));
    }
    texts.push_back(std::move(text));
  }
  if (session.output.json) {
    TILE_TUNE_CHECK(print_json({{"programs", programs}}));
  } else {
    TILE_TUNE_CHECK(print(fmt::format("{}", fmt::join(texts, "\n"))));
  }
  return Exit::Success;
}

/// The schedule that run and build would take, the best stored one or else the default, or what becomes of it.
Result<Exit> explain_schedule(const ExplainOptions& options, const Session& session) {
  TILE_TUNE_TRY(loaded, engine::load_program(options.program, options.bindings, session.report));
  TILE_TUNE_TRY(sizes, engine::parse_sizes(options.bindings.sizes));
  TILE_TUNE_TRY(bound, engine::bind_program(loaded, options.bindings, session.report));
  TILE_TUNE_CHECK(codegen::check_countable(bound));
  TILE_TUNE_TRY(target, session.explained_target());
  const engine::Workload planned = engine::planned_workload(loaded, bound, sizes, session);
  const bool is_given = !options.schedule.empty();
  TILE_TUNE_TRY(databases, is_given ? Result<std::vector<db::Database>>() : engine::open_stack(session));
  TILE_TUNE_TRY(workload, engine::faster_form(planned, target, databases));
  engine::tell_of_steps(workload, session.report);
  TILE_TUNE_TRY(choice, is_given ? engine::given_choice(workload, target, options.schedule)
                                 : engine::stored_choice(workload, target, databases, session));
  TILE_TUNE_TRY(text, engine::schedule_text(options.what, workload, choice, target));
  if (session.output.json) {
    const std::string field = options.what == "schedule" ? "halide" : options.what;
    TILE_TUNE_CHECK(print_json({{"provenance", choice.provenance},
                                {"rung", choice.rung},
                                {"record", choice.record},
                                {"schedule", codegen::to_json(choice.schedule)},
                                {field, text}}));
  } else {
    TILE_TUNE_CHECK(print(text));
  }
  return Exit::Success;
}

}  // namespace

void add_explain(Verb& app, Command& command) {
  auto options = std::make_shared<ExplainOptions>();
  Verb verb = app.add_verb("explain", "Shows what the tool understood of a program, or the schedule it takes");
  verb.add_option("PROGRAM", options->program, engine::kProgramArgument).required().type_name("");
  verb.add_option("--what", options->what,
                  "domain: ranges, what bounds them, and what is written; of the stored or else the default schedule "
                  "loops: its loop nest in a few lines; schedule: Halide C++ (with --json also what --schedule takes); "
                  "asm: the hot loop; ptx: what the driver of a GPU target compiles (of OpenCL its C)")
      .type_name("WHAT")
      .one_of({"domain", "loops", "schedule", "asm", "ptx"})
      .show_default();
  refuse_empty(verb.add_option("--schedule", options->schedule, "Of this schedule, as JSON, in place of the stored one")
                   .type_name("FILE"));
  add_binding_options(verb, options->bindings);
  verb.on_parsed([&command, options] {
    command = [options](Session& session) -> Result<Exit> {
      if (options->what == "domain" && !options->schedule.empty())
        return fail(ErrorClass::Program, "command-line", "--schedule is for --what loops, schedule, asm and ptx");
      return options->what == "domain" ? explain_domain(*options, session) : explain_schedule(*options, session);
    };
  });
}

}  // namespace tile_tune::cli
