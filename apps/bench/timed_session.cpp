#include "apps/bench/timed_session.hpp"

#include <ostream>

#include "apps/bench/statistics.hpp"
#include "jit/runtime.hpp"
#include "qdp.h"

namespace bench {

TimedSession::TimedSession(const Options& options, Report& report, std::ostream& out)
    : options_(options), report_(report), out_(out) {}

void TimedSession::set_lattice(const std::vector<int>& lattice) {
  create_lattice(lattice);
  lattice_ = lattice;
}

void TimedSession::set_case(const std::string& suite, Precision precision, int threads) {
  suite_ = suite;
  precision_ = precision;
  threads_ = threads;
  set_threads(threads);
}

void TimedSession::run(const std::string& name, const Work& work, const std::function<void()>& statement) {
  const Timing timing = measure(
      [&](long repeats) {
        for (long n = 0; n < repeats; ++n) statement();
        jit::Runtime::instance().synchronize();
      },
      options_.min_seconds);

  double sites = work.share_of_sites;
  for (const int extent : lattice_) sites *= extent;
  const double bytes = work.words * bytes_of(precision_);
  const double gflops = work.flops * sites / timing.seconds * 1e-9;
  const double gbytes_per_s = bytes * sites / timing.seconds * 1e-9;
  const Ceiling& ceiling = report_.machine.ceiling(precision_, threads_);
  const double copy = ceiling.copy_gbytes_per_s;

  report_.records.push_back({.suite = suite_,
                             .name = name,
                             .lattice = lattice_,
                             .precision = precision_,
                             .device = options_.device,
                             .ranks = QDP::Layout::numNodes(),
                             .threads = threads_,
                             .seconds = timing.seconds,
                             .spread = timing.spread,
                             .sites = sites,
                             .flops_per_site = work.flops,
                             .bytes_per_site = bytes,
                             .gflops = gflops,
                             .gbytes_per_s = gbytes_per_s,
                             .share_of_triad = gbytes_per_s / ceiling.triad_gbytes_per_s,
                             .share_of_fma = gflops / ceiling.fma_gflops,
                             .share_of_copy = copy > 0 ? gbytes_per_s / copy : 0});
  print(out_, report_.records.back());
}

}  // namespace bench
