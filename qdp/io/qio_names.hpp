// Names of QDP++'s connection to QIO: what types are called in record files, and how QIO hands a site over. Programs that call
// QIO themselves use them; files here are written without (qdp_file.hpp).
#pragma once

#include <cstddef>
#include <cstring>
#include <utility>

#include "qdp/types/typedefs.hpp"
#include "qdp/util/multi.hpp"

#ifndef QIO_VERB_OFF
#define QIO_VERB_OFF 0
#define QIO_VERB_LOW 1
#define QIO_VERB_MED 2
#define QIO_VERB_REG 3
#define QIO_VERB_HIGH 4
#define QIO_VERB_DEBUG 5
#endif

namespace QDP {

/// How much QIO tells; returns what was set before. Here it is kept and has no effect: TESSERA_LOG=info,io tells what files do. A
/// template, so that the function of a QIO that is there, too, goes first.
template <class = void> int QIO_verbose(int level) {
  static int present = QIO_VERB_OFF;
  return std::exchange(present, level);
}

namespace detail {
template <class T> struct KindOfRecord {
  static constexpr const char* name = "QDP_GenericType";
};
template <class T> struct KindOfRecord<OLattice<T>> {
  static constexpr const char* name = "Lattice";
};
template <class T> struct KindOfRecord<OScalar<T>> {
  static constexpr const char* name = "Scalar";
};
template <class T> struct KindOfRecord<multi1d<OLattice<T>>> : KindOfRecord<OLattice<T>> {};
template <class T> struct KindOfRecord<multi1d<OScalar<T>>> : KindOfRecord<OScalar<T>> {};
}  // namespace detail

/// tname: what a record of T says its type is; tprec, of a word: its precision, "F", "D" or "I".
template <class T> struct QIOStringTraits {
  static char* tname;
  static char* tprec;
};
template <class T> char* QIOStringTraits<T>::tname = const_cast<char*>(detail::KindOfRecord<T>::name);
template <class T> char* QIOStringTraits<T>::tprec = const_cast<char*>("U");
template <> char* QIOStringTraits<float>::tprec;
template <> char* QIOStringTraits<double>::tprec;
template <> char* QIOStringTraits<int>::tprec;
template <> char* QIOStringTraits<multi1d<LatticeColorMatrixF3>>::tname;
template <> char* QIOStringTraits<multi1d<LatticeColorMatrixD3>>::tname;
template <> char* QIOStringTraits<multi1d<LatticeDiracFermionF3>>::tname;
template <> char* QIOStringTraits<multi1d<LatticeDiracFermionD3>>::tname;
template <> char* QIOStringTraits<LatticeColorVectorF3>::tname;
template <> char* QIOStringTraits<LatticeColorVectorD3>::tname;

// Site `linear` (a host index) to and from a buffer. `field` is an array of sites (getF()), or a multi1d of fields where the
// name says so, whose sites follow each other in the buffer.

template <class T> void QDPOLatticeFactoryPut(char* buffer, std::size_t linear, int count, void* field) {
  std::memcpy(static_cast<void*>(static_cast<T*>(field) + linear), buffer, static_cast<std::size_t>(count) * sizeof(T));
}
template <class T> void QDPOLatticeFactoryGet(char* buffer, std::size_t linear, int count, void* field) {
  std::memcpy(buffer, static_cast<const T*>(field) + linear, static_cast<std::size_t>(count) * sizeof(T));
}
template <class T> void QDPOLatticeFactoryPutArray(char* buffer, std::size_t linear, int, void* fields) {
  for (OLattice<T>& x : *static_cast<multi1d<OLattice<T>>*>(fields)) {
    std::memcpy(static_cast<void*>(&x.elem(static_cast<int>(linear))), buffer, sizeof(T));
    buffer += sizeof(T);
  }
}
template <class T> void QDPOLatticeFactoryGetArray(char* buffer, std::size_t linear, int, void* fields) {
  for (const OLattice<T>& x : *static_cast<const multi1d<OLattice<T>>*>(fields)) {
    std::memcpy(buffer, &x.elem(static_cast<int>(linear)), sizeof(T));
    buffer += sizeof(T);
  }
}
/// Of an array of scalars.
template <class T> void QDPOScalarFactoryPut(char* buffer, std::size_t linear, int count, void* values) {
  QDPOLatticeFactoryPut<T>(buffer, linear, count, values);
}
template <class T> void QDPOScalarFactoryGet(char* buffer, std::size_t linear, int count, void* values) {
  QDPOLatticeFactoryGet<T>(buffer, linear, count, values);
}

}  // namespace QDP
