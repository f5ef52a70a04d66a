// QDP++ has a file of this name.
#pragma once

#include "qdp/init/flop_counter.hpp"
