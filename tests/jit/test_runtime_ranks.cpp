// Launches on several ranks: reductions are over all of them, with the bits of one. The run time lives in the ranks' processes.
#include <doctest/doctest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <random>
#include <vector>

#include "jit/comm/communicator.hpp"
#include "jit/ir/builder.hpp"
#include "jit/runtime.hpp"
#include "tests/jit/reduced.hpp"
#include "tests/jit/site_orders.hpp"
#include "tests/ranks.hpp"

using namespace jit;
using Kind = ir::Reduction::Kind;

namespace {

constexpr Kind kKinds[] = {Kind::sum, Kind::max, Kind::min};

/// Sum, largest and smallest of a field; or y = x, without any.
ir::Kernel kernel(int lanes, bool listed, bool reduces) {
  ir::Kernel kernel;
  kernel.name = reduces ? "statistics" : "copy";
  kernel.lanes = lanes;
  kernel.listed = listed;
  kernel.leaves = {{ir::Type::f64, 1, true, false}};
  if (!reduces) kernel.leaves.push_back({ir::Type::f64, 1, false, true});
  ir::Builder b(kernel);
  const ir::Value x = b.load({0, 0, 0, 0});
  if (!reduces) kernel.stores.push_back({{1, 0, 0, 0}, x});
  if (reduces)
    for (const Kind kind : kKinds) kernel.reductions.push_back({kind, x});
  b.finish();
  return kernel;
}

struct Statistics {
  double of[3] = {};
};

/// The kernel as a plan of one part, or of `parts` that share the domain.
Statistics run(const ir::Kernel& kernel, const std::vector<Field*>& fields, const Domain& domain,
               std::int64_t parts = 1) {
  Runtime& rt = Runtime::instance();
  const std::string text = ir::print(kernel);
  const TableKey key = table_key(text);
  KernelHandle* const known = rt.find(key);
  KernelHandle* const handle = known != nullptr ? known : rt.add(key, kernel);
  const SiteMap* maps[] = {nullptr};
  std::vector<Domain> shares(static_cast<std::size_t>(parts), domain);
  std::vector<Launch> launches;
  for (std::int64_t p = 0; p < parts; ++p) {
    Domain& share = shares[static_cast<std::size_t>(p)];
    const std::int64_t groups = domain.end - domain.begin;
    share.begin = domain.begin + groups * p / parts;
    share.end = domain.begin + groups * (p + 1) / parts;
    share.whole = domain.whole && parts == 1;
    launches.push_back({.kernel = handle, .fields = fields, .maps = maps, .scalars = {}, .domain = &share});
  }
  Statistics found;
  rt.run({launches, domain.whole, {found.of, kernel.reductions.size()}});
  return found;
}

std::unique_ptr<Field> field_of(const std::shared_ptr<const SiteOrder>& order, const double* values) {
  auto field = std::make_unique<Field>(order, ir::Type::f64, 1);
  std::memcpy(field->host_overwrite(), values, field->host_bytes());
  return field;
}

/// Counts what the rank's communicator is asked to combine.
struct Counting : Communicator {
  explicit Counting(std::unique_ptr<Communicator> to) : ranks(std::move(to)) {}
  int rank() const override { return ranks->rank(); }
  int size() const override { return ranks->size(); }
  void broadcast(void* data, std::size_t bytes, int root) override { ranks->broadcast(data, bytes, root); }
  void combine(void* values, std::size_t bytes, std::size_t count, Join join) override {
    ++calls;
    ranks->combine(values, bytes, count, join);
  }
  void gather(const void* mine, std::size_t bytes, void* all) override { ranks->gather(mine, bytes, all); }
  void barrier() override { ranks->barrier(); }
  std::unique_ptr<Message> outgoing(const void* x, std::size_t n, int to) override { return ranks->outgoing(x, n, to); }
  std::unique_ptr<Message> incoming(void* x, std::size_t n, int from, Length length) override {
    return ranks->incoming(x, n, from, length);
  }
  void abort(int status) override { ranks->abort(status); }

  std::unique_ptr<Communicator> ranks;
  int calls = 0;
};

bool same(double a, double b) { return std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b); }

}  // namespace

TEST_CASE(
    "reductions have the bits of one rank, whatever the shares, parts, lanes and threads of the ranks; all ranks have them") {
  std::mt19937_64 engine(31);
  std::uniform_real_distribution<double> exponent(-300, 300), mantissa(-2, 2);
  constexpr std::int64_t kSites = 3000;
  std::vector<double> x(kSites);
  for (double& v : x) v = std::exp2(exponent(engine)) * mantissa(engine);
  const std::vector<std::vector<std::int64_t>> cuts = {
      {0, kSites}, {0, 1, kSites}, {0, 700, 700, 2999, kSites}};  // the second of four has nothing
  for (const double special :
       {1.0, std::numeric_limits<double>::infinity(), std::numeric_limits<double>::quiet_NaN()}) {
    x[2999] = special;
    double expected[3];
    for (int k = 0; k < 3; ++k) {
      ReductionValue one(kKinds[k]);
      for (const double v : x) one.add(v);
      expected[k] = one.value();
    }
    for (const auto& cut : cuts) {
      const auto ranks = static_cast<int>(cut.size()) - 1;
      const auto told = tests::on_ranks<Statistics>(ranks, [&](Communicator& comm) {
        const auto r = static_cast<std::size_t>(comm.rank());
        const int lanes = r % 2 == 0 ? 8 : 16;
        Runtime::instance().set_threads(1 + comm.rank() % 2);
        const std::int64_t sites = cut[r + 1] - cut[r];
        const auto order = tests::random_order(lanes, std::max<std::int64_t>(sites, 1), 1);
        Domain domain = tests::everything(*order);  // with padding: a list
        if (sites == 0) domain.end = domain.begin, domain.sites = 0;
        return std::vector{run(kernel(lanes, domain.listed, true),
                               {field_of(order, &x[static_cast<std::size_t>(cut[r])]).get()}, domain, 1 + comm.rank())};
      });
      REQUIRE(told.size() == cut.size() - 1);
      for (const auto& found : told)
        for (int k = 0; k < 3; ++k) {
          CAPTURE(k);
          CAPTURE(special);
          CAPTURE(ranks);
          CHECK((std::isnan(expected[k]) ? std::isnan(found[0].of[k]) : same(found[0].of[k], expected[k])));
        }
    }
  }
}

TEST_CASE("ranks meet once for a plan with reductions, of however many parts, and not for one without") {
  const auto told = tests::on_ranks<int>(2, [](Communicator&) {
    auto counting = std::make_unique<Counting>(replace_process_communicator(nullptr));
    const int& calls = counting->calls;
    replace_process_communicator(std::move(counting));
    const auto order = tests::random_order(8, 64);
    const std::vector<double> ones(64, 1.0);
    const auto x = field_of(order, ones.data()), y = field_of(order, ones.data());
    const Domain domain = tests::everything(*order);
    std::vector<int> seen;
    run(kernel(8, false, false), {x.get(), y.get()}, domain);
    seen.push_back(calls);
    const ir::Kernel statistics = kernel(8, false, true);
    for (const int parts : {1, 3}) {
      seen.push_back(static_cast<int>(run(statistics, {x.get()}, domain, parts).of[0]));
      seen.push_back(calls);
    }
    return seen;
  });
  for (const auto& seen : told) CHECK(seen == std::vector{0, 128, 1, 128, 2});
}
