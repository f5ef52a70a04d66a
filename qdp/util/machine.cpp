#include "qdp/util/machine.hpp"

#include "jit/comm/collectives.hpp"

namespace QDP {

double share_of_machine() {
  jit::Communicator& ranks = jit::process_communicator();
  return static_cast<double>(jit::place_on_host(ranks).ranks) / ranks.size();
}

}  // namespace QDP
