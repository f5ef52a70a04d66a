#!/bin/sh
# Includes point down only: SOURCE_FOLDER. Prints each line that breaks a rule.
#   jit/ knows nothing of qdp/, lib/, apps/; qdp/ nothing of lib/, apps/; lib/ nothing of jit/, apps/;
#   LLVM is seen by jit/codegen/ only; nothing includes tests/ or examples/ but tests and examples.
# Tests run beside each other, several variants of one program at once: what one writes into the folder for temporary files
# has a name of its own. What they leave out on several ranks is there.
# Inside jit, qdp and lib the folders use each other as the table with the column "may use" in <layer>/README.md says: those
# that stand above them in it. A name in parentheses points up, and is there until somebody finds a better place.
set -eu
cd "$1"
status=0
forbid() {  # PATTERN FOLDER...
  pattern=$1
  shift
  if grep -rnE --include='*.hpp' --include='*.cpp' --include='*.h' "^ *# *include *[<\"]($pattern)" "$@"; then status=1; fi
}
forbid 'qdp/|qdp\.h|lib/|apps/' jit
forbid 'lib/|apps/' qdp
forbid 'jit/|apps/' lib
forbid 'llvm[/-]' qdp lib apps examples $(find jit -mindepth 1 -maxdepth 1 ! -name codegen ! -name CMakeLists.txt ! -name README.md)
forbid 'tests/|examples/' jit qdp lib apps
if grep -rnE '"/tmp/|temp_directory_path\(\) */' tests --include='*.cpp' --include='*.hpp' | grep -vE 'getpid|random_device|XXXXXX'; then
  echo 'tests: a name in the folder for temporary files that two processes share; tests::TemporaryFolder has none'
  status=1
fi

# Cases that are left out on several ranks are cases.
sed -nE 's/^ *\{"(test_[a-z0-9_]+\.cpp)", "(.*)",.*/\1|\2/p' tests/not_on_ranks.cpp | sed -E 's/", .*//' | {
  stale=0
  while IFS='|' read -r file name; do
    grep -qF "TEST_CASE" tests/*/"$file" && { [ -z "$name" ] || grep -qF "\"$name\"" tests/*/"$file"; } || { echo "tests/not_on_ranks.cpp: no case \"$name\" in $file"; stale=1; }
  done
  exit $stale
} || status=1

# The words of a row's last cell that stand in backticks, with their parentheses: "folder use1 use2 (use3)".
table() {  # LAYER
  awk -F'|' '/^\|/ && $(NF-1) ~ /^ *may use *$/ { inside = 1; next }
    !/^\|/ { inside = 0 }
    inside && $2 ~ /`/ { folder = $2; uses = $(NF-1); gsub(/[`\/ ]/, "", folder); gsub(/[`,\/]/, " ", uses); gsub(/\( */, "(", uses)
      gsub(/ *\)/, ")", uses); print folder, uses }' "$1/README.md"
}
# What the sources of a layer's folders include of its other folders: "folder use file".
uses() {  # LAYER
  find "$1" -mindepth 2 \( -name '*.hpp' -o -name '*.cpp' -o -name '*.h' \) -exec grep -HE "^ *# *include *\"$1/" {} + |
    sed -E "s#^($1/([a-z_]+)/[^:]*):[^\"]*\"$1/([a-z_]+)[./].*#\2 \3 \1#" | awk '$1 != $2'
}
for layer in jit qdp lib; do
  { table "$layer" | sed 's/^/T /'; find "$layer" -mindepth 1 -maxdepth 1 -type d | sed 's#.*/#F #'; uses "$layer" | sed 's/^/U /'; } | awk -v layer="$layer" '
    function wrong(text) { print layer "/README.md: " text; bad = 1 }
    $1 == "T" {
      row[$2] = ++rows
      for (i = 3; i <= NF; i++) {
        name = $i
        up = gsub(/[()]/, "", name)
        may[$2, name] = up ? "up" : "down"
        if (name == "all") all[$2] = 1
        else if (up && name in row) wrong("`" $2 "` uses `" name "`, which stands above: no parentheses")
        else if (!up && !(name in row)) wrong("`" $2 "` uses `" name "`, which does not stand above it")
      }
    }
    $1 == "F" && !($2 in row) { wrong("no row for the folder `" $2 "`") }
    $1 == "U" && ($3 in row) {  # others are files beside the folders, for all
      used[$2, $3] = 1
      if (!(($2, $3) in may) && !(all[$2] && row[$3] < row[$2]))
        wrong($4 " includes " $3 "/, which `" $2 "` may not use")
    }
    END {
      if (rows == 0) wrong("no table with a column \"may use\"")
      for (pair in may) if (may[pair] == "up" && !(pair in used)) { split(pair, part, SUBSEP); wrong("`" part[1] "` no longer uses (`" part[2] "`)") }
      exit bad
    }' || status=1
done
exit $status
