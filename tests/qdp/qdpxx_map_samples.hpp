// The maps of QDP++ in files, as qdpxx_samples.hpp: one source for QDP++ and for here.
#pragma once

#include "qdpxx_samples.hpp"

namespace samples {

/// A key of two words and a text.
struct MapKey {
  int time = 0;
  std::string name;
};
inline void read(BinaryReader& bin, MapKey& key) {
  QDP::read(bin, key.time);
  readDesc(bin, key.name);
}
inline void write(BinaryWriter& bin, const MapKey& key) {
  QDP::write(bin, key.time);
  writeDesc(bin, key.name);
}

inline MapKey map_key(int n) {
  MapKey key;
  key.time = n;
  key.name = "key " + std::string(n, '+');
  return key;
}
inline multi1d<double> map_value(int n, int salt = 0) {
  multi1d<double> numbers(3);
  for (int i = 0; i < 3; ++i) numbers[i] = value<double>(n, i + salt);
  return numbers;
}

constexpr int kMapKeys = 20;

/// A file that was written, closed, opened again, changed and added to.
inline void write_map(const std::string& file) {
  {
    MapObjectDisk<MapKey, multi1d<double>> map;
    map.insertUserdata("<samples><n>1</n></samples>");
    map.open(file, std::ios_base::in | std::ios_base::out | std::ios_base::trunc);
    for (int n = 0; n < kMapKeys - 2; ++n) map.insert(map_key(n), map_value(n));
    map.insert(map_key(3), map_value(3, 50));
    map.close();
  }
  MapObjectDisk<MapKey, multi1d<double>> map;
  map.open(file);
  map.insert(map_key(5), map_value(5, 50));
  map.flush();
  map.close();
}
/// The same, closed without more.
inline void write_map_once(const std::string& file) {
  MapObjectDisk<MapKey, multi1d<double>> map;
  map.insertUserdata("once");
  map.open(file, std::ios_base::in | std::ios_base::out | std::ios_base::trunc);
  for (int n = 0; n < kMapKeys; ++n) map.insert(map_key(n), map_value(n));
  map.close();
}
/// Nothing but its header and user data.
inline void write_empty_map(const std::string& file) {
  MapObjectDisk<int, int> map;
  map.insertUserdata("");
  map.open(file, std::ios_base::in | std::ios_base::out | std::ios_base::trunc);
  map.close();
}

/// A lattice by time slices, and a whole one.
inline void write_slices(const std::string& file) {
  MapObjectDisk<int, TimeSliceIO<LatticeColorVectorF>> map;
  map.insertUserdata("slices");
  map.open(file, std::ios_base::in | std::ios_base::out | std::ios_base::trunc);
  LatticeColorVectorF x;
  fill<float>(x);
  for (int t = Layout::lattSize()[Nd - 1] - 1; t >= 0; --t) map.insert(t, TimeSliceIO<LatticeColorVectorF>(x, t));
  map.close();
}
inline void write_fields(const std::string& file) {
  MapObjectDisk<int, LatticeComplexD> map;
  map.insertUserdata("fields");
  map.open(file, std::ios_base::in | std::ios_base::out | std::ios_base::trunc);
  for (int n = 0; n < 2; ++n) {
    LatticeComplexD x;
    fill<double>(x, n);
    map.insert(n, x);
  }
  map.close();
}

}  // namespace samples
