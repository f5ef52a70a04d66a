// Attributes of an XML tag, with the names of QDP++'s xpath_reader library.
#pragma once

#include <list>
#include <string>
#include <type_traits>
#include <utility>

#include "qdp/io/xml_token.hpp"

namespace XMLWriterAPI {

class Attribute {
 public:
  Attribute() = default;
  Attribute(std::string name, std::string value) : name_(std::move(name)), value_(std::move(value)) {}
  Attribute(std::string name, const char* value) : Attribute(std::move(name), std::string(value)) {}
  template <class T>
  requires std::is_arithmetic_v<T> Attribute(std::string name, T value) : name_(std::move(name)) {
    QDP::xml::append_token(value_, value);
  }
  Attribute(const std::string& prefix, const std::string& name, std::string value)
      : Attribute(prefix + ":" + name, std::move(value)) {}
  template <class T>
  requires std::is_arithmetic_v<T>
  Attribute(const std::string& prefix, const std::string& name, T value) : Attribute(prefix + ":" + name, value) {}

  const std::string& getName() const { return name_; }
  const std::string& getValue() const { return value_; }
  bool isEmpty() const { return name_.empty(); }

 private:
  std::string name_;
  std::string value_;
};

using AttributeList = std::list<Attribute>;

}  // namespace XMLWriterAPI
