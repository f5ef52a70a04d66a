// Messages in the manner of printf and the end of the program, with QDP++'s names.
#pragma once

#include <string>

namespace QDP {

/// Writes "QDP info: ...", "QDP error: ..." and a line end to stderr; return the number of characters.
[[gnu::format(printf, 1, 2)]] int QDP_info(const char* format, ...);
[[gnu::format(printf, 1, 2)]] int QDP_error(const char* format, ...);

/// Ends every process of the job with this status after one line on stderr. Library code throws instead.
[[noreturn]] void QDP_abort(int status);

/// QDP_error, then QDP_abort(1).
[[noreturn, gnu::format(printf, 1, 2)]] void QDP_error_exit(const char* format, ...);

/// For a program that has caught an error and will return `status` from main: writes the message to stderr, once if all ranks
/// failed. If others have not, after a second or two, it ends them, and this process too. Before QDP_finalize().
void QDP_failed(const std::string& message, int status = 1);

/// QDP_info prints only while the level is positive; returns the old level.
int QDP_verbose(int level);

}  // namespace QDP
