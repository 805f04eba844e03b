#include "codegen/emit/toolchain.h"

#include <fmt/format.h>

#include <map>

#include "codegen/emit/subprocess.h"

namespace tile_tune::codegen {
namespace {

#if defined(__x86_64__)
constexpr std::string_view kHome = "x86-64-linux";
#elif defined(__aarch64__)
constexpr std::string_view kHome = "arm-64-linux";
#else
#error "packages are emitted on x86-64 or AArch64 Linux"
#endif

// GNU names of platforms, as Debian's cross compilers carry them.
const std::map<std::string, std::string, std::less<>> kTriples = {{"x86-64-linux", "x86_64-linux-gnu"},
                                                                  {"arm-64-linux", "aarch64-linux-gnu"}};

}  // namespace

std::optional<Toolchain> toolchain_for(const Target& target) {
  const std::string platform = target.platform.text();
  if (platform == kHome) return Toolchain{"cc", "ld", "nm", "objcopy", "ar"};
  const auto triple = kTriples.find(platform);
  if (triple == kTriples.end()) return std::nullopt;
  const auto named = [&](const char* program) { return fmt::format("{}-{}", triple->second, program); };
  return Toolchain{named("gcc"), named("ld"), named("nm"), named("objcopy"), named("ar")};
}

Result<void> check_installed(const Toolchain& toolchain, const Target& target) {
  const auto platform = target.platform.text();
  if (platform == kHome) return {};
  const auto version = run_tool({toolchain.cc, "--version"}, "/");
  if (version) return {};
  const auto triple = kTriples.at(platform);
  return fail(ErrorClass::Target, "no-cross-compiler",
              fmt::format("packages for {} are made with {}, which is not here", platform, toolchain.cc),
              fmt::format("install Debian's gcc-{0} and libc6-dev-{1}-cross",
                          triple == "x86_64-linux-gnu" ? "x86-64-linux-gnu" : triple,
                          platform == "arm-64-linux" ? "arm64" : "amd64"));
}

}  // namespace tile_tune::codegen
