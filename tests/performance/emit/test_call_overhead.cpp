// What calling an emitted kernel costs, beyond what it computes.
#include "tests/integration/emit/packages.h"

using namespace tile_tune;
using namespace tile_tune::test;

TEST_CASE("a checked call on a 4 x 4 problem takes less than 200 ns") {
  const Scratch scratch;
  const fs::path tiny = emit("tiny", scratch.path), first = emit("first", scratch.path);
  fs::copy_file(kSource / "tests/performance/emit/call.c", scratch.path / "call.c");
  compile("cc -std=c11 -O2 call.c $(pkg-config --cflags --libs tiny first) -o call", {tiny, first}, scratch.path);
  std::istringstream figures(run({"./call"}, scratch.path));
  double checked = 0, unchecked = 0, context = 0, tensors = 0, serial = 0, parallel = 0;
  REQUIRE(figures >> checked >> unchecked >> context >> tensors >> serial >> parallel);
  WARN("4 x 4 x 4 product, ns a call: checked " << checked << ", unchecked " << unchecked << ", with a context "
                                                << context << ", DLPack " << tensors);
  WARN("16 x 131 x 97 product in four parts, ns a call: one thread " << serial << ", two " << parallel);
  CHECK(checked < 200);
  CHECK(context < 200);
}
