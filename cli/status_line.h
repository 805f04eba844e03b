// The last line of standard error, on which a terminal shows how things stand. Whoever writes to the terminal goes
// through here, so that no text ends up in the middle of it.
#pragma once

#include <string>

namespace tile_tune::cli {

/// Whether standard error is a terminal whose last line can be drawn over.
bool has_status_line();
/// How many characters the line holds at this moment: all columns but the last, since some terminals wrap as soon as
/// that is written.
size_t status_line_width();

/// In place of what was drawn before; `text` must fit. Callable from any thread.
void draw_status_line(const std::string& text);
void wipe_status_line();

/// Text above the line. To standard output, which may be the same terminal: false if not all of it could be written.
void write_to_standard_error(const std::string& text);
bool write_to_standard_output(const std::string& text);

}  // namespace tile_tune::cli
