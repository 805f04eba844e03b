#include <tile_tune/einsum.h>
#include <tile_tune/einsum_call.h>
#include <tile_tune/tc.h>
#include <tile_tune/tile_tune.h>
#include <tile_tune/version.h>

#include <algorithm>
#include <new>
#include <nlohmann/json.hpp>

#include "engine/handles/c_errors.h"
#include "engine/handles/handle.h"
#include "frontend/edsl/einsum_program.h"
#include "frontend/edsl/errors.h"
#include "frontend/ir/json.h"
#include "frontend/ir/program.h"

using namespace tile_tune;
using namespace tile_tune::engine::c;

struct tt_program {
  edsl::Program program;
};
struct tt_kernel {
  engine::Kernel kernel;
};

namespace {

/// An error says what is wrong with one of them.
tt_error* read_arrays(const tt_array* arrays, size_t count, std::vector<engine::Array>& to) {
  if (!arrays && count > 0) return null_pointer("a list of arrays");
  for (size_t i = 0; i < count; ++i)
    if (tt_error* error = read_array(arrays[i], to.emplace_back())) return error;
  return nullptr;
}

engine::CompileOptions options_of(const tt_options* given) {
  engine::CompileOptions options;
  options.on_message = [](const Message&) {};
  if (!given) return options;
  tt_options all{};
  std::copy_n(reinterpret_cast<const char*>(given), std::min(given->size, sizeof all), reinterpret_cast<char*>(&all));
  const auto text = [](const char* one) { return std::string(one ? one : ""); };
  options.database = text(all.database);
  if (all.target) options.target = all.target;
  options.executable = text(all.tool);
  if (all.cache) options.cache = all.cache;
  options.threads = all.threads;
  if (all.default_schedule) options.schedule = engine::Schedule::Default;
  options.deterministic = all.deterministic != 0;
  options.tune_seconds = all.tune_seconds;
  return options;
}

}  // namespace

extern "C" {

int tt_abi_version(void) { return TT_ABI_VERSION; }
const char* tt_version(void) { return version(); }

const char* tt_error_code(const tt_error* error) { return error ? error->code.c_str() : ""; }
const char* tt_error_message(const tt_error* error) { return error ? error->message.c_str() : ""; }
const char* tt_error_note(const tt_error* error) { return error ? error->note.c_str() : ""; }
size_t tt_error_numbers(const tt_error* error, const int64_t** numbers) {
  if (!error || !numbers) return 0;
  *numbers = error->numbers.data();
  return error->numbers.size();
}
void tt_error_free(tt_error* error) { delete error; }

tt_error* tt_program_from_tc(const char* text, const char* name, tt_program** program) {
  if (!text || !program) return null_pointer("an argument");
  return without_exceptions([&]() -> tt_error* {
    const auto programs = tc::parse(text);
    const auto found = std::find_if(programs.begin(), programs.end(),
                                    [&](const edsl::Program& one) { return !name || one.name() == name; });
    if (found == programs.end()) return made("unknown-def", "the text has no def of that name");
    if (!name && programs.size() > 1) return made("several-defs", "the text has several defs: name one");
    *program = new tt_program{*found};
    return nullptr;
  });
}

tt_error* tt_program_from_einsum(const char* subscripts, const int32_t* dtypes, size_t count, tt_program** program) {
  if (!subscripts || !program || (count > 0 && !dtypes)) return null_pointer("an argument");
  return without_exceptions([&]() -> tt_error* {
    auto parsed = einsum::parse(std::string_view(subscripts));
    if (!parsed) edsl::raise(parsed.error());
    einsum::Known known;
    for (size_t i = 0; i < count; ++i) {
      if (!is_dtype(dtypes[i])) return made("dtype-mismatch", "an operand has an element type that is none");
      known.operands.push_back({static_cast<DType>(dtypes[i]), std::nullopt});
    }
    auto symbolic = make_program(*parsed, known);
    if (!symbolic) edsl::raise(symbolic.error());
    *program = new tt_program{edsl::einsum_program(*parsed, known, std::move(*symbolic))};
    return nullptr;
  });
}

tt_error* tt_program_from_json(const char* text, tt_program** program) {
  if (!text || !program) return null_pointer("an argument");
  return without_exceptions([&]() -> tt_error* {
    const auto json = nlohmann::json::parse(text, nullptr, false);
    auto read = ir::program_from_json(json);
    if (!read) edsl::raise(read.error());
    *program = new tt_program{edsl::Program(std::move(*read))};
    return nullptr;
  });
}

void tt_program_free(tt_program* program) { delete program; }
size_t tt_program_inputs(const tt_program* program) { return program->program.ir().inputs.size(); }
size_t tt_program_outputs(const tt_program* program) { return program->program.ir().outputs.size(); }

tt_error* tt_compile(const tt_program* program, const tt_options* options, tt_kernel** kernel) {
  if (!program || !kernel) return null_pointer("an argument");
  return without_exceptions([&]() -> tt_error* {
    auto compiled = engine::compile(program->program, options_of(options));
    if (!compiled) return made(compiled.error());
    *kernel = new tt_kernel{*compiled};
    return nullptr;
  });
}

void tt_kernel_free(tt_kernel* kernel) { delete kernel; }

tt_error* tt_call(const tt_kernel* kernel, const tt_array* inputs, size_t input_count, const tt_array* outputs,
                  size_t output_count) {
  if (!kernel) return null_pointer("a kernel");
  return without_exceptions([&]() -> tt_error* {
    std::vector<engine::Array> from, to;
    if (tt_error* error = read_arrays(inputs, input_count, from)) return error;
    if (tt_error* error = read_arrays(outputs, output_count, to)) return error;
    return result_of(kernel->kernel(from, to));
  });
}

tt_error* tt_einsum(const char* subscripts, const tt_array* operands, size_t count, const tt_array* result) {
  if (!subscripts || !result) return null_pointer("an argument");
  return without_exceptions([&]() -> tt_error* {
    std::vector<engine::Array> from, to;
    if (tt_error* error = read_arrays(operands, count, from)) return error;
    if (tt_error* error = read_arrays(result, 1, to)) return error;
    return result_of(engine::einsum(subscripts, from, to.front()));
  });
}

tt_error* tt_einsum_type(const char* subscripts, const tt_array* operands, size_t count, int32_t* dtype, int32_t* rank,
                         int64_t* shape) {
  if (!subscripts || !dtype || !rank || !shape) return null_pointer("an argument");
  return without_exceptions([&]() -> tt_error* {
    std::vector<engine::Array> from;
    if (tt_error* error = read_arrays(operands, count, from)) return error;
    const auto type = engine::einsum_type(subscripts, from);
    if (!type) return made(type.error());
    *dtype = static_cast<int32_t>(type->type);
    *rank = static_cast<int32_t>(type->shape.size());
    std::copy(type->shape.begin(), type->shape.end(), shape);
    return nullptr;
  });
}

tt_error* tt_set_einsum_options(const tt_options* options) {
  return without_exceptions([&]() -> tt_error* {
    const auto taken = options_of(options);
    if (const auto checked = engine::check_options(taken); !checked) return made(checked.error());
    engine::set_einsum_options(taken);
    return nullptr;
  });
}
}
