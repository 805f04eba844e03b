// The programs that turn generated C and Halide's objects into archives, for this machine and for others.
#pragma once

#include <optional>
#include <string>

#include "codegen/target/target.h"

namespace tile_tune::codegen {

struct Toolchain {
  std::string cc, ld, nm, objcopy, ar;
};

/// For platforms that archives are made for here: Linux on x86-64 and AArch64, elsewhere than at home with Debian's
/// cross compilers. nullopt: another platform, whose packages hold objects and the C sources to go with them.
std::optional<Toolchain> toolchain_for(const Target& target);

/// Nothing if the compiler is installed; else what to install, for another platform of class Target.
Result<void> check_installed(const Toolchain& toolchain, const Target& target);

}  // namespace tile_tune::codegen
