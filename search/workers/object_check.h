// Is the kernel in an object file right? What tuning asks of a candidate, asked of what is about to be shipped.
#pragma once

#include <filesystem>
#include <string>

#include "codegen/target/target.h"
#include "frontend/ir/program.h"
#include "search/judge/problem.h"

namespace tile_tune::search {

/// An object file that a backend compiled, and its runtime (codegen/backend/backend.h).
struct KernelObject {
  std::string function;  // the name it was compiled under
  std::filesystem::path object, runtime;
};

/// Links the kernel into a library beside its object, runs it in a limited child of this process on guarded buffers of
/// random inputs, and compares what it computed with the reference (verify.h). `program` is canonical and bound;
/// `target`, which it was compiled for, one that runs here. Errors: wrong-result of class Verification; an outcome's
/// name (crash, timeout, ...) of class Failure. The calling process must have one thread.
/// `written` (may be null): the program as it was before its sums of products were put into steps. `whole_seconds`: as
/// of make_problem().
Result<void> check_object(const ir::Program& program, const codegen::Target& target, const KernelObject& kernel,
                          const ir::Program* written = nullptr, double whole_seconds = kWholeSeconds);

}  // namespace tile_tune::search
