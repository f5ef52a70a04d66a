// Files of HDF5: HDF5Reader and HDF5Writer, with QDP++'s names and what QDP++ puts into such files.
//
//   HDF5Writer out("props.h5", HDF5Base::trunc);
//   out.push("m0.1");                                   // groups are folders
//   out.write("prop", prop);                            // a lattice: extents t z y x, x fastest, then the components
//   out.writeAttribute("prop", "kappa", 0.1372);
//   out.close();
//
// Numbers are stored as such, Complex as {r, i}, colour matrices (of three colours) and propagators (four spins) as arrays of these
// in named types, everything else as a row of its real components. Read is whatever has as many reals in the same order,
// fields in any precision. Errors are jit::UserError, of the disk jit::FileError.
//
// All is collective: the primary has the file, sites go to it a chunk at a time (field_stream.hpp). A file is changed in place, as
// HDF5 does: a program that is killed while it writes leaves one that may be unreadable.
//
// There if Tessera was built where libhdf5 is: QDP_USE_HDF5.
#pragma once

#include "qdp_config.h"
#ifndef QDP_USE_HDF5
#error "Tessera was built without HDF5: libhdf5-dev was not there"
#endif

#include <cstdint>
#include <string>
#include <vector>

#include "qdp/io/qdp_file.hpp"

namespace QDP {

namespace HDF5Base {
/// Of writers: add to what is there (and refuse what is there already), or replace it.
enum writemode { ate = 1 << 0, trunc = 1 << 1 };
/// Of lattices: the file has t slowest and x fastest, or (Qlua) x slowest and t fastest.
enum accessmode { transpose_order = 1 << 0, maintain_order = 1 << 1 };
}  // namespace HDF5Base

namespace detail {

enum class Hdf5Word : std::uint8_t { i16, u16, i32, u32, u64, f32, f64 };
template <class N> inline constexpr bool is_hdf5_number = false;
template <class N> inline constexpr Hdf5Word hdf5_word{};
#define QDP_HDF5_NUMBER(type, word)                                                                                    \
  template <> inline constexpr bool is_hdf5_number<type> = true;                                                       \
  template <> inline constexpr Hdf5Word hdf5_word<type> = Hdf5Word::word
QDP_HDF5_NUMBER(short, i16);
QDP_HDF5_NUMBER(unsigned short, u16);
QDP_HDF5_NUMBER(int, i32);
QDP_HDF5_NUMBER(unsigned int, u32);
QDP_HDF5_NUMBER(unsigned long long, u64);
QDP_HDF5_NUMBER(float, f32);
QDP_HDF5_NUMBER(double, f64);
#undef QDP_HDF5_NUMBER

/// One number (no extents), a row or a table of them, in memory as in the file.
struct Hdf5Numbers {
  Hdf5Word word = Hdf5Word::f64;
  std::vector<unsigned long long> extents = {};
  std::string bytes = {};

  template <class N> static Hdf5Numbers of(const N& value) {
    return {hdf5_word<N>, {}, {reinterpret_cast<const char*>(&value), sizeof value}};
  }
  template <class N> static Hdf5Numbers of(const multi1d<N>& row) {
    Hdf5Numbers all{hdf5_word<N>, {static_cast<unsigned long long>(row.size())}};
    for (int i = 0; i < row.size(); ++i) all.bytes += of(row[i]).bytes;
    return all;
  }
  template <class N> static Hdf5Numbers of(const multi2d<N>& table) {
    Hdf5Numbers all{hdf5_word<N>,
                    {static_cast<unsigned long long>(table.size2()), static_cast<unsigned long long>(table.size1())}};
    for (int i = 0; i < table.size2(); ++i)
      for (int j = 0; j < table.size1(); ++j) all.bytes += of(table(i, j)).bytes;
    return all;
  }
  template <class N> N number(std::size_t i) const {
    N value{};
    bytes.copy(reinterpret_cast<char*>(&value), sizeof value, i * sizeof value);
    return value;
  }
};

}  // namespace detail

class HDF5 {
 public:
  virtual ~HDF5();
  HDF5(const HDF5&) = delete;
  HDF5& operator=(const HDF5&) = delete;

  virtual void open(const std::string& path) = 0;
  int close();
  /// Whether there is a file of HDF5 under this name.
  static bool check_exists(const std::string& path);

  /// Where data begin, in bytes; for the next file that is opened. Profiles are in the log: TESSERA_LOG=info,io.
  void set_stripesize(const int& bytes) { stripesize_ = bytes; }
  void set_profiling(const bool&) {}

