// Measurements by key in a file, with the interface of QDP++'s qdp_db.h and of the classes of FileDB below it.
//
//   BinaryStoreDB<SerialDBKey<K>, SerialDBData<V>> db;   // classes of the program, derived from FILEDB::DBKey and DBData
//   db.open("corr.sdb", O_RDWR | O_CREAT, 0664);
//   db.insert(key, value);
//
// Files are FileDB's (hash_file.hpp): it reads what is written here and the other way round. Errors are thrown as jit::UserError; functions
// that return int give 0 for success. Of FileDB, what qdp_db.h needs is here: keys with hash functions of their own, cursors, several files
// as one and lists of configurations are not.
#pragma once

#include <fcntl.h>

#include <exception>
#include <memory>
#include <string>
#include <vector>

#include "jit/support/error.hpp"
#include "qdp/io/hash_file.hpp"
#include "qdp/util/primary.hpp"

namespace FILEDB {

/// What FileDB hands to functions that hash and compare keys.
struct FFDB_DBT {
  void* data = nullptr;
  long size = 0;
};

class SerializeException : public std::exception {
 public:
  SerializeException(const std::string& cls, const std::string& reason) : msg_(cls + ": " + reason) {}
  const char* what() const noexcept override { return msg_.c_str(); }

 protected:
  std::string msg_;
};

/// An object that becomes bytes and comes back from them.
class Serializable {
 public:
  virtual ~Serializable() = default;
  virtual unsigned short serialID() const = 0;
  virtual void writeObject(std::string& output) const = 0;
  virtual void readObject(const std::string& input) = 0;

 protected:
  Serializable() = default;
};

class DBKey : public Serializable {
 public:
  /// Keys with functions of their own are refused where a file is opened.
  virtual int hasHashFunc() const = 0;
  virtual int hasCompareFunc() const = 0;
};

class DBData : public Serializable {};

/// A file of one process; no call is collective. Copies share the file. Before open(): the sizes of a new file; functions give -1 then.
template <class K, class D>
class ConfDataStoreDB {
 public:
  virtual ~ConfDataStoreDB() = default;

  virtual void setCacheSize(unsigned int bytes) { store_->options.cache = bytes; }
  virtual void setCacheSizeMB(unsigned int megabytes) { store_->options.cache = std::size_t{megabytes} << 20; }
  /// A power of two from 512 to 2^20.
  virtual void setPageSize(unsigned int bytes) { store_->options.page_size = bytes; }
  virtual void setNumberBuckets(unsigned int buckets) { store_->options.buckets = buckets; }
  /// Pages are never moved here.
  virtual void enablePageMove() {}
  virtual void disablePageMove() {}
  virtual void setMaxUserInfoLen(unsigned int bytes) { store_->options.user_info = bytes + 1; }
  virtual unsigned int getMaxUserInfoLen() const {
    return store_->file ? store_->file->most_user_info() : store_->options.user_info;
  }
  virtual void setMaxNumberConfigs(unsigned int configs) { store_->options.configs = configs; }
  virtual unsigned int getMaxNumberConfigs() const {
    return store_->file ? store_->file->configs() : store_->options.configs;
  }

  virtual bool fileExists(const std::string& file) const { return QDP::io::file_exists(file); }
  /// `open_flags` and `mode` as open(2) has them.
  virtual int open(const std::string& file, int open_flags, int mode) {
    const K key;
    if (key.hasHashFunc() != 0 || key.hasCompareFunc() != 0)
      throw jit::UserError({.what = "FileDB: open \"" + file + "\"",
                            .expected = "keys whose hasHashFunc() and hasCompareFunc() give 0",
                            .got = "keys with functions of their own"});
    store_->file.reset();
    store_->file = std::make_unique<QDP::io::HashFile>(file, open_flags, mode, store_->options);
    return 0;
  }
  virtual int close() {
    if (!store_->file) return 0;
    const auto file = std::move(store_->file);
    file->flush();
    return 0;
  }

  int insert(const K& key, const D& data) { return insertBinary(bytes_of(key), bytes_of(data)); }
  int insertBinary(const std::string& key, const std::string& data) {
    if (!store_->file) return -1;
    store_->file->put(key, data);
    return 0;
  }
  /// 1 if the key is not there.
  int get(const K& key, D& data) {
    std::string bytes;
    const int result = getBinary(bytes_of(key), bytes);
    if (result == 0) data.readObject(bytes);
    return result;
  }
  int getBinary(const std::string& key, std::string& data) {
    if (!store_->file) return -1;
    return store_->file->get(key, data) ? 0 : 1;
  }
  virtual bool exist(const K& key) { return existBinary(bytes_of(key)); }
  bool existBinary(const std::string& key) { return store_->file && store_->file->contains(key); }

