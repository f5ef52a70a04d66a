// QDP++ has a file of this name.
#pragma once

#include "qdp/io/stdio.hpp"
