/* What the memory of a packed operand begins with, and a file of it: 64 bytes that say what follows them. The operand
 * comes right behind, so that memory at a multiple of 64 gives it the alignment of a cache line. */
#ifndef TILE_TUNE_PACKED_H
#define TILE_TUNE_PACKED_H

#include <stdint.h>

#define TILE_TUNE_PACKED_VERSION 1

struct tile_tune_packed {
  char magic[8];      /* TTpacked */
  uint32_t version;   /* of what these bytes mean; a number of the other byte order is none */
  uint32_t reserved;  /* 0 */
  uint64_t bytes;     /* of all, these included */
  uint8_t digest[32]; /* SHA-256 of the operand's form and the instruction set */
  uint8_t zeros[8];
};

#endif
