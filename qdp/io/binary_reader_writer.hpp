// BinaryReaderWriter: reading and writing of one binary object at one common position.
#pragma once

#include <ios>
#include <iosfwd>
#include <string>

#include "jit/support/owned.hpp"
#include "qdp/io/binary_reader.hpp"
#include "qdp/io/binary_writer.hpp"
#include "qdp/io/primary_file.hpp"

namespace QDP {

/// A read goes on where the last write ended and the other way round. One checksum counts both.
class BinaryReaderWriter : public BinaryReader, public BinaryWriter {
 public:
  using pos_type = std::streampos;
  using off_type = std::streamoff;

  bool fail() override { return BinaryReader::fail(); }
  QDPUtil::n_uint32_t getChecksum() override { return BinaryReader::getChecksum(); }
  void resetChecksum() override { internalChecksum() = 0; }
  pos_type currentPosition() override { return BinaryReader::currentPosition(); }
  void seek(pos_type position) override { BinaryReader::seek(position); }
  void seekBegin(off_type offset) override { BinaryReader::seekBegin(offset); }
  void seekRelative(off_type offset) override { BinaryReader::seekRelative(offset); }
  void seekEnd(off_type offset) override { BinaryReader::seekEnd(offset); }
  void rewind() override { BinaryReader::rewind(); }

 protected:
  QDPUtil::n_uint32_t& internalChecksum() override { return checksum_; }
  std::istream& getIstream() override;
  std::ostream& getOstream() override;
  std::string name() const override = 0;
  virtual std::iostream& getIOstream() = 0;

  enum class Last { read, write };
  Last last_ = Last::read;

 private:
  QDPUtil::n_uint32_t checksum_ = 0;
};

class BinaryBufferReaderWriter : public BinaryReaderWriter {
 public:
  BinaryBufferReaderWriter();
  explicit BinaryBufferReaderWriter(const std::string& bytes);
  ~BinaryBufferReaderWriter() override;

  /// Holds `bytes`, positioned at the first.
  void open(const std::string& bytes);
  std::string str() const;             ///< the primary's bytes, everywhere
  std::string strPrimaryNode() const;  ///< empty elsewhere
  void flush() override {}
  void clear();

 protected:
  std::iostream& getIOstream() override;
  std::string name() const override { return "binary buffer"; }

 private:
  jit::Owned<std::stringstream> stream_;
};

class BinaryFileReaderWriter : public BinaryReaderWriter {
 public:
  BinaryFileReaderWriter();
  /// The file must exist, unless mode has std::ios_base::trunc.
  explicit BinaryFileReaderWriter(const std::string& path,
                                  std::ios_base::openmode mode = std::ios_base::in | std::ios_base::out);
  ~BinaryFileReaderWriter() override;

  bool is_open() const { return file_.is_open(); }
  void open(const std::string& path, std::ios_base::openmode mode = std::ios_base::in | std::ios_base::out);
  void close();
  void flush() override;

 protected:
  std::iostream& getIOstream() override;
  std::string name() const override { return file_.name(); }

 private:
  io::PrimaryFile file_;
};

}  // namespace QDP
