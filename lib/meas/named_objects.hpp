// Fields that measurements hand to each other by name: smeared links, sources, propagators.
//
// "default_gauge_field" is the field of the run. Objects carry the XML that describes how they were made; it is what a
// file gets as file and record XML, and what later measurements read the source's position from.
#pragma once

#include "lib/gauge/gauge_field.hpp"
#include "lib/io/input.hpp"

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <variant>
#include <vector>

namespace qcd {

inline constexpr const char* kDefaultGaugeField = "default_gauge_field";

/// Name of an object's type in inputs (object_type), as in Chroma.
template <class T>
struct ObjectType;
template <>
struct ObjectType<GaugeField> {
  static constexpr const char* name = "Multi1dLatticeColorMatrix";
};
template <>
struct ObjectType<QDP::LatticeColorMatrix> {
  static constexpr const char* name = "LatticeColorMatrix";
};
template <>
struct ObjectType<QDP::LatticePropagator> {
  static constexpr const char* name = "LatticePropagator";
};
template <>
struct ObjectType<QDP::LatticeStaggeredPropagator> {
  static constexpr const char* name = "LatticeStaggeredPropagator";
};

/// Bytes per site of an object of the type of that name.
double bytes_of_object(const std::string& type);

/// What describes an object.
struct ObjectRecord {
  std::string file_xml = "<file/>";
  std::string record_xml = "<record/>";
};

class NamedObjects {
 public:
  /// Makes `u` the default gauge field; the caller keeps it alive. `config_xml` is its record.
  void set_default_gauge_field(const GaugeField& u, const std::string& config_xml = "");

  /// Throws InputError if the id is taken.
  template <class T>
  void create(const std::string& id, T value, ObjectRecord record) {
    insert(id, std::make_shared<const T>(std::move(value)), std::move(record));
  }

  /// Throws InputError, naming the objects that there are, if there is none with this id or it is of another type.
  template <class T>
  const T& get(const std::string& id) const {
    const auto* value = std::get_if<std::shared_ptr<const T>>(&entry(id).value);
    if (!value) fail_type(id, ObjectType<T>::name);
    return **value;
  }
  const ObjectRecord& record(const std::string& id) const { return entry(id).record; }
  /// The name of its type.
  std::string type(const std::string& id) const;

  void erase(const std::string& id);
  std::vector<std::string> ids() const;

 private:
  using Value = std::variant<std::shared_ptr<const GaugeField>, std::shared_ptr<const QDP::LatticeColorMatrix>,
                             std::shared_ptr<const QDP::LatticePropagator>,
                             std::shared_ptr<const QDP::LatticeStaggeredPropagator>>;
  struct Entry {
    Value value;
    ObjectRecord record;
  };
  void insert(const std::string& id, Value value, ObjectRecord record);
  const Entry& entry(const std::string& id) const;
  [[noreturn]] void fail_type(const std::string& id, const std::string& expected) const;

  std::map<std::string, Entry> entries_;
};

/// The objects that the measurements of an input will find and make, in the order of the input: wrong ids and types are
/// reported with all other errors of the input, before anything runs. Files that one measurement writes may be read by
/// later ones; others must be there.
class ObjectPlan {
 public:
  ObjectPlan();

  /// The id in the child `name` of `group`, which must be that of an object of type T made before.
  template <class T>
  std::string uses(const Input& group, const std::string& name) const {
    return uses(group, name, ObjectType<T>::name);
  }
  /// An id that is not in use yet; from here on it is that of an object of type T.
  template <class T>
  std::string makes(const Input& group, const std::string& name) {
    return makes(group, name, ObjectType<T>::name);
  }
  std::string uses(const Input& group, const std::string& name, const std::string& type) const;
  std::string makes(const Input& group, const std::string& name, const std::string& type);
  /// An id of any type, which is free afterwards.
  std::string erases(const Input& group, const std::string& name);

  /// A measurement that is not known (an error already) may have made anything that it names: what needs that is no second
  /// error.
  void assume(const Input& measurement);

  /// The name of a file that a measurement writes.
  std::string writes_file(const Input& group, const std::string& name);
  /// How many such names there have been.
  int files_to_write() const { return files_to_write_; }
  /// The name of a file that it reads: one written before, or one that is there and has fields of the lattice.
  std::string reads_file(const Input& group, const std::string& name) const;

  /// Room for fields while a measurement is done, besides all objects.
  void works_with(double bytes_per_site) { most_bytes_ = std::max(most_bytes_, bytes_ + bytes_per_site); }
  /// Bytes per site when there are most objects.
  double most_bytes() const { return most_bytes_; }

 private:
  std::string known(const std::string& type) const;
  std::vector<std::string> ids() const;

  std::map<std::string, std::string> types_;
  std::set<std::string> assumed_, files_;
  int files_to_write_ = 0;
  double bytes_ = 0, most_bytes_ = 0;
};

}  // namespace qcd
