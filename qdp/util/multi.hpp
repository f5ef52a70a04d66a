// Arrays of one to five fixed ranks (multi1d ... multi5d) and of run-time rank (multiNd), contiguous, with deep copies.
//
// Data layout: the last index is fastest, a(k, j, i) = data[i + n1 * (j + n2 * k)]; size1() is the extent of the last
// index, size2() that of the one before, and so on. a[k] is a view of lower rank that borrows a's memory: assigning to
// it writes into a, copying it copies the elements, and it must not outlive a.
// New elements are value-initialised (numbers are 0). Element operators exist where the element type has them.
// Errors: jit::UserError for an index, a size or a rank that does not fit.
#pragma once

#include <cmath>
#include <cstddef>
#include <type_traits>
#include <utility>

namespace QDP {

template <class T>
class multi1d;

namespace detail {

[[noreturn]] void throw_multi_index(int rank, const char* position, int index, int extent);
[[noreturn]] void throw_multi_sizes(const char* operation, int left, int right);
[[noreturn]] void throw_multi_extent(int rank, int extent);
[[noreturn]] void throw_multi_borrowed(int rank);
[[noreturn]] void throw_multi_empty(const char* operation);
[[noreturn]] void throw_multi_rank(int expected, int got);

template <class T>
inline constexpr bool is_multi1d = false;
template <class T>
inline constexpr bool is_multi1d<multi1d<T>> = true;

/// Memory, extents and copies, common to all ranks. extent_[0] belongs to the last (fastest) index.
template <class T, int Rank>
class MultiStorage {
 public:
  T* begin() { return data_; }
  T* end() { return data_ + count_; }
  const T* begin() const { return data_; }
  const T* end() const { return data_ + count_; }

 protected:
  MultiStorage() = default;
  /// Extents slowest first, as in the constructors of QDP++.
  template <class... Extents>
  MultiStorage(T* borrowed, Extents... extents) : data_(borrowed), borrowed_(true) {
    set_extents(extents...);
  }
  /// Delegates, so that what has been copied is freed if an element cannot be.
  MultiStorage(const MultiStorage& other) : MultiStorage() { copy(other); }
  MultiStorage(MultiStorage&& other) noexcept { swap(other); }
  ~MultiStorage() { release(); }

  MultiStorage& operator=(const MultiStorage& other) {
    if (this != &other) copy(other);
    return *this;
  }
  MultiStorage& operator=(MultiStorage&& other) {
    if (this == &other) return *this;
    if (borrowed_ || other.borrowed_) {
      copy(other);
    } else {
      swap(other);
    }
    return *this;
  }

  template <class... Extents>
  void allocate(Extents... extents) {
    if (borrowed_) throw_multi_borrowed(Rank);
    const int wanted[] = {extents...};
    for (const int extent : wanted)
      if (extent < 0) throw_multi_extent(Rank, extent);
    release();
    set_extents(extents...);
    const int total = count_;
    count_ = 0;  // stays 0 if new throws
    data_ = new T[static_cast<std::size_t>(total)]();
    count_ = total;
  }

  template <class S>
  void fill(const S& value) {
    if (data_ == nullptr) throw_multi_empty("=");
    for (T& element : *this) element = value;
  }

  int extent(int n) const { return extent_[n - 1]; }  // size1() is extent(1)

  /// Offset of the element or of the view that starts at the leading indices (slowest first).
  template <class... Indices>
  std::ptrdiff_t offset(Indices... indices) const {
    const int index[] = {indices...};
    std::ptrdiff_t result = 0;
    int level = Rank;
    for (const int i : index) {
      const int extent = extent_[--level];
      if (i < 0 || i >= extent) [[unlikely]]
        throw_multi_index(Rank, kPositions[level], i, extent);
      result = result * extent + i;
    }
    while (level > 0) result *= extent_[--level];
    return result;
  }

  T* data_ = nullptr;

 private:
  static constexpr const char* kPositions[5] = {"last", "second last", "third last", "fourth last", "fifth last"};

  template <class... Extents>
  void set_extents(Extents... extents) {
    static_assert(sizeof...(Extents) == Rank);
    int level = Rank;
    count_ = 1;
    ((extent_[--level] = extents, count_ *= extents), ...);
  }

