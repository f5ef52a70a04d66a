// Arrays that count from 1: Array1dO ... Array5dO.
#pragma once

#include <vector>

#include "qdp/util/multi.hpp"

namespace QDP {

template <class T>
class Array1dO {
 public:
  Array1dO() = default;
  explicit Array1dO(int n) : d(static_cast<std::size_t>(n)) {}
  Array1dO(const multi1d<T>& s) : d(s.begin(), s.end()) {}
  Array1dO(const std::vector<T>& s) : d(s) {}

  void resize(int n) { d.resize(static_cast<std::size_t>(n)); }
  int size() const { return static_cast<int>(d.size()); }
  decltype(auto) operator[](int i) { return d[checked(i)]; }
  decltype(auto) operator[](int i) const { return d[checked(i)]; }
  void push_back(const T& x) { d.push_back(x); }
  const std::vector<T>& ref() const { return d; }
  std::vector<T>& ref() { return d; }

 private:
  std::size_t checked(int i) const {
    if (i < 1 || i > size()) detail::throw_multi_index(1, "one-based", i - 1, size());
    return static_cast<std::size_t>(i - 1);
  }
  std::vector<T> d;
};

template <class T>
Array1dO<T> operator-(const Array1dO<T>& a) {
  Array1dO<T> c(a.size());
  for (int i = 1; i <= a.size(); ++i) c[i] = -a[i];
  return c;
}
template <class T>
Array1dO<T> operator*(const T& s, const Array1dO<T>& a) {
  Array1dO<T> c(a.size());
  for (int i = 1; i <= a.size(); ++i) c[i] = s * a[i];
  return c;
}

template <class T>
class Array2dO {
 public:
  Array2dO() = default;
  explicit Array2dO(int n) : d(n, n) {}
  Array2dO(int n2, int n1) : d(n2, n1) {}

  void resize(int n2, int n1) { d.resize(n2, n1); }
  void resize(int n) { d.resize(n, n); }
  int size() const { return d.size1(); }
  int size1() const { return d.size1(); }
  int size2() const { return d.size2(); }
  int nrows() const { return d.size2(); }
  int ncols() const { return d.size1(); }
  template <class S>
  requires std::is_assignable_v<T&, const S&> Array2dO& operator=(const S& s) {
    d = s;
    return *this;
  }
  T& operator()(int j, int i) { return d(j - 1, i - 1); }
  const T& operator()(int j, int i) const { return d(j - 1, i - 1); }
  const multi2d<T>& ref() const { return d; }
  multi2d<T>& ref() { return d; }

 private:
  multi2d<T> d;
};

template <class T>
class Array3dO {
 public:
  Array3dO() = default;
  explicit Array3dO(int n) : d(n, n, n) {}
  Array3dO(int n3, int n2, int n1) : d(n3, n2, n1) {}

  void resize(int n3, int n2, int n1) { d.resize(n3, n2, n1); }
  void resize(int n) { d.resize(n, n, n); }
  int size() const { return d.size1(); }
  int size1() const { return d.size1(); }
  int size2() const { return d.size2(); }
  int size3() const { return d.size3(); }
  int leftSize() const { return d.size3(); }
  int middleSize() const { return d.size2(); }
  int rightSize() const { return d.size1(); }
  template <class S>
  requires std::is_assignable_v<T&, const S&> Array3dO& operator=(const S& s) {
    d = s;
    return *this;
  }
  T& operator()(int k, int j, int i) { return d(k - 1, j - 1, i - 1); }
  const T& operator()(int k, int j, int i) const { return d(k - 1, j - 1, i - 1); }
  const multi3d<T>& ref() const { return d; }
  multi3d<T>& ref() { return d; }

 private:
  multi3d<T> d;
};

template <class T>
class Array4dO {
 public:
  Array4dO() = default;
  explicit Array4dO(int n) : d(n, n, n, n) {}
  Array4dO(int n4, int n3, int n2, int n1) : d(n4, n3, n2, n1) {}

  void resize(int n4, int n3, int n2, int n1) { d.resize(n4, n3, n2, n1); }
  void resize(int n) { d.resize(n, n, n, n); }
  int size() const { return d.size1(); }
  int size1() const { return d.size1(); }
  int size2() const { return d.size2(); }
  int size3() const { return d.size3(); }
  int size4() const { return d.size4(); }
  template <class S>
  requires std::is_assignable_v<T&, const S&> Array4dO& operator=(const S& s) {
    d = s;
    return *this;
  }
  T& operator()(int l, int k, int j, int i) { return d(l - 1, k - 1, j - 1, i - 1); }
  const T& operator()(int l, int k, int j, int i) const { return d(l - 1, k - 1, j - 1, i - 1); }
  const multi4d<T>& ref() const { return d; }
  multi4d<T>& ref() { return d; }

 private:
  multi4d<T> d;
};

template <class T>
class Array5dO {
 public:
  Array5dO() = default;
  explicit Array5dO(int n) : d(n, n, n, n, n) {}
  Array5dO(int n5, int n4, int n3, int n2, int n1) : d(n5, n4, n3, n2, n1) {}

  void resize(int n5, int n4, int n3, int n2, int n1) { d.resize(n5, n4, n3, n2, n1); }
  void resize(int n) { d.resize(n, n, n, n, n); }
  int size() const { return d.size1(); }
  int size1() const { return d.size1(); }
  int size2() const { return d.size2(); }
  int size3() const { return d.size3(); }
  int size4() const { return d.size4(); }
  int size5() const { return d.size5(); }
  template <class S>
  requires std::is_assignable_v<T&, const S&> Array5dO& operator=(const S& s) {
    d = s;
    return *this;
  }
  T& operator()(int m, int l, int k, int j, int i) { return d(m - 1, l - 1, k - 1, j - 1, i - 1); }
  const T& operator()(int m, int l, int k, int j, int i) const { return d(m - 1, l - 1, k - 1, j - 1, i - 1); }
  const multi5d<T>& ref() const { return d; }
  multi5d<T>& ref() { return d; }

 private:
  multi5d<T> d;
};

}  // namespace QDP
