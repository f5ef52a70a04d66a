// A bench for kernels: random fields and neighbour tables, the compiled kernel on one side, the interpreter site by
// site on the other. What the two must agree on is the meaning of the IR. Kernels of blocks (CPU) and of one thread per
// site (host form) are run alike.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <random>
#include <type_traits>
#include <vector>

#include "jit/codegen/codegen.hpp"
#include "jit/ir/abi.hpp"
#include "jit/ir/ir.hpp"
#include "jit/ir/site_layout.hpp"
#include "jit/support/error.hpp"
#include "tests/jit/reduced.hpp"

namespace lab {

using jit::ir::Kernel;
using jit::ir::Node;
using jit::ir::Op;
using jit::ir::Place;
using jit::ir::Type;
using jit::ir::Value;

/// What the threads of launches of a kernel with reductions add to, and where they leave the results (abi.hpp).
class SimtSums {
 public:
  explicit SimtSums(const Kernel& kernel) : kernel_(kernel) {
    const std::size_t words = jit::bytes_of_sums(kernel.reductions.size()) / sizeof(std::uint64_t);
    sums_.assign(words, 0);
    results_.assign(words, 0xDEAD);
    results_[0] = 0;  // the mark
  }
  jit::SumHeader* sums() { return reinterpret_cast<jit::SumHeader*>(sums_.data()); }
  jit::SumHeader* results() { return reinterpret_cast<jit::SumHeader*>(results_.data()); }
  std::uint64_t next_launch() { return ++launches_; }

  /// The values of the last launch; throws unless it has handed them over and left zeros.
  std::vector<double> take() {
    if (kernel_.reductions.empty()) return {};
    if (results()->mark != launches_) throw jit::InternalError("a launch without results");
    if (std::count(sums_.begin(), sums_.end(), 0u) != std::ptrdiff_t(sums_.size()))
      throw jit::InternalError("sums that are not zero after a launch");
    std::vector<double> values;
    for (std::size_t r = 0; r < kernel_.reductions.size(); ++r)
      values.push_back(reduced(kernel_.reductions[r].kind, jit::bins_behind(results())[r]));
    return values;
  }

 private:
  const Kernel& kernel_;
  std::vector<std::uint64_t> sums_, results_;
  std::uint64_t launches_ = 0;
};

constexpr Type kTypes[] = {Type::b1, Type::i32, Type::i64, Type::f32, Type::f64};

/// A word of any type, and how far two may differ.
struct Word {
  Type type;
  std::uint64_t bits;  ///< in the low bytes

  double real() const {
    float f;
    double d;
    std::memcpy(&f, &bits, sizeof f);
    std::memcpy(&d, &bits, sizeof d);
    return type == Type::f32 ? double(f) : d;
  }
  /// Equal to the bit (any NaN equals any NaN), or for floats within `ulps` units in the last place.
  bool agrees(const Word& other, double ulps) const {
    if (bits == other.bits) return true;
    if (!jit::ir::is_float(type)) return false;
    const double x = real(), y = other.real();
    if (std::isnan(x) || std::isnan(y)) return std::isnan(x) && std::isnan(y);
    if (ulps == 0 || std::isinf(x) || std::isinf(y)) return false;
    const double unit =
        type == Type::f32 ? std::numeric_limits<float>::epsilon() : std::numeric_limits<double>::epsilon();
    const double tiny = type == Type::f32 ? std::numeric_limits<float>::min() : std::numeric_limits<double>::min();
    return std::fabs(x - y) <= ulps * unit * std::max({std::fabs(x), std::fabs(y), tiny});
  }
};

/// 64-byte aligned memory of one field in device order; in host order that of one lane.
class Field {
 public:
  Field(int lanes, Type type, int components, int sites)
      : lanes_(lanes),
        type_(type),
        components_(components),
        store_(new(std::align_val_t{64}) char[std::size_t(sites * components * jit::ir::bytes(type))]()) {}

  void* data() const { return store_.get(); }
  int components() const { return components_; }
  Type type() const { return type_; }
  Word get(std::int64_t position, int component) const {
    Word w{type_, 0};
    std::memcpy(&w.bits, at(position, component), std::size_t(jit::ir::bytes(type_)));
    return w;
  }
  void set(std::int64_t position, int component, std::uint64_t bits) {
    std::memcpy(at(position, component), &bits, std::size_t(jit::ir::bytes(type_)));
  }

