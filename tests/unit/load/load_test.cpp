// Object files as code in this process: every kind of relocation computes what a linker would, and rubbish is refused.
#include <dlfcn.h>
#include <elf.h>

#include <catch2/catch.hpp>
#include <cstdlib>
#include <cstring>

#include "base/files.h"
#include "base/temporary_directory.h"
#include "codegen/load/loaded_object.h"
#include "codegen/lower/compile.h"
#include "frontend/ir/canonical.h"

using namespace tile_tune;
namespace fs = std::filesystem;

namespace {

void* from_libraries(const std::string& name) { return dlsym(RTLD_DEFAULT, name.c_str()); }

std::string bytes_of(const fs::path& file) { return base::read_bytes(file).value(); }

void write(const fs::path& file, const std::string& bytes) { REQUIRE(base::write_text(file, bytes)); }

/// What g++ makes of C with these flags.
fs::path compiled(const fs::path& folder, const std::string& source, const std::string& flags) {
  write(folder / "source.c", source);
  const fs::path object = folder / "source.o";
  REQUIRE(std::system(
              ("cc -c " + flags + " -o '" + object.string() + "' '" + (folder / "source.c").string() + "'").c_str()) ==
          0);
  return object;
}

// A table of addresses, zeros, variables seen from elsewhere, calls inside and outside, a weak name that is nowhere.
const char* const kSource = R"(
#include <string.h>
#include <stdlib.h>
extern int absent(int) __attribute__((weak));
int shared = 5;
static int counter;
static double zeros[1000];
static const double table[] __attribute__((aligned(64))) = {1.5, -2.25, 4.0};
__attribute__((noinline)) static int twice(int x) { return 2 * x; }
static int (*const calls[])(int) = {twice, abs};
const char* const words[] = {"tile", "tune"};
int count(void) { return ++counter; }
double sum(int n) {
  double total = zeros[999];
  for (int i = 0; i < n; ++i) total += table[i];
  return total;
}
int call(int which, int x) { return calls[which](x); }
int length(int which) { return (int)strlen(words[which]); }
int share(int x) { shared += x; return shared; }
int is_there(void) { return absent != 0; }
)";

ir::Program doubling() {
  ir::Program program;
  program.name = "doubling";
  program.tensors = {{"a", DType::F32, {64}, ir::Role::Input}, {"o", DType::F32, {64}, ir::Role::Output}};
  program.inputs = {0};
  program.outputs = {1};
  ir::Statement statement;
  statement.target = 1;
  statement.subscripts = {ir::AffineExpr::index(0)};
  statement.indices = {{"i", 0, 64, ""}};
  statement.value = ir::make_expr(DType::F32, ir::Read{0, {ir::AffineExpr::index(0)}});
  program.statements = {statement};
  return ir::canonicalize(program);
}

std::string kernel_object(const fs::path& folder) {
  codegen::NestSchedule stage;
  stage.tiles = {{8}};
  stage.order = {{0}};
  REQUIRE(codegen::compile_object(doubling(), {{stage}}, codegen::Target(), "kernel", folder / "kernel.o"));
  return bytes_of(folder / "kernel.o");
}

}  // namespace

TEST_CASE("an object computes what it would when linked, whatever its relocations are") {
  const auto created = base::TemporaryDirectory::create(fs::temp_directory_path(), "load-");
  REQUIRE(created);
  const fs::path folder = created->path();
  const auto flags = GENERATE("-O0 -fPIC", "-O2 -fPIC", "-O2 -fPIC -fno-plt", "-O2 -fPIC -Wa,-mrelax-relocations=no",
                              "-O2 -fPIC -fvisibility=hidden -ffunction-sections -fdata-sections");
  CAPTURE(flags);
  const auto loaded = codegen::LoadedObject::load(compiled(folder, kSource, flags), from_libraries);
  if (!loaded) FAIL(render(loaded.error()));
  const auto function = [&](const char* name) {
    void* const found = loaded->find(name);
    REQUIRE(found);
    return found;
  };
  CHECK(reinterpret_cast<double (*)(int)>(function("sum"))(3) == 3.25);
  const auto call = reinterpret_cast<int (*)(int, int)>(function("call"));
  CHECK(call(0, -21) == -42);
  CHECK(call(1, -21) == 21);
  CHECK(reinterpret_cast<int (*)(int)>(function("length"))(1) == 4);
  const auto count = reinterpret_cast<int (*)()>(function("count"));
  CHECK((count(), count(), count()) == 3);
  CHECK(reinterpret_cast<int (*)(int)>(function("share"))(7) == 12);
  CHECK(*static_cast<int*>(function("shared")) == 12);
  CHECK(reinterpret_cast<int (*)()>(function("is_there"))() == 0);
  CHECK_FALSE(loaded->find("twice"));
  CHECK_FALSE(loaded->find("memcpy"));
}

