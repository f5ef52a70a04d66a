// Sites and subsets as the tests of the language see them: coordinates, and subsets with a formula for who is a member.
#pragma once

#include "operations.hpp"

#include <functional>
#include <map>
#include <string>
#include <vector>

namespace tests {

/// The lattice of the moment: which coordinates belong to which host index.
class Places {
 public:
  explicit Places(const Extents& extents) : extents_(extents), sites_(sites_in_host_order(extents)) {
    for (std::size_t i = 0; i < sites_.size(); ++i) index_[sites_[i]] = i;
  }
  const Extents& extents() const { return extents_; }
  const std::vector<Extents>& sites() const { return sites_; }
  const Extents& at(std::size_t i) const { return sites_[i]; }
  std::size_t index(const Extents& x) const { return index_.at(x); }
  /// Host index of the neighbour `distance` steps away in direction mu, periodically.
  std::size_t neighbour(std::size_t i, int mu, int distance) const {
    Extents x = sites_[i];
    x[mu] = ((x[mu] + distance) % extents_[mu] + extents_[mu]) % extents_[mu];
    return index(x);
  }

 private:
  Extents extents_;
  std::vector<Extents> sites_;
  std::map<Extents, std::size_t> index_;
};

/// A colouring from a formula.
class Coloring : public QDP::SetFunc {
 public:
  Coloring(int colors, std::function<int(const Extents&)> f) : colors_(colors), f_(std::move(f)) {}
  int operator()(const QDP::multi1d<int>& x) const override { return f_(to_extents(x)); }
  int numSubsets() const override { return colors_; }

 private:
  int colors_;
  std::function<int(const Extents&)> f_;
};

struct NamedSubset {
  std::string name;
  QDP::Subset subset;
  std::function<bool(const Extents&)> contains;
};

/// Checkerboards, three-dimensional checkerboards, a time slice, scattered sites and no site at all.
inline std::vector<NamedSubset> subsets(const Extents& extents) {
  const int last = extents[3] - 1;
  const QDP::Set slices(Coloring(extents[3], [](const Extents& x) { return x[3]; }));
  const QDP::Set scattered(
      Coloring(3, [](const Extents& x) { return (x[0] + 2 * x[1] + x[2] * x[3]) % 3 == 0 ? 0 : 1; }));
  auto parity4 = [](const Extents& x) { return (x[0] + x[1] + x[2] + x[3]) % 2; };
  auto parity3 = [](const Extents& x) { return (x[0] + x[1] + x[2]) % 2; };
  return {
      {"all", QDP::all, [](const Extents&) { return true; }},
      {"rb[0]", QDP::rb[0], [=](const Extents& x) { return parity4(x) == 0; }},
      {"rb[1]", QDP::rb[1], [=](const Extents& x) { return parity4(x) == 1; }},
      {"rb3[0]", QDP::rb3[0], [=](const Extents& x) { return parity3(x) == 0; }},
      {"rb3[1]", QDP::rb3[1], [=](const Extents& x) { return parity3(x) == 1; }},
      {"time slice", slices[last], [=](const Extents& x) { return x[3] == last; }},
      {"scattered", scattered[0], [](const Extents& x) { return (x[0] + 2 * x[1] + x[2] * x[3]) % 3 == 0; }},
      {"none", scattered[2], [](const Extents&) { return false; }},
  };
}

inline const std::vector<Extents>& language_lattices() {
  static const std::vector<Extents> some{{4, 4, 4, 8}, {2, 2, 2, 2}, {3, 5, 7, 2}, {1, 1, 1, 1}};
  return some;
}

inline std::string name_of(const Extents& e) {
  return std::to_string(e[0]) + "x" + std::to_string(e[1]) + "x" + std::to_string(e[2]) + "x" + std::to_string(e[3]);
}

/// Runs body(places) on each lattice.
template <class Body>
void on_every_lattice(Body body) {
  for (const Extents& extents : language_lattices()) {
    CAPTURE(name_of(extents));
    create_lattice(extents);
    body(Places(extents));
  }
}

}  // namespace tests
