#include "base/sha256.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sodium/crypto_hash_sha256.h>

namespace tile_tune::base {

std::string sha256_hex(std::string_view text) {
  unsigned char digest[crypto_hash_sha256_BYTES];
  crypto_hash_sha256(digest, reinterpret_cast<const unsigned char*>(text.data()), text.size());
  return fmt::format("{:02x}", fmt::join(digest, ""));
}

}  // namespace tile_tune::base
