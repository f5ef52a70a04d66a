#include "jit/cache/kernel_cache.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <vector>

#include "jit/support/env.hpp"
#include "jit/support/file.hpp"
#include "jit/support/log.hpp"

namespace jit {
namespace {

constexpr char kMagic[8] = {'T', 'E', 'S', 'S', 'E', 'R', 'A', '1'};
constexpr const char* kSuffix = ".kernel";

struct Header {
  char magic[8];
  std::uint64_t key_bytes;
  std::uint64_t object_bytes;
};

std::string pack(const std::string& key, const std::string& object) {
  Header header{};
  std::memcpy(header.magic, kMagic, sizeof kMagic);
  header.key_bytes = key.size();
  header.object_bytes = object.size();
  std::string file(reinterpret_cast<const char*>(&header), sizeof header);
  file += key;
  file += object;
  const Hash128 checksum = hash_text(file);
  file.append(reinterpret_cast<const char*>(&checksum), sizeof checksum);
  return file;
}

/// The object in an entry, if the entry is sound and belongs to this key.
std::optional<std::string> unpack(const std::string& file, const std::string& key) {
  Header header;
  if (file.size() < sizeof header + sizeof(Hash128)) return std::nullopt;
  std::memcpy(&header, file.data(), sizeof header);
  const std::size_t body = file.size() - sizeof(Hash128);
  if (std::memcmp(header.magic, kMagic, sizeof kMagic) != 0 || header.key_bytes != key.size() ||
      header.key_bytes > body || header.object_bytes != body - sizeof header - header.key_bytes)
    return std::nullopt;
  Hash128 checksum;
  std::memcpy(&checksum, file.data() + body, sizeof checksum);
  if (checksum != hash_text(std::string_view(file).substr(0, body))) return std::nullopt;
  if (file.compare(sizeof header, key.size(), key) != 0) return std::nullopt;
  return file.substr(sizeof header + key.size(), header.object_bytes);
}

void warn_once(const std::string& message) {
  static bool told = false;
  if (!told) log_warn("cache", message, "; kernels are compiled again in the next run");
  told = true;
}

}  // namespace

std::string KernelKey::text() const {
  return "generator " + std::to_string(generator) + "\ntarget " + target + "\nstreaming " +
         std::to_string(options.streaming) + "\nprefetch " + std::to_string(options.prefetch) + "\ncheck " +
         std::to_string(options.check) + "\nregisters " + std::to_string(options.registers) + "\nsites " +
         std::to_string(options.sites) + "\n" + ir;
}

KernelCache::KernelCache(std::string folder, std::uint64_t max_bytes)
    : folder_(std::move(folder)), max_bytes_(max_bytes) {}

std::optional<KernelCache> KernelCache::from_environment() {
  if (!env().cache) return std::nullopt;
  return KernelCache(env().cache_dir, env().cache_max);
}

std::string KernelCache::path(const std::string& key_text) const {
  return folder_ + "/" + hash_text(key_text).hex() + kSuffix;
}

std::optional<std::string> KernelCache::load(const std::string& key_text) {
  const std::string name = path(key_text);
  std::string file;
  try {
    file = read_file(name);
  } catch (const FileError& error) {
    if (error.code() != ENOENT) warn_once(error.what());
    return std::nullopt;
  }
  std::optional<std::string> object = unpack(file, key_text);
  std::error_code ignored;
  if (object) {
    ::utimensat(AT_FDCWD, name.c_str(), nullptr, 0);  // now: it was used
  } else {
    log_info("cache", "deleting the damaged or foreign entry ", name);
    std::filesystem::remove(name, ignored);
  }
  return object;
}

void KernelCache::store(const std::string& key_text, const std::string& object) {
  const std::string file = pack(key_text, object);
  if (file.size() > max_bytes_) return;
  try {
    make_directories(folder_);
    write_atomically(path(key_text), file, /*durable=*/false);
  } catch (const FileError& error) {
    warn_once(error.what());
    return;
  }
  bytes_ += file.size();
  if (!counted_ || bytes_ > max_bytes_) shrink();
}

/// Counts the folder; if it is over the bound, deletes the least recently used entries down to nine tenths of it.
void KernelCache::shrink() {
  struct Entry {
    std::filesystem::path path;
    std::filesystem::file_time_type used;
    std::uint64_t bytes;
  };
  std::vector<Entry> entries;
  bytes_ = 0;
  counted_ = true;
  std::error_code failure;
  for (std::filesystem::directory_iterator it(folder_, failure), end; !failure && it != end; it.increment(failure)) {
    if (it->path().extension() != kSuffix) continue;
    std::error_code gone;  // another process may delete at the same time
    const auto size = it->file_size(gone);
    if (gone) continue;
    const auto used = it->last_write_time(gone);
    if (gone) continue;
    entries.push_back({it->path(), used, size});
    bytes_ += size;
  }
  if (bytes_ <= max_bytes_) return;
  std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) { return a.used < b.used; });
  for (const Entry& entry : entries) {
    if (bytes_ <= max_bytes_ - max_bytes_ / 10) break;
    std::error_code gone;
    std::filesystem::remove(entry.path, gone);
    bytes_ -= entry.bytes;
  }
}

}  // namespace jit
