// Everything a user of the language needs: #include "qdp.h", using namespace QDP.
#pragma once

// Programs rely on these. Without stdlib.h abs(-0.5) is the C library's, of integers, and nought.
#include <stdlib.h>

#include <fstream>
#include <iostream>
#include <stack>

#include "qdp/expr/sym.hpp"
#include "qdp/init/flop_counter.hpp"
#include "qdp/init/init.hpp"
#include "qdp/init/internal.hpp"
#include "qdp/io/archive.hpp"
#ifdef QDP_USE_HDF5
#include "qdp/io/hdf5.hpp"
#endif
#include "qdp/io/qdp_file.hpp"
#include "qdp/io/qio_names.hpp"
#include "qdp/io/site_values.hpp"
#include "qdp/io/stdio.hpp"
#include "qdp/io/whole_file.hpp"
#include "qdp/layout/layout.hpp"
#include "qdp/layout/map.hpp"
#include "qdp/layout/subset.hpp"
#include "qdp/rng/rannyu.hpp"
#include "qdp/rng/rng.hpp"
#include "qdp/types/builtin.hpp"
#include "qdp/types/functions.hpp"
#include "qdp/types/pete.hpp"
#include "qdp/types/reductions.hpp"
#include "qdp/types/seed.hpp"
#include "qdp/types/shift.hpp"
#include "qdp/types/storage.hpp"
#include "qdp/types/typedefs.hpp"
#include "qdp/util/allocator.hpp"
#include "qdp/util/multi.hpp"
#include "qdp/util/singleton.hpp"
#include "qdp/util/stopwatch.hpp"
