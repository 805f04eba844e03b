// What main() of a test program does, unless it was started as something else: Catch2's command line.
#pragma once

namespace tile_tune::test {

int run_tests(int argc, char** argv);

}  // namespace tile_tune::test
