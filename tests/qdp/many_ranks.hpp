// Programs that run on lattices shared out over ranks: what they find must not depend on the grid of ranks.
//
//   check_same({4, 4, 4, 8}, {{1, 1, 1, 2}, {2, 2, 1, 1}}, [](tests::Findings& find) { ...; find.field(x); find.sum(norm2(x)); });
//
// The program runs once by one rank, and once by each grid's under each of the settings, in processes of their own (tests/ranks.hpp);
// every site of every field and every sum must have the same bits.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "jit/memory/field.hpp"
#include "qdp.h"
#include "tests/grid_of_ranks.hpp"
#include "tests/qdp/lattices.hpp"
#include "tests/ranks.hpp"

namespace tests {

/// What a program has found: of each site by its number in the lattice, and of the lattice as a whole.
class Findings {
 public:
  template <class T>
  void field(const QDP::OLattice<T>& x) {
    field(*x.field());
  }
  /// Of the present lattice, at the words of its host side.
  void field(jit::Field& x) {
    const auto* words = static_cast<const std::byte*>(x.host_read());
    const int bytes = static_cast<int>(x.host_bytes() / static_cast<std::size_t>(x.order().sites));
    for (int site = 0; site < QDP::Layout::sitesOnNode(); ++site) {
      const QDP::multi1d<int> coord = QDP::Layout::siteCoords(QDP::Layout::nodeNumber(), site);
      add(QDP::local_site(coord, QDP::Layout::lattSize()), words + static_cast<std::ptrdiff_t>(site) * bytes, bytes);
    }
    ++number_;
  }
  void sum(double x) {
    add(kWhole, &x, sizeof x);
    ++number_;
  }
  template <class T>
  void sum(const QDP::OScalar<T>& x) {
    add(kWhole, &x.elem(), sizeof(T));
    ++number_;
  }
  std::vector<std::byte> bytes() const { return bytes_; }

  static constexpr int kWhole = -1;
  struct Head {
    int number, site, bytes;
  };

 private:
  void add(int site, const void* data, int bytes) {
    const Head head{number_, site, bytes};
    const auto* h = reinterpret_cast<const std::byte*>(&head);
    const auto* d = static_cast<const std::byte*>(data);
    bytes_.insert(bytes_.end(), h, h + sizeof head);
    bytes_.insert(bytes_.end(), d, d + bytes);
  }

  int number_ = 0;
  std::vector<std::byte> bytes_;
};

using Program = void (*)(Findings&);
/// What a rank sets in its environment before it computes.
using Settings = void (*)(int rank);
inline void none(int) {}

/// Where all tests run on a real GPU, programs that are told of devices run on the processor and the simulated one all the same:
/// elementary functions are others on a real one.
inline void leave_real_gpus() {
  const char* const chosen = std::getenv("TESSERA_DEVICE");
  if (chosen != nullptr && std::string(chosen).starts_with("cuda")) setenv("TESSERA_DEVICE", "cpu", 1);
}

/// [number, site] what was found on all ranks. A site found by two, or a sum that differs between them, is kept as wrong.
/// `compared`: with what is found under other settings.
inline std::map<std::pair<int, int>, std::string> found(const Extents& extents, const Extents& grid, Program program,
                                                        Settings settings, bool compared = false) {
  const auto all = on_ranks<std::byte>(ranks_of(grid), [&](jit::Communicator& comm) {
    if (compared) leave_real_gpus();
    settings(comm.rank());
    share_out(grid);
    create_lattice(extents);
    Findings findings;
    program(findings);
    return findings.bytes();
  });
  std::map<std::pair<int, int>, std::string> values;
  for (const auto& rank : all)
    for (std::size_t at = 0; at < rank.size();) {
      Findings::Head head;
      std::memcpy(&head, rank.data() + at, sizeof head);
      at += sizeof head;
      const std::string value(reinterpret_cast<const char*>(rank.data() + at), static_cast<std::size_t>(head.bytes));
      at += static_cast<std::size_t>(head.bytes);
      const auto [known, is_new] = values.emplace(std::pair{head.number, head.site}, value);
      if (!is_new && (head.site != Findings::kWhole || known->second != value)) known->second = "wrong";
    }
  return values;
}

/// Checks that the program finds the same on each grid of ranks, and how often it found something; under each of the settings.
inline void check_same(const Extents& extents, const std::vector<Extents>& grids, Program program,
                       const std::vector<Settings>& settings) {
  REQUIRE(!settings.empty());
  const bool compared = settings != std::vector<Settings>{none};
  const auto alone = found(extents, Extents(1, 1, 1, 1), program, none, compared);
  REQUIRE(!alone.empty());
  for (std::size_t set = 0; set < settings.size(); ++set)
    for (const Extents& grid : grids) {
      CAPTURE(QDP::detail::to_string(extents));
      CAPTURE(QDP::detail::to_string(grid));
      CAPTURE(set);
      const auto shared = found(extents, grid, program, settings[set], compared);
      CHECK(shared.size() == alone.size());
      std::map<int, int> different;  // sites, by the number of the finding
      for (const auto& [place, value] : alone) {
        const auto other = shared.find(place);
        if (other == shared.end() || other->second != value) ++different[place.first];
      }
      for (const auto& [number, sites] : different) {
        CAPTURE(number);
        CHECK(sites == 0);
      }
    }
}

inline void check_same(const Extents& extents, const std::vector<Extents>& grids, Program program,
                       Settings settings = none) {
  check_same(extents, grids, program, std::vector{settings});
}

}  // namespace tests
