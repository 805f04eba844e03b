// Random programs with indices that are known at run time only, some of them outside their tensors.
#pragma once

namespace tile_tune::test {

/// As many programs of these seeds, each with its indices checked, by the default schedule and a random one: the
/// kernels compute what the reference does with the nearest index, note what it notes, and touch nothing outside a
/// tensor.
void expect_right_gathers(int first_seed, int count);

}  // namespace tile_tune::test
