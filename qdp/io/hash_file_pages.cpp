// HashFile: the file, its header, and its pages in memory.
#include "qdp/io/hash_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>
#include <string>
#include <utility>

#include "jit/support/error.hpp"
#include "jit/support/log.hpp"
#include "qdp/io/hash_page.hpp"
#include "qdp/io/input_file.hpp"
#include "qdp/util/byte_order.hpp"
#include "qdp/util/primary.hpp"

namespace QDP::io {

void HashFile::damaged(std::uint32_t page, std::uint32_t at, const std::string& what, const std::string& expected,
                       const std::string& got) const {
  throw_format_error(path_, static_cast<std::uint64_t>(page) * header_.page_size + at, what, expected, got,
                     "The file is damaged, or was not closed by the program that wrote it");
}

// ---- open and close

HashFile::HashFile(const std::string& path, int flags, int mode, const HashFileOptions& options)
    : path_(path),
      cache_(options.cache > 0 ? options.cache : hash_format::kHashCache),
      data_page_(hash_format::kNoPage) {
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
  h.version = hash_format::kHashVersion;
  h.page_size =
      std::uint32_t{1} << hash_format::log2_above(std::min(options.page_size, hash_format::kMostPageSize + 1));
  if (h.page_size < hash_format::kLeastPageSize || h.page_size > hash_format::kMostPageSize)
    throw jit::UserError({.what = "FileDB: size of pages of \"" + path_ + "\"",
                          .expected = std::to_string(hash_format::kLeastPageSize) + " to " +
                                      std::to_string(hash_format::kMostPageSize) + " bytes",
                          .got = std::to_string(options.page_size)});
  h.fill = 65536;
  // Not one bucket: FileDB loses keys when it splits that one.
  h.level = hash_format::log2_above(std::clamp<std::uint32_t>(options.buckets, 2, 1u << 20));
  h.max_bucket = h.high_mask = (1u << h.level) - 1;
  h.low_mask = h.high_mask >> 1;
  h.user_info = options.user_info > 0 ? options.user_info : hash_format::kUserInfo;
  h.user_page = 1;
  const std::uint64_t of_user = h.page_size - hash_format::kKeysAt;
  const std::uint64_t user_pages = (std::uint64_t{h.user_info} + 4 + of_user - 1) / of_user;
  h.configs = options.configs > 0 ? options.configs : 1;
  const std::uint64_t of_configs = (h.page_size - hash_format::kKeysAt) / hash_format::kConfigBytes;
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
  h.free_pages.fill(hash_format::kNoPage);
  header_ = h;
  for (std::uint32_t i = 0; i < h.user_pages; ++i) new_page(h.user_page + i, hash_format::kUserPage);
  for (std::uint32_t i = 0; i < h.config_pages; ++i) new_page(h.config_page + i, hash_format::kConfigPage);
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
  std::string bytes(hash_format::kHeaderSize, '\0');
  InputFile(path_).read_at(0, bytes.data(), bytes.size(), "header of a FileDB file");
  HeaderText text(bytes);
  if (const std::uint32_t magic = text.take(); magic != hash_format::kHashMagic)
    throw_format_error(path_, 0, "FileDB file", hash_format::hex_of(hash_format::kHashMagic),
                       hash_format::hex_of(magic), "This file is of another kind");
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
  const std::uint32_t stored = text.take(), computed = QDPUtil::crc32(0, bytes.data(), hash_format::kHeaderSize - 4);
  const auto bad = [&](const std::string& what, const std::string& expected, const std::string& got) {
    throw_format_error(path_, 0, "header of a FileDB file: " + what, expected, got,
                       "The file is damaged or of another program");
  };
  if (stored != computed) bad("checksum", hash_format::hex_of(stored), hash_format::hex_of(computed));
  if (h.version != hash_format::kHashVersion && h.version != hash_format::kOldHashVersion)
    bad("version", "5 or 6", std::to_string(h.version));
  if (order != hash_format::kSmallEndian)
    bad("byte order", std::to_string(hash_format::kSmallEndian), std::to_string(order) + ", a file of another machine");
  if (!std::has_single_bit(h.page_size) || h.page_size < hash_format::kLeastPageSize ||
      h.page_size > hash_format::kMostPageSize || shift != hash_format::log2_above(h.page_size))
    bad("size of pages", "a power of two from 512 to 2^20", std::to_string(h.page_size));
  if (h.max_bucket == hash_format::kNoPage || h.level > 30 || h.level != hash_format::log2_above(h.max_bucket + 1) ||
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
  if (probe != hash_format::hash_of_key(hash_format::kHashProbe, sizeof hash_format::kHashProbe))
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
  text.put(hash_format::kHashMagic), text.put(h.version), text.put(hash_format::kSmallEndian), text.put(h.page_size),
      text.put(hash_format::log2_above(h.page_size));
  text.put(h.level), text.put(h.max_bucket), text.put(h.high_mask), text.put(h.low_mask), text.put(h.fill),
      text.put(h.keys);
  text.put(h.header_pages), text.put(h.user_info);
  for (const std::uint32_t n : {h.user_page, h.user_pages, h.config_page, h.config_pages}) text.put(n, 2);
  text.put(h.configs), text.put(hash_format::hash_of_key(hash_format::kHashProbe, sizeof hash_format::kHashProbe)),
      text.put(h.moved_pages);
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
    page->set_word(hash_format::kPageCrc, page->crc());
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
        damaged(number, hash_format::kSignature, "page",
                "the signature " + hash_format::hex_of(hash_format::kPageSignature),
                hash_format::hex_of(loaded->word(hash_format::kSignature)));
    } else {
      if (loaded->crc() != loaded->word(hash_format::kPageCrc))
        damaged(number, hash_format::kPageCrc, "page",
                "checksum " + hash_format::hex_of(loaded->word(hash_format::kPageCrc)),
                hash_format::hex_of(loaded->crc()));
      if (loaded->number_of() != number)
        damaged(number, hash_format::kNumber, "page", "number " + std::to_string(number),
                std::to_string(loaded->number_of()));
    }
  } catch (...) {
    pages_.erase(number);
    throw;
  }
  slot = std::move(loaded);
  return *slot;
}

