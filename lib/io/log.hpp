// Structured output of a run: the same group and value written to each of a set of XML documents, or to none.
#pragma once

#include "qdp.h"

#include <initializer_list>
#include <string>
#include <vector>

namespace qcd {

/// A set of XML documents written alike. A default-made Log writes nothing, for callers who want the numbers only.
class Log {
 public:
  Log() = default;
  Log(std::initializer_list<QDP::XMLWriter*> writers) : writers_(writers) {}

  bool active() const { return !writers_.empty(); }

  template <class T>
  void write(const std::string& tag, const T& value) const {
    for (QDP::XMLWriter* xml : writers_) QDP::write(*xml, tag, value);
  }

  /// An open element, closed at the end of the scope.
  class Group {
   public:
    Group(const Log& log, const std::string& tag) : log_(log) {
      for (QDP::XMLWriter* xml : log_.writers_) QDP::push(*xml, tag);
    }
    ~Group() {
      for (QDP::XMLWriter* xml : log_.writers_) QDP::pop(*xml);
    }
    Group(const Group&) = delete;
    Group& operator=(const Group&) = delete;

   private:
    const Log& log_;
  };
  [[nodiscard]] Group group(const std::string& tag) const { return Group(*this, tag); }

  const std::vector<QDP::XMLWriter*>& writers() const { return writers_; }

 private:
  std::vector<QDP::XMLWriter*> writers_;
};

}  // namespace qcd
