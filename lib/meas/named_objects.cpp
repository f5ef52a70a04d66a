#include "lib/meas/named_objects.hpp"

namespace qcd {

namespace {

template <class T>
std::string type_name(const std::shared_ptr<const T>&) {
  return ObjectType<T>::name;
}

}  // namespace

void NamedObjects::set_default_gauge_field(const GaugeField& u, const std::string& config_xml) {
  const std::shared_ptr<const GaugeField> borrowed(std::shared_ptr<const void>(), &u);
  entries_[kDefaultGaugeField] = {borrowed, {"<gauge/>", config_xml}};
}

std::string NamedObjects::type(const std::string& id) const {
  return std::visit([](const auto& value) { return type_name(value); }, entry(id).value);
}

void NamedObjects::erase(const std::string& id) {
  entry(id);
  entries_.erase(id);
}

std::vector<std::string> NamedObjects::ids() const {
  std::vector<std::string> list;
  for (const auto& [id, entry] : entries_) list.push_back(id);
  return list;
}

void NamedObjects::insert(const std::string& id, Value value, ObjectRecord record) {
  if (!entries_.emplace(id, Entry{std::move(value), std::move(record)}).second)
    throw InputError("named object " + id + ": expected a new id, got one in use (for a " + type(id) +
                     "); erase it first with ERASE_NAMED_OBJECT");
}

const NamedObjects::Entry& NamedObjects::entry(const std::string& id) const {
  const auto found = entries_.find(id);
  if (found != entries_.end()) return found->second;
  std::string list;
  for (const std::string& known : ids()) list += ' ' + known;
  throw InputError("named object " + id + ": expected the id of an object, one of" + (list.empty() ? " none" : list) +
                   ", got " + id);
}

void NamedObjects::fail_type(const std::string& id, const std::string& expected) const {
  throw InputError("named object " + id + ": expected a " + expected + ", got a " + type(id));
}

ObjectPlan::ObjectPlan() { types_[kDefaultGaugeField] = ObjectType<GaugeField>::name; }

std::string ObjectPlan::known(const std::string& type) const {
  std::string list;
  for (const auto& [id, its_type] : types_)
    if (type.empty() || its_type == type) list += ' ' + id;
  return list.empty() ? " none so far" : list;
}

std::string ObjectPlan::uses(const Input& group, const std::string& name, const std::string& type) const {
  const std::string id = group.word(name);
  if (id.empty()) return id;
  const auto found = types_.find(id);
  if (found == types_.end() || found->second != type)
    group.error(name, "the id of a " + type + " made before, one of" + known(type),
                found == types_.end() ? id : id + ", a " + found->second);
  return id;
}

std::string ObjectPlan::makes(const Input& group, const std::string& name, const std::string& type) {
  const std::string id = group.word(name);
  if (!id.empty() && !types_.emplace(id, type).second) group.error(name, "an id that is not in use", id);
  return id;
}

std::string ObjectPlan::erases(const Input& group, const std::string& name) {
  const std::string id = group.word(name);
  if (!id.empty() && types_.erase(id) == 0)
    group.error(name, "the id of an object made before, one of" + known(""), id);
  return id;
}

}  // namespace qcd