  void release() {
    if (!borrowed_) delete[] data_;
    data_ = nullptr;
    count_ = 0;
    for (int& extent : extent_) extent = 0;
  }

  bool same_extents(const MultiStorage& other) const {
    for (int i = 0; i < Rank; ++i)
      if (extent_[i] != other.extent_[i]) return false;
    return true;
  }

  void copy(const MultiStorage& other) {
    if (data_ == nullptr || !same_extents(other)) {
      if (borrowed_) throw_multi_borrowed(Rank);
      reallocate_like(other, std::make_integer_sequence<int, Rank>{});
    }
    for (int i = 0; i < count_; ++i) data_[i] = other.data_[i];
  }

  template <int... I>
  void reallocate_like(const MultiStorage& other, std::integer_sequence<int, I...>) {
    if (other.data_ == nullptr)
      release();
    else
      allocate(other.extent_[Rank - 1 - I]...);
  }

  void swap(MultiStorage& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(extent_, other.extent_);
    std::swap(count_, other.count_);
    std::swap(borrowed_, other.borrowed_);
  }

  int extent_[Rank] = {};
  int count_ = 0;
  bool borrowed_ = false;
};

}  // namespace detail

/// One-dimensional array. multi1d(f, n) borrows f.
template <class T>
class multi1d : public detail::MultiStorage<T, 1> {
  using Base = detail::MultiStorage<T, 1>;

 public:
  using value_type = T;

  multi1d() = default;
  explicit multi1d(int n) { this->allocate(n); }
  multi1d(T* f, int n) : Base(f, n) {}
  multi1d(const multi1d&) = default;
  multi1d(multi1d&&) noexcept = default;
  multi1d& operator=(const multi1d&) = default;
  multi1d& operator=(multi1d&&) = default;

  /// Drops the old elements.
  void resize(int n) { this->allocate(n); }
  int size() const { return this->extent(1); }
  int size1() const { return this->extent(1); }
  const T* slice() const { return this->data_; }

  T& operator()(int i) { return this->data_[this->offset(i)]; }
  const T& operator()(int i) const { return this->data_[this->offset(i)]; }
  T& operator[](int i) { return this->data_[this->offset(i)]; }
  const T& operator[](int i) const { return this->data_[this->offset(i)]; }

  /// Every element becomes `value`.
  template <class S>
  requires(!detail::is_multi1d<S> || detail::is_multi1d<T>) && std::is_assignable_v<T&, const S&>
  multi1d& operator=(const S& value) {
    this->fill(value);
    return *this;
  }
  /// Copies size() elements from `values`.
  multi1d& operator=(const T* values) {
    if (this->data_ == nullptr) detail::throw_multi_empty("=");
    for (int i = 0; i < size(); ++i) this->data_[i] = values[i];
    return *this;
  }

  multi1d& operator+=(const multi1d& b) requires requires(T& x, const T& y) { x += y; } {
    match("+=", b);
    for (int i = 0; i < size(); ++i) this->data_[i] += b.data_[i];
    return *this;
  }
  multi1d& operator-=(const multi1d& b) requires requires(T& x, const T& y) { x -= y; } {
    match("-=", b);
    for (int i = 0; i < size(); ++i) this->data_[i] -= b.data_[i];
    return *this;
  }
  multi1d& operator*=(const multi1d& b) requires requires(T& x, const T& y) { x *= y; } {
    match("*=", b);
    for (int i = 0; i < size(); ++i) this->data_[i] *= b.data_[i];
    return *this;
  }
  multi1d& operator/=(const multi1d& b) requires requires(T& x, const T& y) { x /= y; } {
    match("/=", b);
    for (int i = 0; i < size(); ++i) this->data_[i] /= b.data_[i];
    return *this;
  }
  multi1d& operator+=(const T& s) requires requires(T& x, const T& y) { x += y; } {
    for (T& element : nonempty("+=")) element += s;
    return *this;
  }
  multi1d& operator-=(const T& s) requires requires(T& x, const T& y) { x -= y; } {
    for (T& element : nonempty("-=")) element -= s;
    return *this;
  }
  multi1d& operator*=(const T& s) requires requires(T& x, const T& y) { x *= y; } {
    for (T& element : nonempty("*=")) element *= s;
    return *this;
  }
  multi1d& operator/=(const T& s) requires requires(T& x, const T& y) { x /= y; } {
    for (T& element : nonempty("/=")) element /= s;
    return *this;
  }