 private:
  char* at(std::int64_t position, int component) const {
    return store_.get() + jit::word_index(lanes_, type_, components_, position, component) * jit::ir::bytes(type_);
  }
  struct Free {
    void operator()(char* p) const { ::operator delete[](p, std::align_val_t{64}); }
  };
  int lanes_;
  Type type_;
  int components_;
  std::unique_ptr<char[], Free> store_;
};

/// Random words: small integers and zeros beside numbers of all sizes, so that branches and comparisons see both sides.
class Dice {
 public:
  explicit Dice(unsigned seed) : engine_(seed) {}
  int below(int n) { return int(engine_() % unsigned(n)); }
  std::uint64_t word(Type type) {
    const std::int64_t small = below(9) - 4;
    const double real = below(4) == 0 ? double(small) : std::uniform_real_distribution<double>(-3, 3)(engine_);
    const float single = float(real);
    std::uint64_t bits = 0;
    switch (type) {
      case Type::b1:
        return engine_() & 1;
      case Type::i32:
        return std::uint32_t(below(2) ? std::uint32_t(small) : std::uint32_t(engine_()));
      case Type::i64:
        return below(2) ? std::uint64_t(small) : engine_();
      case Type::f32:
        std::memcpy(&bits, &single, sizeof single);
        return bits;
      case Type::f64:
        std::memcpy(&bits, &real, sizeof real);
        return bits;
    }
    return 0;
  }
  /// One at which operations have their corners: zeros, infinities, not-a-number, denormals, halves, the ends of ranges; or any.
  std::uint64_t corner(Type type) {
    if (below(3) == 0) return word(type);
    const auto one_of = [&](const auto&... x) {
      const std::uint64_t all[] = {bits_of(x)...};
      return all[below(sizeof...(x))];
    };
    constexpr double infinity = std::numeric_limits<double>::infinity();
    switch (type) {
      case Type::b1:
        return word(type);
      case Type::i32:
        return one_of(0, 1, -1, 2, 7, 31, 32, -31, 65535, 16777217, INT32_MAX, INT32_MIN);
      case Type::i64:
        return one_of(std::int64_t{0}, std::int64_t{-1}, std::int64_t{31}, std::int64_t{64}, std::int64_t{-64},
                      std::int64_t{16777217}, std::int64_t{9007199254740993}, INT64_MAX, INT64_MIN);
      case Type::f32:
        return one_of(0.0F, -0.0F, float(infinity), float(-infinity), std::nanf(""), 1e-45F, -1e-40F, 3e38F, 0.5F,
                      -0.5F, 2.5F, 0.49999997F, 8388607.5F, 2147483520.0F, 2147483648.0F, -2147483904.0F, 9.3e18F);
      case Type::f64:
        return one_of(0.0, -0.0, infinity, -infinity, std::nan(""), 5e-324, -1e-310, 1e308, 1e-300, 0.5, -0.5, 2.5,
                      0.49999999999999994, 4503599627370495.5, 2147483647.5, -2147483648.5, 9.3e18, 1e-40);
    }
    return 0;
  }
  std::mt19937_64& engine() { return engine_; }

 private:
  template <class T>
  static std::uint64_t bits_of(T x) {
    std::uint64_t bits = 0;
    std::memcpy(&bits, &x, sizeof x);
    return bits;
  }

  std::mt19937_64 engine_;
};

/// Finished code as a function of this process.
template <class Function>
Function code(const jit::CompiledKernel& compiled) {
  return reinterpret_cast<Function>(const_cast<void*>(compiled.code));
}

/// For code that is built and not run.
class NoNotes : public jit::BuildNotes {
 public:
  bool wants(const char*) const override { return false; }
  void stage(const char*, const std::string&) override {}
  void emitted() override {}
};

inline bool is_inexact(const Kernel& kernel) {
  for (const Node& n : kernel.nodes)
    if (n.op >= Op::sin && n.op <= Op::fmod) return true;
  return false;
}

/// Fields, tables, scalars and a domain for a kernel; runs it both ways.
class Lab {
 public:
  static constexpr int kGroups = 6, kPadding = 8;

