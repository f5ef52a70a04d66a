// For programs that include QIO's header for the names that QDP++ takes from it: files of records and their modes. QIO's own
// functions are not here; where QIO is installed too, this is its header.
#pragma once

#if __has_include_next(<qio.h>)
#include_next <qio.h>
#endif

#include "qdp/io/qdp_file.hpp"
