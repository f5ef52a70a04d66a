#!/bin/sh
# Builds and runs one source file with the flags that qdp++-config prints: SCRIPT SOURCE FOLDER [extra flags].
set -eu
config=$1 source=$2 program=$3/consumer_config_script
shift 3
# The flags are lists of words, meant to be split.
# shellcheck disable=SC2046
$("$config" --cxx) $("$config" --cxxflags) "$@" "$source" -o "$program" $("$config" --ldflags) $("$config" --libs)
"$program"
