// One term of the action, as molecular dynamics sees it: its value and its force, with whatever fields it carries.
#pragma once

#include "lib/gauge/gauge_field.hpp"
#include "lib/io/log.hpp"
#include "lib/io/memory.hpp"

#include <map>
#include <memory>
#include <string>

namespace qcd {

class Monomial {
 public:
  virtual ~Monomial() = default;

  /// S(U), and details (solver counts) in `log`.
  virtual QDP::Double action(const GaugeField& u, const Log& log) = 0;

  /// f = the monomial's contribution to dP/dt (conv. 4), traceless anti-Hermitian; overwrites f.
  virtual void force(GaugeField& f, const GaugeField& u, const Log& log) = 0;

  /// Draws what stays the same during a run; called once, when the start field has been made.
  virtual void draw_constants() {}

  /// The same where single precision will do (MDPrecision single); a monomial without such a force computes it as always.
  virtual void force_in_single(GaugeField& f, const GaugeField& u, const Log& log) { force(f, u, log); }

  /// Draws the monomial's own fields (pseudofermions) at the start of a trajectory. A pure gauge term has none.
  virtual void refresh(const GaugeField& /*u*/) {}

  /// Takes over the fields of another monomial of the same kind (copyList).
  virtual void copy_fields_from(const Monomial& /*other*/) {}

  /// What a trajectory leaves behind that the next ones depend on, pseudofermions aside, in one word; empty: nothing.
  /// Restart files carry it, and checks that repeat a trajectory start from it.
  virtual std::string state() const { return {}; }
  /// Throws InputError for a word that state() of this monomial could not have given.
  virtual void set_state(const std::string& /*state*/) {}

  /// False for terms that steer the dynamics but have no value to accept with; the Hamiltonian refuses them.
  virtual bool exact() const { return true; }

  /// Memory for its fields, about.
  virtual MemoryNeed memory() const { return {}; }

  /// The element that holds this monomial's entries in the log.
  virtual std::string log_tag() const = 0;
};

/// A monomial and its monomial_id, for the log.
struct NamedMonomial {
  std::string id;
  std::shared_ptr<Monomial> monomial;
};

/// The monomials of a run by their monomial_id.
using MonomialMap = std::map<std::string, std::shared_ptr<Monomial>>;

/// The states of those that have one, by monomial_id.
using MonomialStates = std::map<std::string, std::string>;
inline MonomialStates states_of(const MonomialMap& monomials) {
  MonomialStates states;
  for (const auto& [id, monomial] : monomials)
    if (std::string state = monomial->state(); !state.empty()) states.emplace(id, std::move(state));
  return states;
}
inline void set_states(const MonomialMap& monomials, const MonomialStates& states) {
  for (const auto& [id, state] : states)
    if (const auto found = monomials.find(id); found != monomials.end() && found->second)
      found->second->set_state(state);
}

inline void draw_constants(const MonomialMap& monomials) {
  for (const auto& [id, monomial] : monomials) monomial->draw_constants();
}

}  // namespace qcd
