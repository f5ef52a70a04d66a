#!/usr/bin/env bash
# The same hmc runs where no GPU can be used: without CUDA's driver, with one that lacks functions, with a GPU that
# refuses. It computes on the processor, or, where a GPU was asked for by name, ends with a message. And what a GPU may
# do in the middle of a run, on the simulated one: a launch that fails, too little memory, small blocks only.
# Usage: no_gpu.sh HMC EXAMPLES FAKE_CUDA FOLDER
#   FAKE_CUDA: folder of the libraries that stand in for CUDA's driver
# Compared: the energies of the run.
set -euo pipefail
hmc=$(realpath "$1") example=$(realpath "$2")/nf2_wilson.xml fake=$(realpath "$3") folder=$4
rm -rf "$folder"
mkdir -p "$folder"
cd "$folder"
for variable in DEVICE LIBCUDA SPILL MEM_MAX SIM_MEMORY SIM_FAULT SIM_DELAY LANES; do unset "TESSERA_$variable"; done
export TESSERA_LOG=info,device  # warnings, and where it computes
export LC_ALL=C
sed -e 's#<nrow>[^<]*<#<nrow>4 4 4 4<#' -e 's#<NUpdatesThisRun>[^<]*<#<NUpdatesThisRun>1<#' \
    -e 's#<SaveInterval>[^<]*<#<SaveInterval>1<#' -e 's#<SavePrefix>[^<]*<#<SavePrefix>run<#' "$example" >in.xml

fail() { echo "$name: $1"; head -n 20 output.txt errors.txt; exit 1; }
# NAME VARIABLE=VALUE...: runs hmc; its exit status is in $status.
run() {
  name=$*
  rm -f out.xml log.xml run_*
  status=0
  env "$@" "$hmc" -i in.xml -o out.xml -l log.xml >output.txt 2>errors.txt || status=$?
}
energies() { grep -o '<\(KE\|PE\|delta\)[A-Za-z_]*>[^<]*' out.xml; }
lines_with() { grep -c "$1" errors.txt || true; }
# DEVICE WARNINGS: the last run was right, on that device, and wrote so many lines of warnings.
expect_run() {
  [ "$status" -eq 0 ] || fail "exit status $status"
  [ "$(lines_with "computing on $1\( \|$\)")" -eq 1 ] || fail "not on $1"
  [ "$(wc -l <errors.txt)" -eq $((1 + $2)) ] || fail "expected $2 lines of warnings"
  [ "$(energies)" = "$reference" ] || fail "energies differ from the processor's"
}
# WORD...: the last run ended by itself (a signal gives 128 and more) with one line that has these words.
expect_message() {
  [ "$status" -eq 1 ] || fail "exit status $status instead of 1"
  [ "$(lines_with "^hmc: ")" -eq 1 ] || fail "expected one line that begins with hmc:"
  [ "$(lines_with "")" -eq "$(lines_with "^hmc: \|computing on\|^tessera warn \[xml\]")" ] || fail "expected no other lines"
  for word in "$@"; do grep "^hmc: " errors.txt | grep -qF -- "$word" || fail "no \"$word\" in the message"; done
}

reference=
run TESSERA_DEVICE=cpu
reference=$(energies)
[ "$(wc -l <<<"$reference")" -ge 7 ] || fail "no energies"
expect_run cpu 0

nowhere=/nonexistent/libcuda.so.1 lacking=$fake/libcuda_lacking.so refusing=$fake/libcuda_refusing.so
run TESSERA_LIBCUDA="$nowhere"
expect_run cpu 0
run TESSERA_LIBCUDA="$lacking"
expect_run cpu 0
run TESSERA_LIBCUDA="$refusing"
expect_run cpu 1
[ "$(lines_with "no GPU is used: .*CUDA_ERROR_DEVICE_UNAVAILABLE")" -eq 1 ] || fail "the warning does not say why"

for library in "$nowhere" "$lacking" "$refusing"; do
  run TESSERA_LIBCUDA="$library" TESSERA_DEVICE=cuda
  expect_message TESSERA_DEVICE=cuda "$library"
  run TESSERA_LIBCUDA="$library" TESSERA_DEVICE=cuda,cpu
  expect_run cpu 0
done

run TESSERA_DEVICE=sim
expect_run sim 0
run TESSERA_DEVICE=sim TESSERA_SIM_FAULT=launch:50
expect_message "simulated fault: launch 50" "kernel " "256 sites"
run TESSERA_DEVICE=sim TESSERA_SIM_FAULT=pinned:0  # copies wait, and results of sums are copied
expect_run sim 0
run TESSERA_DEVICE=sim TESSERA_SIM_FAULT=pinned:0,copy:500
expect_message "simulated fault: copy 500" "kernel "
run TESSERA_DEVICE=sim TESSERA_SIM_FAULT=allocate:20
expect_run sim 0
run TESSERA_DEVICE=sim TESSERA_SIM_MEMORY=256K  # three fermions of 96 KiB are one statement of CG
expect_message 'out of memory on "sim"' " KiB in all" "a request for " "needed by the present statement" "kernel "
run TESSERA_DEVICE=sim TESSERA_SIM_FAULT=block:64
expect_run sim 0
