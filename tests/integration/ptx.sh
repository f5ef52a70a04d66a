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

export TESSERA_DEVICE=sim TESSERA_CACHE=0 TESSERA_DUMP=ptx TESSERA_SIM_DELAY=0
quietly() { "$@" >output.txt 2>&1 || { tail -n 30 output.txt; echo "$* does not run"; exit 1; }; }

if [ -x "$programs/bench" ]; then  # not in debug and sanitizer builds
  export TESSERA_SIM_MEMORY=4M  # also what bench measures the bandwidth with
  for suite in expr dslash; do
    for precision in single double; do
      for tune in 0 eager; do
        dump=bench_${suite}_$precision
        [ "$tune" = 0 ] || dump=variants
        TESSERA_TUNE=$tune TESSERA_DUMP_DIR=$dump quietly "$programs/bench" "$suite" --lattice 4 4 4 4 \
          --precision "$precision" --threads 1 --min-time 0.001
      done
    done
  done
  unset TESSERA_SIM_MEMORY
  "$check" variants
  "$check" --no-spills --most-registers 128 bench_dslash_single
  "$check" --no-spills bench_*
  for dump in bench_expr_single bench_expr_double; do
    [ "$(find "$dump" -name '*.ptx' | wc -l)" -ge 9 ] || { echo "$dump: expected a kernel for each case"; exit 1; }
  done
fi

for example in "$examples"/*.xml; do
  name=$(basename "$example" .xml)
  sed -e 's#<nrow>[^<]*<#<nrow>4 4 4 4<#' -e 's#<NUpdatesThisRun>[^<]*<#<NUpdatesThisRun>1<#' \
      -e "s#<SavePrefix>[^<]*<#<SavePrefix>$name<#" "$example" >"$name.xml"
  TESSERA_DUMP_DIR=hmc quietly "$programs/hmc" -i "$name.xml" -o "$name.out.xml" -l "$name.log.xml"
done
"$check" hmc
[ "$(find hmc -name '*.ptx' | wc -l)" -ge 200 ] || { echo "hmc: expected kernels of every kind of action"; exit 1; }
