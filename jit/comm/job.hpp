// Start and end of this process as a rank of a job.
#pragma once

#include <string>

namespace jit {

/// Joins the job, if a launcher started this process as one rank of several, if the program has initialised MPI, or if
/// TESSERA_MPI asks for it: process_communicator() is the job's from now on, the log names the rank, cores are shared
/// with the ranks of this machine, and an exception that nobody catches or exit() with a status other than 0 ends all
/// ranks. Otherwise, and with TESSERA_MPI=0, does nothing. argc and argv: those of main, or nullptr.
/// Throws DeviceError if the job cannot be joined: then this process is no job of its own either, and no communicator works.
void start_ranks(int* argc, char*** argv);

/// The job's communicator is to be over that of the program, known by its Fortran handle; before start_ranks().
void use_ranks_of(int fortran_communicator);

/// The orderly end: waits until all ranks have come, ends MPI if start_ranks() began it. Does nothing the second time, or
/// without a job.
void finish_ranks();

/// For a rank that has failed and whose program will end with `status`. If all ranks leave the job within a second or two, as after
/// an error that all had, returns, and one of those that failed has written `text` to stderr. Otherwise this one writes it and ends
/// the others, and itself with them. Without a job: writes it and returns. No text is written if it is empty.
void fail_ranks(const std::string& text, int status);

}  // namespace jit
