#!/bin/sh
# shellcheck disable=SC2046 # the flags are lists of words, meant to be split
# Builds and runs source files with the flags that qdp++-config and pkg-config print: of a program of the language, and one of the
# physics. SCRIPT FOLDER_OF_PKG_CONFIG SOURCE SOURCE_OF_PHYSICS FOLDER [extra flags]
set -eu
config=$1 source=$3 physics=$4 program=$5/consumer_config_script
PKG_CONFIG_PATH=$2
export PKG_CONFIG_PATH
shift 5
$("$config" --cxx) $("$config" --cxxflags) "$@" "$source" -o "$program" $("$config" --ldflags) $("$config" --libs)
"$program"
$("$config" --cxx) $("$config" --cxxflags) "$@" "$physics" -o "$program" $("$config" --ldflags) $("$config" --qcd --libs)
"$program"
$("$config" --cxx) $(pkg-config --cflags tessera-qdp) "$@" "$source" -o "$program" $(pkg-config --libs tessera-qdp)
"$program"
$("$config" --cxx) $(pkg-config --cflags tessera-qcd) "$@" "$physics" -o "$program" $(pkg-config --libs tessera-qcd)
"$program"
