// What an input asks for against the lattice that it asks for: found before there is a lattice. Where the extents are not
// known (Input::lattice), nothing is checked here, and the field itself objects.
#pragma once

#include "lib/io/input.hpp"

#include <string>
#include <vector>

namespace qcd {

/// Records an error at the child `name` if a hop may keep parity on the lattice (checkerboard.hpp). `instead` is what else
/// would do: "an action on all sites".
void require_checkerboard(const Input& in, const std::string& name, const std::string& instead = "");

/// The child `name`: the coordinates of a site, each below its extent.
std::vector<int> read_site(const Input& in, const std::string& name);
/// The child `name`: a coordinate in a direction, or from `lowest` = -1 on where that stands for all of them.
int read_coordinate(const Input& in, const std::string& name, int direction, int lowest = 0);

/// Records an error unless `file`, which the child `name` names, is a gauge file (NERSC, SciDAC, ILDG) of the lattice.
void require_lattice_of_file(const Input& in, const std::string& name, const std::string& file);

}  // namespace qcd
