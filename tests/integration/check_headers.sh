#!/bin/sh
# Every header of the libraries and programs compiles alone: SOURCE_FOLDER COMPILER FLAG... Names those that do not.
# And the sources of a library compile together, as quick builds (TESSERA_QUICK_BUILD) take several at a time: names of one file may
# not mean something else in the next.
# A header with a .cpp of its name is proven by the build, because that .cpp includes it first (checked here as well).
set -eu
cd "$1"
shift
status=0
headers=
without='^$'
echo '#include "qdp_config.h"' | "$@" -dM -E -x c++ - | grep -q QDP_USE_HDF5 || without='hdf5\.'   # left out of the build
# Of the header names of QDP++ those that are more than another name of qdp.h; qdp_mpi.h needs MPI.
for header in $({ find jit qdp lib apps -name '*.hpp' | sort; grep -L -e '"qdp.h"' -e '<mpi.h>' qdp/include/*.h; } | grep -v "$without"); do
  source=${header%.*}.cpp
  if [ ! -e "$source" ]; then
    headers="$headers $header"
  elif [ "$(grep -m1 '^#include' "$source")" != "#include \"$header\"" ]; then
    echo "$source does not include $header first"
    status=1
  fi
done
export without
# Those that take longest first.
{
  for library in qdp lib; do echo "$library"; done
  printf '%s\n' $headers
} | xargs -P "$(nproc)" -I '{}' sh -c '
    what=$1; shift
    if [ -d "$what" ]; then
      find "$what" -name "*.cpp" | grep -v "$without" | sort | sed "s|.*|#include \"&\"|" | "$@" -fsyntax-only -fopenmp -w -x c++ - || {
        echo "the sources of $what do not compile together"
        exit 1
      }
    else
      echo "#include \"$what\"" | "$@" -fsyntax-only -x c++ - || { echo "does not compile alone: $what"; exit 1; }
    fi
  ' check '{}' "$@" || status=1
exit $status
