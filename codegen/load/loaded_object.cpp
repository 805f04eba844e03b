#include "codegen/load/loaded_object.h"

#include <elf.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <optional>
#include <vector>

#include "base/files.h"
#include "codegen/load/elf_object.h"

namespace tile_tune::codegen {
namespace {

// jmp *[rip + distance], to an entry of the table of addresses: calls reach 2 GB, libraries lie farther away.
constexpr std::array<uint8_t, 2> kJump{0xff, 0x25};
constexpr uint64_t kStub = 8, kEntry = 8;

uint64_t rounded_up(uint64_t value, uint64_t to) { return (value + to - 1) / to * to; }

/// Where everything comes in one piece of memory: code and constants, stubs | the table of addresses, variables.
struct Layout {
  std::vector<uint64_t> sections;
  uint64_t stubs = 0, writable = 0, table = 0, size = 0;
};

Layout lay_out(const ElfObject& object, uint64_t page) {
  Layout layout;
  layout.sections.resize(object.sections.size());
  const auto place = [&](bool is_writable, bool is_code) {
    for (size_t i = 0; i < object.sections.size(); ++i) {
      const ElfSection& section = object.sections[i];
      if (section.is_writable != is_writable || (!is_writable && section.is_code != is_code)) continue;
      layout.size = rounded_up(layout.size, section.alignment);
      layout.sections[i] = layout.size;
      layout.size += section.size;
    }
  };
  place(false, true);
  place(false, false);
  layout.stubs = rounded_up(layout.size, kStub);
  layout.writable = rounded_up(layout.stubs + kStub * object.symbols.size(), page);
  layout.table = layout.writable;
  layout.size = layout.table + kEntry * object.symbols.size();
  place(true, false);
  layout.size = rounded_up(layout.size + 1, page);
  return layout;
}

class SectionLoader {
 public:
  SectionLoader(const ElfObject& object, const Layout& layout, std::byte* memory)
      : object_(object), layout_(layout), memory_(memory) {}

  Result<void> run(const SymbolResolver& resolve) {
    copy();
    find_addresses(resolve);
    for (size_t i = 0; i < object_.sections.size(); ++i)
      for (const Relocation& relocation : object_.sections[i].relocations)
        TILE_TUNE_CHECK(relocate(relocation, layout_.sections[i] + relocation.offset));
    return {};
  }

  const std::vector<std::optional<uint64_t>>& addresses() const { return addresses_; }

 private:
  void copy() {
    for (size_t i = 0; i < object_.sections.size(); ++i)
      if (const ElfSection& section = object_.sections[i]; section.has_bytes && section.size > 0)
        std::memcpy(memory_ + layout_.sections[i], object_.bytes.data() + section.file_offset, section.size);
  }

  // Each symbol has a stub and an entry in the table, whether they are used or not: there are a hundred at most.
  void find_addresses(const SymbolResolver& resolve) {
    for (size_t i = 0; i < object_.symbols.size(); ++i) {
      const ElfSymbol& symbol = object_.symbols[i];
      std::optional<uint64_t> address;
      if (symbol.where == ElfSymbol::Where::Section)
        address = at(layout_.sections[symbol.section] + symbol.value);
      else if (symbol.where == ElfSymbol::Where::Absolute)
        address = symbol.value;
      else if (symbol.where == ElfSymbol::Where::Undefined && !symbol.name.empty())
        address = reinterpret_cast<uint64_t>(resolve(symbol.name));
      if (address == 0 && !symbol.is_weak) address.reset();
      addresses_.push_back(address);
      write(layout_.table + kEntry * i, address.value_or(0));
      const uint64_t stub = layout_.stubs + kStub * i;
      std::memcpy(memory_ + stub, kJump.data(), kJump.size());
      const uint64_t behind = stub + kJump.size() + sizeof(int32_t);
      write(stub + kJump.size(), static_cast<int32_t>(layout_.table + kEntry * i - behind));
    }
  }

  Result<void> relocate(const Relocation& relocation, uint64_t place) {
    const uint32_t number = relocation.symbol;
    if (!addresses_[number])
      return not_loaded(fmt::format("it needs {}, which is nowhere", object_.symbols[number].name));
    const uint64_t target = *addresses_[number], addend = static_cast<uint64_t>(relocation.addend);
    switch (relocation.type) {
      case R_X86_64_64:
        write(place, target + addend);
        return {};
      case R_X86_64_PC32:
        return write_distance(place, target + addend, number);
      case R_X86_64_PLT32:
        return write_distance(place, (is_here(number) ? target : at(layout_.stubs + kStub * number)) + addend, number);
      case R_X86_64_GOTPCREL:
      case R_X86_64_GOTPCRELX:
      case R_X86_64_REX_GOTPCRELX:
        return write_distance(place, at(layout_.table + kEntry * number) + addend, number);
      default:
        return not_loaded(fmt::format("a relocation of type {}", relocation.type));
    }
  }

  bool is_here(uint32_t number) const { return object_.symbols[number].where == ElfSymbol::Where::Section; }

  Result<void> write_distance(uint64_t place, uint64_t target, uint32_t number) {
    const auto distance = static_cast<int64_t>(target - at(place));
    if (distance != static_cast<int32_t>(distance))
      return not_loaded(fmt::format("{} is too far away", object_.symbols[number].name));
    write(place, static_cast<int32_t>(distance));
    return {};
  }

  uint64_t at(uint64_t offset) const { return reinterpret_cast<uint64_t>(memory_) + offset; }

  template <typename T>
  void write(uint64_t offset, T value) {
    std::memcpy(memory_ + offset, &value, sizeof value);
  }

  const ElfObject& object_;
  const Layout& layout_;
  std::byte* memory_;
  std::vector<std::optional<uint64_t>> addresses_;
};

}  // namespace

Result<LoadedObject> LoadedObject::load(const std::filesystem::path& file, const SymbolResolver& resolve) {
  auto bytes = base::read_bytes(file);
  if (!bytes) return not_loaded(fmt::format("{} cannot be read", file.string()));
  return load_bytes(std::move(*bytes), resolve);
}

Result<LoadedObject> LoadedObject::load_bytes(std::string bytes, const SymbolResolver& resolve) {
  TILE_TUNE_TRY(object, parse_elf_object(std::move(bytes)));
  const Layout layout = lay_out(object, static_cast<uint64_t>(sysconf(_SC_PAGESIZE)));
  void* const memory = mmap(nullptr, layout.size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return not_loaded(std::strerror(errno));
  LoadedObject loaded;
  loaded.memory_ = {memory, [size = layout.size](void* mapped) { munmap(mapped, size); }};
  SectionLoader loader(object, layout, static_cast<std::byte*>(memory));
  TILE_TUNE_CHECK(loader.run(resolve));
  if (mprotect(memory, layout.writable, PROT_READ | PROT_EXEC) != 0) return not_loaded(std::strerror(errno));
  for (size_t i = 0; i < object.symbols.size(); ++i) {
    const ElfSymbol& symbol = object.symbols[i];
    if (symbol.is_global && symbol.where == ElfSymbol::Where::Section)
      loaded.symbols_.emplace(symbol.name, reinterpret_cast<void*>(*loader.addresses()[i]));
  }
  return loaded;
}

void* LoadedObject::find(const std::string& name) const {
  const auto found = symbols_.find(name);
  return found == symbols_.end() ? nullptr : found->second;
}

}  // namespace tile_tune::codegen
