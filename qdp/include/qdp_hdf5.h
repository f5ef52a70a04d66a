// QDP++ has a file of this name.
#pragma once

#include "qdp/io/hdf5.hpp"
