#include "qdp/io/map_file.hpp"

#include <array>
#include <cerrno>
#include <cstring>
#include <exception>
#include <filesystem>
#include <fstream>
#include <limits>
#include <ostream>
#include <streambuf>
#include <utility>
#include <vector>

#include "jit/support/error.hpp"
#include "jit/support/log.hpp"
#include "qdp/io/input_file.hpp"
#include "qdp/io/stdio.hpp"
#include "qdp/util/primary.hpp"
#include "qdp/util/stopwatch.hpp"

namespace QDP::io {

namespace {

constexpr std::uint32_t kMapVersion = 1;
constexpr std::uint64_t kPositionBytes = 16, kMapChecksumBytes = 4;

/// Takes bytes and only counts them.
class CountingBuffer : public std::streambuf {
 public:
  std::uint64_t count = 0;

 protected:
  int_type overflow(int_type c) override {
    ++count;
    return traits_type::not_eof(c);
  }
  std::streamsize xsputn(const char*, std::streamsize n) override {
    count += static_cast<std::uint64_t>(n);
    return n;
  }
};

/// How many bytes a value takes; the same on every rank.
class ByteCounter : public BinaryWriter {
 public:
  void flush() override {}
  std::uint64_t bytes() const {
    std::uint64_t count = buffer_.count;
    broadcast(count);
    return count;
  }

 protected:
  QDPUtil::n_uint32_t& internalChecksum() override { return checksum_; }
  std::ostream& getOstream() override { return stream_; }
  std::string name() const override { return "a counter of bytes"; }

 private:
  CountingBuffer buffer_;
  std::ostream stream_{&buffer_};
  QDPUtil::n_uint32_t checksum_ = 0;
};

void append_word(std::string& to, std::uint64_t value, int bytes) {
  for (int shift = 8 * (bytes - 1); shift >= 0; shift -= 8) to += static_cast<char>(value >> shift & 0xff);
}
void append_position(std::string& to, std::uint64_t position) {
  append_word(to, 0, 8);
  append_word(to, position, 8);
}
/// What writeDesc writes.
void append_text(std::string& to, const std::string& text) {
  append_word(to, text.size(), 4);
  to += text;
}

/// Words and texts of a part of a file that is in memory. Errors name the file and the byte.
class Cursor {
 public:
  Cursor(const InputFile& file, std::uint64_t begin, std::uint64_t bytes, std::string what)
      : file_(file), begin_(begin), bytes_(static_cast<std::size_t>(bytes), '\0'), what_(std::move(what)) {
    file.read_at(begin, bytes_.data(), bytes_.size(), what_);
  }
  std::uint64_t at() const { return begin_ + next_; }
  std::uint64_t word(int bytes) {
    std::uint64_t value = 0;
    for (const char c : take(static_cast<std::uint64_t>(bytes))) value = value << 8 | static_cast<unsigned char>(c);
    return value;
  }
  std::string text() { return take(word(4)); }
  std::uint64_t position() {
    const std::uint64_t high = word(8), low = word(8);
    if (high != 0 || low >= file_.size())
      bad("a position in the file of " + std::to_string(file_.size()) + " bytes", "another");
    return low;
  }
  std::uint32_t checksum() const { return QDPUtil::crc32(0, bytes_.data(), next_); }
  [[noreturn]] void bad(const std::string& expected, const std::string& got) const {
    throw_format_error(file_.path(), at(), what_, expected, got, "The file is damaged; copy it again");
  }

 private:
  std::string take(std::uint64_t bytes) {
    if (bytes > bytes_.size() - next_)
      bad(std::to_string(bytes) + " bytes more", std::to_string(bytes_.size() - next_));
    next_ += static_cast<std::size_t>(bytes);
    return bytes_.substr(next_ - static_cast<std::size_t>(bytes), static_cast<std::size_t>(bytes));
  }

