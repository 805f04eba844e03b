#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <map>
#include <mutex>
#include <nlohmann/json.hpp>
#include <set>
#include <shared_mutex>
#include <tile_tune/kernel.h>
#include <unordered_map>

#include "base/cpus.h"
#include "base/file_cache.h"
#include "base/files.h"
#include "base/json_text.h"
#include "base/process/fork_safe_mutex.h"
#include "base/process/lines.h"
#include "base/process/process_mutex.h"
#include "base/process/spawn.h"
#include "base/sha256.h"
#include "engine/handles/background.h"
#include "engine/handles/handle.h"
#include "engine/handles/loaded_kernel.h"
#include "engine/handles/request.h"
#include "engine/programs/array_sizes.h"
#include "engine/caller/arrays.h"
#include "engine/caller/installation.h"
#include "engine/caller/messages.h"
#include "engine/session/default_database.h"
#include "frontend/edsl/errors.h"
#include "frontend/ir/canonical.h"
#include "frontend/ir/json.h"
#include "frontend/ir/storage.h"
#include "frontend/plan/program_warnings.h"

namespace tile_tune::engine {

namespace fs = std::filesystem;

namespace {

/// Guards the tables of kernels of all handles: there is one, since handles come and go.
base::ForkSafeMutex kernels_mutex;

// A kernel is 20 to 60 KB: some thousand of them.
constexpr uint64_t kCacheBytes = uint64_t{256} << 20;
constexpr const char* kInterrupted = "interrupted";
constexpr std::chrono::milliseconds kBetweenQuestions{20};  // whether a call is interrupted

// With that of C order and the general one no handle has more than eight kernels, where its program has some for many
// sizes.
constexpr int kOwn = 2;
constexpr size_t kClasses = 3;

Error error_of(const Diagnostic& diagnostic) { return {diagnostic.code, diagnostic.message, diagnostic.note}; }

/// The first processor's lines, but for those that change: kernels are for its instructions.
const std::string& processor() {
  static const std::string text = [] {
    const auto all = base::read_bytes("/proc/cpuinfo").value_or("");
    std::string kept;
    size_t at = 0;
    for (size_t end; (end = all.find('\n', at)) != all.npos && end != at; at = end + 1) {
      const std::string_view line = std::string_view(all).substr(at, end - at);
      for (const char* name : {"vendor_id", "cpu family", "model", "flags", "Features", "CPU "})
        if (line.starts_with(name)) kept += line;
    }
    return kept;
  }();
  return text;
}

/// Which version of a database this is: its file and SQLite's log beside it.
std::string version_of(const fs::path& database) {
  std::string text = database.string();
  for (const char* end : {"", "-wal"}) {
    struct stat status {};
    if (stat((database.string() + end).c_str(), &status) == 0)
      text += fmt::format(" {} {}.{}", status.st_size, status.st_mtim.tv_sec, status.st_mtim.tv_nsec);
  }
  return text;
}

bool has_no_elements(const Array& array) {
  return std::find(array.shape.begin(), array.shape.end(), 0) != array.shape.end();
}

/// As strides_of() would have it where the array has none.
template <typename Visit>
void for_each_stride(const Array& array, const Visit& visit) {
  int64_t next = 1;
  for (size_t d = array.shape.size(); d-- > 0;) {
    visit(d, array.strides.size() == array.shape.size() ? array.strides[d] : next);
    next *= array.shape[d];
  }
}

bool is_in_order(const Array& array) {
  bool is_same = !has_no_elements(array);
  int64_t next = 1;
  for_each_stride(array, [&](size_t d, int64_t stride) {
    is_same &= array.shape[d] == 1 || stride == next;
    next *= array.shape[d];
  });
  return is_same;
}

/// With rows, dimensions of neighbours first, and what repeats last: strides of 1, -1 and, if it is read, 0 are the
/// kernel's, others its caller's.
ir::Storage class_of(const Array& array, bool is_output) {
  std::vector<ir::Stride> strides(array.shape.size(), ir::FromBuffer());
  std::vector<int64_t> distances(strides.size());
  std::vector<int> order;
  for_each_stride(array, [&](size_t d, int64_t stride) {
    order.push_back(static_cast<int>(d));
    distances[d] = array.shape[d] == 1 || stride == 0 ? INT64_MAX : std::abs(stride);
    if (array.shape[d] != 1 && (std::abs(stride) == 1 || (stride == 0 && !is_output))) strides[d] = stride;
  });
  std::stable_sort(order.begin(), order.end(),
                   [&](int a, int b) { return distances[static_cast<size_t>(a)] < distances[static_cast<size_t>(b)]; });
  return ir::Storage::strided(std::move(strides), std::move(order));
}

/// Of any array of so many dimensions.
ir::Storage any_strides(size_t rank) {
  std::vector<int> order;
  for (size_t d = rank; d-- > 0;) order.push_back(static_cast<int>(d));
  return ir::Storage::strided(std::vector<ir::Stride>(rank, ir::FromBuffer()), std::move(order));
}

/// Of the classes of the arrays, or of all that there are.
std::vector<ir::Storage> storage_of(std::span<const Array> inputs, std::span<const Array> outputs, bool is_general) {
  std::vector<ir::Storage> all;
  for (const auto arrays : {inputs, outputs})
    for (const Array& array : arrays)
      all.push_back(is_general ? any_strides(array.shape.size()) : class_of(array, arrays.data() == outputs.data()));
  return all;
}

std::string text_of(const std::vector<ir::Storage>& storage) {
  std::string text;
  for (const auto& one : storage) text += to_text(one) + ";";
  return text;
}

/// Whether kernels can count them whose strides are their caller's: Halide's buffers have 32 bits for a stride.
bool are_countable(std::span<const Array> inputs, std::span<const Array> outputs) {
  constexpr int64_t kMost = INT32_MAX / 2;  // a complex number is two
  bool is_small = true;
  for (const auto arrays : {inputs, outputs})
    for (const Array& array : arrays)
      for_each_stride(array, [&](size_t d, int64_t stride) {
        is_small &= array.shape[d] <= kMost && (array.shape[d] == 1 || (stride <= kMost && stride >= -kMost));
      });
  return is_small;
}

/// FNV-1a of all that LoadedKernel::fits() looks at.
uint64_t hash_of(std::span<const Array> inputs, std::span<const Array> outputs) {
  uint64_t hash = 0xcbf29ce484222325;
  const auto add = [&](uint64_t value) { hash = (hash ^ value) * 0x100000001b3; };
  for (const auto arrays : {inputs, outputs})
    for (const Array& array : arrays) {
      add(array.shape.size());
      const bool is_empty = has_no_elements(array);
      for_each_stride(array, [&](size_t d, int64_t stride) {
        add(static_cast<uint64_t>(array.shape[d]));
        if (array.shape[d] != 1 && !is_empty) add(static_cast<uint64_t>(stride));
      });
    }
  return hash;
}

}  // namespace

/// Kernels of one program for the shapes and strides it was called with so far, none of which is taken away again.
class Kernel::Impl : public std::enable_shared_from_this<Kernel::Impl> {
 public:
  Impl(edsl::Program program, CompileOptions options, std::string executable)
      : program_(std::move(program)),
        options_(std::move(options)),
        executable_(std::move(executable)),
        cache_(options_.cache ? fs::path(*options_.cache) : default_folder(), kCacheBytes),
        size_inputs_(size_inputs(program_.ir())) {}

