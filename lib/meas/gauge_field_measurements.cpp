// Measurements that make other gauge fields: LINK_SMEAR, COULOMB_GAUGEFIX, WILSON_FLOW, GRADIENT_FLOW.

#include "lib/action/gauge_actions.hpp"
#include "lib/gauge/su3.hpp"
#include "lib/io/lattice.hpp"
#include "lib/meas/flow.hpp"
#include "lib/meas/gauge_fix.hpp"
#include "lib/meas/link_smearing.hpp"
#include "lib/meas/measurement.hpp"

#include <algorithm>

namespace qcd {

using namespace QDP;

namespace {

/// The record of a field made from another one: the same configuration.
ObjectRecord gauge_record(const NamedObjects& objects, const std::string& made_from) {
  return {"<gauge><id>0</id></gauge>", objects.record(made_from).record_xml};
}

class LinkSmearMeasurement : public Measurement {
 public:
  LinkSmearMeasurement(const Input& input, ObjectPlan& plan)
      : xml_(input.xml()), smear_(read_link_smearing(input.group("Param"))) {
    const Input object = input.group("NamedObject");
    gauge_id_ = plan.uses<GaugeField>(object, "gauge_id");
    result_id_ = plan.makes<GaugeField>(object, "linksmear_id");
  }

  void measure(unsigned long update_no, NamedObjects& objects, const Log& log) override {
    const GaugeField& u = objects.get<GaugeField>(gauge_id_);
    const auto group = log.group("linksmear");
    log.write("update_no", update_no);
    write_xml(log, "Input", xml_);
    write_xml(log, "Config_info", objects.record(gauge_id_).record_xml);
    write_observables(log, "Observables", u);
    GaugeField v = smear_(u);
    for (int mu = 0; mu < Nd; ++mu) check_unitarity(v[mu], "LINK_SMEAR");
    write_observables(log, "Link_observables", v);
    objects.create(result_id_, std::move(v), gauge_record(objects, gauge_id_));
  }

 private:
  std::string xml_, gauge_id_, result_id_;
  LinkSmearing smear_;
};

class GaugeFixMeasurement : public Measurement {
 public:
  GaugeFixMeasurement(const Input& input, ObjectPlan& plan) : xml_(input.xml()) {
    const Input param = input.group("Param");
    read_version(param, {1});
    require_checkerboard(param, "");
    how_.j_decay = param.integer("j_decay", {-1, Nd});
    how_.accuracy = param.real("GFAccu", positive());
    how_.max_sweeps = param.integer("GFMax", at_least(1));
    if (param.flag("OrDo"))
      how_.over_relaxation = param.real("OrPara", {1, 1.9999});
    else
      param.accept_unused({"OrPara"});
    const Input object = input.group("NamedObject");
    gauge_id_ = plan.uses<GaugeField>(object, "gauge_id");
    fixed_id_ = plan.makes<GaugeField>(object, "gfix_id");
    rotation_id_ = plan.makes<LatticeColorMatrix>(object, "gauge_rot_id");
  }

  void measure(unsigned long update_no, NamedObjects& objects, const Log& log) override {
    GaugeField u = objects.get<GaugeField>(gauge_id_);
    const auto group = log.group("CoulGauge");
    log.write("update_no", update_no);
    write_xml(log, "Input", xml_);
    write_xml(log, "Config_info", objects.record(gauge_id_).record_xml);
    write_observables(log, "Observables", u);
    LatticeColorMatrix rotation;
    const GaugeFixingResult result = fix_gauge(u, rotation, how_);
    {
      const auto parameters = log.group("Gauge_fixing_parameters");
      log.write("GFAccu", how_.accuracy);
      log.write("GFMax", how_.max_sweeps);
      log.write("iterations", result.sweeps);
      log.write("converged", result.converged);
      log.write("functional", result.functional);
      log.write("theta", result.theta);
    }
    write_observables(log, "Gfix_observables", u);
    objects.create(fixed_id_, std::move(u), gauge_record(objects, gauge_id_));
    objects.create(rotation_id_, std::move(rotation), gauge_record(objects, gauge_id_));
  }

 private:
  std::string xml_, gauge_id_, fixed_id_, rotation_id_;
  GaugeFixing how_;
};

/// What both flows share: steps, output.
class FlowMeasurement : public Measurement {
 public:
  void measure(unsigned long update_no, NamedObjects& objects, const Log& log) override {
    GaugeField v = objects.get<GaugeField>(gauge_in_);
    const auto group = log.group(tag_);
    log.write("update_no", update_no);
    write_xml(log, "Input", xml_);
    write_xml(log, "Config_info", objects.record(gauge_in_).record_xml);
    write_observables(log, "GaugeObservables", v);
    const FlowResult result = gradient_flow(v, *action_, steps_, eps_, t_dir_);
    write_result(log, result);
    write_observables(log, tag_ + "GaugeObservables", v);
    if (!gauge_out_.empty()) objects.create(gauge_out_, std::move(v), gauge_record(objects, gauge_in_));
  }

