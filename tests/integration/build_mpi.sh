#!/usr/bin/env bash
# One command makes the plug-in for MPI from what is installed, or from the repository, and a program built long before runs with it.
# Usage: build_mpi.sh INSTALLED_SCRIPT SCRIPT_OF_THE_REPOSITORY JOB FOLDER
#   JOB: tests/mpi/job.cpp, built with another copy of the plug-in
set -euo pipefail
installed=$1 script=$2 job=$3 folder=$4
if ! command -v mpicxx >/dev/null || ! command -v mpirun >/dev/null || [ ! -e "$job" ]; then
  echo "SKIP: no MPI, or none when this was configured"
  [ -z "${TEST_SKIPPED_LIST:-}" ] || echo "build_mpi.sh: no MPI" >"${TEST_SKIPPED_LIST}_build_mpi"
  exit 77
fi
rm -rf "$folder"
mkdir -p "$folder"
cd "$folder"

"$installed" --output "$folder/installed.so"
"$installed" | grep '^made .*/libtessera_mpi.so$'
found=$(find "$(dirname "$installed")/../" -name libtessera_mpi.so)
[ "$(dirname "$found")" = "$(dirname "$(find "$(dirname "$installed")/../" -name libtessera_jit.so)")" ]
"$script" --output "$folder/repository.so"
for plugin in installed repository; do
  TESSERA_MPI_LIBRARY=$folder/$plugin.so mpirun -np 2 "$job" hello | tee output.txt
  grep -q '^once, from 2$' output.txt
done
# What it cannot do it says.
if "$script" --compiler no_such_mpicxx 2>errors.txt; then exit 1; fi
grep -q 'no compiler no_such_mpicxx' errors.txt
if "$script" --output "$folder/x.so" -- -no-such-option 2>errors.txt; then exit 1; fi
grep -q 'could not compile' errors.txt
[ ! -e "$folder/x.so" ] && [ ! -e "$folder/x.so.new" ]