  /// In the order of the file, behind what the vectors have.
  void keys(std::vector<K>& keys) {
    visit([&](const std::string& key) { keys.push_back(from_bytes<K>(key)); });
  }
  virtual void binaryKeys(std::vector<std::string>& keys) {
    visit([&](const std::string& key) { keys.push_back(key); });
  }
  virtual void keysAndData(std::vector<K>& keys, std::vector<D>& values) {
    visit([&](const std::string& key) {
      keys.push_back(from_bytes<K>(key));
      values.push_back(from_bytes<D>(data_of(key)));
    });
  }
  virtual void binaryKeysAndData(std::vector<std::string>& keys, std::vector<std::string>& values) {
    visit([&](const std::string& key) {
      keys.push_back(key);
      values.push_back(data_of(key));
    });
  }

  virtual void flush() {
    if (store_->file) store_->file->flush();
  }
  /// Of the open file.
  virtual std::string storageName() const { return store_->file ? store_->file->path() : ""; }
  virtual int insertUserdata(const std::string& user_data) {
    if (!store_->file) return -1;
    store_->file->set_user_info(user_data);
    return 0;
  }
  virtual int getUserdata(std::string& user_data) {
    if (!store_->file) return -1;
    user_data = store_->file->user_info();
    return 0;
  }

 private:
  struct Store {
    QDP::io::HashFileOptions options;
    std::unique_ptr<QDP::io::HashFile> file;
  };

  template <class X> static std::string bytes_of(const X& x) {
    std::string bytes;
    x.writeObject(bytes);
    return bytes;
  }
  template <class X> static X from_bytes(const std::string& bytes) {
    X x;
    x.readObject(bytes);
    return x;
  }
  std::string data_of(const std::string& key) {
    std::string bytes;
    store_->file->get(key, bytes);
    return bytes;
  }
  template <class Visit> void visit(const Visit& visit_key) {
    if (store_->file) store_->file->for_each_key(visit_key);
  }

  std::shared_ptr<Store> store_ = std::make_shared<Store>();
};

}  // namespace FILEDB

namespace QDP {

inline constexpr int db_cachesize = 50 * 1024 * 1024;  ///< bytes
inline constexpr int db_pagesize = 64 * 1024;          ///< bytes

namespace detail {

/// A store, and what is set before it is opened: on each rank alike.
template <class K, class D>
class StoreSettings {
 public:
  virtual ~StoreSettings() = default;

  virtual void setCacheSize(const unsigned int bytes) { db_.setCacheSize(bytes); }
  virtual void setCacheSizeMB(const unsigned int megabytes) { db_.setCacheSizeMB(megabytes); }
  virtual void setPageSize(const unsigned int bytes) { db_.setPageSize(bytes); }
  virtual void setNumberBuckets(const unsigned int buckets) { db_.setNumberBuckets(buckets); }
  virtual void enablePageMove() { db_.enablePageMove(); }
  virtual void disablePageMove() { db_.disablePageMove(); }
  virtual void setMaxUserInfoLen(unsigned int bytes) { db_.setMaxUserInfoLen(bytes); }
  virtual void setMaxNumberConfigs(unsigned int configs) { db_.setMaxNumberConfigs(configs); }

 protected:
  static void must(int result, const char* what) {
    if (result != 0)
      throw jit::UserError({.what = what, .expected = "an open file", .got = "none", .what_now = "call open first"});
  }
  FILEDB::ConfDataStoreDB<K, D> db_;
};

}  // namespace detail

/// A file that one process uses for itself: no call is collective, as far as those of K and D are not.
template <class K, class D>
class LocalBinaryStoreDB : public detail::StoreSettings<K, D> {
  using StoreSettings = detail::StoreSettings<K, D>;
  using StoreSettings::db_;

 public:
  explicit LocalBinaryStoreDB(bool do_init = false) {
    if (!do_init) return;
    db_.setCacheSize(db_cachesize);
    db_.setMaxNumberConfigs(1);
  }
  virtual ~LocalBinaryStoreDB() = default;

  virtual unsigned int getMaxUserInfoLen() const { return db_.getMaxUserInfoLen(); }
  virtual unsigned int getMaxNumberConfigs() const { return db_.getMaxNumberConfigs(); }

  virtual bool fileExists(const std::string& file) const { return db_.fileExists(file); }
  virtual void open(const std::string& file, int open_flags, int mode) { db_.open(file, open_flags, mode); }
  virtual void close() { db_.close(); }

  bool exist(const K& key) { return db_.exist(key); }
  void insert(const K& key, const D& data) { must(db_.insert(key, data)); }
  void insertBinary(const std::string& key, const std::string& data) { must(db_.insertBinary(key, data)); }
  int get(const K& key, D& data) { return db_.get(key, data); }
  int getBinary(const std::string& key, std::string& data) { return db_.getBinary(key, data); }
  virtual void keys(std::vector<K>& keys_) { db_.keys(keys_); }
  virtual void keysAndData(std::vector<K>& keys_, std::vector<D>& values_) { db_.keysAndData(keys_, values_); }
  virtual void binaryKeysAndData(std::vector<std::string>& keys_, std::vector<std::string>& values_) {
    db_.binaryKeysAndData(keys_, values_);
  }

