# Shell functions that quickstart and test share. Sourced, from the repository root, by bash.

set -euo pipefail
export DEBIAN_FRONTEND=noninteractive

say() { printf '%s\n' "$*"; }
fail() { printf 'error: %s\n' "$*" >&2; exit 1; }

# What the build needs: Debian/Ubuntu package, how to see that it is there, why it is needed.
# A check of the form "command:NAME" looks in PATH, "file:GLOB" looks for a file.
prerequisites() {
  cat <<'EOF'
g++|command:g++|compiles Tessera (C++20)
cmake|command:cmake|configures the build (3.25 or newer)
ninja-build|command:ninja|runs the build
ccache|command:ccache|makes rebuilding fast
lld|command:ld.lld|links the tests
pkg-config|command:pkg-config|tells CMake where libraries lie
llvm-19-dev|command:llvm-config-19|generates machine code at run time
libxml2-dev|file:/usr/include/libxml2/libxml/parser.h|reads parameter files
libxbyak-dev|file:/usr/include/xbyak/xbyak.h|encodes instructions of x86 processors
libsleef-dev|file:/usr/lib/*/libsleef.so|vectorised sin, cos, exp, log
libmpfr-dev|file:/usr/include/mpfr.h|rational approximations in many digits
libcli11-dev|file:/usr/include/CLI/CLI.hpp|command lines of hmc and bench
doctest-dev|file:/usr/include/doctest/doctest.h|the tests
python3-matplotlib|file:/usr/lib/python3/dist-packages/matplotlib/__init__.py|plots of scripts/report
EOF
}

# Versions differ in what they make of one .clang-format: that of our LLVM only.
layout_prerequisites() { echo 'clang-format-19|command:clang-format-19|lays out the sources'; }

# What only scripts/mutate and its test need.
mutate_prerequisites() {
  cat <<'EOT'
clang-19|command:clang-19|reads the sources that scripts/mutate changes
python3-clang-19|file:/usr/lib/python3/dist-packages/clang/cindex.py|the same, for Python
EOT
}

# What Tessera is built without where it is not there; the tests look at all of it.
optional_prerequisites() {
  echo 'libhdf5-dev|file:/usr/include/hdf5/serial/hdf5.h|HDF5Reader and HDF5Writer'
}

# What only the tests of ranks need: programs run without.
mpi_prerequisites() {
  cat <<'EOT'
libopenmpi-dev|command:mpicxx|the plug-in for MPI, and its tests
openmpi-bin|command:mpirun|starts ranks in tests
EOT
}

is_present() {  # CHECK
  case $1 in
    command:*) command -v "${1#command:}" >/dev/null ;;
    file:*) compgen -G "${1#file:}" >/dev/null ;;
  esac
}

# Installs what is missing of a list (default: `prerequisites`) with apt-get, saying what and why. Silent when nothing is.
install_prerequisites() {  # [FUNCTION]
  local list=${1:-prerequisites} package check why as_root=() missing=()
  while IFS='|' read -r package check why; do
    if ! is_present "$check"; then
      [ ${#missing[@]} -gt 0 ] || say "Missing on this machine:"
      printf '  %-14s %s\n' "$package" "$why"
      missing+=("$package")
    fi
  done < <("$list")
  [ ${#missing[@]} -gt 0 ] || return 0

  command -v apt-get >/dev/null ||
    fail "this machine has no apt-get. Install what the list above names with your package manager, then run again."
  if [ "$(id -u)" -ne 0 ]; then
    command -v sudo >/dev/null ||
      fail "installing needs root, and sudo is not there. As root: apt-get install ${missing[*]}"
    as_root=(sudo --preserve-env=DEBIAN_FRONTEND)
  fi
  say "Installing with apt-get: ${missing[*]}"
  local log
  log=$(mktemp)
  "${as_root[@]}" apt-get update >"$log" 2>&1 </dev/null || say "apt-get update failed; trying to install all the same"
  if ! "${as_root[@]}" apt-get install -y --no-install-recommends "${missing[@]}" >>"$log" 2>&1 </dev/null; then
    tail -n 20 "$log" >&2
    fail "apt-get could not install ${missing[*]} (whole log: $log). Supported: Debian 12, Ubuntu 24.04."
  fi
  rm -f "$log"
}

# Configures build/PRESET and builds it (or the given targets) on every core; extra CMake options in CMAKE_OPTIONS.
build_preset() {  # PRESET [TARGET...]
  local preset=$1 targets=()
  shift
  [ $# -eq 0 ] || targets=(--target "$@")
  # The generator of an existing tree stays as it is.
  if [ ! -e "build/$preset/CMakeCache.txt" ] && command -v ninja >/dev/null; then
    export CMAKE_GENERATOR=Ninja
  fi
  say "Building preset $preset in build/$preset"
  mkdir -p "build/$preset"
  local log=build/$preset/configure.log
  # shellcheck disable=SC2086  # a list of words
  if ! cmake --preset "$preset" ${CMAKE_OPTIONS:-} >"$log" 2>&1 </dev/null; then
    cat "$log" >&2
    fail "cmake could not configure preset $preset (the lines above are in $log)"
  fi
  cmake --build "build/$preset" --parallel "$(nproc)" "${targets[@]}" </dev/null
}
