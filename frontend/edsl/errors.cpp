#include "frontend/edsl/errors.h"

#include <algorithm>
#include <cctype>
#include <tile_tune/program_error.h>

namespace tile_tune::edsl {

Place place_of(const Where& where) {
  return {where.file_name(), static_cast<int>(where.line()), std::max(1, static_cast<int>(where.column())), 1, ""};
}

namespace {

std::string text_of(const Diagnostic& diagnostic) {
  std::string text = render(diagnostic);
  if (text.ends_with('\n')) text.pop_back();
  return text;
}

}  // namespace

void raise(const Diagnostic& diagnostic) {
  const auto& place = diagnostic.place;
  throw ProgramError(text_of(diagnostic), diagnostic.code, place ? place->file : "", place ? place->line : 0);
}

Message message_of(const Diagnostic& warning) {
  const auto& place = warning.place;
  return {Message::Severity::Warning, warning.code, text_of(warning), place ? place->file : "",
          place ? place->line : 0};
}

void raise(std::string code, std::string message, const Where& where, std::string note) {
  raise(Diagnostic{ErrorClass::Program, std::move(code), std::move(message), place_of(where), std::move(note)});
}

bool is_identifier(const std::string& name) {
  const auto letter = [](unsigned char c) { return std::isalpha(c) || c == '_'; };
  return !name.empty() && letter(static_cast<unsigned char>(name.front())) &&
         std::all_of(name.begin(), name.end(), [&](unsigned char c) { return letter(c) || std::isdigit(c); });
}

}  // namespace tile_tune::edsl
