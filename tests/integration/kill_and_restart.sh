#!/usr/bin/env bash
# hmc killed with SIGKILL at random moments, and each time started again with the same command, writes the configurations
# and restart files of an undisturbed run.
# Usage: kill_and_restart.sh HMC INPUT FOLDER UPDATES SAVE_INTERVAL KILLS [LATTICE]
#   UPDATES trajectories (2 of them to warm up) of INPUT, on LATTICE ("4 4 4 4") instead of its own.
# Configurations are compared by the checksums of their data, as the files also hold the time of writing; restart files,
# with the seed, byte by byte.
set -euo pipefail
hmc=$(realpath "$1") input=$(realpath "$2") folder=$3 updates=$4 interval=$5 wanted=$6 lattice=${7:-}
RANDOM=4711  # the moments are the same in every run of the test, up to the machine's speed
rm -rf "$folder"
mkdir -p "$folder/undisturbed" "$folder/killed"

set_element() { sed -i "s#<$1>[^<]*<#<$1>$2<#" "$folder/input.xml"; }
cp "$input" "$folder/input.xml"
set_element NWarmUpUpdates 2
set_element NProductionUpdates "$updates"
set_element NUpdatesThisRun "$updates"
set_element SaveInterval "$interval"
set_element SavePrefix run
[ -z "$lattice" ] || set_element nrow "$lattice"

cd "$folder/undisturbed"
run=("$hmc" -i ../input.xml -o out.xml -l log.xml --continue)
begin=$(date +%s%N)
"${run[@]}" >output.txt 2>&1 || { cat output.txt; exit 1; }
milliseconds=$((($(date +%s%N) - begin) / 1000000))

# Kills come on average after one interval and the program's start, so that there is progress between them.
cd ../killed
span=$((2 * milliseconds * interval / updates + 600))
kills=0
while [ "$kills" -lt "$wanted" ]; do
  if [ -e "run_restart_$updates.xml" ]; then  # too fast: back to the middle
    for file in run_restart_*.xml; do
      n=${file//[^0-9]/}
      [ "$n" -le $((updates / 2)) ] || rm "$file"
    done
  fi
  "${run[@]}" >output.txt 2>&1 &
  process=$!
  moment=$(((RANDOM * 32768 + RANDOM) % span))
  sleep "$((moment / 1000)).$(printf %03d $((moment % 1000)))"
  if kill -KILL "$process" 2>/dev/null; then kills=$((kills + 1)); fi
  wait "$process" 2>/dev/null || true
done
# Without a kill any more, to the end, which is that of the warm-up later: the last kill may have come while that was saved.
[ -e "run_restart_$((updates + 2)).xml" ] || "${run[@]}" >output.txt 2>&1 || { cat output.txt; exit 1; }

checksums() { grep -ao '<sum[ab]>[0-9a-f]*' "$1"; }
compared=0
for file in ../undisturbed/run_cfg_*.lime; do
  name=$(basename "$file") restart=$(basename "$file" .lime)
  restart=${restart/_cfg_/_restart_}.xml
  if [ "$(checksums "$file")" != "$(checksums "$name")" ] || ! cmp "../undisturbed/$restart" "$restart"; then
    echo "$name or $restart: not the same after $kills kills"
    exit 1
  fi
  compared=$((compared + 1))
done
[ -z "$(ls ./*.tmp-* 2>/dev/null)" ] || { echo "half written files stayed"; exit 1; }
echo "$compared checkpoints the same after $kills kills"
[ "$compared" -eq $((updates / interval)) ]
