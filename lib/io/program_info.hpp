// What an output document says about the program that wrote it.
#pragma once

#include "qdp.h"

namespace qcd {

/// The group ProgramInfo: version, commit, precision, host, device, threads, date, lattice. The layout must exist.
void write_program_info(QDP::XMLWriter& xml);

}  // namespace qcd
