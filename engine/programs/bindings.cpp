#include "engine/programs/bindings.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>

#include "base/nearest_name.h"
#include "engine/programs/suite.h"
#include "frontend/diagnostic/utf8.h"
#include "frontend/einsum/einsum.h"
#include "frontend/plan/program_warnings.h"

namespace tile_tune::engine {

namespace {

struct LayoutChoice {
  std::string tensor;  // empty: all
  ir::Storage storage;
};

Result<LayoutChoice> parse_layout(const std::string& text) {
  const auto assignment = split_assignment(text);
  TILE_TUNE_TRY(storage, ir::parse_storage(assignment ? assignment->second : text));
  if (!assignment && !storage.is_compact() && text.find(',') == std::string::npos)
    return fail(ErrorClass::Program, "bad-layout", fmt::format("'{}' is not a storage order", text),
                "--layout takes row, col, or a tensor's NAME= and row, col or strides");
  if (!assignment && !storage.is_compact())
    return fail(ErrorClass::Program, "bad-layout", fmt::format("--layout {}: strides are those of one tensor", text),
                fmt::format("write --layout NAME={}", text));
  return LayoutChoice{assignment ? assignment->first : "", std::move(storage)};
}

/// Says whose error it is, unless the message does.
void name_in(Diagnostic& error, const LoadedProgram& loaded) {
  if (!loaded.suite && error.message.find(fmt::format("'{}'", loaded.program.name)) != std::string::npos) return;
  error.message = name_of(loaded) + ": " + error.message;
}

Result<void> check_names(const LayoutChoice& choice, const ir::Program& program, const std::string& text) {
  for (const auto& name : choice.storage.names())
    if (std::find(program.sizes.begin(), program.sizes.end(), name) == program.sizes.end())
      return fail(
          ErrorClass::Program, "bad-layout",
          fmt::format("--layout {}: '{}' is neither a storage order nor a size of {}", text, name, program.name),
          program.sizes.empty() ? "" : fmt::format("its sizes are {}", fmt::join(program.sizes, ", ")));
  return {};
}

bool has_tensor(const ir::Program& program, const std::string& name) {
  return std::any_of(program.tensors.begin(), program.tensors.end(), [&](const auto& one) { return one.name == name; });
}

}  // namespace

std::optional<std::pair<std::string, std::string>> split_assignment(const std::string& text) {
  const size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0 || equals + 1 == text.size()) return std::nullopt;
  return std::pair{text.substr(0, equals), text.substr(equals + 1)};
}

bool is_fraction(const std::string& number) {
  double value = 0;
  const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), value);
  return error == std::errc() && end == number.data() + number.size() &&
         number.find_first_of(".eE") != std::string::npos;
}

std::string name_of_size(const std::string& text) {
  const bool is_character = count_characters(text) == 1 && first_code_point(text);
  return is_character ? einsum::size_name(text) : text;
}

std::vector<std::string> separate_assignments(const std::vector<std::string>& assignments) {
  std::vector<std::string> separate;
  for (const auto& text : assignments)
    for (size_t begin = 0; begin <= text.size();) {
      const size_t end = std::min(text.find(',', begin), text.size());
      const std::string part = text.substr(begin, end - begin);
      // What has no name belongs to the list before it.
      if (begin == 0 || part.find('=') != std::string::npos)
        separate.push_back(part);
      else
        separate.back() += "," + part;
      begin = end + 1;
    }
  return separate;
}

Result<ir::Sizes> parse_sizes(const std::vector<std::string>& assignments) {
  ir::Sizes sizes;
  for (const auto& text : separate_assignments(assignments)) {
    const auto assignment = split_assignment(text);
    int64_t value = 0;
    const std::string number = assignment ? assignment->second : "";
    const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), value);
    if (error == std::errc::result_out_of_range)
      return fail(ErrorClass::Program, "bad-size", fmt::format("the size '{}' is too large", text));
    if (is_fraction(number))
      return fail(ErrorClass::Program, "bad-size", fmt::format("the size '{}' is not a whole number", text));
    if (!assignment || error != std::errc() || end != number.data() + number.size())
      return fail(ErrorClass::Program, "bad-size", fmt::format("'{}' is not a size", text),
                  number.find_first_of(".,") != std::string::npos
                      ? "ranges and lists of sizes are for tune and build, of a program with names for its sizes"
                      : "write -s NAME=N, for example -s M=512");
    const auto [place, inserted] = sizes.emplace(name_of_size(assignment->first), value);
    if (!inserted && place->second != value)
      return fail(ErrorClass::Program, "bad-size",
                  fmt::format("size {} is given twice, as {} and as {}", place->first, place->second, value));
  }
  return sizes;
}

ir::Sizes sizes_of(const LoadedProgram& loaded, const ir::Sizes& given) {
  ir::Sizes own = loaded.sizes;
  for (const auto& name : loaded.program.sizes)
    if (const auto found = given.find(name); found != given.end()) own.insert(*found);
  return own;
}

Result<ir::Program> with_layouts(ir::Program program, const std::vector<std::string>& layouts) {
  for (const auto& text : layouts) {
    TILE_TUNE_TRY(choice, parse_layout(text));
    if (!choice.tensor.empty() && !has_tensor(program, choice.tensor))
      return fail(ErrorClass::Program, "unknown-tensor",
                  fmt::format("--layout {}: {} has no tensor '{}'", text, program.name, choice.tensor));
    TILE_TUNE_CHECK(check_names(choice, program, text));
    for (auto& tensor : program.tensors) {
      if (!choice.tensor.empty() && tensor.name != choice.tensor) continue;
      tensor.storage = choice.storage;
      TILE_TUNE_CHECK(ir::check_rank(tensor));
    }
  }
  return program;
}

