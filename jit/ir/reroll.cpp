// A rolled node stands for one node of each trip. Starting from the stored values, the nodes of all trips are compared
// side by side; a node that two trips share in one place and not in another gives two rolled nodes.
#include "jit/ir/reroll.hpp"

#include <algorithm>
#include <bit>
#include <map>
#include <numeric>
#include <optional>
#include <span>
#include <unordered_set>
#include <utility>
#include <vector>

#include "jit/ir/trips.hpp"

namespace jit::ir {
namespace {

constexpr int kMostTrips = 64;
constexpr double kMostRepeated = 1.5;  // work of all trips, loads included, compared with that of the unrolled kernel

bool commutes(Op op) { return op == Op::add || op == Op::mul || op == Op::fma; }

/// What decides quickly whether two nodes can be the same node of two trips, and in which order their operands match.
struct Signature {
  std::uint64_t kind = 0;   ///< equal for equal programs, whatever components they load
  std::uint64_t where = 0;  ///< a linear function of the components loaded: advances by a constant where they all do
};

/// The operands of a product whose sign the builder keeps on the first factor.
struct Factors {
  Value a, b;
  bool minus;
};

class Signatures {
 public:
  explicit Signatures(const Kernel& kernel) : kernel_(kernel) {
    signatures_.reserve(kernel.nodes.size());
    for (const Node& n : kernel.nodes) signatures_.push_back(of(n));
  }
  const Signature& operator[](Value v) const { return signatures_[std::size_t(v)]; }

  Factors factors(const Node& n) const {
    const Node& a = kernel_.nodes[std::size_t(n.a)];
    const bool minus = n.op == Op::fma && a.op == Op::neg;
    return {minus ? a.a : n.a, n.b, minus};
  }

 private:
  static std::uint64_t mix(std::uint64_t h, std::uint64_t x) {
    h = (h ^ x) * 0x9E3779B97F4A7C15ull;
    return h ^ h >> 29;
  }

  Signature of(const Node& n) const {
    std::uint64_t h = mix(std::uint64_t(n.op) << 8 | std::uint64_t(n.type), std::uint64_t(n.integer));
    h = mix(h, std::bit_cast<std::uint64_t>(n.real));
    if (n.op == Op::load) {
      const Place& p = n.place;
      h = mix(h, std::uint64_t(p.leaf) << 32 | std::uint64_t(p.slot));
      h = mix(h, std::uint64_t(std::uint16_t(p.shifted_by)) << 32 | std::uint64_t(std::uint16_t(p.stride)) << 16 |
                     std::uint16_t(p.leap));
      return {h, std::uint64_t(p.component)};
    }
    std::uint64_t where = 0;
    if (commutes(n.op)) {
      const Factors f = factors(n);
      const Signature &a = (*this)[f.a], &b = (*this)[f.b];
      h = mix(mix(mix(h, f.minus), std::min(a.kind, b.kind)), std::max(a.kind, b.kind));
      where = a.where + b.where;
      if (n.c != kNone) h = mix(h, (*this)[n.c].kind), where += 3 * (*this)[n.c].where;
      return {h, where};
    }
    std::uint64_t weight = 1;
    for (Value v : {n.a, n.b, n.c})
      if (v != kNone) h = mix(h, (*this)[v].kind), where += weight * (*this)[v].where, weight *= 3;
    return {h, where};
  }

  const Kernel& kernel_;
  std::vector<Signature> signatures_;
};

/// One attempt: `trips` groups of stores, component c + trip * distance in each. Given up beyond `most` rolled nodes.
class Attempt {
 public:
  Attempt(const Kernel& kernel, const Signatures& signatures, int trips, int distance, std::size_t most)
      : kernel_(kernel), signatures_(signatures), trips_(std::size_t(trips)), distance_(distance), most_(most) {}

  std::optional<Kernel> run() {
    if (!group_stores()) return std::nullopt;
    for (std::size_t g = 0; g < groups_.size(); ++g)
      roots_.push_back(intern([&](std::size_t t) { return stored_[g * trips_ + t]; }));
    for (std::size_t i = 0; i < rolled_.size(); ++i)  // grows
      if (rolled_.size() > most_ || !match(i)) return std::nullopt;
    return write();
  }

