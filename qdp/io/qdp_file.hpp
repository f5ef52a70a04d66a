// Record files of fields, scalars and bytes with user XML: QDPFileReader and QDPFileWriter, in the SciDAC format.
//
//   XMLBufferWriter file_xml, record_xml;  push(file_xml, "gauge"); ...
//   QDPFileWriter out(file_xml, "cfg.lime", QDPIO_SINGLEFILE, QDPIO_SERIAL);
//   write(out, record_xml, u);             // multi1d<LatticeColorMatrix>: an ILDG record as well
//   close(out);
//
// A file appears when it is closed, all or nothing. Records are read in the order they were written; precision converts.
#pragma once

#include <string>

#include "jit/support/owned.hpp"
#include "qdp/io/binary.hpp"
#include "qdp/io/site_values.hpp"
#include "qdp/io/xml.hpp"
#include "qdp/types/typedefs.hpp"

namespace QDP {

namespace io {
struct ReadReport;
}

enum QDP_serialparallel_t { QDPIO_SERIAL, QDPIO_PARALLEL };
enum QDP_volfmt_t { QDPIO_SINGLEFILE, QDPIO_MULTIFILE, QDPIO_PARTFILE };
enum QDP_filemode_t { QDPIO_CREATE, QDPIO_OPEN, QDPIO_APPEND };
enum QDP_iostate_t { QDPIO_goodbit = 0x0000, QDPIO_eofbit = 0x0001, QDPIO_failbit = 0x0010, QDPIO_badbit = 0x0100 };

namespace detail {
/// One record in memory: fields of equal shape, or words.
struct RecordTarget {
  Shape shape;
  std::vector<jit::Field*> fields;  ///< a field record
  void* words = nullptr;            ///< or a global one
  std::size_t count = 0;            ///< objects of `shape` in it
  bool array = false;               ///< of fields or scalars, however many
};
template <class T> RecordTarget target(OLattice<T>& x) { return {shape_of<T>, {x.field().get()}}; }
template <class T> RecordTarget target(multi1d<OLattice<T>>& x) {
  RecordTarget t{shape_of<T>, {}};
  t.array = true;
  for (int i = 0; i < x.size(); ++i) t.fields.push_back(x[i].field().get());
  return t;
}
template <class T> RecordTarget target(OScalar<T>& x) { return {shape_of<T>, {}, &x, 1}; }
template <class T> RecordTarget target(multi1d<OScalar<T>>& x) {
  return {shape_of<T>, {}, x.size() > 0 ? &x[0] : nullptr, static_cast<std::size_t>(x.size()), true};
}
template <class X> RecordTarget source(const X& x) { return target(const_cast<X&>(x)); }
}  // namespace detail

class QDPFileReader {
 public:
  QDPFileReader();
  QDPFileReader(XMLReader& xml, const std::string& path, QDP_serialparallel_t serpar);
  ~QDPFileReader();
  /// Reads everything but the data. Throws jit::UserError for files that are missing, damaged or of another lattice.
  void open(XMLReader& xml, const std::string& path, QDP_serialparallel_t serpar);
  void close();
  bool is_open() const { return file_ != nullptr; }
  /// The checksum stored with the last record is not that of the data, or cannot be read. The data have been delivered nevertheless (there
  /// are files of other programs with wrong ones); a warning was printed.
  bool bad() const { return state_ & QDPIO_badbit; }
  /// The last record had no checksum to compare with.
  bool fail() const { return state_ & QDPIO_failbit; }
  bool eof() const;
  void clear(QDP_iostate_t state = QDPIO_goodbit) { state_ = state; }
  /// Of the last record: the checksum of its data as computed, "suma sumb" in hexadecimal, and how it compares with the
  /// stored one: "verified", "absent", or "wrong: ...". Empty before the first and of one that was skipped.
  const std::string& checksum() const { return checksum_; }
  const std::string& verdict() const { return verdict_; }

