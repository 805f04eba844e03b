#include "frontend/diagnostic/diagnostic.h"

#include <fmt/format.h>
#include <algorithm>
#include <nlohmann/json.hpp>

namespace tile_tune {

tl::unexpected<Diagnostic> fail(ErrorClass error_class, std::string code, std::string message, std::string note) {
  return tl::unexpected(Diagnostic{error_class, std::move(code), std::move(message), std::nullopt, std::move(note)});
}

tl::unexpected<Diagnostic> failure(std::string code, std::string message, std::string note) {
  return fail(ErrorClass::Failure, std::move(code), std::move(message), std::move(note));
}

std::string render(const Diagnostic& diagnostic, bool color) {
  const bool error = diagnostic.severity == Severity::Error;
  const char* bold = color ? "\033[1m" : "";
  const char* tint = color ? (error ? "\033[1;31m" : "\033[1;35m") : "";
  const char* plain = color ? "\033[0m" : "";
  std::string text;
  if (diagnostic.place) {
    text += fmt::format("{}{}:{}:{}:{} ", bold, diagnostic.place->file, diagnostic.place->line,
                        diagnostic.place->column, plain);
  }
  text += fmt::format("{}{}:{} {} [{}]\n", tint, error ? "error" : "warning", plain, diagnostic.message, diagnostic.code);
  if (diagnostic.place && !diagnostic.place->source_line.empty()) {
    // Tabs are kept under the caret so that it lines up whatever the terminal's tab width is.
    std::string indent;
    const auto& line = diagnostic.place->source_line;
    const auto before = std::min<size_t>(std::max(0, diagnostic.place->column - 1), line.size());
    for (size_t i = 0; i < before; ++i) {
      const auto byte = static_cast<unsigned char>(line[i]);
      if ((byte & 0xC0) != 0x80) indent += byte == '\t' ? '\t' : ' ';  // one column a UTF-8 character
    }
    const int tail = std::max(0, diagnostic.place->length - 1);
    text += fmt::format("  {}\n  {}{}^{}{}\n", line, indent, tint, std::string(tail, '~'), plain);
  }
  if (!diagnostic.note.empty()) text += fmt::format("note: {}\n", diagnostic.note);
  return text;
}

nlohmann::json to_json(const Diagnostic& diagnostic) {
  nlohmann::json json{{"severity", diagnostic.severity == Severity::Error ? "error" : "warning"},
                      {"code", diagnostic.code},
                      {"message", diagnostic.message}};
  if (diagnostic.severity == Severity::Error) json["exit_code"] = static_cast<int>(diagnostic.error_class);
  if (!diagnostic.note.empty()) json["note"] = diagnostic.note;
  if (diagnostic.place) {
    json["file"] = diagnostic.place->file;
    json["line"] = diagnostic.place->line;
    json["column"] = diagnostic.place->column;
  }
  return json;
}

}  // namespace tile_tune
