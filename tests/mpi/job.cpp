// A program that tests start under mpirun: it does what its first argument says, on all ranks.
#include <omp.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include "jit/comm/collectives.hpp"
#include "jit/gpu/process_device.hpp"
#include "jit/runtime.hpp"
#include "jit/support/log.hpp"
#include "qdp.h"

namespace {

jit::Communicator& ranks() { return jit::process_communicator(); }
bool is_one() { return ranks().rank() == 1; }
/// What ranks do that do not fail: they wait for the one that does.
void wait_for_all() {
  ranks().barrier();
  std::this_thread::sleep_for(std::chrono::seconds(120));
}

int hello() {
  QDP::QDPIO::cout << "once, from " << QDP::Layout::numNodes() << std::endl;
  int sum = ranks().rank();
  QDP::QDPInternal::globalSum(sum);
  const double of_rank[] = {1e16, 1, -1e16};
  double exact = ranks().rank() < 3 ? of_rank[ranks().rank()] : 0;
  QDP::QDPInternal::globalSum(exact);
  QDP::QDPIO::cout << "sum " << sum << (exact == (ranks().size() < 3 ? 1e16 + ranks().size() - 1 : 1) ? ", exact" : "")
                   << std::endl;
  jit::log_warn("test", "a line of each");
  return 0;
}

int threads() {
  std::printf("rank %d: %d of the run time, %d of OpenMP\n", ranks().rank(), QDP::qdpNumThreads(),
              omp_get_max_threads());
  return 0;
}

int device() {
  std::printf("rank %d: %s\n", ranks().rank(), jit::process_device().name().c_str());
  return 0;
}

/// Some statements, and how many kernels each rank has compiled for them.
int compilations() {
  QDP::multi1d<int> extents(QDP::Nd);
  extents = 4;
  QDP::Layout::setLattSize(extents);
  QDP::Layout::create();
  QDP::LatticeColorMatrix u, v;
  QDP::gaussian(u);
  v = u * u;
  for (int mu = 0; mu < QDP::Nd; ++mu) v += u * QDP::shift(v * u, FORWARD, mu);
  const double norm = QDP::toDouble(QDP::norm2(v));
  std::printf("rank %d: %lld compilations, %a\n", ranks().rank(),
              static_cast<long long>(jit::Runtime::instance().compilations()), norm);
  return 0;
}

int fail(bool here) {
  if (here) {
    QDP::QDP_failed("the message");
    return 4;
  }
  wait_for_all();
  return 0;
}

/// On a lattice of 4^Nd sites; `wide`: rank 1 makes another one.
int lattice(bool wide) {
  QDP::multi1d<int> extents(QDP::Nd);
  extents = 4;
  if (wide && is_one()) extents[0] = 8;
  QDP::Layout::setLattSize(extents);
  QDP::Layout::create();
  QDP::LatticeColorMatrix u, v;
  QDP::gaussian(u);
  v = u * QDP::shift(QDP::adj(u), FORWARD, QDP::Nd - 1) + QDP::shift(u, BACKWARD, 0) * u;
  char text[64];
  std::snprintf(text, sizeof text, "norm %a\n", QDP::toDouble(QDP::norm2(v)));
  QDP::QDPIO::cout << text;
  return 0;
}

/// A gauge field to a file and back; `full`: no rank has room for all of it.
int save(const std::string& path, bool full) {
  QDP::multi1d<int> extents(QDP::Nd);
  extents = 8;
  QDP::Layout::setLattSize(extents);
  QDP::Layout::create();
  QDP::multi1d<QDP::LatticeColorMatrix> u(QDP::Nd), v;
  for (int mu = 0; mu < QDP::Nd; ++mu) QDP::gaussian(u[mu]);
  if (full) {
    std::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{.rlim_cur = 20000, .rlim_max = 20000};
    setrlimit(RLIMIT_FSIZE, &limit);
  }
  QDP::XMLBufferWriter file_xml, record_xml;
  for (QDP::XMLBufferWriter* xml : {&file_xml, &record_xml}) push(*xml, "x"), pop(*xml);
  QDP::QDPFileWriter file(file_xml, path, QDP::QDPIO_SINGLEFILE, QDP::QDPIO_PARALLEL);
  write(file, record_xml, u);
  close(file);
  QDP::XMLReader xml;
  QDP::QDPFileReader in(xml, path, QDP::QDPIO_PARALLEL);
  read(in, xml, v);
  double difference = 0;
  for (int mu = 0; mu < QDP::Nd; ++mu) difference += QDP::toDouble(QDP::norm2(u[mu] - v[mu]));
  QDP::QDPIO::cout << "difference " << difference << ", checksum " << in.verdict() << std::endl;
  return 0;
}

int exchange(std::size_t bytes) {
  const int partner = ranks().rank() ^ 1;
  std::vector<char> mine(bytes, static_cast<char>('a' + ranks().rank())), other(bytes);
  mine.back() = static_cast<char>('0' + ranks().rank());
  if (partner < ranks().size()) {
    const auto in = ranks().incoming(other.data(), bytes, partner), out = ranks().outgoing(mine.data(), bytes, partner);
    in->start();
    out->start();
    in->wait();
    out->wait();
    const bool right =
        other.front() == 'a' + partner && other[bytes / 2] == 'a' + partner && other.back() == '0' + partner;
    if (!right) QDP::QDP_abort(9);
  }
  ranks().broadcast(other.data(), bytes, 0);  // what rank 0 has received
  const bool right = other.front() == 'b' && other[bytes / 2] == 'b' && other.back() == '1';
  if (!right) QDP::QDP_abort(8);
  QDP::QDPIO::cout << "exchanged " << bytes << std::endl;
  return 0;
}

int messages_per_second() {
  char x = 0;
  const int partner = ranks().rank() ^ 1;
  const auto in = ranks().incoming(&x, 1, partner), out = ranks().outgoing(&x, 1, partner);
  constexpr int kRounds = 2000;
  const auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < kRounds; ++i) {
    in->start();
    out->start();
    in->wait();
    out->wait();
  }
  const std::chrono::duration<double, std::micro> time = std::chrono::steady_clock::now() - begin;
  QDP::QDPIO::cout << time.count() / kRounds << " us for an exchange" << std::endl;
  return 0;
}

