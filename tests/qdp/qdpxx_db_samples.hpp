// FileDB files, as qdpxx_samples.hpp: one source for QDP++ with FileDB and for here. The files hold the same, their bytes differ.
#pragma once

#include "qdpxx_map_samples.hpp"

namespace samples {

using namespace FILEDB;

/// A key and data as Chroma makes them of types that can be written.
class DbKey : public DBKey {
 public:
  MapKey key;
  DbKey() {}
  explicit DbKey(const MapKey& k) : key(k) {}
  unsigned short serialID() const { return 456; }
  void writeObject(std::string& output) const {
    BinaryBufferWriter bin;
    write(bin, key);
    output = bin.strPrimaryNode();
  }
  void readObject(const std::string& input) {
    BinaryBufferReader bin(input);
    read(bin, key);
  }
  int hasHashFunc() const { return 0; }
  int hasCompareFunc() const { return 0; }
  static unsigned int hash(const void*, unsigned int) { return 0; }
  static int compare(const FFDB_DBT*, const FFDB_DBT*) { return 0; }
};

class DbData : public DBData {
 public:
  multi1d<double> data;
  DbData() {}
  explicit DbData(const multi1d<double>& d) : data(d) {}
  unsigned short serialID() const { return 123; }
  void writeObject(std::string& output) const {
    BinaryBufferWriter bin;
    QDP::write(bin, data);
    output = bin.strPrimaryNode();
  }
  void readObject(const std::string& input) {
    BinaryBufferReader bin(input);
    QDP::read(bin, data);
  }
};

inline MapKey db_key(int n) {
  MapKey key;
  key.time = n;
  key.name = "key " + std::string(n % 13, '+');
  return key;
}
/// Of one to some thousand numbers: less than a page, and many pages.
inline multi1d<double> db_value(int n, int salt = 0) {
  multi1d<double> numbers(1 + n % 5 + (n % 11 == 3 ? 100 * (n % 7) : 0));
  for (int i = 0; i < numbers.size(); ++i) numbers[i] = value<double>(n, i + salt);
  return numbers;
}

/// A new file of pages that are small, so that keys and data need many.
inline void write_db(const std::string& file, int keys, int page_size, int buckets) {
  BinaryStoreDB<DbKey, DbData> db;
  db.setPageSize(page_size);
  db.setNumberBuckets(buckets);
  db.setMaxUserInfoLen(1000);
  db.open(file, O_RDWR | O_CREAT | O_TRUNC, 0664);
  db.insertUserdata("<samples>" + std::string(700, '.') + "</samples>");
  for (int n = 0; n < keys; ++n) db.insert(DbKey(db_key(n)), DbData(db_value(n)));
  for (int n = 0; n < keys; n += 4) db.insert(DbKey(db_key(n)), DbData(db_value(n, 50)));
  db.close();
}
/// One that is there gets more keys, and other data for some.
inline void add_to_db(const std::string& file, int from, int to) {
  BinaryStoreDB<DbKey, DbData> db;
  db.open(file, O_RDWR, 0664);
  for (int n = from; n < to; ++n) db.insert(DbKey(db_key(n)), DbData(db_value(n)));
  for (int n = from; n < to; n += 4) db.insert(DbKey(db_key(n)), DbData(db_value(n, 50)));
  db.close();
}
/// How many of the keys of write_db (first at 0) and add_to_db are missing or have other data, or are there beside them.
inline int wrong_in_db(const std::string& file, int keys, int first = 0) {
  BinaryStoreDB<DbKey, DbData> db;
  db.open(file, O_RDONLY, 0664);
  int count = 0;
  for (int n = 0; n < keys; ++n) {
    DbData x;
    const bool changed = n < first ? n % 4 == 0 : (n - first) % 4 == 0;
    const multi1d<double> expected = db_value(n, changed ? 50 : 0);
    bool same = db.exist(DbKey(db_key(n))) && db.get(DbKey(db_key(n)), x) == 0 && x.data.size() == expected.size();
    for (int i = 0; same && i < expected.size(); ++i) same = x.data[i] == expected[i];
    count += !same;
  }
  DbData x;
  count += db.exist(DbKey(db_key(keys))) || db.get(DbKey(db_key(keys)), x) == 0;
  std::vector<DbKey> all;
  std::vector<DbData> values;
  db.keysAndData(all, values);
  count += int(all.size()) != keys || int(values.size()) != keys;
  std::string text;
  db.getUserdata(text);
  count += text != "<samples>" + std::string(700, '.') + "</samples>";
  db.close();
  return count;
}

}  // namespace samples