  /// The next record. Throws jit::UserError if the record is of another type or size, or truncated. Sets bad() and fail().
  template <class T> void read(XMLReader& xml, OLattice<T>& x) { read_record(xml, detail::target(x)); }
  template <class T> void read(XMLReader& xml, OScalar<T>& x) { read_record(xml, detail::target(x)); }
  /// An array takes the length of the record.
  template <class T> void read(XMLReader& xml, multi1d<OLattice<T>>& x) {
    x.resize(next_count(detail::shape_of<T>));
    read_record(xml, detail::target(x));
  }
  template <class T> void read(XMLReader& xml, multi1d<OScalar<T>>& x) {
    x.resize(next_count(detail::shape_of<T>));
    read_record(xml, detail::target(x));
  }
  void read(XMLReader& xml, BinaryBufferReader& bytes);
  /// Skips a record, keeping its XML.
  void read(XMLReader& xml);

 private:
  void read_record(XMLReader& xml, const detail::RecordTarget& to);
  int next_count(detail::Shape shape) const;
  void note(const io::ReadReport* report);
  struct File;
  jit::Owned<File> file_;
  int state_ = QDPIO_goodbit;
  std::string checksum_, verdict_;
};

class QDPFileWriter {
 public:
  QDPFileWriter();
  QDPFileWriter(XMLBufferWriter& xml, const std::string& path, QDP_volfmt_t volfmt, QDP_serialparallel_t serpar,
                QDP_filemode_t mode = QDPIO_CREATE, const std::string& data_LFN = "");
  QDPFileWriter(XMLBufferWriter& xml, const std::string& path, QDP_volfmt_t volfmt, QDP_serialparallel_t serpar,
                const std::string& data_LFN)
      : QDPFileWriter(xml, path, volfmt, serpar, QDPIO_CREATE, data_LFN) {}
  ~QDPFileWriter();
  void open(XMLBufferWriter& xml, const std::string& path, QDP_volfmt_t volfmt, QDP_serialparallel_t serpar,
            QDP_filemode_t mode = QDPIO_CREATE, const std::string& data_LFN = "");
  /// The file appears now. Throws jit::FileError if the disk does not take it; the old file is then untouched.
  void close();
  bool is_open() const { return file_ != nullptr; }
  bool bad() const { return false; }
  void clear(QDP_iostate_t = QDPIO_goodbit) {}
  /// The checksum stored with the last field, "suma sumb" in hexadecimal.
  const std::string& checksum() const { return checksum_; }

  template <class X> void write(XMLBufferWriter& xml, const X& x) { write_record(xml, detail::source(x)); }
  void write(XMLBufferWriter& xml, BinaryBufferWriter& bytes);
  /// The box lower <= x <= upper of a field.
  template <class X> void write(XMLBufferWriter& xml, const X& x, const multi1d<int>& lower,
                                const multi1d<int>& upper) {
    write_record(xml, detail::source(x), &lower, &upper);
  }

 private:
  void write_record(XMLBufferWriter& xml, const detail::RecordTarget& from, const multi1d<int>* lower = nullptr,
                    const multi1d<int>* upper = nullptr);
  struct File;
  jit::Owned<File> file_;
  std::string checksum_;
  int exceptions_ = 0;  // in flight when the file was opened
};

inline void open(QDPFileReader& f, XMLReader& xml, const std::string& path, QDP_serialparallel_t s) {
  f.open(xml, path, s);
}
inline void close(QDPFileReader& f) { f.close(); }
inline bool is_open(QDPFileReader& f) { return f.is_open(); }
inline bool bad(QDPFileReader& f) { return f.bad(); }
inline bool eof(QDPFileReader& f) { return f.eof(); }
template <class X> void read(QDPFileReader& f, XMLReader& xml, X& x) { f.read(xml, x); }
inline void open(QDPFileWriter& f, XMLBufferWriter& xml, const std::string& path, QDP_volfmt_t v,
                 QDP_serialparallel_t s, QDP_filemode_t m = QDPIO_CREATE) {
  f.open(xml, path, v, s, m);
}
inline void close(QDPFileWriter& f) { f.close(); }
inline bool is_open(QDPFileWriter& f) { return f.is_open(); }
inline bool bad(QDPFileWriter& f) { return f.bad(); }
template <class X> void write(QDPFileWriter& f, XMLBufferWriter& xml, const X& x) { f.write(xml, x); }
inline void write(QDPFileWriter& f, XMLBufferWriter& xml, BinaryBufferWriter& x) { f.write(xml, x); }
template <class X> void write(QDPFileWriter& f, XMLBufferWriter& xml, const X& x, const multi1d<int>& lower,
                              const multi1d<int>& upper) {
  f.write(xml, x, lower, upper);
}

}  // namespace QDP