  Lab(const Kernel& kernel, unsigned seed) : kernel_(kernel), dice_(seed), sites_(kGroups * kernel.lanes) {
    for (const auto& leaf : kernel.leaves) {
      fields_.emplace_back(leaf.host_order ? 1 : kernel.lanes, leaf.word, leaf.components, sites_);
      for (int p = 0; p < sites_; ++p)
        for (int c = 0; c < leaf.components; ++c) fields_.back().set(p, c, dice_.word(leaf.word));
    }
    for (const auto& slot : kernel.slots) {
      const int entries = slot.gathered ? sites_ : kGroups;
      std::vector<std::int32_t> table(std::size_t(entries + kPadding * (slot.gathered ? kernel.lanes : 1)));
      for (auto& t : table) t = slot.gathered ? dice_.below(sites_) : 2 * dice_.below(kGroups) + dice_.below(2);
      tables_.push_back(std::move(table));
    }
    for (Type t : kernel.arguments) scalars_.push_back(dice_.word(t));
    for (std::size_t i = 0; i < scalars_.size(); ++i)
      if (const int most = furthest_shift(std::int16_t(i)); most >= 0)
        scalars_[i] = std::uint64_t(dice_.below(most + 1));
    for (int g = 0; g < kGroups; ++g) {
      const bool in = !kernel.listed || dice_.below(3) != 0;
      if (in) groups_.push_back(g);
      if (in) masks_.push_back(kernel.listed ? dice_.engine()() : ~std::uint64_t{0});
    }
  }

  /// Words with corners in all fields.
  void set_corners() {
    for (Field& f : fields_)
      for (int p = 0; p < sites_; ++p)
        for (int c = 0; c < f.components(); ++c) f.set(p, c, dice_.corner(f.type()));
  }
  std::vector<Field>& fields() { return fields_; }
  std::vector<std::uint64_t>& scalars() { return scalars_; }
  int sites() const { return sites_; }

  /// Position of site p's neighbour in a slot's frame.
  int neighbour(int slot, int p) const {
    if (slot == 0) return p;
    const auto& s = kernel_.slots[std::size_t(slot)];
    const int parent = neighbour(s.parent, p);
    const auto& table = tables_[std::size_t(slot)];
    if (s.gathered) return table[std::size_t(parent)];
    const int t = table[std::size_t(parent / kernel_.lanes)];
    return (t >> 1) * kernel_.lanes + (t & 1 ? s.exchange.source(parent % kernel_.lanes) : parent % kernel_.lanes);
  }

  /// Number of words (and reductions) in which the compiled kernel differs from the interpreter.
  template <class Function = jit::KernelFunction>
  int disagreements(jit::Compiler& compiler, const jit::CodeOptions& options = {}, double ulps = 4) {
    const auto function = code<Function>(compiler.compile(kernel_, options));
    return disagreements(
        [&] {
          if constexpr (std::is_same_v<Function, jit::SimtFunction>)
            run(function, 13, options.sites);
          else
            run(function);
        },
        ulps);
  }

  template <class Run>
  int disagreements(Run&& run_kernel, double ulps) {
    if (!is_inexact(kernel_)) ulps = 0;
    std::vector<std::vector<Word>> expected = snapshot();
    std::vector<double> results;
    interpret_all(expected, results);
    run_kernel();
    int bad = 0;
    const std::vector<std::vector<Word>> got = snapshot();
    for (std::size_t f = 0; f < got.size(); ++f)
      for (std::size_t i = 0; i < got[f].size(); ++i) bad += !got[f][i].agrees(expected[f][i], ulps);
    for (std::size_t r = 0; r < results.size(); ++r) {
      const double mine = reductions_[r], theirs = results[r];
      const bool both_nan = std::isnan(mine) && std::isnan(theirs);
      bad += !(both_nan || mine == theirs || std::fabs(mine - theirs) <= 1e-12 * (std::fabs(mine) + size_[r]));
    }
    return bad;
  }

  void run(jit::KernelFunction function) {
    run_shares([&](const jit::LaunchArguments& arguments, std::int64_t begin, std::int64_t end) {
      function(&arguments, begin, end);
    });
  }

