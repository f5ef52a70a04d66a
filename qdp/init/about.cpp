#include "qdp/init/about.hpp"

#include "jit/comm/communicator.hpp"
#include "jit/runtime.hpp"
#include "qdp_config.h"

extern const char* const tessera_commit;  // generated, cmake/TesseraCommit.cmake

namespace QDP {

ProgramAbout about_program() {
  const jit::Runtime& runtime = jit::Runtime::instance();
  return {.version = TESSERA_VERSION,
          .commit = tessera_commit,
          .host = jit::process_communicator().host(),
          .device = runtime.device(),
          .device_model = runtime.device_model(),
          .threads = runtime.threads(),
          .precision = BASE_PRECISION,
          .nd = QDP_ND,
          .nc = QDP_NC,
          .ns = QDP_NS};
}

std::string describe(const ProgramAbout& about) {
  return "Tessera " + about.version + " (" + about.commit + "), " + std::to_string(about.precision) + " bits, Nd " +
         std::to_string(about.nd) + ", Nc " + std::to_string(about.nc) + "; " + about.device + " (" +
         about.device_model + "), " + std::to_string(about.threads) + (about.threads == 1 ? " thread" : " threads") +
         ", on " + about.host;
}

}  // namespace QDP
