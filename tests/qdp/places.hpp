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

/// A number without a pattern: members of the scattered subset have a multiple of three.
inline int scatter(const Extents& x) {
  int product = QDP_ND > 2;
  for (std::size_t mu = 2; mu < x.size(); ++mu) product *= x[mu];
  return x[0] + 2 * x[1] + product;
}

/// Checkerboards, those of up to three dimensions, a time slice, scattered sites and no site at all.
inline std::vector<NamedSubset> subsets(const Extents& extents) {
  const int last = extents.back() - 1;
  const QDP::Set slices(Coloring(extents.back(), [](const Extents& x) { return x.back(); }));
  const QDP::Set scattered(Coloring(3, [](const Extents& x) { return scatter(x) % 3 == 0 ? 0 : 1; }));
  auto parity3 = [](const Extents& x) { return std::accumulate(x.begin(), x.begin() + std::min(QDP_ND, 3), 0) & 1; };
  return {
      {"all", QDP::all, [](const Extents&) { return true; }},
      {"rb[0]", QDP::rb[0], [=](const Extents& x) { return parity_of(x) == 0; }},
      {"rb[1]", QDP::rb[1], [=](const Extents& x) { return parity_of(x) == 1; }},
      {"rb3[0]", QDP::rb3[0], [=](const Extents& x) { return parity3(x) == 0; }},
      {"rb3[1]", QDP::rb3[1], [=](const Extents& x) { return parity3(x) == 1; }},
      {"time slice", slices[last], [=](const Extents& x) { return x.back() == last; }},
      {"scattered", scattered[0], [](const Extents& x) { return scatter(x) % 3 == 0; }},
      {"none", scattered[2], [](const Extents&) { return false; }},
  };
}

inline const std::vector<Extents>& language_lattices() {
  static const std::vector<Extents> some = shared_out({{4, 4, 4, 8}, {2, 2, 2, 2}, {3, 5, 7, 2}, {1, 1, 1, 1}});
  return some;
}

inline std::string name_of(const Extents& e) {
  std::string name = std::to_string(e[0]);
  for (std::size_t mu = 1; mu < e.size(); ++mu) name += "x" + std::to_string(e[mu]);
  return name;
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
