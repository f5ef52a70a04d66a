// Text files written whole or not at all, and the room on disk for more.
#pragma once

#include <cstdint>
#include <string>

namespace QDP {

/// Replaces the file by `content`: a reader, or a restart after a crash, finds the old file or the new one, never a part.
/// It is on disk when the call returns. Throws jit::FileError; the old file is then untouched. Collective.
void write_whole_file(const std::string& path, const std::string& content);

/// Bytes that may still be written where `path` is or will be. Throws jit::FileError. Collective.
std::uint64_t free_disk_space(const std::string& path);

}  // namespace QDP
