#!/bin/sh
# What qdp.h brings into every program: SOURCE_FOLDER COMPILER FLAG... Names what should not be there.
# Compiling a short program is reading headers: the run time's and the compiler's own stay out, and so do heavy ones of C++ that
# QDP++ does not bring either. A std::unique_ptr costs 10 ms for each type (jit/support/owned.hpp).
set -eu
cd "$1"
shift
status=0
headers=$(echo '#include "qdp.h"' | "$@" -M -x c++ - | tr ' \\' '\n\n' | grep "^$PWD/\(jit\|qdp\)/" | sort -u)
[ "$(echo "$headers" | wc -l)" -gt 40 ] || { echo "only these headers were found: $headers"; exit 1; }
for header in $headers; do
  case ${header#"$PWD/"} in
    jit/device/* | jit/codegen/* | jit/runtime* | jit/comm/* | jit/ir/ir.hpp | jit/memory/memory.hpp | jit/memory/sites.hpp | \
      qdp/layout/lattice_state.hpp | qdp/layout/set_tables.hpp | qdp/io/map_obj.hpp)
      echo "qdp.h includes ${header#"$PWD/"}"
      status=1
      ;;
  esac
done
# shellcheck disable=SC2086
if grep -nE '^#include <(algorithm|chrono|deque|filesystem|functional|iomanip|locale|mutex|random|ranges|regex|thread|unordered_map|unordered_set)>' \
  $headers; then
  echo 'qdp.h includes these'
  status=1
fi
# shellcheck disable=SC2086
if grep -nE '^ +(mutable )?std::unique_ptr<.*> [a-z_]+;' $headers; then
  echo 'qdp.h has these members; jit::Owned is as good'
  status=1
fi
exit $status
