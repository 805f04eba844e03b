// The shared memory that a schedule is said to take is what its kernels allocate.
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>
#include <random>

#include "Halide.h"
#include "codegen/lower/lower.h"
#include "codegen/schedule/gpu_shape.h"
#include "tests/property/codegen/gpu_random_nests.h"
#include "tests/property/codegen/gpu_run.h"
#include "tests/property/codegen/gpu_schedules.h"

namespace tile_tune {
namespace {

// Bytes of the allocations in shared memory of the largest kernel.
class SharedAllocations : public Halide::Internal::IRMutator {
 public:
  explicit SharedAllocations(int64_t* most) : most_(most) {}

 private:
  using IRMutator::visit;
  Halide::Internal::Stmt visit(const Halide::Internal::Allocate* op) override {
    if (op->memory_type == Halide::MemoryType::GPUShared) {
      const auto bytes = static_cast<int64_t>(op->constant_allocation_size()) * op->type.bytes();
      REQUIRE(bytes > 0);
      *most_ = std::max(*most_, bytes);
    }
    return IRMutator::visit(op);
  }
  int64_t* most_;
};

int64_t allocated(const ir::Program& program, const codegen::Schedule& schedule) {
  int64_t most = 0;
  codegen::Lowered lowered =
      codegen::lower(program, schedule, codegen::parse_target("x86-64-linux-opencl-cl_half").value(), {});
  lowered.pipeline.add_custom_lowering_pass(new SharedAllocations(&most));
  lowered.pipeline.compile_to_module(lowered.arguments(), "f",
                                     Halide::Target("x86-64-linux-opencl-cl_half-cl_doubles"));
  return most;
}

int64_t estimated(const ir::Program& program, const codegen::Schedule& schedule) {
  int64_t most = 0;
  for (size_t s = 0; s < schedule.stages.size(); ++s) {
    const auto& nest = schedule.stages[s].nest();
    const auto loops = codegen::one_piece(codegen::loops_of(program, program.statements[s]), nest);
    most = std::max(most, codegen::gpu_shape(program, static_cast<int>(s), loops, nest).shared_bytes);
  }
  return most;
}

}  // namespace

TEST_CASE("shared memory is foreseen") {
  auto all = test::gpu_cases();
  all.push_back(
      {"def f(half(M,K) A, half(K,N) B) -> (C) { C(m,n) +=! A(m,k) * B(k,n) }", {{"M", 20}, {"N", 30}, {"K", 16}}});
  const auto one = GENERATE_COPY(from_range(all));
  const auto program = test::gpu_program(one.text, one.sizes);
  std::mt19937 random(11);
  for (int i = 0; i < 12; ++i) {
    const auto schedule = test::random_gpu_schedule(program, random);
    CAPTURE(one.text, codegen::to_json(schedule).dump());
    const int64_t foreseen = estimated(program, schedule), actual = allocated(program, schedule);
    CHECK(foreseen >= actual);
    CHECK(foreseen <= actual + actual / 8);
  }
}

}  // namespace tile_tune
