#include "engine/programs/program_argument.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "engine/programs/einsum_argument.h"
#include "engine/programs/suite.h"
#include "frontend/ir/json.h"
#include "frontend/tc/parse.h"

namespace tile_tune::engine {

namespace {

/// Of a program or a schedule. Both are kilobytes, and a parsed program takes many times the memory of its text: a file
/// beyond this was named by mistake, and would fill the memory before anybody is told.
constexpr std::uintmax_t kLargestText = 16 << 20;

constexpr std::string_view kExtensions[] = {".tc", ".json"};

struct FileArgument {
  std::string path;
  std::string name;  // of one program in the file; empty: all
};

/// FILE.tc:NAME is cut at the last colon, unless a file of the whole name exists (paths may hold colons).
FileArgument split(const std::string& argument) {
  const size_t colon = argument.rfind(':');
  std::error_code ignored;
  if (colon == std::string::npos || std::filesystem::exists(argument, ignored)) return {argument, ""};
  const std::string path = argument.substr(0, colon);
  for (const auto& extension : kExtensions)
    if (path.ends_with(extension)) return {path, argument.substr(colon + 1)};
  return {argument, ""};
}

/// Of the byte at `offset`; columns count characters.
Place place_of(const std::string& text, const std::string& path, size_t offset) {
  offset = std::min(offset, text.size());
  const size_t last_break = offset == 0 ? std::string::npos : text.rfind('\n', offset - 1);
  const size_t begin = last_break == std::string::npos ? 0 : last_break + 1;
  const auto is_first_byte = [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; };
  Place place{path, 1, 1, 1, text.substr(begin, text.find('\n', begin) - begin)};
  place.line += static_cast<int>(std::count(text.begin(), text.begin() + begin, '\n'));
  place.column += static_cast<int>(std::count_if(text.begin() + begin, text.begin() + offset, is_first_byte));
  return place;
}

Result<nlohmann::json> parse_json(const std::string& text, const std::string& path) {
  try {
    return nlohmann::json::parse(text);
  } catch (const nlohmann::json::parse_error& error) {
    const bool ended = error.byte > text.size();
    return tl::unexpected(Diagnostic{ErrorClass::Program, "bad-json",
                                     ended ? "the file ends inside its JSON value" : "this is not JSON",
                                     place_of(text, path, error.byte == 0 ? 0 : error.byte - 1)});
  } catch (const nlohmann::json::exception& error) {
    // The only other error: "... number overflow parsing '1e999'". It tells the number but not its place.
    const std::string what = error.what();
    const size_t quote = what.find('\'');
    const std::string number = quote == std::string::npos ? "" : what.substr(quote + 1, what.rfind('\'') - quote - 1);
    return tl::unexpected(Diagnostic{ErrorClass::Program, "bad-json", "this number is too large",
                                     place_of(text, path, text.find(number))});
  }
}

Result<std::vector<LoadedProgram>> load_json(const std::string& path, const Reporter& report) {
  TILE_TUNE_TRY(text, read_text(path));
  TILE_TUNE_TRY(json, parse_json(text, path));
  if (!json.is_object()) return fail(ErrorClass::Program, "bad-json", fmt::format("{} is not a JSON object", path));
  if (is_suite(json)) return load_suite(json, path, report);
  auto program = ir::program_from_json(json);
  if (!program) {
    Diagnostic diagnostic = std::move(program.error());
    diagnostic.message = path + ": " + diagnostic.message;
    return tl::unexpected(std::move(diagnostic));
  }
  return std::vector<LoadedProgram>{{std::move(*program), "json", text}};
}

/// The first ten, and how many others there are.
std::string first_of(const std::vector<std::string>& names) {
  constexpr size_t kShown = 10;
  const size_t shown = std::min(kShown, names.size()), others = names.size() - shown;
  const std::string rest = others == 0 ? "" : fmt::format(" and {} other{}", others, others == 1 ? "" : "s");
  return fmt::format("{}{}", fmt::join(names.begin(), names.begin() + static_cast<long>(shown), ", "), rest);
}

std::string names_of(const std::vector<LoadedProgram>& programs) {
  std::vector<std::string> names;
  for (const auto& one : programs) names.push_back(one.program.name);
  return first_of(names);
}

tl::unexpected<Diagnostic> unknown_def(const FileArgument& file, const std::vector<std::string>& names) {
  return fail(ErrorClass::Program, "unknown-def", fmt::format("{} has no def '{}'", file.path, file.name),
              fmt::format("it has {}", first_of(names)));
}

/// Of a file all defs, or the one that is named: then nothing is said of the others.
Result<LoadedDefs> load_tc(const FileArgument& file, const Reporter& report) {
  TILE_TUNE_TRY(text, read_text(file.path));
  LoadedDefs loaded;
  std::vector<Diagnostic> warnings;
  std::vector<std::string> names;
  for (auto& def : tc::parse_defs(text, file.path)) {
    if (!def.name.empty()) names.push_back(def.name);
    if (!file.name.empty() && !def.name.empty() && def.name != file.name) continue;
    if (!def.program) {
      loaded.faults.push_back(std::move(def.program.error()));
      continue;
    }
    warnings.insert(warnings.end(), def.warnings.begin(), def.warnings.end());
    loaded.programs.push_back({std::move(*def.program), "tc", std::move(def.text)});
  }
  if (loaded.programs.empty() && loaded.faults.empty()) return unknown_def(file, names);
  TILE_TUNE_CHECK(report.program_warnings(warnings));
  return loaded;
}

Result<LoadedDefs> load_file(const std::string& argument, const Reporter& report) {
  const FileArgument file = split(argument);
  if (file.path.ends_with(".tc")) return load_tc(file, report);
  if (!file.path.ends_with(".json"))
    return fail(ErrorClass::Program, "unknown-program", fmt::format("'{}' is not a program", argument),
                "a program is FILE.tc, FILE.tc:NAME, FILE.json or einsum:SUBSCRIPTS, for example einsum:ij,jk->ik");
  TILE_TUNE_TRY(programs, load_json(file.path, report));
  if (file.path.size() == argument.size()) return LoadedDefs{std::move(programs), {}};
  std::vector<std::string> names;
  for (auto& one : programs) {
    names.push_back(name_of(one));
    if (one.program.name == file.name || names.back() == file.name) return LoadedDefs{{std::move(one)}, {}};
  }
  return unknown_def(file, names);
}

}  // namespace

Result<std::string> read_text(const std::string& path) {
  const auto cannot = [&](const char* why) {
    return failure("cannot-open", fmt::format("cannot read {}: {}", path, why));
  };
  std::error_code ignored;
  const auto status = std::filesystem::status(path, ignored);
  if (std::filesystem::is_directory(status)) return cannot("it is a folder");
  // A pipe would be waited for until somebody writes to it.
  if (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status)) return cannot("it is not a file");
  if (const auto size = std::filesystem::file_size(path, ignored); !ignored && size > kLargestText)
    return cannot("it is larger than 16 MiB");
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "rb"), std::fclose);
  if (!file) return cannot(std::strerror(errno));
  std::string text;
  char block[1 << 16];
  while (const size_t got = std::fread(block, 1, sizeof block, file.get())) text.append(block, got);
  if (std::ferror(file.get())) return cannot(std::strerror(errno));
  return text;
}

