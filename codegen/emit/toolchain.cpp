#include "codegen/emit/toolchain.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "codegen/emit/subprocess.h"

namespace tile_tune::codegen {
namespace {

#if defined(__x86_64__)
constexpr Platform kHome = {Architecture::X86, 64, System::Linux};
#elif defined(__aarch64__)
constexpr Platform kHome = {Architecture::Arm, 64, System::Linux};
#else
#error "packages are emitted on x86-64 or AArch64 Linux"
#endif

/// Of a platform that Debian has cross compilers for.
struct Cross {
  Platform platform;
  const char *triple, *package, *architecture;  // as GNU's and Debian's names go
};
constexpr Cross kCross[] = {
    {{Architecture::X86, 64, System::Linux}, "x86_64-linux-gnu", "x86-64-linux-gnu", "amd64"},
    {{Architecture::Arm, 64, System::Linux}, "aarch64-linux-gnu", "aarch64-linux-gnu", "arm64"}};

const Cross* cross_for(const Platform& platform) {
  const auto found =
      std::find_if(std::begin(kCross), std::end(kCross), [&](const Cross& one) { return one.platform == platform; });
  return found == std::end(kCross) ? nullptr : found;
}

}  // namespace

std::optional<Toolchain> toolchain_for(const Target& target) {
  if (target.platform == kHome) return Toolchain{"cc", "ld", "nm", "objcopy", "ar"};
  const Cross* cross = cross_for(target.platform);
  if (!cross) return std::nullopt;
  const auto named = [&](const char* program) { return fmt::format("{}-{}", cross->triple, program); };
  return Toolchain{named("gcc"), named("ld"), named("nm"), named("objcopy"), named("ar")};
}

Result<void> check_installed(const Toolchain& toolchain, const Target& target) {
  const auto version = run_tool({toolchain.cc, "--version"}, "/");
  if (version) return {};
  if (target.platform == kHome) return tl::unexpected(version.error());
  const Cross& cross = *cross_for(target.platform);
  return fail(ErrorClass::Target, "no-cross-compiler",
              fmt::format("packages for {} are made with {}, which is not here", target.platform.text(), toolchain.cc),
              fmt::format("install Debian's gcc-{} and libc6-dev-{}-cross", cross.package, cross.architecture));
}

}  // namespace tile_tune::codegen
