#include "jit/cache/shared_kernels.hpp"

#include <pthread.h>
#include <sched.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <cstring>
#include <ctime>
#include <string_view>
#include <utility>

namespace jit {
namespace {

constexpr std::size_t kTurns = 256;
/// Of the process that prepares the head: some microseconds.
constexpr std::chrono::seconds kPatienceAtStart{2};

struct Entry {
  std::uint64_t hash, key_bytes, object_bytes;
};
constexpr std::size_t kAligned = 64;
constexpr std::size_t room_of(const Entry& entry) {
  return (sizeof entry + entry.key_bytes + entry.object_bytes + kAligned - 1) / kAligned * kAligned;
}

/// Held by one thread of all processes; whoever dies lets it go.
void prepare(pthread_mutex_t& mutex) {
  pthread_mutexattr_t kind;
  pthread_mutexattr_init(&kind);
  pthread_mutexattr_setpshared(&kind, PTHREAD_PROCESS_SHARED);
  pthread_mutexattr_setrobust(&kind, PTHREAD_MUTEX_ROBUST);
  pthread_mutex_init(&mutex, &kind);
  pthread_mutexattr_destroy(&kind);
}

/// Whether it is ours now.
bool take(pthread_mutex_t& mutex, double patience) {
  timespec until{};
  ::clock_gettime(CLOCK_REALTIME, &until);
  until.tv_sec += static_cast<std::time_t>(std::ceil(patience));
  const int code = pthread_mutex_timedlock(&mutex, &until);
  if (code == EOWNERDEAD) pthread_mutex_consistent(&mutex);  // what it guards is whole at any moment
  return code == 0 || code == EOWNERDEAD;
}

}  // namespace

struct SharedKernels::Head {
  enum State : std::uint32_t { kNew, kInWork, kReady };
  std::atomic<std::uint32_t> state;
  std::atomic<std::uint64_t> end;  ///< of the entries; 0: there are none
  pthread_mutex_t publishing;
  pthread_mutex_t turns[kTurns];  ///< by the hash of the key

  static constexpr std::size_t first_entry() { return (sizeof(Head) + kAligned - 1) / kAligned * kAligned; }
};
static_assert(std::atomic<std::uint64_t>::is_always_lock_free && std::atomic<std::uint32_t>::is_always_lock_free);

SharedKernels* SharedKernels::of_process() {
  static auto* kernels =
      memory_of_host() == nullptr ? nullptr : new SharedKernels(*memory_of_host());  // to the end of the process
  return kernels;
}

/// nullptr: cannot be had.
SharedKernels::Head* SharedKernels::head() {
  if (head_ != nullptr) return head_;
  if (memory_.size() < Head::first_entry() || !memory_.reserve(0, Head::first_entry())) return nullptr;
  auto* head = reinterpret_cast<Head*>(memory_.at(0));
  std::uint32_t state = Head::kNew;
  if (head->state.compare_exchange_strong(state, Head::kInWork)) {
    prepare(head->publishing);
    for (pthread_mutex_t& turn : head->turns) prepare(turn);
    head->state = Head::kReady;
  }
  for (const auto begin = std::chrono::steady_clock::now(); head->state != Head::kReady; sched_yield())
    if (std::chrono::steady_clock::now() - begin > kPatienceAtStart) return nullptr;
  return head_ = head;
}

SharedKernels::Turn::Turn(Turn&& other) noexcept : mutex_(std::exchange(other.mutex_, nullptr)) {}

SharedKernels::Turn::~Turn() {
  if (mutex_ != nullptr) pthread_mutex_unlock(static_cast<pthread_mutex_t*>(mutex_));
}

SharedKernels::Turn SharedKernels::take_turn(const std::string& key, double patience) {
  Head* const all = head();
  if (all == nullptr) return Turn(nullptr);
  pthread_mutex_t& turn = all->turns[hash_text(key).b % kTurns];
  return Turn(take(turn, patience) ? &turn : nullptr);
}

/// Puts what was published since the last look into the index.
void SharedKernels::look() {
  const std::size_t end = head_->end.load(std::memory_order_acquire);
  if (seen_ == 0) seen_ = Head::first_entry();
  while (seen_ < end) {
    Entry entry{};
    std::memcpy(&entry, memory_.at(seen_), sizeof entry);
    at_.emplace(entry.hash, seen_);
    seen_ += room_of(entry);
  }
}

std::optional<std::string> SharedKernels::find(const std::string& key) {
  if (head() == nullptr) return std::nullopt;
  look();
  std::optional<std::string> found;
  std::size_t place = 0;
  const auto [first, last] = at_.equal_range(hash_text(key).a);
  for (auto i = first; i != last; ++i) {
    if (i->second < place) continue;
    Entry entry{};
    std::memcpy(&entry, memory_.at(i->second), sizeof entry);
    const auto* text = reinterpret_cast<const char*>(memory_.at(i->second + sizeof entry));
    if (std::string_view(text, entry.key_bytes) != key) continue;
    found.emplace(text + entry.key_bytes, entry.object_bytes);
    place = i->second;
  }
  return found;
}

bool SharedKernels::publish(const std::string& key, const std::string& object) {
  Head* const all = head();
  if (all == nullptr || !take(all->publishing, 1)) return false;
  const Turn held(&all->publishing);
  const std::size_t begin = all->end == 0 ? Head::first_entry() : all->end.load();
  const Entry entry{hash_text(key).a, key.size(), object.size()};
  if (!memory_.reserve(begin, room_of(entry))) return false;
  std::memcpy(memory_.at(begin), &entry, sizeof entry);
  std::memcpy(memory_.at(begin + sizeof entry), key.data(), key.size());
  std::memcpy(memory_.at(begin + sizeof entry + key.size()), object.data(), object.size());
  all->end.store(begin + room_of(entry), std::memory_order_release);  // from now on it is there
  return true;
}

}  // namespace jit