  /// The present group, "/" at the beginning, and the one that it is in.
  std::string pwd() const { return group_; }
  std::string parentDir() const;
  void pop();
  void cd(const std::string& name);

  // ---- attributes of a group or dataset: numbers, rows of numbers, texts

  template <class N>
  requires detail::is_hdf5_number<N> void readAttribute(const std::string& object, const std::string& name, N& value) {
    value = numbers(object, &name, detail::hdf5_word<N>, 0).template number<N>(0);
  }
  template <class N>
  requires detail::is_hdf5_number<N>
  void readAttribute(const std::string& object, const std::string& name, multi1d<N>& row) {
    fill(row, numbers(object, &name, detail::hdf5_word<N>, 1));
  }
  void readAttribute(const std::string& object, const std::string& name, std::string& value) {
    value = text(object, &name);
  }

  // ---- datasets

  template <class N> requires detail::is_hdf5_number<N> void read(const std::string& name, N& value) {
    value = numbers(name, nullptr, detail::hdf5_word<N>, 0).template number<N>(0);
  }
  template <class N> requires detail::is_hdf5_number<N> void read(const std::string& name, multi1d<N>& row) {
    fill(row, numbers(name, nullptr, detail::hdf5_word<N>, 1));
  }
  template <class N> requires detail::is_hdf5_number<N> void read(const std::string& name, multi2d<N>& table) {
    const detail::Hdf5Numbers all = numbers(name, nullptr, detail::hdf5_word<N>, 2);
    table.resize(static_cast<int>(all.extents[0]), static_cast<int>(all.extents[1]));
    for (int i = 0; i < table.size2(); ++i)
      for (int j = 0; j < table.size1(); ++j)
        table(i, j) = all.number<N>(static_cast<std::size_t>(i) * all.extents[1] + static_cast<std::size_t>(j));
  }
  void read(const std::string& name, std::string& value) { value = text(name, nullptr); }

  template <class T> void read(const std::string& name, OScalar<T>& x) { read_scalars(name, detail::target(x)); }
  template <class T> void read(const std::string& name, multi1d<OScalar<T>>& x) {
    x.resize(objects_in(name, detail::shape_of<T>, false));
    read_scalars(name, detail::target(x));
  }
  template <class T>
  void read(const std::string& name, OLattice<T>& x, const HDF5Base::accessmode& mode = HDF5Base::transpose_order) {
    read_lattices(name, detail::target(x), mode);
  }
  template <class T>
  void read(const std::string& name, multi1d<OLattice<T>>& x,
            const HDF5Base::accessmode& mode = HDF5Base::transpose_order) {
    x.resize(objects_in(name, detail::shape_of<T>, true));
    read_lattices(name, detail::target(x), mode);
  }

  /// A configuration of Qlua: a group of Nd lattices "0", "1" ...; a propagator.
  void readQlua(const std::string& name, multi1d<LatticeColorMatrixD3>& u);
  void readQlua(const std::string& name, LatticeDiracPropagatorD3& prop) { read(name, prop, HDF5Base::maintain_order); }

 protected:
  HDF5();
  HDF5(long stripesize, long maxalign);

  void open_file(const std::string& path, bool writing, HDF5Base::writemode mode);
  void enter(const std::string& name, bool create);
  void write_numbers(const std::string& object, const std::string* attribute, const detail::Hdf5Numbers& numbers,
                     HDF5Base::writemode mode);
  void write_text(const std::string& object, const std::string* attribute, const std::string& text,
                  HDF5Base::writemode mode);
  void write_scalars(const std::string& name, const detail::RecordTarget& from, HDF5Base::writemode mode);
  void write_lattices(const std::string& name, const detail::RecordTarget& from, HDF5Base::writemode mode,
                      HDF5Base::accessmode order);
  /// Throws jit::UserError unless it may go, as `mode` says.
  void remove(const std::string& name, HDF5Base::writemode mode);
  void remove_attributes(const std::string& object, const std::string* name);

 private:
  template <class N> static void fill(multi1d<N>& row, const detail::Hdf5Numbers& all) {
    row.resize(static_cast<int>(all.extents[0]));
    for (int i = 0; i < row.size(); ++i) row[i] = all.number<N>(static_cast<std::size_t>(i));
  }
  detail::Hdf5Numbers numbers(const std::string& object, const std::string* attribute, detail::Hdf5Word word,
                              std::size_t rank);
  std::string text(const std::string& object, const std::string* attribute);
  int objects_in(const std::string& name, detail::Shape shape, bool lattices);
  void read_scalars(const std::string& name, const detail::RecordTarget& to);
  void read_lattices(const std::string& name, const detail::RecordTarget& to, HDF5Base::accessmode order);
  void require_open(const char* what) const;

