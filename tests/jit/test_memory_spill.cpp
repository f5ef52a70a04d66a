// Device memory as a cache: more fields than fit, against plain arrays, and every way in which memory can run out.
#include <doctest/doctest.h>

#include <array>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "jit/device/cpu_device.hpp"
#include "jit/gpu/process_device.hpp"
#include "jit/ir/site_layout.hpp"
#include "jit/memory/field.hpp"
#include "jit/memory/memory.hpp"
#include "jit/memory/relayout.hpp"
#include "jit/memory/residency.hpp"
#include "jit/support/error.hpp"
#include "tests/jit/separate_device.hpp"
#include "tests/jit/site_orders.hpp"

using namespace jit;
using ir::Type;

namespace {

// Before anything opens the process's device, which the last cases use.
[[maybe_unused]] const int simulated = setenv("TESSERA_DEVICE", "sim", 1);

constexpr int kComponents = 3;
constexpr std::int64_t kSites = 211;  // with padding

using Values = std::vector<std::uint32_t>;  // [site][component]

/// A processor whose memory runs out on demand.
class FailingHost final : public CpuDevice {
 public:
  std::int64_t failing_allocation = 0;  ///< the n-th from now; 0: none
  void* allocate(std::size_t bytes) override {
    if (failing_allocation > 0 && --failing_allocation == 0) return nullptr;
    return CpuDevice::allocate(bytes);
  }
};

struct Rig {
  explicit Rig(std::size_t device_bytes = std::size_t{1} << 30) : device(device_bytes) {}

  std::unique_ptr<Field> make() { return std::make_unique<Field>(order, Type::f32, kComponents, residency); }
  std::size_t one() const {  // what a device side takes
    return Memory::block_bytes(static_cast<std::size_t>(order->groups * order->lanes * kComponents * 4));
  }
  const TransferCounts& counts() const { return residency.transfers(); }

  std::uint32_t* word(void* image, std::int64_t site, int component) const {
    return reinterpret_cast<std::uint32_t*>(device.real(image)) +
           word_index(order->lanes, Type::f32, kComponents, order->position[static_cast<std::size_t>(site)], component);
  }

  const std::shared_ptr<const SiteOrder> order = tests::random_order(32, kSites, 1);
  tests::SeparateDevice device;
  FailingHost host;
  Memory pool{device}, host_pool{host};
  Residency residency{pool, host_pool};
};

/// out = 2 * (sum of in) + 1, on the device and addressed as Runtime::launch does; contents are given up only when
/// nothing can fail any more.
void statement(Rig& rig, const std::vector<Field*>& in, Field& out) {
  rig.residency.begin_statement();
  std::vector<void*> bound;
  bool out_is_read = false;
  for (Field* field : in) {
    bound.push_back(const_cast<void*>(field->device_read()));
    out_is_read = out_is_read || field == &out;
  }
  out.device_reserve(!out_is_read);
  void* to = out.device_write(true);
  for (void* address : bound) REQUIRE(rig.device.holds(address, out.device_bytes()));
  REQUIRE(rig.device.holds(to, out.device_bytes()));
  for (std::int64_t s = 0; s < kSites; ++s)
    for (int c = 0; c < kComponents; ++c) {
      std::uint32_t sum = 0;
      for (void* address : bound) sum += *rig.word(address, s, c);
      *rig.word(to, s, c) = 2 * sum + 1;
    }
}

void statement(const std::vector<const Values*>& in, Values& out) {
  for (std::size_t i = 0; i < out.size(); ++i) {
    std::uint32_t sum = 0;
    for (const Values* values : in) sum += (*values)[i];
    out[i] = 2 * sum + 1;
  }
}

Values values_of(Field& field) {
  Values values(kSites * kComponents);
  std::memcpy(values.data(), field.host_read(), field.host_bytes());
  return values;
}

/// Fields and what they should hold.
struct Fields {
  Fields(Rig& r, int n, unsigned seed) : rig(r), random(seed) {
    for (int i = 0; i < n; ++i) {
      fields.push_back(rig.make());
      models.emplace_back(kSites * kComponents);
      for (auto& word : models.back()) word = static_cast<std::uint32_t>(random());
      std::memcpy(fields.back()->host_overwrite(), models.back().data(), fields.back()->host_bytes());
    }
  }

  std::size_t any() { return random() % fields.size(); }

