#include "engine/handles/einsum_kernels.h"

#include <algorithm>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <unordered_map>
#include <utility>

#include "base/process/fork_safe_mutex.h"
#include "engine/handles/handle.h"
#include "frontend/edsl/einsum_program.h"

namespace tile_tune::engine {
namespace {

// The axes of `...` have no names: programs with them are for one shape.
bool has_ellipsis(std::string_view subscripts) { return subscripts.find("...") != subscripts.npos; }

/// One form for operands of these types; of an ellipsis also shapes.
struct KernelKey {
  std::string subscripts, variant;
  std::vector<std::pair<DType, std::vector<int64_t>>> operands;
  DType result;

  bool is_of(const EinsumKey& key, std::span<const Array> arrays, DType type) const {
    if (key.subscripts != subscripts || key.variant != variant || type != result || arrays.size() != operands.size())
      return false;
    for (size_t i = 0; i < arrays.size(); ++i)
      if (arrays[i].type != operands[i].first || (has_ellipsis(subscripts) && arrays[i].shape != operands[i].second))
        return false;
    return true;
  }
};

uint64_t hash_of(const EinsumKey& key, std::span<const Array> operands, DType result) {
  uint64_t hash = std::hash<std::string_view>()(key.subscripts);
  for (const Array& array : operands) hash = hash * 31 + static_cast<uint64_t>(array.type);
  return hash * 31 + static_cast<uint64_t>(result);
}

class Cache {
 public:
  Result<Kernel> find_or_make(const EinsumKey& key, std::span<const Array> operands, DType result,
                              const std::function<Result<EinsumForm>()>& make) {
    const uint64_t hash = hash_of(key, operands, result);
    {
      const std::shared_lock lock(mutex_);
      if (const Kernel* kernel = find(hash, key, operands, result)) return *kernel;
    }
    TILE_TUNE_TRY(form, make());
    KernelKey of{std::string(key.subscripts), std::string(key.variant), {}, result};
    einsum::Known known;
    for (const Array& array : operands) {
      of.operands.emplace_back(array.type, array.shape);
      known.operands.push_back({array.type, has_ellipsis(key.subscripts) ? std::optional(array.shape) : std::nullopt});
    }
    known.result = result;
    known.adds = form.adds;
    known.conjugate = form.conjugate;
    TILE_TUNE_TRY(made, make_program(form.notation, known));
    const std::unique_lock lock(mutex_);
    if (const Kernel* kernel = find(hash, key, operands, result)) return *kernel;  // another thread's
    // It compiles when it is called: nothing but a missing tool is found out here.
    auto kernel = make_handle(edsl::einsum_program(form.notation, known, std::move(made)), options_);
    if (!kernel) return failure(kernel.error().code, kernel.error().message, kernel.error().note);
    kernels_.emplace(hash, std::pair(std::move(of), *kernel));
    return *kernel;
  }

  void set(CompileOptions options) {
    const std::unique_lock lock(mutex_);
    options_ = std::move(options);
    kernels_.clear();
  }

 private:
  const Kernel* find(uint64_t hash, const EinsumKey& key, std::span<const Array> operands, DType result) const {
    const auto [first, last] = kernels_.equal_range(hash);
    for (auto entry = first; entry != last; ++entry)
      if (entry->second.first.is_of(key, operands, result)) return &entry->second.second;
    return nullptr;
  }

  base::ForkSafeMutex mutex_;
  CompileOptions options_;
  std::unordered_multimap<uint64_t, std::pair<KernelKey, Kernel>> kernels_;
};

Cache& cache() {
  static Cache& all = *new Cache;  // as long as fork() asks for its mutex
  return all;
}

}  // namespace

Result<Kernel> einsum_kernel(const EinsumKey& key, std::span<const Array> operands, DType result,
                             const std::function<Result<EinsumForm>()>& make) {
  return cache().find_or_make(key, operands, result, make);
}

void set_einsum_kernel_options(CompileOptions options) { cache().set(std::move(options)); }

}  // namespace tile_tune::engine
