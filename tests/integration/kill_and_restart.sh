#!/usr/bin/env bash
# hmc killed with SIGKILL at random moments and restarted from its last saved state writes the configurations of an
# undisturbed run: HMC INPUT FOLDER. Compared by the checksums of their data; the files also hold the time of writing.
set -euo pipefail
hmc=$1 input=$(realpath "$2") folder=$3
RANDOM=4711  # the moments are the same in every run of the test, up to the machine's speed
rm -rf "$folder"
mkdir -p "$folder/undisturbed" "$folder/killed"
sed -e 's#<NWarmUpUpdates>[0-9]*#<NWarmUpUpdates>2#' -e 's#<NProductionUpdates>[0-9]*#<NProductionUpdates>400#' \
    -e 's#<NUpdatesThisRun>[0-9]*#<NUpdatesThisRun>400#' -e 's#<SaveInterval>[0-9]*#<SaveInterval>20#' "$input" >"$folder/input.xml"

cd "$folder/undisturbed"
"$hmc" -i ../input.xml -o out.xml -l log.xml >output.txt 2>&1

cd "../killed"
cp ../input.xml next.xml
kills=0
while [ "$kills" -lt 8 ]; do
  "$hmc" -i next.xml -o out.xml -l log.xml >output.txt 2>&1 &
  process=$!
  sleep "0.$((RANDOM % 6 + 2))"
  kill -KILL "$process" 2>/dev/null || break  # it has finished
  wait "$process" 2>/dev/null || true
  kills=$((kills + 1))
  restart=$(ls ./*_restart_*.xml 2>/dev/null | sort -V | tail -n 1)
  [ -z "$restart" ] || cp "$restart" next.xml
done
# Without a kill any more, to the end.
[ -n "$(ls ./*_cfg_400.lime 2>/dev/null)" ] || "$hmc" -i next.xml -o out.xml -l log.xml >output.txt 2>&1

checksums() { grep -ao '<sum[ab]>[0-9a-f]*' "$1"; }
compared=0
for file in ../undisturbed/*.lime; do
  if [ "$(checksums "$file")" != "$(checksums "$(basename "$file")")" ]; then
    echo "$(basename "$file"): other data after $kills kills"
    exit 1
  fi
  compared=$((compared + 1))
done
echo "$compared configurations the same after $kills kills"
[ "$compared" -eq 20 ] && [ "$kills" -gt 0 ]