  Result<void> call(std::span<const Array> inputs, std::span<const Array> outputs) {
    if (size_inputs_.empty()) return call_at_sizes(inputs, outputs);
    TILE_TUNE_TRY(of_these, of_values(inputs));
    return of_these->call_at_sizes(inputs, outputs);
  }

  Result<void> make_ready(std::span<const Array> inputs, std::span<const Array> outputs) {
    if (!size_inputs_.empty()) {
      TILE_TUNE_TRY(of_these, of_values(inputs));
      return of_these->make_ready(inputs, outputs);
    }
    TILE_TUNE_CHECK(find_or_make(inputs, outputs));
    return {};
  }

  Result<void> call_at_sizes(std::span<const Array> inputs, std::span<const Array> outputs) {
    // Most callers have arrays of one kind.
    const LoadedKernel* kernel = recent_.load(std::memory_order_acquire);
    if (!kernel || !kernel->fits(inputs, outputs)) {
      TILE_TUNE_TRY(found, find_or_make(inputs, outputs));
      kernel = found;
    }
    return kernel->call(inputs, outputs);
  }

  /// For arrays in C order of a program that has numbers for its sizes.
  Result<void> prepare() {
    const auto bound = ir::bind(program_.ir(), {});
    if (!bound) return tl::unexpected(bound.error());
    std::vector<Array> inputs, outputs;
    for (const int number : bound->inputs) inputs.push_back(array_for(*bound, number));
    for (const int number : bound->outputs) outputs.push_back(array_for(*bound, number));
    TILE_TUNE_TRY(lock, lock_making());
    const uint64_t hash = hash_of(inputs, outputs);
    TILE_TUNE_TRY(kernel, make(hash, *bound));
    keep(hash, std::move(kernel));
    return {};
  }

