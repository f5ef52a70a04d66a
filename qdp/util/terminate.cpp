#include "qdp/util/terminate.hpp"

#include <atomic>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>

#include "jit/comm/communicator.hpp"
#include "jit/comm/job.hpp"

namespace QDP {
namespace {

std::atomic<int> verbosity{1};

int print_line(const char* lead, const char* format, std::va_list arguments) {
  char text[4096];  // one write for each line, so that lines of several processes do not mix
  const int head = std::snprintf(text, sizeof text, "%s", lead);
  const int body = std::vsnprintf(text + head, sizeof text - static_cast<std::size_t>(head), format, arguments);
  return std::fprintf(stderr, body > 0 && text[head + (body < 4000 ? body : 4000) - 1] == '\n' ? "%s" : "%s\n", text);
}

}  // namespace

int QDP_info(const char* format, ...) {
  if (verbosity.load() <= 0) return 0;
  std::va_list arguments;
  va_start(arguments, format);
  const int written = print_line("QDP info: ", format, arguments);
  va_end(arguments);
  return written;
}

int QDP_error(const char* format, ...) {
  std::va_list arguments;
  va_start(arguments, format);
  const int written = print_line("QDP error: ", format, arguments);
  va_end(arguments);
  return written;
}

void QDP_abort(int status) {
  jit::Communicator& ranks = jit::process_communicator();
  if (ranks.size() > 1)
    std::fprintf(stderr, "QDP abort: the program ends with status %d (rank %d of %d)\n", status, ranks.rank(),
                 ranks.size());
  else
    std::fprintf(stderr, "QDP abort: the program ends with status %d\n", status);
  std::fflush(nullptr);
  ranks.abort(status);
  std::exit(status);
}

void QDP_failed(const std::string& message, int status) { jit::fail_ranks(message, status); }

void QDP_error_exit(const char* format, ...) {
  std::va_list arguments;
  va_start(arguments, format);
  print_line("QDP error: ", format, arguments);
  va_end(arguments);
  QDP_abort(1);
}

int QDP_verbose(int level) { return verbosity.exchange(level); }

}  // namespace QDP