Result<std::vector<LoadedProgram>> load_programs(const std::vector<std::string>& arguments,
                                                 const BindingOptions& options, const Reporter& report, Defs defs) {
  TILE_TUNE_CHECK(check_einsum_options(arguments, options));
  std::vector<LoadedProgram> programs;
  for (const auto& argument : arguments) {
    if (is_einsum(argument)) {
      TILE_TUNE_TRY(one, load_einsum(argument, options));
      programs.push_back(std::move(one));
    } else {
      TILE_TUNE_TRY(loaded, load_file(argument, report));
      if (!loaded.faults.empty()) return tl::unexpected(std::move(loaded.faults.front()));
      auto& some = loaded.programs;
      if (defs == Defs::One && some.size() > 1 && !some.front().suite)
        return tl::unexpected(several_programs(argument, some));
      std::move(some.begin(), some.end(), std::back_inserter(programs));
    }
  }
  return programs;
}

Result<LoadedDefs> load_each(const std::string& argument, const BindingOptions& options, const Reporter& report) {
  if (!is_einsum(argument)) {
    TILE_TUNE_CHECK(check_einsum_options({argument}, options));
    return load_file(argument, report);
  }
  TILE_TUNE_TRY(programs, load_programs({argument}, options, report));
  return LoadedDefs{std::move(programs), {}};
}

Diagnostic several_programs(const std::string& argument, const std::vector<LoadedProgram>& programs) {
  return {
      ErrorClass::Program, "several-defs",
      fmt::format("{} has several {}: {}", argument, programs.front().suite ? "workloads" : "defs", names_of(programs)),
      std::nullopt, fmt::format("pick one: {}:{}", argument, programs.front().program.name)};
}

Result<LoadedProgram> load_program(const std::string& argument, const BindingOptions& options, const Reporter& report) {
  TILE_TUNE_TRY(programs, load_programs({argument}, options, report));
  if (programs.size() == 1) return std::move(programs.front());
  return tl::unexpected(several_programs(argument, programs));
}

}  // namespace tile_tune::engine