  /// One access of any kind, with up to `operands` fields in a statement. If it throws, nothing has changed.
  void step(std::size_t operands) {
    const std::size_t i = any(), j = any();
    const auto site = static_cast<std::int64_t>(random() % kSites);
    const std::size_t first = static_cast<std::size_t>(site) * kComponents;
    Field& field = *fields[i];
    Values& model = models[i];
    std::array<std::uint32_t, kComponents> value = {static_cast<std::uint32_t>(random()), 2, 3}, got = {};
    switch (random() % 12) {
      case 0: {
        const Values values = values_of(field);  // not in CHECK, which keeps exceptions to itself
        CHECK(values == model);
        break;
      }
      case 1:
        static_cast<std::uint32_t*>(field.host_write())[first] = value[0];
        model[first] = value[0];
        break;
      case 2: {
        void* to = field.host_overwrite();
        for (auto& word : model) word = static_cast<std::uint32_t>(random());
        std::memcpy(to, model.data(), field.host_bytes());
        break;
      }
      case 3:
        field.read_site(site, got.data());
        CHECK(std::memcmp(got.data(), &model[first], sizeof got) == 0);
        break;
      case 4:
        field.write_site(site, value.data());
        std::memcpy(&model[first], value.data(), sizeof value);
        break;
      case 5:
        field.swap(*fields[j]);
        if (i != j) std::swap(model, models[j]);
        break;
      case 6:
        field.host_done();
        break;
      case 7: {  // b = f(shift(b)) through a temporary
        const auto temporary = rig.make();
        statement(rig, {&field}, *temporary);
        field.swap(*temporary);
        statement({&model}, model);
        break;
      }
      default: {
        std::vector<Field*> in;
        std::vector<const Values*> in_models;
        for (std::size_t n = random() % operands; n > 0; --n) {
          const std::size_t k = any();
          in.push_back(fields[k].get());
          in_models.push_back(&models[k]);
        }
        statement(rig, in, field);
        statement(in_models, model);
      }
    }
  }

  /// Looks without moving anything.
  bool intact() {
    for (std::size_t i = 0; i < fields.size(); ++i)
      for (std::int64_t s = 0; s < kSites; ++s) {
        std::array<std::uint32_t, kComponents> got = {};
        fields[i]->read_site(s, got.data());
        if (std::memcmp(got.data(), &models[i][static_cast<std::size_t>(s) * kComponents], sizeof got) != 0)
          return false;
      }
    return true;
  }

  Rig& rig;
  std::mt19937 random;
  std::vector<std::unique_ptr<Field>> fields;
  std::vector<Values> models;
};

/// Whether using the field on the device costs no transfer. Uses it.
bool was_resident(Rig& rig, Field& field) {
  const std::int64_t before = rig.counts().in;
  field.device_read();
  return rig.counts().in == before;
}

}  // namespace

TEST_CASE("any sequence of accesses shows the values of plain arrays, however little fits") {
  // Three operands and the result is the largest statement; smaller memories must do for smaller statements.
  for (const std::size_t fit : {2u, 3u, 4u, 5u, 8u, 20u})
    for (const bool by_limit : {true, false}) {
      INFO(fit, " fields fit, by the limit: ", by_limit);
      Rig rig;
      if (by_limit)
        rig.pool.set_limit(fit * rig.one());
      else
        rig.device.memory = fit * rig.one();
      {
        Fields fields(rig, 9, static_cast<unsigned>(fit));
        for (int i = 0; i < 1500; ++i) {
          fields.step(fit < 4 ? fit : 4);
          REQUIRE(rig.pool.live_bytes() + rig.pool.kept_bytes() <= fit * rig.one());
          REQUIRE(rig.device.used <= fit * rig.one());
          REQUIRE(static_cast<std::size_t>(rig.residency.resident_fields()) * rig.one() == rig.pool.live_bytes());
        }
        CHECK(fields.intact());
        for (std::size_t i = 0; i < fields.fields.size(); ++i) CHECK(values_of(*fields.fields[i]) == fields.models[i]);
        CHECK((rig.counts().spilled > 0) == (fit < 9));
        const TransferCounts& counts = rig.counts();
        const std::uint64_t field = fields.fields[0]->device_bytes();
        CHECK(counts.bytes_spilled == static_cast<std::uint64_t>(counts.spilled) * field);
        CHECK(counts.in > 0);
        CHECK(counts.out > 0);
        CHECK(counts.bytes_in == static_cast<std::uint64_t>(counts.in) * field);
        CHECK(counts.bytes_out == static_cast<std::uint64_t>(counts.out) * field);
      }
      CHECK(rig.pool.live_bytes() == 0);
      CHECK(rig.host_pool.live_bytes() == 0);
      CHECK(rig.residency.resident_fields() == 0);
    }
}

