// Measurements of loops: PLAQUETTE, POLYAKOV_LOOP, RECTANGLE, WILSLP, QTOP_NAIVE.

#include "lib/meas/field_strength.hpp"
#include "lib/meas/glue.hpp"
#include "lib/meas/inline.hpp"
#include "lib/meas/wilson_loops.hpp"

#include <numeric>

namespace qcd {

using namespace QDP;

namespace {

class PlaquetteMeasurement : public Measurement {
 public:
  PlaquetteMeasurement(const Input& input, ObjectPlan& plan) : input_(read_gluonic(input, plan, 2)) {}
  void measure(unsigned long update_no, NamedObjects& objects, const Log& log) override {
    write_plaquettes(update_no, input_.links(objects), log);
  }

 private:
  GluonicInput input_;
};

class PolyakovLoopMeasurement : public Measurement {
 public:
  PolyakovLoopMeasurement(const Input& input, ObjectPlan& plan) : input_(read_gluonic(input, plan, 2)) {}
  void measure(unsigned long update_no, NamedObjects& objects, const Log& log) override {
    const GaugeField u = input_.links(objects);
    const auto group = log.group("PolyakovLoop");
    log.write("update_no", update_no);
    multi1d<DComplex> loops(Nd);
    for (int mu = 0; mu < Nd; ++mu) loops[mu] = polyakov_loop(u, mu);
    log.write("poly_loop", loops);
  }

 private:
  GluonicInput input_;
};

class RectangleMeasurement : public Measurement {
 public:
  RectangleMeasurement(const Input& input, ObjectPlan& plan) : input_(read_gluonic(input, plan, 1)) {}
  void measure(unsigned long update_no, NamedObjects& objects, const Log& log) override {
    const GaugeField u = input_.links(objects);
    const auto group = log.group("Rectangle");
    log.write("update_no", update_no);
    log.write("w_rect", Double(sum_rectangles(u) / Double(Nd * (Nd - 1) * static_cast<double>(Layout::vol()))));
  }

 private:
  GluonicInput input_;
};

/// The largest group of directions other than time that have the same extent.
std::vector<int> space_directions(int j_decay, int t_dir) {
  std::vector<int> best;
  for (int mu = 0; mu < Nd; ++mu) {
    std::vector<int> same;
    for (int nu = mu; nu < Nd; ++nu)
      if (nu != j_decay && nu != t_dir && Layout::lattSize()[nu] == Layout::lattSize()[mu]) same.push_back(nu);
    if (mu != j_decay && mu != t_dir && same.size() > best.size()) best = same;
  }
  return best;
}

class WilsonLoopMeasurement : public Measurement {
 public:
  WilsonLoopMeasurement(const Input& input, ObjectPlan& plan) : input_(read_gluonic(input, plan, 3)) {
    const Input param = input.group("Param");
    kind_ = param.integer("kind", {1, 7});
    j_decay_ = param.integer("j_decay", {0, Nd - 1});
    t_dir_ = param.integer("t_dir", {0, Nd - 1});
  }

  void measure(unsigned long update_no, NamedObjects& objects, const Log& log) override {
    const GaugeField u = input_.links(objects);
    space_ = space_directions(j_decay_, t_dir_);
    length_r_ = Layout::lattSize()[space_.at(0)];
    length_t_ = Layout::lattSize()[j_decay_] / 2;
    const auto group = log.group("WilsonLoop");
    log.write("update_no", update_no);
    log.write("decay_dir", j_decay_);
    log.write("t_dir", t_dir_);
    write_observables(log, "Observables", objects.get<GaugeField>(input_.gauge_id));
    write_observables(log, "Link_observables", u);
    if (kind_ & 1) spatial(u, log);
    if (kind_ & 2) temporal(u, log);
    if (kind_ & 4) off_axis(u, log);
  }

 private:
  using Loops = multi2d<Double>;

  static void add(Loops& total, const Loops& more, int r_offset, double weight) {
    for (int r = 0; r < more.size2(); ++r)
      for (int t = 0; t < more.size1(); ++t) total(r_offset + r, t) += Double(weight) * more(r, t);
  }
  static Loops nought(int r_max, int t_max) {
    Loops loops(r_max, t_max);
    for (int r = 0; r < r_max; ++r)
      for (int t = 0; t < t_max; ++t) loops(r, t) = zero;
    return loops;
  }
  static void write_rows(const Log& log, const std::string& tag, const Loops& loops) {
    const auto group = log.group(tag);
    for (int r = 0; r < loops.size2(); ++r) {
      const auto elem = log.group("elem");
      log.write("r", r);
      multi1d<Double> row(loops.size1());
      for (int t = 0; t < row.size(); ++t) row[t] = loops(r, t);
      log.write("loop", row);
    }
  }

  /// Loops in space: the row is the extent along the second direction of a pair, the place in it that along the first.
  void spatial(const GaugeField& u, const Log& log) const {
    Loops total = nought(length_r_, length_r_);
    const double pairs = pair_count();
    for (std::size_t j = 1; j < space_.size(); ++j)
      for (std::size_t i = 0; i < j; ++i)
        add(total, planar_wilson_loops(u, space_[j], space_[i], length_r_, length_r_), 0, 1 / pairs);
    const auto group = log.group("wils_loop1");
    log.write("lengthr", length_r_);
    write_rows(log, "wloop1", total);
  }