  /// Placement hints of QDP++; memory is managed by the runtime, so they do nothing.
  void moveToFastMemoryHint(bool = false) {}
  void revertFromFastMemoryHint(bool = false) {}

 private:
  void match(const char* operation, const multi1d& b) const {
    if (size() != b.size()) detail::throw_multi_sizes(operation, size(), b.size());
  }
  multi1d& nonempty(const char* operation) {
    if (this->data_ == nullptr) detail::throw_multi_empty(operation);
    return *this;
  }
};

/// Two-dimensional array, a(j, i); a[j] is row j.
template <class T>
class multi2d : public detail::MultiStorage<T, 2> {
  using Base = detail::MultiStorage<T, 2>;

 public:
  multi2d() = default;
  multi2d(int n2, int n1) { this->allocate(n2, n1); }
  multi2d(T* f, int n2, int n1) : Base(f, n2, n1) {}

  void resize(int n2, int n1) { this->allocate(n2, n1); }
  int size1() const { return this->extent(1); }
  int size2() const { return this->extent(2); }
  int nrows() const { return this->extent(2); }
  int ncols() const { return this->extent(1); }
  const T* slice(int j) const { return this->data_ + this->offset(j); }

  T& operator()(int j, int i) { return this->data_[this->offset(j, i)]; }
  const T& operator()(int j, int i) const { return this->data_[this->offset(j, i)]; }
  multi1d<T> operator[](int j) { return {this->data_ + this->offset(j), size1()}; }
  const multi1d<T> operator[](int j) const { return {this->data_ + this->offset(j), size1()}; }

  template <class S>
  requires std::is_assignable_v<T&, const S&> multi2d& operator=(const S& value) {
    this->fill(value);
    return *this;
  }
};

/// Three-dimensional array, a(k, j, i).
template <class T>
class multi3d : public detail::MultiStorage<T, 3> {
  using Base = detail::MultiStorage<T, 3>;

 public:
  multi3d() = default;
  multi3d(int n3, int n2, int n1) { this->allocate(n3, n2, n1); }
  multi3d(T* f, int n3, int n2, int n1) : Base(f, n3, n2, n1) {}

  void resize(int n3, int n2, int n1) { this->allocate(n3, n2, n1); }
  int size1() const { return this->extent(1); }
  int size2() const { return this->extent(2); }
  int size3() const { return this->extent(3); }
  int leftSize() const { return this->extent(3); }
  int middleSize() const { return this->extent(2); }
  int rightSize() const { return this->extent(1); }
  const T* slice(int k, int j) const { return this->data_ + this->offset(k, j); }

  T& operator()(int k, int j, int i) { return this->data_[this->offset(k, j, i)]; }
  const T& operator()(int k, int j, int i) const { return this->data_[this->offset(k, j, i)]; }
  multi2d<T> operator[](int k) { return {this->data_ + this->offset(k), size2(), size1()}; }
  const multi2d<T> operator[](int k) const { return {this->data_ + this->offset(k), size2(), size1()}; }

  template <class S>
  requires std::is_assignable_v<T&, const S&> multi3d& operator=(const S& value) {
    this->fill(value);
    return *this;
  }
};

/// Four-dimensional array, a(l, k, j, i).
template <class T>
class multi4d : public detail::MultiStorage<T, 4> {
  using Base = detail::MultiStorage<T, 4>;

 public:
  multi4d() = default;
  multi4d(int n4, int n3, int n2, int n1) { this->allocate(n4, n3, n2, n1); }
  multi4d(T* f, int n4, int n3, int n2, int n1) : Base(f, n4, n3, n2, n1) {}

  void resize(int n4, int n3, int n2, int n1) { this->allocate(n4, n3, n2, n1); }
  int size1() const { return this->extent(1); }
  int size2() const { return this->extent(2); }
  int size3() const { return this->extent(3); }
  int size4() const { return this->extent(4); }
  const T* slice(int l, int k, int j) const { return this->data_ + this->offset(l, k, j); }

