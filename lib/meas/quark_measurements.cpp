// Measurements that make quark fields: MAKE_SOURCE, PROPAGATOR, SINK_SMEAR, each for Wilson-like and staggered quarks.

#include "lib/meas/measurement.hpp"
#include "lib/meas/mesons.hpp"
#include "lib/meas/propagator.hpp"
#include "lib/meas/quark_record.hpp"
#include "lib/meas/source.hpp"
#include "lib/solver/solver_table.hpp"

namespace qcd {

using namespace QDP;

namespace {

void write_correlator(const Log& log, const std::string& group_name, const std::string& tag,
                      const multi1d<Double>& values) {
  const auto group = log.group(group_name);
  log.write(tag, values);
}

/// The part of an output document that all of these begin with.
void write_head(const Log& log, unsigned long update_no, const std::string& input_xml, const NamedObjects& objects,
                const std::string& gauge_id) {
  log.write("update_no", update_no);
  write_xml(log, "Input", input_xml);
  write_xml(log, "Config_info", objects.record(gauge_id).record_xml);
  write_observables(log, "Observables", objects.get<GaugeField>(gauge_id));
}

template <class F>
class MakeSource : public Measurement {
  using Q = PropagatorOf<F>;

 public:
  MakeSource(const Input& input, ObjectPlan& plan) : xml_(input.xml()), param_(inner_xml(input.group("Param").xml())) {
    read_version(input.group("Param"), {6});
    source_ = read_quark_source<Q>(input.group("Param").group("Source"));
    const Input object = input.group("NamedObject");
    gauge_id_ = plan.uses<GaugeField>(object, "gauge_id");
    source_id_ = plan.makes<Q>(object, "source_id");
  }

  void measure(unsigned long update_no, NamedObjects& objects, const Log& log) override {
    const auto group = log.group("make_source");
    write_head(log, update_no, xml_, objects, gauge_id_);
    Q source = source_(objects.get<GaugeField>(gauge_id_));
    write_correlator(log, "Source_correlator", "source_corr", slice_norms(source, Nd - 1));
    QuarkRecord record;
    record.source = param_;
    record.config = objects.record(gauge_id_).record_xml;
    objects.create(source_id_, std::move(source), {"<make_source/>", record.xml()});
  }

 private:
  std::string xml_, param_, gauge_id_, source_id_;
  QuarkSource<Q> source_;
};

template <class F>
class PropagatorMeasurement : public Measurement {
  using Q = PropagatorOf<F>;

 public:
  PropagatorMeasurement(const Input& input, ObjectPlan& plan)
      : xml_(input.xml()), param_(inner_xml(input.group("Param").xml())) {
    const Input param = input.group("Param");
    read_version(param, {8, 9, 10});
    param.accept_unused({"obsvP", "numRetries"});  // Chroma's: whether to measure on the way; how often to start again
    if (param.has("quarkSpinType") && param.word("quarkSpinType") != "FULL")
      param.error("quarkSpinType", "FULL, propagators for all spins of the source", param.word("quarkSpinType"));
    const Input action = param.group("FermionAction");
    if (const auto* row = fermion_action_table<F>().find(action, "FermAct")) action_ = row->make(action);
    solver_ = read_direct_solver<F>(param.group("InvertParam"));
    const Input object = input.group("NamedObject");
    gauge_id_ = plan.uses<GaugeField>(object, "gauge_id");
    source_id_ = plan.uses<Q>(object, "source_id");
    prop_id_ = plan.makes<Q>(object, "prop_id");
    plan.works_with(3 * bytes_of_object(ObjectType<Q>::name));  // columns of source, right-hand side and solution
  }

  void measure(unsigned long update_no, NamedObjects& objects, const Log& log) override {
    const Q& source = objects.get<Q>(source_id_);
    QuarkRecord record = QuarkRecord::parse(objects.record(source_id_).record_xml, source_id_);
    const auto group = log.group("propagator");
    write_head(log, update_no, xml_, objects, gauge_id_);
    write_xml(log, "Source_record_info", record.xml());
    write_correlator(log, "Source_correlator", "source_corr", slice_norms(source, Nd - 1));

    std::vector<SolveResult> results;
    Q s = QuarkInverter<F>(action_, solver_, objects.get<GaugeField>(gauge_id_)).propagator(source, &results);
    {
      const auto solves = log.group("Solves");
      for (const SolveResult& result : results) {
        const auto elem = log.group("elem");
        log.write("iterations", result.iterations);
        log.write("residual", result.residual);
      }
    }
    {
      const auto relaxation = log.group("Relaxation_Iterations");
      log.write("ncg_had", total_iterations(results));
    }
    write_correlator(log, "Prop_correlator", "prop_corr", slice_norms(s, Nd - 1));
    record.forward = param_;
    objects.create(prop_id_, std::move(s), {"<propagator/>", record.xml()});
  }

