// Baselines as source text: a program as calls of one library where it has the operation, loops where it has not.
//
// What comes out is one C++ file for each baseline, to be compiled with the files of adapters() beside it. It defines
// the entry point of every kernel the workers run (judge/kernel_arguments.h), so that baselines are verified and timed
// like any candidate.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "search/baselines/operations.h"

namespace tile_tune::search {

/// ...Packed: constant operands are brought into the library's own layout outside of the timed call. ...Gomp and
/// ...Sycl, ScipyOpenBlas and Mkl are releases that scripts/libraries fetches, the others those that the system has.
enum class Baseline {
  OneDnn,
  OneDnnPacked,
  OneDnnGomp,
  OneDnnGompPacked,
  OneDnnSycl,
  OneDnnSyclPacked,
  OpenBlas,
  ScipyOpenBlas,
  Mkl,
  Libxsmm,
  Eigen,
  OpenMp
};
inline constexpr Baseline kBaselines[] = {
    Baseline::OneDnn,     Baseline::OneDnnPacked,     Baseline::OneDnnGomp, Baseline::OneDnnGompPacked,
    Baseline::OneDnnSycl, Baseline::OneDnnSyclPacked, Baseline::OpenBlas,   Baseline::ScipyOpenBlas,
    Baseline::Mkl,        Baseline::Libxsmm,          Baseline::Eigen,      Baseline::OpenMp};

enum class Library { OneDnn, Blas, Libxsmm, Eigen, None };
struct BaselineKind {
  const char* name;  // "onednn", "onednn-packed", "onednn-gomp", ..., "mkl", "libxsmm", "eigen", "openmp"
  Library library;
  bool is_packed = false, is_fetched = false;
  // SYCL's thread and the one that waits for it: 128 x 1024 by 1024 x 1024 with one thread ran at 197 GFLOP/s, of which
  // oneDNN 3.6 had 105 (Zen 4, 2026-11-28).
  bool has_one_thread_more = false;
};
const BaselineKind& kind_of(Baseline baseline);
inline const char* baseline_name(Baseline baseline) { return kind_of(baseline).name; }

/// A source that does not depend on a program's sizes: compiled by itself, kept, and linked.
struct AdapterSource {
  std::string name, text;               // "onednn.cpp"
  std::vector<std::string> flags = {};  // of the compiler, behind the common ones
};

struct BaselineSource {
  std::string text;
  std::vector<AdapterSource> adapters;
  std::vector<std::string> flags;  // of the linker
};

/// nullopt where the library is a fetched one and `fetched`, the folder that scripts/libraries made, is empty, it takes
/// more than one thread where one is asked for, or it has none of the program's operations (or, for OneDnnPacked, none
/// with a constant operand; for OpenMp, where a statement has no loop form). `constants` are tensor numbers of inputs
/// that stay the same from call to call. Programs are canonical and bound.
std::optional<BaselineSource> baseline_source(Baseline baseline, const ir::Program& program,
                                              const std::set<int>& constants, int threads, const std::string& fetched);

/// File name -> text of what sources include, and of AdapterSources.
const std::map<std::string, std::string>& adapters();

}  // namespace tile_tune::search
