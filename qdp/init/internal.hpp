// Operations over ranks with QDP++'s names, for programs that keep numbers of their own on each rank.
//
// All are collective but sendToWait() and recvFromWait(). Sums of floating point are exact and rounded once, so they do not
// depend on the order of the ranks. Lengths of arrays are counts of elements, those of buffers bytes.
#pragma once

#include <cstddef>
#include <string>
#include <type_traits>

#include "qdp/types/typedefs.hpp"
#include "qdp/util/multi.hpp"
#include "qdp/util/primary.hpp"

namespace QDP::QDPInternal {

// ---- buffers. Partners are other ranks: jit::UserError if not.

/// Return when the buffer may be used again, or is filled. Of two ranks that exchange one sends first, the other receives first.
void sendToWait(void* buffer, int to, int bytes);
void recvFromWait(void* buffer, int from, int bytes);
/// From the buffer of one rank to that of another (which may be the same: nothing happens); the others do nothing.
void route(void* buffer, int from, int to, int bytes);
/// The primary's buffer to one rank, which so learns that it may send.
inline void clearToSend(void* buffer, int bytes, int to) { route(buffer, io::kPrimary, to, bytes); }
/// Whether ranks can only talk to neighbours.
inline bool gridArch() { return false; }

template <class T>
requires std::is_trivially_copyable_v<T> void sendToPrimaryNode(T& x, int from) {
  route(&x, from, io::kPrimary, int{sizeof(T)});
}

// ---- the primary's value for all

inline void broadcast(void* buffer, std::size_t bytes) { io::broadcast(buffer, bytes); }
inline void broadcast_str(std::string& text) { io::broadcast(text); }
inline void broadcast(std::string& text) { io::broadcast(text); }
template <class T>
requires std::is_trivially_copyable_v<T> void broadcast(T& x) {
  io::broadcast(x);
}

// ---- over all ranks, word by word

namespace detail {

template <class T> struct word_of {
  using type = typename WordType<T>::Type_t;
};
template <class T>
requires std::is_arithmetic_v<T> struct word_of<T> {
  using type = T;
};

/// What the words are: float and double, or integers of 1, 2, 4 or 8 bytes, whose sums wrap.
struct Words {
  std::size_t bytes;
  bool floating, with_sign;
};
enum class Join { sum, max, min };
void reduce(void* words, std::size_t count, Words type, Join join);
bool all_of(bool here);
bool any_of(bool here);

/// Of n values, whose words lie without gaps.
template <class T>
requires std::is_trivially_copyable_v<T> void reduce(T* x, int n, Join join) {
  using W = typename word_of<T>::type;
  static_assert(std::is_arithmetic_v<W> && !std::is_same_v<W, bool> && sizeof(W) <= 8, "words are numbers");
  static_assert(sizeof(T) % sizeof(W) == 0);
  reduce(static_cast<void*>(x), static_cast<std::size_t>(n) * (sizeof(T) / sizeof(W)),
         Words{sizeof(W), std::is_floating_point_v<W>, std::is_signed_v<W>}, join);
}

}  // namespace detail

template <class T> void globalSumArray(T* x, int n) { detail::reduce(x, n, detail::Join::sum); }
template <class T> void globalSumArray(multi1d<T>& x) {
  if (x.size() > 0) globalSumArray(&x[0], x.size());
}
template <class T> void globalSumArray(multi2d<T>& x) {
  if (x.size1() * x.size2() > 0) globalSumArray(&x(0, 0), x.size1() * x.size2());
}
template <class T> void globalSum(T& x) { globalSumArray(&x, 1); }
template <class T> void globalMaxValue(T* x) { detail::reduce(x, 1, detail::Join::max); }
template <class T> void globalMax(T& x) { globalMaxValue(&x); }
template <class T> void globalMinValue(T* x) { detail::reduce(x, 1, detail::Join::min); }
template <class T> void globalMin(T& x) { globalMinValue(&x); }

inline void globalAnd(bool& x) { x = detail::all_of(x); }
inline void globalOr(bool& x) { x = detail::any_of(x); }

// ---- joining two values on one rank: what the operations above are made of in QDP++

inline void sumAnUnsigned(void* into, void* from) { *static_cast<unsigned*>(into) += *static_cast<unsigned*>(from); }
inline void globalCheckAnd(void* into, void* from) { *static_cast<bool*>(into) &= *static_cast<bool*>(from); }
inline void globalCheckOr(void* into, void* from) { *static_cast<bool*>(into) |= *static_cast<bool*>(from); }

}  // namespace QDP::QDPInternal
