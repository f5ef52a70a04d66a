// Signals of the programs: which ones ask to stop, and that a closed pipe or a size limit is an error like a full disk.
#pragma once

#include <string>

namespace common {

/// SIGPIPE and SIGXFSZ no longer end the process: the write fails instead, and what it belongs to says so.
void make_write_signals_errors();

/// From now on SIGTERM, SIGUSR1, SIGHUP (unless nohup ignores it), SIGXCPU and SIGINT ask to stop, and say at once on the
/// terminal that the program stops after `what` ("this trajectory"). A second SIGINT ends the program at once.
void catch_stop_signals(const std::string& program, const std::string& what);

bool stop_requested();
void forget_stop_request();

}  // namespace common
