#include "qdp/expr/storage_choice.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "jit/comm/collectives.hpp"
#include "jit/comm/communicator.hpp"
#include "jit/memory/memory.hpp"
#include "jit/runtime.hpp"
#include "jit/support/env.hpp"
#include "jit/support/lock.hpp"
#include "jit/support/log.hpp"
#include "qdp/expr/evaluate.hpp"
#include "qdp/expr/queue.hpp"
#include "qdp/expr/storage.hpp"
#include "qdp/layout/lattice_state.hpp"

namespace QDP::detail {
namespace {

// Until operands that do not change have been gathered (jit/runtime/gathering.hpp); then so many are timed, each behind one that
// brings its own fields into the caches.
constexpr int kWarm = 5, kTimed = 3;
// What a trial takes of the fields' memory: both forms, and copies of their words in the order of their use.
constexpr double kTrialTakes = 4;

enum class Answer : std::uint8_t { no, yes, unknown };
constexpr Answer answer(bool yes) { return yes ? Answer::yes : Answer::no; }

/// What trials have found.
std::map<std::string, bool>& found() {
  static auto* const outcomes = new std::map<std::string, bool>;
  return *outcomes;
}

bool has_room(double bytes) {
  const jit::Memory& memory = jit::Memory::instance();
  return static_cast<double>(memory.live_bytes()) + bytes < static_cast<double>(memory.limit());
}

/// Whether it pays, as far as this rank can tell. `key`: of a trial, "" if there is nothing to try.
Answer answer_here(double bytes, const std::string& key) {
  if (jit::env().two_rows) return answer(*jit::env().two_rows);
  jit::Runtime& runtime = jit::Runtime::instance();
  if (!runtime.has_caches()) return Answer::yes;
  if (runtime.is_small(bytes)) return Answer::no;
  const bool is_timed = !key.empty() && jit::env().tune != jit::Env::Tune::off;
  if (const auto outcome = found().find(key); is_timed && outcome != found().end()) return answer(outcome->second);
  return is_timed && has_room(kTrialTakes * bytes) ? Answer::unknown : answer(runtime.exceeds_caches(bytes));
}

/// The same on all ranks.
Answer answer_of_all(const LatticeState& lattice, double bytes, const std::string& key) {
  if (lattice.grid().size() == 1) return answer_here(bytes, key);
  jit::Communicator& ranks = jit::process_communicator();
  jit::Runtime& runtime = jit::Runtime::instance();
  if (jit::any_of(ranks, !jit::env().two_rows && !runtime.knows_machine(bytes))) {
    ranks.barrier();  // at the same time, so that each finds its share
    runtime.measure_machine();
  }
  Answer first = answer_here(bytes, key);
  ranks.broadcast(&first, sizeof first, 0);
  return first;
}

/// Whether read(true) takes less time than read(false).
bool try_both(const std::function<void(bool)>& read, const std::string& key) {
  using Clock = std::chrono::steady_clock;
  const auto run = [&](bool kept) {
    const Clock::time_point begin = Clock::now();
    read(kept);
    Queue::instance().run();
    jit::Runtime::instance().synchronize();
    return std::chrono::duration<double>(Clock::now() - begin).count();
  };
  std::array<double, 2> shortest{};
  shortest.fill(std::numeric_limits<double>::infinity());
  for (const bool kept : {false, true})
    for (int i = 0; i < kWarm; ++i) run(kept);
  for (int i = 0; i < kTimed; ++i)
    for (const bool kept : {false, true}) {
      run(kept);
      shortest[kept] = std::min(shortest[kept], run(kept));
    }
  jit::log_info("tune", "plain ", shortest[0] * 1e6, " us, in fewer words ", shortest[1] * 1e6, " us: ", key);
  return shortest[1] < shortest[0];
}

}  // namespace

void compact_fields(std::span<FieldOwner* const> fields, Shape shape, const FieldReader& reader) {
  if (fields.empty() || !can_store(FieldStorage::two_rows, shape)) return;
  const jit::RuntimeLock lock;
  const double tolerance = storage_tolerance(FieldStorage::two_rows, shape.word) / 4;
  struct Fitting {
    FieldOwner* owner;
    std::shared_ptr<jit::Field> given;
    FieldStorage storage;
  };
  std::vector<Fitting> fitting;
  for (FieldOwner* const owner : fields)
    if (const FieldStorage storage = fitting_storage(owner->get(shape), shape, tolerance);
        storage != FieldStorage::plain)
      fitting.push_back({owner, owner->get(shape), storage});
  if (fitting.empty()) return;

  const LatticeState& lattice = lattice_of(*fitting.front().given);
  jit::Runtime& runtime = jit::Runtime::instance();
  std::string key;
  if (reader.read != nullptr)
    key = std::to_string(lattice.sites) + " sites, " + std::to_string(runtime.threads()) + " threads, words of " +
          std::to_string(jit::ir::bytes(shape.word)) + " bytes, " + reader.name;
  const double bytes = static_cast<double>(lattice.sites) * static_cast<double>(fields.size()) * shape.bytes();
  const Answer known = answer_of_all(lattice, bytes, key);

  const auto reduced = [&](const Fitting& one, bool kept) {
    return reduced_field(one.given, shape, one.storage, !kept);
  };
  if (known != Answer::unknown) {
    for (Fitting& one : fitting) {
      *one.owner = reduced(one, known == Answer::yes);
      one.given.reset();
    }
    return;
  }
  std::vector<std::shared_ptr<jit::Field>> forms[2];
  for (Fitting& one : fitting) {
    for (const bool kept : {false, true}) forms[kept].push_back(reduced(one, kept));
    *one.owner = forms[0].back();
    one.given.reset();
  }
  const auto bring = [&](bool kept) {
    for (std::size_t i = 0; i < fitting.size(); ++i) *fitting[i].owner = forms[kept][i];
  };
  bool pays = try_both([&](bool kept) { bring(kept), reader.read(reader.self); }, key);
  if (lattice.grid().size() > 1) jit::process_communicator().broadcast(&pays, sizeof pays, 0);
  found()[key] = pays;
  bring(pays);
}

}  // namespace QDP::detail
