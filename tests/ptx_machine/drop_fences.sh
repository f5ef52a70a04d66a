#!/usr/bin/env bash
# Each barrier and memory fence of the kernels of sums is left out in turn, and the PTX machine or the numbers tell; with
# all of them in place nothing is said.
# Usage: drop_fences.sh TEST_QDP_REDUCTIONS LIBCUDA_PTX FOLDER
set -euo pipefail
test=$(realpath "$1") folder=$3
export TESSERA_LIBCUDA=$(realpath "$2") TESSERA_DEVICE=cuda TESSERA_CACHE=0 PTX_MACHINE_CHECK_FIRST=1000000
rm -rf "$folder"
mkdir -p "$folder"
cd "$folder"

for ((n = 0; n < 20; ++n)); do
  status=0
  PTX_MACHINE_DROP=$n timeout 100 "$test" --test-case='sum adds the sites of a subset*,norm2*' >"$n.txt" 2>&1 || status=$?
  what=$(grep -m1 'ptx machine: left out: ' "$n.txt" || true)
  [ -n "$what" ] || break
  [ "$status" -ne 0 ] || { echo "not noticed: $what"; exit 1; }
  echo "${what#*: left out: }: $(grep -m1 'ptx machine: [^l]' "$n.txt" | cut -c1-120 || echo "wrong numbers")"
done
[ "$status" -eq 0 ] || { echo "without any left out:"; tail -n 20 "$n.txt"; exit 1; }
# Around the shared sums, before and after they are given to the last block, after its exchange, and before the flag.
[ "$n" -ge 7 ] || { echo "expected at least 7 barriers and fences in a sum, got $n"; exit 1; }