  const InputFile& file_;
  std::uint64_t begin_;
  std::string bytes_;
  std::string what_;
  std::size_t next_ = 0;
};

struct MapHeader {
  std::string user_data;
  std::uint64_t link = 0;   ///< where the position of the index stands
  std::uint64_t index = 0;  ///< that position
};

MapHeader read_header(const InputFile& file) {
  const std::string& magic = MapFile::magic();
  const std::uint64_t fixed = 4 + magic.size() + 4 + 4;
  Cursor start(file, 0, std::min(fixed, file.size()), "header of a MapObjectDisk");
  if (const std::uint64_t length = start.word(4); length != magic.size())
    throw_format_error(file.path(), 0, "file of a MapObjectDisk", "\"" + magic + "\"", "something else",
                       "This file is of another kind");
  std::string text;
  for (std::size_t i = 0; i < magic.size(); ++i) text += static_cast<char>(start.word(1));
  if (text != magic)
    throw_format_error(file.path(), 4, "file of a MapObjectDisk", "\"" + magic + "\"", "something else",
                       "This file is of another kind");
  if (const std::uint64_t version = start.word(4); version != kMapVersion)
    start.bad("version " + std::to_string(kMapVersion), std::to_string(version));
  const std::uint64_t length = start.word(4), rest = file.size() - fixed;
  if (rest < kPositionBytes || length > rest - kPositionBytes)
    start.bad("user data of at most " + std::to_string(rest) + " bytes", std::to_string(length));
  MapHeader header;
  header.link = fixed + length;
  header.user_data.resize(static_cast<std::size_t>(length));
  file.read_at(fixed, header.user_data.data(), header.user_data.size(), "user data of a MapObjectDisk");
  header.index = Cursor(file, header.link, kPositionBytes, "position of the index of a MapObjectDisk").position();
  return header;
}

}  // namespace

const std::string& MapFile::magic() {
  static const std::string text = "XXXXQDPLazyDiskMapObjFileXXXX";
  return text;
}

MapFile::MapFile() : stream_(std::make_unique<std::fstream>()) {}

MapFile::~MapFile() {
  if (!stream_->is_open()) return;
  const std::string failure = failure_of([&] {
    if (changed_) write_index();
    stream_->clear();  // of reads that found the end
    stream_->close();
    if (stream_->fail()) throw jit::UserError("write error");
  });
  if (!failure.empty()) jit::log_error("io", "\"", path_, "\" is not complete: ", failure);
}

bool MapFile::is_new(const std::string& path, std::ios_base::openmode mode) {
  return once([&] { return (mode & std::ios_base::trunc) != 0 || !std::filesystem::exists(path); });
}

std::string MapFile::user_data_of(const std::string& path) {
  std::string user_data;
  on_primary([&] { user_data = read_header(InputFile(path)).user_data; });
  broadcast(user_data);
  return user_data;
}

void MapFile::open(const std::string& path, std::ios_base::openmode mode, std::string& user_data) {
  close();
  const bool create_it = is_new(path, mode);
  path_ = path;
  index_.clear();
  starts_.clear();
  writable_ = (mode & (std::ios_base::out | std::ios_base::trunc)) != 0;
  if (create_it && !(mode & std::ios_base::trunc))
    throw jit::UserError({.what = "MapObjectDisk: open \"" + path + "\"",
                          .expected = "a file, or std::ios_base::trunc for a new one",
                          .got = "no file of this name",
                          .what_now = "check the name and the folder"});
  if (!create_it) read_index(user_data);
  on_primary([&] {
    // Values are read back from a new file, too; and without trunc nothing is thrown away.
    std::ios_base::openmode own = std::ios_base::in | std::ios_base::binary;
    if (writable_) own |= std::ios_base::out;
    if (create_it) own |= std::ios_base::trunc;
    stream_->clear();
    stream_->open(path, own);
    if (!stream_->is_open())
      throw jit::UserError({.what = "MapObjectDisk: open \"" + path + "\"",
                            .got = std::strerror(errno),
                            .what_now = "check the folder and the permissions"});
    if (create_it) create(user_data);
  });
  link_ = once([&] { return link_; });
  last_ = Last::read;
  changed_ = create_it;
  open_ = true;
}

void MapFile::create(const std::string& user_data) {
  if (user_data.size() > static_cast<std::size_t>(std::numeric_limits<int>::max()))
    throw jit::UserError({.what = "MapObjectDisk: user data",
                          .expected = "fewer than 2^31 characters",
                          .got = std::to_string(user_data.size())});
  std::string header;
  append_text(header, magic());
  append_word(header, kMapVersion, 4);
  append_text(header, user_data);
  link_ = header.size();
  append_position(header, link_);  // as QDP++: itself, until there is an index
  stream_->write(header.data(), static_cast<std::streamsize>(header.size()));
  stream_->flush();
}

void MapFile::read_index(std::string& user_data) {
  std::vector<std::string> keys;
  std::vector<std::uint64_t> positions;
  std::uint64_t index_start = 0;
  on_primary([&] {
    const InputFile file(path_);
    const MapHeader header = read_header(file);
    user_data = header.user_data;
    link_ = header.link;
    index_start = header.index;
    if (header.index < header.link + kPositionBytes)
      throw_format_error(path_, header.link, "position of the index of a MapObjectDisk", "a position behind the header",
                         std::to_string(header.index),
                         "The program that wrote the file ended before it closed it; write it again");
    Cursor index(file, header.index, file.size() - header.index, "index of a MapObjectDisk");
    const std::uint64_t count = index.word(4);
    for (std::uint64_t i = 0; i < count; ++i) {
      keys.push_back(index.text());
      positions.push_back(index.position());
      if (positions.back() < header.link + kPositionBytes)
        index.bad("the position of a value", std::to_string(positions.back()));
    }
    const std::uint32_t computed = index.checksum();
    if (const std::uint64_t stored = index.word(4); stored != computed)
      index.bad("checksum " + std::to_string(stored), std::to_string(computed));
  });
  broadcast(user_data);
  broadcast(index_start);
  broadcast(keys);
  broadcast(positions);
  for (std::size_t i = 0; i < keys.size(); ++i) {
    index_.emplace(keys[i], positions[i]);
    starts_.insert(positions[i]);
  }
  starts_.insert(index_start);
}

/// On the primary.
void MapFile::write_index() {
  std::string text;
  append_word(text, index_.size(), 4);
  for (const auto& [key, position] : index_) {
    append_text(text, key);
    append_position(text, position);
  }
  append_word(text, QDPUtil::crc32(0, text.data(), text.size()), 4);

  stream_->clear();
  stream_->seekp(0, std::ios_base::end);
  const auto start = static_cast<std::uint64_t>(stream_->tellp());
  stream_->write(text.data(), static_cast<std::streamsize>(text.size()));
  stream_->flush();
  // The index is complete before anything refers to it.
  std::string link;
  append_position(link, start);
  stream_->seekp(static_cast<std::streamoff>(link_));
  stream_->write(link.data(), static_cast<std::streamsize>(link.size()));
  stream_->flush();
  if (stream_->fail())
    throw jit::UserError({.what = "MapObjectDisk: \"" + path_ + "\" is not complete",
                          .got = "a write error",
                          .what_now = "check the free disk space"});
  starts_.insert(start);
}

void MapFile::flush() {
  if (!open_ || !changed_) return;
  on_primary([&] { write_index(); });
  changed_ = false;
}

void MapFile::close() {
  if (!open_) return;
  flush();
  open_ = false;
  on_primary([&] {
    stream_->clear();
    stream_->close();
  });
}

/// How many bytes from there on belong to nothing else. On the primary.
std::uint64_t MapFile::room_at(std::uint64_t position) const {
  const auto next = starts_.upper_bound(position);
  if (next != starts_.end()) return *next - position;
  return std::numeric_limits<std::uint64_t>::max();  // the last one may grow
}

void MapFile::insert(const std::string& key, const std::function<void(BinaryWriter&)>& write_value) {
  if (!writable_)
    throw jit::UserError({.what = "MapObjectDisk: insert into \"" + path_ + "\"",
                          .expected = "a file opened for writing",
                          .got = "one opened with std::ios_base::in alone",
                          .what_now = "open it with std::ios_base::in | std::ios_base::out"});
  const auto found = index_.find(key);
  bool in_place = false;
  if (found != index_.end()) {
    ByteCounter counter;
    write_value(counter);
    const std::uint64_t bytes = counter.bytes() + kMapChecksumBytes;
    in_place = once([&] { return bytes <= room_at(found->second); });
  }
  const StopWatch watch = [] {
    StopWatch w;
    w.start();
    return w;
  }();
  if (in_place)
    seek(static_cast<pos_type>(static_cast<off_type>(found->second)));
  else
    seekEnd(0);
  const auto position = static_cast<std::uint64_t>(static_cast<off_type>(currentPosition()));
  changed_ = true;
  write_value(*this);
  BinaryWriter& own = *this;
  own.write(getChecksum());
  on_primary([&] { stream_->flush(); });
  index_.insert_or_assign(key, position);
  starts_.insert(position);
  StopWatch stopped = watch;
  stopped.stop();
  report("wrote", position, stopped.getTimeInSeconds());
}

bool MapFile::get(const std::string& key, const std::function<void(BinaryReader&)>& read_value) {
  const auto found = index_.find(key);
  if (found == index_.end()) return false;
  StopWatch watch;
  watch.start();
  seek(static_cast<pos_type>(static_cast<off_type>(found->second)));
  read_value(*this);
  const QDPUtil::n_uint32_t computed = getChecksum();
  QDPUtil::n_uint32_t stored = 0;
  BinaryReader& own = *this;
  own.read(stored);
  if (stored != computed)
    throw jit::UserError({.what = path_ + ", byte " + std::to_string(found->second) + ": value of a MapObjectDisk",
                          .expected = "checksum " + std::to_string(stored),
                          .got = std::to_string(computed),
                          .what_now = "The file is damaged, or the value is of another type"});
  watch.stop();
  report("read", found->second, watch.getTimeInSeconds());
  return true;
}

void MapFile::report(const char* what, std::uint64_t from, double seconds) {
  if (level < 1) return;
  const auto bytes = static_cast<std::uint64_t>(static_cast<off_type>(currentPosition())) - from;
  QDPIO::cout << "MapObjectDisk: " << what << " " << bytes << " bytes at " << from << " of \"" << path_ << "\" in "
              << seconds << " s\n";
}

std::iostream& MapFile::getIOstream() {
  if (!open_)
    throw jit::UserError(
        {.what = "MapObjectDisk", .expected = "an open file", .got = "a closed one", .what_now = "call open first"});
  return *stream_;
}

}  // namespace QDP::io