/// Rank 1 stays away from an operation of all.
int late(const std::string& what) {
  if (is_one()) std::this_thread::sleep_for(std::chrono::seconds(120));
  std::vector<int> x(static_cast<std::size_t>(ranks().size()));
  if (what == "late_broadcast") ranks().broadcast(x.data(), sizeof(int), 1);
  if (what == "late_gathering") ranks().gather(&what, 1, x.data());
  if (what == "late_barrier") ranks().barrier();
  if (what == "late_combination") ranks().combine(x.data(), sizeof(int), 1, [](void*, const void*, std::size_t) {});
  return 0;
}

/// A process that a rank forks off is no rank: its end is nobody's.
int fork_off() {
  if (is_one()) {
    std::fflush(nullptr);
    const pid_t child = fork();
    if (child == 0) std::exit(3);
    int status = 0;
    waitpid(child, &status, 0);
    std::printf("child %d\n", WEXITSTATUS(status));
  }
  return hello();
}

int run(const std::string& what, const std::string& more) {
  if (what == "hello") return hello();
  if (what == "threads") return threads();
  if (what == "device") return device();
  if (what == "compilations") return compilations();
  if (what == "fork") return fork_off();
  if (what == "fail_one") return fail(is_one());
  if (what == "fail_all") return fail(true);
  if (what == "throw_one" && is_one()) throw jit::UserError("the message");
  if (what == "throw_all") throw jit::UserError("the message");
  if (what == "exit_one" && is_one()) std::exit(3);
  if (what == "exit_all") std::exit(3);
  if (what == "exit_in_peace") std::exit(0);
  if (what == "exit_one_in_peace" && is_one()) std::exit(0);
  if (what == "abort_one" && is_one()) QDP::QDP_abort(5);
  if (what == "kill_one" && is_one()) std::raise(SIGKILL);
  if (what == "late" && is_one()) std::this_thread::sleep_for(std::chrono::seconds(120));
  if (what.starts_with("late_")) return late(what);
  if (what == "late") {
    int x = 0;
    ranks().receive(&x, sizeof x, 1);
  }
  if (what == "lattice" || what == "lattice_of_one") return lattice(what == "lattice_of_one");
  if (what == "save" || what == "save_full") return save(more, what == "save_full");
  if (what == "exchange") return exchange(std::strtoull(more.c_str(), nullptr, 10));
  if (what == "latency") return messages_per_second();
  wait_for_all();
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  QDP::QDP_initialize(&argc, &argv);
  const int status = run(argc > 1 ? argv[1] : "hello", argc > 2 ? argv[2] : "");
  QDP::QDP_finalize();
  return status;
}
