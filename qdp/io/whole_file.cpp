#include "qdp/io/whole_file.hpp"

#include "jit/support/file.hpp"
#include "jit/support/hash.hpp"
#include "qdp/io/input_file.hpp"
#include "qdp/io/scidac_volumes.hpp"
#include "qdp/util/primary.hpp"

namespace QDP {

void write_whole_file(const std::string& path, const std::string& content) {
  io::on_primary([&] { jit::write_atomically(path, content); });
}

std::string why_unreadable(const std::string& path) {
  return io::once([&] { return io::InputFile::why_unreadable(io::first_volume(path)); });
}

std::string read_whole_file(const std::string& path) {
  return io::once([&] { return io::read_text_file(path); });
}

std::string hash_of_text(const std::string& text) { return jit::hash_text(text).hex(); }

std::uint64_t free_disk_space(const std::string& path) {
  return io::once([&] { return jit::free_space(path); });
}

}  // namespace QDP
