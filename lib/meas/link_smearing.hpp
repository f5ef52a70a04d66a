// Smearing of links by name, as measurements ask for it: LinkSmearingType.
#pragma once

#include "lib/gauge/gauge_field.hpp"
#include "lib/io/table.hpp"

#include <functional>

namespace qcd {

/// u -> smeared links.
using LinkSmearing = std::function<GaugeField(const GaugeField&)>;

/// LinkSmearingType -> smearing.
const Table<LinkSmearing>& link_smearing_table();

/// The smearing that a group names (Param of LINK_SMEAR, LinkSmearing of a source or sink); after an error, none.
LinkSmearing read_link_smearing(const Input& group);
/// The same for an optional child group LinkSmearing; none where it is absent.
LinkSmearing read_optional_link_smearing(const Input& parent);

}  // namespace qcd
