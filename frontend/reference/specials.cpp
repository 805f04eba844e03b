// Inputs with zeros of both signs, infinities, NaN and subnormal numbers among ordinary ones.
#include <algorithm>
#include <array>
#include <set>

#include "frontend/reference/random.h"
#include "frontend/reference/reference.h"
#include "frontend/reference/tolerance.h"
#include "frontend/tensor/convert.h"

namespace tile_tune::reference {
namespace {

// Inputs that gathers read as subscripts.
std::set<int> subscripts(const ir::Program& program) {
  std::set<int> result;
  for (const auto& statement : program.statements)
    ir::for_each_read(*statement.value, [&](const ir::Read& read) {
      for (const auto& subscript : read.subscripts)
        if (const auto* gather = std::get_if<ir::ExprPtr>(&subscript))
          ir::for_each_read(**gather, [&](const ir::Read& index) { result.insert(index.tensor); });
    });
  return result;
}

// Terms of the longest reduction.
int64_t longest_row(const ir::Program& program) {
  int64_t longest = 1;
  for (const auto& statement : program.statements) {
    int64_t terms = 1;
    for (size_t i = 0; i < statement.indices.size(); ++i)
      if (statement.is_reduction(static_cast<int>(i)))
        terms *= std::max<int64_t>(ir::range(statement.indices[i]).extent(), 1);
    longest = std::max(longest, terms);
  }
  return longest;
}

}  // namespace

std::optional<Inputs> special_inputs(const ir::Program& program, Inputs ordinary, uint64_t seed) {
  // About one number in two rows, and never more than one in four.
  const int64_t spacing = std::max<int64_t>(4, 2 * longest_row(program));
  std::mt19937_64 engine(seed);
  const std::set<int> excluded = subscripts(program);
  std::vector<std::pair<int, int64_t>> eligible;  // tensors and how many numbers they have
  for (const auto& [tensor, array] : ordinary) {
    const int64_t parts = is_complex(array.type) ? 2 : 1;
    if (is_float(component_type(array.type)) && !excluded.contains(tensor) && array.element_count() > 0)
      eligible.emplace_back(tensor, parts * static_cast<int64_t>(array.data.size() / dtype_size(array.type)));
  }
  if (eligible.empty()) return std::nullopt;
  const bool none = std::all_of(eligible.begin(), eligible.end(), [&](const auto& e) { return e.second < spacing; });
  size_t next = 0;
  for (const auto& [tensor, count] : eligible) {
    const bool is_only = none && tensor == eligible.back().first;
    auto& array = ordinary.at(tensor);
    const DType part = component_type(array.type);
    const double least = precision(part).smallest_subnormal, normal = precision(part).least_normal();
    const std::array<double, 7> specials{-0.0, INFINITY, 0.0, NAN, -INFINITY, least, least - normal};
    for (int64_t k = 0; k < (is_only ? 1 : count / spacing); ++k)
      tensor::store_real(part, array.data.data(), random_below(engine, count), specials[next++ % specials.size()]);
  }
  return ordinary;
}

}  // namespace tile_tune::reference
