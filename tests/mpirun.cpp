#include "tests/mpirun.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <fcntl.h>
#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <sstream>
#include <stdexcept>
#include <thread>
#include <utility>

#include "jit/comm/collectives.hpp"
#include "jit/comm/communicator.hpp"
#include "jit/comm/job.hpp"
#include "jit/runtime.hpp"
#include "qdp/layout/layout.hpp"
#include "tests/grid_of_ranks.hpp"
#include "tests/temporary_folder.hpp"

namespace tests {

namespace {

using Clock = std::chrono::steady_clock;
constexpr int kMostRanks = 64;
/// How long a rank that failed waits for the others: they may be in a collective operation that it will never come to.
constexpr double kPatience = 20;

/// Memory of all ranks, which are processes of one machine. Not messages: those of a case that went wrong would meet them.
struct Page {
  struct Rank {
    std::atomic<unsigned> cases;                   ///< that it has ended
    std::array<std::atomic<unsigned>, 2> verdict;  ///< [number of the case & 1] 1: failed; no rank is two cases ahead
  };
  std::array<Rank, kMostRanks> ranks;
};

struct Job {
  int ranks = 1, rank = 0;
  std::array<int, QDP_ND> grid{};
  Page* page = nullptr;
  int alone = 0;  ///< FilesOfOneRank that live
  unsigned cases = 0;
  std::vector<std::filesystem::path> used;  ///< folders that go at the end of the case
  double limit = 300;
  std::mutex mutex;  ///< of what follows, which the watch reads
  std::string name;
  Clock::time_point begun;
  bool watched = false;
};

Job& job() {
  static Job instance;
  return instance;
}

double seconds_since(Clock::time_point begun) { return std::chrono::duration<double>(Clock::now() - begun).count(); }

/// Ends this process; mpirun ends the others.
[[noreturn]] void end_job(const std::string& text) {
  const std::string line = "rank " + std::to_string(job().rank) + ": FAILED: " + text + "\n";
  std::fflush(nullptr);
  (void)!::write(STDERR_FILENO, line.data(), line.size());
  ::_exit(1);
}

/// Ends the job when a case takes too long, wherever this rank waits.
void watch() {
  for (;;) {
    std::this_thread::sleep_for(std::chrono::milliseconds(500));
    const std::lock_guard lock(job().mutex);
    if (job().watched && seconds_since(job().begun) > job().limit)
      end_job(job().name + ": not done after " + std::to_string(static_cast<int>(job().limit)) + " s");
  }
}

std::array<int, QDP_ND> grid_of(const std::string& text) {
  std::istringstream in(text);
  std::array<int, QDP_ND> grid{};
  for (int& n : grid)
    if (!(in >> n) || n < 1)
      throw std::runtime_error("TEST_GRID: expected " + std::to_string(QDP_ND) + " numbers of ranks, got " + text);
  return grid;
}

Page* common_page() {
  jit::Communicator& all = jit::process_communicator();
  std::string name;
  int file = -1;
  if (job().rank == 0) {
    name = "/dev/shm/tessera_test_XXXXXX";
    file = ::mkstemp(name.data());
    if (file < 0 || ::ftruncate(file, sizeof(Page)) != 0) throw std::runtime_error("no memory to share: " + name);
  }
  jit::broadcast(all, name, 0);
  if (job().rank != 0) file = ::open(name.c_str(), O_RDWR);
  void* page = ::mmap(nullptr, sizeof(Page), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (file < 0 || page == MAP_FAILED) throw std::runtime_error("cannot share memory: " + name);
  ::close(file);
  all.barrier();
  if (job().rank == 0) ::unlink(name.c_str());
  return static_cast<Page*>(page);
}

}  // namespace

void join_job(int* argc, char*** argv) {
  const char* grid = std::getenv("TEST_GRID");
  if (grid == nullptr) return;
  Job& j = job();
  j.grid = grid_of(grid);
  if (const char* seconds = std::getenv("TEST_CASE_SECONDS")) j.limit = std::atof(seconds);
  jit::start_ranks(argc, argv);
  jit::Communicator& all = jit::process_communicator();
  j.rank = all.rank();
  j.ranks = all.size();
  if (j.ranks > kMostRanks) throw std::runtime_error("TEST_GRID: too many ranks");
  share_out(j.grid);
  j.page = common_page();
  std::thread(watch).detach();
}

void leave_job() {
  if (job().page != nullptr) jit::finish_ranks();
}

int job_ranks() { return job().ranks; }
int job_rank() { return job().rank; }

void begin_case(const std::string& name) {
  const std::lock_guard lock(job().mutex);
  job().name = name;
  job().begun = Clock::now();
  job().watched = true;
}

std::vector<int> agree(bool failed) {
  Job& j = job();
  if (j.page == nullptr) return failed ? std::vector<int>{0} : std::vector<int>{};
  const unsigned parity = j.cases & 1;
  auto& mine = j.page->ranks[static_cast<std::size_t>(j.rank)];
  mine.verdict[parity] = failed;
  mine.cases = ++j.cases;
  const auto first = j.page->ranks.begin(), last = first + j.ranks;
  const auto behind = [&](const Page::Rank& other) { return other.cases < j.cases; };
  for (const auto begun = Clock::now(); std::any_of(first, last, behind);) {
    if (failed && seconds_since(begun) > kPatience) {
      std::string others;
      for (auto other = first; other != last; ++other)
        if (behind(*other)) others += " " + std::to_string(other - first);
      end_job(j.name + ": this rank has failed, and these are still in it:" + others);
    }
    std::this_thread::sleep_for(std::chrono::microseconds(200));
  }
  std::error_code ignored;
  for (const auto& folder : j.used) std::filesystem::remove_all(folder, ignored);
  j.used.clear();
  const std::lock_guard lock(j.mutex);
  j.watched = false;
  std::vector<int> bad;
  for (auto other = first; other != last; ++other)
    if (other->verdict[parity] != 0) bad.push_back(static_cast<int>(other - first));
  return bad;
}

bool can_share_out(const int* extents) {
  for (std::size_t mu = 0; mu < job().grid.size(); ++mu)
    if (job().ranks > 1 && extents[mu] % job().grid[mu] != 0) return false;
  return true;
}

void must_share_out(const int* extents) {
  if (can_share_out(extents)) return;
  std::string reason = "the grid of ranks does not divide the lattice";
  for (std::size_t mu = 0; mu < job().grid.size(); ++mu) reason += (mu ? "x" : " ") + std::to_string(extents[mu]);
  leave_case(reason);
}

void remove_after_use(const std::filesystem::path& folder) {
  std::error_code ignored;
  if (job().ranks == 1 || job().alone > 0)
    std::filesystem::remove_all(folder, ignored);
  else if (job().rank == 0)
    job().used.push_back(folder);
}

FilesOfOneRank::FilesOfOneRank() { ++job().alone; }
FilesOfOneRank::~FilesOfOneRank() { --job().alone; }

bool writes() { return job().rank == 0 || job().alone > 0; }

std::string of_writer(std::string text) { return job().alone > 0 ? text : of_first_rank(std::move(text)); }

void meet() {
  if (job().ranks > 1 && job().alone == 0) jit::process_communicator().barrier();
}

std::string of_first_rank(std::string text) {
  if (job().ranks > 1) jit::broadcast(jit::process_communicator(), text, 0);
  return text;
}

}  // namespace tests
