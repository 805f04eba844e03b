// Between what search and code generation speak of and the database's plain rows.
#pragma once

#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "codegen/target/target.h"
#include "db/records.h"
#include "engine/programs/program_argument.h"
#include "frontend/ir/program.h"
#include "frontend/plan/path.h"
#include "search/judge/trial.h"

namespace tile_tune::engine {

/// A program at its sizes, ready for search and code generation, and its row in the database.
struct Workload {
  ir::Program program;  // canonical and bound
  db::ProgramRow row;
  std::shared_ptr<const Workload> written = nullptr;  // the same as written, where its products are in steps
};

/// In ProgramRow::layout, before the path (plan::path_text) of a program whose products are in steps: part of the key,
/// as how tensors are stored is, while content_hash and canonical_json are those of the program as written.
inline constexpr const char* kStepsMark = ", steps ";
/// The layout without the path: ir::layout_text() of the program.
std::string storage_of_layout(const std::string& layout);

/// `bound` is `loaded.program` with layouts, constants and sizes set.
Workload make_workload(const LoadedProgram& loaded, const ir::Program& bound, const ir::Sizes& sizes);

db::TargetRow target_row(const codegen::Target& target);
/// A target that an older version stored in words of its own, or whose machine cannot be, is an error of class Failure.
Result<codegen::Target> target_of(const db::TargetRow& row);
db::ToolRow tool_row();
db::TrialRow trial_row(const search::Trial& trial);
/// A row whose schedule or outcome this version cannot read is an error.
Result<search::Trial> trial_from_row(const db::TrialRow& row);

/// Names of the program's constant inputs.
std::vector<std::string> constant_names(const db::ProgramRow& row);

/// A stored text as JSON; nullopt where it is none, or where it is longer or nests deeper than any of ours: copying and
/// writing JSON takes stack for every level, and a record from elsewhere may hold anything.
std::optional<nlohmann::ordered_json> json_of_record(const std::string& text);

/// The same for people: what the text says, or the text itself.
nlohmann::json json_of_text(const std::string& text);

/// The stored program, in the steps that its key says, checked like everything from a database: an error unless it can
/// be read and is what its hash says.
Result<ir::Program> program_of(const db::ProgramRow& row);
/// Empty: it is as written.
Result<plan::Path> path_of(const db::ProgramRow& row);

/// Where kernels of the target run, threads apart: the CPU's name, or the instruction set of a target that names none,
/// and "deterministic".
std::string machine_text(const db::TargetRow& target);

/// What a program is called above a table: its layout only where it is not simply by rows.
std::string title_text(std::vector<std::string> parts, const std::string& layout);

/// {"M": 512, "N": 3} as "M=512 N=3"; of a text that is no such object the beginning.
std::string sizes_text(const std::string& sizes_json);

}  // namespace tile_tune::engine
