// What scripts/peers measures of Grid (https://github.com/paboyle/Grid), compiled against a build of it:
//
//   grid SECONDS --grid 8.8.8.8 --threads 2
//
// One line for each case: name, precision, seconds; of an iteration for cg. The hopping term runs with each of Grid's kernels, the
// fastest of which the solver takes.
#include <Grid/Grid.h>

#include <cstdlib>
#include <vector>

#include "timing.hpp"

using namespace Grid;
using peers::seconds_of;

namespace {

template <class Wilson>
void measure(const char* precision, bool solve) {
  using Fermion = typename Wilson::FermionField;
  using Gauge = typename Wilson::GaugeField;
  const auto tell = [&](const char* name, double seconds) { peers::tell(name, precision, seconds); };
  auto extents = GridDefaultLatt();
  GridCartesian whole(extents, GridDefaultSimd(Nd, Wilson::Simd::Nsimd()), GridDefaultMpi());
  GridRedBlackCartesian halves(&whole);
  GridParallelRNG rng(&whole);
  rng.SeedFixedIntegers(std::vector<int>({1, 2, 3, 4}));
  Gauge u(&whole);
  SU<Nc>::TepidConfiguration(rng, u);
  Wilson d(u, whole, halves, 0.1);

  Fermion psi(&whole), chi(&whole), phi(&whole);
  gaussian(rng, psi);
  gaussian(rng, chi);
  Fermion odd(&halves), even(&halves);
  pickCheckerboard(Even, even, psi);
  const struct {
    const char* name;
    int option;
  } kernels[] = {
      {"hop_generic", WilsonKernelsStatic::OptGeneric},
      {"hop_unrolled", WilsonKernelsStatic::OptHandUnroll},
#if defined(AVX512) || defined(A64FX)  // elsewhere it ends the program
      {"hop_assembler", WilsonKernelsStatic::OptInlineAsm},
#endif
  };
  double best = 1e300;
  int best_option = WilsonKernelsStatic::OptGeneric;
  for (const auto& kernel : kernels) {
    WilsonKernelsStatic::Opt = kernel.option;
    const double seconds = seconds_of([&] { d.DhopOE(even, odd, DaggerNo); });
    tell(kernel.name, seconds);
    if (seconds < best) best = seconds, best_option = kernel.option;
  }
  tell("hop", best);
  WilsonKernelsStatic::Opt = best_option;

  tell("axpy", seconds_of([&] { axpy(phi, 0.5, psi, chi); }));
  volatile double sink = 0;
  tell("norm2", seconds_of([&] { sink = norm2(psi); }));
  tell("inner_product", seconds_of([&] { sink = innerProduct(psi, chi).real(); }));
  (void)sink;

  if (!solve) return;
  SchurDiagMooeeOperator<Wilson, Fermion> system(d);
  ConjugateGradient<Fermion> cg(1e-10, 10000, false);
  Fermion b(&halves), x(&halves);
  pickCheckerboard(Odd, b, chi);
  std::vector<double> seconds;
  for (int n = 0; n < 4; ++n) {
    x = Zero();
    x.Checkerboard() = Odd;
    const double taken = peers::seconds_once([&] { cg(system, b, x); });
    if (n > 0) seconds.push_back(taken / cg.IterationsToComplete);  // the first is a warm-up
  }
  tell("cg", peers::median(seconds));
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 1) peers::budget = std::atof(argv[1]);
  Grid_init(&argc, &argv);
  measure<WilsonFermionF>("single", false);
  measure<WilsonFermionD>("double", true);
  Grid_finalize();
  return 0;
}
