// tile-tune check: what the tool understood of a program, with sizes also how much work it is.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <nlohmann/json.hpp>

#include "base/units.h"
#include "cli/binding_options.h"
#include "cli/domain_text.h"
#include "cli/table.h"
#include "cli/verbs.h"
#include "engine/programs/bindings.h"
#include "engine/programs/memory.h"
#include "engine/programs/program_argument.h"
#include "engine/records/planned.h"
#include "frontend/ir/describe.h"
#include "frontend/plan/program_warnings.h"

namespace tile_tune::cli {

namespace {

struct CheckOptions {
  std::string program;
  engine::BindingOptions bindings;
};

/// A program as written and, if sizes were given or it has none, as bound.
struct Checked {
  ir::Program written;
  std::optional<ir::Program> bound;
  std::optional<engine::Workload> steps = std::nullopt;  // where its sums of products are computed in steps
  const ir::Program& shown() const { return bound ? *bound : written; }
};

std::string extents_text(const ir::Tensor& tensor) {
  if (tensor.extents.empty()) return "scalar";
  std::vector<std::string> extents;
  for (const auto& extent : tensor.extents) extents.push_back(extent.str());
  return fmt::format("({})", fmt::join(extents, ", "));
}

std::string describe(const Checked& checked) {
  const ir::Program& program = checked.shown();
  std::string text = ir::signature(checked.written) + "\n";
  for (const auto& statement : program.statements) {
    text += "\n  " + ir::to_text(program, statement) + "\n";
    for (const auto& constraint : constraint_texts(statement)) text += fmt::format("    where {}\n", constraint);
    text += indices_text(program, statement, 4);
  }
  std::vector<std::vector<std::string>> rows;
  for (const int number : program.outputs) {
    const auto& tensor = program.tensors[static_cast<size_t>(number)];
    const bool in_out = program.initial_value_of(number).has_value();
    rows.push_back({"output", tensor.name, std::string(dtype_name(tensor.type)), extents_text(tensor),
                    in_out ? "starts from the caller's value" : ""});
  }
  text += "\n" + format_table({{""}, {""}, {""}, {""}, {""}}, rows, 2);
  if (!checked.bound) return text;
  const auto traffic = ir::traffic(program);
  std::vector<std::vector<std::string>> facts{
      {"work", base::format_count(checked.steps ? checked.steps->row.flops : ir::flops(program), "FLOP")},
      {"bytes", fmt::format("{} ({} read, {} written)", base::format_bytes(traffic.total()),
                            base::format_bytes(traffic.read), base::format_bytes(traffic.written))}};
  if (checked.steps) facts.push_back({"factored", engine::steps_text(*checked.steps)});
  for (const auto& sum : engine::unfactored_texts(program, checked.steps)) facts.push_back({"not factored", sum});
  return text + format_table({{""}, {""}}, facts, 2);
}

nlohmann::json json_of(const Checked& checked) {
  const ir::Program& program = checked.shown();
  nlohmann::json json{{"name", program.name},
                      {"signature", ir::signature(checked.written)},
                      {"statements", nlohmann::json::array()},
                      {"outputs", nlohmann::json::array()}};
  for (const auto& statement : program.statements)
    json["statements"].push_back({{"text", ir::to_text(program, statement)},
                                  {"constraints", constraint_texts(statement)},
                                  {"indices", indices_json(program, statement)}});
  for (const int number : program.outputs) {
    const auto& tensor = program.tensors[static_cast<size_t>(number)];
    nlohmann::json extents = nlohmann::json::array();
    for (const auto& extent : tensor.extents) extents.push_back(size_json(extent));
    json["outputs"].push_back({{"name", tensor.name},
                               {"dtype", dtype_name(tensor.type)},
                               {"extents", extents},
                               {"in_out", program.initial_value_of(number).has_value()}});
  }
  if (!checked.bound) return json;
  const auto traffic = ir::traffic(program);
  json["flops"] = checked.steps ? checked.steps->row.flops : ir::flops(program);
  if (checked.steps) json["factored"] = engine::steps_json(*checked.steps);
  if (auto sums = engine::unfactored_json(program, checked.steps); !sums.empty())
    json["not_factored"] = std::move(sums);
  json["bytes_read"] = traffic.read;
  json["bytes_written"] = traffic.written;
  return json;
}

/// What is right, and what is wrong with the others.
struct CheckedDefs {
  std::vector<Checked> programs;
  std::vector<Diagnostic> faults;
};

Result<CheckedDefs> check_each(const CheckOptions& options, const Session& session) {
  TILE_TUNE_TRY(loaded, engine::load_each(options.program, options.bindings, session.report));
  CheckedDefs checked{{}, std::move(loaded.faults)};
  const auto add = [&](const engine::LoadedProgram& one, Result<ir::Program> bound) {
    if (bound)
      if (const auto countable = engine::check_extents(*bound); !countable) bound = tl::unexpected(countable.error());
    if (!bound) return checked.faults.push_back(std::move(bound.error()));
    auto steps = engine::workload_in_steps(one, *bound, session);
    checked.programs.push_back({one.program, std::move(*bound), std::move(steps)});
  };
  if (!options.bindings.sizes.empty()) {
    auto bound = engine::bind_each(loaded.programs, options.bindings, session.report);
    // What nobody knows may be a size of a def that is wrong.
    if (!bound && !checked.faults.empty()) return checked;
    if (!bound) return tl::unexpected(std::move(bound.error()));
    for (size_t i = 0; i < bound->size(); ++i) add(loaded.programs[i], std::move((*bound)[i]));
    return checked;
  }
  TILE_TUNE_TRY(laid_out, engine::with_storage(loaded.programs, options.bindings));
  // Programs whose sizes are all known are complete as they are.
  for (size_t i = 0; i < laid_out.size(); ++i) {
    const engine::LoadedProgram& one = loaded.programs[i];
    if (one.sizes.size() < one.program.sizes.size()) {
      TILE_TUNE_CHECK(session.report.program_warnings(plan::program_warnings(one.program)));
      checked.programs.push_back({one.program, std::nullopt});
    } else {
      add(one, engine::bind_and_warn(laid_out[i], one.sizes, session.report));
    }
  }
  return checked;
}

/// What is right is shown whatever is wrong with the rest.
Result<Exit> check(const CheckOptions& options, const Session& session) {
  TILE_TUNE_TRY(checked, check_each(options, session));
  if (session.output.json && !checked.programs.empty()) {
    nlohmann::json programs = nlohmann::json::array();
    for (const auto& one : checked.programs) programs.push_back(json_of(one));
    TILE_TUNE_CHECK(print_json({{"programs", programs}}));
  } else if (!session.output.json) {
    std::vector<std::string> texts;
    for (const auto& one : checked.programs) texts.push_back(describe(one));
    TILE_TUNE_CHECK(print(fmt::format("{}", fmt::join(texts, "\n"))));
  }
  for (size_t i = 0; i + 1 < checked.faults.size(); ++i) session.report.diagnostic(checked.faults[i]);
  if (!checked.faults.empty()) return tl::unexpected(std::move(checked.faults.back()));
  return Exit::Success;
}

}  // namespace

void add_check(Verb& app, Command& command) {
  auto options = std::make_shared<CheckOptions>();
  Verb verb = app.add_verb("check", "Parses and type-checks a program, infers its ranges");
  verb.add_option("PROGRAM", options->program, engine::kProgramArgument).required().type_name("");
  add_binding_options(verb, options->bindings);
  verb.on_parsed([&command, options] { command = [options](Session& session) { return check(*options, session); }; });
}

}  // namespace tile_tune::cli
