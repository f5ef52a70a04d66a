// Solvers by name: the groups InvertParam of an input document, element invType, with Chroma's names and elements.
#pragma once

#include "lib/io/table.hpp"
#include "lib/solver/solver.hpp"

#include <memory>

namespace qcd {

/// InvertParam/invType -> solver of M^+ M x = b: pseudofermions.
template <class F>
const Table<std::shared_ptr<const NormalSolver<F>>>& normal_solver_table();

/// InvertParam/invType -> solver of M x = b: propagators.
template <class F>
const Table<std::shared_ptr<const DirectSolver<F>>>& direct_solver_table();

/// InvertParam/invType -> solver of (M^+ M + shift_k) x_k = b: rational approximations.
template <class F>
const Table<std::shared_ptr<const MultiShiftSolver<F>>>& multi_shift_solver_table();

/// The solver that a group InvertParam names; null after an error was recorded.
template <class F>
std::shared_ptr<const NormalSolver<F>> read_normal_solver(const Input& invert_param);
template <class F>
std::shared_ptr<const DirectSolver<F>> read_direct_solver(const Input& invert_param);
template <class F>
std::shared_ptr<const MultiShiftSolver<F>> read_multi_shift_solver(const Input& invert_param);

}  // namespace qcd
