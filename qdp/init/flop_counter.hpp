// Counts floating point operations of this process.
#pragma once

#include <string>

namespace QDP {

class FlopCounter {
 public:
  void reset() { count_ = 0; }
  void addFlops(unsigned long long flops) { count_ += flops; }
  /// flops for each site of this process's lattice. Throws jit::UserError before Layout::create.
  void addSiteFlops(unsigned long long flops);
  /// flops for each site of this process that lies in the subset.
  template <class Subset>
  requires requires(const Subset& s) { s.numSiteTable(); }
  void addSiteFlops(unsigned long long flops, const Subset& s) {
    count_ += flops * static_cast<unsigned long long>(s.numSiteTable());
  }
  unsigned long long getFlops() const { return count_; }

  /// Prints Mflop/s of this process and of all together for `seconds` of work. Collective.
  void report(const std::string& name, double seconds) const;

 private:
  unsigned long long count_ = 0;
};

}  // namespace QDP