  T& operator()(int l, int k, int j, int i) { return this->data_[this->offset(l, k, j, i)]; }
  const T& operator()(int l, int k, int j, int i) const { return this->data_[this->offset(l, k, j, i)]; }
  multi3d<T> operator[](int l) { return {this->data_ + this->offset(l), size3(), size2(), size1()}; }
  const multi3d<T> operator[](int l) const { return {this->data_ + this->offset(l), size3(), size2(), size1()}; }

  template <class S>
  requires std::is_assignable_v<T&, const S&> multi4d& operator=(const S& value) {
    this->fill(value);
    return *this;
  }
};

/// Five-dimensional array, a(m, l, k, j, i).
template <class T>
class multi5d : public detail::MultiStorage<T, 5> {
  using Base = detail::MultiStorage<T, 5>;

 public:
  multi5d() = default;
  multi5d(int n5, int n4, int n3, int n2, int n1) { this->allocate(n5, n4, n3, n2, n1); }
  multi5d(T* f, int n5, int n4, int n3, int n2, int n1) : Base(f, n5, n4, n3, n2, n1) {}

  void resize(int n5, int n4, int n3, int n2, int n1) { this->allocate(n5, n4, n3, n2, n1); }
  int size1() const { return this->extent(1); }
  int size2() const { return this->extent(2); }
  int size3() const { return this->extent(3); }
  int size4() const { return this->extent(4); }
  int size5() const { return this->extent(5); }
  const T* slice(int m, int l, int k, int j) const { return this->data_ + this->offset(m, l, k, j); }

  T& operator()(int m, int l, int k, int j, int i) { return this->data_[this->offset(m, l, k, j, i)]; }
  const T& operator()(int m, int l, int k, int j, int i) const { return this->data_[this->offset(m, l, k, j, i)]; }
  multi4d<T> operator[](int m) { return {this->data_ + this->offset(m), size4(), size3(), size2(), size1()}; }
  const multi4d<T> operator[](int m) const {
    return {this->data_ + this->offset(m), size4(), size3(), size2(), size1()};
  }

  template <class S>
  requires std::is_assignable_v<T&, const S&> multi5d& operator=(const S& value) {
    this->fill(value);
    return *this;
  }
};

/// Array of run-time rank with extents nz.
/// QDP++ has two orders, both kept: a(k, j, i) = data[i + nz[0] (j + nz[1] k)] has extent nz[0] for its last index, while
/// a[{i0, i1, ..}] has extent nz[0] for its first index, which is slowest. getElem counts through data.
template <class T>
class multiNd {
 public:
  multiNd() = default;
  explicit multiNd(const multi1d<int>& nz) { resize(nz); }

  /// Drops the old elements.
  void resize(const multi1d<int>& nz) {
    int total = nz.size() > 0 ? 1 : 0;
    for (const int extent : nz) {
      if (extent < 0) detail::throw_multi_extent(nz.size(), extent);
      total *= extent;
    }
    data_.resize(total);
    nz_ = nz;
  }
  int size(int i) const { return nz_[i]; }
  const multi1d<int>& size() const { return nz_; }
  int numElem() const { return data_.size(); }

  template <class S>
  requires std::is_assignable_v<T&, const S&> multiNd& operator=(const S& value) {
    data_ = value;
    return *this;
  }

  template <class... Indices>
  requires(sizeof...(Indices) >= 1 && sizeof...(Indices) <= 4 && (std::is_convertible_v<Indices, int> && ...))
  T& operator()(Indices... indices) {
    return data_[reversed_offset(indices...)];
  }
  template <class... Indices>
  requires(sizeof...(Indices) >= 1 && sizeof...(Indices) <= 4 && (std::is_convertible_v<Indices, int> && ...))
  const T& operator()(Indices... indices) const {
    return data_[reversed_offset(indices...)];
  }

  T& operator[](const multi1d<int>& index) { return data_[offset(index)]; }
  const T& operator[](const multi1d<int>& index) const { return data_[offset(index)]; }

  T& getElem(int i) { return data_[i]; }
  const T& getElem(int i) const { return data_[i]; }

