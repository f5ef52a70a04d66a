// Several ranks for a test: processes of this machine that talk through sockets.
//
//   const auto sums = tests::on_ranks<double>(3, [](jit::Communicator& ranks) { return std::vector{...}; });
//   for (const auto& s : sums) CHECK(s == sums[0]);
//
// The body runs in each process, where process_communicator() is the rank's. Checks belong behind it, in the test's own process: those
// in the body do not count. That process must not have made threads (so it has not started the run time; bodies may).
#pragma once

#include <cstring>
#include <functional>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

#include "jit/comm/communicator.hpp"

namespace tests {

/// [ranks] what the bodies returned. Throws std::runtime_error, and ends the others, if the body of a rank throws, its
/// process ends with a status other than 0, or some rank is not done after a minute or two.
/// `hosts`: [ranks] names of the machines that they pretend to run on.
std::vector<std::string> texts_on_ranks(int ranks, const std::function<std::string(jit::Communicator&)>& body,
                                        const std::vector<std::string>& hosts = {});

/// The same for arrays of plain data.
template <class T, class Body>
requires std::is_trivially_copyable_v<T> std::vector<std::vector<T>> on_ranks(int ranks, Body body) {
  const auto texts = texts_on_ranks(ranks, [&](jit::Communicator& comm) {
    const std::vector<T> values = body(comm);
    return std::string(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T));
  });
  std::vector<std::vector<T>> all;
  for (const std::string& text : texts) {
    all.emplace_back(text.size() / sizeof(T));
    if (!text.empty()) std::memcpy(all.back().data(), text.data(), text.size());
  }
  return all;
}

/// For the bodies of ranks, where checks do not count. Throws std::runtime_error.
inline void must(bool holds) {
  if (!holds) throw std::runtime_error("something does not hold that must");
}

}  // namespace tests