 private:
  struct Rolled {
    bool minus;     ///< the negative of its nodes
    bool constant;  ///< one node in all trips, with all that it is computed from
    Node node{};
  };

  const Node& node(Value v) const { return kernel_.nodes[std::size_t(v)]; }
  /// The node that a rolled node stands for in a trip.
  Value value(int number, std::size_t trip) const { return values_[std::size_t(number) * trips_ + trip]; }
  const Node& node(int number, std::size_t trip) const { return node(value(number, trip)); }

  bool group_stores() {
    std::map<int, const Store*> at;
    for (const Store& s : kernel_.stores)
      if (!at.emplace(s.place.component, &s).second) return false;
    const int trips = int(trips_);
    for (const Store& first : kernel_.stores) {
      if (first.place.component / distance_ % trips != 0) continue;
      const auto group = stored_.size();
      for (int t = 0; t < trips; ++t) {
        const auto found = at.find(first.place.component + t * distance_);
        if (found == at.end()) return false;
        const Store& s = *found->second;
        if (s.place.stride != first.place.stride || signatures_[s.value].kind != signatures_[first.value].kind)
          return false;
        stored_.push_back(s.value);
        const auto where = [&](int trip) { return signatures_[stored_[group + std::size_t(trip)]].where; };
        if (t >= 2 && where(t) - where(t - 1) != where(1) - where(0)) return false;
      }
      groups_.push_back(first);
    }
    return stored_.size() == kernel_.stores.size();
  }

  /// The rolled node of these nodes, one per trip; the negative of them.
  template <class Of>
  int intern(const Of& of, bool minus = false) {
    const std::size_t begin = values_.size();
    bool constant = true;
    for (std::size_t t = 0; t < trips_; ++t) {
      values_.push_back(of(t));
      constant = constant && values_.back() == values_[begin];
    }
    if (constant) {
      const Value v = values_[begin];
      values_.resize(begin);
      return intern_constant(v, minus);
    }
    rolled_.push_back({minus, false});
    const auto [known, fresh] = known_.insert(int(rolled_.size()) - 1);
    if (!fresh) {
      rolled_.pop_back();
      values_.resize(rolled_.size() * trips_);
    }
    return *known;
  }

  int intern_constant(Value v, bool minus = false) {
    int& known = constants_[2 * std::size_t(v) + minus];
    if (known < 0) {
      known = int(rolled_.size());
      rolled_.push_back({minus, true});
      values_.resize(values_.size() + trips_, v);
    }
    return known;
  }

  /// As match() for nodes that differ, without comparing them.
  void match_constant(std::size_t index) {
    const Value v = value(int(index), 0);
    const Node& first = node(v);
    Node result = first;
    if (rolled_[index].minus) {
      result = {.op = Op::neg, .type = first.type, .a = intern_constant(v)};
    } else {
      const Factors f = commutes(first.op) ? signatures_.factors(first) : Factors{first.a, first.b, false};
      result.a = f.a == kNone ? kNone : intern_constant(f.a);
      result.b = f.b == kNone ? kNone : intern_constant(f.b);
      if (f.minus) result.a = intern_constant(f.a, true);
      result.c = first.c == kNone ? kNone : intern_constant(first.c);
      if (first.op == Op::load) (kernel_.trips == 1 ? result.place.stride : result.place.leap) = 0;
    }
    rolled_[index].node = result;
  }

  /// Finds the node that does what these nodes do in their trips; operands are left to be matched.
  bool match(std::size_t index) {
    if (rolled_[index].constant) {
      match_constant(index);
      return true;
    }
    const int number = int(index);
    const Node& first = node(number, 0);
    Node result = first;
    const auto operand = [&](Value Node::* which) {
      return first.*which == kNone ? kNone : intern([&](std::size_t t) { return node(number, t).*which; });
    };
    if (rolled_[index].minus) {
      result = {.op = Op::neg, .type = first.type, .a = intern([&](std::size_t t) { return value(number, t); })};
    } else if (first.op == Op::load) {
      const int step = node(number, 1).place.component - first.place.component;
      for (std::size_t t = 0; t < trips_; ++t) {
        Place expected = first.place;
        expected.component = std::int16_t(expected.component + int(t) * step);
        if (node(number, t).op != Op::load || !(node(number, t).place == expected)) return false;
      }
      (kernel_.trips == 1 ? result.place.stride : result.place.leap) = std::int16_t(step);
    } else {
      for (std::size_t t = 0; t < trips_; ++t) {
        const Node& n = node(number, t);
        if (n.op != first.op || n.type != first.type || n.integer != first.integer || n.ancestor != first.ancestor ||
            std::bit_cast<std::uint64_t>(n.real) != std::bit_cast<std::uint64_t>(first.real))
          return false;
      }
      if (commutes(first.op)) {
        if (!match_factors(number, result)) return false;
      } else {
        result.a = operand(&Node::a);
        result.b = operand(&Node::b);
      }
      result.c = operand(&Node::c);
    }
    rolled_[index].node = result;
    return true;
  }

