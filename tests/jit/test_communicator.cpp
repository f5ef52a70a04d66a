// The job of one rank.
#include "jit/comm/communicator.hpp"

#include <doctest/doctest.h>

#include "jit/support/error.hpp"

using namespace jit;

TEST_CASE("one rank: sums and broadcasts leave its values, and there is no other root") {
  Communicator& job = process_communicator();
  CHECK(job.rank() == 0);
  CHECK(job.size() == 1);
  double values[] = {1.5, -2};
  job.sum(values);
  job.broadcast(values, sizeof values, 0);
  CHECK(values[0] == 1.5);
  CHECK(values[1] == -2);
  CHECK_THROWS_WITH_AS(job.broadcast(values, sizeof values, 1), doctest::Contains("root"), UserError);
}
