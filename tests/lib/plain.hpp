// From fields of the language to the plain arrays of tests/reference, through elements alone.
#pragma once

#include "tests/lib/lattice.hpp"
#include "tests/reference/links.hpp"
#include "tests/reference/whole.hpp"

namespace tests {

inline QDP::multi1d<int> as_site(const reference::Coordinates& x) {
  QDP::multi1d<int> site(QDP::Nd);
  for (int mu = 0; mu < QDP::Nd; ++mu) site[mu] = x[static_cast<std::size_t>(mu)];
  return site;
}

/// Of the whole lattice, on every rank.
inline std::size_t host_index(const reference::Links& lattice, int x) {
  QDP::detail::Coord at{};
  for (std::size_t mu = 0; mu < at.size(); ++mu) at[mu] = lattice.coordinates(x)[mu];
  return static_cast<std::size_t>(QDP::detail::present_lattice("host_index")->whole().index(at));
}

inline reference::Links plain_links(const GaugeField& u) {
  reference::Coordinates extents{};
  for (int mu = 0; mu < QDP::Nd; ++mu) extents[static_cast<std::size_t>(mu)] = QDP::Layout::lattSize()[mu];
  reference::Links links(extents);
  for (int mu = 0; mu < QDP::Nd; ++mu) {
    const auto sites = reference::whole(u[mu]);
    for (int x = 0; x < links.volume(); ++x)
      for (std::size_t i = 0; i < 3; ++i)
        for (std::size_t j = 0; j < 3; ++j) {
          const auto& z = sites[host_index(links, x)].elem().elem(static_cast<int>(i), static_cast<int>(j));
          links.at(x, mu)[i][j] = {static_cast<double>(z.real()), static_cast<double>(z.imag())};
        }
  }
  return links;
}

/// Components per site: spins times colours.
template <class F>
constexpr int kPerSite = F::kShape.components() / 2;

/// All components, in the order of tests/reference/quarks.hpp.
template <class F>
reference::Vector plain_vector(const F& psi, const reference::Links& lattice) {
  const auto sites = reference::whole(psi);
  reference::Vector v;
  for (int x = 0; x < lattice.volume(); ++x) {
    const auto& site = sites[host_index(lattice, x)];
    for (int i = 0; i < kPerSite<F>; ++i) {
      const auto& z = site.elem(i / 3).elem(i % 3);
      v.emplace_back(static_cast<double>(z.real()), static_cast<double>(z.imag()));
    }
  }
  return v;
}

/// Those with these numbers.
inline reference::Vector part(const reference::Vector& v, const std::vector<int>& numbers) {
  reference::Vector some;
  for (const int i : numbers) some.push_back(v[static_cast<std::size_t>(i)]);
  return some;
}

/// Factors for the links that leave the last slice of each direction.
inline reference::Links with_boundary(const reference::Links& u, const std::array<double, 4>& factors) {
  return with_phases(u, [&](const reference::Coordinates& x, int mu) {
    const auto m = static_cast<std::size_t>(mu);
    return reference::Complex(x[m] == u.extents()[m] - 1 ? factors[m] : 1.0);
  });
}

}  // namespace tests