  template <class Share>
  void run_shares(Share&& share) {
    std::vector<void*> fields;
    for (const Field& f : fields_) fields.push_back(f.data());
    std::vector<const std::int32_t*> tables;
    for (const auto& t : tables_) tables.push_back(t.data());
    std::vector<jit::SumAccumulator> sums(2 * kernel_.reductions.size());
    for (std::size_t i = 0; i < sums.size(); ++i) reset(sums[i], kernel_.reductions[i / 2].kind);
    std::vector<jit::SumAccumulator> mine(kernel_.reductions.size());
    const std::int64_t count = std::int64_t(groups_.size());
    for (int part = 0; part < 2; ++part) {  // as two threads would
      for (std::size_t r = 0; r < mine.size(); ++r) mine[r] = sums[2 * r + std::size_t(part)];
      const jit::LaunchArguments arguments{fields.data(),  tables.data(), scalars_.data(),
                                           groups_.data(), masks_.data(), mine.data()};
      share(arguments, part == 0 ? 0 : count / 2, part == 0 ? count / 2 : count);
      for (std::size_t r = 0; r < mine.size(); ++r) sums[2 * r + std::size_t(part)] = mine[r];
    }
    reductions_.clear();
    for (std::size_t r = 0; r < mine.size(); ++r)
      reductions_.push_back(reduced(kernel_.reductions[r].kind, sums[2 * r], sums[2 * r + 1]));
  }

  /// `threads` threads, run in two parts, as two threads of the host would. Kernels without reductions get at least as
  /// many as the domain needs if each takes `sites` of it, where it can.
  void run(jit::SimtFunction function, std::int64_t threads = 13, int sites = 1) {
    const auto count = std::int64_t(groups_.size());
    if (kernel_.reductions.empty())
      threads = std::max(threads, count * kernel_.lanes / jit::sites_per_thread(kernel_, sites));
    SimtSums sums(kernel_);
    const std::vector<std::uint64_t> packet = simt_packet(&sums, 0, count);
    function(packet.data(), threads / 2, threads, threads);
    function(packet.data(), 0, threads / 2, threads);
    reductions_ = sums.take();
  }

  /// The parameters of a kernel of one thread per site, for groups (entries) [begin, end).
  std::vector<std::uint64_t> simt_packet(SimtSums* sums, std::int64_t begin, std::int64_t end) const {
    std::vector<std::uint64_t> packet;
    const auto add = [&](const void* p) { packet.push_back(reinterpret_cast<std::uintptr_t>(p)); };
    for (const Field& f : fields_) add(f.data());
    for (std::size_t s = 1; s < tables_.size(); ++s) add(tables_[s].data());
    packet.insert(packet.end(), scalars_.begin(), scalars_.end());
    if (kernel_.listed) add(groups_.data());
    if (kernel_.listed) add(masks_.data());
    if (!kernel_.reductions.empty()) {
      add(sums->sums());
      add(sums->results());
      packet.push_back(sums->next_launch());
    }
    packet.push_back(std::uint64_t(begin));
    packet.push_back(std::uint64_t(end));
    return packet;
  }

  /// Number of words and reductions whose bits differ from those of another run of the same kernel; any NaN equals any
  /// NaN. The sign of a zero maximum or minimum is not defined.
  int differences(const Lab& other) const {
    int bad = 0;
    const auto mine = snapshot(), theirs = other.snapshot();
    for (std::size_t f = 0; f < mine.size(); ++f)
      for (std::size_t i = 0; i < mine[f].size(); ++i) bad += !mine[f][i].agrees(theirs[f][i], 0);
    for (std::size_t r = 0; r < reductions_.size(); ++r) {
      const Word a{Type::f64, std::bit_cast<std::uint64_t>(reductions_[r])},
          b{Type::f64, std::bit_cast<std::uint64_t>(other.reductions_[r])};
      const bool zeros = kernel_.reductions[r].kind != jit::ir::Reduction::Kind::sum && a.real() == 0 && b.real() == 0;
      bad += !(zeros || a.agrees(b, 0));
    }
    return bad;
  }

  const std::vector<double>& reductions() const { return reductions_; }

