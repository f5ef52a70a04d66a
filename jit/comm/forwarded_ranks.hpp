// A communicator that leaves everything to another one: base of those that look at, or change, some of it.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <utility>

#include "jit/comm/communicator.hpp"
#include "jit/comm/shared_file.hpp"

namespace jit {

class ForwardedRanks : public Communicator, public SharedFiles {
 public:
  explicit ForwardedRanks(std::unique_ptr<Communicator> ranks) : ranks_(std::move(ranks)) {}

  int rank() const override { return ranks_->rank(); }
  int size() const override { return ranks_->size(); }
  std::string host() const override { return ranks_->host(); }
  bool reaches_gpu_memory() const override { return ranks_->reaches_gpu_memory(); }
  bool serves_all_threads() const override { return ranks_->serves_all_threads(); }
  void broadcast(void* data, std::size_t bytes, int root) override { ranks_->broadcast(data, bytes, root); }
  void combine(void* values, std::size_t bytes, std::size_t count, Join join) override {
    ranks_->combine(values, bytes, count, join);
  }
  void gather(const void* mine, std::size_t bytes, void* all) override { ranks_->gather(mine, bytes, all); }
  void barrier() override { ranks_->barrier(); }
  std::unique_ptr<Message> outgoing(const void* data, std::size_t bytes, int to) override {
    return ranks_->outgoing(data, bytes, to);
  }
  std::unique_ptr<Message> incoming(void* data, std::size_t bytes, int from, Length length) override {
    return ranks_->incoming(data, bytes, from, length);
  }
  void abort(int status) override { ranks_->abort(status); }
  std::unique_ptr<SharedFile> open_file(const std::string& path, bool writing, std::string& why_not) override {
    return open_together(*ranks_, path, writing, why_not);
  }

  /// The other one; this is of no use any more.
  std::unique_ptr<Communicator> give_back() { return std::move(ranks_); }

 private:
  std::unique_ptr<Communicator> ranks_;
};

}  // namespace jit
