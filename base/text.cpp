#include "base/text.h"

namespace tile_tune::base {

std::string cut_to_width(const std::string& text, size_t columns) {
  size_t characters = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    const bool starts = (static_cast<unsigned char>(text[i]) & 0xC0) != 0x80;
    if (starts && ++characters > columns) return text.substr(0, i);
  }
  return text;
}

}  // namespace tile_tune::base
