#include "apps/common/signals.hpp"

#include <csignal>
#include <cstring>

#include <unistd.h>

namespace common {

namespace {

volatile std::sig_atomic_t stop_signal = 0;
char message[200];  // a handler may not make a text
volatile std::sig_atomic_t message_size = 0;

void request_stop(int signal) {
  stop_signal = signal;
  if (signal == SIGINT) std::signal(SIGINT, SIG_DFL);  // the second one ends the program at once
  [[maybe_unused]] const auto ignored = ::write(STDERR_FILENO, message, static_cast<std::size_t>(message_size));
}

}  // namespace

void make_write_signals_errors() {
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);
}

void catch_stop_signals(const std::string& program, const std::string& what) {
  const std::string text =
      "\n" + program + ": signal received, stopping after " + what + " (a second Ctrl-C: at once)\n";
  message_size = static_cast<std::sig_atomic_t>(text.copy(message, sizeof message));
  for (int signal : {SIGTERM, SIGUSR1, SIGXCPU, SIGINT}) std::signal(signal, request_stop);
  if (std::signal(SIGHUP, request_stop) == SIG_IGN) std::signal(SIGHUP, SIG_IGN);
}

bool stop_requested() { return stop_signal != 0; }
void forget_stop_request() { stop_signal = 0; }

}  // namespace common
