// TimeSliceIO: one time slice of a field as a value to read and write, so that a map in a file can hold a field slice by slice.
//
//   map.insert(t, TimeSliceIO<LatticeColorVector>(psi, t));
//   TimeSliceIO<LatticeColorVector> slice(psi, t);
//   map.get(t, slice);  // into psi
//
// Binary: big-endian words of the sites of the slice in lexicographic order. Time is the last direction.
#pragma once

#include "jit/support/error.hpp"
#include "qdp/io/site_values.hpp"
#include "qdp/io/xml_error.hpp"
#include "qdp/layout/layout.hpp"

namespace QDP {

/// Sites start_lexico up to but not including stop_lexico, lexicographic numbers in the whole lattice.
namespace LatticeTimeSliceIO {

template <class T> void readSlice(BinaryReader& bin, OLattice<T>& data, int start_lexico, int stop_lexico) {
  detail::read_lattice_sites(bin, detail::shape_of<T>, *data.field(), start_lexico, stop_lexico);
}
template <class T> void writeSlice(BinaryWriter& bin, const OLattice<T>& data, int start_lexico, int stop_lexico) {
  detail::write_lattice_sites(bin, detail::shape_of<T>, *data.field(), start_lexico, stop_lexico);
}

}  // namespace LatticeTimeSliceIO

/// Refers to `lattice`, which must outlive it.
template <class T>
class TimeSliceIO {
 public:
  /// Throws XMLError, which is a string as QDP++ throws it, for a time that is not on the lattice.
  TimeSliceIO(T& lattice, int time_slice) : data_(lattice) { setTimeSlice(time_slice); }

  void setTimeSlice(int time_slice) {
    const int times = Layout::lattSize()[Nd - 1];
    if (time_slice < 0 || time_slice >= times)
      throw XMLError({.what = "TimeSliceIO: time slice",
                      .expected = "0.." + std::to_string(times - 1),
                      .got = std::to_string(time_slice)});
    time_ = time_slice;
  }
  int getTimeSlice() const { return time_; }
  T& getObject() const { return data_; }

  void binaryRead(BinaryReader& bin) { LatticeTimeSliceIO::readSlice(bin, data_, first(), first() + sites()); }
  void binaryWrite(BinaryWriter& bin) const { LatticeTimeSliceIO::writeSlice(bin, data_, first(), first() + sites()); }

 private:
  static int sites() { return static_cast<int>(Layout::vol()) / Layout::lattSize()[Nd - 1]; }
  int first() const { return time_ * sites(); }

  T& data_;
  int time_ = 0;
};

template <class T> void read(BinaryReader& bin, TimeSliceIO<T>& x) { x.binaryRead(bin); }
template <class T> void write(BinaryWriter& bin, const TimeSliceIO<T>& x) { x.binaryWrite(bin); }

}  // namespace QDP
