#include "apps/bench/timed_session.hpp"

#include <ostream>

#include "apps/bench/statistics.hpp"
#include "jit/runtime.hpp"
#include "qdp.h"
#include "qdp/expr/exchange.hpp"
#include "qdp/layout/lattice.hpp"

namespace bench {

TimedSession::TimedSession(const Options& options, Report& report, std::ostream& out)
    : options_(options), report_(report), out_(out), cases_(options.cases) {}

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
  if (!cases_.want(name)) return;
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

void TimedSession::run_on_ranks(const std::string& name, const Work& work, const std::function<void()>& statement) {
  if (!cases_.want(name)) return;
  using QDP::Layout::logicalSize;
  const QDP::detail::ExchangeTimes before = QDP::detail::exchange_times();
  run(name, work, statement);
  const QDP::detail::ExchangeTimes after = QDP::detail::exchange_times();
  const auto statements = static_cast<double>(after.statements - before.statements);
  if (statements == 0) return;
  const auto each = [&](auto member) { return static_cast<double>(after.*member - before.*member) / statements; };
  using Times = QDP::detail::ExchangeTimes;
  const double inner = each(&Times::inner_sites), faces = each(&Times::face_sites);
  const QDP::multi1d<int>& grid = logicalSize();
  report_.exchanges.push_back({.name = name,
                               .lattice = lattice_,
                               .grid = {grid.begin(), grid.end()},
                               .precision = precision_,
                               .threads = threads_,
                               .lanes = QDP::Layout::Lattice::present().state()->lanes,
                               .seconds = report_.records.back().seconds,
                               .sites = inner + faces,
                               .share_of_faces = faces / (inner + faces),
                               .messages = each(&Times::messages),
                               .bytes = each(&Times::bytes),
                               .pack_seconds = each(&Times::pack),
                               .inner_seconds = each(&Times::inner),
                               .wait_seconds = each(&Times::wait),
                               .faces_seconds = each(&Times::faces)});
  print(out_, report_.exchanges.back());
}

}  // namespace bench
