#include "search/baselines/baseline_source.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "codegen/backend/kernel_abi.h"
#include "search/baselines/calls.h"
#include "search/baselines/loop_nest.h"

namespace tile_tune::search {
namespace {

// A step's call, or nests for its statements. Definitions go before the kernel, the calls into it.
struct Text {
  std::string definitions, calls;
  std::map<std::string, AdapterSource> adapters = {};
};

std::string pointer(int tensor) { return fmt::format("t{}", tensor); }

bool add_nests(const ir::Program& program, int first, int last, Text& text) {
  for (int s = first; s <= last; ++s) {
    const auto& statement = program.statements[s];
    const auto nest = loop_nest(program, statement, fmt::format("statement{}", s));
    if (!nest) return false;
    text.definitions += *nest;
    std::vector<std::string> arguments;
    for (const int tensor : nest_tensors(statement)) arguments.push_back(pointer(tensor));
    text.calls += fmt::format("    statement{}({});\n", s, fmt::join(arguments, ", "));
  }
  return true;
}

Step without_epilogue(const ir::Program& program, Step step) {
  step.epilogue = {};
  step.last = step.first;
  step.target = program.statements[step.first].target;
  return step;
}

void add_scan(const ir::Program& program, const Step& step, Text& text) {
  const auto& scan = std::get<Scan>(step.operation);
  const auto& statement = program.statements[step.first];
  text.calls += fmt::format(
      "    {{\n      {} sum = 0;\n      for (int64_t i = 0; i < {}; ++i) t{}[i * {}] = sum += t{}[i * {}];\n    }}\n",
      c_type(accumulator_type(statement.accumulator)), scan.axis.extent, scan.c, scan.axis.c, scan.a, scan.axis.a);
}

/// Of headers that few types need and that take longer to parse than all others.
std::string includes(const ir::Program& program) {
  const auto has = [&](auto&& is) {
    return std::any_of(program.tensors.begin(), program.tensors.end(), [&](const auto& one) { return is(one.type); });
  };
  std::string text;
  if (has(is_complex)) text += "#include <complex>\n";
  if (has([](DType type) { return type == DType::F16; })) text += "#include \"halves.h\"\n";
  return text;
}

std::string prologue(const ir::Program& program) {
  std::string text;
  const auto arguments = codegen::kernel_arguments(program);
  for (size_t number = 0; number < arguments.size(); ++number) {
    const auto& tensor = program.tensors[arguments[number]];
    text += fmt::format("    {}* t{} = data<{}>(argv[{}]);\n", c_type(tensor.type), arguments[number],
                        c_type(tensor.type), number);
  }
  for (size_t t = 0; t < program.tensors.size(); ++t)
    if (program.tensors[t].role == ir::Role::Temporary)
      text += fmt::format("    static {0}* t{1} = scratch<{0}>({2});\n", c_type(program.tensors[t].type), t,
                          std::max<int64_t>(1, ir::element_count(program.tensors[t])));
  for (size_t t = 0; t < program.tensors.size(); ++t) text += fmt::format("    (void)t{};\n", t);
  return text;
}

}  // namespace

const BaselineKind& kind_of(Baseline baseline) {
  static constexpr BaselineKind kKinds[] = {
      {"onednn", Library::OneDnn},
      {"onednn-packed", Library::OneDnn, true},
      {"onednn-gomp", Library::OneDnn, false, true},
      {"onednn-gomp-packed", Library::OneDnn, true, true},
      {"onednn-sycl", Library::OneDnn, false, true, true},
      {"onednn-sycl-packed", Library::OneDnn, true, true, true},
      {"openblas", Library::Blas},
      {"scipy-openblas", Library::Blas, false, true},
      {"mkl", Library::Blas, false, true},
      {"libxsmm", Library::Libxsmm},
      {"eigen", Library::Eigen},
      {"openmp", Library::None},
  };
  return kKinds[static_cast<size_t>(baseline)];
}

std::optional<BaselineSource> baseline_source(Baseline baseline, const ir::Program& program,
                                              const std::set<int>& constants, int threads, const std::string& fetched) {
  if (kind_of(baseline).is_fetched && fetched.empty()) return std::nullopt;
  if (threads == 1 && kind_of(baseline).has_one_thread_more) return std::nullopt;
  Text text;
  bool has_call = baseline == Baseline::OpenMp;
  const std::set<int> packed = kind_of(baseline).is_packed ? constants : std::set<int>{};
  for (const auto& step : steps_of(program)) {
    const bool fused = can_fuse(baseline, {program, step, packed, threads});
    const Step called = fused ? step : without_epilogue(program, step);
    if (const auto call = library_call(baseline, {program, called, packed, threads})) {
      text.definitions += call->definition;
      text.calls += call->call;
      if (call->adapter) text.adapters.emplace(call->adapter->name, *call->adapter);
      has_call |= !kind_of(baseline).is_packed || call->packs;
      if (called.last != step.last) text.calls += waiting_for(baseline);
      if (!add_nests(program, called.last + 1, step.last, text)) return std::nullopt;
      continue;
    }
    text.calls += waiting_for(baseline);
    if (std::holds_alternative<Scan>(step.operation)) {
      add_scan(program, step, text);
    } else if (!add_nests(program, step.first, step.last, text)) {
      return std::nullopt;
    }
  }
  if (!has_call) return std::nullopt;
  BaselineSource source;
  const Adapter adapter = adapter_of(baseline, fetched);
  source.text = fmt::format(
      "{}#include \"{}\"\nusing namespace baseline;\nconstexpr int kThreads = {};\n{}\n"
      "TILE_TUNE_EXPORT int tile_tune_kernel_argv(void** argv) {{\n  return guarded([argv] {{\n{}{}{}  }});\n}}\n",
      includes(program), adapter.header, threads, text.definitions, "    omp_set_num_threads(kThreads);\n",
      prologue(program), text.calls);
  source.adapters.push_back({"prelude.cpp", adapters().at("prelude.cpp")});
  if (adapter.source) source.adapters.push_back(*adapter.source);
  for (const auto& [name, one] : text.adapters) source.adapters.push_back(one);
  source.flags = adapter.flags;
  return source;
}

}  // namespace tile_tune::search