  bool match_factors(int number, Node& result) {
    std::vector<Factors>& f = factors_;
    f.clear();
    for (std::size_t t = 0; t < trips_; ++t) {
      f.push_back(signatures_.factors(node(number, t)));
      if (f.back().minus != f.front().minus) return false;
    }
    if (!order(f)) return false;
    result.a = intern([&](std::size_t t) { return f[t].a; });
    result.b = intern([&](std::size_t t) { return f[t].b; });
    if (f.front().minus) result.a = intern([&](std::size_t t) { return f[t].a; }, true);
    return true;
  }

  /// Exchanges factors where those of the first trip come in the other order.
  bool order(std::vector<Factors>& f) const {
    const auto kind = [&](Value v) { return signatures_[v].kind; };
    const auto where = [&](Value v) { return signatures_[v].where; };
    if (kind(f[0].a) != kind(f[0].b)) {
      for (Factors& x : f) {
        if (kind(x.a) != kind(f[0].a)) std::swap(x.a, x.b);
        if (kind(x.a) != kind(f[0].a) || kind(x.b) != kind(f[0].b)) return false;
      }
      return true;
    }
    // Both advance by constants; which is which in the second trip decides.
    for (int tries = 0; tries < 2; ++tries, std::swap(f[1].a, f[1].b)) {
      const std::uint64_t step = where(f[1].a) - where(f[0].a), other = where(f[1].b) - where(f[0].b);
      bool fits = true;
      for (std::size_t t = 2; t < trips_ && fits; ++t) {
        const auto at_place = [&] {
          return where(f[t].a) == where(f[0].a) + t * step && where(f[t].b) == where(f[0].b) + t * other;
        };
        if (!at_place()) std::swap(f[t].a, f[t].b);
        fits = at_place();
      }
      if (fits) return true;
    }
    return false;
  }

  /// The order stays that of the first trip: term by term (Builder::finish).
  Kernel write() const {
    Kernel result = kernel_;
    (kernel_.trips == 1 ? result.trips : result.rounds) = int(trips_);
    // By value in the first trip, sign, number.
    const auto place = [&](int i) { return 2 * std::size_t(value(i, 0)) + rolled_[std::size_t(i)].minus; };
    std::vector<std::size_t> begin(2 * kernel_.nodes.size() + 1);
    for (int i = 0; i < int(rolled_.size()); ++i) ++begin[place(i) + 1];
    std::partial_sum(begin.begin(), begin.end(), begin.begin());
    std::vector<int> order(rolled_.size());
    for (int i = 0; i < int(rolled_.size()); ++i) order[begin[place(i)]++] = i;
    std::vector<Value> renamed(rolled_.size());
    result.nodes.clear();
    for (const int i : order) {
      Node n = rolled_[std::size_t(i)].node;
      for (Value* v : {&n.a, &n.b, &n.c})
        if (*v != kNone) *v = renamed[std::size_t(*v)];
      renamed[std::size_t(i)] = Value(result.nodes.size());
      result.nodes.push_back(n);
    }
    result.stores = groups_;
    for (std::size_t g = 0; g < groups_.size(); ++g) {
      Store& s = result.stores[g];
      (kernel_.trips == 1 ? s.place.stride : s.place.leap) = std::int16_t(distance_);
      s.value = renamed[std::size_t(roots_[g])];
    }
    return result;
  }

