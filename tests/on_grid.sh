#!/usr/bin/env bash
# One test program as many ranks as the grid $TEST_GRID ("1 1 1 2") has: on_grid.sh MPIRUN NAME PROGRAM
# The verdicts of its cases go to NAME in $TEST_VERDICTS_FOLDER.
set -euo pipefail
mpirun=$1 name=$2 program=$3 ranks=1
for n in ${TEST_GRID:?names a grid of ranks such as 1 1 1 2}; do ranks=$((ranks * n)); done
if [ -n "${TEST_VERDICTS_FOLDER:-}" ]; then
  export TEST_VERDICTS=$TEST_VERDICTS_FOLDER/$name
  rm -f "$TEST_VERDICTS"
fi
exec "$mpirun" -np "$ranks" "$program"
