#!/usr/bin/env bash
# scripts/peers with an installed Tessera that stands for QDP++ and Chroma, too, and a Grid that pretends: its programs compile, run, and
# time each case; a Chroma that finds another energy violation is not compared.
# peers.sh SCRIPT PREFIX FOLDER [sanitizers]
set -euo pipefail
export LC_ALL=C.UTF-8  # where the sign of microseconds is one character
script=$1 prefix=$2 folder=$3
shift 3
rm -rf "$folder"
mkdir -p "$folder/grid/bin"
cat >"$folder/grid/bin/grid-config" <<END
#!/bin/sh
[ "\$1" != --cxx ] || echo "$folder/compiler"
END
cat >"$folder/compiler" <<'END'
#!/bin/sh
while [ "$1" != -o ]; do shift; done
printf '#!/bin/sh\necho "cg double 1"\n' >"$2"
chmod +x "$2"
END
chmod +x "$folder/grid/bin/grid-config" "$folder/compiler"

"$script" --tessera "$prefix" --qdpxx "$prefix" --grid "$folder/grid" --chroma "$prefix/bin/hmc" --lattice 4 4 4 4 --rounds 1 --seconds 0.01 --flags="-O1 $*" | tee "$folder/table"
for row in hop axpy norm2 inner_product; do
  for precision in single double; do
    grep -q "^| $row | 4x4x4x4 | $precision | 1 | [0-9.]* .s | 0.00 | [0-9.]* .s | 0.00 | [0-9.]* |  |  |  |  |  |  |$" "$folder/table"
  done
done
grep -q "^| cg | 4x4x4x4 | double | 1 | [0-9.]* .s | 0.00 |  |  |  | 1 s | 0.00 | [0-9.]* |  |  |  |$" "$folder/table"
grep -q "^| trajectory | 4x4x4x4 | double | 1 | [0-9.]* m\?s | 0.00 |  |  |  |  |  |  | [0-9.]* m\?s | 0.00 | [0-9.]* |$" "$folder/table"

cat >"$folder/chroma" <<END
#!/bin/sh
echo "<hmc><deltaH>1.5</deltaH></hmc>" >"\$6"
END
chmod +x "$folder/chroma"
if "$script" --tessera "$prefix" --chroma "$folder/chroma" --lattice 4 4 4 4 --rounds 1 2>"$folder/errors"; then exit 1; fi
grep -q "expected the energy violation 1.5 of the other program, got" "$folder/errors"
