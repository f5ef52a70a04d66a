// Hadron correlators from propagators: HADRON_SPECTRUM, MESON_SPECTRUM, SPECTRUM_STAG.

#include "lib/meas/baryons.hpp"
#include "lib/meas/currents.hpp"
#include "lib/meas/measurement.hpp"
#include "lib/meas/mesons.hpp"
#include "lib/meas/quark_record.hpp"

namespace qcd {

using namespace QDP;

namespace {

/// A propagator with what is known of it.
struct Quark {
  std::string id;
  const LatticePropagator& field;
  QuarkRecord record;
  QuarkRecord::Source source;

  Quark(const NamedObjects& objects, const std::string& name)
      : id(name),
        field(objects.get<LatticePropagator>(name)),
        record(QuarkRecord::parse(objects.record(name).record_xml, name)),
        source(record.read_source()) {}
};

/// Throws InputError unless two propagators can make one hadron: sources in the same slice of the same direction.
void require_same_source(const Quark& a, const Quark& b) {
  if (a.source.j_decay != b.source.j_decay || a.source.t_source != b.source.t_source)
    throw InputError("propagators " + a.id + " and " + b.id + ": expected sources in the same slice, got slices " +
                     std::to_string(a.source.t_source) + " and " + std::to_string(b.source.t_source) +
                     " of directions " + std::to_string(a.source.j_decay) + " and " + std::to_string(b.source.j_decay));
}

/// "Shell" of SHELL_SOURCE and SHELL_SINK; random walls are walls.
std::string kind_of(const std::string& type) {
  for (const auto& [part, kind] : {std::pair{"WALL", "Wall"}, std::pair{"SHELL", "Shell"}, std::pair{"POINT", "Point"}})
    if (type.find(part) != std::string::npos) return kind;
  return "Other";
}

template <class C>
multi1d<C> row_of(const multi2d<C>& values, int k) {
  multi1d<C> row(values.size1());
  for (int t = 0; t < row.size(); ++t) row[t] = values(k, t);
  return row;
}

/// momenta{elem{sink_mom_num, sink_mom, <tag>}}, correlators counted from the source.
void write_momenta(const Log& log, const Momenta& momenta, const std::string& tag,
                   const std::function<multi1d<DComplex>(int)>& correlator) {
  const auto group = log.group("momenta");
  for (int k = 0; k < momenta.size(); ++k) {
    const auto elem = log.group("elem");
    log.write("sink_mom_num", k);
    log.write("sink_mom", momenta[k]);
    log.write(tag, correlator(k));
  }
}

struct MomentumParameters {
  int mom2_max = 0;
  bool average = false;

  static MomentumParameters read(const Input& param) {
    return {param.integer("mom2_max", at_least(0)), param.flag("avg_equiv_mom")};
  }
  Momenta momenta(const QuarkRecord::Source& source) const {
    return Momenta(mom2_max, as_array(source.origin), average, source.j_decay);
  }
};

void write_pair(const Log& log, const Quark& first, const Quark& second) {
  {
    const auto group = log.group("Forward_prop_correlator");
    log.write("forward_prop_corr_1", slice_norms(first.field, first.source.j_decay));
    log.write("forward_prop_corr_2", slice_norms(second.field, first.source.j_decay));
  }
  const auto group = log.group("SourceSinkType");
  int n = 0;
  for (const Quark* quark : {&first, &second}) {
    const std::string number = "_" + std::to_string(++n);
    log.write("source_type" + number, quark->source.type);
    log.write("source_disp_type" + number, quark->record.source_displacement());
    log.write("sink_type" + number, quark->record.sink_type());
    log.write("sink_disp_type" + number, quark->record.sink_displacement());
  }
}

class HadronSpectrum : public Measurement {
 public:
  HadronSpectrum(const Input& input, ObjectPlan& plan) : xml_(input.xml()) {
    const Input param = input.group("Param");
    read_version(param, {1});
    mesons_ = param.flag("MesonP");
    baryons_ = param.flag("BaryonP");
    if (baryons_ && Nc != 3)
      param.error("BaryonP", "false: baryons need three colours", "true, with " + size_of_build());
    currents_ = param.flag("CurrentP", false);
    time_reversal_ = param.flag("time_rev", false);
    momenta_ = MomentumParameters::read(param);
    const Input object = input.group("NamedObject");
    gauge_id_ = plan.uses<GaugeField>(object, "gauge_id");
    for (const Input& pair : object.elements("sink_pairs"))
      pairs_.emplace_back(plan.uses<LatticePropagator>(pair, "first_id"),
                          plan.uses<LatticePropagator>(pair, "second_id"));
  }

