// Statements that need values of other ranks (design D6): what is sent, and what is computed while it travels.
//
// The values leave when the statement is issued, on all ranks in the order of their statements. It may be computed later, together
// with statements and sums that have come meanwhile (queue.hpp), and by one rank alone: what it needs of the others is on its way.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "jit/ir/sum.hpp"
#include "qdp/expr/execute.hpp"
#include "qdp/layout/lattice_state.hpp"

namespace QDP::detail {

bool leaves_the_rank(const Statement& statement);
/// Whether it has shifts through maps that leave the rank: the same on all ranks, since a map leaves all or none.
inline bool needs_messages(const Statement& statement, const LatticeState& lattice) {
  return lattice.grid().size() > 1 && leaves_the_rank(statement);
}

/// What messages have taken so far on this rank, in seconds and in all: how well they hide behind the inner sites.
struct ExchangeTimes {
  double pack = 0;                            ///< values for others into buffers, and their start
  double inner = 0;                           ///< inner sites, with what faces need from here
  double wait = 0;                            ///< for messages, when there is nothing else to do
  double faces = 0;                           ///< from what has arrived to the faces' sites
  std::int64_t statements = 0, messages = 0;  ///< sent
  std::int64_t bytes = 0;                     ///< sent
  std::int64_t notes = 0, bytes_kept = 0;     ///< messages in the place of what others have; what these would have been
  std::int64_t inner_sites = 0, face_sites = 0;
};
ExchangeTimes exchange_times();
/// The same for TESSERA_LOG=info,comm, if there was any.
void log_exchange_times();

/// For TESSERA_CHECK=1, before anything of the statement that is collective: throws UserError unless all ranks are at the
/// same one, naming what this one and another are at. Collective.
void check_same_on_all_ranks(const Statement& statement);

/// A program whose values for other ranks have left. Not computed at its end, it is discarded.
class Sent {
 public:
  virtual ~Sent() = default;
  /// Inner sites, then what needs the others' values. What the sums find on this rank joins `found`.
  virtual void compute(std::span<jit::ReductionValue> found) = 0;
  /// In the place of compute(): what the others have sent is received nevertheless.
  virtual void discard() = 0;
};

/// Sends what the others need for a program, to which statements may be added afterwards that need no messages and change nothing
/// that it reads elsewhere; program and domain outlive what is returned. Collective, as execute() is. nullptr, and nothing has happened:
/// it has shifts in shifts, which are computed in steps.
std::unique_ptr<Sent> send_values(Statement& program, const LatticeState& lattice, const jit::Domain& domain);

/// Whether the records from `first` on, which have been walked, move values between ranks.
bool moves_between_ranks(const Statement& statement, std::size_t first);

/// As execute(), which calls it if there are such shifts. Collective.
void execute_with_messages(const Statement& statement, const Assignment& how);

}  // namespace QDP::detail
