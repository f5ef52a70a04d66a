// Quark determinants as pseudofermion actions (conv. 10), one formula per class, for every kind of quark.
//
// Values are given less their mean over pseudofermions, the number of complex components on M's domain (boundary sites
// of the Schroedinger functional, where there are none, are counted too), so that no constant that grows with the
// volume swamps dH.
#pragma once

#include "lib/action/monomial.hpp"
#include "lib/dirac/quark_operator.hpp"
#include "lib/rational/rational.hpp"
#include "lib/solver/predictor.hpp"

#include <array>
#include <vector>

namespace qcd {

/// eta = sqrt(1/2) gaussian on `sites`, nought elsewhere and where D's boundary conditions demand it: <eta^+ eta> =
/// number of complex components.
template <class F>
F pseudofermion_noise(const DiracOperator<F>& d, const QDP::Subset& sites);

/// Fields that a solver keeps at least: solution, right-hand side, residual, direction, and what M makes of it twice.
inline constexpr std::size_t kSolverFields = 6;
/// `kept` pseudofermions; `working` fields like them besides, and the links that the operator keeps.
template <class F>
constexpr MemoryNeed pseudofermion_memory(std::size_t kept, std::size_t working) {
  const double field = static_cast<double>(F::kShape.components()) * sizeof(QDP::REAL);
  return {.kept = static_cast<double>(kept) * field,
          .working = static_cast<double>(working) * field + 2 * bytes_of_gauge_field()};
}

/// How one linear system of a monomial is solved: the solver and where its first guess comes from.
template <class F>
struct PseudofermionSolver {
  std::shared_ptr<const NormalSolver<F>> solver;
  std::shared_ptr<Predictor<F>> predictor;
};

/// det(M^+ M):  S = phi^+ (M^+ M)^-1 phi,  phi = M^+ eta.
/// dS = -2 Re <Y, dM X>,  X = (M^+ M)^-1 phi, Y = M X.
template <class F>
class TwoFlavorMonomial : public Monomial {
 public:
  TwoFlavorMonomial(Quark<F> quark, PseudofermionSolver<F> solver)
      : quark_(std::move(quark)), solver_(std::move(solver)) {}

  void refresh(const GaugeField& u) override;
  QDP::Double action(const GaugeField& u, const Log& log) override;
  void force(GaugeField& f, const GaugeField& u, const Log& log) override { force_in<F>(f, u, log); }
  void force_in_single(GaugeField& f, const GaugeField& u, const Log& log) override { force_in<Single<F>>(f, u, log); }
  void copy_fields_from(const Monomial& other) override;
  std::string log_tag() const override { return "TwoFlavorExactWilsonTypeFermMonomial"; }
  MemoryNeed memory() const override { return pseudofermion_memory<F>(1, kSolverFields); }

  /// Pseudofermions, none before the first refresh; settable, so that deterministic tests can start from given fields.
  std::vector<F>& fields() { return phi_; }

 private:
  /// The force in precision P: F, or Single<F> for solver and derivative.
  template <class P>
  void force_in(GaugeField& f, const GaugeField& u, const Log& log);

  Quark<F> quark_;
  PseudofermionSolver<F> solver_;
  std::vector<F> phi_;  ///< one; a vector because there may be no lattice yet when a monomial is made
};

/// One factor det(M^+ M) / det(M'^+ M') of a Hasenbusch chain:
///   S = phi^+ M' (M^+ M)^-1 M'^+ phi,  phi = M' (M'^+ M')^-1 M^+ eta.
/// dS = 2 Re <phi, dM' X> - 2 Re <Y, dM X>,  X = (M^+ M)^-1 M'^+ phi, Y = M X.
/// M' must map its domain onto itself: phi is integrated over M's range, and where that is larger than the domain
/// (even_source) the Gaussian has flat directions that turn with U.
/// Source: Hasenbusch, Phys. Lett. B519 (2001) 177 (hep-lat/0107019).
template <class F>
struct DeterminantRatio {
  Quark<F> numerator;                                     ///< M
  PseudofermionSolver<F> solver;                          ///< of M^+ M
  Quark<F> denominator;                                   ///< M'
  std::shared_ptr<const NormalSolver<F>> refresh_solver;  ///< of M'^+ M'
};

/// A product of such ratios, each with a pseudofermion of its own.
template <class F>
class RatioMonomial : public Monomial {
 public:
  explicit RatioMonomial(std::vector<DeterminantRatio<F>> ratios) : ratios_(std::move(ratios)) {}

  void refresh(const GaugeField& u) override;
  QDP::Double action(const GaugeField& u, const Log& log) override;
  void force(GaugeField& f, const GaugeField& u, const Log& log) override { force_in<F>(f, u, log); }
  void force_in_single(GaugeField& f, const GaugeField& u, const Log& log) override { force_in<Single<F>>(f, u, log); }
  void copy_fields_from(const Monomial& other) override;
  std::string log_tag() const override { return "TwoFlavorExactRatioConvConvWilsonTypeFermMonomial"; }
  MemoryNeed memory() const override { return pseudofermion_memory<F>(ratios_.size(), kSolverFields); }

 private:
  template <class P>
  void force_in(GaugeField& f, const GaugeField& u, const Log& log);