  void tell_warnings() const {
    for (const auto& warning : program_.warnings()) tell(warning, options_);
  }

  std::optional<Schedule> schedule() const {
    if (const Impl* latest = latest_of_values_) return latest->schedule();
    const std::shared_lock lock(kernels_mutex);
    if (!newest_) return std::nullopt;
    return newest_->image().provenance == "default" ? Schedule::Default : Schedule::Tuned;
  }

 private:
  /// Arrays of the same shapes have other kernels where the value of an input is a size: those of a handle for each.
  Result<Impl*> of_values(std::span<const Array> inputs) {
    std::vector<uint64_t> values;
    for (const size_t i : size_inputs_) {
      // What is not as it should be is told of where arrays are looked at.
      const bool is_value = i < inputs.size() && inputs[i].data && inputs[i].shape.empty();
      uint64_t value = 0;
      if (is_value) std::memcpy(&value, inputs[i].data, std::min(sizeof value, dtype_size(inputs[i].type)));
      values.push_back(value);
    }
    TILE_TUNE_TRY(lock, lock_making());
    auto& of_these = of_values_[std::move(values)];
    if (!of_these) of_these = std::make_shared<Impl>(program_, options_, executable_);
    latest_of_values_ = of_these.get();
    return of_these.get();
  }

  bool is_interrupted() const { return options_.interrupted && options_.interrupted(); }
  static tl::unexpected<Diagnostic> interrupted() {
    return failure(kInterrupted, "the call was interrupted before its kernel was there");
  }

  /// Who makes a kernel may take as long as a search does.
  Result<std::unique_lock<std::timed_mutex>> lock_making() {
    std::unique_lock lock(making_.of_this_process(), std::defer_lock);
    while (!lock.try_lock_for(kBetweenQuestions))
      if (is_interrupted()) return interrupted();
    return lock;
  }

  static fs::path default_folder() {
    const fs::path folder = base::user_cache();
    return folder.empty() ? folder : folder / "kernels";
  }

  static Array array_for(const ir::Program& bound, int number) {
    const ir::Tensor& tensor = bound.tensors[static_cast<size_t>(number)];
    return {nullptr, tensor.type, ir::shape(tensor), ir::strides(tensor)};
  }

  /// With the lock, so that what a search replaces is not remembered after that.
  const LoadedKernel* find(uint64_t hash, std::span<const Array> inputs, std::span<const Array> outputs) {
    const std::shared_lock lock(kernels_mutex);
    const auto [first, last] = kernels_.equal_range(hash);
    for (auto entry = first; entry != last; ++entry) {
      if (!entry->second->fits(inputs, outputs)) continue;
      recent_.store(entry->second.get(), std::memory_order_release);
      return entry->second.get();
    }
    return nullptr;
  }

  Result<const LoadedKernel*> find_or_make(std::span<const Array> inputs, std::span<const Array> outputs) {
    const uint64_t hash = hash_of(inputs, outputs);
    if (const auto* kernel = find(hash, inputs, outputs)) return kernel;
    TILE_TUNE_TRY(fitted, fit_to(inputs, outputs));
    // Of a program that has its numbers they were told with its other warnings.
    if (!program_.ir().is_bound())
      for (const auto& warning : plan::program_warnings(fitted.bound)) tell(edsl::message_of(warning), options_);
    TILE_TUNE_TRY(lock, lock_making());
    if (const auto* kernel = find(hash, inputs, outputs)) return kernel;  // another thread's
    TILE_TUNE_TRY(kernel, make_for(hash, fitted, inputs, outputs));
    if (!kernel->fits(inputs, outputs)) return tl::unexpected(kernel->misfit(inputs, outputs));
    const LoadedKernel* const made = kernel.get();
    keep(hash, std::move(kernel));
    return made;
  }

  void keep(uint64_t hash, std::shared_ptr<const LoadedKernel> kernel) {
    const std::unique_lock lock(kernels_mutex);
    newest_ = kernel;
    kernels_.emplace(hash, std::move(kernel));
  }

  struct Fitted {
    ir::Program bound;
    ir::Sizes sizes;
  };

