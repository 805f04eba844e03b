#include "cli/progress_line.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdio>
#include <vector>

#include "frontend/diagnostic/utf8.h"

namespace tile_tune::cli {

namespace {

/// A terminal that does not tell its width is taken for the oldest one.
constexpr size_t kUsualColumns = 80;

size_t terminal_columns() {
  winsize size = {};
  if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return kUsualColumns;
  return size.ws_col;
}

bool is_fault(search::Outcome outcome) {
  switch (outcome) {
    case search::Outcome::Ok:
    case search::Outcome::Duplicate:
    case search::Outcome::Slow:
      return false;
    default:
      return true;
  }
}

}  // namespace

std::string progress_text(const search::Progress& progress, double seconds) {
  std::string text = fmt::format("{:.0f} s", seconds);
  if (progress.seconds_left) text += fmt::format(" of {:.0f} s", seconds + *progress.seconds_left);
  text += fmt::format("  {} trials", progress.trials + progress.replayed);
  if (progress.trials_left) text += fmt::format(", {} left", *progress.trials_left);
  if (progress.best_ratio > 0) text += fmt::format("  best {:.2f}x", progress.best_ratio);
  if (progress.quality)
    text += fmt::format("  model {:.0f} % of pairs, {:.0f} % of the fastest",
                        100 * progress.quality->pairwise_accuracy(), 100 * progress.quality->top_recall());
  std::string separator = "  ";
  for (const auto& [outcome, count] : progress.outcomes) {
    if (!is_fault(outcome) || count == 0) continue;
    text += fmt::format("{}{} {}", separator, count, search::outcome_name(outcome));
    separator = ", ";
  }
  if (progress.phase == search::Phase::Finals) text += "  timing the finalists";
  return text;
}

std::string cut_to_width(const std::string& text, size_t columns) {
  size_t characters = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    const bool starts = (static_cast<unsigned char>(text[i]) & 0xC0) != 0x80;
    if (starts && ++characters > columns) return text.substr(0, i);
  }
  return text;
}

ProgressLine::ProgressLine(const Reporter& report) : report_(report), terminal_(isatty(STDERR_FILENO)) {}

ProgressLine::~ProgressLine() { clear(); }

void ProgressLine::show(const std::string& text) {
  if (report_.json() || report_.volume() == Volume::Quiet) return;
  if (!terminal_) return report_.verbose(text);
  // The last column stays free: some terminals wrap as soon as it is written.
  const std::string line = "\r\033[K" + cut_to_width(printable(text), terminal_columns() - 1);
  std::fwrite(line.data(), 1, line.size(), stderr);
  drawn_ = true;
}

void ProgressLine::clear() {
  if (drawn_) std::fputs("\r\033[K", stderr);
  drawn_ = false;
}

}  // namespace tile_tune::cli