 private:
  std::string xml_, param_, gauge_id_, source_id_, prop_id_;
  std::shared_ptr<const FermionAction<F>> action_;
  std::shared_ptr<const DirectSolver<F>> solver_;
};

template <class F>
class SinkSmearMeasurement : public Measurement {
  using Q = PropagatorOf<F>;

 public:
  SinkSmearMeasurement(const Input& input, ObjectPlan& plan)
      : xml_(input.xml()), param_(inner_xml(input.group("Param").xml())) {
    read_version(input.group("Param"), {5});
    sink_ = read_quark_sink<Q>(input.group("Param").group("Sink"));
    const Input object = input.group("NamedObject");
    gauge_id_ = plan.uses<GaugeField>(object, "gauge_id");
    prop_id_ = plan.uses<Q>(object, "prop_id");
    smeared_id_ = plan.makes<Q>(object, "smeared_prop_id");
  }

  void measure(unsigned long update_no, NamedObjects& objects, const Log& log) override {
    QuarkRecord record = QuarkRecord::parse(objects.record(prop_id_).record_xml, prop_id_);
    const int j_decay = record.read_source().j_decay;
    const auto group = log.group("sink_smear");
    write_head(log, update_no, xml_, objects, gauge_id_);
    write_xml(log, "Prop_record_info", record.xml());
    Q s = objects.get<Q>(prop_id_);
    write_correlator(log, "Forward_prop_correlator", "forward_prop_corr", slice_norms(s, j_decay));
    sink_(s, objects.get<GaugeField>(gauge_id_));
    write_correlator(log, "SinkSmearedProp_correlator", "sink_smeared_prop_corr", slice_norms(s, j_decay));
    record.sink = param_;
    objects.create(smeared_id_, std::move(s), {"<sink_smear/>", record.xml()});
  }

 private:
  std::string xml_, param_, gauge_id_, prop_id_, smeared_id_;
  QuarkSmearing<Q> sink_;
};

/// "  POINT_SOURCE: ...": the rows of a table inside the text of another row.
template <class T>
std::string names_of(const T& table) {
  std::string text;
  for (const auto& row : table.rows()) text += "\n        " + row.name + ": " + row.schema;
  return text;
}

}  // namespace

MeasurementRows quark_measurements() {
  using W = LatticeFermion;
  using S = LatticeStaggeredFermion;
  const std::string source =
      "Param{version 6, Source{SourceType, ..., [SmearingParam{wvf_kind, ...}], [Displacement{DisplacementType NONE or "
      "SIMPLE_DISPLACEMENT, disp_length, disp_dir}], [LinkSmearing{LinkSmearingType, ...}]}}, NamedObject{gauge_id, "
      "source_id}; SourceType is one of" +
      names_of(source_table()) + "\n      and wvf_kind one of" + names_of(quark_smearing_table<LatticePropagator>());
  const std::string sink =
      "Param{version 5, Sink{SinkType, j_decay, ...}}, NamedObject{gauge_id, prop_id, "
      "smeared_prop_id}; SinkType is one of" +
      names_of(sink_table<LatticePropagator>());
  return {
      measurement_row<MakeSource<W>>("MAKE_SOURCE", source),
      measurement_row<PropagatorMeasurement<W>>(
          "PROPAGATOR",
          "Param{version 8 to 10, [quarkSpinType FULL], FermionAction{FermAct, ...}, InvertParam{invType, ...}}, "
          "NamedObject{gauge_id, source_id, prop_id}: D^-1 on all spins and colours of a source"),
      measurement_row<SinkSmearMeasurement<W>>("SINK_SMEAR", sink),
      measurement_row<MakeSource<S>>("MAKE_SOURCE_STAG", "the same as MAKE_SOURCE for staggered quarks"),
      measurement_row<PropagatorMeasurement<S>>("PROPAGATOR_STAG", "the same as PROPAGATOR for staggered quarks"),
      measurement_row<SinkSmearMeasurement<S>>("SINK_SMEAR_STAG", "the same as SINK_SMEAR for staggered quarks"),
  };
}

}  // namespace qcd