  struct SameNodes {
    const Attempt& attempt;
    std::span<const Value> values(int number) const {
      return std::span(attempt.values_).subspan(std::size_t(number) * attempt.trips_, attempt.trips_);
    }
    std::size_t operator()(int number) const {
      std::uint64_t h = attempt.rolled_[std::size_t(number)].minus;
      for (const Value v : values(number)) h = (h ^ std::uint64_t(v)) * 0x9E3779B97F4A7C15ull, h ^= h >> 29;
      return h;
    }
    bool operator()(int a, int b) const {
      return attempt.rolled_[std::size_t(a)].minus == attempt.rolled_[std::size_t(b)].minus &&
             std::ranges::equal(values(a), values(b));
    }
  };

  const Kernel& kernel_;
  const Signatures& signatures_;
  const std::size_t trips_;
  const int distance_;
  const std::size_t most_;
  std::vector<Store> groups_;  ///< those of the first trip
  std::vector<Value> stored_;  ///< [group][trip]
  std::vector<int> roots_;     ///< rolled nodes of the groups
  std::vector<Rolled> rolled_;
  std::vector<Value> values_;                                                    ///< [rolled node][trip]
  std::vector<int> constants_ = std::vector<int>(2 * kernel_.nodes.size(), -1);  ///< [node][minus]: its rolled node
  std::unordered_set<int, SameNodes, SameNodes> known_{64, SameNodes{*this}, SameNodes{*this}};
  std::vector<Factors> factors_;
};

/// Whether no trip reads a word that an earlier one has written.
bool trips_are_independent(const Kernel& kernel) {
  std::vector<Place> loads;
  for (const Node& n : kernel.nodes)
    if (n.op == Op::load && kernel.leaves[std::size_t(n.place.leaf)].written) loads.push_back(n.place);
  if (loads.empty()) return true;
  std::vector<std::pair<std::int16_t, int>> written;  // leaf, component
  for (int run = 0; run < runs(kernel); ++run) {
    const int trip = run % kernel.trips, round = run / kernel.trips;
    const auto word = [&](const Place& p) { return std::pair(p.leaf, component_in(p, trip, round)); };
    for (const Place& p : loads)
      if (p.slot != 0 || p.shifted_by != kernel.stores[0].place.shifted_by ||
          std::binary_search(written.begin(), written.end(), word(p)))
        return false;
    for (const Store& s : kernel.stores) written.push_back(word(s.place));
    std::sort(written.begin(), written.end());
  }
  return true;
}

/// The best loop for one more dimension: a trip of at most `wanted` nodes, then little work.
std::optional<Kernel> roll_once(const Kernel& kernel, std::size_t wanted, double most_work) {
  const Signatures signatures(kernel);
  const int stores = int(kernel.stores.size());
  const int components = kernel.leaves[std::size_t(kernel.stores[0].place.leaf)].components;
  const auto cost = [&](const Kernel& k) {
    return std::pair(std::max(k.nodes.size(), wanted), work(k) + double(k.nodes.size()));
  };
  std::optional<Kernel> best;
  std::size_t most = kernel.nodes.size() - 1;
  for (int trips = std::min(stores, kMostTrips); trips >= 2; --trips) {  // small ones first: they bound the others
    if (stores % trips != 0) continue;
    for (int distance = 1; trips * distance <= components; ++distance) {
      if (components % (trips * distance) != 0) continue;
      std::optional<Kernel> rolled = Attempt(kernel, signatures, trips, distance, most).run();
      if (!rolled || work(*rolled) > most_work || !trips_are_independent(*rolled)) continue;
      if (best && cost(*rolled) >= cost(*best)) continue;
      most = std::max(rolled->nodes.size(), wanted);
      best = std::move(rolled);
    }
  }
  return best;
}

}  // namespace

bool reroll(Kernel& kernel, std::size_t nodes) {
  if (kernel.stores.empty() || !kernel.reductions.empty()) return false;
  for (const Store& s : kernel.stores)
    if (s.place.leaf != kernel.stores[0].place.leaf || s.place.shifted_by != kernel.stores[0].place.shifted_by)
      return false;
  const double most_work = kMostRepeated * work(kernel);
  bool changed = false;
  while (kernel.nodes.size() > nodes && kernel.rounds == 1) {
    std::optional<Kernel> rolled = roll_once(kernel, nodes, most_work);
    if (!rolled) break;
    kernel = std::move(*rolled);
    changed = true;
  }
  return changed;
}

}  // namespace jit::ir
