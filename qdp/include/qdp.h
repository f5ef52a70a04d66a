// Everything a user of the language needs: #include "qdp.h", using namespace QDP.
#pragma once

#include "qdp/expr/sym.hpp"
#include "qdp/layout/layout.hpp"
#include "qdp/layout/map.hpp"
#include "qdp/layout/subset.hpp"
#include "qdp/types/functions.hpp"
#include "qdp/types/reductions.hpp"
#include "qdp/types/shift.hpp"
#include "qdp/types/typedefs.hpp"