Result<ir::Program> with_constants(ir::Program program, const std::vector<std::string>& constants) {
  std::vector<std::string> inputs;
  for (const int input : program.inputs) inputs.push_back(program.tensors[input].name);
  for (const auto& name : constants) {
    const auto found = std::find(inputs.begin(), inputs.end(), name);
    if (found == inputs.end()) {
      const std::string what = !has_tensor(program, name) ? fmt::format("{} has no tensor '{}'", program.name, name)
                                                          : fmt::format("{} is written by {}", name, program.name);
      return fail(ErrorClass::Program, "bad-constant", fmt::format("--constant {}: {}", name, what),
                  fmt::format("its inputs are {}", fmt::join(inputs, ", ")));
    }
    program.tensors[program.inputs[found - inputs.begin()]].constant = true;
  }
  return program;
}

Result<ir::Program> with_storage(const ir::Program& program, const BindingOptions& options) {
  TILE_TUNE_TRY(laid_out, with_layouts(program, options.layouts));
  if (!options.objective.empty()) laid_out.cold = options.objective == "cold";
  return with_constants(std::move(laid_out), options.constants);
}

Result<ir::Program> bind_and_warn(const ir::Program& program, const ir::Sizes& sizes, const Reporter& report) {
  TILE_TUNE_TRY(bound, ir::bind(program, sizes));
  TILE_TUNE_CHECK(report.program_warnings(plan::program_warnings(bound)));
  return bound;
}

Result<ir::Program> bind_program(const LoadedProgram& loaded, const BindingOptions& options, const Reporter& report) {
  TILE_TUNE_TRY(stored, with_storage(loaded.program, options));
  TILE_TUNE_TRY(sizes, parse_sizes(options.sizes));
  TILE_TUNE_CHECK(check_size_names({loaded.program}, sizes));
  return bind_and_warn(stored, sizes_of(loaded, sizes), report);
}

Result<void> check_size_names(const std::vector<ir::Program>& programs, const ir::Sizes& sizes) {
  std::vector<std::string> known;
  for (const auto& program : programs)
    for (const auto& name : program.sizes)
      if (std::find(known.begin(), known.end(), name) == known.end()) known.push_back(name);
  for (const auto& [name, value] : sizes) {
    if (std::find(known.begin(), known.end(), name) != known.end()) continue;
    const std::string nearest = base::nearest_name(name, known);
    const std::string all =
        known.empty() ? "there are no sizes" : fmt::format("the sizes are {}", fmt::join(known, ", "));
    return fail(ErrorClass::Mismatch, "unknown-size",
                programs.size() == 1 ? fmt::format("'{}' has no size named {}", programs.front().name, name)
                                     : fmt::format("none of the programs has a size {}", name),
                nearest.empty() ? all : fmt::format("did you mean {}? {}", nearest, all));
  }
  return {};
}

Result<std::vector<ir::Program>> with_storage(const std::vector<LoadedProgram>& loaded, const BindingOptions& options) {
  const auto is_known = [&](const std::string& name) {
    return std::any_of(loaded.begin(), loaded.end(), [&](const auto& one) { return has_tensor(one.program, name); });
  };
  std::vector<ir::Program> programs;
  for (const auto& one : loaded) {
    const ir::Program& program = one.program;
    // What nobody has stays in the list, so that it is reported.
    const auto is_own = [&](const std::string& name) { return !is_known(name) || has_tensor(program, name); };
    BindingOptions own;
    own.objective = options.objective;
    for (const auto& text : options.layouts) {
      const auto assignment = split_assignment(text);
      if (!assignment || is_own(assignment->first)) own.layouts.push_back(text);
    }
    for (const auto& name : options.constants)
      if (is_own(name)) own.constants.push_back(name);
    TILE_TUNE_TRY(stored, with_storage(program, own));
    programs.push_back(std::move(stored));
  }
  return programs;
}

Result<std::vector<Result<ir::Program>>> bind_each(const std::vector<LoadedProgram>& loaded,
                                                   const BindingOptions& options, const Reporter& report) {
  TILE_TUNE_TRY(programs, with_storage(loaded, options));
  TILE_TUNE_TRY(sizes, parse_sizes(options.sizes));
  TILE_TUNE_CHECK(check_size_names(programs, sizes));
  std::vector<Result<ir::Program>> bound;
  for (size_t i = 0; i < programs.size(); ++i) {
    bound.push_back(bind_and_warn(programs[i], sizes_of(loaded[i], sizes), report));
    if (!bound.back() && (loaded[i].suite || loaded.size() > 1)) name_in(bound.back().error(), loaded[i]);
  }
  return bound;
}

Result<std::vector<ir::Program>> bind_programs(const std::vector<LoadedProgram>& loaded, const BindingOptions& options,
                                               const Reporter& report) {
  TILE_TUNE_TRY(each, bind_each(loaded, options, report));
  std::vector<ir::Program> bound;
  for (auto& one : each) {
    if (!one) return tl::unexpected(std::move(one.error()));
    bound.push_back(std::move(*one));
  }
  return bound;
}

}  // namespace tile_tune::engine
