#include "codegen/load/elf_object.h"

#include <elf.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <optional>

namespace tile_tune::codegen {
namespace {

constexpr uint64_t kMostBytes = 1ull << 30;  // beyond it 32-bit distances between sections might not do
constexpr uint64_t kMostAlignment = 4096;

/// Structures at checked places of the file.
class Reader {
 public:
  explicit Reader(const std::string& bytes) : bytes_(bytes) {}

  bool holds(uint64_t offset, uint64_t size) const { return offset <= bytes_.size() && size <= bytes_.size() - offset; }

  template <typename T>
  T at(uint64_t offset) const {
    T value;
    std::memcpy(&value, bytes_.data() + offset, sizeof value);
    return value;
  }

  template <typename T>
  std::optional<std::vector<T>> table(uint64_t offset, uint64_t count) const {
    if (count > bytes_.size() / sizeof(T) || !holds(offset, count * sizeof(T))) return std::nullopt;
    std::vector<T> values(count);
    if (count > 0) std::memcpy(values.data(), bytes_.data() + offset, count * sizeof(T));
    return values;
  }

  /// A text that ends inside the section of texts.
  std::optional<std::string> text(const Elf64_Shdr& texts, uint64_t at) const {
    if (at >= texts.sh_size) return std::nullopt;
    const char* first = bytes_.data() + texts.sh_offset + at;
    const auto* end = static_cast<const char*>(std::memchr(first, 0, texts.sh_size - at));
    if (!end) return std::nullopt;
    return std::string(first, end);
  }

