#!/usr/bin/env bash
# Every input of examples/ runs. hmc: two trajectories on a small lattice, energies finite, then one more from the restart
# file. purgaug: two updates. measure: as it is.
# Usage: run_examples.sh PROGRAMS EXAMPLES FOLDER     PROGRAMS: the folder of hmc, purgaug, measure
set -euo pipefail
programs=$(realpath "$1") examples=$(realpath "$2") folder=$3
hmc=$programs/hmc
rm -rf "$folder"
mkdir -p "$folder"
cd "$folder"

fail() { echo "$1"; cat output.txt; exit 1; }
count=0
for example in "$examples"/hmc/*.xml; do
  name=$(basename "$example" .xml)
  sed -e 's#<nrow>[^<]*<#<nrow>4 4 4 4<#' -e 's#<NUpdatesThisRun>[^<]*<#<NUpdatesThisRun>2<#' \
      -e 's#<SaveInterval>[^<]*<#<SaveInterval>2<#' -e "s#<SavePrefix>[^<]*<#<SavePrefix>$name<#" "$example" > "$name.xml"
  "$hmc" -i "$name.xml" -o "$name.out.xml" -l "$name.log.xml" > output.txt 2>&1 || fail "$name does not run"
  violations=$(grep -o '<deltaH>[^<]*' "$name.out.xml" | sed 's/.*>//')
  [ "$(wc -w <<< "$violations")" -eq 2 ] || fail "$name: expected two trajectories"
  for dh in $violations; do
    awk -v x="$dh" 'BEGIN { exit !(x + 0 == x && x > -50 && x < 50) }' || fail "$name: dH = $dh"
  done
  sed -e 's#<NUpdatesThisRun>[^<]*<#<NUpdatesThisRun>1<#' "${name}_restart_2.xml" > again.xml
  "$hmc" -i again.xml -o "$name.again.out.xml" -l "$name.again.log.xml" > output.txt 2>&1 || fail "$name does not continue"
  grep -q '<update_no>3</update_no>' "$name.again.out.xml" || fail "$name: expected update 3"
  count=$((count + 1))
done
for example in "$examples"/purgaug/*.xml; do
  sed -e 's#<nrow>[^<]*<#<nrow>4 4 4 4<#' -e 's#<NWarmUpUpdates>[^<]*<#<NWarmUpUpdates>2<#' \
      -e 's#<NUpdatesThisRun>[^<]*<#<NUpdatesThisRun>2<#' -e 's#<SaveInterval>[^<]*<#<SaveInterval>2<#' \
      -e 's#<Frequency>50<#<Frequency>2<#' "$example" > heatbath.xml
  "$programs/purgaug" -i heatbath.xml -o heatbath.out.xml -l heatbath.log.xml --overwrite > output.txt 2>&1 || fail "$example does not run"
  grep -q 'w_plaq' heatbath.out.xml || fail "$example: expected plaquettes"
  count=$((count + 1))
done
for example in "$examples"/measure/*.xml; do
  "$programs/measure" -i "$example" -o measure.out.xml -l measure.log.xml --overwrite > output.txt 2>&1 || fail "$example does not run"
  grep -q '</chroma>' measure.out.xml || fail "$example: expected a complete document"
  count=$((count + 1))
done
echo "$count examples"
[ "$count" -ge 13 ]