 protected:
  FlowMeasurement(std::string tag, const Input& input, ObjectPlan& plan) : tag_(std::move(tag)), xml_(input.xml()) {
    const Input object = input.group("NamedObject");
    gauge_in_ = plan.uses<GaugeField>(object, "gauge_in");
    if (object.has("gauge_out")) gauge_out_ = plan.makes<GaugeField>(object, "gauge_out");
  }

  std::shared_ptr<const GaugeAction> action_;
  int steps_ = 0, t_dir_ = Nd - 1;
  double eps_ = 0;

 private:
  /// Chroma's vectors, then t^2 E from plaquettes and clover leaves, the topological charge, and the scales.
  static void write_result(const Log& log, const FlowResult& flow) {
    const auto group = log.group("wilson_flow_results");
    const auto column = [&](const std::string& tag, const std::function<Double(const FlowPoint&)>& value) {
      multi1d<Double> values(static_cast<int>(flow.points.size()));
      for (int i = 0; i < values.size(); ++i) values[i] = value(flow.points[static_cast<std::size_t>(i)]);
      log.write(tag, values);
    };
    column("wflow_step", [](const FlowPoint& p) { return Double(p.t); });
    column("wflow_gact4i", [](const FlowPoint& p) { return p.energy.time; });
    column("wflow_gactij", [](const FlowPoint& p) { return p.energy.space; });
    column("t2E_plaquette", [](const FlowPoint& p) { return Double(p.t * p.t) * p.energy.plaquette; });
    column("t2E_clover", [](const FlowPoint& p) { return Double(p.t * p.t) * p.energy.clover; });
    if (Nd == 4) column("qtop", [](const FlowPoint& p) { return p.charge; });
    const auto scale = [&](const std::string& tag, const std::optional<double>& value) {
      if (value) log.write(tag, *value);
    };
    scale("t0_plaquette", flow.t0(&EnergyDensity::plaquette));
    scale("t0_clover", flow.t0());
    scale("w0_plaquette", flow.w0(&EnergyDensity::plaquette));
    scale("w0_clover", flow.w0());
  }

  std::string tag_, xml_, gauge_in_, gauge_out_;
};

class WilsonFlowMeasurement : public FlowMeasurement {
 public:
  WilsonFlowMeasurement(const Input& input, ObjectPlan& plan) : FlowMeasurement("WilsonFlow", input, plan) {
    const Input param = input.group("Param");
    const int version = read_version(param, {1, 2});
    steps_ = param.integer("nstep", at_least(1));
    eps_ = param.real("wtime", positive()) / std::max(steps_, 1);
    t_dir_ = param.integer("t_dir", {0, Nd - 1});
    std::vector<bool> flowing(Nd, true);
    if (version == 2 && param.has("smear_dirs")) {
      const std::vector<int> flags = param.integers("smear_dirs", Nd, {0, 1});
      std::transform(flags.begin(), flags.end(), flowing.begin(), [](int flag) { return flag != 0; });
    }
    action_ = std::make_shared<LoopAction>(wilson_flow_action(flowing));
  }
};

class GradientFlowMeasurement : public FlowMeasurement {
 public:
  GradientFlowMeasurement(const Input& input, ObjectPlan& plan) : FlowMeasurement("GradientFlow", input, plan) {
    const Input param = input.group("Param");
    steps_ = param.integer("nstep", at_least(1));
    eps_ = param.real("eps", positive());
    t_dir_ = param.integer("t_dir", {0, Nd - 1}, Nd - 1);
    const Input action = param.group("GaugeAction");
    if (const auto* row = gauge_action_table().find(action)) action_ = row->make(action);
  }
};

}  // namespace

MeasurementRows gauge_field_measurements() {
  return {
      measurement_row<LinkSmearMeasurement>(
          "LINK_SMEAR",
          "Param{LinkSmearingType, ...}, NamedObject{gauge_id, linksmear_id}: smeared links as a new field"),
      measurement_row<GaugeFixMeasurement>("COULOMB_GAUGEFIX",
                                           "Param{version 1, GFAccu, GFMax, OrDo, OrPara, j_decay}, "
                                           "NamedObject{gauge_id, gfix_id, gauge_rot_id}: Coulomb "
                                           "gauge in slices across j_decay; Landau gauge for j_decay -1 or Nd"),
      measurement_row<WilsonFlowMeasurement>("WILSON_FLOW",
                                             "Param{version 1 or 2, nstep, wtime, t_dir, [smear_dirs: Nd times 0 or "
                                             "1]}, NamedObject{gauge_in, [gauge_out]}: "
                                             "t^2 E, topological charge, t0, w0 along the Wilson flow"),
      measurement_row<GradientFlowMeasurement>(
          "GRADIENT_FLOW",
          "Param{nstep, eps, [t_dir], GaugeAction{Name, ...}}, NamedObject{gauge_in, [gauge_out]}: the same for the "
          "flow "
          "of any gauge action at beta = 1, for example RBC_GAUGEACT with c1 = -0.0833333333333333 (Symanzik)"),
  };
}

}  // namespace qcd
