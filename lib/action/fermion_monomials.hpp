// The pseudofermion monomials by Chroma's names (Wilson-like quarks) and by our own (staggered ones).
#pragma once

#include "lib/action/monomial.hpp"
#include "lib/io/table.hpp"

#include <vector>

namespace qcd {

/// Rows of monomial_table().
std::vector<Table<std::shared_ptr<Monomial>>::Row> fermion_monomial_rows();

}  // namespace qcd
