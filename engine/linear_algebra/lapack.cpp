#include "engine/linear_algebra/lapack.h"

#include <dlfcn.h>

#include <mutex>
#include <string>

namespace tile_tune::engine::lapack {
namespace {

class Finder {
 public:
  explicit Finder(void* handle) : handle_(handle) {}

  template <typename Function>
  void find(Function& function, const std::string& name) {
    function = reinterpret_cast<Function>(dlsym(handle_, name.c_str()));
    if (!function && missing_.empty()) missing_ = name;
  }
  template <typename T>
  void find(Routines<T>& routines, const std::string& letter) {
    const std::string unitary = kIsComplex<T> ? "un" : "or", hermitian = kIsComplex<T> ? "he" : "sy";
    find(routines.potrf, letter + "potrf_");
    find(routines.gesv, letter + "gesv_");
    find(routines.geqrf, letter + "geqrf_");
    find(routines.orgqr, letter + unitary + "gqr_");
    find(routines.gesdd, letter + "gesdd_");
    find(routines.syevd, letter + hermitian + "evd_");
  }
  const std::string& missing() const { return missing_; }

 private:
  void* handle_;
  std::string missing_;
};

Expected<Library> load() {
  Error none{"no-lapack", "no LAPACK is installed", "Debian has OpenBLAS's in libopenblas0-pthread"};
  for (const char* name : {"libopenblas.so.0", "libopenblas.so", "liblapack.so.3"}) {
    // Never closed: its threads may still run.
    void* handle = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (!handle) continue;
    Library library;
    Finder finder(handle);
    finder.find(library.f32, "s");
    finder.find(library.f64, "d");
    finder.find(library.c32, "c");
    finder.find(library.c64, "z");
    if (!finder.missing().empty()) {
      none.message = std::string(name) + " lacks " + finder.missing();
      continue;
    }
    Finder threads(handle);
    threads.find(library.set_num_threads, "openblas_set_num_threads");
    threads.find(library.get_num_threads, "openblas_get_num_threads");
    if (!threads.missing().empty()) library.set_num_threads = nullptr;
    return library;
  }
  return none;
}

/// The library has one number of threads for the whole process.
struct ThreadCount {
  std::mutex mutex;
  int users = 0;
  int before = 0;
};

ThreadCount& thread_count() {
  static ThreadCount count;
  return count;
}

}  // namespace

Expected<const Library*> library() {
  static const Expected<Library> loaded = load();
  if (!loaded) return loaded.error();
  return &*loaded;
}

OneThread::OneThread(const Library& library) : library_(library) {
  if (!library_.set_num_threads) return;
  ThreadCount& count = thread_count();
  const std::lock_guard lock(count.mutex);
  if (count.users++ > 0) return;
  count.before = library_.get_num_threads();
  library_.set_num_threads(1);
}

OneThread::~OneThread() {
  if (!library_.set_num_threads) return;
  ThreadCount& count = thread_count();
  const std::lock_guard lock(count.mutex);
  if (--count.users == 0) library_.set_num_threads(count.before);
}

}  // namespace tile_tune::engine::lapack
