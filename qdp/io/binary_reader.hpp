// BinaryReader: big-endian numbers and strings, read by the primary process and broadcast.
//
// The checksum is the CRC-32 of the bytes read since open, resetChecksum or the last seek, as they are in the file.
// Errors: jit::UserError with the name and position if the data end too early or a file cannot be opened.
#pragma once

#include <complex>
#include <cstddef>
#include <iosfwd>
#include <string>
#include <type_traits>

#include "jit/support/owned.hpp"
#include "qdp/io/primary_file.hpp"
#include "qdp/util/byte_order.hpp"

namespace QDP {

namespace io {

/// Numbers of binary streams, big-endian in their own size (bool and char: 1 byte).
template <class T>
concept BinaryNumber = std::is_arithmetic_v<T> && !std::is_same_v<T, long double>;

}  // namespace io

class BinaryReader {
 public:
  using pos_type = std::streampos;
  using off_type = std::streamoff;

  virtual ~BinaryReader();

  /// nmemb big-endian elements of `size` bytes, in the byte order of this machine, on every process.
  void readArray(char* output, std::size_t size, std::size_t nmemb);
  /// The same without the broadcast: for calls by the primary process alone.
  void readArrayPrimaryNode(char* output, std::size_t size, std::size_t nmemb);
  /// Little-endian elements; they do not count for the checksum.
  void readArrayLittleEndian(char* output, std::size_t size, std::size_t nmemb);
  void readArrayPrimaryNodeLittleEndian(char* output, std::size_t size, std::size_t nmemb);

  /// A string with its length (int) before it.
  void readDesc(std::string& result);
  /// A line; its end is taken and dropped. Throws if it has maxBytes characters or more.
  void read(std::string& result, std::size_t maxBytes);
  template <io::BinaryNumber T>
  void read(T& x) {
    T value{};
    readArray(reinterpret_cast<char*>(&value), sizeof(T), 1);
    x = value;  // stays as it is if the data are cut short
  }

  virtual bool fail();
  virtual QDPUtil::n_uint32_t getChecksum();
  virtual void resetChecksum();

  virtual pos_type currentPosition();
  virtual void seek(pos_type position);
  virtual void seekBegin(off_type offset);
  virtual void seekRelative(off_type offset);
  virtual void seekEnd(off_type offset);  ///< offset bytes before the end
  virtual void rewind();

  /// Throws if fewer than `count` bytes are left: a wrong size is found before memory is asked for it. Collective.
  void require(std::size_t count);

 protected:
  virtual QDPUtil::n_uint32_t& internalChecksum() = 0;
  virtual std::istream& getIstream() = 0;
  virtual std::string name() const = 0;  ///< for messages

 private:
  void read_bytes(char* output, std::size_t bytes);
};

class BinaryBufferReader : public BinaryReader {
 public:
  BinaryBufferReader();
  explicit BinaryBufferReader(const std::string& bytes);
  ~BinaryBufferReader() override;

  void open(const std::string& bytes);
  std::string str() const;             ///< the primary's bytes, everywhere
  std::string strPrimaryNode() const;  ///< empty elsewhere
  void clear();

 protected:
  QDPUtil::n_uint32_t& internalChecksum() override { return checksum_; }
  std::istream& getIstream() override;
  std::string name() const override { return "binary buffer"; }

 private:
  QDPUtil::n_uint32_t checksum_ = 0;
  jit::Owned<std::istringstream> stream_;
};

class BinaryFileReader : public BinaryReader {
 public:
  BinaryFileReader();
  explicit BinaryFileReader(const std::string& path);
  ~BinaryFileReader() override;

  bool is_open() const { return file_.is_open(); }
  void open(const std::string& path);
  void close();

 protected:
  QDPUtil::n_uint32_t& internalChecksum() override { return checksum_; }
  std::istream& getIstream() override;
  std::string name() const override { return file_.name(); }

 private:
  QDPUtil::n_uint32_t checksum_ = 0;
  io::PrimaryFile file_;
};

inline void readDesc(BinaryReader& bin, std::string& x) { bin.readDesc(x); }
inline void read(BinaryReader& bin, std::string& x, std::size_t maxBytes) { bin.read(x, maxBytes); }
template <io::BinaryNumber T>
void read(BinaryReader& bin, T& x) {
  bin.read(x);
}
template <io::BinaryNumber T>
BinaryReader& operator>>(BinaryReader& bin, T& x) {
  bin.read(x);
  return bin;
}
template <io::BinaryNumber T>
void read(BinaryReader& bin, std::complex<T>& x) {
  T part[2];
  bin.readArray(reinterpret_cast<char*>(part), sizeof(T), 2);
  x = {part[0], part[1]};
}

}  // namespace QDP