  struct File;
  jit::Owned<File> file_;  // on the primary
  bool is_open_ = false;
  std::string group_ = "/";
  long stripesize_ = -1, maxalign_ = 0;
};

class HDF5Reader : public HDF5 {
 public:
  HDF5Reader() = default;
  explicit HDF5Reader(const long int& stripesize, const long int& maxalign = 0) : HDF5(stripesize, maxalign) {}
  explicit HDF5Reader(const std::string& path) { open_file(path, false, HDF5Base::ate); }
  void open(const std::string& path) override { open_file(path, false, HDF5Base::ate); }
};

class HDF5Writer : public HDF5 {
 public:
  HDF5Writer() = default;
  explicit HDF5Writer(const long int& stripesize, const long int& maxalign = 0) : HDF5(stripesize, maxalign) {}
  explicit HDF5Writer(const std::string& path, const HDF5Base::writemode& mode = HDF5Base::ate) { open(path, mode); }
  void open(const std::string& path) override { open(path, HDF5Base::ate); }
  /// ate: a file that is there is added to; trunc: it is made anew.
  void open(const std::string& path, const HDF5Base::writemode& mode) { open_file(path, true, mode); }

  /// Makes the group, and those that it is in, where they are not there; push enters it.
  void push(const std::string& name) { enter(name, true); }
  void mkdir(const std::string& name);

  void deleteAttribute(const std::string& object, const std::string& name) { remove_attributes(object, &name); }
  void deleteAllAttributes(const std::string& object) { remove_attributes(object, nullptr); }

  template <class N>
  requires detail::is_hdf5_number<N>
  void writeAttribute(const std::string& object, const std::string& name, const N& value,
                      const HDF5Base::writemode& mode = HDF5Base::ate) {
    write_numbers(object, &name, detail::Hdf5Numbers::of(value), mode);
  }
  template <class N>
  requires detail::is_hdf5_number<N>
  void writeAttribute(const std::string& object, const std::string& name, const multi1d<N>& row,
                      const HDF5Base::writemode& mode = HDF5Base::ate) {
    write_numbers(object, &name, detail::Hdf5Numbers::of(row), mode);
  }
  void writeAttribute(const std::string& object, const std::string& name, const std::string& value,
                      const HDF5Base::writemode& mode = HDF5Base::ate) {
    write_text(object, &name, value, mode);
  }

  template <class N>
  requires detail::is_hdf5_number<N>
  void write(const std::string& name, const N& value, const HDF5Base::writemode& mode = HDF5Base::ate) {
    write_numbers(name, nullptr, detail::Hdf5Numbers::of(value), mode);
  }
  template <class N>
  requires detail::is_hdf5_number<N>
  void write(const std::string& name, const multi1d<N>& row, const HDF5Base::writemode& mode = HDF5Base::ate) {
    write_numbers(name, nullptr, detail::Hdf5Numbers::of(row), mode);
  }
  template <class N>
  requires detail::is_hdf5_number<N>
  void write(const std::string& name, const multi2d<N>& table, const HDF5Base::writemode& mode = HDF5Base::ate) {
    write_numbers(name, nullptr, detail::Hdf5Numbers::of(table), mode);
  }
  void write(const std::string& name, const std::string& value, const HDF5Base::writemode& mode = HDF5Base::ate) {
    write_text(name, nullptr, value, mode);
  }
  template <class T>
  void write(const std::string& name, const OScalar<T>& x, const HDF5Base::writemode& mode = HDF5Base::ate) {
    write_scalars(name, detail::source(x), mode);
  }
  template <class T>
  void write(const std::string& name, const multi1d<OScalar<T>>& x, const HDF5Base::writemode& mode = HDF5Base::ate) {
    write_scalars(name, detail::source(x), mode);
  }
  template <class T>
  void write(const std::string& name, const OLattice<T>& x, const HDF5Base::writemode& mode = HDF5Base::ate) {
    write_lattices(name, detail::source(x), mode, HDF5Base::transpose_order);
  }
  template <class T>
  void write(const std::string& name, const multi1d<OLattice<T>>& x, const HDF5Base::writemode& mode = HDF5Base::ate) {
    write_lattices(name, detail::source(x), mode, HDF5Base::transpose_order);
  }

  /// As readQlua reads it.
  void writeQlua(const std::string& name, const multi1d<LatticeColorMatrixD3>& u,
                 const HDF5Base::writemode& mode = HDF5Base::ate);
};

}  // namespace QDP