 private:
  void check(int level, int index) const {
    if (index < 0 || index >= nz_[level]) detail::throw_multi_index(nz_.size(), "some", index, nz_[level]);
  }
  template <class... Indices>
  int reversed_offset(Indices... indices) const {
    constexpr int rank = sizeof...(Indices);
    if (nz_.size() != rank) detail::throw_multi_rank(nz_.size(), rank);
    const int index[] = {static_cast<int>(indices)...};
    int result = 0;
    for (int n = 0; n < rank; ++n) {
      check(rank - 1 - n, index[n]);
      result = result * nz_[rank - 1 - n] + index[n];
    }
    return result;
  }
  int offset(const multi1d<int>& index) const {
    if (nz_.size() != index.size()) detail::throw_multi_rank(nz_.size(), index.size());
    int result = 0;
    for (int n = 0; n < index.size(); ++n) {
      check(n, index[n]);
      result = result * nz_[n] + index[n];
    }
    return result;
  }

  multi1d<int> nz_;
  multi1d<T> data_;
};

// ---- functions of multi1d ------------------------------------------------------------------------------------------

/// The elements of a, then those of b.
template <class T>
multi1d<T> concat(const multi1d<T>& a, const multi1d<T>& b) {
  multi1d<T> c(a.size() + b.size());
  for (int i = 0; i < a.size(); ++i) c[i] = a[i];
  for (int i = 0; i < b.size(); ++i) c[a.size() + i] = b[i];
  return c;
}

/// Same size and same elements. Two empty arrays are equal (QDP++ calls them different).
template <class T>
requires requires(const T& x) { static_cast<bool>(x != x); } bool operator==(const multi1d<T>& a, const multi1d<T>& b) {
  if (a.size() != b.size()) return false;
  for (int i = 0; i < a.size(); ++i)
    if (a[i] != b[i]) return false;
  return true;
}
template <class T>
requires requires(const T& x) { static_cast<bool>(x != x); } bool operator!=(const multi1d<T>& a, const multi1d<T>& b) {
  return !(a == b);
}

/// Lexicographic, then by size.
template <class T>
requires requires(const T& x) {
  static_cast<bool>(x != x);
  static_cast<bool>(x < x);
} bool operator<(const multi1d<T>& a, const multi1d<T>& b) {
  for (int i = 0; i < a.size() && i < b.size(); ++i)
    if (a[i] != b[i]) return a[i] < b[i];
  return a.size() < b.size();
}
template <class T>
requires requires(const T& x) {
  static_cast<bool>(x != x);
  static_cast<bool>(x < x);
} bool operator>(const multi1d<T>& a, const multi1d<T>& b) {
  return b < a;
}
template <class T>
requires requires(const T& x) {
  static_cast<bool>(x != x);
  static_cast<bool>(x < x);
} bool operator<=(const multi1d<T>& a, const multi1d<T>& b) {
  return !(b < a);
}
template <class T>
requires requires(const T& x) {
  static_cast<bool>(x != x);
  static_cast<bool>(x < x);
} bool operator>=(const multi1d<T>& a, const multi1d<T>& b) {
  return !(a < b);
}

template <class T>
requires requires(T& z, const T& x) { z = -x; } multi1d<T> operator-(const multi1d<T>& a) {
  multi1d<T> c(a.size());
  for (int i = 0; i < a.size(); ++i) c[i] = -a[i];
  return c;
}
template <class T>
multi1d<T> operator+(const multi1d<T>& a) {
  return a;
}

template <class T>
requires requires(T& x, const T& y) { x += y; } multi1d<T> operator+(const multi1d<T>& a, const multi1d<T>& b) {
  multi1d<T> c(a);
  c += b;
  return c;
}
template <class T>
requires requires(T& x, const T& y) { x -= y; } multi1d<T> operator-(const multi1d<T>& a, const multi1d<T>& b) {
  multi1d<T> c(a);
  c -= b;
  return c;
}
template <class T>
requires requires(T& x, const T& y) { x *= y; } multi1d<T> operator*(const multi1d<T>& a, const multi1d<T>& b) {
  multi1d<T> c(a);
  c *= b;
  return c;
}
template <class T>
requires requires(T& x, const T& y) { x /= y; } multi1d<T> operator/(const multi1d<T>& a, const multi1d<T>& b) {
  multi1d<T> c(a);
  c /= b;
  return c;
}

template <class T>
requires requires(T& x, const T& y) { x += y; } multi1d<T> operator+(const multi1d<T>& a, const T& s) {
  multi1d<T> c(a);
  c += s;
  return c;
}
template <class T>
requires requires(T& x, const T& y) { x += y; } multi1d<T> operator+(const T& s, const multi1d<T>& a) {
  return a + s;
}
template <class T>
requires requires(T& x, const T& y) { x -= y; } multi1d<T> operator-(const multi1d<T>& a, const T& s) {
  multi1d<T> c(a);
  c -= s;
  return c;
}
template <class T>
requires requires(T& x, const T& y) {
  x += y;
  x = -y;
} multi1d<T> operator-(const T& s, const multi1d<T>& a) {
  return -a + s;
}
template <class T>
requires requires(T& x, const T& y) { x *= y; } multi1d<T> operator*(const multi1d<T>& a, const T& s) {
  multi1d<T> c(a);
  c *= s;
  return c;
}
/// s from the left: matters where the product does not commute.
template <class T>
requires requires(T& x, const T& y) { x = y * y; } multi1d<T> operator*(const T& s, const multi1d<T>& a) {
  multi1d<T> c(a.size());
  for (int i = 0; i < a.size(); ++i) c[i] = s * a[i];
  return c;
}
template <class T>
requires requires(T& x, const T& y) { x /= y; } multi1d<T> operator/(const multi1d<T>& a, const T& s) {
  multi1d<T> c(a);
  c /= s;
  return c;
}
template <class T>
requires requires(T& x, const T& y) { x = y / y; } multi1d<T> operator/(const T& s, const multi1d<T>& a) {
  multi1d<T> c(a.size());
  for (int i = 0; i < a.size(); ++i) c[i] = s / a[i];
  return c;
}

namespace detail {

template <class T, class F>
multi1d<T> map_elements(const multi1d<T>& a, F f) {
  multi1d<T> c(a.size());
  for (int i = 0; i < a.size(); ++i) c[i] = f(a[i]);
  return c;
}

}  // namespace detail

// Element by element; lattice and scalar types bring their own functions, found by argument.
template <class T>
multi1d<T> sqrt(const multi1d<T>& a) {
  return detail::map_elements(a, [](const T& x) {
    using std::sqrt;
    return T(sqrt(x));
  });
}
template <class T>
multi1d<T> log(const multi1d<T>& a) {
  return detail::map_elements(a, [](const T& x) {
    using std::log;
    return T(log(x));
  });
}
template <class T>
multi1d<T> sin(const multi1d<T>& a) {
  return detail::map_elements(a, [](const T& x) {
    using std::sin;
    return T(sin(x));
  });
}
template <class T>
multi1d<T> cos(const multi1d<T>& a) {
  return detail::map_elements(a, [](const T& x) {
    using std::cos;
    return T(cos(x));
  });
}
template <class T>
multi1d<T> tan(const multi1d<T>& a) {
  return detail::map_elements(a, [](const T& x) {
    using std::tan;
    return T(tan(x));
  });
}
template <class T>
multi1d<T> asin(const multi1d<T>& a) {
  return detail::map_elements(a, [](const T& x) {
    using std::asin;
    return T(asin(x));
  });
}
template <class T>
multi1d<T> acos(const multi1d<T>& a) {
  return detail::map_elements(a, [](const T& x) {
    using std::acos;
    return T(acos(x));
  });
}
template <class T>
multi1d<T> atan(const multi1d<T>& a) {
  return detail::map_elements(a, [](const T& x) {
    using std::atan;
    return T(atan(x));
  });
}

/// sum_i a[i]^2 of numbers, 0 for an empty array. Arrays of scalars and lattices have their own norm2.
template <class T>
requires std::is_arithmetic_v<T> T norm2(const multi1d<T>& a) {
  T sum{};
  for (const T& x : a) sum += x * x;
  return sum;
}

}  // namespace QDP
