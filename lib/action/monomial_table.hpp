// The monomials by name, and the <Monomials> list of an input.
#pragma once

#include "lib/action/monomial.hpp"
#include "lib/io/table.hpp"

namespace qcd {

/// Monomials/elem/Name -> monomial. A new kind of term is one row.
const Table<std::shared_ptr<Monomial>>& monomial_table();

/// Makes the monomials of the list `Monomials` in `input`, keyed by NamedObject/monomial_id. Records an error for
/// unknown names and for ids given twice.
MonomialMap read_monomials(const Input& input);

/// The list `tag` (<elem> ids) in `input`, each id checked against `monomials`.
std::vector<std::string> read_monomial_ids(const Input& input, const std::string& tag, const MonomialMap& monomials);

}  // namespace qcd
