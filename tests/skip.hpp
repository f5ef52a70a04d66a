// Leaving a test case that cannot run on this machine, so that it shows as skipped instead of passed.
#pragma once

#include <string>

namespace tests {

/// Prints "SKIP: reason" and counts the running case as skipped. A program whose cases were all skipped exits with 77,
/// which CTest shows as "Skipped".
void note_skipped(const std::string& reason);

/// The same from anywhere within a case, which ends here.
[[noreturn]] void leave_case(const std::string& reason);
/// What it throws: not for tests to catch.
struct CaseLeft {};

}  // namespace tests

/// Ends the running test case as skipped.
#define TESSERA_SKIP(reason)                                                                                           \
  do {                                                                                                                 \
    ::tests::note_skipped(reason);                                                                                     \
    return;                                                                                                            \
  } while (false)
