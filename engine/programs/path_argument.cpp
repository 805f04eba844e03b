#include "engine/programs/path_argument.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <numeric>

#include "engine/programs/contraction_order.h"
#include "engine/programs/network_form.h"

namespace tile_tune::engine {

namespace {

constexpr const char* kNote = "steps are pairs of places in what is left, such as 1,2;0,1; results come last";

/// Bytes [begin, end) of the path are to blame.
tl::unexpected<Diagnostic> bad_path(const std::string& path, size_t begin, size_t end, std::string message) {
  auto failed = fail(ErrorClass::Program, "bad-path", std::move(message), kNote);
  const int length = std::max(1, static_cast<int>(end) - static_cast<int>(begin));
  failed.value().place = Place{"--path", 1, static_cast<int>(begin) + 1, length, path};
  return failed;
}

std::optional<std::pair<int, int>> pair_in(std::string_view step) {
  std::pair<int, int> pair;
  const char* const end = step.data() + step.size();
  const auto first = std::from_chars(step.data(), end, pair.first);
  if (first.ec != std::errc() || first.ptr == end || *first.ptr != ',') return std::nullopt;
  const auto second = std::from_chars(first.ptr + 1, end, pair.second);
  if (second.ec != std::errc() || second.ptr != end) return std::nullopt;
  return pair;
}

}  // namespace

Result<plan::Group> order_by_path(const std::string& path, const einsum::Einsum& einsum) {
  if (plan::has_groups(einsum.order))
    return bad_path(path, 0, path.size(), "the einsum's parentheses fix an order already");
  std::vector<std::pair<int, int>> steps;
  std::vector<std::pair<size_t, size_t>> places;
  for (size_t begin = 0; begin <= path.size();) {
    const size_t end = std::min(path.find(';', begin), path.size());
    const auto pair = pair_in(std::string_view(path).substr(begin, end - begin));
    if (!pair) return bad_path(path, begin, end, "this is no pair of operands");
    steps.push_back(*pair);
    places.emplace_back(begin, end);
    begin = end + 1;
  }
  const size_t operands = einsum.operands.size();
  const auto order = order_of_path(steps, operands);
  if (order) return group_of(*order, operands);
  const auto step = static_cast<size_t>(order.error().numbers.front());
  const auto [begin, end] = step < places.size() ? places[step] : std::pair(path.size(), path.size());
  return bad_path(path, begin, end, order.error().message);
}

std::string path_of(const ir::Program& einsum) {
  if (einsum.inputs.size() < 3) return "";
  std::vector<int> left(einsum.inputs.size());
  std::iota(left.begin(), left.end(), 0);
  int next = static_cast<int>(left.size());
  std::string text;
  for (const auto& [one, other] : order_of_steps(einsum)) {
    const auto place_of = [&](int piece) { return std::find(left.begin(), left.end(), piece) - left.begin(); };
    const auto [first, second] = std::minmax({place_of(one), place_of(other)});
    text += fmt::format("{}{},{}", text.empty() ? "" : ";", first, second);
    left.erase(left.begin() + second);
    left.erase(left.begin() + first);
    left.push_back(next++);
  }
  return text;
}

}  // namespace tile_tune::engine
