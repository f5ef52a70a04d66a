// What scripts/peers measures of Tessera's solvers:
//
//   solver SECONDS LATTICE...     threads by OMP_NUM_THREADS
//
// One line for each case: name, precision, seconds of an iteration. As grid.cpp: M^+ M x = b with the even-odd preconditioned Wilson
// operator of mass 0.1 on links near 1, to a residual of 1e-10.
#include "lib/dirac/preconditioned.hpp"
#include "lib/dirac/wilson.hpp"
#include "lib/gauge/start.hpp"
#include "lib/solver/cg.hpp"

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <vector>

#include "timing.hpp"

using namespace QDP;

int main(int argc, char** argv) {
  if (argc != 2 + Nd) {
    std::fprintf(stderr, "solver: expected SECONDS and %d extents\n", Nd);
    return 2;
  }
  QDP_initialize(&argc, &argv);
  multi1d<int> extents(Nd);
  for (int mu = 0; mu < Nd; ++mu) extents[mu] = std::atoi(argv[2 + mu]);
  Layout::setLattSize(extents);
  Layout::create();
  {
    multi1d<LatticeColorMatrixD> u(Nd);
    qcd::weak_field_start(u);
    const auto d = std::make_shared<qcd::WilsonOperator<LatticeFermionD>>(u, qcd::WilsonParameters{.mass = 0.1});
    const auto m = qcd::make_preconditioned<LatticeFermionD>(d, qcd::Preconditioning::even_odd);
    const qcd::SystemOperator<LatticeFermionD> system{*m};
    LatticeFermionD b = zero, x;
    gaussian(b, m->domain());
    const qcd::CG<LatticeFermionD> cg({1e-10, 10000});
    std::vector<double> seconds;
    for (int n = 0; n < 5; ++n) {  // the first two compile and tune
      x[m->domain()] = zero;
      int iterations = 0;
      const double taken = peers::seconds_once([&] { iterations = cg.solve(x, system, b).iterations; });
      if (n > 1) seconds.push_back(taken / iterations);
    }
    peers::tell("cg", "double", peers::median(seconds));
  }
  QDP_finalize();
  return 0;
}
