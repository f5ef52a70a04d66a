// HashFile: keys, data and user data on pages.
#include "qdp/io/hash_file.hpp"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <utility>
#include <vector>

#include "jit/support/error.hpp"
#include "qdp/io/hash_page.hpp"
#include "qdp/util/byte_order.hpp"

namespace QDP::io {

// ---- keys

std::string HashFile::key_at(Page& of, std::uint32_t index) {
  const std::uint32_t at = of.word(hash_format::kKeysAt + index * hash_format::kWordsPerKey),
                      length = of.word(hash_format::kKeysAt + index * hash_format::kWordsPerKey + 4);
  const std::uint32_t pointer = of.word(hash_format::kKeysAt + index * hash_format::kWordsPerKey + 8);
  if (at > of.size() || length > of.size() - at || pointer > of.size() - hash_format::kPointerBytes)
    damaged(of.number_of(), hash_format::kKeysAt + index * hash_format::kWordsPerKey, "key " + std::to_string(index),
            "a place in the page", std::to_string(at) + ", length " + std::to_string(length));
  return std::string(of.data() + at, length);
}

HashFile::Place HashFile::find(const std::string& key) {
  std::uint32_t bucket = hash_format::hash_of_key(key.data(), key.size()) & header_.high_mask;
  if (bucket > header_.max_bucket) bucket &= header_.low_mask;
  Page* of = &bucket_page(bucket);
  if (!of->in_use()) return {page_of_bucket(bucket), 0, false};
  for (std::uint32_t steps = 0;;) {
    const std::uint32_t entries = of->entries();
    if (of->type() != hash_format::kBucketPage ||
        hash_format::kKeysAt + entries * hash_format::kWordsPerKey > of->size())
      damaged(of->number_of(), hash_format::kEntries, "page of keys",
              "at most " + std::to_string((of->size() - hash_format::kKeysAt) / hash_format::kWordsPerKey) + " keys",
              std::to_string(entries) + ", type " + hash_format::hex_of(of->type()));
    for (std::uint32_t i = 0; i < entries; ++i)
      if (key_at(*of, i) == key) return {of->number_of(), i, true};
    if (of->behind() == hash_format::kNoPage) return {of->number_of(), entries, false};
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
      if (of.type() != hash_format::kBucketPage ||
          hash_format::kKeysAt + of.entries() * hash_format::kWordsPerKey > of.size())
        damaged(number, hash_format::kEntries, "page of keys", "keys", hash_format::hex_of(of.type()));
      for (std::uint32_t i = 0; i < of.entries(); ++i) keys.push_back(key_at(of, i));
      number = of.behind() == hash_format::kNoPage ? hash_format::kNoPage : next_in_chain(of, steps).number_of();
      for (const std::string& key : keys) visit(key);
      if (number == hash_format::kNoPage) break;
    }
  }
}

// ---- data

bool HashFile::get(const std::string& key, std::string& data) {
  trim_cache();
  const Place place = find(key);
  if (!place.found) return false;
  Page& of = page(place.page);
  const std::uint32_t pointer = of.word(hash_format::kKeysAt + place.index * hash_format::kWordsPerKey + 8);
  std::uint32_t number = of.word(pointer);
  const std::uint32_t packed = of.word(pointer + 4), low = of.word(pointer + 8), stored = of.word(pointer + 12);
  const bool old = header_.version == hash_format::kOldHashVersion;
  std::uint32_t at = old ? packed : packed & hash_format::kLowOffset;
  const std::uint64_t length = old ? low : hash_format::whole_length(low, packed);
  Page* from = &data_page(number);
  if (at < hash_format::kDataAt || at > from->size() - hash_format::kDatumHeader)
    damaged(place.page, pointer, "data pointer", "an offset in the page", std::to_string(at));
  const std::uint32_t status = from->word(at + 4);
  if ((old ? from->word(at) : hash_format::whole_length(from->word(at), status)) != length ||
      (old ? status : status & hash_format::kLowOffset) != hash_format::valid_status(header_.version) ||
      from->word(at + 12) != place.page || from->word(at + 16) != place.index)
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
  at += hash_format::kDatumHeader;
  while (true) {
    const auto part = static_cast<std::size_t>(std::min<std::uint64_t>(length - result.size(), from->size() - at));
    result.append(from->data() + at, part);
    if (result.size() == length) break;
    number = from->behind();
    if (number == hash_format::kNoPage)
      damaged(from->number_of(), hash_format::kBehind, "page behind", "more data", "none");
    from = &data_page(number);
    at = hash_format::kDataAt;
  }
  if (const std::uint32_t computed = QDPUtil::crc32(0, result.data(), result.size()); computed != stored)
    damaged(number, at, "data", "checksum " + hash_format::hex_of(stored), hash_format::hex_of(computed));
  data = std::move(result);
  return true;
}

