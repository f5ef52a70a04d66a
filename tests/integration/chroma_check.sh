#!/usr/bin/env bash
# scripts/chroma-check on a folder that looks like Chroma's: SCRIPT PREFIX FOLDER [extra flags of the compiler]
# One small program stands for all of Chroma's; its tests pass, miss a tolerance, write too few numbers, or end with an error.
set -euo pipefail
check=$1 prefix=$2 folder=$3
shift 3
command -v perl >/dev/null || { echo "SKIP: no perl, in which Chroma's lists of tests are written"; exit 77; }
rm -rf "$folder"
mkdir -p "$folder/toy/tests/a" "$folder/toy/tests/b" "$folder/toy/main"
cd "$folder"
flags="-O0 $*"

run() { "$check" toy --tessera "$prefix" --build on --flags="$flags" --limit 60 "$@"; }
# expect STATUS TEXT... -- COMMAND...: its status, and texts that its output must contain
expect() {
  local status=$1 wanted=() got=0 text
  shift
  while [ "$1" != -- ]; do wanted+=("$1"); shift; done
  shift
  "$@" >out.txt 2>&1 || got=$?
  for text in "${wanted[@]+"${wanted[@]}"}"; do
    grep -qF -- "$text" out.txt || { cat out.txt; echo "expected the text: $text"; exit 1; }
  done
  [ "$got" -eq "$status" ] || { cat out.txt; echo "expected status $status, got $got"; exit 1; }
}

expect 2 "without tests/regres.pl" -- run

cat >toy/main/main.cpp <<'EOF'
#include <unistd.h>

#include "qdp.h"
using namespace QDP;

// -i input -o output -l log: the input's number, and whether an earlier test left a file in this folder.
int main(int argc, char** argv) {
  QDP_initialize(&argc, &argv);
  XMLReader in(argv[2]);
  Real x;
  read(in, "/in/x", x);
  if (toDouble(x) < 0) QDP_error_exit("negative");
  multi1d<Real> many(in.count("/in/short") ? 2 : 3);
  many = x;
  for (int i : {4, 6}) {
    XMLFileWriter out(argv[i]);
    push(out, "out");
    write(out, "x", x);
    push(out, "elem");
    write(out, "many", many);
    pop(out);
    push(out, "elem");
    write(out, "z", cmplx(x, -x));
    write(out, "name", std::string(in.count("/in/left") ? XMLReader("left.xml").count("/left") ? "there" : "" : "n"));
    pop(out);
    pop(out);
  }
  if (in.count("/in/leaves")) {
    sleep(2);  // whoever does not wait finds nothing
    std::ofstream("left.xml") << "<left/>";
  }
  QDP_finalize();
}
EOF
cat >toy/CMakeLists.txt <<'EOF'
cmake_minimum_required(VERSION 3.17)
project(Toy CXX)
find_package(QDPXX REQUIRED)
if(NOT TOY)
  message(FATAL_ERROR "TOY is not set")
endif()
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/mainprogs/main)
add_executable(chroma main/main.cpp)
target_link_libraries(chroma QDPXX::qdp)
foreach(name hmc purgaug t_leapfrog spectrum_s)
  add_custom_target(${name})
endforeach()
EOF
cat >toy/tests/regres.pl <<'EOF'
sub regresDirs { return ("$test_dir/a/regres.pl", "$test_dir/b/regres.pl"); }
1;
EOF
echo '<out><x>0.5</x><elem><many>0.5 0.5 0.5</many></elem><elem><z><re>0.5</re><im>-0.5</im></z><name>n</name></elem></out>' \
  >toy/tests/control.xml
assertion() { echo "<assertion xpath=\"$1\" type=\"double_array\" comparison=\"$2\" tolerance=\"$3\"/>"; }
metric() { { echo "<assertions>"; cat; echo "</assertions>"; } >"toy/tests/$1.metric.xml"; }
{
  assertion /out/x relative 1e-5
  assertion "out/elem[1]/many" absolute 1e-5
  assertion "//out/elem[2]/z" relative 1e-5
  assertion "/out/elem[2]/name" equality ignore
} | metric all
assertion /out/x relative 1e-5 | metric x
assertion /out/y relative 1e-5 | metric y
entry() {  # NAME INPUT METRIC OUTPUT_OR_LOG [MORE]
  echo "<in>$2</in>" >"toy/tests/$1.ini.xml"
  cat <<EOF
  { exec_path => "\$top_builddir/mainprogs/main", execute => "chroma", input => "\$test_dir/$1.ini.xml",
    $4 => "$1.candidate.xml", metric => "\$test_dir/$3.metric.xml", controlfile => "\$test_dir/control.xml", ${5:-} },
EOF
}
{
  echo "@regres_list = ("
  entry good "<x>0.5</x>" all output
  entry near "<x>0.500004</x>" x log
  entry far "<x>0.50001</x>" x output
  entry few "<x>0.5</x><short/>" all output
  echo "); 1;"
} >toy/tests/a/regres.pl
{
  echo "@regres_list = ("
  entry first "<x>0.5</x><leaves/>" x output 'output_dir => "pair"'
  # shellcheck disable=SC2016 # Perl's variable
  entry second "<x>0.5</x><left/>" x output 'output_dir => "pair", aux_files => ["$test_dir/aux.txt"]'
  entry negative "<x>-1</x>" x output
  entry none "<x>0.5</x>" y output
  echo "); 1;"
} >toy/tests/b/regres.pl
echo aux >toy/tests/aux.txt

expect 2 "other_libs/qdp-lapack is empty" -- run
mkdir -p toy/other_libs/qdp-lapack && touch toy/other_libs/qdp-lapack/CMakeLists.txt
expect 2 "error: cmake -S failed" "configure.log" -- run
expect 2 "no test's name contains 'nothing'" -- run --cmake=-DTOY=1 --only nothing
expect 1 "| chroma | 4 | 3 | 1 |" -- run --cmake=-DTOY=1
for line in "chroma good | passed | 0 |" "chroma near | passed | 0.8 |" "chroma far | failed | 2 |" "chroma first | passed | 0 |" \
  "chroma second | passed | 0 |" "expected 3 values, got 2" "status 1 QDP abort" "/out/y: not in the control document" \
  "2 of the tolerance 1e-5"; do
  grep -qF -- "$line" on/report.md || { cat on/report.md; echo "expected in the table: $line"; exit 1; }
done
grep -q '<name>there</name>' on/tests/pair/second.candidate.xml || { echo "tests of one folder did not run in their order"; exit 1; }
for file in pair/aux.txt near.candidate.xml/XMLDAT good.candidate.xml/XMLLOG; do
  [ -f "on/tests/$file" ] || { echo "not there: $file"; exit 1; }
done
expect 0 -- run --cmake=-DTOY=1 --at-least 4
expect 1 -- run --cmake=-DTOY=1 --at-least 5
expect 0 "1/1" -- run --cmake=-DTOY=1 --only good
