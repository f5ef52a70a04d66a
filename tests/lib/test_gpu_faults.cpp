// Every allocation, launch and copy of a trajectory on a GPU fails once, in turn: the trajectory ends as if nothing had
// been, or in an error that says what failed. And the process goes on as before.
//
// CI takes a sample; QCD_ENSEMBLE_TESTS=1 takes them all (minutes).
#include "jit/gpu/sim_driver.hpp"
#include "jit/memory/deferred.hpp"
#include "jit/memory/residency.hpp"
#include "tests/lib/simulated_gpu.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

using namespace QDP;

namespace {

[[maybe_unused]] const bool simulated = tests::compute_on_simulated_gpu();

/// Where a trajectory ends.
struct End {
  std::vector<std::byte> links;  ///< all of them, as the host sees them
  double delta_h = 0;
  bool accepted = false;
  std::vector<int> seed;
  bool operator==(const End&) const = default;
};

void append(std::vector<std::byte>& bytes, const LatticeColorMatrix& field) {
  const std::size_t old = bytes.size(), sites = static_cast<std::size_t>(Layout::sitesOnNode());
  bytes.resize(old + sites * sizeof(field.elem(0)));
  std::memcpy(bytes.data() + old, &field.elem(0), sites * sizeof(field.elem(0)));
}

/// A trajectory from nothing: layout, tables, start and generator are new each time, so their calls may fail too.
/// 64 sites fill whole groups: fields are re-ordered on the device.
End trajectory() {
  tests::use_lattice({4, 4, 2, 2});
  tests::GaugeField u(Nd);
  qcd::weak_field_start(u);
  const qcd::TrajectoryResult result = tests::two_flavor_dynamics().run(u);
  End end{.links = {}, .delta_h = result.delta_h, .accepted = result.accepted, .seed = {}};
  for (int mu = 0; mu < Nd; ++mu) append(end.links, u[mu]);
  Seed seed;
  RNG::savern(seed);
  for (int i = 0; i < 4; ++i) end.seed.push_back(seed.elem().elem().elem(i).elem());
  return end;
}

/// What is allocated when no program runs.
struct Held {
  std::size_t device_bytes = 0, host_bytes = 0, free_on_device = 0;
  std::int64_t device_blocks = 0, host_blocks = 0, fields = 0;
  bool operator==(const Held&) const = default;
};
std::ostream& operator<<(std::ostream& out, const Held& h) {
  return out << h.device_bytes << " bytes in " << h.device_blocks << " blocks on the device, " << h.host_bytes
             << " bytes in " << h.host_blocks << " blocks on the host, " << h.fields << " fields, free on the device "
             << h.free_on_device;
}

Held held() {
  jit::run_deferred();               // what nobody can read any more, too, waits with its operands
  tests::use_lattice({4, 4, 2, 2});  // the tables of the old one go
  RNG::finalizeRNG();
  jit::Memory &device = jit::Memory::instance(), &host = jit::Memory::host();
  device.release_kept();
  return {.device_bytes = device.live_bytes(),
          .host_bytes = host.live_bytes(),
          .free_on_device = tests::gpu().driver().free_memory(),
          .device_blocks = device.live_blocks(),
          .host_blocks = host.live_blocks(),
          .fields = jit::Residency::instance().resident_fields()};
}

struct Kind {
  std::string name;
  std::int64_t jit::SimulatedCounts::* count;
  std::vector<std::string> words;  ///< of the error
};
const std::vector<Kind> kKinds = {
    {"allocation", &jit::SimulatedCounts::allocations, {"out of memory on \"sim\""}},
    {"launch", &jit::SimulatedCounts::launches, {"simulated fault: launch ", "kernel "}},
    {"copy", &jit::SimulatedCounts::copies, {"simulated fault: copy ", " after kernel "}}};

/// 1..calls, or 30 of them at equal distances, the first and the last included.
std::vector<std::int64_t> sample(std::int64_t calls) {
  const std::int64_t count = std::getenv("QCD_ENSEMBLE_TESTS") != nullptr ? calls : std::min<std::int64_t>(calls, 30);
  std::vector<std::int64_t> chosen;
  for (std::int64_t i = 0; i < count; ++i) chosen.push_back(1 + i * (calls - 1) / (count - 1));
  return chosen;
}

struct Tally {
  std::int64_t survived = 0, refused = 0;
};

/// Whether the present statement needed all that was on the device.
bool nothing_could_leave(const std::string& error) {
  const std::size_t at = error.find(" of fields, ");
  long resident = 0, needed = 0;
  return at != std::string::npos &&
         std::sscanf(error.c_str() + at, " of fields, %ld fields resident, %ld of them needed", &resident, &needed) ==
             2 &&
         resident == needed;
}

/// Lets the n-th call of a kind fail, for each n.
Tally fail_each(const Kind& kind, const End& undisturbed, const jit::SimulatedCounts& calls, const Held& nothing) {
  Tally tally;
  for (const std::int64_t n : sample(calls.*kind.count)) {
    CAPTURE(n);
    jit::SimulatedCounts faults;
    faults.*kind.count = n;
    std::string error;
    try {
      jit::set_simulated_faults(faults);
      const End end = trajectory();
      CHECK(end == undisturbed);
      ++tally.survived;
    } catch (const jit::Error& caught) {
      error = caught.what();
      ++tally.refused;
      CAPTURE(error);
      for (const std::string& word : kind.words) CHECK_MESSAGE(error.find(word) != std::string::npos, error);
      if (kind.count == &jit::SimulatedCounts::allocations) CHECK_MESSAGE(nothing_could_leave(error), error);
    }
    jit::set_simulated_faults({});
    CHECK(held() == nothing);
    if (error.empty()) continue;
    CHECK(trajectory() == undisturbed);
    CHECK(held() == nothing);
  }
  return tally;
}

jit::SimulatedCounts operator-(const jit::SimulatedCounts& a, const jit::SimulatedCounts& b) {
  return {a.allocations - b.allocations, a.launches - b.launches, a.copies - b.copies};
}

void check_all() {
  jit::Residency::instance().reset_transfers();
  trajectory();  // compiles
  const Held nothing = held();
  CHECK(nothing.fields == 0);
  const jit::SimulatedCounts before = jit::simulated_counts();
  const End undisturbed = trajectory();
  const jit::SimulatedCounts calls = jit::simulated_counts() - before;
  CHECK(std::isfinite(undisturbed.delta_h));
  CHECK(held() == nothing);
  for (const Kind& kind : kKinds) {
    CAPTURE(kind.name);
    CHECK(calls.*kind.count > 10);
    const Tally tally = fail_each(kind, undisturbed, calls, nothing);
    MESSAGE(calls.*kind.count, " calls of kind ", kind.name, ": survived ", tally.survived, ", refused ",
            tally.refused);
    // The first allocation finds nothing that could make room; all others find fields to drive out or to do without. With
    // statements that wait the first programs have the device to themselves.
    if (kind.count != &jit::SimulatedCounts::allocations)
      CHECK(tally.refused > 0);
    else if (!jit::env().fuse)
      CHECK(tally.refused <= 1);
  }
}

/// Of statements that wait, and of those that do not.
void check_both() {
  check_all();
  tests::set_variable("TESSERA_FUSE", "0");
  check_all();
  tests::set_variable("TESSERA_FUSE", nullptr);
}

}  // namespace

