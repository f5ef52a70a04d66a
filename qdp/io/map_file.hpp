// The file of MapObjectDisk, as QDP++ writes it: values one after the other, behind them an index of where they are.
//
//   int length, "XXXXQDPLazyDiskMapObjFileXXXX" | unsigned version (1) | int length, user data | position of the index
//   value, unsigned CRC-32 of its bytes | value, CRC-32 | ...
//   index: unsigned count | count times: int length, key, position of its value | CRC-32 of the index
//
// Numbers are big-endian, positions 16 bytes from the beginning of the file. A file that is changed later gets another index
// behind what was added; the one before stays where it was, unused. Until the index is written a new file cannot be read.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <unordered_map>

#include "qdp/io/binary_reader_writer.hpp"

namespace QDP::io {

class MapFile : public BinaryReaderWriter {
 public:
  using Index = std::unordered_map<std::string, std::uint64_t>;  // QDP++'s type: its order is that of the file

  MapFile();
  /// Completes a changed file, without a word to other ranks: also where an exception ends its life, as the values are there.
  ~MapFile() override;

  /// Whether open() would begin a new file: with std::ios_base::trunc, or as there is none. Collective, as all that follows.
  static bool is_new(const std::string& path, std::ios_base::openmode mode);
  static const std::string& magic();
  /// The user data of a file, without its index.
  static std::string user_data_of(const std::string& path);

  /// A new file takes `user_data`, another one gives it. Throws jit::UserError for a file that cannot be opened, is damaged or was
  /// never completed.
  void open(const std::string& path, std::ios_base::openmode mode, std::string& user_data);
  bool is_open() const { return open_; }
  /// Writes the index if something has changed.
  void flush() override;
  void close();

  const Index& index() const { return index_; }
  /// Writes a value and its checksum: where the key's last value was if there is room, else at the end.
  void insert(const std::string& key, const std::function<void(BinaryWriter&)>& write_value);
  /// False if there is no such key. Throws jit::UserError if the value is damaged or of another type.
  bool get(const std::string& key, const std::function<void(BinaryReader&)>& read_value);

  /// 1: a line on QDPIO::cout for every value.
  int level = 0;

 protected:
  std::iostream& getIOstream() override;
  std::string name() const override { return "\"" + path_ + "\""; }

 private:
  void create(const std::string& user_data);
  void read_index(std::string& user_data);
  void write_index();
  std::uint64_t room_at(std::uint64_t position) const;
  void report(const char* what, std::uint64_t from, double seconds);

  std::unique_ptr<std::fstream> stream_;
  std::string path_;
  Index index_;
  std::set<std::uint64_t> starts_;  // of values and indices, also of those that nothing refers to
  std::uint64_t link_ = 0;          // where the position of the index stands
  bool open_ = false, writable_ = false, changed_ = false;
};

}  // namespace QDP::io
