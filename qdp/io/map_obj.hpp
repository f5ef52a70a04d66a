// MapObject: a map from keys to values that may live anywhere. MapObjectMemory keeps it in memory, MapObjectNull drops
// everything. Functions that return int give 0 for success.
#pragma once

#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "jit/support/error.hpp"
#include "qdp/io/binary_containers.hpp"
#include "qdp/io/xml_containers.hpp"

namespace QDP {

namespace io {

/// What write(BinaryWriter&, key) gives: by it keys are compared, so they need no order and no hash.
template <class K>
std::string bytes_of_key(const K& key) {
  LocalBinaryBufferWriter bin;  // local: a look-up is not collective
  write(bin, key);
  return bin.str();
}
/// Collective.
template <class K>
K key_of_bytes(const std::string& bytes) {
  BinaryBufferReader bin(bytes);
  K key{};
  read(bin, key);
  return key;
}

}  // namespace io

template <class K, class V>
class MapObject {
 public:
  virtual ~MapObject() = default;

  virtual bool exist(const K& key) const = 0;
  /// Replaces the value of a key that is there.
  virtual int insert(const K& key, const V& value) = 0;
  /// 1 if the key is not there; `value` then stays as it is.
  virtual int get(const K& key, V& value) const = 0;
  virtual void flush() = 0;
  virtual unsigned int size() const = 0;
  virtual void keys(std::vector<K>& result) const = 0;
  virtual int insertUserdata(const std::string& user_data) = 0;
  virtual int getUserdata(std::string& user_data) const = 0;
};

/// A map in memory.
template <class K, class V>
class MapObjectMemory : public MapObject<K, V> {
 public:
  using key_type = K;
  using mapped_type = V;
  using value_type = std::pair<K, V>;
  using MapType_t = std::unordered_map<std::string, value_type>;

  class const_iterator {
   public:
    explicit const_iterator(typename MapType_t::const_iterator position) : position_(position) {}
    const_iterator& operator++() { return ++position_, *this; }
    const_iterator operator++(int) { return const_iterator(position_++); }
    const value_type& operator*() const { return position_->second; }
    const value_type* operator->() const { return &position_->second; }
    friend bool operator==(const const_iterator&, const const_iterator&) = default;

   private:
    typename MapType_t::const_iterator position_;
  };

  int insert(const K& key, const V& value) override {
    map_.insert_or_assign(io::bytes_of_key(key), value_type(key, value));
    return 0;
  }
  int insert(const value_type& pair) { return insert(pair.first, pair.second); }
  template <class Iterator>
  requires requires(Iterator i) {
    *i;
    ++i;
  } int insert(Iterator first, Iterator last) {
    for (; first != last; ++first) insert(first->first, first->second);
    return 0;
  }

  int get(const K& key, V& value) const override {
    const auto found = map_.find(io::bytes_of_key(key));
    if (found == map_.end()) return 1;
    value = found->second.second;
    return 0;
  }
  /// Throws jit::UserError if the key is not there.
  const V& operator[](const K& key) const { return at(map_, key); }
  V& operator[](const K& key) { return at(map_, key); }

  bool exist(const K& key) const override { return map_.contains(io::bytes_of_key(key)); }
  void erase(const K& key) { map_.erase(io::bytes_of_key(key)); }
  void clear() { map_.clear(); }
  void flush() override {}
  unsigned int size() const override { return static_cast<unsigned int>(map_.size()); }

  void keys(std::vector<K>& result) const override {
    result.clear();
    for (const auto& entry : map_) result.push_back(entry.second.first);
  }
  virtual void keysAndValues(std::vector<K>& keys, std::vector<V>& values) const {
    keys.clear();
    values.clear();
    for (const auto& entry : map_) {
      keys.push_back(entry.second.first);
      values.push_back(entry.second.second);
    }
  }
  const_iterator begin() const { return const_iterator(map_.begin()); }
  const_iterator end() const { return const_iterator(map_.end()); }

  int insertUserdata(const std::string& user_data) override {
    user_data_ = user_data;
    return 0;
  }
  int getUserdata(std::string& user_data) const override {
    user_data = user_data_;
    return 0;
  }

 private:
  template <class Map>
  static auto& at(Map& map, const K& key) {
    const auto found = map.find(io::bytes_of_key(key));
    if (found == map.end())
      throw jit::UserError({.what = "MapObjectMemory: look-up",
                            .expected = "a key of the map",
                            .got = "another one",
                            .what_now = "ask exist(key) first, or use get"});
    return found->second.second;
  }

  MapType_t map_;
  std::string user_data_;
};

template <class K, class V> using MapObjectMemoryIterator = typename MapObjectMemory<K, V>::const_iterator;

/// Takes everything and has nothing.
template <class K, class V>
class MapObjectNull : public MapObject<K, V> {
 public:
  bool exist(const K&) const override { return false; }
  int insert(const K&, const V&) override { return 1; }
  int get(const K&, V&) const override { return 1; }
  void flush() override {}
  unsigned int size() const override { return 0; }
  void keys(std::vector<K>&) const override {}
  int insertUserdata(const std::string&) override { return 0; }
  int getUserdata(std::string&) const override { return 0; }
};

/// elem with Key and Val, as std::map.
template <class K, class V>
void read(XMLReader& xml, const std::string& path, MapObjectMemory<K, V>& map) {
  XMLReader array(xml, path);
  const int n = array.count("elem");
  for (int i = 0; i < n; ++i) {
    XMLReader element(array, xml::elem_path(i));
    K key{};
    V value{};
    read(element, "Key", key);
    read(element, "Val", value);
    map.insert(key, value);
  }
}

template <class K, class V>
void write(XMLWriter& xml, const std::string& tag, const MapObjectMemory<K, V>& map) {
  push(xml, tag);
  for (const auto& [key, value] : map) {
    push(xml, "elem");
    write(xml, "Key", key);
    write(xml, "Val", value);
    pop(xml);
  }
  pop(xml);
}

}  // namespace QDP
