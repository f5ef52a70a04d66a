// QDP++ has a file of this name.
#pragma once

#include "qdp/util/byte_order.hpp"
