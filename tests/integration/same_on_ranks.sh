#!/usr/bin/env bash
# hmc and measure give the same bits on any grid of ranks, with any number of threads, on the simulated GPU, statement by statement, with
# other lanes and links of 12 or 18 numbers; a run that was saved by four ranks goes on on one and on eight. What may differ is the list
# of scripts/same-results, nothing else.
# Usage: same_on_ranks.sh PROGRAMS MPIRUN SOURCE FOLDER [all]
# Without "all" four of the examples, those with quarks on some of the grids.
set -euo pipefail
programs=$(realpath "$1") mpirun=$2 source=$(realpath "$3") folder=$4 wanted=${5:-some}
[ -n "$mpirun" ] || { echo "SKIP: MPI was not there when the tests were configured"; exit 77; }
rm -rf "$folder"
mkdir -p "$folder"
cd "$folder"

run() {  # PLACE GRID PROGRAM ARGUMENTS... in the folder PLACE, of which the others are told apart by nothing but what the run writes
  local place=$1 program=$programs/$3 ranks=1 grid n
  read -ra grid <<<"$2"
  shift 3
  for n in "${grid[@]}"; do ranks=$((ranks * n)); done
  mkdir -p "$place"
  (cd "$place" && timeout 500 "$mpirun" -np "$ranks" "$program" -geom "${grid[@]}" "$@" -o out.xml -l log.xml >../output.txt 2>&1 </dev/null) ||
    { tail -n 30 "$place/../output.txt"; echo "$program on ${grid[*]} does not run"; exit 1; }
}
same() { "$source/scripts/same-results" "$@" >difference.txt || { cat difference.txt; exit 1; }; }

runs=0
compare() {  # NAME GRIDS DEVICES COMMAND...: with one rank and one thread
  local name=$1 grids=$2 devices=$3 began=$SECONDS grid place
  shift 3
  export OMP_NUM_THREADS=1
  run "$name/alone" "1 1 1 1" "$@"
  while read -r grid; do
    run "$name/${grid// /}" "$grid" "$@"
    same "$name/alone" "$name/${grid// /}"
    runs=$((runs + 1))
  done <<<"$grids"
  while read -r grid; do
    TESSERA_DEVICE=sim TESSERA_SIM_DELAY=0 run "$name/sim_${grid// /}" "$grid" "$@"
    OMP_NUM_THREADS=2 run "$name/threads_${grid// /}" "$grid" "$@"
    TESSERA_FUSE=0 TESSERA_TWO_ROWS=1 run "$name/unfused_${grid// /}" "$grid" "$@"
    TESSERA_LANES=4 TESSERA_TWO_ROWS=0 run "$name/lanes_${grid// /}" "$grid" "$@"
    for place in sim threads unfused lanes; do same "$name/alone" "$name/${place}_${grid// /}"; done
    runs=$((runs + 4))
  done <<<"$devices"
  echo "$name: the same, $((SECONDS - began)) s"
}

# 4 x 4 x 4 x 8: boxes that fill lanes, and boxes that do not.
every=$'1 1 1 2\n2 1 1 1\n2 2 1 1\n2 2 2 1\n2 2 2 2\n1 1 1 4'
examples="quickstart nf2_wilson nf2_clover_hasenbusch stout_staggered_2+1"
[ "$wanted" = some ] || examples=$(cd "$source/examples/hmc" && basename -s .xml ./*.xml)
for name in $examples; do
  # The second and last update may be rejected. One step on each time scale.
  sed -e 's#<nrow>[^<]*<#<nrow>4 4 4 8<#' -e 's#<NUpdatesThisRun>[^<]*<#<NUpdatesThisRun>2<#' \
      -e 's#<NWarmUpUpdates>[^<]*<#<NWarmUpUpdates>1<#' -e 's#<NProductionUpdates>[^<]*<#<NProductionUpdates>1<#' \
      -e 's#<SaveInterval>[^<]*<#<SaveInterval>1<#' -e 's#<SavePrefix>[^<]*<#<SavePrefix>run<#' \
      -e 's#<n_steps>[^<]*<#<n_steps>1<#' "$source/examples/hmc/$name.xml" >"$name.xml"
  grids=$every devices=$'1 1 1 1\n1 1 1 2'
  [ "$wanted" = all ] || [ "$name" = quickstart ] || { grids=$'2 2 1 1\n1 1 1 4' devices="1 1 1 2"; }
  compare "$name" "$grids" "$devices" hmc -i "../../$name.xml"
  # Saved after one update by four ranks.
  for grid in "1 1 1 1" "2 2 2 1"; do
    place=$name/continued_${grid// /}
    mkdir -p "$place"
    cp "$name/1114/run_cfg_1.lime" "$name/1114/run_restart_1.xml" "$place"
    run "$place" "$grid" hmc -i run_restart_1.xml
    same --only "*_2.*" "$name/alone" "$place"
  done
  same "$name/continued_1111" "$name/continued_2221"
  runs=$((runs + 2))
done

# Propagator, correlators of mesons and baryons, condensate; the propagator goes to a file.
save="<elem><Name>QIO_WRITE_NAMED_OBJECT</Name><NamedObject><object_id>quark</object_id><object_type>LatticePropagatorD</object_type></NamedObject>"
save+="<File><file_name>quark.lime</file_name><file_volfmt>SINGLEFILE</file_volfmt></File></elem>"
sed -e 's#<nrow>[^<]*<#<nrow>4 4 4 8<#' -e "s#</InlineMeasurements>#$save&#" "$source/examples/measure/spectrum.xml" >spectrum.xml
compare spectrum "$every" $'1 1 1 1\n1 1 1 2' measure -i ../../spectrum.xml
[ -s spectrum/alone/quark.lime ] || { echo "spectrum: expected the propagator"; exit 1; }
echo "$runs runs"
