#include "qdp/io/hash_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <utility>
#include <vector>

#include "jit/support/error.hpp"
#include "jit/support/log.hpp"
#include "qdp/io/input_file.hpp"
#include "qdp/util/byte_order.hpp"
#include "qdp/util/primary.hpp"

namespace QDP::io {

namespace {

constexpr std::uint32_t kNoPage = 0xffffffff;
constexpr std::uint32_t kHashMagic = 0xcece3434, kPageSignature = 0xe0f1a2b9;
constexpr std::uint32_t kHashVersion = 6, kOldHashVersion = 5;
constexpr std::uint32_t kHeaderSize = 332, kSmallEndian = 1234;
constexpr std::uint32_t kMostPageSize = 1u << 20, kLeastPageSize = 512;
constexpr std::uint32_t kUserInfo = 4000;
constexpr std::size_t kHashCache = std::size_t{128} << 20;

enum PageType : std::uint32_t { kBucketPage = 0x1001, kDataPage = 0x2001, kUserPage = 0x4001, kConfigPage = 0x5001 };
enum PageWord : std::uint32_t { kNumber = 0, kBefore = 4, kBehind = 8, kSignature = 12, kPageCrc = 20, kFree = 24 };
constexpr std::uint32_t kEntries = 16, kType = 18;  // 16 bits each
constexpr std::uint32_t kKeysAt = 28, kWordsPerKey = 12, kPointerBytes = 16;
constexpr std::uint32_t kFirstDatum = 28, kDataAt = 32, kDatumHeader = 20;
constexpr std::uint32_t kConfigBytes = 148;

constexpr std::uint32_t kLowOffset = 0xfffff;  // of what also has bits of a length
std::uint32_t high_bits(std::uint64_t length) { return static_cast<std::uint32_t>(length >> 32 & 0xff) << 20; }
std::uint64_t whole_length(std::uint32_t low, std::uint32_t with_high) {
  return static_cast<std::uint64_t>(with_high >> 20 & 0xff) << 32 | low;
}
std::uint32_t valid_status(std::uint32_t version) { return version == kOldHashVersion ? 0xffeeffee : 0x0000ffee; }
std::uint32_t invalid_status(std::uint32_t version) { return version == kOldHashVersion ? 0x11221122 : 0x00001122; }

/// Fowler, Noll and Vo, beginning with 0.
std::uint32_t hash_of_key(const char* key, std::size_t size) {
  std::uint32_t h = 0;
  for (std::size_t i = 0; i < size; ++i) h = h * 16777619u ^ static_cast<unsigned char>(key[i]);
  return h;
}
/// What the header has of this text tells whether the hash is this one.
constexpr char kHashProbe[] = "%$sniglet^&";

std::uint32_t log2_above(std::uint32_t n) { return n <= 1 ? 0 : static_cast<std::uint32_t>(std::bit_width(n - 1)); }
std::uint32_t aligned_up(std::uint32_t n) { return (n + 3) & ~3u; }

std::string hex_of(std::uint32_t n) {
  char text[11];
  std::snprintf(text, sizeof text, "0x%x", n);
  return text;
}

}  // namespace

/// A page in memory; words are of the small byte order.
class HashFile::Page {
 public:
  explicit Page(std::uint32_t size) : bytes_(size, '\0') {}
  std::uint32_t size() const { return static_cast<std::uint32_t>(bytes_.size()); }
  char* data() { return bytes_.data(); }

  std::uint32_t word(std::uint32_t at) const { return number<4>(at); }
  std::uint32_t half(std::uint32_t at) const { return number<2>(at); }
  void set_word(std::uint32_t at, std::uint32_t value) { set_number<4>(at, value); }
  void set_half(std::uint32_t at, std::uint32_t value) { set_number<2>(at, value); }

  std::uint32_t number_of() const { return word(kNumber); }
  std::uint32_t behind() const { return word(kBehind); }
  std::uint32_t entries() const { return half(kEntries); }
  std::uint32_t type() const { return half(kType); }
  bool in_use() const { return word(kSignature) == kPageSignature; }

  std::uint32_t crc() const {
    const std::uint32_t before = QDPUtil::crc32(0, bytes_.data(), kPageCrc);
    return QDPUtil::crc32(before, bytes_.data() + kFree, bytes_.size() - kFree);
  }

  bool dirty = false;