  void measure(unsigned long update_no, NamedObjects& objects, const Log& log) override {
    const auto group = log.group("hadspec");
    log.write("update_no", update_no);
    write_xml(log, "Input", xml_);
    write_xml(log, "Config_info", objects.record(gauge_id_).record_xml);
    write_observables(log, "Observables", objects.get<GaugeField>(gauge_id_));
    const auto measurements = log.group("Wilson_hadron_measurements");
    for (const auto& [first_id, second_id] : pairs_) {
      const Quark first(objects, first_id), second(objects, second_id);
      require_same_source(first, second);
      const auto elem = log.group("elem");
      log.write("Mass_1", first.record.mass());
      log.write("Mass_2", second.record.mass());
      log.write("t0", first.source.t_source);
      {
        const auto headers = log.group("Forward_prop_headers");
        write_xml(log, "First_forward_prop", inner_xml(first.record.xml()));
        write_xml(log, "Second_forward_prop", inner_xml(second.record.xml()));
      }
      write_pair(log, first, second);
      const std::string name = kind_of(first.source.type) + "_" + kind_of(first.record.sink_type());
      const Momenta momenta = momenta_.momenta(first.source);
      if (mesons_) write_mesons(log, name + "_Wilson_Mesons", first, second, momenta);
      if (currents_ && first.record.sink_type() == "POINT_SINK")
        write_currents(log, kind_of(first.source.type) + "_Point_Meson_Currents", first, second,
                       objects.get<GaugeField>(gauge_id_));
      if (baryons_) write_baryons(log, name + "_Wilson_Baryons", first, second, momenta);
    }
  }

 private:
  static void write_mesons(const Log& log, const std::string& name, const Quark& first, const Quark& second,
                           const Momenta& momenta) {
    const auto correlators = meson_correlators(first.field, second.field, momenta);
    const auto group = log.group(name);
    for (int n = 0; n < Ns * Ns; ++n) {
      const auto elem = log.group("elem");
      log.write("gamma_value", n);
      write_momenta(log, momenta, "mesprop", [&](int k) {
        return counted_from(row_of(correlators[static_cast<std::size_t>(n)], k), first.source.t_source);
      });
    }
  }

  static void write_list(const Log& log, const std::string& name, const std::string& tag,
                         const std::vector<multi1d<Double>>& currents) {
    const auto group = log.group(name);
    for (std::size_t i = 0; i < currents.size(); ++i) {
      const auto elem = log.group("elem");
      log.write("current_value", static_cast<int>(i));
      log.write(tag, currents[i]);
    }
  }

  static void write_currents(const Log& log, const std::string& name, const Quark& first, const Quark& second,
                             const GaugeField& u) {
    const MesonCurrents c = meson_currents(u, first.field, second.field, first.source.j_decay);
    std::vector<multi1d<Double>> vector_currents, axial_currents;
    for (const auto* currents : {&c.split_vector, &c.conserved_vector, &c.tensor})
      for (const auto& current : *currents) vector_currents.push_back(counted_from(current, first.source.t_source));
    for (const auto* current : {&c.split_axial, &c.local_axial})
      axial_currents.push_back(counted_from(*current, first.source.t_source));
    const auto group = log.group(name);
    log.write("num_vec_cur", 3);
    write_list(log, "Vector_currents", "vector_current", vector_currents);
    write_list(log, "Axial_currents", "axial_current", axial_currents);
  }

