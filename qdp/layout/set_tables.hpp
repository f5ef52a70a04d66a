// What sets are made of: the sites of each colour, as kernels visit them and on the host. Programs have Set and Subset (subset.hpp).
#pragma once

#include "jit/memory/sites.hpp"
#include "jit/support/on_demand.hpp"
#include "qdp/layout/lattice.hpp"
#include "qdp/util/multi.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace QDP::detail {

struct SetTables;

/// The sites of one colour on the host.
struct HostSites {
  multi1d<int> sites;        ///< host indices, ascending
  bool ordered = false;      ///< they are start..end without holes
  int start = -1, end = -1;  ///< first and last if ordered
};

/// What is known of the sites of one colour.
struct SubsetTables {
  int color = 0;
  jit::Domain domain;             ///< as a kernel visits them
  std::int64_t global_sites = 0;  ///< of all ranks
  const SetTables* set = nullptr;

  const HostSites& host_sites() const;
};

/// Everything of a set. Kernels need the domains; what only the host asks for is made at the first question.
struct SetTables {
  std::string name;                          ///< "rb3", or "set" for the user's
  const LatticeState* lattice = nullptr;     ///< the one it was made for
  std::vector<SubsetTables> subsets = {};    ///< [colours]
  std::function<multi1d<int>()> color = {};  ///< [sites] by host index
  std::shared_ptr<const void> keeper = {};   ///< of the lattice, for sets that it does not own
  jit::OnDemand<multi1d<int>> all_colors = {};
  jit::OnDemand<std::vector<HostSites>> all_sites = {};

  /// Statements that wait may be over its subsets.
  ~SetTables();
  const multi1d<int>& colors() const;
  /// Of what has been made so far.
  std::size_t bytes() const;
};

std::unique_ptr<SetTables> make_default_set(const LatticeState& lattice, DefaultSet which);

}  // namespace QDP::detail