TEST_CASE("fields of different sizes make room for each other") {
  Rig rig;
  std::vector<std::unique_ptr<Field>> fields;
  for (int components = 1; components <= 24; ++components) {
    fields.push_back(std::make_unique<Field>(rig.order, Type::f64, components, rig.residency));
    std::memset(fields.back()->host_overwrite(), components, fields.back()->host_bytes());
  }
  rig.pool.set_limit(2 * Memory::block_bytes(fields.back()->device_bytes()));
  std::mt19937 random(4);
  for (int i = 0; i < 500; ++i) {
    rig.residency.begin_statement();
    Field& one = *fields[random() % fields.size()];
    Field& other = *fields[random() % fields.size()];
    const void* first = one.device_read();
    other.device_write(false);
    REQUIRE(rig.device.holds(first, one.device_bytes()));
    REQUIRE(rig.pool.live_bytes() + rig.pool.kept_bytes() <= rig.pool.limit());
  }
  for (auto& field : fields) {
    const std::vector<char> expected(field->host_bytes(), static_cast<char>(field->components()));
    CHECK(std::memcmp(field->host_read(), expected.data(), expected.size()) == 0);
  }
}

TEST_CASE("the least recently used field goes first, and comes back by one plain copy") {
  Rig rig;
  rig.pool.set_limit(3 * rig.one());
  Fields f(rig, 4, 1);
  const auto use = [&](std::size_t i) {
    rig.residency.begin_statement();
    f.fields[i]->device_write(false);  // only the device has it
  };
  for (const std::size_t i : {0u, 1u, 2u, 0u, 2u, 3u}) use(i);
  CHECK(rig.counts().spilled == 1);
  CHECK(was_resident(rig, *f.fields[0]));
  CHECK(was_resident(rig, *f.fields[2]));
  CHECK(was_resident(rig, *f.fields[3]));
  rig.residency.begin_statement();
  const std::int64_t copies = rig.device.copies;
  int reordered = 0;
  set_device_reorder([&](const DeviceReordering&) { return ++reordered < 0; });
  f.fields[1]->device_read();
  set_device_reorder({});
  CHECK(reordered == 0);
  CHECK(rig.device.copies == copies + 2);  // 0 out, 1 in
  CHECK(rig.counts().spilled == 2);
  CHECK_FALSE(was_resident(rig, *f.fields[0]));
  // Nor is it re-ordered when the host has seen it meanwhile.
  rig.residency.begin_statement();
  for (const std::size_t i : {0u, 1u, 2u}) f.fields[i]->device_read();
  CHECK(values_of(*f.fields[3]) == f.models[3]);
  rig.residency.begin_statement();
  set_device_reorder([&](const DeviceReordering&) { return ++reordered < 0; });
  rig.pool.set_limit(5 * rig.one());
  f.fields[3]->device_read();
  set_device_reorder({});
  CHECK(reordered == 0);
  CHECK(f.intact());

  SUBCASE("a swap exchanges places") {
    Rig other;
    other.pool.set_limit(2 * other.one());
    Fields g(other, 3, 2);
    for (const std::size_t i : {0u, 1u}) {
      other.residency.begin_statement();
      g.fields[i]->device_write(false);
    }
    g.fields[0]->swap(*g.fields[1]);  // now 1 is the oldest
    other.residency.begin_statement();
    g.fields[2]->device_write(false);
    CHECK(was_resident(other, *g.fields[0]));
    CHECK(g.fields[0]->host_pointer() == nullptr);
    std::swap(g.models[0], g.models[1]);
    CHECK(g.intact());
    // With a field that is not on the device: the place goes with the memory.
    g.fields[1]->swap(*g.fields[2]);
    std::swap(g.models[1], g.models[2]);
    CHECK(was_resident(other, *g.fields[1]));
    CHECK(other.residency.resident_fields() == 2);
    CHECK(g.intact());
  }
}

