#include "lib/io/lattice.hpp"

#include "lib/gauge/checkerboard.hpp"

#include "qdp.h"
#include "qdp/io/nersc.hpp"
#include "qdp/io/scidac.hpp"

#include <filesystem>

namespace qcd {

using namespace QDP;

namespace {

bool known(const Input& in) { return static_cast<int>(in.lattice().size()) == Nd; }

double last(const Input& in, int direction) {
  const bool inside = known(in) && direction >= 0 && direction < Nd;
  return inside ? in.lattice()[static_cast<std::size_t>(direction)] - 1 : std::numeric_limits<int>::max();
}

/// The extents that a gauge file says it has; none if it does not say.
std::vector<int> extents_of(const std::string& name) {
  const std::string file = io::first_volume(name);
  return io::is_nersc_file(file) ? io::read_nersc_header(file).nrow : io::ScidacReader(file).geometry().extents;
}

}  // namespace

void require_checkerboard(const Input& in, const std::string& name, const std::string& instead) {
  const CheckerboardFault fault = checkerboard_fault(in.lattice());
  if (fault) in.error(name, (instead.empty() ? "" : instead + ", or ") + fault.expected, fault.got);
}

std::vector<int> read_site(const Input& in, const std::string& name) {
  const std::vector<int> site = in.integers(name, Nd, at_least(0));
  for (int mu = 0; mu < Nd; ++mu)
    if (const int x = site[static_cast<std::size_t>(mu)]; x > last(in, mu)) {
      in.error(name, "a site of the lattice " + lattice_text(in.lattice()),
               std::to_string(x) + " in direction " + std::to_string(mu));
      break;
    }
  return site;
}

int read_coordinate(const Input& in, const std::string& name, int direction, int lowest) {
  return in.integer(name, {static_cast<double>(lowest), last(in, direction)});
}

void require_lattice_of_file(const Input& in, const std::string& name, const std::string& file) {
  if (file.empty() || !known(in) || !io::once([&] { return std::filesystem::is_regular_file(file); })) return;
  try {
    const std::vector<int> extents = io::once([&] { return extents_of(file); });
    if (!extents.empty() && extents != in.lattice())
      in.error(name, "a configuration of the lattice " + lattice_text(in.lattice()),
               file + " of " + lattice_text(extents));
  } catch (const std::exception& error) {
    // A saved state's: loading it names the checkpoints before it, too.
    if (in.has("../Identity") || in.has("../MCControl/Identity")) return;
    in.error(name, "a gauge file (NERSC, SciDAC or ILDG)", file + ": " + error.what());
  }
}

}  // namespace qcd
