#include "lib/io/program_info.hpp"

#include <ctime>
#include <string>

#include "qdp/init/about.hpp"

namespace qcd {

using namespace QDP;

void write_program_info(XMLWriter& xml) {
  push(xml, "ProgramInfo");
  push(xml, "code_version");
  const ProgramAbout about = about_program();
  write(xml, "tessera", about.version);
  write(xml, "commit", about.commit);
  write(xml, "basePrecision", about.precision);
  write(xml, "Nd", about.nd);
  write(xml, "Nc", about.nc);
  pop(xml);
  push(xml, "machine");
  write(xml, "host", about.host);
  write(xml, "device", about.device);
  write(xml, "device_model", about.device_model);
  write(xml, "threads", about.threads);
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
