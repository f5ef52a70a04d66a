#include "jit/cache/kernel_cache.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string_view>
#include <vector>

#include "jit/support/env.hpp"
#include "jit/support/hash.hpp"
#include "jit/support/log.hpp"

namespace jit {
namespace {

constexpr char kMagic[8] = {'T', 'E', 'S', 'S', 'E', 'R', 'A', '1'};
constexpr std::string_view kSuffix = ".kernel";
/// An entry is written in milliseconds: a temporary file of this age was left by a process that is dead.
constexpr double kDeadAfterSeconds = 600;

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

/// One for the process: what ails a cache ails each of its entries.
void warn_once(const std::string& message) {
  static bool told = false;
  if (!told) log_warn("cache", message, "; kernels are compiled again in the next run");
  told = true;
}

std::string name_of(const std::string& key_text) { return hash_text(key_text).hex() + std::string(kSuffix); }

bool is_entry(std::string_view name) { return name.ends_with(kSuffix); }
bool is_temporary(std::string_view name) {
  const std::size_t mark = name.rfind(kTemporaryMark);
  return mark != std::string_view::npos && is_entry(name.substr(0, mark));
}

}  // namespace

KernelCache::KernelCache(std::string folder, std::uint64_t max_bytes)
    : path_(std::move(folder)), max_bytes_(max_bytes) {}

std::optional<KernelCache> KernelCache::from_environment() {
  if (!env().cache) return std::nullopt;
  if (env().cache_dir.empty()) {
    warn_once("no kernel cache: expected TESSERA_CACHE_DIR, XDG_CACHE_HOME or HOME to name a folder, got none of them");
    return std::nullopt;
  }
  return KernelCache(env().cache_dir, env().cache_max);
}

std::string KernelCache::path(const std::string& key_text) const { return path_ + "/" + name_of(key_text); }

/// The folder; nullptr if there is none yet (and none is to be made), or none to be trusted.
const PrivateFolder* KernelCache::opened(bool make) {
  if (folder_) return &*folder_;
  if (refused_) return nullptr;
  try {
    return &folder_.emplace(path_, make);
  } catch (const FileError& error) {
    if (error.code() == ENOENT && !make) return nullptr;
    refused_ = true;
    const bool others = dynamic_cast<const UntrustedFile*>(&error) != nullptr;
    warn_once(
        std::string("no kernel cache: ") + error.what() +
        (others
             ? " What lies there would be executed. Set TESSERA_CACHE_DIR to a folder of your own, or make this one yours "
               "alone (empty it, chmod 700)"
             : ""));
    return nullptr;
  }
}

std::optional<std::string> KernelCache::load(const std::string& key_text) {
  const PrivateFolder* folder = opened(/*make=*/false);
  if (folder == nullptr) return std::nullopt;
  const std::string name = name_of(key_text);
  std::string reason = "it is damaged, or of another key";
  try {
    if (std::optional<std::string> object = unpack(folder->read(name), key_text)) {
      folder->touch(name);  // it was used
      return object;
    }
  } catch (const UntrustedFile& error) {
    reason = error.what();
  } catch (const FileError& error) {
    if (error.code() != ENOENT) warn_once(error.what());
    return std::nullopt;
  }
  const bool gone = folder->remove(name);
  log_warn("cache", "the kernel cache's entry ", path(key_text), gone ? " was deleted" : " is not used",
           " and its kernel is made anew: ", reason);
  return std::nullopt;
}

void KernelCache::store(const std::string& key_text, const std::string& object) {
  const std::string file = pack(key_text, object);
  if (file.size() > max_bytes_) return;
  for (const bool again : {false, true}) {
    const PrivateFolder* folder = opened(/*make=*/true);
    if (folder == nullptr) return;
    try {
      folder->write(name_of(key_text), file);
      break;
    } catch (const FileError& error) {
      if (error.code() == ENOENT && !again) {  // somebody has deleted the folder: it is made anew
        folder_.reset();
        continue;
      }
      warn_once(error.what());
      return;
    }
  }
  bytes_ += file.size();
  if (!counted_ || bytes_ > max_bytes_) shrink();
}

void KernelCache::remove(const std::string& key_text) {
  if (const PrivateFolder* folder = opened(/*make=*/false)) folder->remove(name_of(key_text));
}

/// Counts the folder, without what dead writers have left; if it is over the bound, deletes the least recently used
/// entries down to nine tenths of it.
void KernelCache::shrink() {
  std::vector<PrivateFolder::Entry> entries;
  bytes_ = 0;
  counted_ = true;
  for (PrivateFolder::Entry& entry : folder_->entries()) {
    const bool temporary = is_temporary(entry.name);
    if (!temporary && !is_entry(entry.name)) continue;
    if (temporary && entry.age > kDeadAfterSeconds && folder_->remove(entry.name)) continue;
    bytes_ += entry.bytes;
    if (!temporary) entries.push_back(std::move(entry));
  }
  if (bytes_ <= max_bytes_) return;
  std::sort(entries.begin(), entries.end(),
            [](const PrivateFolder::Entry& a, const PrivateFolder::Entry& b) { return a.age > b.age; });
  for (const PrivateFolder::Entry& entry : entries) {
    if (bytes_ <= max_bytes_ - max_bytes_ / 10) break;
    if (folder_->remove(entry.name)) bytes_ -= entry.bytes;
  }
}

}  // namespace jit