  /// The first propagator is the pair of equal quarks, the second the single one.
  void write_baryons(const Log& log, const std::string& name, const Quark& first, const Quark& second,
                     const Momenta& momenta) const {
    const int boundary = first.record.boundary(first.source.j_decay);
    const auto forward = baryon_correlators(second.field, first.field, momenta);
    std::vector<multi2d<DComplex>> backward;
    if (time_reversal_ && boundary != 0)
      backward = baryon_correlators(time_reversed(second.field), time_reversed(first.field), momenta);
    const auto group = log.group(name);
    for (std::size_t b = 0; b < forward.size(); ++b) {
      const auto elem = log.group("elem");
      log.write("baryon_num", static_cast<int>(b));
      write_momenta(log, momenta, "barprop", [&](int k) {
        const multi1d<DComplex> there = row_of(forward[b], k);
        if (backward.empty()) return baryon_from_source(there, nullptr, first.source.t_source, boundary);
        const multi1d<DComplex> back = row_of(backward[b], k);
        return baryon_from_source(there, &back, first.source.t_source, boundary);
      });
    }
  }

  std::string xml_, gauge_id_;
  bool mesons_ = false, currents_ = false, baryons_ = false, time_reversal_ = false;
  MomentumParameters momenta_;
  std::vector<std::pair<std::string, std::string>> pairs_;
};

/// S Gamma(n), Gamma(n) S, or S itself.
struct SpinInsertion {
  enum class Side { none, left, right } side = Side::none;
  int gamma = 0;

  static SpinInsertion read(const Input& group) {
    SpinInsertion s;
    const std::string type = group.word("SpinInsertionType");
    if (type == "LEFT_GAMMA_INSERTION")
      s.side = Side::left;
    else if (type == "RIGHT_GAMMA_INSERTION")
      s.side = Side::right;
    else if (!type.empty() && type != "NONE")
      group.error("SpinInsertionType", "NONE, LEFT_GAMMA_INSERTION or RIGHT_GAMMA_INSERTION", type);
    if (s.side != Side::none) s.gamma = group.integer("gamma", {0, Ns * Ns - 1});
    return s;
  }
  LatticePropagator operator()(const LatticePropagator& s) const {
    if (side == Side::left) return LatticePropagator(Gamma(gamma) * s);
    if (side == Side::right) return LatticePropagator(s * Gamma(gamma));
    return s;
  }
};

class MesonSpectrum : public Measurement {
 public:
  MesonSpectrum(const Input& input, ObjectPlan& plan) : xml_(input.xml()) {
    const Input param = input.group("Param");
    read_version(param, {1});
    momenta_ = MomentumParameters::read(param);
    const Input object = input.group("NamedObject");
    gauge_id_ = plan.uses<GaugeField>(object, "gauge_id");
    for (const Input& elem : object.elements("correlators")) {
      Correlator c;
      for (const char* tag : kLabels) c.labels.push_back(elem.word(tag));
      for (const Input& term : elem.elements("correlator_terms"))
        c.terms.push_back({plan.uses<LatticePropagator>(term, "first_id"),
                           plan.uses<LatticePropagator>(term, "second_id"), term.real("factor"),
                           SpinInsertion::read(term.group("SourceSpinInsertion")),
                           SpinInsertion::read(term.group("SinkSpinInsertion"))});
      if (c.terms.empty()) elem.error("correlator_terms", "at least one <elem>", "none");
      correlators_.push_back(std::move(c));
    }
  }

  void measure(unsigned long update_no, NamedObjects& objects, const Log& log) override {
    const auto group = log.group("MesonSpectrum");
    log.write("update_no", update_no);
    write_xml(log, "Input", xml_);
    write_xml(log, "Config_info", objects.record(gauge_id_).record_xml);
    write_observables(log, "Observables", objects.get<GaugeField>(gauge_id_));
    const auto measurements = log.group("Wilson_hadron_measurements");
    for (const Correlator& correlator : correlators_) measure(correlator, objects, log);
  }

