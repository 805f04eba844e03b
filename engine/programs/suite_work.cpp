#include "engine/programs/suite_work.h"

#include <fmt/format.h>

#include <set>

namespace tile_tune::engine {

bool concerns_all(const Diagnostic& error) {
  // What a search of one program may end with although everything around it works.
  static const std::set<std::string> own{"no-finals", "cost-model", "out-of-memory", "compiler-error"};
  return error.error_class == ErrorClass::Target ||
         (error.error_class == ErrorClass::Failure && own.count(error.code) == 0);
}

std::vector<Unfinished> work_through(const std::vector<std::string>& names,
                                     const std::function<Result<void>(size_t)>& work, const std::atomic<bool>& stop,
                                     const Reporter& report) {
  std::vector<Unfinished> failed;
  for (size_t i = 0; i < names.size() && !stop; ++i) {
    const auto done = work(i);
    if (done) continue;
    failed.push_back({names[i], done.error()});
    Diagnostic told = done.error();
    if (told.message.find(names[i]) == std::string::npos) told.message.insert(0, names[i] + ": ");
    report.diagnostic(told);
    if (concerns_all(told)) break;
  }
  return failed;
}

Diagnostic incomplete_suite(const Diagnostic& first, size_t failed, size_t all, const std::string& done) {
  return {first.error_class, first.code,
          fmt::format("{} of the suite's {} workloads {} not {}", failed, all, failed == 1 ? "was" : "were", done)};
}

}  // namespace tile_tune::engine
