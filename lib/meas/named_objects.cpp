#include "lib/meas/named_objects.hpp"

#include "lib/io/lattice.hpp"
#include "lib/io/output_name.hpp"
#include "qdp/util/spelling.hpp"

#include <sstream>

namespace qcd {

using QDP::Nc, QDP::Nd, QDP::Ns;

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
  if (found == types_.end() && assumed_.contains(id)) return id;
  if (found == types_.end() || found->second != type)
    group.error(name, "the id of a " + type + " made before, one of" + known(type),
                found == types_.end() ? id + QDP::did_you_mean(id, ids()) : id + ", a " + found->second);
  return id;
}

std::string ObjectPlan::makes(const Input& group, const std::string& name, const std::string& type) {
  const std::string id = group.word(name);
  if (id.empty()) return id;
  if (!types_.emplace(id, type).second) group.error(name, "an id that is not in use", id);
  bytes_ += bytes_of_object(type);
  works_with(0);
  return id;
}

std::string ObjectPlan::erases(const Input& group, const std::string& name) {
  const std::string id = group.word(name);
  const auto found = types_.find(id);
  if (found != types_.end()) {
    bytes_ -= bytes_of_object(found->second);
    types_.erase(found);
  } else if (!id.empty() && !assumed_.contains(id)) {
    group.error(name, "the id of an object made before, one of" + known(""), id + QDP::did_you_mean(id, ids()));
  }
  return id;
}

std::vector<std::string> ObjectPlan::ids() const {
  std::vector<std::string> list;
  for (const auto& [id, type] : types_) list.push_back(id);
  return list;
}

void ObjectPlan::assume(const Input& measurement) {
  const std::string xml = measurement.xml();
  for (std::size_t at = xml.find('>'); at != std::string::npos; at = xml.find('>', at + 1)) {
    std::istringstream text(xml.substr(at + 1, xml.find('<', at) - at - 1));
    for (std::string word; text >> word;) {
      assumed_.insert(word);
      files_.insert(word);
    }
  }
}

std::string ObjectPlan::writes_file(const Input& group, const std::string& name) {
  const std::string file = group.word(name);
  require_output_name(group, name, file);
  files_.insert(file);
  ++files_to_write_;
  return file;
}

std::string ObjectPlan::reads_file(const Input& group, const std::string& name) const {
  const std::string file = group.word(name);
  if (file.empty() || files_.contains(file)) return file;
  if (const std::string why = QDP::why_unreadable(file); !why.empty())
    group.error(name, "a file that can be read, or that a measurement before this one writes", file + " (" + why + ")");
  else
    require_lattice_of_file(group, name, file);
  return file;
}

double bytes_of_object(const std::string& type) {
  constexpr double matrix = 2.0 * Nc * Nc * sizeof(QDP::REAL);
  if (type == ObjectType<GaugeField>::name) return Nd * matrix;
  if (type == ObjectType<QDP::LatticePropagator>::name) return Ns * Ns * matrix;
  return matrix;  // a colour matrix, or a staggered propagator, which is one as well
}

}  // namespace qcd
