// Random numbers on fields: one kernel per site type, on the device.
#pragma once

namespace jit {
class Field;
}

namespace QDP {
class Subset;
}

namespace QDP::detail {

/// Uniform numbers in [0, 1] on the sites of a subset, in the order of the components of a site (spin, colour row,
/// colour column, re, im). Single precision resolution for every word. The seed moves on also if the subset is empty.
/// Throws jit::UserError for a field that is not of real words or not of the subset's layout.
void random_field(jit::Field& field, const Subset& subset);

/// Normal numbers, variance 1 per real component, from two draws r1, r2 of the whole site:
/// complex: sqrt(-2 ln Re r1) exp(2 pi i Re r2);  real: sqrt(-2 ln r1) cos(2 pi r2).
void gaussian_field(jit::Field& field, bool complex, const Subset& subset);

}  // namespace QDP::detail
