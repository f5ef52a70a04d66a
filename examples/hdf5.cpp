// Results for other programs: a correlator, what it was made with, and the field that it is of, in a file of HDF5. h5py, h5dump and the like
// read it as well.
//
//   example_hdf5

#include "qdp.h"

using namespace QDP;

/// The time slice of a site.
struct TimeSlice : SetFunc {
  int operator()(const multi1d<int>& x) const override { return x[Nd - 1]; }
  int numSubsets() const override { return Layout::lattSize()[Nd - 1]; }
};

int main(int argc, char** argv) {
  QDP_initialize(&argc, &argv);
  multi1d<int> extents(Nd);
  extents = 4;
  extents[Nd - 1] = 8;
  Layout::setLattSize(extents);
  Layout::create();

  LatticeFermion psi;
  gaussian(psi);
  Set slices;
  slices.make(TimeSlice());
  const multi1d<Double> sums = sumMulti(localNorm2(psi), slices);
  multi1d<double> correlator(sums.size());
  for (int t = 0; t < sums.size(); ++t) correlator[t] = toDouble(sums[t]);

  HDF5Writer out("example.h5", HDF5Base::trunc);
  out.push("run1");
  out.write("psi", psi);  // extents t z y x, then the 24 numbers of a site
  out.write("norm", correlator);
  out.writeAttribute("norm", "source", "gaussian numbers");
  out.writeAttribute("norm", "sites", static_cast<int>(Layout::vol()));
  out.close();

  HDF5Reader in("example.h5");
  in.cd("run1");
  LatticeFermion again;
  multi1d<double> norm;
  in.read("psi", again);
  in.read("norm", norm);
  for (int t = 0; t < norm.size(); ++t) QDPIO::cout << t << " " << norm[t] << "\n";
  QDPIO::cout << "difference " << norm2(again - psi) << "\n";
  QDP_finalize();
}
