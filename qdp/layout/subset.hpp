// Sets colour the lattice; a subset is the sites of one colour.
//
//   chi[rb[0]] = zero;                    // even sites
//   Set timeslices(TimeSliceFunc(3));     // by the user, at any time after Layout::create()
//   sumMulti(x, timeslices)
//
// Sets and subsets are light to copy: they share their tables, which live as long as anyone needs them. They belong to
// the layout they were made for.
#pragma once

#include "jit/runtime/sites.hpp"
#include "qdp/util/multi.hpp"

#include <memory>
#include <string>
#include <vector>

namespace QDP {

/// The colour of a site, 0 .. numSubsets() - 1.
class SetFunc {
 public:
  virtual ~SetFunc() = default;
  virtual int operator()(const multi1d<int>& coordinate) const = 0;
  virtual int numSubsets() const = 0;
};

class Set;

namespace detail {

struct SetTables;

const std::shared_ptr<const jit::SiteOrder>& site_order();  // layout.hpp

/// What is known of the sites of one colour.
struct SubsetTables {
  int color = 0;
  bool ordered = false;      ///< the host indices are start..end without holes
  int start = -1, end = -1;  ///< first and last host index if ordered
  multi1d<int> sites;        ///< host indices, ascending
  jit::Domain domain;        ///< the same sites as a kernel visits them
  const SetTables* set = nullptr;
};

/// Everything of a set.
struct SetTables {
  std::string name;  ///< "rb3", or "set" for the user's
  std::shared_ptr<const jit::SiteOrder> order;
  multi1d<int> colors;  ///< [sites] by host index
  std::vector<SubsetTables> subsets;
};

}  // namespace detail

class Subset {
 public:
  Subset() = default;
  virtual ~Subset() = default;
  Subset(const Subset&) = default;
  Subset& operator=(const Subset&) = default;
  void make(const Subset& s) { *this = s; }

  // ---- as in QDP++. All of this throws jit::UserError for a subset that no set has made.

  int color() const { return tables().color; }
  /// Host indices are start()..end() without a hole: then both are valid, otherwise -1.
  bool hasOrderedRep() const { return tables().ordered; }
  int start() const { return tables().start; }
  int end() const { return tables().end; }
  /// Host indices, ascending.
  const multi1d<int>& siteTable() const { return tables().sites; }
  int numSiteTable() const { return tables().sites.size(); }
  Set getSet() const;

  // ---- for the expression language

  /// Throws jit::UserError if the subset was made for an earlier layout.
  const jit::Domain& domain() const {
    const detail::SubsetTables& own = tables();
    if (own.set->order != detail::site_order()) [[unlikely]]
      fail_layout();
    return own.domain;
  }
  /// The same, and throws jit::UserError for a field of an earlier layout too.
  const jit::Domain& domain_for(const jit::SiteOrder& field_order) const {
    const jit::Domain& own = domain();
    if (&field_order != order().get()) [[unlikely]]
      fail_field();
    return own;
  }
  const std::shared_ptr<const jit::SiteOrder>& order() const { return tables().set->order; }
  /// "rb3[1]", for messages.
  std::string name() const;

 private:
  friend class Set;
  const detail::SubsetTables& tables() const {
    if (!tables_) [[unlikely]]
      fail_empty();
    return *tables_;
  }
  [[noreturn]] static void fail_empty();
  [[noreturn]] void fail_layout() const;
  [[noreturn]] void fail_field() const;

  std::shared_ptr<const detail::SubsetTables> tables_;  ///< shares ownership of the whole SetTables
};

class Set {
 public:
  Set() = default;
  Set(const SetFunc& function) { make(function); }
  virtual ~Set() = default;
  Set(const Set&) = default;
  Set& operator=(const Set&) = default;

  /// Calls the function once per site. Throws jit::UserError naming the site if a colour is out of range.
  void make(const SetFunc& function);

  /// Throws jit::UserError if the index is out of range. The reference is valid as long as this set.
  const Subset& operator[](int subset_index) const {
    if (subset_index < 0 || subset_index >= numSubsets()) [[unlikely]]
      fail_index(subset_index);
    return subsets_[subset_index];
  }
  int numSubsets() const { return static_cast<int>(subsets_.size()); }
  /// Colour of each site, by host index.
  const multi1d<int>& latticeColoring() const;

 private:
  friend class Subset;
  friend void initDefaultSets();
  void share(std::shared_ptr<const detail::SetTables> tables);
  [[noreturn]] void fail_index(int subset_index) const;

  std::shared_ptr<const detail::SetTables> tables_;
  std::vector<Subset> subsets_;
};

/// Every site.
extern Subset all;
/// Red-black: colour = parity of x+y+z+t.
extern Set rb;
/// Red-black in the first three directions: colour = parity of x+y+z.
extern Set rb3;
/// 2^(Nd+1) colours: place in the 2^Nd hypercube, lowest bit x, and above it the parity of the hypercube.
extern Set mcb;
/// rb[0] and rb[1].
extern Subset even, odd;

/// Makes the sets above anew; Layout::create() does.
void initDefaultSets();

}  // namespace QDP
