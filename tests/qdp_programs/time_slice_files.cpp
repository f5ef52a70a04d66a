// Propagators written time slice by time slice, read back in another order; counters of operations; a stopwatch's sanity.
#include "qdp.h"
#include "qdp_disk_map_slice.h"
using namespace QDP;

namespace {

class TimeSlices : public SetFunc {
 public:
  int operator()(const multi1d<int>& x) const { return x[Nd - 1]; }
  int numSubsets() const { return Layout::lattSize()[Nd - 1]; }
};

// Counts and times whatever is called.
template <typename Function>
bool timed(const Function& f, FlopCounter& flops, unsigned long per_site) {
  StopWatch watch;
  watch.reset();
  watch.start();
  f();
  watch.stop();
  flops.addSiteFlops(per_site);
  const double us = watch.getTimeInMicroseconds(), s = watch.getTimeInSeconds();
  return us >= 0 && s >= 0 && std::fabs(us * 1e-6 - s) <= 1e-6 + 1e-3 * s;
}

}  // namespace

int main(int argc, char** argv) {
  QDP_initialize(&argc, &argv);
  multi1d<int> nrow(Nd);
  nrow = 2;
  nrow[0] = 4;
  nrow[Nd - 1] = 4;
  Layout::setLattSize(nrow);
  Layout::create();
  Set slices;
  slices.make(TimeSlices());

  LatticePropagator q, r = zero;
  random(q);
  {
    BinaryFileWriter out("slices.bin");
    for (int t = nrow[Nd - 1] - 1; t >= 0; --t) {
      TimeSliceIO<LatticePropagator> io(q, t);
      write(out, t);
      write(out, io);
    }
    out.close();
  }
  BinaryFileReader in("slices.bin");
  for (int n = 0; n < 2; ++n) {
    int t;
    read(in, t);
    TimeSliceIO<LatticePropagator> io(r, t);
    read(in, io);
    QDPIO::cout << t << " " << io.getTimeSlice() << " " << norm2(r - q, slices[t]) << " " << norm2(r) << std::endl;
  }
  in.close();
  QDPIO::cout << norm2(r, slices[0]) << " " << (norm2(r, slices[3]) == norm2(q, slices[3])) << std::endl;
  try {
    TimeSliceIO<LatticePropagator> outside(q, 4);
    QDPIO::cout << "a slice outside" << std::endl;
  } catch (const std::string& e) {
    QDPIO::cout << "caught a string, empty " << e.empty() << std::endl;
  }

  FlopCounter flops;
  flops.reset();
  LatticeComplex z;
  bool sane = timed([&] { z = trace(adj(q) * q); }, flops, 100);
  sane = timed([&] { z = localInnerProduct(q, r); }, flops, 50) && sane;
  QDPIO::cout << sane << " " << long(flops.getFlops()) << std::endl;
  flops.addSiteFlops(10, slices[1]);
  flops.addFlops(7);
  const FlopCounter copy = flops;
  QDPIO::cout << long(copy.getFlops()) << std::endl;
  flops.reset();
  QDPIO::cout << long(flops.getFlops()) << " " << long(copy.getFlops()) << std::endl;

  QDP_finalize();
  return 0;
}