TEST_CASE("a device side that the host has too is dropped without a copy") {
  Rig rig;
  rig.pool.set_limit(rig.one());
  Fields f(rig, 2, 1);
  const auto use = [&](std::size_t i) {
    rig.residency.begin_statement();
    f.fields[i]->device_read();  // the host side stays valid
  };
  use(0);
  use(1);
  CHECK(rig.counts().dropped == 1);
  CHECK(rig.counts().spilled == 0);
  CHECK(rig.counts().in == 2);

  f.fields[1]->host_done();
  use(0);
  CHECK(rig.counts().spilled == 1);  // 1 had no other side
  use(1);
  use(0);
  CHECK(rig.counts().spilled == 1);  // but now an image
  CHECK(rig.counts().dropped == 3);

  rig.residency.begin_statement();
  f.fields[1]->device_write(false);
  use(0);
  CHECK(rig.counts().spilled == 2);  // which writing made invalid
  CHECK(rig.counts().out == 0);
  CHECK(values_of(*f.fields[1]) == f.models[1]);
  CHECK(rig.counts().out == 0);  // the image served
  rig.residency.reset_transfers();
  CHECK(rig.counts().in + rig.counts().spilled + rig.counts().dropped == 0);
  CHECK(f.intact());
}

TEST_CASE("what a statement has bound is never driven out; running out names all figures and changes nothing") {
  Rig rig;
  rig.pool.set_limit(3 * rig.one());
  Fields f(rig, 5, 1);
  statement(rig, {f.fields[3].get()}, *f.fields[4]);
  statement({&f.models[3]}, f.models[4]);
  f.fields[0]->device_write(false);
  const auto counts = rig.counts();
  try {
    statement(rig, {f.fields[0].get(), f.fields[1].get(), f.fields[2].get()}, *f.fields[3]);
    FAIL("must throw");
  } catch (const DeviceError& error) {
    const std::string text = error.what();
    INFO(text);
    CHECK(text.find("request for " + format_bytes(f.fields[0]->device_bytes())) != std::string::npos);
    CHECK(text.find("at most " + format_bytes(3 * rig.one())) != std::string::npos);
    CHECK(text.find(format_bytes(rig.pool.live_bytes()) + " in 3 blocks") != std::string::npos);
    CHECK(text.find("3 fields resident, 3 of them needed by the present statement") != std::string::npos);
    CHECK(text.find("statements with fewer fields") != std::string::npos);
  }
  CHECK(rig.counts().spilled == counts.spilled + 1);  // 4 made room; 3 had its host side
  CHECK(f.intact());
  CHECK_NOTHROW(statement(rig, {f.fields[0].get(), f.fields[1].get()}, *f.fields[3]));
  statement({&f.models[0], &f.models[1]}, f.models[3]);
  CHECK(f.intact());

  SUBCASE("a request that cannot be met drives nothing out") {
    for (const int components : {100, 4}) {  // beyond the limit; beyond what the statement leaves of it
      Field large(rig.order, Type::f64, components, rig.residency);
      rig.residency.begin_statement();
      f.fields[0]->device_read();
      const auto before = rig.counts();
      CHECK_THROWS_AS(large.device_read(), DeviceError);
      CHECK(rig.counts().spilled + rig.counts().dropped == before.spilled + before.dropped);
      CHECK(rig.residency.resident_fields() == 3);
    }
  }
  SUBCASE("what was bound is not driven out when another field has taken it over") {
    rig.residency.begin_statement();
    const void* bound = f.fields[0]->device_read();
    f.fields[0]->swap(*f.fields[2]);
    std::swap(f.models[0], f.models[2]);
    f.fields[4]->device_read();
    f.fields[0]->device_read();
    CHECK_THROWS_AS(f.fields[1]->device_read(), DeviceError);
    CHECK(f.fields[2]->device_read() == bound);
    CHECK(rig.residency.resident_fields() == 3);
    CHECK(f.intact());
  }
}

TEST_CASE("without host memory fields stay on the device, and those that the host has leave instead") {
  Rig rig;
  rig.pool.set_limit(2 * rig.one());
  Fields f(rig, 3, 1);
  for (const std::size_t i : {0u, 1u}) {
    rig.residency.begin_statement();
    f.fields[i]->device_read();
  }
  f.fields[0]->host_done();
  rig.host_pool.release_kept();
  rig.host_pool.set_limit(rig.host_pool.live_bytes() + rig.one());  // an image at a time, for re-ordering
  const Block last(rig.host_pool, rig.host_pool.allocate(rig.one()), rig.one());
  Field fresh(rig.order, Type::f32, kComponents, rig.residency);
  rig.residency.begin_statement();
  fresh.device_write(true);  // takes the place of 1, though 0 is older
  CHECK(rig.counts().dropped == 1);
  CHECK(rig.counts().spilled == 0);
  CHECK(was_resident(rig, *f.fields[0]));
  rig.residency.begin_statement();
  CHECK_THROWS_WITH_AS(f.fields[1]->device_read(), doctest::Contains("no host memory"), DeviceError);
  CHECK(f.intact());
  rig.host_pool.set_limit(0);
  CHECK_NOTHROW(f.fields[1]->device_read());
  CHECK(rig.counts().spilled == 1);
  CHECK(f.intact());
}

