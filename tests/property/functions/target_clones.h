// A function compiled for several CPUs, of which the one it runs on takes the best.
#pragma once

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#define TILE_TUNE_TARGET_CLONES __attribute__((target_clones("arch=x86-64-v4", "arch=haswell", "default")))
#else
#define TILE_TUNE_TARGET_CLONES
#endif
