#pragma once
// LIME, the container of SciDAC and ILDG files: a row of typed records.
//
// Record = header of 144 bytes, data, zero bytes up to a multiple of 8. Header, all numbers big-endian:
//   0 magic 0x456789AB | 4 version (16 bit, 1) | 6 flags (16 bit: 0x8000 message begins, 0x4000 message ends)
//   8 length of the data (64 bit) | 16 type, 128 characters, zero-filled
// Source: C. DeTar, "LIME: Lattice QCD Interchange Message Encapsulation", USQCD.

#include "jit/support/file.hpp"
#include "qdp/io/input_file.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace QDP::io {

struct LimeRecord {
  std::string type;
  std::uint64_t header_offset = 0;
  std::uint64_t data_offset = 0;
  std::uint64_t size = 0;
  bool message_begin = false;
  bool message_end = false;
};

/// True if the file starts with LIME's magic number.
bool is_lime_file(const InputFile& file);

/// Opens a file and checks every header, so a file cut short or with foreign bytes is refused before data are read.
/// Errors: jit::UserError with path, byte offset, expected and got. Missing padding after the last record is accepted.
class LimeReader {
 public:
  explicit LimeReader(const std::string& path);

  const std::string& path() const { return file_.path(); }
  const std::vector<LimeRecord>& records() const { return records_; }

  /// The record as text, without the zero bytes that some writers end it with. Meant for XML: 64 MiB at most.
  std::string text(const LimeRecord& record) const;
  /// Bytes [offset, offset + bytes) of the record's data.
  void read(const LimeRecord& record, std::uint64_t offset, void* to, std::size_t bytes) const;
  /// For those who read the data, which begin at record.data_offset, themselves. Throws if the record has not so many.
  const InputFile& file(const LimeRecord& record, std::uint64_t bytes) const;

 private:
  void require(const LimeRecord& record, std::uint64_t offset, std::uint64_t bytes) const;

  InputFile file_;
  std::vector<LimeRecord> records_;
};

/// Where a record stands in its message: SciDAC marks the first and the last record.
enum class LimePosition { first, middle, last, only };

/// Writes records to a file that appears at close(); see jit::AtomicFile. Errors: jit::FileError.
class LimeWriter {
 public:
  explicit LimeWriter(const std::string& path);

  const std::string& path() const { return path_; }

  /// Copies all records of an existing LIME file; only before the first record.
  void copy_from(const std::string& existing);

  void begin_record(const std::string& type, std::uint64_t size, LimePosition position);
  void write(const void* data, std::size_t bytes) { file_.write(data, bytes); }
  /// For those who append the data themselves.
  jit::AtomicFile& file() { return file_; }
  /// Pads. Throws jit::InternalError unless exactly the announced size was written.
  void end_record();

  void text_record(const std::string& type, const std::string& text, LimePosition position);

  /// Blocks until the file is on disk under its name. Without it nothing remains.
  void close();

  /// Bytes in the file of a record with `size` bytes of data.
  static std::uint64_t bytes_of_record(std::uint64_t size);

 private:
  std::string path_;
  jit::AtomicFile file_;
  std::string type_;
  std::uint64_t announced_ = 0;
  std::uint64_t begin_ = 0;  ///< of the data
};

}  // namespace QDP::io
