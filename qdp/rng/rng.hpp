// Random numbers of the language: random(x) uniform in [0, 1], gaussian(x) of variance 1 per real component.
//
//   RNG::setrn(seed);  gaussian(psi, rb[1]);  random(acceptance);
//
// The numbers are QDP++'s, site by site, for any layout and subset (lcg.hpp has the algorithm).
#pragma once

#include "qdp/layout/subset.hpp"
#include "qdp/rng/random_field.hpp"
#include "qdp/rng/random_state.hpp"
#include "qdp/types/outer.hpp"
#include "qdp/types/typedefs.hpp"

namespace QDP {

namespace RNG {

/// The present seed. Every draw moves it on.
void setrn(const Seed& seed);
void savern(Seed& seed);
/// Seed 11; Layout::create() does it.
void initDefaultRNG();
/// No effect: what the generator needs of a lattice is made when needed and belongs to the lattice. The seed is kept.
void initRNG();
void finalizeRNG();
/// The number of `skewed_seed`; then both seeds move on by `seed_mult`.
float sranf(Seed& seed, Seed& skewed_seed, const Seed& seed_mult);

}  // namespace RNG

namespace detail {
/// Site types that random numbers exist for: real or complex, float or double.
template <class T>
concept Drawable = jit::ir::is_float(shape_of<T>.word);

/// `draw` fills a field of site type T, or one beside it if it is not kept word by word.
template <class T, class Draw> void draw_into(const std::shared_ptr<jit::Field>& field, const Subset& s, Draw draw) {
  if (storage_of(*field) == FieldStorage::plain) return draw(*field);
  const auto drawn = new_field(shape_of<T>, lattice_of(*field));
  draw(*drawn);
  assign(field, shape_of<T>, s.domain_for(field->order()), make_field(drawn, shape_of<T>));
}
template <class T> void draw_random(const std::shared_ptr<jit::Field>& field, const Subset& s) {
  draw_into<T>(field, s, [&](jit::Field& f) { random_field(f, s); });
}
template <class T> void draw_gaussian(const std::shared_ptr<jit::Field>& field, const Subset& s) {
  draw_into<T>(field, s, [&](jit::Field& f) { gaussian_field(f, shape_of<T>.complex, s); });
}
}  // namespace detail

template <detail::Drawable T>
void random(OScalar<T>& x) {
  detail::random_scalar(&x.elem(), detail::shape_of<T>.word, detail::shape_of<T>.components());
}
template <detail::Drawable T>
void random(OLattice<T>& x, const Subset& s) {
  detail::draw_random<T>(x.field(), s);
}
template <detail::Drawable T>
void random(OLattice<T>& x) {
  random(x, all);
}
template <detail::Drawable T>
void random(OSubLattice<T> x) {
  detail::draw_random<T>(x.field(), x.subset());
}

template <detail::Drawable T>
void gaussian(OScalar<T>& x) {
  detail::gaussian_scalar(&x.elem(), detail::shape_of<T>.word, detail::shape_of<T>.components(),
                          detail::shape_of<T>.complex);
}
template <detail::Drawable T>
void gaussian(OLattice<T>& x, const Subset& s) {
  detail::draw_gaussian<T>(x.field(), s);
}
template <detail::Drawable T>
void gaussian(OLattice<T>& x) {
  gaussian(x, all);
}
template <detail::Drawable T>
void gaussian(OSubLattice<T> x) {
  detail::draw_gaussian<T>(x.field(), x.subset());
}

}  // namespace QDP
