// BinaryWriter: numbers and strings as big-endian bytes, written by the primary process.
//
// The checksum is the CRC-32 of the bytes written since open, resetChecksum or the last seek, as they are in the file.
// Local writers write on every process, each for itself.
// Errors: jit::UserError if a file cannot be opened or written; a full disk may show only at flush or close.
#pragma once

#include <complex>
#include <cstddef>
#include <iosfwd>
#include <string>

#include "jit/support/owned.hpp"
#include "qdp/io/binary_reader.hpp"
#include "qdp/io/primary_file.hpp"
#include "qdp/util/byte_order.hpp"

namespace QDP {

class BinaryWriter {
 public:
  using pos_type = std::streampos;
  using off_type = std::streamoff;

  virtual ~BinaryWriter();

  virtual void flush() = 0;
  virtual bool isLocal() const { return false; }

  /// nmemb elements of `size` bytes, given in the byte order of this machine. What other processes pass is not used.
  void writeArray(const char* input, std::size_t size, std::size_t nmemb);
  /// The same; may be called by the primary process alone.
  void writeArrayPrimaryNode(const char* input, std::size_t size, std::size_t nmemb);

  /// A string with its length (int) before it.
  void writeDesc(const std::string& x);
  /// A string and a line end.
  void write(const std::string& x);
  void write(const char* x);
  template <io::BinaryNumber T>
  void write(const T& x) {
    writeArray(reinterpret_cast<const char*>(&x), sizeof(T), 1);
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

 protected:
  virtual QDPUtil::n_uint32_t& internalChecksum() = 0;
  virtual std::ostream& getOstream() = 0;
  virtual std::string name() const = 0;  ///< for messages

 private:
  bool writes_here() const;
};

class BinaryBufferWriter : public BinaryWriter {
 public:
  BinaryBufferWriter();
  explicit BinaryBufferWriter(const std::string& bytes);
  ~BinaryBufferWriter() override;

  /// Starts with `bytes`; what is written follows them.
  void open(const std::string& bytes);
  std::string str() const;             ///< the primary's bytes, everywhere (a local writer: its own)
  std::string strPrimaryNode() const;  ///< empty elsewhere
  void flush() override {}
  void clear();

 protected:
  QDPUtil::n_uint32_t& internalChecksum() override { return checksum_; }
  std::ostream& getOstream() override;
  std::string name() const override { return "binary buffer"; }

 private:
  QDPUtil::n_uint32_t checksum_ = 0;
  jit::Owned<std::ostringstream> stream_;
};

/// A buffer of this process alone: no call of it is collective.
class LocalBinaryBufferWriter : public BinaryBufferWriter {
 public:
  LocalBinaryBufferWriter() = default;
  explicit LocalBinaryBufferWriter(const std::string& bytes) { open(bytes); }
  bool isLocal() const override { return true; }
};

class BinaryFileWriter : public BinaryWriter {
 public:
  BinaryFileWriter();
  explicit BinaryFileWriter(const std::string& path);
  ~BinaryFileWriter() override;

  bool is_open() const { return file_.is_open(); }
  void open(const std::string& path);
  void close();
  void flush() override;

 protected:
  QDPUtil::n_uint32_t& internalChecksum() override { return checksum_; }
  std::ostream& getOstream() override;
  std::string name() const override { return file_.name(); }

 private:
  QDPUtil::n_uint32_t checksum_ = 0;
  io::PrimaryFile file_;
};

inline void writeDesc(BinaryWriter& bin, const std::string& x) { bin.writeDesc(x); }
inline void write(BinaryWriter& bin, const std::string& x) { bin.write(x); }
inline void write(BinaryWriter& bin, const char* x) { bin.write(x); }
/// By value: a class's `static const int n = 3;` need not be defined anywhere.
template <io::BinaryNumber T>
void write(BinaryWriter& bin, T x) {
  bin.write(x);
}
/// As int, as C++ converts it.
template <class T>
requires(std::is_enum_v<T> && std::is_convertible_v<T, int>) void write(BinaryWriter& bin, T x) {
  bin.write(static_cast<int>(x));
}
template <io::BinaryNumber T>
void write(BinaryWriter& bin, const std::complex<T>& x) {
  const T part[2] = {x.real(), x.imag()};
  bin.writeArray(reinterpret_cast<const char*>(part), sizeof(T), 2);
}
template <class T>
requires requires(BinaryWriter& bin, const T& x) { bin.write(x); }
BinaryWriter& operator<<(BinaryWriter& bin, const T& x) {
  bin.write(x);
  return bin;
}

}  // namespace QDP
