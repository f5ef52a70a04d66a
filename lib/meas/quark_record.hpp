// What is known of a source or propagator from the XML that it carries: Chroma's records MakeSource, Propagator and
// SinkSmear, which files hold too.
#pragma once

#include "lib/io/input.hpp"

#include <string>
#include <vector>

namespace qcd {

/// The parts of a record, each the content of the Param of the measurement that made it.
struct QuarkRecord {
  std::string source;   ///< PropSource: version, Source{...}
  std::string forward;  ///< ForwardProp: FermionAction{...}, InvertParam{...}; empty for a source
  std::string sink;     ///< PropSink: version, Sink{...}; empty if there is none
  std::string config;   ///< Config_info: where the gauge field came from

  /// MakeSource, Propagator, or SinkSmear, according to which parts there are.
  std::string xml() const;
  /// Throws InputError, naming the object, for a record of another kind.
  static QuarkRecord parse(const std::string& xml, const std::string& id);

  struct Source {
    std::string type;
    int j_decay = 0, t_source = 0;
    std::vector<int> origin;  ///< [Nd]; for walls, zero in the other directions
  };
  Source read_source() const;
  /// SinkType, POINT_SINK where there is none.
  std::string sink_type() const;
  std::string source_displacement() const;
  std::string sink_displacement() const;
  /// Mass of the FermionAction, from Kappa if that is what it has: 1/(2 kappa) - Nd, isotropic.
  double mass() const;
  /// The boundary phase of the FermionAction in a direction: -1, 1, or 0 if it is neither or not known.
  int boundary(int direction) const;
};

/// The XML between the tags of one element.
std::string inner_xml(const std::string& element);

}  // namespace qcd