TEST_CASE("whichever allocation or copy fails, every field keeps its contents") {
  for (const std::string what : {"allocation", "copy", "allocation of the host"})
    for (const std::size_t fit : {4u, 20u}) {  // fields leave all the time; never
      int thrown = 0;
      bool fired = true;
      for (int n = 1; fired; n += n < 60 ? 1 : 7) {
        INFO("failing: ", what, " number ", n, ", ", fit, " fields fit");
        Rig rig;
        rig.pool.set_limit(fit * rig.one());
        auto owner = std::make_unique<Fields>(rig, 7, 3u);
        Fields& fields = *owner;
        std::int64_t& countdown = what == "copy"         ? rig.device.failing_copy
                                  : what == "allocation" ? rig.device.failing_allocation
                                                         : rig.host.failing_allocation;
        countdown = n;
        for (int i = 0; i < 80; ++i) {
          try {
            fields.step(4);
          } catch (const DeviceError&) {
            ++thrown;
            REQUIRE(countdown == 0);
            REQUIRE(fields.intact());
          }
          rig.pool.release_kept();  // so that every block is an allocation
          rig.host_pool.release_kept();
        }
        fired = countdown == 0;
        countdown = 0;
        REQUIRE(fields.intact());
        REQUIRE(static_cast<std::size_t>(rig.residency.resident_fields()) * rig.one() == rig.pool.live_bytes());
        owner.reset();
        REQUIRE(rig.pool.live_blocks() + rig.host_pool.live_blocks() == 0);
      }
      CHECK(thrown > 0);
    }
}

namespace {

/// Holds blocks of a page.
struct Blocks : Memory::Holder {
  Memory& memory;
  std::vector<void*> blocks;
  int asked = 0;
  explicit Blocks(Memory& m) : memory(m) {}
  std::string describe() const override { return "a test"; }
  bool free_one() {
    ++asked;
    if (blocks.empty()) return false;
    memory.free(blocks.back(), 4096);
    blocks.pop_back();
    return true;
  }
};

}  // namespace

TEST_CASE("a pool asks its holder only when its own blocks do not do") {
  tests::SeparateDevice device;
  Memory memory(device, 10 * 4096);
  struct Holder : Blocks {
    using Blocks::Blocks;
    std::size_t spare_bytes() const override { return blocks.size() * 4096; }
    bool give_up_one() override { return free_one(); }
  } holder(memory);
  memory.add_holder(&holder);
  for (int i = 0; i < 6; ++i) holder.blocks.push_back(memory.allocate(4096));
  void* kept = memory.allocate(4 * 4096);
  memory.free(kept, 4 * 4096);
  void* three = memory.allocate(3 * 4096);  // the kept block of another size goes
  CHECK(holder.asked == 0);
  CHECK(memory.try_allocate(2 * 4096) == nullptr);
  CHECK(holder.asked == 0);
  CHECK_THROWS_WITH_AS(memory.allocate(8 * 4096), doctest::Contains("a test"), DeviceError);
  CHECK(holder.asked == 0);
  void* five = memory.allocate(5 * 4096);
  CHECK(holder.asked == 4);
  CHECK(memory.live_bytes() == 10 * 4096);
  memory.free(three, 3 * 4096);
  memory.free(five, 5 * 4096);
  for (void* block : holder.blocks) memory.free(block, 4096);
  memory.remove_holder(&holder);
}

TEST_CASE("holders make way before more lives at once than ever, and only then") {
  tests::SeparateDevice device;
  Memory memory(device, 20 * 4096);
  struct Holder : Blocks {
    using Blocks::Blocks;
    std::size_t spare_bytes() const override { return 0; }
    bool give_up_one() override { return false; }
    bool make_way() override { return free_one(); }
  } holder(memory);
  memory.add_holder(&holder);
  for (int i = 0; i < 4; ++i) holder.blocks.push_back(memory.try_allocate(4096));
  CHECK(holder.asked == 0);  // for itself nobody makes way
  void* const two = memory.allocate(2 * 4096);
  CHECK(holder.asked == 2);
  CHECK(memory.peak_bytes() == 4 * 4096);
  void* const one = memory.allocate(4096);  // in the place of one more
  CHECK(holder.asked == 3);
  CHECK(holder.blocks.size() == 1);
  memory.free(one, 4096);
  memory.free(memory.allocate(4096), 4096);  // has lived before
  CHECK(holder.asked == 3);
  CHECK_THROWS_AS(memory.allocate(21 * 4096), DeviceError);  // could not be met anyway
  CHECK(holder.blocks.size() == 1);
  void* const many = memory.allocate(10 * 4096);
  CHECK(holder.blocks.empty());
  CHECK(memory.peak_bytes() == 12 * 4096);
  memory.free(two, 2 * 4096);
  memory.free(many, 10 * 4096);
  memory.remove_holder(&holder);
}

