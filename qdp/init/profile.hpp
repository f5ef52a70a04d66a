// QDP++'s profiling hooks, as in a QDP++ that was built without profiling: programs keep their calls, nothing is recorded.
// What takes how long is said, per kernel, by TESSERA_PROFILE=file.
#pragma once

#include <string>

namespace QDP {

using QDPTime_t = unsigned long;

/// Microseconds since 1970.
QDPTime_t getClockTime();

/// Levels stay 0; set... return the old one.
inline int getProfileLevel() { return 0; }
inline int setProfileLevel(int) { return 0; }
inline int getProgramProfileLevel() { return 0; }
inline int setProgramProfileLevel(int) { return 0; }
inline void pushProfileInfo(int, const std::string&, const std::string&, int) {}
inline void popProfileInfo() {}
inline void initProfile(const std::string&, const std::string&, int) {}
inline void closeProfile() {}
inline void printProfile() {}

}  // namespace QDP

#define QDP_PUSH_PROFILE(level) ((void)(level))
#define QDP_POP_PROFILE() ((void)0)
