// The built-in types behind the words of site types, and the sizes of this build. As in QDP++ the words are global names.
#pragma once

#include "qdp_config.h"

using INTEGER32 = int;
using REAL32 = float;
using REAL64 = double;
using LOGICAL = bool;
#if BASE_PRECISION == 32
using REAL = REAL32;
#else
using REAL = REAL64;
#endif
using DOUBLE = REAL64;

namespace QDP {

constexpr int Nd = QDP_ND;
constexpr int Nc = QDP_NC;
constexpr int Ns = QDP_NS;

using ::DOUBLE;
using ::INTEGER32;
using ::LOGICAL;
using ::REAL;
using ::REAL32;
using ::REAL64;

}  // namespace QDP
