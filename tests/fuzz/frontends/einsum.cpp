#include "frontend/einsum/einsum.h"

#include "tests/fuzz/frontends/entries.h"
#include "tests/fuzz/frontends/promises.h"

namespace tile_tune::fuzz {
namespace {

// Element type and shape of an operand from one byte. Labels take extents 0 to 3, the same one in every operand;
// axes of an ellipsis take 1 or 2.
tile_tune::einsum::Operand operand(const tile_tune::einsum::Term& term, uint8_t choice, uint8_t first) {
  tile_tune::einsum::Operand result;
  result.type = static_cast<DType>(choice % (static_cast<int>(DType::C64) + 1));
  std::vector<int64_t> shape;
  for (const int label : term.labels) shape.push_back((label * 7 + first) % 4);
  if (term.ellipsis)
    shape.insert(shape.begin() + static_cast<std::ptrdiff_t>(*term.ellipsis), choice / 16 % 3, 1 + choice / 64 % 2);
  result.shape = std::move(shape);
  return result;
}

}  // namespace

void einsum(std::string_view bytes) {
  const size_t newline = bytes.find('\n');
  const auto parsed = tile_tune::einsum::parse(bytes.substr(0, newline));
  if (!parsed) {
    render(parsed.error());
    return;
  }
  tile_tune::einsum::Known known;
  if (newline != bytes.npos && newline + 1 < bytes.size()) {
    const std::string_view choices = bytes.substr(newline + 1);
    for (size_t i = 0; i < parsed->operands.size(); ++i)
      known.operands.push_back(operand(parsed->operands[i], static_cast<uint8_t>(choices[i % choices.size()]),
                                       static_cast<uint8_t>(choices[0])));
  }
  const auto made = tile_tune::einsum::make_program(*parsed, known);
  if (!made)
    render(made.error());
  else
    require_promises(made->program, made->sizes);
}

}  // namespace tile_tune::fuzz
