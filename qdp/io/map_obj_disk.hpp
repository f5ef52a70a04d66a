// MapObjectDisk: a map whose values stay in a file and are read when they are asked for. MapObjectDiskMultiple: several such files
// as one, to read.
//
//   MapObjectDisk<Key, LatticeFermion> map;
//   map.insertUserdata(xml.str());  // before open
//   map.open("eigenvectors.map", std::ios_base::in | std::ios_base::out | std::ios_base::trunc);
//   map.insert(key, psi);
//
// The file has the bytes that QDP++ writes (map_file.hpp) and can be read from the close() or flush() on. All calls are collective.
// Errors: jit::UserError for damaged files; functions that return int give 0 for success.
#pragma once

#include <ios>
#include <memory>
#include <string>
#include <unordered_set>
#include <vector>

#include "qdp/io/map_file.hpp"
#include "qdp/io/map_obj.hpp"

namespace QDP {

namespace MapObjDiskEnv {

using file_version_t = unsigned int;

inline std::string getFileMagic() { return io::MapFile::magic(); }
/// The user data of a file.
inline std::string getMetaData(const std::string& filename) { return io::MapFile::user_data_of(filename); }
inline bool checkForNewFile(const std::string& filename, std::ios_base::openmode mode) {
  return io::MapFile::is_new(filename, mode);
}

}  // namespace MapObjDiskEnv

template <class K, class V>
class MapObjectDisk : public MapObject<K, V> {
 public:
  using pos_type = std::iostream::pos_type;
  using off_type = std::iostream::off_type;

  /// 1: a line on QDPIO::cout for every value read or written.
  void setDebug(int level) { file_.level = level; }
  int getDebug() const { return file_.level; }

  /// Without std::ios_base::trunc the file must exist, without std::ios_base::out it is only read. Throws std::string if one is open,
  /// as QDP++.
  void open(const std::string& file, std::ios_base::openmode mode = std::ios_base::in | std::ios_base::out) {
    if (file_.is_open())
      throw std::string("MapObjectDisk: open \"" + file + "\": another file is open, close it first");
    file_.open(file, mode, user_data_);
  }
  bool fileExists(const std::string& file) const { return !io::MapFile::is_new(file, std::ios_base::in); }
  void close() { file_.close(); }

  /// A new value for a key that is there takes the place of the old one if it fits. 1 if no file is open.
  int insert(const K& key, const V& value) override {
    if (!file_.is_open()) return 1;
    file_.insert(io::bytes_of_key(key), [&](BinaryWriter& bin) { write(bin, value); });
    return 0;
  }
  /// 1 if the key is not there or no file is open; `value` then stays as it is.
  int get(const K& key, V& value) const override {
    if (!file_.is_open()) return 1;
    return file_.get(io::bytes_of_key(key), [&](BinaryReader& bin) { read(bin, value); }) ? 0 : 1;
  }
  bool exist(const K& key) const override { return file_.is_open() && file_.index().contains(io::bytes_of_key(key)); }
  void flush() override { file_.flush(); }
  unsigned int size() const override { return static_cast<unsigned int>(file_.index().size()); }
  /// Behind what `result` has.
  void keys(std::vector<K>& result) const override {
    if (!file_.is_open()) return;
    for (const auto& entry : file_.index()) result.push_back(io::key_of_bytes<K>(entry.first));
  }

  /// For the file that is opened next; 1 while one is open.
  int insertUserdata(const std::string& user_data) override {
    if (file_.is_open()) return 1;
    user_data_ = user_data;
    return 0;
  }
  /// 1 if no file is open.
  int getUserdata(std::string& user_data) const override {
    if (!file_.is_open()) return 1;
    user_data = user_data_;
    return 0;
  }

 private:
  mutable io::MapFile file_;
  std::string user_data_;
};

/// A key is looked for in one file after the other.
template <class K, class V>
class MapObjectDiskMultiple {
 public:
  MapObjectDiskMultiple() = default;
  MapObjectDiskMultiple(const MapObjectDiskMultiple&) = delete;
  MapObjectDiskMultiple& operator=(const MapObjectDiskMultiple&) = delete;

  void setDebug(int level) {
    level_ = level;
    for (auto& map : maps_) map->setDebug(level);
  }
  int getDebug() const { return level_; }

  void open(const std::vector<std::string>& files) {
    std::vector<std::unique_ptr<MapObjectDisk<K, V>>> maps;
    for (const std::string& file : files) {
      maps.push_back(std::make_unique<MapObjectDisk<K, V>>());
      maps.back()->setDebug(level_);
      maps.back()->open(file, std::ios_base::in);
    }
    maps_ = std::move(maps);
  }
  /// Whether all are there.
  bool fileExists(const std::vector<std::string>& files) const {
    for (const std::string& file : files)
      if (MapObjDiskEnv::checkForNewFile(file, std::ios_base::in)) return false;
    return true;
  }
  void close() { maps_.clear(); }
  void flush() {}

  /// Not 0 if no file has the key.
  int get(const K& key, V& value) const {
    int result = -1;
    for (const auto& map : maps_)
      if (result = map->get(key, value); result == 0) break;
    return result;
  }
  bool exist(const K& key) const {
    for (const auto& map : maps_)
      if (map->exist(key)) return true;
    return false;
  }
  /// Each key once.
  void keys(std::vector<K>& result) const {
    result.clear();
    std::unordered_set<std::string> seen;
    for (const auto& map : maps_) {
      std::vector<K> of_map;
      map->keys(of_map);
      for (const K& key : of_map)
        if (seen.insert(io::bytes_of_key(key)).second) result.push_back(key);
    }
  }
  /// That of the first file; -1 if there is none.
  int getUserdata(std::string& user_data) const { return maps_.empty() ? -1 : maps_[0]->getUserdata(user_data); }

 private:
  std::vector<std::unique_ptr<MapObjectDisk<K, V>>> maps_;
  int level_ = 0;
};

}  // namespace QDP
