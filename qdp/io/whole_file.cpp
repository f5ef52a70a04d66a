#include "qdp/io/whole_file.hpp"

#include "jit/support/file.hpp"
#include "qdp/io/primary.hpp"

namespace QDP {

void write_whole_file(const std::string& path, const std::string& content) {
  io::on_primary([&] { jit::write_atomically(path, content); });
}

std::uint64_t free_disk_space(const std::string& path) {
  std::uint64_t bytes = 0;
  io::on_primary([&] { bytes = jit::free_space(path); });
  io::broadcast(bytes);
  return bytes;
}

}  // namespace QDP