  void temporal(const GaugeField& u, const Log& log) const {
    Loops total = nought(length_r_, length_t_);
    for (int mu : space_)
      add(total, planar_wilson_loops(u, mu, j_decay_, length_r_, length_t_), 0,
          1.0 / static_cast<double>(space_.size()));
    const auto group = log.group("wils_loop2");
    log.write("lengthr", length_r_);
    log.write("lengtht", length_t_);
    write_rows(log, "wloop2", total);
  }

  /// Distances in units of sqrt(2), then sqrt(5), then sqrt(3) (Chroma's order), along all diagonals of each kind.
  void off_axis(const GaugeField& u, const Log& log) const {
    const bool cubes = space_.size() > 2;
    const int half = length_r_ / 2;
    Loops total = nought(length_r_ + half + (cubes ? length_r_ : 0), length_t_);
    const auto measure = [&](const std::vector<WeightedPath>& step, int r_max, int offset, double weight) {
      add(total, wilson_loops(u, step, j_decay_, r_max, length_t_), offset, weight);
    };
    const double pairs = pair_count();
    for (std::size_t j = 1; j < space_.size(); ++j)
      for (std::size_t i = 0; i < j; ++i) {
        const Step mu = forward(space_[i]), nu = forward(space_[j]);
        for (const Step& n : {nu, -nu}) measure(averaged_orders({mu, n}), length_r_, 0, 1 / (2 * pairs));
        for (const auto& [far, near] : {std::pair{mu, nu}, std::pair{nu, mu}})
          for (const Step& n : {near, -near})
            measure({{Path{far, far, n}, 0.5}, {Path{n, far, far}, 0.5}}, half, length_r_, 1 / (4 * pairs));
      }
    const double triples = pairs * static_cast<double>(space_.size() - 2) / 3;
    for (std::size_t k = 2; k < space_.size(); ++k)
      for (std::size_t j = 1; j < k; ++j)
        for (std::size_t i = 0; i < j; ++i)
          for (int signs = 0; signs < 4; ++signs) {
            const Step nu{space_[j], signs & 1 ? -1 : +1}, rho{space_[k], signs & 2 ? -1 : +1};
            measure(averaged_orders({forward(space_[i]), nu, rho}), length_r_, length_r_ + half, 1 / (4 * triples));
          }
    const auto group = log.group("wils_loop3");
    log.write("lengthr", length_r_);
    log.write("lengtht", length_t_);
    log.write("length", total.size2());
    write_rows(log, "wloop3", total);
  }

  /// Throws InputError if there is no pair of space directions of equal extent.
  double pair_count() const {
    const double n = static_cast<double>(space_.size());
    if (n < 2)
      throw InputError("WILSLP: expected two space directions of the same extent for kind " + std::to_string(kind_) +
                       ", got one; planar loops in time alone are kind 2");
    return n * (n - 1) / 2;
  }

  GluonicInput input_;
  int kind_ = 2, j_decay_ = Nd - 1, t_dir_ = Nd - 1;
  std::vector<int> space_;
  int length_r_ = 0, length_t_ = 0;
};

class TopologicalCharge : public Measurement {
 public:
  TopologicalCharge(const Input& input, ObjectPlan& plan) : input_(read_gluonic(input, plan, 1)) {
    if (input.has("Param") && input.group("Param").has("k5")) {
      k5_ = input.group("Param").real("k5");
      definition_ = five_loop_definition(k5_);
    }
  }

  void measure(unsigned long update_no, NamedObjects& objects, const Log& log) override {
    const GaugeField u = input_.links(objects);
    const auto group = log.group("QTop");
    log.write("update_no", update_no);
    log.write("k5", k5_);
    log.write("qtop", topological_charge(u, definition_));
    log.write("qtop_clover", topological_charge(u));
    const EnergyDensity e = energy_density(u);
    log.write("energy_clover", e.clover);
    log.write("energy_plaquette", e.plaquette);
  }

 private:
  GluonicInput input_;
  double k5_ = 0;
  FieldStrengthDefinition definition_ = clover_definition();
};

}  // namespace

MeasurementRows gluonic_measurements() {
  return {
      measurement_row<PlaquetteMeasurement>(
          "PLAQUETTE", "[Param{version 2, [GaugeState]}], [NamedObject{gauge_id}]: plaquettes by plane, link trace"),
      measurement_row<PolyakovLoopMeasurement>(
          "POLYAKOV_LOOP", "[Param{version 2, [GaugeState]}], [NamedObject{gauge_id}]: the loop in every direction"),
      measurement_row<RectangleMeasurement>("RECTANGLE", "[NamedObject{gauge_id}]: average of Re tr U_1x2 / Nc"),
      measurement_row<WilsonLoopMeasurement>(
          "WILSLP",
          "Param{version 3, kind, j_decay, t_dir, [GaugeState]}, [NamedObject{gauge_id}]: Wilson loops; kind is the "
          "sum "
          "of 1 (planar in space), 2 (planar, space and j_decay), 4 (off-axis in space, and j_decay)"),
      measurement_row<TopologicalCharge>(
          "QTOP_NAIVE",
          "[Param{version 1, [k5], [GaugeState]}], [NamedObject{gauge_id}]: topological charge and energy density; "
          "with "
          "k5 from the field strength of five loop sizes (hep-lat/0203008), without it from plaquettes",
          lacks_unless(Nd == 4, "four dimensions")),
  };
}

}  // namespace qcd