 private:
  /// How far an argument may shift the places that it shifts; -1: there are none.
  int furthest_shift(std::int16_t argument) const {
    int most = -1;
    const auto look = [&](const Place& p) {
      if (p.shifted_by != argument) return;
      const int last = p.component + (kernel_.trips - 1) * p.stride + (kernel_.rounds - 1) * p.leap;
      const int room = kernel_.leaves[std::size_t(p.leaf)].components - 1 - last;
      most = most < 0 ? room : std::min(most, room);
    };
    for (const Node& n : kernel_.nodes)
      if (n.op == Op::load) look(n.place);
    for (const auto& s : kernel_.stores) look(s.place);
    return most;
  }

  std::vector<std::vector<Word>> snapshot() const {
    std::vector<std::vector<Word>> words;
    for (const Field& f : fields_) {
      words.emplace_back();
      for (int p = 0; p < sites_; ++p)
        for (int c = 0; c < f.components(); ++c) words.back().push_back(f.get(p, c));
    }
    return words;
  }

  /// The interpreter knows slot 0 only: a leaf in another frame becomes a leaf of its own that holds the neighbour's
  /// words.
  void interpret_all(std::vector<std::vector<Word>>& words, std::vector<double>& results) {
    const auto before = words;
    const std::size_t leaves = kernel_.leaves.size();
    Kernel flat = kernel_;
    for (std::size_t s = 1; s < kernel_.slots.size(); ++s)
      flat.leaves.insert(flat.leaves.end(), kernel_.leaves.begin(), kernel_.leaves.end());
    for (Node& n : flat.nodes)
      if (n.op == Op::load)
        n.place = {std::int16_t(n.place.leaf + n.place.slot * int(leaves)),
                   0,
                   n.place.component,
                   n.place.stride,
                   n.place.leap,
                   n.place.shifted_by};
    using Kind = jit::ir::Reduction::Kind;
    const double infinity = std::numeric_limits<double>::infinity();
    for (const auto& r : kernel_.reductions)
      results.push_back(r.kind == Kind::sum ? 0 : r.kind == Kind::max ? -infinity : infinity);
    size_.assign(results.size(), 0.0);

    for (std::size_t entry = 0; entry < groups_.size(); ++entry)
      for (int lane = 0; lane < kernel_.lanes; ++lane) {
        if (!(masks_[entry] >> lane & 1)) continue;
        const int p = groups_[entry] * kernel_.lanes + lane;
        std::vector<std::vector<char>> memory;
        std::vector<void*> pointers;
        for (std::size_t i = 0; i < flat.leaves.size(); ++i) {
          const std::size_t leaf = i % leaves, size = std::size_t(jit::ir::bytes(flat.leaves[i].word));
          const int from = neighbour(int(i / leaves), p), n = flat.leaves[i].components;
          memory.emplace_back(std::size_t(n) * size);
          for (int c = 0; c < n; ++c)
            std::memcpy(&memory.back()[std::size_t(c) * size], &before[leaf][std::size_t(from * n + c)].bits, size);
        }
        for (auto& m : memory) pointers.push_back(m.data());
        std::vector<double> one(results.size());
        jit::ir::interpret(flat, pointers.data(), scalars_.data(), one.data());
        for (std::size_t leaf = 0; leaf < leaves; ++leaf) {
          if (!kernel_.leaves[leaf].written) continue;
          const std::size_t size = std::size_t(jit::ir::bytes(kernel_.leaves[leaf].word));
          const int n = kernel_.leaves[leaf].components;
          for (int c = 0; c < n; ++c)
            std::memcpy(&words[leaf][std::size_t(p * n + c)].bits, &memory[leaf][std::size_t(c) * size], size);
        }
        for (std::size_t r = 0; r < one.size(); ++r) {
          const Kind kind = kernel_.reductions[r].kind;
          results[r] = kind == Kind::sum   ? results[r] + one[r]
                       : kind == Kind::max ? std::max(results[r], one[r])
                                           : std::min(results[r], one[r]);
          size_[r] += std::fabs(one[r]);
        }
      }
  }

  const Kernel& kernel_;
  Dice dice_;
  int sites_;
  std::vector<Field> fields_;
  std::vector<std::vector<std::int32_t>> tables_;
  std::vector<std::uint64_t> scalars_;
  std::vector<std::int32_t> groups_;
  std::vector<std::uint64_t> masks_;
  std::vector<double> reductions_, size_;
};

}  // namespace lab