/// Where none was ever written. A header that counts wrongly leads to pages that others may be at work with.
HashFile::Page& HashFile::new_page(std::uint32_t number, std::uint32_t type) {
  Page& page = this->page(number);
  if (page.in_use())
    damaged(number, hash_format::kSignature, "new page", "one that was never written",
            hash_format::hex_of(page.word(hash_format::kSignature)));
  page.set_word(hash_format::kNumber, number);
  page.set_word(hash_format::kBefore, hash_format::kNoPage);
  page.set_word(hash_format::kBehind, hash_format::kNoPage);
  page.set_word(hash_format::kSignature, hash_format::kPageSignature);
  page.set_half(hash_format::kType, type);
  if (type == hash_format::kBucketPage) page.set_word(hash_format::kFree, header_.page_size - 1);
  if (type == hash_format::kDataPage || type == hash_format::kConfigPage)
    page.set_word(hash_format::kFree, hash_format::kDataAt);
  if (type == hash_format::kDataPage) page.set_word(hash_format::kFirstDatum, hash_format::kDataAt);
  changed_ = true;
  return page;
}

std::uint32_t HashFile::page_of_bucket(std::uint32_t bucket) const {
  const std::uint32_t level = hash_format::log2_above(bucket + 1);
  return bucket == 0 ? header_.spares[0] : bucket - (1u << (level - 1)) + header_.spares[level];
}

HashFile::Page& HashFile::bucket_page(std::uint32_t bucket) { return page(page_of_bucket(bucket)); }

/// The overflow page behind it; `steps` bounds chains that lead back into themselves.
HashFile::Page& HashFile::next_in_chain(Page& of, std::uint32_t& steps) {
  const std::uint32_t behind = of.behind();
  Page& next = page(behind);
  if (!next.in_use() || next.type() != hash_format::kBucketPage ||
      ++steps > file_bytes_ / header_.page_size + pages_.size())
    damaged(of.number_of(), hash_format::kBehind, "page behind", "an overflow page", std::to_string(behind));
  return next;
}

HashFile::Page& HashFile::data_page(std::uint32_t number) {
  Page& found = page(number);
  if (!found.in_use() || found.type() != hash_format::kDataPage)
    damaged(number, hash_format::kType, "page", "data", hash_format::hex_of(found.type()));
  return found;
}

/// The next page that nothing has: behind the buckets of the present level.
std::uint32_t HashFile::allocate() {
  std::uint32_t& next = header_.spares[header_.level + 1];
  if (next == 0) next = page_of_bucket(header_.high_mask) + 1;
  if (next == hash_format::kNoPage)
    throw jit::UserError({.what = "FileDB: \"" + path_ + "\"",
                          .expected = "fewer than 2^32 pages",
                          .got = "one more",
                          .what_now = "take larger pages"});
  changed_ = true;
  return next++;
}

std::uint32_t HashFile::current_data_page() {
  if (data_page_ != hash_format::kNoPage) return data_page_;
  const std::uint32_t end = header_.spares[header_.level + 1];
  for (std::uint32_t number = end; number-- > header_.header_pages && end > 0;) {
    const Page& last = page(number);
    if (last.in_use() && last.type() == hash_format::kDataPage && last.behind() == hash_format::kNoPage)
      return data_page_ = number;
  }
  const std::uint32_t fresh = allocate();
  new_page(fresh, hash_format::kDataPage);
  return data_page_ = fresh;
}

}  // namespace QDP::io
