// What this process has of its machine, of which other ranks of its job may have the rest.
#pragma once

namespace jit {

/// Those that the system lets it use, unless set_cores_of_process() has said otherwise. Those that several ranks of a job
/// share count in part, so that it may be less than one.
double cores_of_process();

/// For the start of a process, before there are threads. Throws nothing.
void set_cores_of_process(double cores);

/// How many ranks of the job on this machine come before this process; 0 without a job.
int rank_on_host();
/// How many ranks of the job this machine has, with this process; 1 without a job.
int ranks_on_host();
/// For the start of a process. Throws nothing.
void set_rank_on_host(int rank, int ranks);

}  // namespace jit
