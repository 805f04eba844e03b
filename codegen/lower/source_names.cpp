#include "codegen/lower/source_names.h"

#include <cctype>

namespace tile_tune::codegen {

namespace {

// Words of C++, and of Halide's what the text uses.
constexpr const char* kReserved[] = {
    "alignas",     "and",      "asm",       "auto",       "bool",      "break",        "case",       "catch",
    "char",        "class",    "const",     "constexpr",  "continue",  "decltype",     "default",    "delete",
    "do",          "double",   "else",      "enum",       "explicit",  "export",       "extern",     "false",
    "float",       "for",      "friend",    "goto",       "if",        "inline",       "int",        "long",
    "mutable",     "new",      "noexcept",  "not",        "nullptr",   "operator",     "or",         "private",
    "protected",   "public",   "register",  "requires",   "return",    "short",        "signed",     "sizeof",
    "static",      "struct",   "switch",    "template",   "this",      "throw",        "true",       "try",
    "typedef",     "typeid",   "typename",  "union",      "unsigned",  "using",        "virtual",    "void",
    "volatile",    "while",    "xor",       "Halide",     "Var",       "RDom",         "Func",       "Expr",
    "Tuple",       "Pipeline", "LoopLevel", "cast",       "select",    "min",          "max",        "likely",
    "abs",         "sqrt",     "floor",     "ceil",       "trunc",     "Float",        "Int",        "UInt",
    "Bool",        "BFloat",   "let",       "variable",   "intrinsic", "inputs",       "std",        "main",
    "reinterpret", "constant", "outside",   "ImageParam", "Internal",  "TailStrategy", "MemoryType", "is_nan"};

}  // namespace

SourceNames::SourceNames() : taken_(std::begin(kReserved), std::end(kReserved)) {}

std::string SourceNames::fresh(const std::string& wish) {
  std::string base;
  for (const char c : wish) base += std::isalnum(static_cast<unsigned char>(c)) ? c : '_';
  if (base.empty() || std::isdigit(static_cast<unsigned char>(base[0])) || base[0] == '_') base = "v" + base;
  std::string name = base;
  for (int i = 2; !taken_.insert(name).second; ++i) name = base + "_" + std::to_string(i);
  return name;
}

std::string SourceNames::wish(const std::string& name) const {
  for (const auto& [from, to] : called_)
    if (name == from || name.starts_with(from + "_")) return to + name.substr(from.size());
  return name;
}

std::string SourceNames::identifier(char kind, const std::string& name, std::map<std::string, std::string>* asked_for) {
  const auto [place, is_new] = given_.try_emplace(kind + name);
  if (is_new) {
    place->second = fresh(wish(name));
    if (asked_for) (*asked_for)[name] = place->second;
  }
  return place->second;
}

}  // namespace tile_tune::codegen
