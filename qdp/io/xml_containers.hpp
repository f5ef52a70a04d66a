// XML of containers and pairs of any type with read() and write().
//
// Arrays of numbers are lists of words, <nrow>4 4 4 8</nrow>; arrays of anything else are <elem> children. map: elem
// with Key and Val; pair: First and Second; complex: re and im. An array may be read from <elem> children or from words
// only in the form it is written in.
#pragma once

#include <complex>
#include <list>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "qdp/io/xml_reader.hpp"
#include "qdp/io/xml_writer.hpp"
#include "qdp/util/array_one_based.hpp"
#include "qdp/util/multi.hpp"

namespace QDP {

template <class T>
void read(XMLReader& xml, const std::string& path, multi1d<T>& a);
template <class T>
void read(XMLReader& xml, const std::string& path, multi2d<T>& a);
template <class T>
void read(XMLReader& xml, const std::string& path, std::vector<T>& a);
template <class T>
void read(XMLReader& xml, const std::string& path, std::list<T>& a);
template <class T>
void read(XMLReader& xml, const std::string& path, Array1dO<T>& a);
template <class K, class V>
void read(XMLReader& xml, const std::string& path, std::map<K, V>& a);
template <class A, class B>
void read(XMLReader& xml, const std::string& path, std::pair<A, B>& a);
template <class T>
void read(XMLReader& xml, const std::string& path, std::complex<T>& a);

template <class T>
void write(XMLWriter& xml, const std::string& tag, const multi1d<T>& a);
template <class T>
void write(XMLWriter& xml, const std::string& tag, const multi2d<T>& a);
template <class T>
void write(XMLWriter& xml, const std::string& tag, const std::vector<T>& a);
template <class T>
void write(XMLWriter& xml, const std::string& tag, const std::list<T>& a);
template <class T>
void write(XMLWriter& xml, const std::string& tag, const Array1dO<T>& a);
template <class K, class V>
void write(XMLWriter& xml, const std::string& tag, const std::map<K, V>& a);
template <class A, class B>
void write(XMLWriter& xml, const std::string& tag, const std::pair<A, B>& a);
template <class T>
void write(XMLWriter& xml, const std::string& tag, const std::complex<T>& a);

namespace xml {

inline std::string elem_path(int i) { return "elem[" + std::to_string(i + 1) + "]"; }

template <class T>
std::vector<T> read_words(const XMLReader& xml, const std::string& path) {
  std::vector<T> values;
  xml.get_list<T>(path, [&values](const T& value) { values.push_back(value); });
  return values;
}

/// The <elem> children; found by argument-dependent lookup, read() may be declared after this point.
template <class T, class Add>
void read_elements(XMLReader& xml, const std::string& path, Add add) {
  XMLReader array(xml, path);
  const int n = array.count("elem");
  for (int i = 0; i < n; ++i) {
    T value{};
    read(array, elem_path(i), value);
    add(std::move(value));
  }
}

template <class Array>
void write_array(XMLWriter& xml, const std::string& tag, const Array& a) {
  using T = std::remove_cvref_t<typename Array::value_type>;
  xml.openTag(tag);
  if constexpr (IsToken<T>::value) {
    std::string text;
    for (auto&& x : a) {
      if (!text.empty()) text += ' ';
      append_list_token(text, static_cast<const T&>(x));
    }
    xml.write(text);
  } else {
    for (const T& x : a) write(xml, "elem", x);
  }
  xml.closeTag();
}

}  // namespace xml

template <class T>
void read(XMLReader& xml, const std::string& path, multi1d<T>& a) {
  if constexpr (xml::IsToken<T>::value) {
    const auto values = xml::read_words<T>(xml, path);
    a.resize(static_cast<int>(values.size()));
    for (int i = 0; i < a.size(); ++i) a[i] = values[static_cast<std::size_t>(i)];
  } else {
    XMLReader array(xml, path);
    a.resize(array.count("elem"));
    for (int i = 0; i < a.size(); ++i) read(array, xml::elem_path(i), a[i]);
  }
}

/// Rows are elem; all have one length.
template <class T>
void read(XMLReader& xml, const std::string& path, multi2d<T>& a) {
  multi1d<multi1d<T>> rows;
  read(xml, path, rows);
  const int columns = rows.size() > 0 ? rows[0].size() : 0;
  for (const auto& row : rows)
    if (row.size() != columns)
      throw XMLError({.what = "XPath \"" + path + "\"",
                      .expected = "rows of one length",
                      .got = std::to_string(columns) + " and " + std::to_string(row.size()) + " numbers"});
  a.resize(rows.size(), columns);
  for (int j = 0; j < rows.size(); ++j)
    for (int i = 0; i < columns; ++i) a(j, i) = rows[j][i];
}

template <class T>
void read(XMLReader& xml, const std::string& path, std::vector<T>& a) {
  a.clear();
  if constexpr (xml::IsToken<T>::value)
    a = xml::read_words<T>(xml, path);
  else
    xml::read_elements<T>(xml, path, [&a](T&& x) { a.push_back(std::move(x)); });
}

template <class T>
void read(XMLReader& xml, const std::string& path, std::list<T>& a) {
  std::vector<T> values;
  read(xml, path, values);
  a.assign(values.begin(), values.end());
}

template <class T>
void read(XMLReader& xml, const std::string& path, Array1dO<T>& a) {
  read(xml, path, a.ref());
}

/// Adds to the map; a key that it has keeps its value.
template <class K, class V>
void read(XMLReader& xml, const std::string& path, std::map<K, V>& a) {
  XMLReader array(xml, path);
  const int n = array.count("elem");
  for (int i = 0; i < n; ++i) {
    XMLReader element(array, xml::elem_path(i));
    K key{};
    V value{};
    read(element, "Key", key);
    read(element, "Val", value);
    a.emplace(std::move(key), std::move(value));
  }
}

template <class A, class B>
void read(XMLReader& xml, const std::string& path, std::pair<A, B>& a) {
  XMLReader top(xml, path);
  read(top, "First", a.first);
  read(top, "Second", a.second);
}

template <class T>
void read(XMLReader& xml, const std::string& path, std::complex<T>& a) {
  XMLReader top(xml, path);
  T re{}, im{};
  read(top, "re", re);
  read(top, "im", im);
  a = {re, im};
}

template <class T>
void write(XMLWriter& xml, const std::string& tag, const multi1d<T>& a) {
  xml::write_array(xml, tag, a);
}
template <class T>
void write(XMLWriter& xml, const std::string& tag, const multi2d<T>& a) {
  xml.openTag(tag);
  for (int j = 0; j < a.size2(); ++j) write(xml, "elem", a[j]);
  xml.closeTag();
}
template <class T>
void write(XMLWriter& xml, const std::string& tag, const std::vector<T>& a) {
  xml::write_array(xml, tag, a);
}
template <class T>
void write(XMLWriter& xml, const std::string& tag, const std::list<T>& a) {
  xml::write_array(xml, tag, a);
}
template <class T>
void write(XMLWriter& xml, const std::string& tag, const Array1dO<T>& a) {
  write(xml, tag, a.ref());
}

template <class K, class V>
void write(XMLWriter& xml, const std::string& tag, const std::map<K, V>& a) {
  push(xml, tag);
  for (const auto& [key, value] : a) {
    push(xml, "elem");
    write(xml, "Key", key);
    write(xml, "Val", value);
    pop(xml);
  }
  pop(xml);
}

template <class A, class B>
void write(XMLWriter& xml, const std::string& tag, const std::pair<A, B>& a) {
  push(xml, tag);
  write(xml, "First", a.first);
  write(xml, "Second", a.second);
  pop(xml);
}

template <class T>
void write(XMLWriter& xml, const std::string& tag, const std::complex<T>& a) {
  push(xml, tag);
  write(xml, "re", a.real());
  write(xml, "im", a.imag());
  pop(xml);
}

// Compiled once, in the library.
extern template void read(XMLReader&, const std::string&, multi1d<bool>&);
extern template void read(XMLReader&, const std::string&, multi1d<int>&);
extern template void read(XMLReader&, const std::string&, multi1d<float>&);
extern template void read(XMLReader&, const std::string&, multi1d<double>&);
extern template void read(XMLReader&, const std::string&, std::vector<int>&);
extern template void read(XMLReader&, const std::string&, std::vector<float>&);
extern template void read(XMLReader&, const std::string&, std::vector<double>&);
extern template void write(XMLWriter&, const std::string&, const multi1d<bool>&);
extern template void write(XMLWriter&, const std::string&, const multi1d<int>&);
extern template void write(XMLWriter&, const std::string&, const multi1d<float>&);
extern template void write(XMLWriter&, const std::string&, const multi1d<double>&);
extern template void write(XMLWriter&, const std::string&, const std::vector<int>&);
extern template void write(XMLWriter&, const std::string&, const std::vector<float>&);
extern template void write(XMLWriter&, const std::string&, const std::vector<double>&);

}  // namespace QDP
