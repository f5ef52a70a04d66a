// QDP++ has a file of this name.
#pragma once

#include "qdp.h"
#include "qdp/io/map_obj.hpp"
