// The group AnisoParam of gauge and quark actions.
#pragma once

#include "lib/io/input.hpp"

#include "qdp.h"

namespace qcd {

/// [AnisoParam {anisoP, t_dir, xi_0, and [nu = 1] if A has one}] of `action`; isotropic where absent or anisoP is false.
template <class A>
A read_anisotropy(const Input& action) {
  A aniso;
  if (!action.has("AnisoParam")) return aniso;
  const Input group = action.group("AnisoParam");
  aniso.on = group.flag("anisoP");
  if (aniso.on) {
    aniso.t_dir = group.integer("t_dir", {0, QDP::Nd - 1});
    aniso.xi_0 = group.real("xi_0", positive());
    if constexpr (requires { aniso.nu; })
      aniso.nu = group.real("nu", {}, 1);
    else
      group.accept_unused({"nu"});
  } else {
    group.accept_unused({"t_dir", "xi_0", "nu"});
  }
  return aniso;
}

}  // namespace qcd
