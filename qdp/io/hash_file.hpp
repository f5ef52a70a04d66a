// A file of keys and data in the format of JLab's FileDB (version 6; version 5 is read), in one process.
//
// Pages of `page_size` bytes. Words are of the byte order that the header names, of which only the small one is known here; the
// header itself is big-endian, 332 bytes with their CRC-32 last. Every page begins with
//   0 its number | 4 page before it | 8 page behind it, or ffffffff | 12 signature | 16 entries (16 bit) | 18 type (16 bit)
//   20 CRC-32 of the page without this word | 24 first byte that is free
// Buckets: a key belongs to bucket hash mod 2^k, or mod 2^(k-1) if there is no such bucket yet. The buckets of a level k lie next to each
// other from page spares[k] on; a bucket that is full goes on behind it, on overflow pages. From byte 28 on stand three words per key:
// place and length of the key, place of its data pointer (page, offset, length, CRC-32 of the data). The keys grow from the end.
// Data pages: from byte 32 on, each datum with five words before it: length, status, offset of the next one, page and index of its
// key. A datum goes on at byte 32 of the page behind. Offsets and status keep bits 32..39 of the length in their bits 20..27.
//
// Buckets are not split here when they overflow: a file with very many keys is found through long chains.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>

namespace QDP::io {

struct HashFileOptions {
  std::uint32_t page_size = 8192;  ///< of a new file: the next power of two, 512 to 2^20
  std::uint32_t buckets = 32;      ///< of a new file: the next power of two, 2 at least
  std::uint32_t user_info = 0;     ///< most bytes of user data; 0: 4000
  std::uint32_t configs = 0;       ///< configurations that have room; 0: 1
  std::size_t cache = 0;           ///< bytes of pages in memory; 0: 128 MiB
};

/// Errors: jit::UserError, for damaged files with path, byte, expected and got.
class HashFile {
 public:
  /// `flags` are those of open(2): O_RDONLY or O_RDWR, O_CREAT, O_TRUNC. A file that is not there begins with O_CREAT.
  HashFile(const std::string& path, int flags, int mode, const HashFileOptions& options);
  /// Writes what is left to write; an error is logged.
  ~HashFile();
  HashFile(const HashFile&) = delete;
  HashFile& operator=(const HashFile&) = delete;

  const std::string& path() const { return path_; }
  std::uint32_t keys() const { return header_.keys; }

  bool contains(const std::string& key);
  bool get(const std::string& key, std::string& data);
  /// Replaces the data of a key that is there, in place if they are not longer. Throws if the file was opened for reading.
  void put(const std::string& key, const std::string& data);
  /// In the order of the file. `visit` may read from the file.
  void for_each_key(const std::function<void(const std::string& key)>& visit);

  std::uint32_t most_user_info() const { return header_.user_info; }
  std::uint32_t configs() const { return header_.configs; }
  void set_user_info(const std::string& text);
  std::string user_info();

  void flush();

 private:
  struct Header {
    std::uint32_t version = 0, page_size = 0, level = 0, max_bucket = 0, high_mask = 0, low_mask = 0, fill = 0,
                  keys = 0;
    std::uint32_t header_pages = 0, user_info = 0, user_page = 0, user_pages = 0, config_page = 0, config_pages = 0;
    std::uint32_t configs = 0, moved_pages = 0;
    std::array<std::uint32_t, 32> spares{}, free_pages{};
  };
  class Page;
  struct Place {  ///< of a key, or of where there is room for it
    std::uint32_t page, index;
    bool found;
  };

  void begin(const HashFileOptions& options);
  void read_header();
  void write_header();
  Page& page(std::uint32_t number);
  Page& new_page(std::uint32_t number, std::uint32_t type);
  Page& bucket_page(std::uint32_t bucket);
  Page& next_in_chain(Page& page, std::uint32_t& steps);
  Page& data_page(std::uint32_t number);
  std::uint32_t page_of_bucket(std::uint32_t bucket) const;
  std::uint32_t allocate();
  std::uint32_t current_data_page();
  Place find(const std::string& key);
  std::string key_at(Page& page, std::uint32_t index);
  void add_data(const std::string& data, std::uint32_t key_page, std::uint32_t key_index, std::uint32_t& first,
                std::uint32_t& offset);
  void replace_data(const std::string& data, std::uint32_t number, std::uint32_t at);
  void trim_cache();
  void write_pages();
  [[noreturn]] void damaged(std::uint32_t page, std::uint32_t at, const std::string& what, const std::string& expected,
                            const std::string& got) const;

  std::string path_;
  int descriptor_ = -1;
  bool writable_ = false, changed_ = false;
  std::size_t cache_;
  std::uint64_t file_bytes_ = 0;
  Header header_;
  std::map<std::uint32_t, std::unique_ptr<Page>> pages_;
  std::uint32_t data_page_;  // the last one, to which data are added
};

/// Whether there is something of this name.
bool file_exists(const std::string& path);

}  // namespace QDP::io
