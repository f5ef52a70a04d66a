#!/usr/bin/env bash
# The assembler takes the PTX of every kernel of bench expr, bench dslash and the examples of hmc, for sm_90 and sm_80.
# Those of bench do not spill, and Dslash in single precision takes at most 128 registers; the variants that tuning tries
# (of which it drops those that spill) are only taken.
# Usage: ptx.sh PTX_CHECK PROGRAMS EXAMPLES FOLDER     PROGRAMS: the folder of bench and hmc
set -euo pipefail
check=$(realpath "$1") programs=$(realpath "$2") examples=$(realpath "$3") folder=$4
rm -rf "$folder"
mkdir -p "$folder"
cd "$folder"
command -v ptxas >/dev/null || [ -x /usr/local/cuda/bin/ptxas ] || { echo "SKIP: no ptxas"; exit 77; }

jobs=$(nproc)  # which is 1 where OMP_NUM_THREADS is
export TESSERA_DEVICE=sim TESSERA_CACHE=0 TESSERA_DUMP=ptx TESSERA_SIM_DELAY=0 OMP_NUM_THREADS=1
export programs
quietly() { "$@" >"$TESSERA_DUMP_DIR.txt" 2>&1 || { tail -n 30 "$TESSERA_DUMP_DIR.txt"; echo "$* does not run"; exit 1; }; }
run_bench() {  # SUITE PRECISION TUNE
  export TESSERA_TUNE=$3 TESSERA_DUMP_DIR=bench_$1_$2 TESSERA_SIM_MEMORY=4M  # also what bench measures the bandwidth with
  [ "$3" = 0 ] || TESSERA_DUMP_DIR=variants_$1_$2
  quietly "$programs/bench" "$1" --lattice 4 4 4 4 --precision "$2" --threads 1 --min-time 0.001
}
run_hmc() {  # EXAMPLE
  local name
  name=$(basename "$1" .xml)
  sed -e 's#<nrow>[^<]*<#<nrow>4 4 4 4<#' -e 's#<NUpdatesThisRun>[^<]*<#<NUpdatesThisRun>1<#' \
      -e "s#<SavePrefix>[^<]*<#<SavePrefix>$name<#" "$1" >"$name.xml"
  TESSERA_DUMP_DIR=hmc_$name quietly "$programs/hmc" -i "$name.xml" -o "$name.out.xml" -l "$name.log.xml"
}
export -f quietly run_bench run_hmc

{
  if [ -x "$programs/bench" ]; then  # not in debug and sanitizer builds
    for suite in expr dslash; do
      for precision in single double; do
        for tune in eager 0; do echo "run_bench $suite $precision $tune"; done
      done
    done
  fi
  for example in "$examples"/*.xml; do echo "run_hmc $example"; done
} | xargs -P "$jobs" -I{} bash -euc '{}'

if [ -x "$programs/bench" ]; then
  "$check" variants_*/
  "$check" --no-spills --most-registers 128 bench_dslash_single
  "$check" --no-spills bench_expr_single bench_expr_double bench_dslash_single bench_dslash_double
  for dump in bench_expr_single bench_expr_double; do
    [ "$(find "$dump" -name '*.ptx' | wc -l)" -ge 9 ] || { echo "$dump: expected a kernel for each case"; exit 1; }
  done
fi
"$check" hmc_*/
[ "$(find hmc_*/ -name '*.ptx' -printf '%f\n' | sort -u | wc -l)" -ge 200 ] || { echo "hmc: expected kernels of every kind of action"; exit 1; }
