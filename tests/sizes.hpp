// What a test may ask of QDP_ND and QDP_NC, which the build chooses.
#pragma once

#include "qdp_config.h"
#include "tests/skip.hpp"

/// Each ends the running test case as skipped unless the build has the size. `reason`: what of the case holds for it alone.
#define TESSERA_NEEDS_FOUR_DIMENSIONS(reason)                                                                          \
  do {                                                                                                                 \
    if (QDP_ND != 4) TESSERA_SKIP("QDP_ND is not 4: " reason);                                                         \
  } while (false)
#define TESSERA_NEEDS_THREE_COLORS(reason)                                                                             \
  do {                                                                                                                 \
    if (QDP_NC != 3) TESSERA_SKIP("QDP_NC is not 3: " reason);                                                         \
  } while (false)
#define TESSERA_NEEDS_QCD(reason)                                                                                      \
  do {                                                                                                                 \
    if (QDP_ND != 4 || QDP_NC != 3) TESSERA_SKIP("QDP_ND is not 4 or QDP_NC not 3: " reason);                          \
  } while (false)
