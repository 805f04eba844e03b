// An object file of x86-64 (ELF64, relocatable), read and checked: whatever is wrong in the file is an error here, so
// that who places it (loaded_object.h) may trust every index and offset. Source: System V ABI, AMD64 supplement.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "frontend/diagnostic/diagnostic.h"

namespace tile_tune::codegen {

struct Relocation {
  uint32_t type = 0;    // R_X86_64_*
  uint64_t offset = 0;  // of the place, in its section
  uint32_t symbol = 0;
  int64_t addend = 0;
};

/// One that takes memory when the program runs.
struct ElfSection {
  uint64_t size = 0, alignment = 1;
  bool is_code = false, is_writable = false;
  uint64_t file_offset = 0;
  bool has_bytes = true;  // else zeros
  std::vector<Relocation> relocations;
};

struct ElfSymbol {
  std::string name;
  bool is_global = false;  // seen by others; or a weak one
  bool is_weak = false;
  enum class Where { Undefined, Absolute, Section, Elsewhere } where = Where::Undefined;  // Elsewhere: not in memory
  uint32_t section = 0;  // index in ElfObject::sections
  uint64_t value = 0;
};

struct ElfObject {
  std::string bytes;
  std::vector<ElfSection> sections;
  std::vector<ElfSymbol> symbols;
};

/// Code: object-not-loaded.
Result<ElfObject> parse_elf_object(std::string bytes);

/// "object-not-loaded": `why`.
tl::unexpected<Diagnostic> not_loaded(const std::string& why);

}  // namespace tile_tune::codegen
