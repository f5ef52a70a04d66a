#include "qdp/init/profile.hpp"

#include <chrono>

namespace QDP {

QDPTime_t getClockTime() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return static_cast<QDPTime_t>(std::chrono::duration_cast<std::chrono::microseconds>(now).count());
}

}  // namespace QDP
