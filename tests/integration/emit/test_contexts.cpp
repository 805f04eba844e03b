// What an emitted library does to the program it is part of: threads, memory, symbols, loading, size.
#include <unistd.h>

#include "base/files.h"
#include "tests/integration/emit/packages.h"

using namespace tile_tune;
using namespace tile_tune::codegen;
using namespace tile_tune::test;

namespace {

/// Whether programs built with ThreadSanitizer run here, by `command` in front of them. It refuses some kernels'
/// layouts of the address space, which setarch -R makes plain.
std::vector<std::string> sanitizer_launcher(const fs::path& directory) {
  const std::vector<std::vector<std::string>> launchers = {{"setarch", "-R"}, {"env"}};
  REQUIRE(tile_tune::base::write_text(directory / "nothing.c", "int main(void) { return 0; }\n"));
  if (!run_tool({"cc", "-fsanitize=thread", "nothing.c", "-o", "nothing"}, directory)) return {};
  for (auto launcher : launchers) {
    auto command = launcher;
    command.push_back("./nothing");
    if (run_tool(command, directory)) return launcher;
  }
  return {};
}

/// Names of the sections of an archive's members.
std::string sections(const fs::path& archive) {
  return run({"readelf", "-SW", archive.string()}, archive.parent_path());
}

}  // namespace

TEST_CASE("two libraries in one program have threads, pools and allocators of their own") {
  const Scratch scratch;
  const fs::path first = emit("first", scratch.path), second = emit("second", scratch.path);
  copy_sources({"caller.h", "dl_tensor.h", "contexts.c", "unload.c"}, scratch.path);
  const std::string caller =
      "cc -std=c11 -Wall -Wextra -pedantic -Werror -pthread contexts.c $(pkg-config --cflags --libs first second) ";
  compile(caller + "-O1 -o contexts", {first, second}, scratch.path);
  CHECK(run({"./contexts"}, scratch.path).empty());

  // What the callers do is free of races, and what the library does is ordered with it.
  if (auto command = sanitizer_launcher(scratch.path); command.empty()) {
    WARN("skipped: programs built with -fsanitize=thread do not run here");
  } else {
    compile(caller + "-O1 -g -fsanitize=thread -o watched", {first, second}, scratch.path);
    command.insert(command.end(), {"./watched", "watched"});
    CHECK(run(command, scratch.path).empty());
  }

  // A shared library with the package in it comes and goes.
  compile(
      "cc -shared -o libwrapped.so -Wl,-z,text,-z,defs -Wl,--whole-archive first/lib/libfirst.a "
      "-Wl,--no-whole-archive $(pkg-config --libs first)",
      {first}, scratch.path);
  run({"cc", "-std=c11", "-Wall", "-Wextra", "-Werror", "-O1", "unload.c", "-ldl", "-o", "unload"}, scratch.path);
  CHECK(run({"./unload"}, scratch.path).empty());

  // Nothing runs when a program starts.
  for (const char* archive : {"lib/libfirst.a", "lib/libtile_tune_rt.a"}) {
    const std::string text = sections(first / archive);
    CHECK(text.find(".text") != text.npos);
    for (const char* section : {".init_array", ".preinit_array", ".ctors", ".init "}) {
      INFO(archive << " " << section);
      CHECK(text.find(section) == text.npos);
    }
  }

  const auto runtime = tile_tune::base::read_bytes(first / "lib/libtile_tune_rt.a");
  CHECK((runtime && *runtime == *tile_tune::base::read_bytes(second / "lib/libtile_tune_rt.a")));
}

// The runtime's sources alone: what a kernel would do in them, the tests' callers do.
TEST_CASE("cancelled and pinned callers leave the pool to others, and its threads have an end") {
  const Scratch scratch;
  const fs::path runtime = kSource / "codegen/emit/runtime";
  copy_sources({"pool.c"}, scratch.path);
  run({"cc", "-std=c11", "-Wall", "-Wextra", "-pedantic", "-Werror", "-O1", "-pthread", "-I" + runtime.string(),
       "pool.c", (runtime / "parallel.c").string(), (runtime / "context.c").string(), (runtime / "memory.c").string(),
       (runtime / "stream.c").string(), "-o", "pool"},
      scratch.path);
  CHECK(run({"sh", "-c", "./pool || echo $?"}, scratch.path).empty());
}

TEST_CASE("without POSIX threads a pool of the caller's is asked for as many tasks as it has threads") {
  const Scratch scratch;
  const fs::path runtime = kSource / "codegen/emit/runtime";
  copy_sources({"serial.c"}, scratch.path);
  run({"cc", "-std=c11", "-Wall", "-Wextra", "-pedantic", "-Werror", "-O1", "-D_WIN32", "-I" + runtime.string(),
       "serial.c", (runtime / "serial.c").string(), (runtime / "context.c").string(), (runtime / "memory.c").string(),
       (runtime / "stream.c").string(), "-o", "serial"},
      scratch.path);
  CHECK(run({"sh", "-c", "./serial || echo $?"}, scratch.path).empty());
}

TEST_CASE("libraries are small") {
  const Scratch scratch;
  const auto size = [&](const fs::path& file) { return fs::file_size(scratch.path / file); };
  emit("first", scratch.path);
  emit("many", scratch.path);
  const auto runtime = size("first/lib/libtile_tune_rt.a"), one = size("first/lib/libfirst.a");
  CHECK(one + runtime < 300'000);
  // What drives devices is three quarters of it, in members of their own that programs without one do not link.
  CHECK(runtime < 110'000);
  CHECK((size("many/lib/libmany.a") - one) / 20 < 40'000);
}
