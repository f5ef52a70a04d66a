// The seed of this process, and draws of scalars.
#pragma once

#include "jit/ir/type.hpp"
#include "qdp/rng/lcg.hpp"

#include <cstdint>

namespace QDP::detail {

/// QDP++'s 2 pi: it shapes the last bits of every normal number.
constexpr double kTwoPi = 6.283185307;

std::uint64_t random_seed();
void set_random_seed(std::uint64_t seed);

/// Fills the n words of a scalar with uniform numbers: states s a, s a^2, ...
/// Throws jit::UserError for words other than f32 and f64: there are no random integers.
void random_scalar(void* words, jit::ir::Type word, int n);
/// Normal numbers, variance 1 per real component, from two uniform draws as for fields (random_field.hpp).
void gaussian_scalar(void* words, jit::ir::Type word, int n, bool complex);

/// Throws jit::UserError, naming `what`, if the word is not a real number.
void check_random_word(const char* what, jit::ir::Type word);

}  // namespace QDP::detail
