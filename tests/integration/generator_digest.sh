#!/bin/sh
# The digest of the code generator, which stands in the key of the kernel cache: the same for the same sources in another
# folder, another one for a change of any file of jit/ir and jit/codegen, and for a file more or under another name.
# generator_digest.sh <repository> <generator_digest.cpp of the build> <folder to work in> <cmake>
set -eu
repository=$1 built=$2 work=$3 cmake=$4
rm -rf "$work"
mkdir -p "$work"
cp -r "$repository/jit" "$work/jit"
cd "$work/jit"

digest() {
  files=$(find ir codegen \( -name '*.cpp' -o -name '*.hpp' \) | tr '\n' ';')
  "$cmake" -D FOLDER="$work/jit" -D FILES="${files%;}" -D OUTPUT="$work/digest.cpp" -P "$repository/cmake/GeneratorDigest.cmake"
  sed -n 's/.*return "\([0-9a-f]*\)".*/\1/p' "$work/digest.cpp"
}
fail() { echo "FAILED: $1" >&2; exit 1; }

plain=$(digest)
[ ${#plain} = 64 ] || fail "no digest: '$plain'"
grep -q "\"$plain\"" "$built" || fail "the build's digest is not that of its sources: $(grep return "$built"), expected $plain"

changed=0
for file in $(find ir codegen \( -name '*.cpp' -o -name '*.hpp' \)); do
  cp -p "$file" "$work/kept"
  echo >> "$file"
  [ "$(digest)" != "$plain" ] || fail "a change of $file does not change the digest"
  cp -p "$work/kept" "$file"
  changed=$((changed + 1))
done
[ "$changed" -ge 40 ] || fail "only $changed files were found"

echo > ir/another.cpp
[ "$(digest)" != "$plain" ] || fail "another file does not change the digest"
mv ir/another.cpp ir/other.cpp
[ "$(digest)" != "$plain" ] || fail "another file does not change the digest"
rm ir/other.cpp
mv ir/sum.cpp ir/sums.cpp
[ "$(digest)" != "$plain" ] || fail "a file's name does not change the digest"
mv ir/sums.cpp ir/sum.cpp
[ "$(digest)" = "$plain" ] || fail "the digest does not come back with the sources"

# What generated code is made by includes nothing of this project but these folders, support/ (files, logs, words) and cache/.
others=$(grep -h '^#include "' ir/*.?pp codegen/*.?pp | sed 's/#include "//; s/".*//' | sort -u |
         grep -v -e '^jit/ir/' -e '^jit/codegen/' -e '^jit/support/' -e '^jit/cache/' || true)
[ -z "$others" ] || fail "the generator includes what its digest does not cover: $others"
echo "$changed files: each of them counts"
