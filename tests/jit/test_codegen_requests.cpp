// Cache lines that kernels ask for ahead: each of them, once, and evenly.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <tuple>
#include <vector>

#include "codegen_kernels.hpp"
#include "jit/codegen/requests.hpp"
#include "jit/ir/nodes.hpp"
#include "jit/ir/site_layout.hpp"
#include "jit/ir/trips.hpp"

using namespace jit::ir;
using namespace lab;
using jit::CacheLevel;
using jit::CodeOptions;
using jit::Request;
using jit::Requests;
using jit::Schedule;

namespace {

using Stream = std::tuple<int, int, int, int, int, int>;
Stream stream_of(const Place& p) { return {p.slot, frame_of(p), p.leaf, p.stride, p.leap, p.shifted_by}; }
std::int64_t line_of(const Kernel& k, const Place& p) {
  const Leaf& leaf = k.leaves[std::size_t(p.leaf)];
  return std::int64_t{p.component} * jit::block_lanes(k, leaf) * bytes(leaf.word) / 64;
}

struct Wanted {
  std::set<std::pair<Stream, std::int64_t>> once, each, repeated;
};

Wanted wanted_of(const Kernel& k, const Schedule& order) {
  Wanted wanted;
  const auto look = [&](const std::vector<jit::Step>& steps, bool in_trips) {
    for (const jit::Step& s : steps) {
      if (s.kind != jit::Step::Kind::node || k.nodes[std::size_t(s.number)].op != Op::load) continue;
      const Place& p = k.nodes[std::size_t(s.number)].place;
      if (k.slots[std::size_t(p.slot)].gathered) continue;
      auto& list = !in_trips ? wanted.once : walks(p) || runs(k) == 1 ? wanted.each : wanted.repeated;
      list.emplace(stream_of(p), line_of(k, p));
    }
  };
  look(order.once, false), look(order.each, true);
  return wanted;
}

std::vector<Kernel> kernels() {
  std::vector<Kernel> all;
  for (int lanes : {4, 8, 16}) {
    for (const Type t : {Type::f32, Type::f64}) {
      all.push_back(wilson_hop(t, lanes));
      for (unsigned seed = 0; seed < 4; ++seed) {
        all.push_back(scattered(seed, t, lanes, seed % 2 == 0 ? 1 : 3, seed == 3, seed % 4 == 1));
        all.push_back(crowded(seed, t, lanes, 3));
      }
    }
    all.push_back(trips(lanes)), all.push_back(rounds(lanes));
    for (unsigned seed = 0; seed < 10; ++seed) all.push_back(random_kernel(seed, lanes, seed % 2 == 0));
  }
  return all;
}

}  // namespace

TEST_CASE("each line that is loaded is asked for once, in the trips only if it is another one in each") {
  std::size_t in_trips = 0, repeated = 0;
  for (const Kernel& k : kernels()) {
    CAPTURE(k.name);
    const Schedule order = jit::schedule(k);
    const Wanted wanted = wanted_of(k, order);
    for (const bool passing : {false, true}) {
      const Requests requests = jit::requests(k, {.prefetch = 2, .passing = passing}, order);
      const std::vector<bool> once = once_touched(k);
      const auto check = [&](const std::vector<Request>& list, const auto& lines, std::size_t steps) {
        std::set<std::pair<Stream, std::int64_t>> seen;
        std::size_t last = 0;
        for (const Request& r : list) {
          CHECK(seen.emplace(stream_of(r.place), line_of(k, r.place)).second);
          CHECK(r.step >= last);
          CHECK(r.step < steps);
          CHECK(r.into == (!passing                          ? CacheLevel::second
                           : once[std::size_t(r.place.leaf)] ? CacheLevel::passed
                                                             : CacheLevel::nearest));
          last = r.step;
        }
        CHECK(seen == lines);
      };
      if (k.listed) {
        CHECK(requests.once.size() + requests.each.size() + requests.repeated.size() == 0);
        continue;
      }
      check(requests.once, wanted.once, order.once.size());
      check(requests.each, wanted.each, order.each.size());
      check(requests.repeated, wanted.repeated, order.each.size());
      in_trips += runs(k) > 1 ? requests.each.size() : 0, repeated += requests.repeated.size();
    }
    const Requests none = jit::requests(k, {.passing = true}, order);
    CHECK(none.once.size() + none.each.size() + none.repeated.size() == 0);
  }
  CHECK(in_trips > 0);
  CHECK(repeated > 0);
}

TEST_CASE("the lines of each field in each frame are spread evenly over the steps, those of different ones alternate") {
  for (const Kernel& k : kernels()) {
    CAPTURE(k.name);
    const Schedule order = jit::schedule(k);
    const std::vector<Request> list = jit::requests(k, {.prefetch = 1}, order).each;
    std::map<Stream, double> all, seen;
    for (const Request& r : list) ++all[stream_of(r.place)];
    const double steps = double(order.each.size()), streams = double(all.size());
    double sent = 0;
    for (const Request& r : list) {
      const Stream s = stream_of(r.place);
      // Among the requests of its stream, and among all.
      CHECK(std::abs(seen[s] - all[s] * double(r.step) / steps) <= 1 + all[s] / steps);
      CHECK(std::abs(sent - double(list.size()) * double(r.step) / steps) <= streams + double(list.size()) / steps);
      ++seen[s], ++sent;
    }
  }
  // All streams of a hopping term's spinors are of one length: each has its turn before any has its next one.
  const Kernel hop = wilson_hop(Type::f32, 16);
  std::map<Stream, int> of_spinors;
  std::map<Stream, int> lengths;
  const std::vector<Request> list = jit::requests(hop, {.prefetch = 1}, jit::schedule(hop)).each;
  for (const Request& r : list) ++lengths[stream_of(r.place)];
  for (const Request& r : list)
    if (lengths[stream_of(r.place)] == 24) {
      const int now = ++of_spinors[stream_of(r.place)];
      for (const auto& [stream, count] : of_spinors) CHECK(now - count <= 1);
    }
  CHECK(of_spinors.size() == 8);
}
