#include "search/judge/device_probe.h"

#include <fmt/format.h>

namespace tile_tune::search {
namespace {

// Independent sums of a thread: more than a multiply-add's latency on any device, so that one warp a scheduler would
// do.
constexpr int kSums = 16;
static_assert(kProbeFma % kSums == 0);

}  // namespace

std::optional<ProbeKernel> fma_probe_kernel(DType type) {
  if (type != DType::F32 && type != DType::F64) return std::nullopt;
  const bool is_double = type == DType::F64;
  const std::string name = is_double ? "f64" : "f32";
  const char* const never = is_double ? "0d7FEFFFFFFFFFFFFF" : "0f7F7FFFFF";  // no sum ends there
  std::string start, loop, end;
  for (int sum = 0; sum < kSums; ++sum) start += fmt::format("  cvt.rn.{}.u32 %f{}, %r1;\n", name, sum);
  for (int step = 0; step < kProbeFma; ++step)
    loop += fmt::format("  fma.rn.{0} %f{1}, %f{1}, %f{2}, %f{2};\n", name, step % kSums, kSums);
  for (int sum = 1; sum < kSums; ++sum) end += fmt::format("  add.{0} %f0, %f0, %f{1};\n", name, sum);
  ProbeKernel kernel{"fma_" + name, ""};
  kernel.text = fmt::format(R"(.version 6.0
.target sm_70
.address_size 64
.visible .entry {entry}(
  .param .u64 out,
  .param .u32 iterations
)
{{
  .reg .pred %p;
  .reg .b32 %r<2>;
  .reg .b64 %rd;
  .reg .{name} %f<{registers}>;
  ld.param.u64 %rd, [out];
  ld.param.u32 %r0, [iterations];
  mov.u32 %r1, %tid.x;
  cvt.rn.{name}.u32 %f{sums}, %r0;
  rcp.rn.{name} %f{sums}, %f{sums};
{start}again:
{loop}  sub.u32 %r0, %r0, 1;
  setp.ne.u32 %p, %r0, 0;
  @%p bra again;
{end}  setp.eq.{name} %p, %f0, {never};
  @!%p ret;
  cvta.to.global.u64 %rd, %rd;
  st.global.{name} [%rd], %f0;
  ret;
}}
)",
                            fmt::arg("entry", kernel.entry), fmt::arg("name", name), fmt::arg("registers", kSums + 1),
                            fmt::arg("sums", kSums), fmt::arg("start", start), fmt::arg("loop", loop),
                            fmt::arg("end", end), fmt::arg("never", never));
  return kernel;
}

}  // namespace tile_tune::search
