#include "jit/comm/communicator.hpp"

#include <unistd.h>

#include <cstring>
#include <utility>

#include "jit/support/error.hpp"

namespace jit {
namespace {

/// One rank: what others would send it already has.
class SingleRank : public Communicator {
 public:
  int rank() const override { return 0; }
  int size() const override { return 1; }
  void broadcast(void*, std::size_t, int root) override { check_root("broadcast", root); }
  void combine(void*, std::size_t, std::size_t, Join) override {}
  void gather(const void* mine, std::size_t bytes, void* all) override {
    if (bytes > 0) std::memcpy(all, mine, bytes);
  }
  void barrier() override {}
  std::unique_ptr<Message> outgoing(const void*, std::size_t, int to) override { no_partner("message to", to); }
  std::unique_ptr<Message> incoming(void*, std::size_t, int from, Length) override { no_partner("message from", from); }
  void abort(int) override {}

 private:
  [[noreturn]] void no_partner(const char* operation, int partner) const {
    check_partner(operation, partner);
    throw InternalError("a partner in a job of one rank");
  }
};

/// Never destroyed: streams of static storage ask for it after main.
std::unique_ptr<Communicator>& present() {
  static auto* communicator = new std::unique_ptr<Communicator>(new SingleRank);
  return *communicator;
}

}  // namespace

std::string Communicator::host() const {
  char name[256] = {};
  return gethostname(name, sizeof name - 1) == 0 ? name : "unknown";
}

void Communicator::check_root(const char* operation, int root) const {
  if (root >= 0 && root < size()) return;
  throw UserError({.what = operation,
                   .expected = "a root in 0.." + std::to_string(size() - 1),
                   .got = std::to_string(root),
                   .where = "rank " + std::to_string(rank())});
}

void Communicator::check_partner(const char* operation, int partner) const {
  if (partner >= 0 && partner < size() && partner != rank()) return;
  throw UserError(
      {.what = std::string(operation) + " rank " + std::to_string(partner),
       .expected = size() == 1 ? "a job of several ranks" : "another rank in 0.." + std::to_string(size() - 1),
       .got = partner == rank() ? "the rank itself" : "no rank",
       .where = "rank " + std::to_string(rank())});
}

Communicator& process_communicator() { return *present(); }

std::unique_ptr<Communicator> replace_process_communicator(std::unique_ptr<Communicator> other) {
  if (!other) other = std::make_unique<SingleRank>();
  return std::exchange(present(), std::move(other));
}

}  // namespace jit