 private:
  const std::string& bytes_;
};

struct Headers {
  std::vector<Elf64_Shdr> all;
  std::vector<uint32_t> kept;  // number in ElfObject::sections of each, kNone for those without memory
  static constexpr uint32_t kNone = UINT32_MAX;
};

bool is_x86_64_object(const Elf64_Ehdr& header) {
  return std::memcmp(header.e_ident, ELFMAG, SELFMAG) == 0 && header.e_ident[EI_CLASS] == ELFCLASS64 &&
         header.e_ident[EI_DATA] == ELFDATA2LSB && header.e_type == ET_REL && header.e_machine == EM_X86_64 &&
         header.e_shentsize == sizeof(Elf64_Shdr);
}

Result<Headers> read_headers(const Reader& reader) {
  if (!reader.holds(0, sizeof(Elf64_Ehdr))) return not_loaded("it is too short");
  const auto header = reader.at<Elf64_Ehdr>(0);
  if (!is_x86_64_object(header)) return not_loaded("it is no object file for x86-64");
  auto sections = reader.table<Elf64_Shdr>(header.e_shoff, header.e_shnum);
  if (!sections) return not_loaded("its sections are cut off");
  return Headers{std::move(*sections), {}};
}

Result<std::vector<ElfSection>> read_sections(const Reader& reader, Headers& headers) {
  std::vector<ElfSection> sections;
  uint64_t total = 0;
  for (const Elf64_Shdr& header : headers.all) {
    const bool has_bytes = header.sh_type != SHT_NOBITS;
    if (has_bytes && header.sh_type != SHT_NULL && !reader.holds(header.sh_offset, header.sh_size))
      return not_loaded("a section is cut off");
    if ((header.sh_flags & SHF_ALLOC) == 0) {
      headers.kept.push_back(Headers::kNone);
      continue;
    }
    if ((header.sh_flags & SHF_TLS) != 0) return not_loaded("it has variables of threads");
    const uint64_t alignment = std::max<uint64_t>(1, header.sh_addralign);
    if ((alignment & (alignment - 1)) != 0 || alignment > kMostAlignment) return not_loaded("a section's alignment");
    if (header.sh_size > kMostBytes || (total += header.sh_size) > kMostBytes) return not_loaded("it is too large");
    headers.kept.push_back(static_cast<uint32_t>(sections.size()));
    sections.push_back({header.sh_size,
                        alignment,
                        (header.sh_flags & SHF_EXECINSTR) != 0,
                        (header.sh_flags & SHF_WRITE) != 0,
                        header.sh_offset,
                        has_bytes,
                        {}});
  }
  return sections;
}

Result<ElfSymbol> symbol_of(const Reader& reader, const Headers& headers, const Elf64_Shdr& texts,
                            const std::vector<ElfSection>& sections, const Elf64_Sym& raw) {
  using Where = ElfSymbol::Where;
  auto name = reader.text(texts, raw.st_name);
  if (!name) return not_loaded("a symbol's name is cut off");
  ElfSymbol symbol{std::move(*name), ELF64_ST_BIND(raw.st_info) != STB_LOCAL, ELF64_ST_BIND(raw.st_info) == STB_WEAK};
  if (ELF64_ST_TYPE(raw.st_info) == STT_TLS || ELF64_ST_TYPE(raw.st_info) == STT_GNU_IFUNC)
    return not_loaded(fmt::format("the kind of symbol that {} is", symbol.name));
  symbol.value = raw.st_value;
  if (raw.st_shndx == SHN_UNDEF) return symbol;
  if (raw.st_shndx == SHN_ABS) {
    symbol.where = Where::Absolute;
    return symbol;
  }
  if (raw.st_shndx >= headers.all.size()) return not_loaded(fmt::format("the section of {}", symbol.name));
  symbol.section = headers.kept[raw.st_shndx];
  symbol.where = symbol.section == Headers::kNone ? Where::Elsewhere : Where::Section;
  if (symbol.where == Where::Section && symbol.value > sections[symbol.section].size)
    return not_loaded(fmt::format("{} lies outside its section", symbol.name));
  return symbol;
}

Result<std::vector<ElfSymbol>> read_symbols(const Reader& reader, const Headers& headers,
                                            const std::vector<ElfSection>& sections) {
  std::vector<ElfSymbol> symbols;
  for (const Elf64_Shdr& header : headers.all) {
    if (header.sh_type != SHT_SYMTAB) continue;
    const auto raw = reader.table<Elf64_Sym>(header.sh_offset, header.sh_size / sizeof(Elf64_Sym));
    if (!raw || header.sh_link >= headers.all.size() || headers.all[header.sh_link].sh_type != SHT_STRTAB)
      return not_loaded("its symbols are cut off");
    for (const Elf64_Sym& one : *raw) {
      TILE_TUNE_TRY(symbol, symbol_of(reader, headers, headers.all[header.sh_link], sections, one));
      symbols.push_back(std::move(symbol));
    }
    return symbols;
  }
  return not_loaded("it has no symbols");
}

uint64_t bytes_changed(uint32_t type) { return type == R_X86_64_64 ? 8 : 4; }

Result<void> read_relocations(const Reader& reader, const Headers& headers, ElfObject& object) {
  for (const Elf64_Shdr& header : headers.all) {
    if (header.sh_type == SHT_REL) return not_loaded("its relocations have no addends");
    if (header.sh_type != SHT_RELA) continue;
    if (header.sh_info >= headers.all.size()) return not_loaded("relocations of no section");
    const uint32_t number = headers.kept[header.sh_info];
    if (number == Headers::kNone) continue;  // of what is for debuggers
    ElfSection& section = object.sections[number];
    const auto raw = reader.table<Elf64_Rela>(header.sh_offset, header.sh_size / sizeof(Elf64_Rela));
    if (!raw) return not_loaded("its relocations are cut off");
    for (const Elf64_Rela& one : *raw) {
      const Relocation relocation{static_cast<uint32_t>(ELF64_R_TYPE(one.r_info)), one.r_offset,
                                  static_cast<uint32_t>(ELF64_R_SYM(one.r_info)), one.r_addend};
      const uint64_t changed = bytes_changed(relocation.type);
      if (section.size < changed || relocation.offset > section.size - changed || !section.has_bytes)
        return not_loaded("a relocation lies outside its section");
      if (relocation.symbol >= object.symbols.size()) return not_loaded("a relocation by no symbol");
      section.relocations.push_back(relocation);
    }
  }
  return {};
}

}  // namespace

tl::unexpected<Diagnostic> not_loaded(const std::string& why) {
  return failure("object-not-loaded", fmt::format("a built object does not load: {}", why));
}

Result<ElfObject> parse_elf_object(std::string bytes) {
  ElfObject object;
  object.bytes = std::move(bytes);
  const Reader reader(object.bytes);
  TILE_TUNE_TRY(headers, read_headers(reader));
  TILE_TUNE_TRY(sections, read_sections(reader, headers));
  object.sections = std::move(sections);
  TILE_TUNE_TRY(symbols, read_symbols(reader, headers, object.sections));
  object.symbols = std::move(symbols);
  TILE_TUNE_CHECK(read_relocations(reader, headers, object));
  return object;
}

}  // namespace tile_tune::codegen