  /// The program at the sizes of these arrays, with their layouts.
  Result<Fitted> fit_to(std::span<const Array> inputs, std::span<const Array> outputs) const {
    const ir::Program& symbolic = program_.ir();
    if (inputs.size() != symbolic.inputs.size() || outputs.size() != symbolic.outputs.size())
      return fail(ErrorClass::Mismatch, "array-count",
                  fmt::format("{} takes {} inputs and {} outputs, not {} and {}", symbolic.name, symbolic.inputs.size(),
                              symbolic.outputs.size(), inputs.size(), outputs.size()));
    // Nobody waits for a kernel that cannot be called.
    if (inputs.size() + outputs.size() > kMostArguments)
      return too_many_arguments(symbolic.name, inputs.size() + outputs.size());
    Arrays named;
    for (size_t i = 0; i < inputs.size(); ++i) named[name_of(symbolic.inputs[i])] = inputs[i];
    for (size_t i = 0; i < outputs.size(); ++i) named[name_of(symbolic.outputs[i])] = outputs[i];
    TILE_TUNE_TRY(described, describe_arrays(symbolic, named));
    TILE_TUNE_TRY(sizes, infer_sizes(symbolic, described, {}));
    ir::Program program = symbolic.is_bound() ? symbolic : program_.ir_at(sizes);
    for (auto& tensor : program.tensors) {
      const auto array = named.find(tensor.name);
      if (tensor.role == ir::Role::Temporary || array == named.end() || array->second.strides.empty()) continue;
      if (has_no_elements(array->second)) continue;
      tensor.storage = ir::Storage::strided({array->second.strides.begin(), array->second.strides.end()});
    }
    const ir::Sizes given = symbolic.is_bound() ? ir::Sizes{} : sizes;
    auto bound = ir::bind(program, given);
    if (!bound) {  // strides of an array of another shape say nothing that helps
      for (auto& tensor : program.tensors) tensor.storage = ir::Storage::row();
      if (const auto plain = ir::bind(program, given)) {
        TILE_TUNE_CHECK(check_outputs(*plain, named));
      }
      return tl::unexpected(std::move(bound.error()));
    }
    TILE_TUNE_CHECK(check_outputs(*bound, named));
    return Fitted{std::move(*bound), std::move(sizes)};
  }

  const std::string& name_of(int tensor) const { return program_.ir().tensors[static_cast<size_t>(tensor)].name; }

  Result<std::shared_ptr<const LoadedKernel>> make(uint64_t hash, const ir::Program& bound) {
    const KernelRequest request = request_for(bound);
    TILE_TUNE_TRY(image, image_of(request));
    if (image.rung != "exact") search_later(hash, request);
    return LoadedKernel::load(std::move(image));
  }

  void search_later(uint64_t hash, KernelRequest request) {
    if (options_.background_seconds <= 0) return;
    request.tune_seconds = options_.background_seconds;
    request.low_priority = true;
    in_background([self = weak_from_this(), hash, request](const std::atomic<bool>& stop) {
      if (const auto impl = self.lock()) impl->search_for(hash, request, stop);
    });
  }

  /// What was found takes the place of the kernel for arrays of the same kind, which calls may still be in.
  void search_for(uint64_t hash, const KernelRequest& request, const std::atomic<bool>& stop) {
    const auto image = image_of(request, &stop);
    if (!image || image->provenance != "tuned") return;
    const auto loaded = LoadedKernel::load(*image);
    if (!loaded) return;
    const std::unique_lock lock(kernels_mutex);
    const auto [first, last] = kernels_.equal_range(hash);
    for (auto entry = first; entry != last; ++entry) {
      if (!(*loaded)->takes_what(*entry->second)) continue;
      replaced_.push_back(std::exchange(entry->second, *loaded));
      newest_ = *loaded;
      recent_.store(nullptr, std::memory_order_release);
    }
  }

