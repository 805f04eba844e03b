#include "engine/kernels/compile_kernel.h"

#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <atomic>
#include <nlohmann/json.hpp>

#include "base/files.h"
#include "base/process/fork.h"
#include "codegen/backend/kernel_abi.h"
#include "codegen/schedule/countable.h"
#include "engine/handles/request.h"
#include "engine/packages/checked_kernel.h"
#include "engine/programs/memory.h"
#include "engine/records/planned.h"
#include "engine/run/run_workload.h"
#include "engine/session/plain_onlooker.h"
#include "engine/sized/sized_workload.h"
#include "engine/tune.h"
#include "frontend/edsl/errors.h"
#include "frontend/ir/index_checks.h"
#include "frontend/ir/json.h"
#include "frontend/ir/storage.h"
#include "search/space/checked_schedule.h"
#include "search/workers/machine_lock.h"
#include "search/workers/object_check.h"
#include "search/workers/session_directory.h"

namespace tile_tune::engine {

namespace {

constexpr const char* kFunction = "tile_tune_kernel";
// Somebody waits for the call: what is compiled in half a second is not to be judged for ten. Of a sum over rows of
// 8192 x 8192 the whole reference took 13 s, 2 cores of a Zen 4 beside other work, 2026-11-26.
constexpr double kJudgingSeconds = 0.5;
constexpr int kLowest = 19;  // of setpriority(2)

/// Of so many sizes each: as of listed ones (docs/libraries.md), and fewer where a tensor that has all of them would
/// not fit an address space.
int64_t largest_size(size_t sizes) { return int64_t{1} << std::min<size_t>(20, 60 / sizes); }

/// Number among the caller's inputs, or outputs, by name: canonical programs keep both.
int position_of(const ir::Program& program, const std::vector<int>& among, const std::string& name) {
  const auto found = std::find_if(among.begin(), among.end(),
                                  [&](int one) { return program.tensors[static_cast<size_t>(one)].name == name; });
  return static_cast<int>(found - among.begin());
}

ImageArgument argument_of(const ir::Tensor& tensor, ImageArgument::Kind kind, int position) {
  ImageArgument argument{
      kind, tensor.name, position, tensor.type, ir::shape(tensor), ir::strides(tensor), ir::memory_order(tensor)};
  const auto& strides = tensor.storage.strides();
  for (size_t d = 0; d < strides.size(); ++d)
    if (std::holds_alternative<ir::FromBuffer>(strides[d])) argument.free.push_back(static_cast<int>(d));
  argument.is_strided = !strides.empty();
  return argument;
}

/// `compiled`: with the outputs of checks behind those of the caller.
void add_arguments(KernelImage& image, const ir::Program& asked, const ir::Program& compiled,
                   const std::vector<ir::IndexCheck>& checks) {
  using Kind = ImageArgument::Kind;
  image.inputs = static_cast<int>(asked.inputs.size());
  image.outputs = static_cast<int>(asked.outputs.size());
  image.checks = static_cast<int>(checks.size());
  const auto first_check = compiled.outputs.end() - image.checks;
  for (const int number : codegen::kernel_arguments(compiled)) {
    const ir::Tensor& tensor = compiled.tensors[static_cast<size_t>(number)];
    if (const auto check = std::find(first_check, compiled.outputs.end(), number); check != compiled.outputs.end()) {
      const auto position = static_cast<size_t>(check - first_check);
      image.arguments.push_back(argument_of(tensor, Kind::Check, static_cast<int>(position)));
      image.arguments.back().name = ir::to_text(compiled, checks[position]);
      continue;
    }
    const Kind kind = tensor.role == ir::Role::Input   ? Kind::Input
                      : tensor.role == ir::Role::InOut ? Kind::Initial
                                                       : Kind::Output;
    image.arguments.push_back(
        argument_of(tensor, kind, position_of(asked, kind == Kind::Input ? asked.inputs : asked.outputs, tensor.name)));
  }
}

KernelImage image_of(const std::string& program, const codegen::Target& target) {
  KernelImage image;
  image.program = program;
  image.function = kFunction;
  image.threads = target.threads;
  return image;
}

/// Of outputs without elements.
KernelImage empty_image(const ir::Program& program) {
  KernelImage image;
  image.program = program.name;
  image.provenance = image.rung = "default";
  add_arguments(image, program, program, {});
  return image;
}

Result<void> search_first(const KernelRequest& request, const Workload& workload, const codegen::Target& target,
                          const Session& session) {
  const std::atomic<bool> stop = false;
  TuningRequest budget;
  budget.seconds = request.tune_seconds;
  const Task task{workload, target, std::move(budget), {}};
  TILE_TUNE_CHECK(tune(task, session, {session.began, stop}));
  return {};
}

/// Nothing is handed over that does not compute what the reference does.
Result<std::string> compile_and_judge(const ir::Program& program, const codegen::Schedule& schedule,
                                      const std::vector<ir::Program>& judged, const ir::Program* written,
                                      const codegen::Target& target, const Session& session,
                                      const codegen::Backend& backend) {
  // Compiling and judging would disturb who times kernels.
  const auto lock =
      search::MachineLock::acquire(search::MachineLock::Mode::Shared, {nullptr}, plain_onlooker(session.report));
  TILE_TUNE_TRY(directory, search::SessionDirectory::create());
  const auto object = directory.path() / "kernel.o", runtime = directory.path() / "runtime.o";
  TILE_TUNE_CHECK(backend.runtime(target, runtime));
  codegen::Target called = target;
  called.features.add(codegen::Feature::UserContext);
  TILE_TUNE_CHECK(backend.compile(program, schedule, called, kFunction, object));
  for (const auto& one : judged)
    TILE_TUNE_CHECK(search::check_object(one, called, {kFunction, object, runtime}, written, kJudgingSeconds));
  return base::read_bytes(object);
}

/// What was tuned for the target.
Result<void> add_recorded(KernelImage& image, const codegen::Target& target, const Session& session) {
  TILE_TUNE_TRY(databases, open_stack(session));
  for (auto& database : databases) {
    TILE_TUNE_TRY(rows, database.recorded());
    for (const auto& row : rows)
      if (row.target.text() == target.text() && row.target.machine.threads == target.threads)
        image.recorded.push_back(row.program.content_hash + " " + storage_of_layout(row.program.layout));
  }
  return {};
}

/// The kernel that computes every size (codegen/emit/sized_entry.h), by a default schedule: no table of others beside
/// it.
Result<KernelImage> image_for_many(const KernelRequest& request, const ir::Program& symbolic, const Session& session,
                                   const codegen::Backend& backend) {
  std::vector<codegen::EntrySize> sizes;
  for (const auto& [name, value] : request.sizes)
    sizes.push_back({name, 1, std::max(largest_size(request.sizes.size()), value), {value}});
  TILE_TUNE_TRY(target, session.target());
  TILE_TUNE_TRY(workload, load_sized({symbolic, "edsl", request.program}, {}, sizes, session, Strides::Taken));
  TILE_TUNE_TRY(entry, generic_entry(workload, target));
  if (entry.members.empty() || entry.members.back().only)
    return fail(ErrorClass::Program, "no-size-range", "no kernel of the program computes several sizes");
  codegen::Kernel kernel{entry.members.back().program, entry.members.back().schedule, kFunction, "default", {}};
  kernel.entry = entry;
  TILE_TUNE_CHECK(add_index_checks(kernel, target));
  const codegen::SizedEntry& compiled = *codegen::compiled_form(kernel).entry;
  const codegen::EntryMember& member = compiled.members.back();
  std::vector<ir::Program> judged;
  for (const auto& values : codegen::sizes_to_check(compiled, compiled.members.size() - 1)) {
    TILE_TUNE_TRY(program, compiled.program.at(values));
    judged.push_back(std::move(program));
  }
  KernelImage image = image_of(symbolic.name, target);
  image.provenance = image.rung = "default";
  image.is_for_many_sizes = true;
  add_arguments(image, entry.members.back().program, member.program, ir::index_checks(kernel.program));
  if (!request.default_schedule) TILE_TUNE_CHECK(add_recorded(image, target, session));
  TILE_TUNE_TRY(object, compile_and_judge(member.program, member.schedule, judged, nullptr, target, session, backend));
  image.object = std::move(object);
  return image;
}

Result<KernelImage> make_image(const KernelRequest& request, const Session& session, const codegen::Backend& backend) {
  const auto json = nlohmann::json::parse(request.program, nullptr, false);
  TILE_TUNE_TRY(read, ir::program_from_json(json));
  if (!request.sizes.empty()) return image_for_many(request, read, session, backend);
  TILE_TUNE_TRY(bound, ir::bind(read, {}));
  if (codegen::computes_nothing(bound)) return empty_image(bound);
  TILE_TUNE_CHECK(check_size(bound, Use::Build));
  const LoadedProgram loaded{bound, "edsl", request.program};
  const Workload workload = planned_workload(loaded, bound, {}, session);
  TILE_TUNE_TRY(target, session.target());
  if (target.device != codegen::Device::Cpu)
    return fail(ErrorClass::Target, "target-unavailable", "kernels in the caller's process are for CPUs");
  const EngineChoice engine{request.default_schedule ? "default" : "tuned", ""};
  TILE_TUNE_TRY(chosen, choose(engine, workload, target, session));
  if (request.tune_seconds > 0 && chosen.choice.rung != "exact" && !request.default_schedule) {
    TILE_TUNE_CHECK(search_first(request, workload, target, session));
    TILE_TUNE_TRY(again, choose(engine, workload, target, session));
    chosen = std::move(again);
  }
  const auto& [form, choice] = chosen;
  const auto checks = ir::index_checks(form.program);
  const auto program = ir::with_index_checks(form.program);
  const auto schedule = checks.empty() ? choice.schedule : search::with_index_checks(program, choice.schedule, target);
  KernelImage image = image_of(bound.name, target);
  image.provenance = choice.provenance;
  image.rung = choice.rung;
  add_arguments(image, bound, program, checks);
  const bool is_for_many_strides =
      std::any_of(bound.tensors.begin(), bound.tensors.end(),
                  [](const ir::Tensor& tensor) { return tensor.storage.has_strides_from_buffer(); });
  if (is_for_many_strides && !request.default_schedule) TILE_TUNE_CHECK(add_recorded(image, target, session));
  TILE_TUNE_TRY(object, compile_and_judge(program, schedule, {program}, form.written ? &form.written->program : nullptr,
                                          target, session, backend));
  image.object = std::move(object);
  return image;
}

}  // namespace

std::string answer_kernel_request(const std::string& text, const codegen::Backend& backend) {
  const auto json = nlohmann::json::parse(text, nullptr, false);
  try {
    const KernelRequest request = request_from_json(json);
    base::die_with(json.at("caller"));
    if (request.low_priority) setpriority(PRIO_PROCESS, 0, kLowest);
    std::vector<Message> messages;
    const Reporter report({.diagnostic = [&](const Diagnostic& one) { messages.push_back(edsl::message_of(one)); },
                           .notice =
                               [&](const std::string& line) {
                                 messages.push_back({Message::Severity::Notice, "", line, "", 0});
                               }});
    Settings settings;
    settings.target = request.target;
    settings.threads = request.threads;
    settings.deterministic = request.deterministic;
    if (!request.database.empty()) settings.databases = {request.database};
    auto image = make_image(request, {.settings = settings, .report = report, .began = now_seconds()}, backend);
    if (image) image->messages = std::move(messages);
    return answer_text(image);
  } catch (const nlohmann::json::exception& error) {
    return answer_text(failure("bad-request", fmt::format("a request for a kernel cannot be read: {}", error.what())));
  }
}

}  // namespace tile_tune::engine