TEST_CASE("two copies of one object have variables of their own") {
  const auto created = base::TemporaryDirectory::create(fs::temp_directory_path(), "load-");
  REQUIRE(created);
  const fs::path folder = created->path();
  const auto object = compiled(folder, "static int n; int count(void) { return ++n; }", "-O2 -fPIC");
  const auto first = codegen::LoadedObject::load(object, from_libraries);
  const auto second = codegen::LoadedObject::load(object, from_libraries);
  REQUIRE(first);
  REQUIRE(second);
  const auto count = [](const auto& loaded) { return reinterpret_cast<int (*)()>(loaded->find("count"))(); };
  CHECK(count(first) == 1);
  CHECK(count(first) == 2);
  CHECK(count(second) == 1);
}

TEST_CASE("what cannot be placed says why") {
  const auto created = base::TemporaryDirectory::create(fs::temp_directory_path(), "load-");
  REQUIRE(created);
  const fs::path folder = created->path();
  const auto complaint = [&](const char* source, const char* flags = "-O2 -fPIC") {
    const auto loaded = codegen::LoadedObject::load(compiled(folder, source, flags), from_libraries);
    return loaded ? std::string("it loads") : loaded.error().code + ": " + loaded.error().message;
  };
  const std::string begin = "object-not-loaded: a built object does not load: ";
  CHECK(complaint("int nowhere_at_all(void); int f(void) { return nowhere_at_all(); }") ==
        begin + "it needs nowhere_at_all, which is nowhere");
  CHECK(complaint("__thread int n; int f(void) { return n; }") == begin + "it has variables of threads");
  CHECK(complaint("int table[9]; int f(long i) { return table[i]; }", "-O2 -fno-pic -fno-pie") ==
        begin + "a relocation of type 11");
  const auto missing = codegen::LoadedObject::load(folder / "none.o", from_libraries);
  REQUIRE_FALSE(missing);
  CHECK(missing.error().message.find("none.o cannot be read") != std::string::npos);
}

TEST_CASE(
    "a kernel of Halide's is loaded; cut off anywhere it is refused, and changed anywhere nothing worse happens") {
  const auto created = base::TemporaryDirectory::create(fs::temp_directory_path(), "load-");
  REQUIRE(created);
  const fs::path folder = created->path();
  const std::string whole = kernel_object(folder);
  int asked = 0;
  const auto resolve = [&](const std::string&) {
    ++asked;
    return reinterpret_cast<void*>(&from_libraries);  // never called
  };
  const auto load = [&](const std::string& bytes) {
    write(folder / "changed.o", bytes);
    return codegen::LoadedObject::load(folder / "changed.o", resolve);
  };
  const auto loaded = load(whole);
  REQUIRE(loaded);
  CHECK(loaded->find("kernel_argv"));
  CHECK(asked > 0);
  // The table of sections is the last thing in the file.
  for (size_t size = 0; size < whole.size(); size += 1 + size / 64) CHECK_FALSE(load(whole.substr(0, size)));
  Elf64_Ehdr header;
  std::memcpy(&header, whole.data(), sizeof header);
  REQUIRE(header.e_shoff > 0);
  const auto change = [&](size_t at) {
    auto bytes = whole;
    for (const int value : {0xff, 0x80, 0x01}) {
      bytes[at] = static_cast<char>(whole[at] ^ value);
      (void)load(bytes);
    }
  };
  for (size_t at = 0; at < sizeof header; ++at) change(at);
  for (size_t at = header.e_shoff; at < whole.size(); at += 3) change(at);
  for (size_t at = sizeof header; at < header.e_shoff; at += 97) change(at);
}
