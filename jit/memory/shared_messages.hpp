// Messages between ranks of one machine that are read where the sender has written them: only where they lie has to be told.
//
// Each rank has a segment for what it sends. The first line of a message there says whether somebody else still reads it; until
// then its memory is not used again.
#pragma once

#include <cstdint>
#include <map>
#include <memory>

#include "jit/comm/communicator.hpp"
#include "jit/memory/message_memory.hpp"
#include "jit/memory/segment.hpp"

namespace jit {

class SharedMessages {
 public:
  /// A message in the segment of whom it comes from.
  struct Address {
    std::uint64_t first, bytes;
  };

  static SharedMessages& instance();

  /// Once in a process, for all its communicators: finds out who reads whose memory, unless TESSERA_SHARE_MESSAGES=0. Only ranks of
  /// the same machine on devices with the host's memory do. `hosts`: as hosts_of() tells. Collective.
  void connect(Communicator& ranks, const std::vector<int>& hosts);

  /// Whether this rank and that one read each other's.
  bool reach(int rank) const { return others_.contains(rank); }
  /// Of this rank's messages. If it reaches anybody.
  MessagePool& pool() { return *own_->pool; }
  /// Of a message in that pool, which others read from now on.
  Address give(MessageMemory& message, std::size_t bytes) const;
  /// What another rank has given; as long as it lives it is this rank's to read.
  std::shared_ptr<MessageMemory> take(int rank, const Address& address);

 private:
  struct Own {
    std::unique_ptr<Segment> segment;
    std::unique_ptr<Memory> memory;
    std::unique_ptr<MessagePool> pool;
  };
  std::unique_ptr<Own> own_;
  std::map<int, std::unique_ptr<MappedSegment>> others_;  ///< by rank
  bool connected_ = false;
};

}  // namespace jit
