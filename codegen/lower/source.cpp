#include "codegen/lower/source.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>
#include <sstream>

#include "codegen/lower/functions/functions.h"
#include "codegen/lower/functions/rare.h"
#include "codegen/lower/source_expressions.h"

namespace tile_tune::codegen {
namespace {

using Halide::Expr;
using Halide::Internal::Definition;
using Halide::Internal::Function;
using Halide::Internal::Split;

std::string tail_strategy(Halide::TailStrategy tail) {
  std::ostringstream text;
  text << "TailStrategy::" << tail;
  return text.str();
}

const char* memory_type(Halide::MemoryType type) {
  switch (type) {
    case Halide::MemoryType::Heap:
      return "Heap";
    case Halide::MemoryType::Stack:
      return "Stack";
    case Halide::MemoryType::Register:
      return "Register";
    default:
      return "Auto";
  }
}

class Writer {
 public:
  explicit Writer(const SourceRequest& request) : request_(request), rare_(request.target) {}

  std::string text() {
    collect();
    for (const auto& [from, to] : request_.names) names_.call(from, to);
    const std::string inputs = parameters(), definitions = definitions_of_all(), directives = directives_of_all();
    std::vector<std::string> outputs;
    const auto declared = [](const char* type, const std::map<std::string, std::string>& names) {
      std::vector<std::string> all;
      for (const auto& [name, identifier] : names) all.push_back(fmt::format("{0}(\"{0}\")", identifier));
      return all.empty() ? "" : fmt::format("  {} {};\n", type, fmt::join(all, ", "));
    };
    for (const auto& output : request_.outputs) outputs.push_back(names_.func(output.name()));
    std::string body = helpers() + inputs + declared("Var", names_.vars()) + declared("RVar", names_.rvars());
    body += fmt::format("\n{}\n{}\n  return Pipeline({{{}}});\n", definitions, directives, fmt::join(outputs, ", "));
    return head() + fmt::format("Halide::Pipeline {}(std::vector<Halide::ImageParam>& inputs) {{\n{}}}\n",
                                request_.function, body);
  }

 private:
  // Callees before callers.
  void collect() {
    std::vector<Function> outputs;
    for (const auto& output : request_.outputs) outputs.push_back(output.function());
    environment_ = Halide::Internal::build_environment(outputs);
    for (const auto& output : outputs) add(output.name());
  }

  void add(const std::string& name) {
    if (!seen_.insert(name).second) return;
    for (const auto& [callee, function] : Halide::Internal::find_direct_calls(environment_.at(name)))
      if (callee != name) add(callee);
    if (!is_parameter(name)) order_.push_back(name);
  }

  // The Func that Halide puts around a parameter.
  bool is_parameter(const std::string& name) const {
    for (const auto& [parameter, wish] : request_.inputs)
      if (name == parameter.name() + "_im") return true;
    return false;
  }

  std::string head() const {
    std::string text;
    for (const auto& remark : request_.remarks) text += remark.empty() ? "//\n" : "// " + remark + "\n";
    return text + "#include <Halide.h>\n\n#include <cmath>\n#include <vector>\n\n";
  }

  std::string helpers() const {
    std::string text = "  using namespace Halide;\n";
    for (const auto& helper : expressions_.helpers()) text += source_helpers().at(helper);
    return text;
  }

  std::string parameters() {
    std::string text;
    std::vector<std::string> all;
    for (const auto& [parameter, wish] : request_.inputs) {
      const std::string name = names_.fresh(wish);
      names_.set_func(parameter.name(), name);
      names_.set_func(parameter.name() + "_im", name);
      text += fmt::format("  ImageParam {0}({1}, {2}, \"{0}\");\n", name, source_of(parameter.type()),
                          parameter.dimensions());
      text += buffer(name, parameter.parameter());
      all.push_back(name);
    }
    return text + fmt::format("  inputs = {{{}}};\n", fmt::join(all, ", "));
  }

  static std::string buffer(const std::string& name, const Halide::Parameter& parameter) {
    std::string text;
    for (int d = 0; d < parameter.dimensions(); ++d) {
      const auto number = [](const Expr& expr) {
        return expr.defined() ? Halide::Internal::as_const_int(expr) : std::nullopt;
      };
      const auto min = number(parameter.min_constraint(d)), extent = number(parameter.extent_constraint(d)),
                 stride = number(parameter.stride_constraint(d));
      std::string calls;
      if (min && extent) calls += fmt::format(".set_bounds({}, {})", *min, *extent);
      if (stride) calls += fmt::format(".set_stride({})", *stride);
      // Where nothing is said Halide takes the first one to be 1.
      if (d == 0 && !parameter.stride_constraint(d).defined()) calls += ".set_stride(Expr())";
      if (!calls.empty()) text += fmt::format("  {}.dim({}){};\n", name, d, calls);
    }
    return text;
  }

