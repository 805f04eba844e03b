#include "codegen/schedule/renumber.h"

#include "codegen/schedule/decisions.h"

namespace tile_tune::codegen {
namespace {

void renumber(NumberOf numbers, int& number, const Renumbering& to) {
  if (numbers == NumberOf::Operand) {
    number = to.operands[static_cast<size_t>(number)];
  } else if (numbers == NumberOf::Reduction) {
    number = to.reductions[static_cast<size_t>(number)];
  } else if (numbers == NumberOf::Loop && number >= to.outputs) {
    number = to.outputs + to.reductions[static_cast<size_t>(number - to.outputs)];
  }
}

template <HasFields Part>
void renumber(NumberOf, Part& part, const Renumbering& to) {
  for_each_field<Part>([&](const auto& field) {
    if constexpr (std::is_same_v<std::remove_cvref_t<decltype(part.*field.value)>, int>)
      renumber(field.numbers, part.*field.value, to);
  });
}

template <typename Part>
void renumber(NumberOf numbers, std::optional<Part>& part, const Renumbering& to) {
  if (part) renumber(numbers, *part, to);
}

template <typename Item>
void renumber(NumberOf numbers, std::vector<Item>& items, const Renumbering& to) {
  if (numbers == NumberOf::EachReduction) {
    const auto from = items;
    for (size_t r = 0; r < from.size(); ++r) items[static_cast<size_t>(to.reductions[r])] = from[r];
  } else if constexpr (requires { renumber(numbers, items.front(), to); }) {
    for (auto& item : items) renumber(numbers, item, to);
  }
}

}  // namespace

NestSchedule renumbered(NestSchedule nest, const Renumbering& to) {
  for_each_decision_of(nest, [&](const auto& decision) {
    auto& value = decision.in(nest);
    if constexpr (requires { renumber(decision.traits.numbers, value, to); })
      renumber(decision.traits.numbers, value, to);
  });
  return nest;
}

}  // namespace tile_tune::codegen
