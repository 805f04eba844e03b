// Compiles a schedule of a program and judges the kernel against the reference, in this process.
#pragma once

#include <filesystem>
#include <limits>
#include <string>
#include <vector>

#include "codegen/lower/compile.h"
#include "search/judge/host_kernel.h"
#include "search/judge/problem.h"
#include "search/workers/protocol.h"

namespace tile_tune::test {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN(), kInfinity = std::numeric_limits<double>::infinity();

/// The canonical program of a TC text at these sizes; fails the test case if there is none.
ir::Program bound_program(const std::string& text, const ir::Sizes& sizes);

codegen::Target host(int threads);

/// Those of the targets whose kernels run on this machine, with one thread; the test says which others it leaves out.
std::vector<codegen::Target> runnable(const std::vector<std::string>& targets);

/// The instructions of the program's kernel, as objdump lists them. For any target: nothing runs.
std::string disassembly(const ir::Program& program, const codegen::Schedule& schedule, const codegen::Target& target);

class KernelCheck {
 public:
  /// On random inputs, or on the given ones.
  explicit KernelCheck(const ir::Program& program, int threads = 2);
  KernelCheck(const ir::Program& program, reference::Inputs inputs)
      : KernelCheck(program, std::move(inputs), host(2)) {}
  KernelCheck(const ir::Program& program, reference::Inputs inputs, codegen::Target target);
  KernelCheck(const ir::Program& program, codegen::Target target);
  KernelCheck(search::Problem problem, codegen::Target target);
  ~KernelCheck();

  struct Result {
    search::Reply verdict;  // Ok, or what is wrong
    codegen::Compiled compiled;
    std::string error;  // the compiler's, if it failed
  };
  Result operator()(const codegen::Schedule& schedule) { return (*this)(schedule, program()); }
  /// Of a kernel that is compiled for `base`, the same program at other sizes (schedule/runtime_sizes.h).
  Result operator()(const codegen::Schedule& schedule, const ir::Program& base);
  /// The same as assertions: it compiles, and computes what the reference does.
  void expect_right(const codegen::Schedule& schedule) { expect_right(schedule, program()); }
  void expect_right(const codegen::Schedule& schedule, const ir::Program& base);
  /// Also what each output then holds, byte by byte.
  std::vector<std::vector<std::byte>> outputs(const codegen::Schedule& schedule);
  /// Whether a call computes with scratch memory that nobody wrote, be it in lanes that are not stored, where it only
  /// costs time: subnormal numbers take more than a hundred cycles each on Intel's processors. Of f32 and f64, on one
  /// thread.
  bool computes_with_unwritten(const codegen::Schedule& schedule);

  const ir::Program& program() const { return problem_.program; }

 private:
  /// The kernel's library, or what kept it from being made.
  tile_tune::Result<std::filesystem::path> build(const codegen::Schedule& schedule, const ir::Program& base,
                                                 codegen::Compiled& compiled);
  search::Reply judge(const search::Kernel& kernel);
  static void expect_right(const search::Reply& verdict);

  search::Problem problem_;
  codegen::Target target_;
  std::filesystem::path directory_;
  int built_ = 0;
};

}  // namespace tile_tune::test
