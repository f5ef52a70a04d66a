// tests/ranks.hpp for processes that mpirun has started: the first so many of them run the body, over a communicator that the
// program has split off and the plug-in's copy of it.
#include "tests/ranks.hpp"

#include <mpi.h>

#include <cstdlib>
#include <memory>
#include <stdexcept>
#include <utility>

#include "jit/comm/collectives.hpp"
#include "jit/comm/mpi_ranks.hpp"
#include "jit/comm/plugin.hpp"

namespace {

/// On a machine that the test invents.
struct NamedRanks : jit::MpiRanks {
  std::string name;
  NamedRanks(jit::mpi::Job* job, std::string n) : MpiRanks(job), name(std::move(n)) {}
  std::string host() const override { return name.empty() ? MpiRanks::host() : name; }
};

std::unique_ptr<NamedRanks> open(MPI_Comm communicator, const std::string& host) {
  static const jit::Plugin plugin = jit::load_plugin();
  if (plugin.open == nullptr) throw std::runtime_error("no plug-in for MPI");
  const int handle = MPI_Comm_c2f(communicator);
  const jit::mpi::Wanted wanted{nullptr, nullptr, &handle};
  jit::mpi::Job* job = nullptr;
  if (const auto failure = plugin.open(&wanted, &job)) throw std::runtime_error(failure);
  return std::make_unique<NamedRanks>(job, host);
}

jit::Communicator& world() {
  static const auto all = [] {
    int level = 0;
    MPI_Init_thread(nullptr, nullptr, MPI_THREAD_SERIALIZED, &level);
    std::atexit([] { MPI_Finalize(); });
    return open(MPI_COMM_WORLD, "");
  }();
  return *all;
}

std::string run(int ranks, const std::function<std::string(jit::Communicator&)>& body, const std::string& host) {
  MPI_Comm part = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, world().rank() < ranks ? 0 : MPI_UNDEFINED, world().rank(), &part);
  if (part == MPI_COMM_NULL) return "";
  auto opened = open(part, host);
  NamedRanks* const mine = opened.get();
  auto before = jit::replace_process_communicator(std::move(opened));
  std::string text;
  try {
    text = "r" + body(*mine);
  } catch (const std::exception& error) {
    text = std::string("e") + error.what();
  }
  if (mine->leave(false, -1) != ranks) text = "e a rank that failed";
  mine->close(false);
  jit::replace_process_communicator(std::move(before));
  MPI_Comm_free(&part);
  return text;
}

}  // namespace

std::vector<std::string> tests::texts_on_ranks(int ranks, const std::function<std::string(jit::Communicator&)>& body,
                                               const std::vector<std::string>& hosts) {
  jit::Communicator& all = world();
  if (ranks > all.size()) throw std::runtime_error("mpirun -np " + std::to_string(ranks) + " or more");
  const auto rank = static_cast<std::size_t>(all.rank());
  const std::string mine = run(ranks, body, rank < hosts.size() ? hosts[rank] : "");
  std::vector<std::string> texts;
  std::string failures;
  for (int r = 0; r < ranks; ++r) {
    std::string text = mine;
    jit::broadcast(all, text, r);
    if (text.front() == 'e') failures += "rank " + std::to_string(r) + ": " + text.substr(1) + "\n";
    texts.push_back(text.substr(1));
  }
  if (!failures.empty()) throw std::runtime_error(failures);
  return texts;
}
