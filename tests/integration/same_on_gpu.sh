#!/usr/bin/env bash
# Every example of hmc gives the same bits on the processor and on the (simulated) GPU: with memory for everything, for a
# quarter of the working set, and for one statement at a time; one of them also while each kernel tries all its variants, and with
# two threads.
# Usage: same_on_gpu.sh HMC EXAMPLES FOLDER
# Compared: the data's checksums of the configuration after two trajectories, and every energy.
set -euo pipefail
hmc=$(realpath "$1") examples=$(realpath "$2") folder=$3
rm -rf "$folder"
mkdir -p "$folder"
cd "$folder"

checksums() { grep -ao '<sum[ab]>[0-9a-f]*' "$1"; }
energies() { grep -o '<delta[A-Z]*>[^<]*' "$1"; }
run() {  # NAME PLACE, environment as given
  mkdir -p "$2"
  (cd "$2" && "$hmc" -i "../$1.xml" -o "$1.out.xml" -l "$1.log.xml" >"$1.txt" 2>&1) || { tail -n 30 "$2/$1.txt"; echo "$1 on $2 does not run"; exit 1; }
}
compare() {  # NAME PLACE
  local config=$1_cfg_2.lime
  if [ "$(checksums "cpu/$config")" != "$(checksums "$2/$config")" ] ||
     [ "$(energies "cpu/$1.out.xml")" != "$(energies "$2/$1.out.xml")" ]; then
    echo "$1: $2 and the processor differ"
    diff <(energies "cpu/$1.out.xml") <(energies "$2/$1.out.xml") | head
    exit 1
  fi
}

check_example() {  # NAME
  local name=$1 began=$SECONDS peak statement tables quarter tuned finished
  TESSERA_DEVICE=cpu run "$name" cpu
  export TESSERA_DEVICE=sim
  TESSERA_LOG=debug,memory run "$name" sim
  compare "$name" sim
  peak=$(sed -n 's/.*peak \([0-9]*\) bytes; largest statement.*/\1/p' "sim/$name.txt")
  statement=$(sed -n 's/.*largest statement \([0-9]*\) bytes.*/\1/p' "sim/$name.txt")
  [ -n "$peak" ] && [ -n "$statement" ] || { echo "$name: no line about memory in the log"; exit 1; }
  # A quarter, but never less than one statement and the tables of neighbours (not spilled) take.
  tables=$((256 * 1024)) quarter=$((peak / 4))
  [ "$quarter" -ge $((statement + tables)) ] || quarter=$((statement + tables))
  TESSERA_MEM_MAX=$quarter run "$name" sim_quarter
  compare "$name" sim_quarter
  TESSERA_SPILL=1 run "$name" sim_statement
  compare "$name" sim_statement
  if [ "$name" = nf2_wilson ]; then
    TESSERA_TUNE=eager TESSERA_CACHE=0 TESSERA_LOG=debug,tune run "$name" sim_eager
    compare "$name" sim_eager
    # How many end their search is a matter of time; of those, sums and maxima of small fields try fewer sites.
    finished=$(grep -c 'tuned: ' "sim_eager/$name.txt" || true)
    tuned=$(grep -c 'tuned: .*sites 4[ ,]' "sim_eager/$name.txt" || true)
    [ "$finished" -ge 12 ] && [ $((4 * tuned)) -ge $((3 * finished)) ] ||
      { echo "$name: only $tuned of $finished kernels have tried four sites per thread"; exit 1; }
  fi
  echo "$name: peak $peak bytes, run in $quarter, largest statement $statement, $((SECONDS - began)) s"
}
export hmc
export -f checksums energies run compare check_example

names=()
for example in "$examples"/*.xml; do
  name=$(basename "$example" .xml)
  sed -e 's#<nrow>[^<]*<#<nrow>4 4 4 4<#' -e 's#<NUpdatesThisRun>[^<]*<#<NUpdatesThisRun>2<#' \
      -e 's#<SaveInterval>[^<]*<#<SaveInterval>2<#' -e "s#<SavePrefix>[^<]*<#<SavePrefix>$name<#" "$example" >"$name.xml"
  names+=("$name")
done
[ "${#names[@]}" -ge 11 ]
# Blocks of a kernel on two threads in one of them, which runs alone.
check_example nf2_wilson
jobs=$(nproc)  # which is 1 where OMP_NUM_THREADS is
export OMP_NUM_THREADS=1
printf '%s\n' "${names[@]}" | grep -vx nf2_wilson | xargs -P "$jobs" -I{} bash -euo pipefail -c 'check_example {}'
