#include "cli/report.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <nlohmann/json.hpp>

#include "base/json_text.h"
#include "cli/status_line.h"
#include "frontend/diagnostic/utf8.h"

namespace tile_tune::cli {

engine::Reporter reporter(Volume volume, bool json, bool color, bool werror) {
  engine::Listener listener;
  listener.diagnostic = [=](const Diagnostic& diagnostic) {
    if (diagnostic.severity == Severity::Warning && volume == Volume::Quiet) return;
    write_to_standard_error(json ? base::json_text(to_json(diagnostic)) + "\n" : render(diagnostic, color));
  };
  const auto notice = [=](const std::string& line) {
    write_to_standard_error(json ? base::json_text({{"severity", "notice"}, {"message", line}}) + "\n"
                                 : printable(line) + "\n");
  };
  if (volume != Volume::Quiet) listener.notice = notice;
  if (volume == Volume::Verbose) listener.verbose = notice;
  return engine::Reporter(std::move(listener), werror);
}

Result<void> print(const std::string& text) {
  if (write_to_standard_output(text)) return {};
  return failure("cannot-write", fmt::format("cannot write to standard output: {}", std::strerror(errno)));
}

Result<void> print_json(const nlohmann::json& json) { return print(base::json_text(json, 2) + "\n"); }

}  // namespace tile_tune::cli
