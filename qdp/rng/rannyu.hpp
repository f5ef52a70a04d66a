// RANNYU: a second, scalar generator with a state of its own, for noise that must not disturb the lattice's.
//
// s <- 31167285 s + 1 in four limbs of base 4096, most significant first, as QDP++ computes it: the top limb is the top
// sum divided by 4096, not its remainder. So the state is not that of the generator modulo 2^48 that the name stands
// for, and a number may exceed 1 (by less than 8%). Programs depend on the numbers as they are.
#pragma once

#include "qdp/util/multi.hpp"

namespace QDP::RANNYU {

/// A state of one's own.
struct RNGState_t {
  multi1d<int> seed;  ///< 4 limbs, most significant first
  double ran;         ///< the last number
};

/// The next number of the process's generator; its first seed is {13, 15, 1, 17}.
double random();
/// Throws jit::UserError if the seed has not four limbs.
void setrn(const multi1d<int>& iseed);
multi1d<int> savern();

/// Draws state.ran from state.seed. Throws jit::UserError if the seed has not four limbs.
void random(RNGState_t& ran_state);

}  // namespace QDP::RANNYU
