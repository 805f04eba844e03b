#include "tests/integration/workers/forced_backend.h"

#include <unistd.h>

#include <cstdlib>
#include <ctime>
#include <fstream>
#include <vector>

#include "tests/integration/workers/compile_c.h"

namespace tile_tune::test {
namespace {

// Renamed into place, so that whoever waits for it finds it whole.
void leave_marker(const std::string& marker) {
  if (marker.empty()) return;
  std::ofstream(marker + ".new") << getpid() << std::endl;
  std::filesystem::rename(marker + ".new", marker);
}

// What the kernel does beside o = 2 * a, as C: `a` and `o` are the buffers' elements, `n` their number.
std::string body(Behaviour behaviour, const std::string& marker) {
  switch (behaviour) {
    case Behaviour::Sluggish:
      return "for (volatile long i = 0; i < 400L * n; ++i) {}";
    case Behaviour::SegfaultInRun:
      return "*(volatile int*)8 = 1;";
    case Behaviour::HangInRun:
      if (marker.empty()) return "for (;;) pause();";
      return "FILE* f = fopen(\"" + marker + ".new\", \"w\"); fprintf(f, \"%d\\n\", getpid()); fclose(f); rename(\"" +
             marker + ".new\", \"" + marker + "\"); for (;;) pause();";
    case Behaviour::WrongValue:
      return "o[n / 2] *= 1.01f;";
    case Behaviour::WriteBehind:
      return "o[n] = 1;";
    case Behaviour::WriteBefore:
      return "o[-1] = 1;";
    case Behaviour::ReadBehind:
      return "volatile float x = a[n]; (void)x;";
    case Behaviour::ChangeInput:
      return "a[0] += 1;";
    case Behaviour::LeaveOneOut:
      return "o[n - 1] = last;";
    case Behaviour::MemoryInRun:
      return "for (;;) { char* p = malloc(1 << 24); if (!p) return -11; for (int i = 0; i < 1 << 24; i += 4096) p[i] = "
             "1; }";
    case Behaviour::ErrorCode:
      return "halide_error(0, \"the input is upside down\"); return -7;";
    case Behaviour::WrongLater:
      return "if (++calls > 100) o[0] += 1;";
    case Behaviour::CrashLater:
      return "if (++calls > 100) abort();";
    case Behaviour::Long:
      return "usleep(400000);";
    case Behaviour::LongFaster:
      return "usleep(200000);";
    case Behaviour::LongWrongOfNan:
      return "for (long i = 0; i < n; ++i) if (a[i] != a[i]) o[i] = 0; usleep(150000);";
    case Behaviour::LongSlower:
      return "usleep(900000);";
    case Behaviour::LongBehind:
      return "for (long i = 0; i < n; ++i) if (a[i] != a[i]) o[i] = 0; usleep(400000);";
    case Behaviour::AlsoGood:
      return "calls = 1;";
    default:
      return "";
  }
}

std::vector<std::string> halide_headers() { return {std::string("-I") + TEST_HALIDE_INCLUDE}; }

std::string kernel_source(const std::string& function, Behaviour behaviour, const std::string& marker) {
  return "#include <HalideRuntime.h>\n#include <stdio.h>\n#include <stdlib.h>\n#include <unistd.h>\n"
         "static volatile long calls = 0;\n"
         "int " +
         function +
         "_argv(void** args) {\n"
         "  struct halide_buffer_t *in = args[0], *out = args[1];\n"
         "  float *a = (float*)in->host, *o = (float*)out->host;\n"
         "  long n = 1;\n"
         "  for (int d = 0; d < out->dimensions; ++d) n *= out->dim[d].extent;\n"
         "  const float last = n ? o[n - 1] : 0;\n"
         "  for (long i = 0; i < n; ++i) o[i] = 2 * a[i];\n  " +
         body(behaviour, marker) + "\n  return 0;\n}\n";
}

constexpr const char* kRuntimeSource = R"(
#include <HalideRuntime.h>
static halide_error_handler_t handler = 0;
halide_error_handler_t halide_set_error_handler(halide_error_handler_t h) { handler = h; return 0; }
void halide_error(void* context, const char* message) { if (handler) handler(context, message); }
static halide_do_par_for_t loop = 0;
halide_do_par_for_t halide_set_custom_do_par_for(halide_do_par_for_t f) { loop = f; return 0; }
int halide_do_par_for(void* context, halide_task_t task, int min, int size, uint8_t* closure) {
  return loop(context, task, min, size, closure);
}
halide_malloc_t halide_set_custom_malloc(halide_malloc_t f) { return f; }
halide_free_t halide_set_custom_free(halide_free_t f) { return f; }
)";

}  // namespace

codegen::Schedule scheduled(Behaviour behaviour) {
  codegen::NestSchedule stage;
  stage.reduction_unroll = {static_cast<int>(behaviour) + 1};
  return {{stage}};
}

codegen::Backend forced_backend(const std::string& marker) {
  auto compile = [marker](const ir::Program&, const codegen::Schedule& schedule, const codegen::Target&,
                          const std::string& function,
                          const std::filesystem::path& object) -> Result<codegen::Compiled> {
    const auto behaviour = static_cast<Behaviour>(schedule.stages.at(0).nest().reduction_unroll.at(0) - 1);
    if (behaviour == Behaviour::AbortInCompile) {
      std::fputs("Assertion `isSane()' failed.\n", stderr);
      std::abort();
    }
    if (behaviour == Behaviour::CompileDiagnostic) return failure("compiler-error", "the loop nest is too deep");
    if (behaviour == Behaviour::NoSpaceInCompile) return failure("io", "cannot write: No space left on device");
    if (behaviour == Behaviour::HangInCompile) {
      leave_marker(marker);
      for (;;) pause();
    }
    if (behaviour == Behaviour::BusyInCompile)
      while (std::clock() < 3 * CLOCKS_PER_SEC) {
      }
    if (behaviour == Behaviour::MemoryInCompile) {
      std::vector<std::vector<char>> hoard;
      for (;;) hoard.emplace_back(16 << 20, 'x');
    }
    TILE_TUNE_CHECK(compile_c(kernel_source(function, behaviour, marker), object, halide_headers()));
    // Schedules that differ in nothing but `lanes` give the same code.
    return codegen::Compiled{std::to_string(static_cast<int>(behaviour)), 0, 0};
  };
  auto compile_runtime = [](const codegen::Target&, const std::filesystem::path& archive) {
    return compile_c(kRuntimeSource, archive, halide_headers());
  };
  auto warm_up = [](const codegen::Target& target, const std::filesystem::path&) -> Result<void> {
    if (target.cpu_model == "full disk") return failure("io", "cannot write warm-up.o: No space left on device");
    if (target.cpu_model == "impossible") return failure("no-target", "this target is not possible");
    return {};
  };
  return {.compile = compile, .runtime = compile_runtime, .warm_up = warm_up};
}

}  // namespace tile_tune::test