  std::vector<DeterminantRatio<F>> ratios_;
  std::vector<F> phi_;
};

/// A rational function of M^+ M with the solver of its shifted systems.
template <class F>
struct RationalTerm {
  RationalApproximation approximation;
  std::shared_ptr<const MultiShiftSolver<F>> solver;
};

/// det(M^+ M)^alpha, alpha > 0, with n pseudofermions, Q = M^+ M:
///   S = sum_n |r(Q) phi_n|^2,  r(x) ~ x^(-alpha/2n),  phi_n = r(Q)^-1 eta_n;
/// the force is that of sum_n phi_n^+ s(Q) phi_n,  s(x) ~ x^(-alpha/n) = norm + sum_k res_k / (x + pole_k):
///   dS = -sum_k res_k 2 Re <Y_k, dM X_k>,  X_k = (Q + pole_k)^-1 phi, Y_k = M X_k.
/// Source: Clark and Kennedy, Phys. Rev. Lett. 98 (2007) 051601 (hep-lat/0608015).
template <class F>
class RationalMonomial : public Monomial {
 public:
  /// What to do when the spectrum of Q leaves the interval of the approximations.
  struct BoundsCheck {
    int interval = 0;        ///< refreshes from one check of the extreme eigenvalues to the next; 0: never
    double accuracy = 0.01;  ///< relative, of the eigenvalues
    bool widen = false;      ///< go on with approximations of the same degree on a wider interval, and say so
  };

  RationalMonomial(Quark<F> quark, int pseudofermions, RationalTerm<F> action, RationalTerm<F> force,
                   BoundsCheck bounds);

  void refresh(const GaugeField& u) override;
  QDP::Double action(const GaugeField& u, const Log& log) override;
  void force(GaugeField& f, const GaugeField& u, const Log& log) override { force_in<F>(f, u, log); }
  void force_in_single(GaugeField& f, const GaugeField& u, const Log& log) override { force_in<Single<F>>(f, u, log); }
  void copy_fields_from(const Monomial& other) override;
  /// The number of refreshes, and the intervals of the approximations as they are now.
  std::string state() const override;
  void set_state(const std::string& state) override;
  std::string log_tag() const override { return "OneFlavorRatExactWilsonTypeFermMonomial"; }
  MemoryNeed memory() const override;

  /// Pseudofermions, none before the first refresh; settable.
  std::vector<F>& fields() { return phi_; }

 private:
  /// Compares the spectrum of M^+ M with the approximations' intervals. Outside: NumericsError, or wider ones. The measured
  /// ends lie inside the spectrum, so only a spectrum that does leave an interval is found to; their errors tell how much
  /// of one could have been missed.
  void check_bounds(const QuarkOperator<F>& quark);
  template <class P>
  void force_in(GaugeField& f, const GaugeField& u, const Log& log);

  Quark<F> quark_;
  std::size_t pseudofermions_;
  RationalTerm<F> action_, force_;
  std::array<RationalApproximation, 2> given_;  ///< of action and force, before any widening
  BoundsCheck bounds_;
  int refreshes_ = 0;
  std::vector<F> phi_;
};

/// det(A)^N over the even sites, or over all: the part of the determinant that even-odd preconditioning splits off.
/// S = -N sum_sites ln |det A|.
template <class F>
class LogDetMonomial : public Monomial {
 public:
  enum class Sites { even, all };
  LogDetMonomial(std::shared_ptr<const FermionAction<F>> action, Sites sites, int flavors)
      : quark_{std::move(action), Preconditioning::none, 0}, sites_(sites), flavors_(flavors) {}

  QDP::Double action(const GaugeField& u, const Log& log) override;
  void force(GaugeField& f, const GaugeField& u, const Log& log) override;
  std::string log_tag() const override {
    return sites_ == Sites::even ? "EvenOddPrecLogDetEvenEvenMonomial" : "SymEvenOddPrecLogDetDiagMonomial";
  }

 private:
  const QDP::Subset& subset() const;

  Quark<F> quark_;
  Sites sites_;
  int flavors_;
};

/// Several terms that an input names as one.
class SumMonomial : public Monomial {
 public:
  SumMonomial(std::string tag, std::vector<std::shared_ptr<Monomial>> terms)
      : tag_(std::move(tag)), terms_(std::move(terms)) {}

  void refresh(const GaugeField& u) override;
  QDP::Double action(const GaugeField& u, const Log& log) override;
  void force(GaugeField& f, const GaugeField& u, const Log& log) override { add_forces(f, u, log, &Monomial::force); }
  void force_in_single(GaugeField& f, const GaugeField& u, const Log& log) override {
    add_forces(f, u, log, &Monomial::force_in_single);
  }
  void copy_fields_from(const Monomial& other) override;
  std::string log_tag() const override { return tag_; }
  /// The terms keep theirs all the time, and work one after the other.
  MemoryNeed memory() const override;

 private:
  using Force = void (Monomial::*)(GaugeField&, const GaugeField&, const Log&);
  void add_forces(GaugeField& f, const GaugeField& u, const Log& log, Force force);

  std::string tag_;
  std::vector<std::shared_ptr<Monomial>> terms_;
};

/// S = 2 sum Re tr(V_mu X_mu) with fixed random X in SU(Nc): tests the derivative of a fermion state. No dynamics of
/// physics. X is drawn by draw_constants(), or when it is first needed.
class FixedRandomMonomial : public Monomial {
 public:
  explicit FixedRandomMonomial(LinkMaps maps) : maps_(std::move(maps)) {}

  void draw_constants() override { weights(); }
  QDP::Double action(const GaugeField& u, const Log& log) override;
  void force(GaugeField& f, const GaugeField& u, const Log& log) override;
  std::string log_tag() const override { return "FixedRandomFermMonomial4D"; }

 private:
  const GaugeField& weights();

  LinkMaps maps_;
  GaugeField x_;
};

}  // namespace qcd