  // As Halide sees it at last: the passes over lowered code that values depend on are applied here.
  Expr value(const Expr& expr) { return rare_.mutate(functions::expand(expr)); }

  std::string definitions_of_all() {
    std::string text;
    for (const auto& name : order_) {
      const Function& function = environment_.at(name);
      text += fmt::format("  Func {0}(\"{0}\");\n", names_.func(name));
      text += definition(name, function.definition());
      for (size_t u = 0; u < function.updates().size(); ++u) {
        text += reduction_domain(name, function.updates()[u], u);
        text += definition(name, function.updates()[u]);
      }
    }
    return text;
  }

  std::string reduction_domain(const std::string& name, const Definition& update, size_t number) {
    const auto& rvars = update.schedule().rvars();
    if (rvars.empty()) return "";
    const std::string domain =
        names_.fresh(fmt::format("{}_r{}", names_.func(name), number == 0 ? "" : std::to_string(number)));
    std::vector<std::string> ranges;
    for (size_t i = 0; i < rvars.size(); ++i) {
      ranges.push_back(
          fmt::format("{{{}, {}}}", expressions_.argument(rvars[i].min), expressions_.argument(rvars[i].extent)));
      names_.set_var(rvars[i].var, fmt::format("{}[{}]", domain, i));
    }
    std::string text = lines();
    text += fmt::format("  RDom {0}({{{1}}}, \"{0}\");\n", domain, fmt::join(ranges, ", "));
    if (update.predicate().defined() && !Halide::Internal::is_const_one(update.predicate()))
      text += fmt::format("  {}.where({});\n", domain, expressions_.argument(update.predicate()));
    return text;
  }

  std::string definition(const std::string& name, const Definition& definition) {
    std::vector<std::string> arguments, values;
    const bool is_single = definition.values().size() == 1;
    for (const auto& argument : definition.args()) arguments.push_back(expressions_.text(argument));
    for (const auto& one : definition.values())
      values.push_back(is_single ? expressions_.text(value(one)) : expressions_.argument(value(one)));
    const std::string all = fmt::format("{}", fmt::join(values, ", "));
    return lines() + fmt::format("  {}({}) = {};\n", names_.func(name), fmt::join(arguments, ", "),
                                 is_single ? all : fmt::format("Tuple({})", all));
  }

  std::string lines() {
    std::string text;
    for (const auto& line : expressions_.take_lines()) text += "  " + line + "\n";
    return text;
  }

  std::string directives_of_all() {
    std::string text;
    for (auto name = order_.rbegin(); name != order_.rend(); ++name) {
      const Function& function = environment_.at(*name);
      const std::string identifier = names_.func(*name);
      const auto places = placement(*name, function);
      const auto loops = nest(function.definition(), function.args());
      if (!places.empty() || !loops.empty()) text += statement(identifier, places, loops);
      for (size_t u = 0; u < function.updates().size(); ++u)
        if (const auto calls = nest(function.updates()[u], pure_arguments(function.updates()[u])); !calls.empty())
          text += statement(fmt::format("{}.update({})", identifier, u), {}, calls);
      for (const auto& output : request_.outputs)
        if (output.name() == *name)
          text += buffer(identifier + ".output_buffer()", Halide::Func(output).output_buffer().parameter());
    }
    return text;
  }

  static std::string statement(const std::string& what, std::vector<std::string> calls,
                               const std::vector<std::string>& more) {
    calls.insert(calls.end(), more.begin(), more.end());
    std::string text = "  " + what;
    const bool is_short = calls.size() == 1;
    for (const auto& call : calls) text += (is_short ? "." : "\n      .") + call;
    return text + ";\n";
  }

  std::string level(const Halide::LoopLevel& level) {
    const std::string loop = level.var_name();
    const std::string var = loop == Halide::Var::outermost().name() ? "Var::outermost()" : names_.var(loop);
    return fmt::format("{}, {}", names_.func(level.func()), var);
  }

