// What the command line does with a program, from C++: look at it, tune it, time it beside libraries, package it.
//
//   workflow FOLDER [TRIALS]
#include <tile_tune/engine.h>
#include <tile_tune/tc.h>

#include <cstdio>
#include <cstdlib>

using namespace tile_tune;

int main(int argc, char** argv) {
  if (argc < 2) return std::fputs("workflow FOLDER [TRIALS]\n", stderr), 2;
  const std::string folder = argv[1];
  const auto layer = tc::parse(
                         "def layer(float(B,I) x, float(O,I) w) -> (y) {\n"
                         "  h(b,o) +=! x(b,i) * w(o,i)\n  y(b,o) = fmax(h(b,o), 0.0) }")
                         .front();
  try {
    // The same words as on the command line: w never changes, and its rows lie one after the other.
    engine::TuneOptions tuning;
    tuning.database = folder + "/tuning.db";
    tuning.sizes = {"B=32", "I=64", "O=48"};
    tuning.constants = {"w"};
    tuning.strategy = engine::Strategy::Genetic;
    tuning.trials = argc > 2 ? std::atoi(argv[2]) : 100;
    tuning.on_message = [](const Message& message) { std::fprintf(stderr, "%s\n", message.text.c_str()); };

    const auto checked = engine::check(layer, tuning);
    std::printf("%s\n%.0f FLOP, %.0f bytes\n", checked.signature.c_str(), checked.flops,
                checked.bytes_read + checked.bytes_written);

    const auto tuned = engine::tune(layer, tuning);
    std::printf("tried: %s; a tuned kernel: %s\n", tuned.trials >= *tuning.trials ? "all" : "some",
                tuned.ratio > 0 ? "yes" : "no");

    engine::BenchOptions timing;
    static_cast<engine::ProgramOptions&>(timing) = tuning;
    timing.against = {"none"};
    for (const auto& entry : engine::bench(layer, timing).entries)
      std::printf("%s: %s\n", entry.name.c_str(), entry.median_ns > 0 ? "timed" : entry.reason.c_str());

    engine::BuildOptions building;
    static_cast<engine::ProgramOptions&>(building) = tuning;
    building.directory = folder + "/package";
    const auto built = engine::build({layer}, building);
    std::printf("%s: %s, %zu files\n", built.name.c_str(), built.kernels.front().rung.c_str(), built.files.size());

    // One entry for every batch up to 64.
    building.sizes = {"B=1..64", "I=64", "O=48"};
    building.constants.clear();
    building.directory = folder + "/batches";
    std::printf("batches: %s\n", engine::build({layer}, building).kernels.front().rung.c_str());
  } catch (const ProgramError& error) {
    std::fprintf(stderr, "%s [%s]\n", error.what(), error.code().c_str());
    return 1;
  }
}
