#!/usr/bin/env bash
# A user's project with TESSERA_PRECOMPILED_HEADER: qdp.h is read once, again when a header has changed, and by the source itself where
# the flags differ or nobody asked; sources in C are left alone.
# precompiled_header.sh PREFIX PROJECT FOLDER CMAKE COMPILER GENERATOR [sanitizers]
set -euo pipefail
prefix=$1 project=$2 folder=$3 cmake=$4 compiler=$5 generator=$6
shift 6
flags="-O0 -H $*"

if ! "$compiler" --version | grep -q "Free Software Foundation"; then
  echo "SKIP: no g++"
  exit 77
fi
rm -rf "$folder"
mkdir -p "$folder"
cp -r "$prefix" "$folder/prefix"   # one of its headers will change
cp -r "$project" "$folder/project"
cd "$folder"
cat >>project/CMakeLists.txt <<'END'
enable_language(C)
add_executable(other_flags consumer.cpp in_c.c)
target_link_libraries(other_flags PRIVATE ${PACKAGE}::qdp)
target_compile_options(other_flags PRIVATE -O2)
add_executable(of_new_header EXCLUDE_FROM_ALL new_header.cpp)
target_link_libraries(of_new_header PRIVATE ${PACKAGE}::qdp)
END
echo "int in_c;" >project/in_c.c
cat >project/new_header.cpp <<'END'
#include "qdp.h"
int main() { return TESSERA_NEW_IN_HEADER - 1; }
END

# build FOLDER [option...]: what the compiler reads goes to FOLDER.log, for each source its name, then the headers.
build() {
  local into=$1
  shift
  "$cmake" -S project -B "$into" -G "$generator" -DCMAKE_PREFIX_PATH="$folder/prefix" -DCMAKE_CXX_COMPILER="$compiler" -DPACKAGE=QDPXX \
    -DCMAKE_CXX_FLAGS="$flags" "$@" >"$into.log" 2>&1 || { cat "$into.log" && exit 1; }
  "$cmake" --build "$into" --verbose >>"$into.log" 2>&1 || { tail -50 "$into.log" && exit 1; }
  "$into/consumer" >/dev/null
  "$into/other_flags" >/dev/null
}
# "!": g++ takes that precompiled header.
taken() { grep -c "^! .*qdp.hpp.gch" "$1" || true; }
expect() {
  if [[ "$2" != "$3" ]]; then
    echo "FAILED: $1: $2, expected $3" >&2
    exit 1
  fi
}

build without
expect "precompiled headers taken by a project that did not ask" "$(taken without.log)" 0
expect "precompiled headers made for it" "$(find without -name "*.gch" | wc -l)" 0

build with -DTESSERA_PRECOMPILED_HEADER=ON
expect "of two programs, one of them with -O2, so many took the header made with -O0" "$(taken with.log)" 1
build with -DTESSERA_PRECOMPILED_HEADER=ON
expect "programs compiled anew though nothing has changed" "$(taken with.log)" 0

echo "#define TESSERA_NEW_IN_HEADER 1" >>prefix/include/tessera/qdp_config.h
build with -DTESSERA_PRECOMPILED_HEADER=ON
expect "programs that took the header made anew" "$(taken with.log)" 1
"$cmake" --build with --target of_new_header >with.log 2>&1 || { tail -20 with.log && exit 1; }
expect "new programs that took it" "$(taken with.log)" 1
with/of_new_header
