#include "codegen/lower/guard.h"

#include <fmt/format.h>

#include "Halide.h"

namespace tile_tune::codegen {
namespace {

// Halide prints its warnings: that a CPU has no instructions for halves, which is what our own conversions are for.
class WithoutWarnings : public Halide::CompileTimeErrorReporter {
 public:
  static void install() {
    static WithoutWarnings reporter;
    Halide::set_custom_compile_time_error_reporter(&reporter);
  }

 private:
  void warning(const char*) override {}
  [[noreturn]] void error(const char* message) override { throw Halide::CompileError(message); }
};

}  // namespace

Result<void> guard(const char* doing, const std::function<void()>& work) {
  WithoutWarnings::install();
  try {
    work();
    return {};
  } catch (const Halide::Error& error) {
    std::string text = error.what();
    while (!text.empty() && text.back() == '\n') text.pop_back();
    return failure("compiler-error", fmt::format("the compiler failed while {}: {}", doing, text));
  } catch (const std::exception& error) {
    return failure("compiler-error", fmt::format("the compiler failed while {}: {}", doing, error.what()));
  }
}

}  // namespace tile_tune::codegen
