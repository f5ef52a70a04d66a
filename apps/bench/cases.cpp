#include "apps/bench/cases.hpp"

#include "jit/support/error.hpp"

namespace bench {

bool Cases::want(const std::string& name) {
  offered_.insert(name);
  return asked_.empty() || asked_.contains(name);
}

void Cases::check() const {
  std::string all;
  for (const std::string& name : offered_) all += (all.empty() ? "" : ", ") + name;
  for (const std::string& name : asked_)
    if (!offered_.contains(name)) throw jit::UserError({.what = "--case", .expected = "one of " + all, .got = name});
}

}  // namespace bench