void HashFile::add_data(const std::string& data, std::uint32_t key_page, std::uint32_t key_index, std::uint32_t& first,
                        std::uint32_t& offset) {
  std::uint32_t number = current_data_page();
  Page* to = &data_page(number);
  if (to->word(hash_format::kFree) == 0) {  // no room for a header: the datum begins on a page of its own
    const std::uint32_t behind = allocate();
    new_page(behind, hash_format::kDataPage).set_word(hash_format::kBefore, number);
    to->set_word(hash_format::kBehind, behind);
    number = behind;
    to = &page(number);
  }
  const std::uint32_t size = header_.page_size, start = to->word(hash_format::kFree);
  if (start < hash_format::kDataAt || start > size - hash_format::kDatumHeader)
    damaged(number, hash_format::kFree, "free byte", "room for a header", std::to_string(start));
  first = number;
  offset = start;
  to->set_word(start, static_cast<std::uint32_t>(data.size()));
  to->set_word(start + 4,
               hash_format::valid_status(header_.version) |
                   (header_.version == hash_format::kOldHashVersion ? 0 : hash_format::high_bits(data.size())));
  to->set_word(start + 8, 0);
  to->set_word(start + 12, key_page);
  to->set_word(start + 16, key_index);
  to->set_half(hash_format::kEntries, to->entries() + 1);
  const std::size_t here = std::min<std::size_t>(data.size(), size - start - hash_format::kDatumHeader);
  std::memcpy(to->data() + start + hash_format::kDatumHeader, data.data(), here);
  if (here == data.size()) {
    std::uint32_t next = hash_format::aligned_up(start + hash_format::kDatumHeader + static_cast<std::uint32_t>(here));
    if (next + hash_format::kDatumHeader >= size) next = 0;
    to->set_word(start + 8, next);
    to->set_word(hash_format::kFree, next);
    return;
  }
  to->set_word(hash_format::kFree, 0);
  for (std::size_t done = here; done < data.size();) {
    const std::uint32_t behind = allocate();
    to->set_word(hash_format::kBehind, behind);
    Page& page = new_page(behind, hash_format::kDataPage);
    page.set_word(hash_format::kBefore, number);
    const std::size_t rest = data.size() - done, part = std::min<std::size_t>(rest, size - hash_format::kDataAt);
    std::memcpy(page.data() + hash_format::kDataAt, data.data() + done, part);
    const std::uint32_t next = rest <= size - hash_format::kDataAt - hash_format::kDatumHeader
                                   ? hash_format::aligned_up(hash_format::kDataAt + static_cast<std::uint32_t>(rest))
                                   : 0;
    page.set_word(hash_format::kFree, next + hash_format::kDatumHeader > size ? 0 : next);
    page.set_word(hash_format::kFirstDatum, page.word(hash_format::kFree));
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
  to->set_word(at + 4, hash_format::valid_status(header_.version) |
                           (header_.version == hash_format::kOldHashVersion ? 0 : hash_format::high_bits(data.size())));
  at += hash_format::kDatumHeader;
  for (std::size_t done = 0;;) {
    const std::size_t part = std::min<std::size_t>(data.size() - done, to->size() - at);
    std::memcpy(to->data() + at, data.data() + done, part);
    to->dirty = true;
    done += part;
    if (done == data.size()) return;
    if (to->behind() == hash_format::kNoPage)
      damaged(to->number_of(), hash_format::kBehind, "page behind", "more data", "none");
    to = &data_page(to->behind());
    at = hash_format::kDataAt;
  }
}

void HashFile::put(const std::string& key, const std::string& data) {
  if (!writable_)
    throw jit::UserError(
        {.what = "FileDB: insert into \"" + path_ + "\"", .expected = "a file opened with O_RDWR", .got = "O_RDONLY"});
  const std::uint32_t pair_bytes = hash_format::kWordsPerKey + hash_format::kPointerBytes + 3;
  if (key.size() > header_.page_size - hash_format::kKeysAt - pair_bytes)
    throw jit::UserError(
        {.what = "FileDB: key for \"" + path_ + "\"",
         .expected = "at most " + std::to_string(header_.page_size - hash_format::kKeysAt - pair_bytes) + " bytes",
         .got = std::to_string(key.size()),
         .what_now = "take larger pages for a new file (setPageSize)"});
  const std::uint64_t most =
      header_.version == hash_format::kOldHashVersion ? 0xffffffffu : (std::uint64_t{1} << 40) - 1;
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
    const std::uint32_t pointer = of.word(hash_format::kKeysAt + place.index * hash_format::kWordsPerKey + 8),
                        number = of.word(pointer);
    const std::uint32_t packed = of.word(pointer + 4), at = header_.version == hash_format::kOldHashVersion
                                                                ? packed
                                                                : packed & hash_format::kLowOffset;
    Page& last = data_page(number);
    if (at < hash_format::kDataAt || at > last.size() - hash_format::kDatumHeader)
      damaged(place.page, pointer, "data pointer", "an offset in the page", std::to_string(at));
    const std::uint64_t before = header_.version == hash_format::kOldHashVersion
                                     ? of.word(pointer + 8)
                                     : hash_format::whole_length(of.word(pointer + 8), packed);
    std::uint32_t first = number, offset = at;
    if (data.size() <= before) {
      replace_data(data, number, at);
    } else {
      last.set_word(at + 4, hash_format::invalid_status(header_.version));  // the old ones stay, of nobody
      add_data(data, place.page, place.index, first, offset);
    }
    of.set_word(pointer, first);
    of.set_word(pointer + 4,
                offset | (header_.version == hash_format::kOldHashVersion ? 0 : hash_format::high_bits(data.size())));
    of.set_word(pointer + 8, static_cast<std::uint32_t>(data.size()));
    of.set_word(pointer + 12, crc);
    return;
  }
  Page* to = &page(place.page);
  if (!to->in_use()) to = &new_page(place.page, hash_format::kBucketPage);
  const auto has_room = [&](const Page& p) {
    return key.size() + pair_bytes + hash_format::kKeysAt + p.entries() * hash_format::kWordsPerKey <=
           std::uint64_t{p.word(hash_format::kFree)} + 1;
  };
  if (to->word(hash_format::kFree) >= to->size())
    damaged(place.page, hash_format::kFree, "free byte", "one of the page",
            std::to_string(to->word(hash_format::kFree)));
  if (!has_room(*to)) {
    const std::uint32_t behind = allocate();
    to->set_word(hash_format::kBehind, behind);
    to = &new_page(behind, hash_format::kBucketPage);
    to->set_word(hash_format::kBefore, place.page);
  }
  const std::uint32_t number = to->number_of(), index = to->entries();
  const std::uint32_t key_start = to->word(hash_format::kFree) + 1 - static_cast<std::uint32_t>(key.size());
  const std::uint32_t pointer = (key_start - hash_format::kPointerBytes) & ~3u;
  std::uint32_t first = 0, offset = 0;
  add_data(data, number, index, first, offset);
  std::memcpy(to->data() + key_start, key.data(), key.size());
  to->set_word(pointer, first);
  to->set_word(pointer + 4,
               offset | (header_.version == hash_format::kOldHashVersion ? 0 : hash_format::high_bits(data.size())));
  to->set_word(pointer + 8, static_cast<std::uint32_t>(data.size()));
  to->set_word(pointer + 12, crc);
  to->set_word(hash_format::kKeysAt + index * hash_format::kWordsPerKey, key_start);
  to->set_word(hash_format::kKeysAt + index * hash_format::kWordsPerKey + 4, static_cast<std::uint32_t>(key.size()));
  to->set_word(hash_format::kKeysAt + index * hash_format::kWordsPerKey + 8, pointer);
  to->set_half(hash_format::kEntries, index + 1);
  to->set_word(hash_format::kFree, pointer - 1);
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
    if (!to->in_use()) to = &new_page(header_.user_page + i, hash_format::kUserPage);
    const std::uint32_t at = i == 0 ? hash_format::kKeysAt + 4 : hash_format::kKeysAt;
    const std::size_t part = std::min<std::size_t>(text.size() - done, to->size() - at);
    to->set_half(hash_format::kEntries, i == 0);
    if (i == 0) to->set_word(hash_format::kKeysAt, static_cast<std::uint32_t>(text.size()));
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
    const std::uint32_t at = i == 0 ? hash_format::kKeysAt + 4 : hash_format::kKeysAt;
    if (i == 0) length = from.word(hash_format::kKeysAt);
    text.append(from.data() + at, std::min<std::size_t>(length - text.size(), from.size() - at));
  }
  if (text.size() != length)
    damaged(header_.user_page, hash_format::kKeysAt, "user data", std::to_string(text.size()) + " bytes",
            std::to_string(length));
  return text;
}

bool file_exists(const std::string& path) { return std::filesystem::exists(path); }

}  // namespace QDP::io