TEST_CASE("the process's fields live on its device, in two pools") {
  REQUIRE_FALSE(process_device().host_accessible());
  Memory& pool = Memory::instance();
  CHECK(&Memory::host() != &pool);
  CHECK(&Residency::instance().device_memory() == &pool);
  CHECK(&Residency::instance().host_memory() == &Memory::host());
  const auto order = tests::random_order(32, 1000);
  std::mt19937 random(9);
  std::vector<std::unique_ptr<Field>> fields;
  std::vector<std::vector<double>> models;
  for (int i = 0; i < 4; ++i) {
    fields.push_back(std::make_unique<Field>(order, Type::f64, 5));
    models.emplace_back(5000);
    for (double& x : models.back()) x = static_cast<double>(random());
    std::memcpy(fields.back()->host_overwrite(), models.back().data(), fields.back()->host_bytes());
  }
  pool.set_limit(pool.live_bytes() + 2 * Memory::block_bytes(fields[0]->device_bytes()));
  for (int round = 0; round < 3; ++round)
    for (auto& field : fields) {
      Residency::instance().begin_statement();
      field->device_write(false);
    }
  CHECK(Residency::instance().transfers().spilled > 4);
  for (std::size_t i = 0; i < fields.size(); ++i) {
    std::array<double, 5> site = {};
    fields[i]->read_site(77, site.data());
    CHECK(std::memcmp(site.data(), &models[i][77 * 5], sizeof site) == 0);
    fields[i]->write_site(77, &models[i][0]);
    std::memcpy(&models[i][77 * 5], &models[i][0], sizeof site);
    CHECK(std::memcmp(fields[i]->host_read(), models[i].data(), fields[i]->host_bytes()) == 0);
  }
  pool.set_limit(0);
}

TEST_CASE("tables are copied to the device once, and copies of their owner make their own") {
  Memory& pool = Memory::instance();
  const std::size_t before = pool.live_bytes();
  const auto on_host = [](const std::int32_t* address, std::size_t n) {
    std::vector<std::int32_t> table(n);
    process_device().copy_to_host(table.data(), address, n * sizeof(std::int32_t));
    return table;
  };
  {
    constexpr std::size_t kSources = 3000 - kTablePadding;
    std::vector<std::int32_t> sources;
    for (std::size_t i = 0; i < kSources; ++i) sources.push_back(static_cast<std::int32_t>(7 * i));
    SiteMap map = SiteMap::gathered(sources);
    CHECK(map.group_sources_on_device() == nullptr);
    const std::int32_t* address = map.sources_on_device();
    CHECK(address != map.sources().data());
    CHECK(map.sources_on_device() == address);
    CHECK(on_host(address, 3000) == map.sources());
    CHECK(pool.live_bytes() == before + Memory::block_bytes(12000));

    SiteMap copy = map;
    CHECK(copy.sources_on_device() != address);
    CHECK(on_host(copy.sources_on_device(), 3000) == map.sources());
    const SiteMap moved = std::move(map);
    CHECK(moved.sources_on_device() == address);
    copy = moved;
    CHECK(pool.live_bytes() == before + Memory::block_bytes(12000));
    copy =
        SiteMap::gathered(std::vector<std::int32_t>(5000 - kTablePadding, 3));  // elsewhere on the host: another table
    CHECK(on_host(copy.sources_on_device(), 5000) == copy.sources());

    Domain domain;
    domain.listed = true;
    domain.groups = {4, 5};
    domain.masks = {1, 2};
    std::vector<Domain> domains(3, domain);
    for (const Domain& d : domains) CHECK(on_host(d.groups_on_device(), 2) == domain.groups);
    CHECK(domains[0].masks_on_device() != domains[1].masks_on_device());
  }
  CHECK(pool.live_bytes() == before);
}