 private:
  static constexpr const char* kLabels[] = {"source_particle", "source_wavetype", "sink_particle", "sink_wavetype"};

  struct Term {
    std::string first_id, second_id;
    double factor;
    SpinInsertion source, sink;
  };
  struct Correlator {
    std::vector<std::string> labels;
    std::vector<Term> terms;
  };

  void measure(const Correlator& correlator, const NamedObjects& objects, const Log& log) const {
    const auto elem = log.group("elem");
    for (std::size_t i = 0; i < correlator.labels.size(); ++i) log.write(kLabels[i], correlator.labels[i]);
    const Quark leading(objects, correlator.terms[0].first_id);
    LatticeComplex sum = zero;
    for (const Term& term : correlator.terms) {
      const Quark first(objects, term.first_id), second(objects, term.second_id);
      require_same_source(leading, first);
      require_same_source(leading, second);
      const LatticePropagator back = Gamma(Ns * Ns - 1) * adj(second.field) * Gamma(Ns * Ns - 1);
      sum += Real(term.factor) * trace(term.sink(back) * term.source(first.field));
    }
    const Quark other(objects, correlator.terms[0].second_id);
    log.write("Mass_1", leading.record.mass());
    log.write("Mass_2", other.record.mass());
    log.write("t0", leading.source.t_source);
    write_pair(log, leading, other);
    const Momenta momenta = momenta_.momenta(leading.source);
    const multi2d<DComplex> sums = momenta.project(sum);
    const auto mesons = log.group("Mesons");
    write_momenta(log, momenta, "mesprop",
                  [&](int k) { return counted_from(row_of(sums, k), leading.source.t_source); });
  }

  std::string xml_, gauge_id_;
  MomentumParameters momenta_;
  std::vector<Correlator> correlators_;
};

class StaggeredSpectrum : public Measurement {
 public:
  StaggeredSpectrum(const Input& input, ObjectPlan& plan) : xml_(input.xml()) {
    id_ = plan.uses<LatticeStaggeredPropagator>(input.group("NamedObject"), "prop_id");
  }

  void measure(unsigned long update_no, NamedObjects& objects, const Log& log) override {
    const auto& s = objects.get<LatticeStaggeredPropagator>(id_);
    const QuarkRecord record = QuarkRecord::parse(objects.record(id_).record_xml, id_);
    const QuarkRecord::Source source = record.read_source();
    const auto group = log.group("SpectrumStag");
    log.write("update_no", update_no);
    write_xml(log, "Input", xml_);
    log.write("Mass", record.mass());
    log.write("t0", source.t_source);
    log.write("goldstone_pion", counted_from(slice_norms(s, source.j_decay), source.t_source));
  }

 private:
  std::string xml_, id_;
};

}  // namespace

MeasurementRows spectrum_measurements() {
  return {
      measurement_row<HadronSpectrum>(
          "HADRON_SPECTRUM",
          "Param{version 1, MesonP, BaryonP, [CurrentP = false], [time_rev = false], mom2_max, avg_equiv_mom}, "
          "NamedObject{gauge_id, sink_pairs{elem{first_id, second_id}...}}: mesons of all 16 gamma matrices, vector "
          "and "
          "axial currents (point sinks), 17 baryons"),
      measurement_row<MesonSpectrum>(
          "MESON_SPECTRUM",
          "Param{version 1, mom2_max, avg_equiv_mom}, NamedObject{gauge_id, correlators{elem{source_particle, "
          "source_wavetype, sink_particle, sink_wavetype, correlator_terms{elem{first_id, second_id, factor, "
          "SourceSpinInsertion{SpinInsertionType, gamma}, SinkSpinInsertion{...}}...}}...}}: sums of meson "
          "correlators"),
      measurement_row<StaggeredSpectrum>("SPECTRUM_STAG",
                                         "NamedObject{prop_id}: the Goldstone pion of staggered quarks"),
  };
}

}  // namespace qcd