 private:
  template <std::uint32_t n> std::uint32_t number(std::uint32_t at) const {
    std::uint32_t value = 0;
    for (std::uint32_t i = n; i-- > 0;) value = value << 8 | static_cast<unsigned char>(bytes_[at + i]);
    return value;
  }
  template <std::uint32_t n> void set_number(std::uint32_t at, std::uint32_t value) {
    for (std::uint32_t i = 0; i < n; ++i) bytes_[at + i] = static_cast<char>(value >> (8 * i) & 0xff);
    dirty = true;
  }

  std::string bytes_;
};

void HashFile::damaged(std::uint32_t page, std::uint32_t at, const std::string& what, const std::string& expected,
                       const std::string& got) const {
  throw_format_error(path_, static_cast<std::uint64_t>(page) * header_.page_size + at, what, expected, got,
                     "The file is damaged, or was not closed by the program that wrote it");
}

// ---- open and close

HashFile::HashFile(const std::string& path, int flags, int mode, const HashFileOptions& options)
    : path_(path), cache_(options.cache > 0 ? options.cache : kHashCache), data_page_(kNoPage) {
  const auto refuse = [&](const std::string& got) {
    throw jit::UserError(
        {.what = "FileDB: open \"" + path + "\"",
         .got = got,
         .what_now = "check the name, the permissions and the flags (O_RDWR | O_CREAT for a new file)"});
  };
  struct stat status{};
  const bool there = ::stat(path.c_str(), &status) == 0;
  if ((flags & O_ACCMODE) == O_WRONLY) refuse("O_WRONLY, though pages are read as well");
  if (there)
    if (const std::string why = InputFile::why_unreadable(path); !why.empty()) refuse(why);
  writable_ = (flags & O_ACCMODE) == O_RDWR;
  descriptor_ = ::open(path.c_str(), flags | O_CLOEXEC, mode);
  if (descriptor_ < 0) refuse(std::strerror(errno));
  try {
    if (!there || (flags & O_TRUNC)) {
      begin(options);
    } else {
      file_bytes_ = static_cast<std::uint64_t>(status.st_size);
      read_header();
    }
  } catch (...) {
    ::close(descriptor_);
    throw;
  }
}

HashFile::~HashFile() {
  if (const std::string failure = failure_of([&] { flush(); }); !failure.empty()) jit::log_error("io", failure);
  ::close(descriptor_);
}

void HashFile::begin(const HashFileOptions& options) {
  if (!writable_)
    throw jit::UserError({.what = "FileDB: new file \"" + path_ + "\"", .expected = "O_RDWR", .got = "O_RDONLY"});
  Header h;
  h.version = kHashVersion;
  h.page_size = std::uint32_t{1} << log2_above(std::min(options.page_size, kMostPageSize + 1));
  if (h.page_size < kLeastPageSize || h.page_size > kMostPageSize)
    throw jit::UserError(
        {.what = "FileDB: size of pages of \"" + path_ + "\"",
         .expected = std::to_string(kLeastPageSize) + " to " + std::to_string(kMostPageSize) + " bytes",
         .got = std::to_string(options.page_size)});
  h.fill = 65536;
  // Not one bucket: FileDB loses keys when it splits that one.
  h.level = log2_above(std::clamp<std::uint32_t>(options.buckets, 2, 1u << 20));
  h.max_bucket = h.high_mask = (1u << h.level) - 1;
  h.low_mask = h.high_mask >> 1;
  h.user_info = options.user_info > 0 ? options.user_info : kUserInfo;
  h.user_page = 1;
  const std::uint64_t of_user = h.page_size - kKeysAt;
  const std::uint64_t user_pages = (std::uint64_t{h.user_info} + 4 + of_user - 1) / of_user;
  h.configs = options.configs > 0 ? options.configs : 1;
  const std::uint64_t of_configs = (h.page_size - kKeysAt) / kConfigBytes;
  const std::uint64_t config_pages = (h.configs + of_configs - 1) / of_configs;
  if (1 + user_pages > 0xffff || config_pages > 0xffff)
    throw jit::UserError({.what = "FileDB: room for user data and configurations of \"" + path_ + "\"",
                          .expected = "at most 65534 pages of " + std::to_string(h.page_size) + " bytes",
                          .got = std::to_string(user_pages) + " and " + std::to_string(config_pages)});
  h.user_pages = static_cast<std::uint32_t>(user_pages);
  h.config_page = 1 + h.user_pages;
  h.config_pages = static_cast<std::uint32_t>(config_pages);
  h.header_pages = h.config_page + h.config_pages;
  h.spares[0] = h.header_pages;
  for (std::uint32_t level = 1; level <= h.level; ++level) h.spares[level] = h.header_pages + (1u << (level - 1));
  h.free_pages.fill(kNoPage);
  header_ = h;
  for (std::uint32_t i = 0; i < h.user_pages; ++i) new_page(h.user_page + i, kUserPage);
  for (std::uint32_t i = 0; i < h.config_pages; ++i) new_page(h.config_page + i, kConfigPage);
  changed_ = true;
}

namespace {

/// Numbers of the header, one after the other.
class HeaderText {
 public:
  explicit HeaderText(std::string bytes = {}) : bytes_(std::move(bytes)) {}
  std::uint32_t take(int bytes = 4) {
    std::uint32_t value = 0;
    for (int i = 0; i < bytes; ++i) value = value << 8 | static_cast<unsigned char>(bytes_[next_++]);
    return value;
  }
  void put(std::uint32_t value, int bytes = 4) {
    for (int shift = 8 * (bytes - 1); shift >= 0; shift -= 8) bytes_ += static_cast<char>(value >> shift & 0xff);
  }
  const std::string& bytes() const { return bytes_; }

