// Chronological guesses: where to start the solve of M^+ M x = b in a force, given the solutions of the forces before.
//
// A guess from the past makes the trajectory reversible only as far as the solves are exact: the way back has another
// past. So histories are reset at the start of a trajectory, with new pseudofermions, and before the solve of an
// energy, and a solve with a guess should go to a residual that shows no trace of it.
#pragma once

#include "lib/io/table.hpp"
#include "lib/solver/solver.hpp"

#include <deque>
#include <memory>

namespace qcd {

template <class F>
class Predictor {
 public:
  virtual ~Predictor() = default;
  /// A guess for M^+ M x = b, on the operator's domain.
  virtual void guess(F& x, const SystemOperator<F>& system, const F& b) const = 0;
  /// Remembers a solution. `sites`: the operator's domain.
  virtual void store(const F& x, const QDP::Subset& sites) = 0;
  /// Forgets everything.
  virtual void reset() = 0;
};

/// Leaves x as the caller set it.
template <class F>
class NoPredictor : public Predictor<F> {
 public:
  void guess(F&, const SystemOperator<F>&, const F&) const override {}
  void store(const F&, const QDP::Subset&) override {}
  void reset() override {}
};

/// x = 0.
template <class F>
class ZeroGuess : public NoPredictor<F> {
 public:
  void guess(F& x, const SystemOperator<F>& system, const F& b) const override;
};

/// Base of those with a past: the last `depth` solutions, the latest first. With none stored the guess is nought.
template <class F>
class History : public Predictor<F> {
 public:
  explicit History(int depth) : depth_(static_cast<std::size_t>(depth)) {}
  void store(const F& x, const QDP::Subset& sites) override;
  void reset() override { past_.clear(); }

 protected:
  const std::deque<F>& past() const { return past_; }

 private:
  std::size_t depth_;
  std::deque<F> past_;
};

template <class F>
class LastSolution : public History<F> {
 public:
  LastSolution() : History<F>(1) {}
  void guess(F& x, const SystemOperator<F>& system, const F& b) const override;
};

/// 2 x_1 - x_2; the last solution while there is no other.
template <class F>
class LinearExtrapolation : public History<F> {
 public:
  LinearExtrapolation() : History<F>(2) {}
  void guess(F& x, const SystemOperator<F>& system, const F& b) const override;
};

/// The combination of the last solutions that is closest to x in the norm of M^+ M: one application per stored
/// solution. Source: Brower, Ivanenko, Levi, Orginos, Nucl. Phys. B 484 (1997) 353 (hep-lat/9509012).
template <class F>
class MinimalResidualExtrapolation : public History<F> {
 public:
  using History<F>::History;
  void guess(F& x, const SystemOperator<F>& system, const F& b) const override;
};

/// ChronologicalPredictor/Name -> predictor.
template <class F>
const Table<std::unique_ptr<Predictor<F>>>& predictor_table();

}  // namespace qcd
