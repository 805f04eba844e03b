#include "codegen/target/probe.h"

#include <catch2/catch.hpp>
#include <vector>

#include "codegen/target/matrix_unit.h"

using namespace tile_tune;
using namespace tile_tune::codegen;

namespace {

void one_after_another(int count, const std::function<void(int)>& task) {
  for (int i = 0; i < count; ++i) task(i);
}

}  // namespace

TEST_CASE("the FMA probe's FLOP grow with iterations and threads; f64 has half the lanes") {
  const double once = fma_probe(DType::F32, 1, 1, one_after_another);
  CHECK(once >= 2 * 4 * 12);  // at least twelve chains of four lanes
  CHECK(fma_probe(DType::F32, 3, 100, one_after_another) == 300 * once);
  CHECK(fma_probe(DType::F64, 1, 1, one_after_another) == once / 2);
  CHECK(fma_probe(DType::F32, 2, 0, one_after_another) == 0);
}

TEST_CASE("dot-product probes count two or four products a lane, where the CPU has them") {
  CHECK_FALSE(has_dot_probe(DType::F32));
  // A matrix unit's are of 16 by 16 by 64 bytes, four an iteration.
  const double once = may_use_matrix_unit() ? 2 * 16 * 16 * 16 * 4 : fma_probe(DType::F32, 1, 1, one_after_another);
  if (has_dot_probe(DType::BF16)) CHECK(fma_probe(DType::BF16, 3, 100, one_after_another) == 2 * 300 * once);
  if (has_dot_probe(DType::I8)) CHECK(fma_probe(DType::I8, 1, 1, one_after_another) == 4 * once);
}

TEST_CASE("streams write every line of the sink, none beside it, and never the source") {
  const int threads = GENERATE(1, 2, 7);
  const int64_t lines = GENERATE(0, 1, 65, 1000);
  const int64_t read_lines = GENERATE(0, 3, 5000);
  const auto form = GENERATE(from_range(std::begin(kStreamForms), std::end(kStreamForms)));
  CAPTURE(threads, lines, read_lines, form.streams, form.lines);
  std::vector<uint64_t> source(read_lines * 8 + 1, 7), sink(lines * 8 + 9, 7);
  const double moved =
      stream_probe(source.data(), read_lines * 64 + 8, sink.data(), lines * 64 + 63, form, threads, one_after_another);
  CHECK(moved == static_cast<double>((read_lines + lines) * 64));
  CHECK(source == std::vector<uint64_t>(source.size(), 7));
  bool written = true;
  for (int64_t i = 0; i < lines * 8; ++i) written = written && sink[i] == 0;
  CHECK(written);
  bool beside = false;
  for (size_t i = lines * 8; i < sink.size(); ++i) beside = beside || sink[i] != 7;
  CHECK_FALSE(beside);
}
