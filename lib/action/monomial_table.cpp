#include "lib/action/monomial_table.hpp"

#include "lib/action/fermion_monomials.hpp"
#include "lib/action/gauge_actions.hpp"
#include "lib/action/gauge_monomial.hpp"
#include "lib/io/boundary.hpp"

namespace qcd {

namespace {

using Row = Table<std::shared_ptr<Monomial>>::Row;

Row gauge_row() {
  return {"GAUGE_MONOMIAL", "GaugeAction{Name, ..., [GaugeBC] or [GaugeState{Name, [GaugeBC]}]}",
          [](const Input& in) -> std::shared_ptr<Monomial> {
            const Input action = in.group("GaugeAction");
            LinkMaps links = read_gauge_state(action);
            const auto* row = gauge_action_table().find(action);
            return row ? std::make_shared<GaugeMonomial>(row->make(action), std::move(links)) : nullptr;
          }};
}

std::vector<Row> all_rows() {
  std::vector<Row> rows = fermion_monomial_rows();
  rows.insert(rows.begin(), gauge_row());
  return rows;
}

}  // namespace

const Table<std::shared_ptr<Monomial>>& monomial_table() {
  static const Table<std::shared_ptr<Monomial>> table("a monomial", all_rows());
  return table;
}

MonomialMap read_monomials(const Input& input) {
  MonomialMap monomials;
  for (const Input& elem : input.elements("Monomials")) {
    const Input named_object = elem.group("NamedObject");
    const std::string id = named_object.word("monomial_id");
    const auto* row = monomial_table().find(elem);
    std::shared_ptr<Monomial> monomial = row ? row->make(elem) : nullptr;
    if (id.empty()) continue;
    if (!monomials.emplace(id, std::move(monomial)).second)
      named_object.error("monomial_id", "an id of its own for each monomial", id + " a second time");
  }
  return monomials;
}

std::vector<std::string> read_monomial_ids(const Input& input, const std::string& tag, const MonomialMap& monomials) {
  const std::vector<std::string> read = input.words(tag);
  for (const std::string& id : read)
    if (!id.empty() && !monomials.contains(id)) {
      std::string known = "the monomial_id of a monomial in the list Monomials:";
      for (const auto& [name, monomial] : monomials) known += ' ' + name;
      std::vector<std::string> ids;
      for (const auto& [name, monomial] : monomials) ids.push_back(name);
      input.error(tag, known, id + QDP::did_you_mean(id, ids));
    }
  return read;
}

}  // namespace qcd
