#include "qdp/init/flop_counter.hpp"

#include <ostream>

#include "qdp/io/stdio.hpp"
#include "qdp/layout/layout.hpp"
#include "qdp/util/primary.hpp"

namespace QDP {

void FlopCounter::addSiteFlops(unsigned long long flops) {
  count_ += flops * static_cast<unsigned long long>(Layout::sitesOnNode());
}

void FlopCounter::report(const std::string& name, double seconds) const {
  const double mflops = static_cast<double>(count_) / (1e6 * seconds);
  const double total = io::sum(mflops);
  QDPIO::cout << "QDP:FlopCount:" << name << " Performance/CPU: t=" << seconds
              << "(s) Flops=" << static_cast<double>(count_) << " => " << mflops << " Mflops/cpu." << std::endl;
  QDPIO::cout << "QDP:FlopCount:" << name << " Total performance:  " << total << " Mflops = " << total / 1e3
              << " Gflops = " << total / 1e6 << " Tflops" << std::endl;
}

}  // namespace QDP
