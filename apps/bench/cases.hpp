// Which cases of a suite are measured.
#pragma once

#include <set>
#include <string>
#include <vector>

namespace bench {

class Cases {
 public:
  /// Those of these names; all if there are none.
  explicit Cases(const std::vector<std::string>& names) : asked_(names.begin(), names.end()) {}

  /// Whether a case that a suite has is wanted.
  bool want(const std::string& name);
  /// Throws if a name was asked for that no suite had.
  void check() const;

 private:
  std::set<std::string> asked_, offered_;
};

}  // namespace bench