  /// The first kernels are for their own shapes and strides. From the second shape on a kernel for many sizes takes all
  /// in C order that nobody tuned for, and others one of their class of strides, as far as the program has such kernels
  /// and unless each shape is searched first.
  Result<std::shared_ptr<const LoadedKernel>> make_for(uint64_t hash, const Fitted& fitted,
                                                       std::span<const Array> inputs, std::span<const Array> outputs) {
    const bool all_in_order = std::all_of(inputs.begin(), inputs.end(), is_in_order) &&
                              std::all_of(outputs.begin(), outputs.end(), is_in_order);
    const bool has_elements = std::none_of(inputs.begin(), inputs.end(), has_no_elements) &&
                              std::none_of(outputs.begin(), outputs.end(), has_no_elements);
    const bool is_own = all_in_order ? kernels_.empty() || fitted.sizes.empty() : own_ < kOwn;
    // Searches are for the strides that they are asked for.
    const bool is_shared = options_.tune_seconds == 0 &&
                           (all_in_order || (options_.background_seconds == 0 && are_countable(inputs, outputs)));
    if (is_own || !has_elements || !is_shared) {
      ++own_;
      return make(hash, fitted.bound);
    }
    const Shared shared = shared_kernel(fitted, inputs, outputs, all_in_order);
    if (!shared && shared.error().code == kInterrupted) return tl::unexpected(shared.error());
    if (!shared || is_recorded(fitted.bound)) return make(hash, fitted.bound);
    if (all_in_order) search_later(hash, request_for(fitted.bound));
    return (*shared)->at(inputs, outputs);
  }

  bool is_recorded(const ir::Program& bound) const {
    if (recorded_.empty()) return false;
    const ir::Program canonical = ir::canonicalize(bound);
    return recorded_.contains(ir::content_hash(canonical) + " " + ir::layout_text(canonical));
  }

  using Shared = Result<std::shared_ptr<const LoadedKernel>>;

  /// Of arrays in C order, or of a class of strides, of any size if sizes are open; or why there is none.
  Shared shared_kernel(const Fitted& fitted, std::span<const Array> inputs, std::span<const Array> outputs,
                       bool is_compact) {
    std::vector<ir::Storage> storage;
    if (!is_compact) {
      storage = storage_of(inputs, outputs, false);
      // A general one is slower than that of a class, but classes are many.
      if (!shared_.contains(text_of(storage)) && shared_.size() > kClasses) storage = storage_of(inputs, outputs, true);
    }
    const std::string key = text_of(storage);
    if (const auto found = shared_.find(key); found != shared_.end()) return found->second;
    const auto make_shared = [&]() -> Shared {
      const bool is_sized = !fitted.sizes.empty();
      ir::Program program = is_sized ? program_.ir() : fitted.bound;
      for (size_t i = 0; i < storage.size(); ++i) {
        const int number = i < inputs.size() ? program.inputs[i] : program.outputs[i - inputs.size()];
        ir::Tensor& tensor = program.tensors[static_cast<size_t>(number)];
        tensor.storage = storage[i];
        // What an in/out output starts from lies in the same array.
        for (auto& other : program.tensors)
          if (other.role == ir::Role::InOut && other.name == tensor.name) other.storage = storage[i];
      }
      KernelRequest request = request_for(program);
      request.tune_seconds = 0;
      if (is_sized) request.sizes = fitted.sizes;
      // A stride along one element is none.
      if (!is_compact)
        for (auto& [name, size] : request.sizes) size = std::max<int64_t>(size, 2);
      TILE_TUNE_TRY(image, image_of(request));
      recorded_.insert(image.recorded.begin(), image.recorded.end());
      return LoadedKernel::load(std::move(image));
    };
    Shared made = make_shared();
    // Whoever interrupts a call wants this one to end, not the later ones to do without.
    if (made || made.error().code != kInterrupted) shared_.emplace(key, made);
    return made;
  }

  KernelRequest request_for(const ir::Program& bound) const {
    KernelRequest request;
    request.program = base::json_text(ir::to_json(bound));
    request.target = options_.target;
    request.threads = options_.threads > 0 ? options_.threads : base::usable_cpus();
    request.deterministic = options_.deterministic;
    request.default_schedule = options_.schedule == Schedule::Default;
    request.tune_seconds = options_.tune_seconds;
    request.database = options_.database;
    if (request.database.empty() && !request.default_schedule)
      if (const auto database = default_database()) request.database = database->string();
    return request;
  }

  /// All that a kernel depends on.
  static std::string key_of(const KernelRequest& request) {
    std::string text = fmt::format("{}\n{}\n{}\n", TILE_TUNE_VERSION, processor(), base::json_text(to_json(request)));
    if (!request.default_schedule) text += version_of(request.database);
    return base::sha256_hex(text);
  }

  Result<KernelImage> image_of(const KernelRequest& request, const std::atomic<bool>* stop = nullptr) const {
    TILE_TUNE_TRY(image, kept_or_compiled(request, stop));
    if (!stop)  // the caller's function is called on the caller's thread alone
      for (const auto& message : image.messages) tell(message, options_);
    return image;
  }

