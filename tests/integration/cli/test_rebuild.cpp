// Packages come out the same whoever makes them and wherever: again, elsewhere, and from their own manifest.
#include <sys/stat.h>

#include <catch2/catch.hpp>
#include <functional>
#include <nlohmann/json.hpp>

#include "aged_database.h"
#include "sandbox.h"

using namespace tile_tune::test;
using nlohmann::json;
namespace fs = std::filesystem;

namespace {

const Words kMatvec = {"matvec.tc", "-s", "R=31", "-s", "C=37"};

/// Bytes of every file of a package by its path in it.
std::map<std::string, std::string> files_of(const Sandbox& box, const std::string& folder) {
  std::map<std::string, std::string> files;
  for (const auto& entry : fs::recursive_directory_iterator(box.path(folder)))
    if (entry.is_regular_file()) {
      const std::string name = fs::relative(entry.path(), box.path(folder)).string();
      files[name] = box.read(folder + "/" + name);
    }
  return files;
}

/// The same files with the same bytes; says which differs rather than how.
void check_same(const Sandbox& box, const std::string& one, const std::string& other) {
  const auto a = files_of(box, one), b = files_of(box, other);
  CHECK(a.size() >= 6);
  CHECK(a.size() == b.size());
  for (const auto& [name, bytes] : a) {
    INFO(name);
    CHECK((b.contains(name) && b.at(name) == bytes));
  }
}

}  // namespace

TEST_CASE("a package does not depend on folder, umask, user, locale or time") {
  const Sandbox box;
  require(box.run({"tune", "matvec.tc", "-s", "R=31", "-s", "C=37", "--trials", "2", "--seed", "1", "--db", "t.db"}));
  require(box.run(Words{"build"} + kMatvec + Words{"--db", "t.db", "-o", "out"}));
  fs::create_directories(box.path("other place/deeper"));
  fs::copy_file(box.path("matvec.tc"), box.path("other place/deeper/same.tc"));
  fs::copy_file(box.path("t.db"), box.path("other place/mine.db"));
  const std::string tool = box.tool();
  require(box.run_program({"sh", "-ec",
                           "cd 'other place'; umask 077; sleep 1; LC_ALL=tr_TR.UTF-8 LANG=de_DE.UTF-8 TZ=Asia/Tokyo "
                           "USER=nobody HOME=/nowhere XDG_CACHE_HOME= CPATH= SOURCE_DATE_EPOCH=1 '" +
                               tool + "' build deeper/same.tc -s R=31 -s C=37 --db mine.db -o \"$PWD/result\""}));
  check_same(box, "out", "other place/result");
}

TEST_CASE("a package's runtime is compiled once and kept, and again where what was kept is damaged") {
  const Sandbox box;
  fs::create_directory(box.path("bin"));
  box.write("bin/cc", "#!/bin/sh\necho \"$@\" >>\"$CALLS\"\nexec /usr/bin/cc \"$@\"\n");
  fs::permissions(box.path("bin/cc"), fs::perms::owner_all);
  const auto build = [&](const std::string& folder) {
    require(box.run_program({"sh", "-ec",
                             "PATH=\"$PWD/bin:$PATH\" CALLS=\"$PWD/calls\" XDG_CACHE_HOME=\"$PWD/cache\" '" +
                                 box.tool() + "' build matvec.tc -s R=31 -s C=37 -o " + folder}));
    const std::string calls = box.read("calls");
    fs::remove(box.path("calls"));
    CHECK(calls.find(" entries.c ") != std::string::npos);
    return calls.find(" parallel.c ") != std::string::npos;
  };
  CHECK(build("first"));
  CHECK_FALSE(build("second"));
  check_same(box, "first", "second");
  int damaged = 0;
  for (const auto& name : box.names("cache/tile-tune")) {
    if (!name.starts_with("libtile_tune_rt-")) continue;
    std::string bytes = box.read("cache/tile-tune/" + name);
    bytes[bytes.size() / 2] ^= 1;
    box.write("cache/tile-tune/" + name, bytes);
    ++damaged;
  }
  CHECK(damaged == 1);
  CHECK(build("third"));
  check_same(box, "first", "third");
}

TEST_CASE("build --from makes a package again from its manifest alone") {
  const Sandbox box;
  require(box.run({"build", "matvec.tc", "matmul.tc", "-s", "R=3", "-s", "C=5", "-s", "M=3", "-s", "N=2", "-s", "K=4",
                   "--constant", "A", "--name", "both", "-o", "out"}));
  fs::copy_file(box.path("out/share/both/manifest.json"), box.path("kept.json"));
  for (const char* program : {"matvec.tc", "matmul.tc"}) fs::remove(box.path(program));
  const auto again = box.run({"build", "--from", "kept.json", "-o", "again", "--json"});
  require(again);
  CHECK(json::parse(again.out)["kernels"].size() == 2);
  check_same(box, "out", "again");
}

