// QDP++ has a file of this name.
#pragma once

#include "qdp/util/array_one_based.hpp"
