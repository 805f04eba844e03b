// tile-tune: the command line. Every verb has a file of its own.
#include "cli/command_line.h"

int main(int argc, char** argv) { return tile_tune::cli::run_command_line(argc, argv); }
