// Measurements of Dirac operators: CHIRAL_CONDENSATE, EIGBNDSMDAGM, each for Wilson-like and staggered quarks.

#include "lib/dirac/quark_operator.hpp"
#include "lib/meas/condensate.hpp"
#include "lib/meas/measurement.hpp"
#include "lib/solver/lanczos.hpp"
#include "lib/solver/solver_table.hpp"

#include <cmath>

namespace qcd {

using namespace QDP;

namespace {

template <class F>
std::shared_ptr<const FermionAction<F>> read_action(const Input& parent) {
  const Input group = parent.group("FermionAction");
  const auto* row = fermion_action_table<F>().find(group, "FermAct");
  return row ? row->make(group) : nullptr;
}

TraceNoise read_noise(const Input& param) {
  const std::string name = param.word("noise", "Z2");
  if (name == "U1") return TraceNoise::u1;
  if (name == "GAUSSIAN") return TraceNoise::gaussian;
  if (name == "UNIT") return TraceNoise::unit;
  if (name != "Z2") param.error("noise", "Z2, U1, GAUSSIAN or UNIT", name);
  return TraceNoise::z2;
}

/// Mean and its error from independent samples.
struct Average {
  explicit Average(const std::vector<double>& samples) {
    const double n = static_cast<double>(samples.size());
    for (double x : samples) mean += x / n;
    double squares = 0;
    for (double x : samples) squares += (x - mean) * (x - mean);
    if (samples.size() > 1) error = std::sqrt(squares / (n * (n - 1)));
  }
  double mean = 0, error = 0;
};

template <class F>
class CondensateMeasurement : public Measurement {
 public:
  CondensateMeasurement(const Input& input, ObjectPlan& plan) : xml_(input.xml()) {
    const Input param = input.group("Param");
    action_ = read_action<F>(param);
    solver_ = read_direct_solver<F>(param.group("InvertParam"));
    noise_ = read_noise(param);
    sources_ = param.integer("n_sources", at_least(1), 1);
    if (input.has("NamedObject")) gauge_id_ = plan.uses<GaugeField>(input.group("NamedObject"), "gauge_id");
  }

  void measure(unsigned long update_no, NamedObjects& objects, const Log& log) override {
    const auto group = log.group("ChiralCondensate");
    log.write("update_no", update_no);
    write_xml(log, "Input", xml_);
    const QuarkInverter<F> inverse(action_, solver_, objects.get<GaugeField>(gauge_id_));
    std::vector<double> scalar, pseudoscalar;
    std::vector<SolveResult> results;
    {
      const auto list = log.group("sources");
      for (int i = 0; i < sources_; ++i) {
        const Condensate c = estimate_condensate(inverse, trace_source<F>(noise_), &results);
        const auto elem = log.group("elem");
        log.write("scalar", c.scalar);
        log.write("pseudoscalar", c.pseudoscalar);
        log.write("iterations", results.back().iterations);
        scalar.push_back(toDouble(real(c.scalar)));
        pseudoscalar.push_back(toDouble(real(c.pseudoscalar)));
      }
    }
    write_average(log, "scalar", Average(scalar));
    write_average(log, "pseudoscalar", Average(pseudoscalar));
  }

 private:
  static void write_average(const Log& log, const std::string& name, const Average& average) {
    log.write(name + "_mean", average.mean);
    log.write(name + "_error", average.error);
  }

  std::string xml_, gauge_id_ = kDefaultGaugeField;
  std::shared_ptr<const FermionAction<F>> action_;
  std::shared_ptr<const DirectSolver<F>> solver_;
  TraceNoise noise_ = TraceNoise::z2;
  int sources_ = 1;
};

template <class F>
class EigenvalueMeasurement : public Measurement {
 public:
  EigenvalueMeasurement(const Input& input, ObjectPlan& plan) : xml_(input.xml()) {
    const Input ritz = input.group("Ritz");
    accuracy_ = ritz.real("RsdR", positive());
    wanted_ = ritz.integer("Neig", at_least(1), 1);
    action_ = read_action<F>(input);
    if (input.has("NamedObject")) gauge_id_ = plan.uses<GaugeField>(input.group("NamedObject"), "gauge_id");
  }

  void measure(unsigned long update_no, NamedObjects& objects, const Log& log) override {
    const QuarkOperator<F> quark(action_, objects.get<GaugeField>(gauge_id_));
    const auto group = log.group("EigBndsMdagM");
    log.write("update_no", update_no);
    write_xml(log, "Input", xml_);
    LanczosParameters parameters;
    parameters.end = SpectrumEnd::highest;
    parameters.tolerance = accuracy_;
    const Eigenpairs<F> highest = lanczos(quark.m(), parameters);
    parameters.end = SpectrumEnd::lowest;
    parameters.wanted = wanted_;
    // The error of an eigenvalue is the square of the residual over the gap: RsdR^2 of the largest is below RsdR of the
    // lowest one for condition numbers up to 1/RsdR; a hundredth covers worse ones.
    parameters.tolerance = accuracy_ * 1e-2;
    const Eigenpairs<F> lowest = lanczos(quark.m(), parameters);
    write_values(log, "LowestEv", lowest, 1);
    write_values(log, "HighestEv", highest, -1);  // Chroma: the lowest of minus the operator
  }

 private:
  static void write_values(const Log& log, const std::string& tag, const Eigenpairs<F>& pairs, double sign) {
    const auto group = log.group(tag);
    const auto ritz = log.group("EigSpecRitzCG");
    log.write("converged", pairs.converged);
    {
      const auto values = log.group("eValues");
      for (const double value : pairs.values) log.write("lambda", sign * value);
    }
    {
      const auto residuals = log.group("residuals");
      for (const double residual : pairs.residuals) log.write("residual", residual);
    }
    log.write("n_cg_tot", static_cast<int>(pairs.applications));
  }

  std::string xml_, gauge_id_ = kDefaultGaugeField;
  std::shared_ptr<const FermionAction<F>> action_;
  double accuracy_ = 1e-2;
  int wanted_ = 1;
};

}  // namespace

MeasurementRows dirac_measurements() {
  return {
      measurement_row<CondensateMeasurement<LatticeFermion>>(
          "CHIRAL_CONDENSATE",
          "Param{FermionAction{FermAct, ...}, InvertParam{invType, ...}, [noise Z2, U1, GAUSSIAN or UNIT = Z2], "
          "[n_sources = 1]}, [NamedObject{gauge_id}]: Tr D^-1 and Tr g5 D^-1 per site from random sources"),
      measurement_row<CondensateMeasurement<LatticeStaggeredFermion>>("CHIRAL_CONDENSATE_STAG",
                                                                      "the same for staggered quarks"),
      measurement_row<EigenvalueMeasurement<LatticeFermion>>(
          "EIGBNDSMDAGM",
          "Ritz{RsdR (relative accuracy), [Neig = 1]}, FermionAction{FermAct, ...}, [NamedObject{gauge_id}]: lowest "
          "and "
          "highest eigenvalues of M^+ M, M the operator of the action with its preconditioning"),
      measurement_row<EigenvalueMeasurement<LatticeStaggeredFermion>>("EIGBNDSMDAGM_STAG",
                                                                      "the same for staggered quarks"),
  };
}

}  // namespace qcd
