#!/bin/sh
# Every header compiles alone: SOURCE_FOLDER COMPILER FLAG... Names the headers that do not.
set -eu
cd "$1"
shift
find jit qdp lib apps tests -name '*.hpp' -o -name 'qdp.h' | sort |
  xargs -P "$(nproc)" -I '{}' sh -c '
    header=$1; shift
    "$@" -fsyntax-only -x c++ "$header" -Wno-pragma-once-outside-header || { echo "does not compile alone: $header"; exit 1; }
  ' check '{}' "$@"
