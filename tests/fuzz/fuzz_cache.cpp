// An entry of the kernel cache that something has changed: it is refused, or it is the entry.
//
// Input: a key and an object, then changes of the file: two bytes where, one byte what; an odd byte at the end cuts the file.

#include "jit/cache/kernel_cache.hpp"
#include "jit/support/file.hpp"
#include "tests/fuzz/fuzz.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2 || size > 4096) return 0;
  const std::string bytes(reinterpret_cast<const char*>(data), size);
  const std::size_t key_bytes = data[0] % 64, object_bytes = data[1];
  if (size < 2 + key_bytes + object_bytes) return 0;
  const std::string key = "key " + bytes.substr(2, key_bytes), object = bytes.substr(2 + key_bytes, object_bytes);

  const std::string folder = fuzz::folder() + "/cache";
  std::filesystem::remove_all(folder);
  jit::KernelCache cache(folder, 1 << 20);
  cache.store(key, object);
  if (cache.load(key) != object) fuzz::fail("an entry does not come back");

  const std::string entry = cache.path(key), original = jit::read_file(entry);
  std::string changed = original;
  std::size_t at = 2 + key_bytes + object_bytes;
  for (; at + 3 <= size; at += 3)
    changed[(data[at] << 8 | data[at + 1]) % changed.size()] = static_cast<char>(data[at + 2]);
  if (at < size && data[at] % 2) changed.resize(changed.size() * data[at] / 256);
  std::ofstream(entry, std::ios::binary | std::ios::trunc) << changed;

  const auto found = cache.load(key);
  if (found && (changed != original || *found != object)) fuzz::fail("a changed entry is taken for good");
  if (!found && changed == original) fuzz::fail("a good entry is refused");
  return 0;
}
