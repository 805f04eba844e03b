#include "codegen/lower/hot_loop.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <vector>

namespace tile_tune::codegen {

namespace {

struct Line {
  std::string_view text;
  std::string_view label;     // empty: none
  std::string_view mnemonic;  // empty: no instruction
  std::string_view operands;
};

std::vector<Line> lines_of(const std::string& assembly) {
  std::vector<Line> lines;
  for (size_t at = 0; at < assembly.size();) {
    const size_t end = std::min(assembly.find('\n', at), assembly.size());
    Line line{std::string_view(assembly).substr(at, end - at), {}, {}, {}};
    at = end + 1;
    const auto text = line.text;
    if (text.empty()) continue;
    if (text[0] != '\t' && text[0] != ' ') {
      const size_t colon = text[0] == '"' ? text.find("\":") + 1 : text.find(':');
      if (text[0] == '#' || colon == std::string_view::npos) continue;
      line.label = text.substr(0, colon);
    } else {
      const size_t begin = text.find_first_not_of(" \t");
      if (begin == std::string_view::npos || text[begin] == '.' || text[begin] == '#' || text[begin] == '/') continue;
      const size_t stop = std::min(text.find_first_of(" \t", begin), text.size());
      line.mnemonic = text.substr(begin, stop - begin);
      const size_t operands = text.find_first_not_of(" \t", stop);
      if (operands != std::string_view::npos)
        line.operands = text.substr(operands, text.find_first_of(" \t#/", operands) - operands);
    }
    lines.push_back(line);
  }
  return lines;
}

bool starts_with_any(std::string_view word, std::initializer_list<std::string_view> prefixes) {
  return std::any_of(prefixes.begin(), prefixes.end(), [&](auto prefix) { return word.starts_with(prefix); });
}

bool ends_with_any(std::string_view word, std::initializer_list<std::string_view> suffixes) {
  return std::any_of(suffixes.begin(), suffixes.end(), [&](auto suffix) { return word.ends_with(suffix); });
}

/// 0: moves, addresses, branches; 1: one number; 4: a vector of them.
int weight(const Line& line) {
  std::string_view word = line.mnemonic;
  // AArch64's instructions on numbers name their registers (v0.4s).
  if (starts_with_any(word, {"fm", "fadd", "fsub", "fdiv", "mla", "mls", "sdot", "udot", "smlal", "umlal", "bfdot"}) &&
      word.find("mov") == std::string_view::npos)
    return line.text.find("v") != std::string_view::npos && line.text.find('.') != std::string_view::npos ? 4 : 1;
  if (word.starts_with('v')) word.remove_prefix(1);
  const bool is_integer_vector =
      starts_with_any(word, {"padd", "psub", "pmul", "pmadd", "pdp", "pmax", "pmin", "dpbf", "pabs"});
  if (is_integer_vector) return 4;
  if (!starts_with_any(word, {"fma", "fms", "fnm", "add", "sub", "mul", "div", "max", "min", "sqrt", "dp"})) return 0;
  if (ends_with_any(word, {"ps", "pd", "ph"})) return 4;
  return ends_with_any(word, {"ss", "sd", "sh"}) ? 1 : 0;
}

bool is_branch(std::string_view mnemonic) {
  return mnemonic.starts_with('j') || mnemonic == "b" || starts_with_any(mnemonic, {"b.", "cb", "tb"});
}

/// The label that a branch goes to: its last operand.
std::string_view destination(const Line& line) {
  const auto text = line.operands;
  const size_t comma = text.rfind(',');
  return comma == std::string_view::npos ? text : text.substr(comma + 1);
}

struct Piece {
  size_t first = 0, last = 0;  // lines, both included
};

std::vector<Piece> loops_of(const std::vector<Line>& lines) {
  std::map<std::string_view, size_t> labels;
  std::vector<Piece> loops;
  for (size_t i = 0; i < lines.size(); ++i) {
    if (!lines[i].label.empty()) labels[lines[i].label] = i;
    if (!is_branch(lines[i].mnemonic)) continue;
    if (const auto found = labels.find(destination(lines[i])); found != labels.end())
      loops.push_back({found->second, i});
  }
  return loops;
}

/// From one label that is a function's (LLVM's own begin with a dot) to the next.
std::vector<Piece> functions_of(const std::vector<Line>& lines) {
  std::vector<Piece> functions;
  for (size_t i = 0; i < lines.size(); ++i) {
    if (!lines[i].label.empty() && lines[i].label[0] != '.') functions.push_back({i, i});
    if (!functions.empty()) functions.back().last = i;
  }
  return functions;
}

HotLoop measured(const std::vector<Line>& lines, Piece piece, bool is_loop) {
  HotLoop result;
  result.is_loop = is_loop;
  for (size_t i = piece.first; i <= piece.last; ++i) {
    result.text.append(lines[i].text).append("\n");
    if (lines[i].mnemonic.empty()) continue;
    ++result.instructions;
    if (weight(lines[i]) > 0) ++result.arithmetic;
  }
  return result;
}

}  // namespace

HotLoop hot_loop(const std::string& assembly) {
  const auto lines = lines_of(assembly);
  const auto loops = loops_of(lines);
  const auto arithmetic = [&](Piece piece) {
    int sum = 0;
    for (size_t i = piece.first; i <= piece.last; ++i) sum += weight(lines[i]);
    return sum;
  };
  const auto is_innermost = [&](Piece piece) {
    return std::none_of(loops.begin(), loops.end(), [&](Piece other) {
      return other.first >= piece.first && other.last <= piece.last &&
             other.last - other.first < piece.last - piece.first;
    });
  };
  std::pair<int, Piece> best{0, {}};
  for (const Piece loop : loops)
    if (const int sum = arithmetic(loop); sum > best.first && is_innermost(loop)) best = {sum, loop};
  if (best.first > 0) return measured(lines, best.second, true);
  Piece longest;
  for (const Piece function : functions_of(lines))
    if (function.last - function.first >= longest.last - longest.first) longest = function;
  return lines.empty() ? HotLoop{"", 0, 0, false} : measured(lines, longest, false);
}

}  // namespace tile_tune::codegen
