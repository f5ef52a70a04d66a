// How many processor cores this process has for itself.
#pragma once

namespace jit {

/// Those that the system lets it use, unless set_cores_of_process() has said otherwise. Those that several ranks of a job
/// share count in part, so that it may be less than one.
double cores_of_process();

/// For the start of a process, before there are threads. Throws nothing.
void set_cores_of_process(double cores);

}  // namespace jit