  // Where the Func is computed and how it is stored.
  std::vector<std::string> placement(const std::string& name, const Function& function) {
    std::vector<std::string> calls;
    const auto& schedule = function.schedule();
    Halide::LoopLevel compute = schedule.compute_level(), store = schedule.store_level();
    compute.lock();
    store.lock();
    const bool is_output = std::any_of(request_.outputs.begin(), request_.outputs.end(),
                                       [&](const auto& output) { return output.name() == name; });
    if (compute.is_root() && !is_output) calls.push_back("compute_root()");
    if (!compute.is_root() && !compute.is_inlined()) calls.push_back(fmt::format("compute_at({})", level(compute)));
    if (!(store == compute) && !store.is_inlined())
      calls.push_back(store.is_root() ? "store_root()" : fmt::format("store_at({})", level(store)));
    if (schedule.memory_type() != Halide::MemoryType::Auto)
      calls.push_back(fmt::format("store_in(MemoryType::{})", memory_type(schedule.memory_type())));
    for (const auto& bound : schedule.bounds()) {
      const std::string var = names_.var(bound.var);
      if (bound.min.defined())
        calls.push_back(fmt::format("bound({}, {}, {})", var, expressions_.argument(bound.min),
                                    expressions_.argument(bound.extent)));
      else if (bound.extent.defined())
        calls.push_back(fmt::format("bound_extent({}, {})", var, expressions_.argument(bound.extent)));
    }
    std::vector<std::string> storage, plain;
    for (const auto& dimension : schedule.storage_dims()) storage.push_back(names_.var(dimension.var));
    for (const auto& argument : function.args()) plain.push_back(names_.var(argument));
    if (storage != plain) calls.push_back(fmt::format("reorder_storage({})", fmt::join(storage, ", ")));
    return calls;
  }

  static std::vector<std::string> pure_arguments(const Definition& update) {
    std::vector<std::string> loops;
    for (const auto& rvar : update.schedule().rvars()) loops.push_back(rvar.var);
    for (const auto& argument : update.args())
      if (const auto* var = argument.as<Halide::Internal::Variable>(); var && !var->reduction_domain.defined())
        loops.push_back(var->name);
    return loops;
  }

  // Directives that make these loops, innermost first, what they are now.
  std::vector<std::string> nest(const Definition& definition, std::vector<std::string> loops) {
    std::vector<std::string> calls;
    const auto& schedule = definition.schedule();
    if (schedule.atomic()) calls.push_back("atomic()");
    std::set<std::string> of_reduction;
    for (const auto& rvar : schedule.rvars()) of_reduction.insert(rvar.var);
    for (const auto& split : schedule.splits()) {
      if (of_reduction.contains(split.old_var)) {
        for (const auto& part : {split.outer, split.inner}) {
          of_reduction.insert(part);
          names_.rvar(part);
        }
      }
      const std::string old = names_.var(split.old_var), outer = names_.var(split.outer);
      if (split.split_type == Split::SplitVar)
        calls.push_back(fmt::format("split({}, {}, {}, {}, {})", old, outer, names_.var(split.inner),
                                    expressions_.argument(split.factor), tail_strategy(split.tail)));
      else if (split.split_type == Split::RenameVar)
        calls.push_back(fmt::format("rename({}, {})", old, outer));
      else
        calls.push_back(fmt::format("fuse({}, {}, {})", names_.var(split.inner), outer, old));
    }
    std::vector<std::string> order, marks;
    for (const auto& loop : schedule.dims()) {
      if (loop.var == Halide::Var::outermost().name()) continue;
      const std::string var = names_.var(loop.var);
      order.push_back(var);
      using Halide::Internal::ForType;
      const char* mark = loop.for_type == ForType::Vectorized ? "vectorize"
                         : loop.for_type == ForType::Unrolled ? "unroll"
                         : loop.for_type == ForType::Parallel ? "parallel"
                                                              : nullptr;
      if (mark) marks.push_back(fmt::format("{}({})", mark, var));
    }
    std::vector<std::string> before;
    for (const auto& loop : loops) before.push_back(names_.var(loop));
    if (order.size() > 1 && order != before) calls.push_back(fmt::format("reorder({})", fmt::join(order, ", ")));
    calls.insert(calls.end(), marks.begin(), marks.end());
    return calls;
  }

  const SourceRequest& request_;
  functions::RareCases rare_;
  SourceNames names_;
  SourceExpressions expressions_{names_};
  std::map<std::string, Function> environment_;
  std::set<std::string> seen_;
  std::vector<std::string> order_;  // names of Funcs
};

}  // namespace

std::string pipeline_source(const SourceRequest& request) { return Writer(request).text(); }

}  // namespace tile_tune::codegen
