#include "lib/io/program_info.hpp"

#include <ctime>
#include <string>

namespace qcd {

using namespace QDP;

void write_program_info(XMLWriter& xml) {
  push(xml, "ProgramInfo");
  push(xml, "code_version");
  write(xml, "tessera", std::string(TESSERA_VERSION));
  write(xml, "basePrecision", static_cast<int>(8 * sizeof(REAL)));
  pop(xml);
  char date[64] = "";
  const std::time_t now = std::time(nullptr);
  std::strftime(date, sizeof date, "%Y-%m-%d %H:%M:%S %Z", std::localtime(&now));
  write(xml, "run_date", std::string(date));
  push(xml, "Setgeom");
  write(xml, "latt_size", Layout::lattSize());
  write(xml, "subgrid_latt_size", Layout::subgridLattSize());
  write(xml, "total_volume", static_cast<int>(Layout::vol()));
  pop(xml);
  pop(xml);
}

}  // namespace qcd
