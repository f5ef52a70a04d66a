// FileDB's files, with the checksums of header and pages made right again, so that what stands there is looked at.

#include "qdp/io/hash_file.hpp"
#include "qdp/util/byte_order.hpp"
#include "tests/fuzz/fuzz.hpp"

#include <fcntl.h>

#include <string>
#include <vector>

using namespace QDP;

namespace {

void mend(std::string& bytes) {
  constexpr std::size_t kHeader = 332;
  if (bytes.size() < kHeader) return;
  const std::uint32_t of_header = QDPUtil::crc32(0, bytes.data(), kHeader - 4);
  for (std::size_t i = 0; i < 4; ++i) bytes[kHeader - 4 + i] = static_cast<char>(of_header >> (24 - 8 * i));
  std::size_t page = 0;
  for (std::size_t i = 12; i < 16; ++i) page = page << 8 | static_cast<unsigned char>(bytes[i]);
  if (page < 512 || page > 1 << 20) return;
  for (std::size_t at = page; at + page <= bytes.size(); at += page) {
    std::uint32_t crc = QDPUtil::crc32(0, &bytes[at], 20);
    crc = QDPUtil::crc32(crc, &bytes[at + 24], page - 24);
    for (std::size_t i = 0; i < 4; ++i) bytes[at + 20 + i] = static_cast<char>(crc >> (8 * i));
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string bytes(reinterpret_cast<const char*>(data), size);
  mend(bytes);
  const std::string path = fuzz::file_of(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
  for (const int flags : {O_RDONLY, O_RDWR})
    fuzz::accepted([&] {
      io::HashFile file(path, flags, 0, {.cache = 1 << 16});
      fuzz::accepted([&] { file.user_info(); });
      std::vector<std::string> keys;
      fuzz::accepted([&] { file.for_each_key([&](const std::string& key) { keys.push_back(key); }); });
      std::string found;
      for (const std::string& key : keys) fuzz::accepted([&] { file.get(key, found); });
      if (flags == O_RDONLY) return;
      if (!keys.empty()) fuzz::accepted([&] { file.put(keys[0], std::string(3000, 'x')); });
      for (const char* key : {"a", "another", "and one more"})
        fuzz::accepted([&] { file.put(key, std::string(key) + found.substr(0, 700)); });
      fuzz::accepted([&] { file.set_user_info("user"); });
    });
  return 0;
}
