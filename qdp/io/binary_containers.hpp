// Binary form of containers and pairs of any type with read() and write(): the sizes (int), then the elements.
//
// multi2d and higher: sizes slowest first, elements with the FIRST index fastest, as QDP++ writes them. The forms with
// a count neither write nor read the size.
#pragma once

#include <list>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "qdp/io/binary_reader.hpp"
#include "qdp/io/binary_writer.hpp"
#include "qdp/util/array_one_based.hpp"
#include "qdp/util/multi.hpp"

namespace QDP {

namespace io {

[[noreturn]] void throw_wrong_count(long long count);

/// A size; at least one byte for each element must follow.
inline int read_count(BinaryReader& bin) {
  int n = 0;
  bin.read(n);
  if (n < 0) throw_wrong_count(n);
  bin.require(static_cast<std::size_t>(n));
  return n;
}

/// Sizes of a multi-dimensional array.
template <std::size_t N>
void read_counts(BinaryReader& bin, int (&n)[N]) {
  long long product = 1;
  for (int& size : n) {
    bin.read(size);
    if (size < 0) throw_wrong_count(size);
    product *= size;
    if (product > 0x7fffffff) throw_wrong_count(product);
  }
  bin.require(static_cast<std::size_t>(product));
}

}  // namespace io

// Declared first, so that containers of containers find each other.
template <class T> void read(BinaryReader& bin, multi1d<T>& a);
template <class T> void read(BinaryReader& bin, multi2d<T>& a);
template <class T> void read(BinaryReader& bin, multi3d<T>& a);
template <class T> void read(BinaryReader& bin, multi4d<T>& a);
template <class T> void read(BinaryReader& bin, multi5d<T>& a);
template <class T> void read(BinaryReader& bin, multiNd<T>& a);
template <class T> void read(BinaryReader& bin, std::vector<T>& a);
template <class T> void read(BinaryReader& bin, std::list<T>& a);
template <class T> void read(BinaryReader& bin, Array1dO<T>& a);
template <class K, class V> void read(BinaryReader& bin, std::map<K, V>& a);
template <class A, class B> void read(BinaryReader& bin, std::pair<A, B>& a);
template <class T> void write(BinaryWriter& bin, const multi1d<T>& a);
template <class T> void write(BinaryWriter& bin, const multi2d<T>& a);
template <class T> void write(BinaryWriter& bin, const multi3d<T>& a);
template <class T> void write(BinaryWriter& bin, const multi4d<T>& a);
template <class T> void write(BinaryWriter& bin, const multi5d<T>& a);
template <class T> void write(BinaryWriter& bin, const multiNd<T>& a);
template <class T> void write(BinaryWriter& bin, const std::vector<T>& a);
template <class T> void write(BinaryWriter& bin, const std::list<T>& a);
template <class T> void write(BinaryWriter& bin, const Array1dO<T>& a);
template <class K, class V> void write(BinaryWriter& bin, const std::map<K, V>& a);
template <class A, class B> void write(BinaryWriter& bin, const std::pair<A, B>& a);

// ---- read ----------------------------------------------------------------------------------------------------------

/// The first n elements of an array that has them.
template <class T>
void read(BinaryReader& bin, multi1d<T>& a, int n) {
  for (int i = 0; i < n; ++i) read(bin, a[i]);
}
/// a(j, i) for j < n1, i < n2, j fastest.
template <class T>
void read(BinaryReader& bin, multi2d<T>& a, int n1, int n2) {
  for (int i = 0; i < n2; ++i)
    for (int j = 0; j < n1; ++j) read(bin, a(j, i));
}

template <class T>
void read(BinaryReader& bin, multi1d<T>& a) {
  a.resize(io::read_count(bin));
  for (T& x : a) read(bin, x);
}
template <class T>
void read(BinaryReader& bin, multi2d<T>& a) {
  int n[2];
  io::read_counts(bin, n);
  a.resize(n[0], n[1]);
  for (int i = 0; i < n[1]; ++i)
    for (int j = 0; j < n[0]; ++j) read(bin, a(j, i));
}
template <class T>
void read(BinaryReader& bin, multi3d<T>& a) {
  int n[3];
  io::read_counts(bin, n);
  a.resize(n[0], n[1], n[2]);
  for (int i = 0; i < n[2]; ++i)
    for (int j = 0; j < n[1]; ++j)
      for (int k = 0; k < n[0]; ++k) read(bin, a(k, j, i));
}
template <class T>
void read(BinaryReader& bin, multi4d<T>& a) {
  int n[4];
  io::read_counts(bin, n);
  a.resize(n[0], n[1], n[2], n[3]);
  for (int i = 0; i < n[3]; ++i)
    for (int j = 0; j < n[2]; ++j)
      for (int k = 0; k < n[1]; ++k)
        for (int l = 0; l < n[0]; ++l) read(bin, a(l, k, j, i));
}
template <class T>
void read(BinaryReader& bin, multi5d<T>& a) {
  int n[5];
  io::read_counts(bin, n);
  a.resize(n[0], n[1], n[2], n[3], n[4]);
  for (int i = 0; i < n[4]; ++i)
    for (int j = 0; j < n[3]; ++j)
      for (int k = 0; k < n[2]; ++k)
        for (int l = 0; l < n[1]; ++l)
          for (int m = 0; m < n[0]; ++m) read(bin, a(m, l, k, j, i));
}
/// The array of sizes, then the elements in the order of getElem.
template <class T>
void read(BinaryReader& bin, multiNd<T>& a) {
  multi1d<int> sizes;
  read(bin, sizes);
  long long product = sizes.size() > 0 ? 1 : 0;
  for (const int size : sizes) {
    product *= size;
    if (size < 0 || product > 0x7fffffff) io::throw_wrong_count(product);
  }
  bin.require(static_cast<std::size_t>(product));
  a.resize(sizes);
  for (int i = 0; i < a.numElem(); ++i) read(bin, a.getElem(i));
}
template <class T>
void read(BinaryReader& bin, std::vector<T>& a) {
  const int n = io::read_count(bin);
  a.clear();
  for (int i = 0; i < n; ++i) {
    T x{};
    read(bin, x);
    a.push_back(std::move(x));
  }
}
template <class T>
void read(BinaryReader& bin, std::list<T>& a) {
  std::vector<T> values;
  read(bin, values);
  a.assign(values.begin(), values.end());
}
template <class T>
void read(BinaryReader& bin, Array1dO<T>& a) {
  read(bin, a.ref());
}
template <class K, class V>
void read(BinaryReader& bin, std::map<K, V>& a) {
  const int n = io::read_count(bin);
  a.clear();
  for (int i = 0; i < n; ++i) {
    K key{};
    V value{};
    read(bin, key);
    read(bin, value);
    a.emplace(std::move(key), std::move(value));
  }
}
template <class A, class B>
void read(BinaryReader& bin, std::pair<A, B>& a) {
  read(bin, a.first);
  read(bin, a.second);
}

// ---- write ---------------------------------------------------------------------------------------------------------

template <class T>
void write(BinaryWriter& bin, const multi1d<T>& a, int n) {
  for (int i = 0; i < n; ++i) write(bin, a[i]);
}
template <class T>
void write(BinaryWriter& bin, const multi1d<T>& a) {
  write(bin, a.size());
  for (const T& x : a) write(bin, x);
}
template <class T>
void write(BinaryWriter& bin, const multi2d<T>& a) {
  write(bin, a.size2());
  write(bin, a.size1());
  for (int i = 0; i < a.size1(); ++i)
    for (int j = 0; j < a.size2(); ++j) write(bin, a(j, i));
}
template <class T>
void write(BinaryWriter& bin, const multi3d<T>& a) {
  write(bin, a.size3());
  write(bin, a.size2());
  write(bin, a.size1());
  for (int i = 0; i < a.size1(); ++i)
    for (int j = 0; j < a.size2(); ++j)
      for (int k = 0; k < a.size3(); ++k) write(bin, a(k, j, i));
}
template <class T>
void write(BinaryWriter& bin, const multi4d<T>& a) {
  write(bin, a.size4());
  write(bin, a.size3());
  write(bin, a.size2());
  write(bin, a.size1());
  for (int i = 0; i < a.size1(); ++i)
    for (int j = 0; j < a.size2(); ++j)
      for (int k = 0; k < a.size3(); ++k)
        for (int l = 0; l < a.size4(); ++l) write(bin, a(l, k, j, i));
}
template <class T>
void write(BinaryWriter& bin, const multi5d<T>& a) {
  write(bin, a.size5());
  write(bin, a.size4());
  write(bin, a.size3());
  write(bin, a.size2());
  write(bin, a.size1());
  for (int i = 0; i < a.size1(); ++i)
    for (int j = 0; j < a.size2(); ++j)
      for (int k = 0; k < a.size3(); ++k)
        for (int l = 0; l < a.size4(); ++l)
          for (int m = 0; m < a.size5(); ++m) write(bin, a(m, l, k, j, i));
}
template <class T>
void write(BinaryWriter& bin, const multiNd<T>& a) {
  write(bin, a.size());
  for (int i = 0; i < a.numElem(); ++i) write(bin, a.getElem(i));
}
template <class T>
void write(BinaryWriter& bin, const std::vector<T>& a) {
  write(bin, static_cast<int>(a.size()));
  for (std::size_t i = 0; i < a.size(); ++i) write(bin, static_cast<const T&>(a[i]));
}
template <class T>
void write(BinaryWriter& bin, const std::list<T>& a) {
  write(bin, static_cast<int>(a.size()));
  for (const T& x : a) write(bin, x);
}
template <class T>
void write(BinaryWriter& bin, const Array1dO<T>& a) {
  write(bin, a.ref());
}
template <class K, class V>
void write(BinaryWriter& bin, const std::map<K, V>& a) {
  write(bin, static_cast<int>(a.size()));
  for (const auto& [key, value] : a) {
    write(bin, key);
    write(bin, value);
  }
}
template <class A, class B>
void write(BinaryWriter& bin, const std::pair<A, B>& a) {
  write(bin, a.first);
  write(bin, a.second);
}

}  // namespace QDP