TEST_CASE("each allocation, launch and copy of a trajectory may fail once") { check_both(); }

TEST_CASE("the same where every field leaves the device after each statement") {
  tests::set_variable("TESSERA_SPILL", "1");
  check_both();
  CHECK(jit::Residency::instance().transfers().spilled > 0);
  tests::set_variable("TESSERA_SPILL", nullptr);
}

TEST_CASE("the same in a quarter of the memory") {
  trajectory();
  jit::Memory& memory = jit::Memory::instance();
  memory.set_limit(memory.peak_bytes() / 4);
  check_both();
  CHECK(jit::Residency::instance().transfers().spilled > 0);
  memory.set_limit(0);
}

TEST_CASE("a statement that fails at once leaves its destination as it was, and done again it is right") {
  tests::set_variable("TESSERA_FUSE", "0");  // one that fails later has lost it: qdp/queue
  for (const bool spill : {false, true}) {
    tests::set_variable("TESSERA_SPILL", spill ? "1" : nullptr);
    tests::use_lattice({4, 4, 2, 2});
    LatticeColorMatrix a, b, old, to;
    gaussian(a);
    gaussian(b);
    gaussian(old);
    const auto words = [](const LatticeColorMatrix& field) {
      std::vector<std::byte> bytes;
      append(bytes, field);
      return bytes;
    };
    const std::vector<std::function<void()>> statements = {
        [&] { to = a * b; },
        [&] { to = a * to; },
        [&] { to[rb[1]] = a * adj(b); },
        [&] { to = to + shift(to, FORWARD, 0); },
        [&] { gaussian(to); },
    };
    // Where the destination is valid: on the GPU, on both sides, on the host.
    const std::vector<std::function<void()>> places = {[] {}, [&] { words(to); }, [&] { to.elem(0); }};
    for (std::size_t s = 0; s < statements.size(); ++s)
      for (std::size_t p = 0; p < places.size(); ++p)
        for (const Kind& kind : kKinds) {
          std::int64_t failed = 0;
          for (bool done = false; !done;) {
            CAPTURE(spill);
            CAPTURE(s);
            CAPTURE(p);
            CAPTURE(kind.name);
            CAPTURE(failed);
            const auto start = [&] {
              RNG::setrn(qcd::make_seed({5, 0, 0, 0}));
              to = old;
              places[p]();
              jit::Memory::instance().release_kept();
            };
            start();
            statements[s]();
            const std::vector<std::byte> right = words(to);
            start();
            const std::vector<std::byte> before = words(old);
            jit::SimulatedCounts faults;
            faults.*kind.count = failed + 1;
            jit::set_simulated_faults(faults);
            const jit::SimulatedCounts calls = jit::simulated_counts();
            try {
              statements[s]();
              done = (jit::simulated_counts() - calls).*kind.count <= failed;  // none of its calls failed
            } catch (const jit::DeviceError&) {
              jit::set_simulated_faults({});
              CHECK(words(to) == before);
              statements[s]();
            }
            jit::set_simulated_faults({});
            CHECK(words(to) == right);
            REQUIRE(++failed < 20);
          }
          if (kind.name == "launch") CHECK(failed > 1);
        }
  }
  tests::set_variable("TESSERA_SPILL", nullptr);
  tests::set_variable("TESSERA_FUSE", nullptr);
}
