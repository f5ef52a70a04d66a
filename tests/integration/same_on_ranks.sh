#!/usr/bin/env bash
# hmc gives the same bits on any grid of ranks and on the simulated GPU, and a run that was saved on one grid goes on on another.
# Usage: same_on_ranks.sh HMC MPIRUN EXAMPLES FOLDER
# Compared: the data's checksums of configurations, and every number of the data document that is not a time.
set -euo pipefail
hmc=$(realpath "$1") mpirun=$2 examples=$(realpath "$3") folder=$4
[ -n "$mpirun" ] || { echo "SKIP: MPI was not there when the tests were configured"; exit 77; }
rm -rf "$folder"
mkdir -p "$folder"
cd "$folder"
export OMP_NUM_THREADS=1

checksums() { grep -ao '<sum[ab]>[0-9a-f]*' "$1"; }
# Of the updates: the rest says when, where and by how many ranks.
numbers() { sed -n '/<doHMC>/,/<\/doHMC>/p' "$1" | grep -v 'seconds\|<date\|_time\|hash'; }
run() {  # NAME PLACE GRID ARGUMENTS...
  local name=$1 place=$2 ranks=1 n
  read -ra grid <<<"$3"
  shift 3
  for n in "${grid[@]}"; do ranks=$((ranks * n)); done
  mkdir -p "$place"
  (cd "$place" && "$mpirun" -np "$ranks" "$hmc" -geom "${grid[@]}" "$@" -o "$name.out.xml" -l "$name.log.xml" >"$name.txt" 2>&1) ||
    { tail -n 30 "$place/$name.txt"; echo "$name on ${grid[*]} does not run"; exit 1; }
}
same() {  # NAME ONE OTHER, of update 2
  local config=$1_cfg_2.lime
  [ "$(checksums "$2/$config")" = "$(checksums "$3/$config")" ] || { echo "$1: configurations of $2 and $3 differ"; exit 1; }
}

for name in quickstart nf2_wilson nf2_clover_hasenbusch stout_staggered_2+1; do
  # 4 x 4 x 4 x 8: boxes that fill lanes, and boxes that do not.
  sed -e 's#<nrow>[^<]*<#<nrow>4 4 4 8<#' -e 's#<NUpdatesThisRun>[^<]*<#<NUpdatesThisRun>2<#' \
      -e 's#<SaveInterval>[^<]*<#<SaveInterval>1<#' -e "s#<SavePrefix>[^<]*<#<SavePrefix>$name<#" \
      "$examples/$name.xml" >"$name.xml"
  run "$name" alone "1 1 1 1" -i "../$name.xml"
  [ -n "$(numbers "alone/$name.out.xml")" ] || { echo "$name: no numbers to compare"; exit 1; }
  for grid in "1 1 1 2" "2 1 1 1" "2 2 1 1" "1 1 1 4"; do
    place=${grid// /}
    run "$name" "$place" "$grid" -i "../$name.xml"
    same "$name" alone "$place"
    diff <(numbers "alone/$name.out.xml") <(numbers "$place/$name.out.xml") >"$place/$name.diff" ||
      { head -n 10 "$place/$name.diff"; echo "$name: data of $place and of one rank differ"; exit 1; }
  done
  TESSERA_DEVICE=sim TESSERA_SIM_DELAY=0 run "$name" sim "1 1 1 2" -i "../$name.xml"
  same "$name" alone sim
  # Saved after one update by four ranks, continued by one and by two.
  for grid in "1 1 1 1" "1 2 1 1"; do
    place=continued_${grid// /}
    mkdir -p "$place"
    cp "1114/${name}_cfg_1.lime" "1114/${name}_restart_1.xml" "$place"
    sed -e 's#<NUpdatesThisRun>[^<]*<#<NUpdatesThisRun>1<#' -i "$place/${name}_restart_1.xml"
    run "$name" "$place" "$grid" -i "${name}_restart_1.xml"
    same "$name" alone "$place"
  done
  echo "$name: the same"
done
