// QDP++ has a file of this name.
#pragma once

#include "qdp/layout/layout.hpp"
