#!/bin/sh
# Includes point down only: SOURCE_FOLDER. Prints each line that breaks a rule.
#   jit/ knows nothing of qdp/, lib/, apps/; qdp/ nothing of lib/, apps/; lib/ nothing of jit/, apps/;
#   LLVM is seen by jit/codegen/ only; nothing includes tests/ or examples/ but tests and examples.
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
exit $status