TEST_CASE("build --from warns of programs as build does, and --werror makes an error of it") {
  const Sandbox box;
  box.write("conv.tc", "def conv(float(H) x, float(K) w) -> (O) { O(h) +=! x(h + k - 1) * w(k) where h in 0:H }");
  const auto built = box.run({"build", "conv.tc", "-s", "H=9", "-s", "K=3", "-o", "out"});
  require(built);
  CHECK(built.err.find("[partial-reduction]") != std::string::npos);
  const Words from{"build", "--from", "out/share/conv/manifest.json", "-o", "again"};
  const auto again = box.run(from);
  require(again);
  CHECK(again.err.find("warning: conv: k takes 1 of the 3 values of dimension 0 of w") != std::string::npos);
  fs::remove_all(box.path("again"));
  auto strict = from;
  strict.push_back("--werror");
  const auto refused = box.run(strict);
  CHECK(refused.exit_code == 2);
  CHECK(code_of(refused) == "partial-reduction");
  CHECK_FALSE(fs::exists(box.path("again")));
}

TEST_CASE("build --from makes packages for several instruction sets and for other platforms again") {
  const Sandbox box;
  for (const std::string target :
       {"x86-64-linux-avx-avx2-f16c-fma-sse41,x86-64-linux-sse41", "x86-64-osx-sse41", "wasm-32-wasmrt"}) {
    CAPTURE(target);
    for (const char* folder : {"out", "again"}) fs::remove_all(box.path(folder));
    require(box.run(
        Words{"build"} + kMatvec +
        Words{"matmul.tc", "-s", "M=3", "-s", "N=2", "-s", "K=4", "--name", "both", "--target", target, "-o", "out"}));
    require(box.run({"build", "--from", "out/share/both/manifest.json", "-o", "again"}));
    check_same(box, "out", "again");
  }
}

TEST_CASE("build --from takes no other set of targets than build makes") {
  const Sandbox box;
  require(box.run(Words{"build"} + kMatvec +
                  Words{"matmul.tc", "-s", "M=3", "-s", "N=2", "-s", "K=4", "--name", "both", "--target",
                        "x86-64-linux-avx-avx2-f16c-fma-sse41,x86-64-linux-sse41", "-o", "out"}));
  const auto manifest = json::parse(box.read("out/share/both/manifest.json"));
  REQUIRE(manifest["kernels"][0]["variants"].size() == 2);  // and the baseline
  const auto with = [&](const std::function<void(json&)>& change) {
    json changed = manifest;
    change(changed["kernels"][0]["variants"]);
    box.write("changed.json", changed.dump());
    const auto result = box.run({"build", "--from", "changed.json", "-o", "again"});
    CHECK_FALSE(fs::exists(box.path("again")));
    CHECK(result.exit_code == 2);
    return code_of(result);
  };
  CHECK(with([](json& v) { std::swap(v[0], v[1]); }) == "bad-manifest");  // a CPU would never get the better one
  CHECK(with([](json& v) { v.erase(v.begin()); }) == "bad-manifest");     // the other kernel has it
  CHECK(with([](json& v) { v[0]["target"]["halide"] = "arm-64-linux"; }) != "");
  CHECK(with([](json& v) { v[0]["target"]["halide"] = v[1]["target"]["halide"]; }) == "bad-manifest");
  CHECK(with([](json& v) { v[0]["schedule"]["stages"].clear(); }) != "");
  CHECK(with([](json& v) { v[0]["rung"] = "*/ int evil(void); /*"; }) == "bad-manifest");
  CHECK(with([](json& v) { v[0]["provenance"] = 3; }) == "bad-manifest");
}

