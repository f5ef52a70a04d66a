// A test program that mpirun has started as one of several ranks: $TEST_GRID ("1 1 1 2") is the grid that its lattices are
// shared out over. Without that variable a program is alone, whoever started it, and all of this does nothing.
//
// After each case all ranks agree on its verdict (main.cpp). A case that one of them has left while others are still in it,
// or that takes longer than $TEST_CASE_SECONDS (300), ends the job by name: so a failure of one rank never waits for ever.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "tests/skip.hpp"

namespace tests {

/// First in main. Joins the job and sets the grid of ranks.
void join_job(int* argc, char*** argv);
/// Last in main, by all ranks.
void leave_job();
/// Of the job; 1 and 0 alone.
int job_ranks();
int job_rank();

/// The case that begins, for messages and the time limit.
void begin_case(const std::string& name);
/// The ranks that failed in it. Collective.
std::vector<int> agree(bool failed);

/// Why a case does not run on several ranks; nullptr if it does. `file`: the name of its file (not_on_ranks.cpp).
const char* left_out_on_ranks(std::string_view file, std::string_view name);

/// Whether the grid shares out a lattice of these extents in equal boxes.
bool can_share_out(const int* extents);
/// Leaves the running case as skipped if it does not.
void must_share_out(const int* extents);

/// The text of rank 0. Collective.
std::string of_first_rank(std::string text);
/// What rank 0 finds; it alone calls the function. Collective.
template <class Function>
int on_first_rank(Function function) {
  std::string found;
  if (job_rank() == 0) found = std::to_string(function());
  return std::stoi(of_first_rank(found));
}

}  // namespace tests
