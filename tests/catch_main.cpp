#include "run_tests.h"

int main(int argc, char** argv) { return tile_tune::test::run_tests(argc, argv); }
