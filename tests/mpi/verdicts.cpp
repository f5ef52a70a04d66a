// Cases for test_jobs: what ranks make of a case that goes well, or wrong, on one of them (tests/mpirun.hpp).
#include <doctest/doctest.h>

#include <stdexcept>

#include "jit/comm/communicator.hpp"
#include "qdp_config.h"
#include "tests/mpirun.hpp"

TEST_CASE("well on both") { CHECK(tests::job_ranks() == 2); }

TEST_CASE("wrong on the second") { CHECK(tests::job_rank() == 0); }

TEST_CASE("thrown on the first") {
  if (tests::job_rank() == 0) throw std::runtime_error("lost on the first");
}

TEST_CASE("not divided") {
  const int extents[QDP_ND] = {3};
  tests::must_share_out(extents);
  CHECK(false);
}

TEST_CASE("one waits for the other") {
  if (tests::job_rank() == 1) jit::process_communicator().barrier();
}
