// Text files written whole or not at all, and the room on disk for more.
#pragma once

#include <cstdint>
#include <string>

namespace QDP {

/// Replaces the file by `content`: a reader, or a restart after a crash, finds the old file or the new one, never a part.
/// It is on disk when the call returns. Throws jit::FileError; the old file is then untouched. Collective.
void write_whole_file(const std::string& path, const std::string& content);

/// Why `path` is no regular file that can be read, such as "a folder"; empty if it is one, or if `path`.vol0000 is, the first of
/// several files of a field. Collective.
std::string why_unreadable(const std::string& path);

/// The text of a regular file. Throws jit::UserError. Collective.
std::string read_whole_file(const std::string& path);

/// 32 hexadecimal digits that any change of the text changes (not cryptographic); the same on every machine.
std::string hash_of_text(const std::string& text);

/// Bytes that may still be written where `path` is or will be. Throws jit::FileError. Collective.
std::uint64_t free_disk_space(const std::string& path);

}  // namespace QDP