TEST_CASE("build --from takes nothing that a manifest says on trust") {
  const Sandbox box;
  require(box.run(Words{"build"} + kMatvec + Words{"-o", "out"}));
  const auto manifest = json::parse(box.read("out/share/matvec/manifest.json"));
  const auto with = [&](const std::function<void(json&)>& change) {
    json changed = manifest;
    change(changed);
    box.write("changed.json", changed.dump());
    const auto result = box.run({"build", "--from", "changed.json", "-o", "again"});
    CHECK_FALSE(fs::exists(box.path("again")));
    CHECK(result.err.find("changed.json") != std::string::npos);
    CHECK(result.exit_code == 2);
    return code_of(result);
  };
  CHECK(with([](json& m) { m["tool_version"] = "0.0.9"; }) == "another-version");
  CHECK(with([](json& m) { m["llvm_version"] = "3.4"; }) == "another-version");
  CHECK(with([](json& m) { m["format"] = 99; }) == "another-version");
  CHECK(with([](json& m) { m["tool_version"] = json::array({1}); }) == "bad-manifest");
  CHECK(with([](json& m) { m["kind"] = "program"; }) == "bad-manifest");
  CHECK(with([](json& m) { m["kernels"][0].erase("program"); }) == "bad-manifest");
  CHECK(with([](json& m) { m["kernels"][0]["program"]["name"] = 3; }) != "");
  CHECK(with([](json& m) { m["kernels"].clear(); }) == "bad-manifest");
  CHECK(with([](json& m) { m["kernels"][0]["function"] = json(); }) == "bad-manifest");
  CHECK(with([](json& m) { m["kernels"][0]["content_hash"] = "0"; }) == "bad-manifest");
  CHECK(with([](json& m) { m["kernels"][0]["schedule_id"] = "0"; }) == "bad-manifest");
  CHECK(with([](json& m) { m["kernels"][0]["schedule"]["stages"].clear(); }) != "");
  CHECK(with([](json& m) { m["kernels"][0]["rung"] = "*/ int evil(void); /*"; }) == "bad-manifest");
  CHECK(with([](json& m) { m["name"] = "../../outside"; }) == "bad-name");
  CHECK(with([](json& m) { m["kernels"][0]["function"] = "main"; }) == "bad-name");
  CHECK(with([](json& m) { m["target"]["vector_bytes"] = 0; }) == "bad-manifest");
  CHECK(with([](json& m) { m["target"]["threads"] = 1'000'000'000; }) == "bad-manifest");
  CHECK(with([](json& m) { m["target"]["halide"] = "moon-64"; }) == "unknown-target");
  CHECK(with([](json& m) { m.erase("files"); }) == "bad-manifest");
  CHECK(with([](json& m) { m["files"].clear(); }) == "bad-manifest");
  std::string deep = "1";
  for (int i = 0; i < 100'000; ++i) deep = "[" + deep + "]";
  auto nested = manifest.dump();
  nested.insert(nested.find("\"record\":{") + 10, "\"deep\":" + deep + ",");
  box.write("nested.json", nested);
  CHECK(code_of(box.run({"build", "--from", "nested.json", "-o", "again"})) == "bad-manifest");
  box.write("text.json", "matvec");
  CHECK(code_of(box.run({"build", "--from", "text.json", "-o", "again"})) == "bad-manifest");
  CHECK(box.run({"build", "--from", "missing.json", "-o", "again"}).exit_code == 1);
  // A file of the package that would not come out as it was is not written, nor is any other.
  json changed = manifest;
  changed["files"]["lib/libmatvec.a"] = std::string(64, '0');
  box.write("changed.json", changed.dump());
  const auto other = box.run({"build", "--from", "changed.json", "-o", "again"});
  CHECK(other.exit_code == 1);
  CHECK(code_of(other) == "not-reproduced");
  CHECK_FALSE(fs::exists(box.path("again")));
  // It says all there is to say.
  for (const Words& more : {Words{"matmul.tc"}, Words{"-s", "R=3"}, Words{"--name", "x"}, Words{"--recheck"},
                            Words{"--target", "x86-64-linux"}})
    CHECK(box.run(Words{"build", "--from", "out/share/matvec/manifest.json", "-o", "again"} + more).exit_code == 2);
  CHECK(box.run({"build", "-o", "again"}).exit_code == 2);
}

TEST_CASE("no name of a function is one that making a package needs") {
  const Sandbox box;
  for (const std::string name : {"kernel", "entries", "runtime", "context"}) {
    const auto built = box.run(Words{"build"} + kMatvec + Words{"--name", name, "-o", name + ".out"});
    INFO(built.err);
    CHECK(built.exit_code == 0);
    CHECK(fs::exists(box.path(name + ".out/lib/lib" + name + ".a")));
  }
}

TEST_CASE("several programs in one library: defs of one file, sizes in common, and what cannot be") {
  const Sandbox box;
  box.write("two.tc",
            "def double_it(float(N) x) -> (y) { y(i) = 2 * x(i) }\n"
            "def add(float(N) x, float(N) z) -> (y) { y(i) = x(i) + z(i) }\n");
  require(box.run({"build", "two.tc", "-s", "N=7", "-o", "out"}));
  const auto header = box.read("out/include/two.h");
  CHECK(header.find("int double_it(") != std::string::npos);
  CHECK(header.find("int add(") != std::string::npos);
  require(box.run(
      {"build", "two.tc:add", "matvec.tc", "-s", "N=7", "-s", "R=3", "-s", "C=2", "--name", "pair", "-o", "out"}));
  CHECK(box.read("out/include/pair.h").find("int double_it(") == std::string::npos);
  CHECK(fs::exists(box.path("out/include/two.h")));
  const auto twice = box.run({"build", "two.tc", "two.tc:add", "-s", "N=7", "--name", "pair", "-o", "twice"});
  CHECK(twice.exit_code == 2);
  CHECK(code_of(twice) == "duplicate-function");
  CHECK_FALSE(fs::exists(box.path("twice")));
  CHECK(code_of(box.run({"build", "two.tc", "-s", "N=7", "-s", "Q=1", "-o", "twice"})) == "unknown-size");
  // One that is wrong spoils the library, and says where.
  box.write("wrong.tc", "def wrong(float(N) x) -> (y) {\n  y(i) = x(i) +* 2\n}\n");
  const auto wrong = box.run({"build", "two.tc", "wrong.tc", "-s", "N=7", "--name", "pair", "-o", "twice"});
  CHECK(wrong.exit_code == 2);
  CHECK(wrong.err.find("wrong.tc:2:") != std::string::npos);
}

TEST_CASE("a schedule from a file is built, timed by bench, and a seed of tune") {
  const Sandbox box;
  const auto explained = box.run(Words{"explain"} + kMatvec + Words{"--what", "schedule", "--json"});
  require(explained);
  auto schedule = json::parse(explained.out)["schedule"];
  schedule["stages"][0]["parallel"] = 0;
  box.write("given.json", schedule.dump());
  const Words given = {"--schedule", "given.json"};
  require(box.run(Words{"build"} + kMatvec + given + Words{"-o", "out"}));
  CHECK(json::parse(box.read("out/share/matvec/manifest.json"))["kernels"][0]["provenance"] == "given");
  const auto id = json::parse(box.read("out/share/matvec/manifest.json"))["kernels"][0]["schedule_id"];

  const auto timed = box.run(Words{"bench"} + kMatvec + given +
                             Words{"--against", "none", "--rounds", "3", "--time", "0.05", "--json"});
  require(timed);
  CHECK(timed.out.find("\"given\"") != std::string::npos);

  require(box.run(Words{"tune"} + kMatvec + given + Words{"--trials", "2", "--seed", "1", "--db", "t.db"}));
  const auto exported = box.run({"db", "export", "--db", "t.db"});
  require(exported);
  CHECK(exported.out.find(id.get<std::string>()) != std::string::npos);

  box.write("two.tc", "def a(float(N) x) -> (y) { y(i) = x(i) }\ndef b(float(N) x) -> (y) { y(i) = x(i) }\n");
  for (const std::string verb : {"build", "tune", "bench"}) {
    const Words more = verb == "build" ? Words{"-o", "two"} : Words{};
    CHECK(box.run(Words{verb, "two.tc", "-s", "N=3"} + given + more).exit_code == 2);
  }
  box.write("given.json", R"({"version": 2, "stages": []})");
  CHECK(box.run(Words{"tune"} + kMatvec + given + Words{"--trials", "1"}).exit_code == 2);
  CHECK(box.run(Words{"bench"} + kMatvec + given).exit_code == 2);
}

TEST_CASE("build --recheck rechecks what is stale before it is taken, and keeps the outcome") {
  const Sandbox box;
  require(box.run(Words{"tune"} + kMatvec + Words{"--trials", "2", "--seed", "1", "--db", "new.db"}));
  age(box, "new.db", "old.db");
  const auto rung = [&](const Words& more) {
    const auto built = box.run(Words{"build"} + kMatvec + Words{"-o", "out", "--json"} + more);
    require(built);
    return json::parse(built.out)["kernels"][0]["rung"].get<std::string>();
  };
  CHECK(rung({"--db", "old.db"}) == "stale");
  // What was only read stays as it was; what may be written remembers.
  chmod(box.path("old.db").c_str(), 0444);
  const auto checked = rung({"--db", "own.db", "--db", "old.db", "--recheck"});
  // On a busy machine a schedule may look slower than the default, which is then taken.
  CHECK((checked == "rechecked" || checked == "default"));
  if (checked == "rechecked") {
    CHECK(box.read("out/include/matvec.h").find("tuned (rechecked)") != std::string::npos);
    fs::rename(box.path("out"), box.path("first"));
    CHECK(rung({"--db", "own.db", "--db", "old.db"}) == "rechecked");
    check_same(box, "first", "out");
  }
  // What is not stale is left in peace, and so is what was never tuned.
  CHECK(rung({"--db", "new.db", "--recheck"}) == "exact");
  CHECK(rung({"--db", "none.db", "--revalidate"}) == "default");  // its name in earlier versions
  // Of other sizes: timed here before it is taken.
  const auto near = box.run(
      {"build", "matvec.tc", "-s", "R=62", "-s", "C=37", "-o", "near", "--db", "new.db", "--recheck", "--json"});
  require(near);
  const auto kernel = json::parse(near.out)["kernels"][0];
  if (kernel["rung"] == "nearest") CHECK(kernel["record"]["ratio_to_default"] > 0);
  CHECK((kernel["rung"] == "default" || !kernel["record"].contains("untimed")));
}