  virtual void flush() { db_.flush(); }
  virtual std::string storageName() const { return db_.storageName(); }
  virtual void insertUserdata(const std::string& user_data) { must(db_.insertUserdata(user_data)); }
  virtual void getUserdata(std::string& user_data) { must(db_.getUserdata(user_data)); }

 private:
  static void must(int result) { StoreSettings::must(result, "LocalBinaryStoreDB"); }
};

/// A file of the whole job: the primary has it, all calls are collective, and what is read arrives on every rank (QDP++ stops there).
template <class K, class D>
class BinaryStoreDB : public detail::StoreSettings<K, D> {
  using StoreSettings = detail::StoreSettings<K, D>;
  using StoreSettings::db_;

 public:
  BinaryStoreDB() {
    db_.setCacheSize(db_cachesize);
    db_.setMaxNumberConfigs(1);
  }
  /// Completes the file, without a word to other ranks.
  virtual ~BinaryStoreDB() = default;

  virtual unsigned int getMaxUserInfoLen() const {
    return io::once([&] { return db_.getMaxUserInfoLen(); });
  }
  virtual unsigned int getMaxNumberConfigs() const {
    return io::once([&] { return db_.getMaxNumberConfigs(); });
  }

  virtual bool fileExists(const std::string& file) const {
    return io::once([&] { return db_.fileExists(file); });
  }
  virtual void open(const std::string& file, int open_flags, int mode) {
    io::on_primary([&] { db_.open(file, open_flags, mode); });
  }
  virtual void close() {
    io::on_primary([&] { db_.close(); });
  }

  // Keys and data are made into bytes on every rank, since that may be collective.
  bool exist(const K& key) {
    const std::string of_key = bytes_of(key);
    return io::once([&] { return db_.existBinary(of_key); });
  }
  void insert(const K& key, const D& data) {
    const std::string of_key = bytes_of(key), of_data = bytes_of(data);
    insertBinary(of_key, of_data);
  }
  /// The primary's strings count.
  void insertBinary(const std::string& key, const std::string& data) {
    io::on_primary([&] { must(db_.insertBinary(key, data)); });
  }
  int get(const K& key, D& data) {
    std::string bytes;
    const int result = getBinary(bytes_of(key), bytes);
    if (result == 0) data.readObject(bytes);
    return result;
  }
  int getBinary(const std::string& key, std::string& data) {
    std::string found;
    const int result = io::once([&] { return db_.getBinary(key, found); });
    if (result != 0) return result;
    io::broadcast(found);
    data = std::move(found);
    return 0;
  }
  virtual void keys(std::vector<K>& keys_) {
    std::vector<std::string> texts;
    io::on_primary([&] { db_.binaryKeys(texts); });
    io::broadcast(texts);
    append(keys_, texts);
  }
  virtual void keysAndData(std::vector<K>& keys_, std::vector<D>& values_) {
    std::vector<std::string> of_keys, of_values;
    binaryKeysAndData(of_keys, of_values);
    append(keys_, of_keys);
    append(values_, of_values);
  }
  virtual void binaryKeysAndData(std::vector<std::string>& keys_, std::vector<std::string>& values_) {
    std::vector<std::string> of_keys, of_values;
    io::on_primary([&] { db_.binaryKeysAndData(of_keys, of_values); });
    io::broadcast(of_keys);
    io::broadcast(of_values);
    keys_.insert(keys_.end(), of_keys.begin(), of_keys.end());
    values_.insert(values_.end(), of_values.begin(), of_values.end());
  }

  virtual void flush() {
    io::on_primary([&] { db_.flush(); });
  }
  virtual std::string storageName() const {
    std::string name;
    io::on_primary([&] { name = db_.storageName(); });
    io::broadcast(name);
    return name;
  }
  virtual void insertUserdata(const std::string& user_data) {
    io::on_primary([&] { must(db_.insertUserdata(user_data)); });
  }
  virtual void getUserdata(std::string& user_data) {
    std::string text;
    io::on_primary([&] { must(db_.getUserdata(text)); });
    io::broadcast(text);
    user_data = std::move(text);
  }

 private:
  static void must(int result) { StoreSettings::must(result, "BinaryStoreDB"); }
  template <class X> static std::string bytes_of(const X& x) {
    std::string bytes;
    x.writeObject(bytes);
    return bytes;
  }
  template <class X> static void append(std::vector<X>& to, const std::vector<std::string>& texts) {
    for (const std::string& text : texts) {
      X x;
      x.readObject(text);
      to.push_back(std::move(x));
    }
  }
};

}  // namespace QDP