 private:
  std::string bytes_;
  std::size_t next_ = 0;
};

}  // namespace

void HashFile::read_header() {
  std::string bytes(kHeaderSize, '\0');
  InputFile(path_).read_at(0, bytes.data(), bytes.size(), "header of a FileDB file");
  HeaderText text(bytes);
  if (const std::uint32_t magic = text.take(); magic != kHashMagic)
    throw_format_error(path_, 0, "FileDB file", hex_of(kHashMagic), hex_of(magic), "This file is of another kind");
  Header h;
  h.version = text.take();
  const std::uint32_t order = text.take();
  h.page_size = text.take();
  const std::uint32_t shift = text.take();
  h.level = text.take(), h.max_bucket = text.take(), h.high_mask = text.take(), h.low_mask = text.take();
  h.fill = text.take(), h.keys = text.take(), h.header_pages = text.take(), h.user_info = text.take();
  h.user_page = text.take(2), h.user_pages = text.take(2), h.config_page = text.take(2), h.config_pages = text.take(2);
  h.configs = text.take();
  const std::uint32_t probe = text.take();
  h.moved_pages = text.take();
  for (auto& page : h.spares) page = text.take();
  for (auto& page : h.free_pages) page = text.take();
  const std::uint32_t stored = text.take(), computed = QDPUtil::crc32(0, bytes.data(), kHeaderSize - 4);
  const auto bad = [&](const std::string& what, const std::string& expected, const std::string& got) {
    throw_format_error(path_, 0, "header of a FileDB file: " + what, expected, got,
                       "The file is damaged or of another program");
  };
  if (stored != computed) bad("checksum", hex_of(stored), hex_of(computed));
  if (h.version != kHashVersion && h.version != kOldHashVersion) bad("version", "5 or 6", std::to_string(h.version));
  if (order != kSmallEndian)
    bad("byte order", std::to_string(kSmallEndian), std::to_string(order) + ", a file of another machine");
  if (!std::has_single_bit(h.page_size) || h.page_size < kLeastPageSize || h.page_size > kMostPageSize ||
      shift != log2_above(h.page_size))
    bad("size of pages", "a power of two from 512 to 2^20", std::to_string(h.page_size));
  if (h.max_bucket == kNoPage || h.level > 30 || h.level != log2_above(h.max_bucket + 1) ||
      h.high_mask != (std::uint32_t{1} << h.level) - 1)
    bad("buckets", "2^level of them at most", std::to_string(h.max_bucket) + " at level " + std::to_string(h.level));
  if (h.level > 0 && h.low_mask != h.high_mask >> 1) bad("buckets", "half of them below", std::to_string(h.low_mask));
  for (std::uint32_t level = 0; level <= h.level; ++level) {
    const std::uint64_t before =
        level == 0 ? h.header_pages : std::uint64_t{h.spares[level - 1]} + (level == 1 ? 1 : 1u << (level - 2));
    if (h.spares[level] < before)
      bad("pages of level " + std::to_string(level), "from " + std::to_string(before) + " on",
          std::to_string(h.spares[level]));
  }
  if (h.user_page == 0 || h.user_page + h.user_pages > h.header_pages || h.header_pages == 0)
    bad("pages of user data", "pages of the header",
        std::to_string(h.user_page) + " to " + std::to_string(h.user_page + h.user_pages));
  if (probe != hash_of_key(kHashProbe, sizeof kHashProbe))
    bad("function that finds the buckets", "that of FileDB", "one of the program's own");
  if (writable_ && h.moved_pages > 0)
    bad("pages that were moved", "none",
        std::to_string(h.moved_pages) + ": open it with FileDB to change it, or read it only");
  // All pages that were given out were written, at the latest when the file was closed.
  const std::uint64_t pages = h.moved_pages > 0 ? 0 : h.spares[h.level + 1];
  if (file_bytes_ < pages * h.page_size)
    throw_format_error(path_, file_bytes_, "FileDB file", std::to_string(pages * h.page_size) + " bytes",
                       std::to_string(file_bytes_),
                       "The file is cut short, or was not closed by the program that wrote it");
  header_ = h;
}

void HashFile::write_header() {
  const Header& h = header_;
  HeaderText text;
  text.put(kHashMagic), text.put(h.version), text.put(kSmallEndian), text.put(h.page_size),
      text.put(log2_above(h.page_size));
  text.put(h.level), text.put(h.max_bucket), text.put(h.high_mask), text.put(h.low_mask), text.put(h.fill),
      text.put(h.keys);
  text.put(h.header_pages), text.put(h.user_info);
  for (const std::uint32_t n : {h.user_page, h.user_pages, h.config_page, h.config_pages}) text.put(n, 2);
  text.put(h.configs), text.put(hash_of_key(kHashProbe, sizeof kHashProbe)), text.put(h.moved_pages);
  for (const std::uint32_t n : h.spares) text.put(n);
  for (const std::uint32_t n : h.free_pages) text.put(n);
  text.put(QDPUtil::crc32(0, text.bytes().data(), text.bytes().size()));
  if (::pwrite(descriptor_, text.bytes().data(), text.bytes().size(), 0) != static_cast<ssize_t>(text.bytes().size()))
    throw jit::UserError({.what = "FileDB: writing to \"" + path_ + "\"",
                          .got = std::strerror(errno),
                          .what_now = "check the free disk space"});
}

void HashFile::flush() {
  if (!changed_) return;
  write_pages();
  write_header();
  changed_ = false;
}

// ---- pages

void HashFile::write_pages() {
  for (auto& [number, page] : pages_) {
    if (!page->dirty) continue;
    page->set_word(kPageCrc, page->crc());
    const auto at = static_cast<off_t>(static_cast<std::uint64_t>(number) * header_.page_size);
    if (::pwrite(descriptor_, page->data(), header_.page_size, at) != static_cast<ssize_t>(header_.page_size))
      throw jit::UserError({.what = "FileDB: writing to \"" + path_ + "\"",
                            .got = std::strerror(errno),
                            .what_now = "check the free disk space"});
    file_bytes_ = std::max(file_bytes_, static_cast<std::uint64_t>(at) + header_.page_size);
    page->dirty = false;
  }
}

/// Only between operations: pages that one works on stay.
void HashFile::trim_cache() {
  if (pages_.size() * header_.page_size <= cache_) return;
  write_pages();
  pages_.clear();
}

/// A page that was never written is all zero.
HashFile::Page& HashFile::page(std::uint32_t number) {
  auto& slot = pages_[number];
  if (slot) return *slot;
  auto loaded = std::make_unique<Page>(header_.page_size);
  const std::uint64_t begin = static_cast<std::uint64_t>(number) * header_.page_size;
  try {
    if (begin < file_bytes_) {
      const std::uint64_t there = std::min<std::uint64_t>(header_.page_size, file_bytes_ - begin);
      if (::pread(descriptor_, loaded->data(), static_cast<std::size_t>(there), static_cast<off_t>(begin)) !=
          static_cast<ssize_t>(there))
        damaged(number, 0, "page", std::to_string(there) + " bytes", std::strerror(errno));
    }
    if (!loaded->in_use()) {
      if (std::any_of(loaded->data(), loaded->data() + header_.page_size, [](char c) { return c != '\0'; }))
        damaged(number, kSignature, "page", "the signature " + hex_of(kPageSignature),
                hex_of(loaded->word(kSignature)));
    } else {
      if (loaded->crc() != loaded->word(kPageCrc))
        damaged(number, kPageCrc, "page", "checksum " + hex_of(loaded->word(kPageCrc)), hex_of(loaded->crc()));
      if (loaded->number_of() != number)
        damaged(number, kNumber, "page", "number " + std::to_string(number), std::to_string(loaded->number_of()));
    }
  } catch (...) {
    pages_.erase(number);
    throw;
  }
  slot = std::move(loaded);
  return *slot;
}

HashFile::Page& HashFile::new_page(std::uint32_t number, std::uint32_t type) {
  auto& slot = pages_[number];
  slot = std::make_unique<Page>(header_.page_size);
  Page& page = *slot;
  page.set_word(kNumber, number);
  page.set_word(kBefore, kNoPage);
  page.set_word(kBehind, kNoPage);
  page.set_word(kSignature, kPageSignature);
  page.set_half(kType, type);
  if (type == kBucketPage) page.set_word(kFree, header_.page_size - 1);
  if (type == kDataPage || type == kConfigPage) page.set_word(kFree, kDataAt);
  if (type == kDataPage) page.set_word(kFirstDatum, kDataAt);
  changed_ = true;
  return page;
}

std::uint32_t HashFile::page_of_bucket(std::uint32_t bucket) const {
  const std::uint32_t level = log2_above(bucket + 1);
  return bucket == 0 ? header_.spares[0] : bucket - (1u << (level - 1)) + header_.spares[level];
}

HashFile::Page& HashFile::bucket_page(std::uint32_t bucket) { return page(page_of_bucket(bucket)); }

/// The overflow page behind it; `steps` bounds chains that lead back into themselves.
HashFile::Page& HashFile::next_in_chain(Page& of, std::uint32_t& steps) {
  const std::uint32_t behind = of.behind();
  Page& next = page(behind);
  if (!next.in_use() || next.type() != kBucketPage || ++steps > file_bytes_ / header_.page_size + pages_.size())
    damaged(of.number_of(), kBehind, "page behind", "an overflow page", std::to_string(behind));
  return next;
}

HashFile::Page& HashFile::data_page(std::uint32_t number) {
  Page& found = page(number);
  if (!found.in_use() || found.type() != kDataPage) damaged(number, kType, "page", "data", hex_of(found.type()));
  return found;
}

/// The next page that nothing has: behind the buckets of the present level.
std::uint32_t HashFile::allocate() {
  std::uint32_t& next = header_.spares[header_.level + 1];
  if (next == 0) next = page_of_bucket(header_.high_mask) + 1;
  if (next == kNoPage)
    throw jit::UserError({.what = "FileDB: \"" + path_ + "\"",
                          .expected = "fewer than 2^32 pages",
                          .got = "one more",
                          .what_now = "take larger pages"});
  changed_ = true;
  return next++;
}

std::uint32_t HashFile::current_data_page() {
  if (data_page_ != kNoPage) return data_page_;
  const std::uint32_t end = header_.spares[header_.level + 1];
  for (std::uint32_t number = end; number-- > header_.header_pages && end > 0;) {
    const Page& last = page(number);
    if (last.in_use() && last.type() == kDataPage && last.behind() == kNoPage) return data_page_ = number;
  }
  data_page_ = allocate();
  new_page(data_page_, kDataPage);
  return data_page_;
}

// ---- keys

std::string HashFile::key_at(Page& of, std::uint32_t index) {
  const std::uint32_t at = of.word(kKeysAt + index * kWordsPerKey),
                      length = of.word(kKeysAt + index * kWordsPerKey + 4);
  const std::uint32_t pointer = of.word(kKeysAt + index * kWordsPerKey + 8);
  if (at > of.size() || length > of.size() - at || pointer > of.size() - kPointerBytes)
    damaged(of.number_of(), kKeysAt + index * kWordsPerKey, "key " + std::to_string(index), "a place in the page",
            std::to_string(at) + ", length " + std::to_string(length));
  return std::string(of.data() + at, length);
}

HashFile::Place HashFile::find(const std::string& key) {
  std::uint32_t bucket = hash_of_key(key.data(), key.size()) & header_.high_mask;
  if (bucket > header_.max_bucket) bucket &= header_.low_mask;
  Page* of = &bucket_page(bucket);
  if (!of->in_use()) return {page_of_bucket(bucket), 0, false};
  for (std::uint32_t steps = 0;;) {
    const std::uint32_t entries = of->entries();
    if (of->type() != kBucketPage || kKeysAt + entries * kWordsPerKey > of->size())
      damaged(of->number_of(), kEntries, "page of keys",
              "at most " + std::to_string((of->size() - kKeysAt) / kWordsPerKey) + " keys",
              std::to_string(entries) + ", type " + hex_of(of->type()));
    for (std::uint32_t i = 0; i < entries; ++i)
      if (key_at(*of, i) == key) return {of->number_of(), i, true};
    if (of->behind() == kNoPage) return {of->number_of(), entries, false};
    of = &next_in_chain(*of, steps);
  }
}

bool HashFile::contains(const std::string& key) {
  trim_cache();
  return find(key).found;
}

void HashFile::for_each_key(const std::function<void(const std::string& key)>& visit) {
  for (std::uint32_t bucket = 0; bucket <= header_.max_bucket; ++bucket) {
    const std::uint32_t first = page_of_bucket(bucket);
    if (static_cast<std::uint64_t>(first) * header_.page_size >= file_bytes_ &&
        pages_.lower_bound(first) == pages_.end())
      break;  // neither this one nor one behind it was ever written
    std::uint32_t number = first, steps = 0;
    while (true) {
      trim_cache();
      std::vector<std::string> keys;
      Page& of = page(number);
      if (!of.in_use()) break;
      if (of.type() != kBucketPage || kKeysAt + of.entries() * kWordsPerKey > of.size())
        damaged(number, kEntries, "page of keys", "keys", hex_of(of.type()));
      for (std::uint32_t i = 0; i < of.entries(); ++i) keys.push_back(key_at(of, i));
      number = of.behind() == kNoPage ? kNoPage : next_in_chain(of, steps).number_of();
      for (const std::string& key : keys) visit(key);
      if (number == kNoPage) break;
    }
  }
}

// ---- data

bool HashFile::get(const std::string& key, std::string& data) {
  trim_cache();
  const Place place = find(key);
  if (!place.found) return false;
  Page& of = page(place.page);
  const std::uint32_t pointer = of.word(kKeysAt + place.index * kWordsPerKey + 8);
  std::uint32_t number = of.word(pointer);
  const std::uint32_t packed = of.word(pointer + 4), low = of.word(pointer + 8), stored = of.word(pointer + 12);
  const bool old = header_.version == kOldHashVersion;
  std::uint32_t at = old ? packed : packed & kLowOffset;
  const std::uint64_t length = old ? low : whole_length(low, packed);
  Page* from = &data_page(number);
  if (at < kDataAt || at > from->size() - kDatumHeader)
    damaged(place.page, pointer, "data pointer", "an offset in the page", std::to_string(at));
  const std::uint32_t status = from->word(at + 4);
  if ((old ? from->word(at) : whole_length(from->word(at), status)) != length ||
      (old ? status : status & kLowOffset) != valid_status(header_.version) || from->word(at + 12) != place.page ||
      from->word(at + 16) != place.index)
    damaged(number, at, "header of data",
            std::to_string(length) + " bytes of key " + std::to_string(place.index) + " on page " +
                std::to_string(place.page),
            std::to_string(from->word(at)) + " of key " + std::to_string(from->word(at + 16)) + " on page " +
                std::to_string(from->word(at + 12)));
  const std::uint64_t in_memory = pages_.size() * std::uint64_t{header_.page_size};
  if (length > file_bytes_ + in_memory)
    damaged(number, at, "length of data", "what the file has", std::to_string(length));
  std::string result;
  result.reserve(static_cast<std::size_t>(length));
  at += kDatumHeader;
  while (true) {
    const auto part = static_cast<std::size_t>(std::min<std::uint64_t>(length - result.size(), from->size() - at));
    result.append(from->data() + at, part);
    if (result.size() == length) break;
    number = from->behind();
    if (number == kNoPage) damaged(from->number_of(), kBehind, "page behind", "more data", "none");
    from = &data_page(number);
    at = kDataAt;
  }
  if (const std::uint32_t computed = QDPUtil::crc32(0, result.data(), result.size()); computed != stored)
    damaged(number, at, "data", "checksum " + hex_of(stored), hex_of(computed));
  data = std::move(result);
  return true;
}

void HashFile::add_data(const std::string& data, std::uint32_t key_page, std::uint32_t key_index, std::uint32_t& first,
                        std::uint32_t& offset) {
  std::uint32_t number = current_data_page();
  Page* to = &data_page(number);
  if (to->word(kFree) == 0) {  // no room for a header: the datum begins on a page of its own
    const std::uint32_t behind = allocate();
    new_page(behind, kDataPage).set_word(kBefore, number);
    to->set_word(kBehind, behind);
    number = behind;
    to = &page(number);
  }
  const std::uint32_t size = header_.page_size, start = to->word(kFree);
  if (start < kDataAt || start > size - kDatumHeader)
    damaged(number, kFree, "free byte", "room for a header", std::to_string(start));
  first = number;
  offset = start;
  to->set_word(start, static_cast<std::uint32_t>(data.size()));
  to->set_word(start + 4,
               valid_status(header_.version) | (header_.version == kOldHashVersion ? 0 : high_bits(data.size())));
  to->set_word(start + 8, 0);
  to->set_word(start + 12, key_page);
  to->set_word(start + 16, key_index);
  to->set_half(kEntries, to->entries() + 1);
  const std::size_t here = std::min<std::size_t>(data.size(), size - start - kDatumHeader);
  std::memcpy(to->data() + start + kDatumHeader, data.data(), here);
  if (here == data.size()) {
    std::uint32_t next = aligned_up(start + kDatumHeader + static_cast<std::uint32_t>(here));
    if (next + kDatumHeader >= size) next = 0;
    to->set_word(start + 8, next);
    to->set_word(kFree, next);
    return;
  }
  to->set_word(kFree, 0);
  for (std::size_t done = here; done < data.size();) {
    const std::uint32_t behind = allocate();
    to->set_word(kBehind, behind);
    Page& page = new_page(behind, kDataPage);
    page.set_word(kBefore, number);
    const std::size_t rest = data.size() - done, part = std::min<std::size_t>(rest, size - kDataAt);
    std::memcpy(page.data() + kDataAt, data.data() + done, part);
    const std::uint32_t next =
        rest <= size - kDataAt - kDatumHeader ? aligned_up(kDataAt + static_cast<std::uint32_t>(rest)) : 0;
    page.set_word(kFree, next + kDatumHeader > size ? 0 : next);
    page.set_word(kFirstDatum, page.word(kFree));
    done += part;
    number = behind;
    to = &page;
  }
  data_page_ = number;
}

/// Over others that were not shorter.
void HashFile::replace_data(const std::string& data, std::uint32_t number, std::uint32_t at) {
  Page* to = &data_page(number);
  to->set_word(at, static_cast<std::uint32_t>(data.size()));
  to->set_word(at + 4,
               valid_status(header_.version) | (header_.version == kOldHashVersion ? 0 : high_bits(data.size())));
  at += kDatumHeader;
  for (std::size_t done = 0;;) {
    const std::size_t part = std::min<std::size_t>(data.size() - done, to->size() - at);
    std::memcpy(to->data() + at, data.data() + done, part);
    to->dirty = true;
    done += part;
    if (done == data.size()) return;
    if (to->behind() == kNoPage) damaged(to->number_of(), kBehind, "page behind", "more data", "none");
    to = &data_page(to->behind());
    at = kDataAt;
  }
}

void HashFile::put(const std::string& key, const std::string& data) {
  if (!writable_)
    throw jit::UserError(
        {.what = "FileDB: insert into \"" + path_ + "\"", .expected = "a file opened with O_RDWR", .got = "O_RDONLY"});
  const std::uint32_t pair_bytes = kWordsPerKey + kPointerBytes + 3;
  if (key.size() > header_.page_size - kKeysAt - pair_bytes)
    throw jit::UserError({.what = "FileDB: key for \"" + path_ + "\"",
                          .expected = "at most " + std::to_string(header_.page_size - kKeysAt - pair_bytes) + " bytes",
                          .got = std::to_string(key.size()),
                          .what_now = "take larger pages for a new file (setPageSize)"});
  const std::uint64_t most = header_.version == kOldHashVersion ? 0xffffffffu : (std::uint64_t{1} << 40) - 1;
  if (data.size() > most)
    throw jit::UserError({.what = "FileDB: data for \"" + path_ + "\"",
                          .expected = "at most " + std::to_string(most) + " bytes",
                          .got = std::to_string(data.size())});
  trim_cache();
  changed_ = true;
  const std::uint32_t crc = QDPUtil::crc32(0, data.data(), data.size());
  const Place place = find(key);
  if (place.found) {
    Page& of = page(place.page);
    const std::uint32_t pointer = of.word(kKeysAt + place.index * kWordsPerKey + 8), number = of.word(pointer);
    const std::uint32_t packed = of.word(pointer + 4),
                        at = header_.version == kOldHashVersion ? packed : packed & kLowOffset;
    Page& last = data_page(number);
    if (at < kDataAt || at > last.size() - kDatumHeader)
      damaged(place.page, pointer, "data pointer", "an offset in the page", std::to_string(at));
    const std::uint64_t before =
        header_.version == kOldHashVersion ? of.word(pointer + 8) : whole_length(of.word(pointer + 8), packed);
    std::uint32_t first = number, offset = at;
    if (data.size() <= before) {
      replace_data(data, number, at);
    } else {
      last.set_word(at + 4, invalid_status(header_.version));  // the old ones stay, of nobody
      add_data(data, place.page, place.index, first, offset);
    }
    of.set_word(pointer, first);
    of.set_word(pointer + 4, offset | (header_.version == kOldHashVersion ? 0 : high_bits(data.size())));
    of.set_word(pointer + 8, static_cast<std::uint32_t>(data.size()));
    of.set_word(pointer + 12, crc);
    return;
  }
  Page* to = &page(place.page);
  if (!to->in_use()) to = &new_page(place.page, kBucketPage);
  const auto has_room = [&](const Page& p) {
    return key.size() + pair_bytes + kKeysAt + p.entries() * kWordsPerKey <= std::uint64_t{p.word(kFree)} + 1;
  };
  if (to->word(kFree) >= to->size())
    damaged(place.page, kFree, "free byte", "one of the page", std::to_string(to->word(kFree)));
  if (!has_room(*to)) {
    const std::uint32_t behind = allocate();
    to->set_word(kBehind, behind);
    to = &new_page(behind, kBucketPage);
    to->set_word(kBefore, place.page);
  }
  const std::uint32_t number = to->number_of(), index = to->entries();
  const std::uint32_t key_start = to->word(kFree) + 1 - static_cast<std::uint32_t>(key.size());
  const std::uint32_t pointer = (key_start - kPointerBytes) & ~3u;
  std::uint32_t first = 0, offset = 0;
  add_data(data, number, index, first, offset);
  std::memcpy(to->data() + key_start, key.data(), key.size());
  to->set_word(pointer, first);
  to->set_word(pointer + 4, offset | (header_.version == kOldHashVersion ? 0 : high_bits(data.size())));
  to->set_word(pointer + 8, static_cast<std::uint32_t>(data.size()));
  to->set_word(pointer + 12, crc);
  to->set_word(kKeysAt + index * kWordsPerKey, key_start);
  to->set_word(kKeysAt + index * kWordsPerKey + 4, static_cast<std::uint32_t>(key.size()));
  to->set_word(kKeysAt + index * kWordsPerKey + 8, pointer);
  to->set_half(kEntries, index + 1);
  to->set_word(kFree, pointer - 1);
  ++header_.keys;
}

// ---- user data

void HashFile::set_user_info(const std::string& text) {
  if (!writable_ || text.size() > header_.user_info)
    throw jit::UserError(
        {.what = "FileDB: user data of \"" + path_ + "\"",
         .expected =
             writable_ ? "at most " + std::to_string(header_.user_info) + " bytes" : "a file opened with O_RDWR",
         .got = writable_ ? std::to_string(text.size()) : "O_RDONLY",
         .what_now = writable_ ? "ask for more with setMaxUserInfoLen before a new file is opened" : ""});
  std::size_t done = 0;
  changed_ = true;
  for (std::uint32_t i = 0; i < header_.user_pages; ++i) {
    Page* to = &page(header_.user_page + i);
    if (!to->in_use()) to = &new_page(header_.user_page + i, kUserPage);
    const std::uint32_t at = i == 0 ? kKeysAt + 4 : kKeysAt;
    const std::size_t part = std::min<std::size_t>(text.size() - done, to->size() - at);
    to->set_half(kEntries, i == 0);
    if (i == 0) to->set_word(kKeysAt, static_cast<std::uint32_t>(text.size()));
    std::memcpy(to->data() + at, text.data() + done, part);
    done += part;
  }
}

std::string HashFile::user_info() {
  std::string text;
  std::size_t length = 0;
  for (std::uint32_t i = 0; i < header_.user_pages; ++i) {
    Page& from = page(header_.user_page + i);
    if (!from.in_use()) break;
    const std::uint32_t at = i == 0 ? kKeysAt + 4 : kKeysAt;
    if (i == 0) length = from.word(kKeysAt);
    text.append(from.data() + at, std::min<std::size_t>(length - text.size(), from.size() - at));
  }
  if (text.size() != length)
    damaged(header_.user_page, kKeysAt, "user data", std::to_string(text.size()) + " bytes", std::to_string(length));
  return text;
}

}  // namespace QDP::io
