// Files of MapObjectDisk, with the checksum of the index made right again, so that what stands in it is looked at.

#include "qdp/io/map_file.hpp"
#include "tests/fuzz/fuzz.hpp"

#include <string>
#include <vector>

using namespace QDP;

namespace {

std::uint64_t number(const std::string& bytes, std::size_t at, int size) {
  std::uint64_t value = 0;
  for (int i = 0; i < size; ++i)
    value = value << 8 | static_cast<unsigned char>(bytes[at + static_cast<std::size_t>(i)]);
  return value;
}

void mend(std::string& bytes) {
  const std::size_t length_at = 4 + io::MapFile::magic().size() + 4;
  if (bytes.size() < length_at + 4 + 16 + 8) return;
  const std::uint64_t link = length_at + 4 + number(bytes, length_at, 4);
  if (link + 16 > bytes.size()) return;
  const std::uint64_t index = number(bytes, link + 8, 8);
  if (index > bytes.size() - 8) return;
  const std::uint32_t crc = QDPUtil::crc32(0, &bytes[index], bytes.size() - 4 - index);
  for (std::size_t i = 0; i < 4; ++i) bytes[bytes.size() - 4 + i] = static_cast<char>(crc >> (24 - 8 * i));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string bytes(reinterpret_cast<const char*>(data), size);
  mend(bytes);
  const std::string path = fuzz::file_of(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
  fuzz::accepted([&] { io::MapFile::user_data_of(path); });
  io::MapFile map;
  std::string user_data;
  if (!fuzz::accepted([&] { map.open(path, std::ios_base::in | std::ios_base::out, user_data); })) return 0;
  std::vector<std::string> keys;
  for (const auto& entry : map.index()) keys.push_back(entry.first);
  for (const std::string& key : keys) {
    fuzz::accepted([&] {
      map.get(key, [](BinaryReader& bin) {
        std::string text;
        readDesc(bin, text);
      });
    });
    fuzz::accepted([&] { map.insert(key, [](BinaryWriter& bin) { write(bin, 2.5); }); });
  }
  fuzz::accepted([&] { map.close(); });
  return 0;
}