  Result<KernelImage> kept_or_compiled(const KernelRequest& request, const std::atomic<bool>* stop) const {
    if (const auto kept = cache_.find(key_of(request)))
      if (auto image = image_from_bytes(*kept)) return std::move(*image);
    auto sent = to_json(request);
    sent["caller"] = getpid();
    bool was_interrupted = false;
    const auto asked = [&] { return was_interrupted = was_interrupted || is_interrupted(); };
    const auto ran =
        base::run({.words = {executable_, "worker", "--kernel"}, .own_group = true, .default_signals = true},
                  base::json_text(sent), stop ? base::StopAsked(stop) : base::StopAsked(asked));
    if (!ran)
      return failure("cannot-start", fmt::format("{} cannot be started: {}", executable_, std::strerror(ran.error())));
    if (was_interrupted) return interrupted();
    auto image = image_from_answer(ran->out);
    if (!image) {
      if (image.error().code == "kernel-failed") image.error().note = base::last_line(ran->err);
      return image;
    }
    // A search has changed the database; who comes next asks that one, and need not search.
    KernelRequest next = request;
    if (image->rung == "exact") next.tune_seconds = 0, next.low_priority = false;
    for (const auto& key : std::set{key_of(request), key_of(next)}) cache_.keep(key, to_bytes(*image));
    return image;
  }

  const edsl::Program program_;
  const CompileOptions options_;
  const std::string executable_;
  const base::FileCache cache_;
  const std::vector<size_t> size_inputs_;
  std::map<std::vector<uint64_t>, std::shared_ptr<Impl>> of_values_;  // guarded by making_
  std::atomic<const Impl*> latest_of_values_ = nullptr;
  base::ProcessMutex making_;  // who makes a kernel
  // The next three are guarded by `kernels_mutex`.
  std::unordered_multimap<uint64_t, std::shared_ptr<const LoadedKernel>> kernels_;
  std::shared_ptr<const LoadedKernel> newest_;
  std::vector<std::shared_ptr<const LoadedKernel>> replaced_;
  std::map<std::string, Shared> shared_;  // by storage; "" in C order. Guarded by making_, as are the next two
  std::set<std::string> recorded_;        // as KernelImage has them
  int own_ = 0;                           // kernels of shapes and strides of their own
  std::atomic<const LoadedKernel*> recent_ = nullptr;  // that of the last call of another kind
};

Expected<void> Kernel::operator()(std::span<const Array> inputs, std::span<const Array> outputs) const {
  if (const auto called = impl_->call(inputs, outputs); !called) return error_of(called.error());
  return {};
}

Expected<void> make_ready(const Kernel& kernel, std::span<const Array> inputs, std::span<const Array> outputs) {
  if (const auto ready = kernel.impl().make_ready(inputs, outputs); !ready) return error_of(ready.error());
  return {};
}

void shutdown() { end_background(); }

std::optional<Schedule> Kernel::schedule() const { return impl_->schedule(); }

Expected<void> check_options(const CompileOptions& options) {
  if (options.schedule == Schedule::Reference)
    return Error{"no-kernel", "the reference has no kernel", "engine::run computes by it"};
  if (!(options.tune_seconds >= 0) || !(options.background_seconds >= 0) ||
      (options.tune_seconds > 0 && options.background_seconds > 0))
    return Error{"bad-budget", "one of tune_seconds and background_seconds may be a number of seconds", ""};
  if (options.threads < 0)
    return Error{"bad-threads", fmt::format("a kernel cannot have {} threads", options.threads),
                 "0: as many as the CPUs there are"};
  return {};
}

Expected<Kernel> make_handle(const edsl::Program& program, const CompileOptions& options) {
  if (const auto checked = check_options(options); !checked) return checked.error();
  const auto executable = tool(options.executable);
  if (!executable) return error_of(executable.error());
  const auto impl = std::make_shared<Kernel::Impl>(program, options, *executable);
  impl->tell_warnings();
  return Kernel(impl);
}

Expected<Kernel> compile(const edsl::Program& program, const CompileOptions& options) {
  auto kernel = make_handle(program, options);
  if (!kernel || !program.ir().is_bound() || options.at_first_call) return kernel;
  if (const auto made = kernel->impl().prepare(); !made) return error_of(made.error());
  return kernel;
}

}  // namespace tile_tune::engine
