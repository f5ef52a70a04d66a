// The outer level: one value (OScalar), one value per lattice site (OLattice), part of a lattice (OSubLattice), and
// expressions of them (QDPExpr). Assignment is here; operators and functions are in functions.hpp.
#pragma once

#include <cstring>
#include <memory>
#include <utility>

#include "jit/memory/field.hpp"
#include "qdp/expr/evaluate.hpp"
#include "qdp/expr/node.hpp"
#include "qdp/expr/operand.hpp"
#include "qdp/layout/subset.hpp"
#include "qdp/types/part_storage.hpp"
#include "qdp/types/primitives.hpp"

namespace QDP {

template <class T> class OScalar;
template <class T> class OLattice;
template <class T> class OSubScalar;
template <class T> class OSubLattice;

/// The class of T[subset] for an outer type T.
template <class T> struct QDPSubTypeTrait {};
template <class T> struct QDPSubTypeTrait<OScalar<T>> {
  using Type_t = OSubScalar<T>;
};
template <class T> struct QDPSubTypeTrait<OLattice<T>> {
  using Type_t = OSubLattice<T>;
};

/// Base of values (OScalar, OLattice): `const QDPType<T, C>&` in a user's template accepts both, and is an operand as they
/// are. C is the derived class.
template <class T, class C> class QDPType {
 public:
  using Subtype_t = T;
  using Container_t = C;
  const C& self() const { return static_cast<const C&>(*this); }
  C& self() { return static_cast<C&>(*this); }
  T& elem(int i) { return self().elem(i); }
  const T& elem(int i) const { return self().elem(i); }
  decltype(auto) elem() { return self().elem(); }
  decltype(auto) elem() const { return self().elem(); }
};
/// Base of parts (OSubScalar, OSubLattice), likewise. C is the class of the whole.
template <class T, class C> class QDPSubType {
 public:
  using Subtype_t = T;
  using Container_t = C;
  using Part_t = typename QDPSubTypeTrait<C>::Type_t;
  const Part_t& self() const { return static_cast<const Part_t&>(*this); }
  decltype(auto) subset() const { return self().subset(); }
  bool getOwnsMemory() const { return self().getOwnsMemory(); }
  T* getF() const { return self().getF(); }
};

/// An expression over the lattice, not yet computed. T is the site type, C the container that would hold it.
template <class T, class C> class QDPExpr {
 public:
  using Subtype_t = T;
  using Container_t = C;
  explicit QDPExpr(detail::Expr node) : node_(std::move(node)) {}
  /// From a new node, whose reference it takes over.
  explicit QDPExpr(detail::Node* node) : node_(node) {}
  const detail::Expr& expression() const { return node_; }

 private:
  detail::Expr node_;
};

namespace detail {

enum class Outer : std::uint8_t { none, primitive, scalar, lattice };

// Plain truth values rather than comparisons of enumerators: these constraints guard the comparison operators themselves.
template <class X> struct operand {
  static constexpr Outer outer = Primitive<X> ? Outer::primitive : Outer::none;
  static constexpr bool lang = Primitive<X>, lattice = false, scalar = false;
  using site = X;
};
template <class T> struct operand<OScalar<T>> {
  static constexpr Outer outer = Outer::scalar;
  static constexpr bool lang = true, lattice = false, scalar = true;
  using site = T;
};
template <class T> struct operand<OLattice<T>> {
  static constexpr Outer outer = Outer::lattice;
  static constexpr bool lang = true, lattice = true, scalar = false;
  using site = T;
};
template <class T, class C> struct operand<QDPExpr<T, C>> : operand<OLattice<T>> {};
template <class T, class C> struct operand<QDPType<T, C>> : operand<C> {};

template <class X> constexpr Outer outer_of = operand<std::remove_cvref_t<X>>::outer;
template <class X> using site_t = typename operand<std::remove_cvref_t<X>>::site;
template <class X> constexpr Shape operand_shape = shape_of<site_t<X>>;

/// A value of the language: lattice, expression, scalar, or a bare primitive.
template <class X>
concept Lang = operand<std::remove_cvref_t<X>>::lang;
template <class X>
concept LatticeLike = operand<std::remove_cvref_t<X>>::lattice;
template <class X>
concept ScalarLike = operand<std::remove_cvref_t<X>>::scalar;

template <class T> Operand operand_of(const OLattice<T>& x) {
  return Operand::of(&x.owner(), Operand::Kind::field, shape_of<T>);
}
template <class T> Operand operand_of(const OScalar<T>& x) {
  return Operand::of(&x.elem(), Operand::Kind::value, shape_of<T>);
}
template <class T, class C> Operand operand_of(const QDPExpr<T, C>& x) {
  return Operand::of(x.expression().get(), Operand::Kind::node, shape_of<T>);
}
template <class T, class C> Operand operand_of(const QDPType<T, C>& x) { return operand_of(x.self()); }
constexpr Operand zero_operand(Shape shape) { return Operand::of(nullptr, Operand::Kind::zero, shape); }
template <class X> requires requires(const X& x) { operand_of(x); } Expr to_expr(const X& x) {
  return to_expr(operand_of(x));
}

/// Real scalar of a word's type.
template <class W> using word_scalar = OScalar<PScalar<PScalar<RScalar<W>>>>;

/// Can X be assigned to a site of type T?
template <class T, class X>
concept AssignableFrom =
    ((LatticeLike<X> || ScalarLike<X>) && assignable(shape_of<T>, operand_shape<X>)) ||
    (Number<X> && assignable(shape_of<T>, Shape{.word = std::is_floating_point_v<X> ? Type::f64 : Type::i32}));

/// Can a scalar or word X become a site of type T?
template <class T, class X>
concept assignable_from_scalar = AssignableFrom<T, X> && !LatticeLike<X>;

/// A class or enumeration that is no value of the language and converts to the word of T, to which words can be assigned.
template <class T, class X>
concept NumberOfProgram = !Lang<X> && !Word<X> && AssignableFrom<T, typename host_word<shape_of<T>.word>::type> &&
                          std::is_convertible_v<const X&, typename host_word<shape_of<T>.word>::type>;

/// What is assigned to a site of type T: a number as a scalar of T's word.
template <class T, class X> decltype(auto) assigned(const X& x) {
  if constexpr (Number<X>)
    return word_scalar<typename host_word<shape_of<T>.word>::type>(x);
  else
    return (x);
}

/// Site `site` of a field as host memory: what elem() does when the field is not on the host or has no such site.
/// Throws UserError naming the type.
/// INVARIANT: to the compiler these change nothing, so that it keeps what it knows of fields over a loop: each element of a field that
/// was elsewhere when the loop began takes a second look, and only the first comes here. (To clang pure functions do not throw.)
#ifdef __clang__
#define QDP_PURE
#else
#define QDP_PURE [[gnu::pure]]
#endif
QDP_PURE const void* host_site_for_reading(jit::Field& field, int site, Shape shape);
QDP_PURE void* host_site_for_writing(jit::Field& field, int site, Shape shape);
QDP_PURE const void* host_site_for_reading(const FieldOwner& owner, int site, Shape shape);
QDP_PURE void* host_site_for_writing(const FieldOwner& owner, int site, Shape shape);
#undef QDP_PURE
/// Throws UserError unless the field has this site.
void check_site(const char* what, const jit::Field& field, int site, Shape shape);

/// The site of the field that field() tells, whose host side this is.
template <class T, class Of> [[gnu::always_inline]] inline const T& host_site(const jit::HostSide& side, int site,
                                                                              Of&& field) {
  const void* sites = side.seen_readable();
  if (!sites) [[unlikely]]
    sites = side.readable();
  if (!sites || static_cast<std::uint32_t>(site) >= side.sites()) [[unlikely]]
    return *static_cast<const T*>(host_site_for_reading(field(), site, shape_of<T>));
  return static_cast<const T*>(sites)[site];
}
template <class T, class Of> [[gnu::always_inline]] inline T& writable_host_site(const jit::HostSide& side, int site,
                                                                                 Of&& field) {
  void* sites = side.seen_writable();
  if (!sites) [[unlikely]]
    sites = side.writable();
  if (!sites || static_cast<std::uint32_t>(site) >= side.sites()) [[unlikely]]
    return *static_cast<T*>(host_site_for_writing(field(), site, shape_of<T>));
  return static_cast<T*>(sites)[site];
}

/// Applies a host operation with up to three operands of primitive type.
template <Op op, class R, class... A> R host_result(std::uint64_t attribute, const A&... a) {
  static constinit HostPlace place{op, shape_of<R>, sizeof...(A), {shape_of<A>...}};
  R r;
  void* const fields[] = {&r, const_cast<A*>(&a)...};
  host_apply(place, attribute, fields);
  return r;
}

}  // namespace detail

// ---- scalars ---------------------------------------------------------------------------------------------------------

/// One value of site type T on the host. Arithmetic is immediate.
template <class T> class OScalar : public QDPType<T, OScalar<T>> {
 public:
  using Site = T;
  OScalar() = default;
  OScalar(const Zero&) { *this = Zero{}; }
  explicit OScalar(const T& site) : F(site) {}
  template <detail::Word W> requires detail::AssignableFrom<T, W> OScalar(W x) { *this = x; }
  template <class T1> requires(detail::assignable(detail::shape_of<T>, detail::shape_of<T1>))
  OScalar(const OScalar<T1>& x) {
    *this = x;
  }
  template <class T1> requires(detail::assignable(detail::shape_of<T>, detail::shape_of<T1>))
  OScalar(const QDPType<T1, OScalar<T1>>& x) {
    *this = x.self();
  }
  /// From a number of the program's own that converts to a built-in one.
  template <class X> requires detail::NumberOfProgram<T, X> explicit(std::is_class_v<X>) OScalar(const X& x) {
    *this = static_cast<typename detail::host_word<detail::shape_of<T>.word>::type>(x);
  }
  OScalar(const OScalar&) = default;
  OScalar& operator=(const OScalar&) = default;

  OScalar& operator=(const Zero&) {
    F = detail::host_result<detail::Op::zero, T>(0);
    return *this;
  }
  template <detail::Word W> requires detail::AssignableFrom<T, W> OScalar& operator=(W x) {
    using Wt = typename detail::host_word<detail::shape_of<T>.word>::type;
    if constexpr (detail::shape_of<T>.components() == 1)
      *reinterpret_cast<Wt*>(&F) = static_cast<Wt>(x);
    else
      *this = detail::word_scalar<Wt>(x);
    return *this;
  }
  template <class T1> requires(detail::assignable(detail::shape_of<T>, detail::shape_of<T1>))
  OScalar& operator=(const OScalar<T1>& x) {
    if constexpr (std::is_same_v<T, T1>)
      F = x.elem();
    else
      F = detail::host_result<detail::Op::convert, T>(0, x.elem());
    return *this;
  }

  T& elem() { return F; }
  const T& elem() const { return F; }
  T& elem(int) { return F; }
  const T& elem(int) const { return F; }
  T* getF() { return &F; }
  const T* getF() const { return &F; }
  OSubScalar<T> operator[](const Subset& s);
  void moveToFastMemoryHint(bool = false) {}
  void revertFromFastMemoryHint(bool = false) {}

 private:
  T F;
};

/// A scalar with a subset behind it: the subset changes nothing, as a scalar is the same everywhere.
template <class T> class OSubScalar : public QDPSubType<T, OScalar<T>> {
 public:
  using Site = T;
  OSubScalar(OScalar<T>& x, const Subset& s) : whole_(&x), subset_(s) {}
  OSubScalar(const OSubScalar&) = default;
  const OSubScalar& operator=(const OSubScalar& x) const { return *whole_ = *x.whole_, *this; }
  const OSubScalar& operator=(const Zero& x) const { return *whole_ = x, *this; }
  template <class X> requires detail::assignable_from_scalar<T, X> const OSubScalar& operator=(const X& x) const {
    return *whole_ = x, *this;
  }
  const Subset& subset() const { return subset_; }
  bool getOwnsMemory() const { return false; }
  T* getF() const { return &whole_->elem(); }

 private:
  OScalar<T>* whole_;
  Subset subset_;
};
template <class T> OSubScalar<T> OScalar<T>::operator[](const Subset& s) { return OSubScalar<T>(*this, s); }

// ---- lattices --------------------------------------------------------------------------------------------------------

/// One value of site type T per lattice site. Copies are deep. Contents are undefined until first assigned.
/// Host access (elem, getF) is in QDP++'s order and coherent with expressions: it fetches the field to the host when needed.
/// Any number of threads may have it at once while no statement writes the field (qdp/README.md, threads).
template <class T> class OLattice : public QDPType<T, OLattice<T>> {
 public:
  using Site = T;
  static constexpr detail::Shape kShape = detail::shape_of<T>;
  static_assert(
      kShape.valid,
      "a site type has a spin, a colour and a reality level, Spin<Color<Reality<Word>>>: lattices of Baryonblock and "
      "Fourquark, which have more, are not there");
  static_assert(sizeof(T) == kShape.bytes(), "a site type is its words and nothing else");
  static_assert(kShape.components() <= detail::kMostComponents,
                "a site type has at most 32767 components (64 x 64 complex colour matrices have 8192)");

  /// On the present lattice (Layout::create(), Layout::Scope), or on the one given; copies and values of expressions live
  /// where these do, and so does a field without contents once it is assigned one of them.
  OLattice() : field_(kShape) {}
  explicit OLattice(const Layout::Lattice& lattice) : field_(kShape, *lattice.state()) {}
  /// Kept in fewer words (qdp/expr/storage.hpp), whatever is assigned to it: jit::UserError if that does not fit, at any site
  /// beyond 256 epsilon of the word (rows of 16 bits: 2^-10), and then it stays what it was. Copies of it are plain. No elements, raw pointers or files.
  explicit OLattice(FieldStorage storage, const Layout::Lattice& lattice = Layout::Lattice::present())
      : field_(kShape, *lattice.state(), storage) {}
  OLattice(const OLattice& x) : field_(kShape, detail::operand_of(x)) {}
  OLattice(OLattice&& x) noexcept : field_(std::move(x.field_)) {}
  OLattice(const Zero&) : field_(kShape, detail::zero_operand(kShape)) {}
  template <class X> requires detail::AssignableFrom<T, X>
  OLattice(const X& x) : field_(kShape, detail::operand_of(detail::assigned<T>(x))) {}

  OLattice& operator=(const OLattice& x) { return set(detail::operand_of(x)); }
  OLattice& operator=(OLattice&& x) {
    field_.take(x.field_, kShape);
    return *this;
  }
  OLattice& operator=(const Zero&) { return set(detail::zero_operand(kShape)); }
  /// The sites of x's subset only.
  template <class T1> requires detail::AssignableFrom<T, OLattice<T1>> OLattice& operator=(const OSubLattice<T1>& x) {
    (*this)[x.subset()] = x;
    return *this;
  }
  template <class X> requires detail::AssignableFrom<T, X> OLattice& operator=(const X& x) {
    return set(detail::operand_of(detail::assigned<T>(x)));
  }

  OSubLattice<T> operator[](const Subset& s) { return OSubLattice<T>(field(), s); }
  const OSubLattice<T> operator[](const Subset& s) const { return OSubLattice<T>(field(), s); }

  /// Site by host index, for reading and writing. Throws jit::UserError if there is no such site.
  T& elem(int i) {
    return detail::writable_host_site<T>(field_.host_side(), i, [this]() -> auto& { return field_; });
  }
  const T& elem(int i) const {
    return detail::host_site<T>(field_.host_side(), i, [this]() -> auto& { return field_; });
  }
  /// All sites in host order. Valid until the field is next used in a statement or destroyed.
  T* getF() { return static_cast<T*>(field()->host_write()); }
  const T* getF() const { return static_cast<const T*>(field()->host_read()); }
  void moveToFastMemoryHint(bool = false) {}
  void revertFromFastMemoryHint(bool = false) {}

  FieldStorage storage() const { return detail::storage_of(*field()); }
  /// From now on; with its contents. Throws jit::UserError if these do not fit, and nothing has changed.
  OLattice& setStorage(FieldStorage storage) {
    if (storage != this->storage()) field_ = detail::stored_field(field(), kShape, storage);
    return *this;
  }
  /// Where it lives.
  Layout::Lattice lattice() const { return Layout::Lattice::of(*field()); }

  const std::shared_ptr<jit::Field>& field() const { return field_.get(kShape); }
  const detail::FieldOwner& owner() const { return field_; }
  detail::FieldOwner& owner() { return field_; }

 private:
  OLattice& set(detail::Operand value) {
    field_.assign(kShape, value);
    return *this;
  }
  detail::FieldOwner field_;
};

/// A lattice restricted to a subset: `psi[rb[0]] = ...` writes those sites only. Or a field on a subset, with storage of its
/// own; copies of a view are views, copies of storage are deep.
template <class T> class OSubLattice : public QDPSubType<T, OLattice<T>> {
 public:
  using Site = T;
  /// Neither: until setSubset() or until it is assigned one that has storage.
  OSubLattice() = default;
  OSubLattice(std::shared_ptr<jit::Field> field, const Subset& s) : part_(std::move(field), s) {}
  OSubLattice(OLattice<T>& x, const Subset& s) : part_(x.field(), s) {}
  /// With storage of its own, and with the values of x in it.
  explicit OSubLattice(const Subset& s) : part_(detail::shape_of<T>, s) {}
  OSubLattice(const Subset& s, const OLattice<T>& x) : part_(detail::shape_of<T>, s, x.field()) {}
  OSubLattice(const OSubLattice&) = default;

  OSubLattice& operator=(const OSubLattice& x) {
    part_.become(detail::shape_of<T>, x.part_);
    return *this;
  }
  const OSubLattice& operator=(const OSubLattice& x) const { return set_to(x); }
  template <class T1> requires detail::AssignableFrom<T, OLattice<T1>>
  const OSubLattice& operator=(const OSubLattice<T1>& x) const {
    return set_to(x);
  }
  const OSubLattice& operator=(const Zero&) const { return set(detail::zero_operand(detail::shape_of<T>)); }
  template <class X> requires detail::AssignableFrom<T, X> const OSubLattice& operator=(const X& x) const {
    return set(detail::operand_of(detail::assigned<T>(x)));
  }

  const Subset& subset() const { return part_.subset(); }
  /// Storage of its own on this subset. Throws jit::UserError for a view.
  void setSubset(const Subset& s) { part_.set_subset(detail::shape_of<T>, s); }
  bool getOwnsMemory() const { return part_.owns_memory(); }
  /// With storage of its own: numSiteTable() values in the order of siteTable(). Of a view: all sites of the lattice. Valid
  /// until the next statement with it.
  T* getF() const { return static_cast<T*>(part_.words(detail::shape_of<T>)); }
  /// Site by host index of the whole lattice.
  T& elem(int i) const {
    return detail::writable_host_site<T>(field()->host_side(), i, [this]() -> auto& { return *field(); });
  }
  const std::shared_ptr<jit::Field>& field() const { return part_.field(detail::shape_of<T>); }
  const detail::FieldPart& part() const { return part_; }

 private:
  const OSubLattice& set(detail::Operand value) const {
    part_.assign(detail::shape_of<T>, value);
    return *this;
  }
  /// The values of another part, at the sites of this one.
  template <class T1> const OSubLattice& set_to(const OSubLattice<T1>& x) const {
    const detail::Expr value = detail::make_field(x.field(), detail::shape_of<T1>);
    return set(detail::Operand::of(value.get(), detail::Operand::Kind::node, detail::shape_of<T1>));
  }
  detail::FieldPart part_;
};

}  // namespace QDP
