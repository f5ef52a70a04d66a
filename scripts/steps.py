"""Steps of the scripts that build other programs (peers, qdpxx-check, chroma-check): a command, an installation of Tessera, how to
compile and link with an installation."""

import re
import shlex
import subprocess
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parent.parent
ERROR = re.compile(r"\berror\b|undefined reference|CMake Error", re.I)
PROJECT = """cmake_minimum_required(VERSION 3.17)
project(Probe CXX)
find_package(QDPXX REQUIRED)
file(WRITE ${CMAKE_BINARY_DIR}/probe.cpp "int main() {}\\n")
add_executable(probe ${CMAKE_BINARY_DIR}/probe.cpp)
target_link_libraries(probe QDPXX::qdp)
"""


class Failed(Exception):
    """Why a step could not be done."""


def reasons(text, most):
    """The lines of a failed command's output that say why, the first lines if none does."""
    lines = text.strip().splitlines()
    return ([line for line in lines if ERROR.search(line)] or lines)[:most]


def output_of(command, environment=None, folder=None):
    """Standard output of a command that succeeds."""
    try:
        done = subprocess.run([str(c) for c in command], capture_output=True, text=True, errors="replace", stdin=subprocess.DEVNULL,
                              env=environment, cwd=folder)
    except OSError as error:
        raise Failed(f"{command[0]}: {error.strerror}") from None
    if done.returncode != 0:
        why = reasons(done.stdout + done.stderr, 1) or [f"status {done.returncode}"]
        raise Failed(f"{Path(str(command[0])).name}: {why[0]}")
    return done.stdout


def run_logged(command, log):
    """The same for a long command, whose output goes to a file."""
    with open(log, "w") as out:
        if subprocess.call([str(c) for c in command], stdout=out, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL) != 0:
            why = reasons(log.read_text(errors="replace"), 12)
            raise Failed(f"{command[0]} {command[1]} failed, see {log}\n  " + "\n  ".join(why))


def installation(given, prefix):
    """The installation that was named, or this repository's build, what users run before what is tested, installed in `prefix`."""
    if given:
        return given.resolve()
    for preset in ("release", "ci"):
        build = REPOSITORY / "build" / preset
        if (build / "qdp++-config").exists():
            try:
                output_of(["cmake", "--install", build, "--prefix", prefix])
            except Failed as error:
                raise Failed(f"{build} is not built as a whole (cmake --build --preset {preset}): {error}") from None
            return prefix
    raise Failed("Tessera is not built: cmake --preset release && cmake --build --preset release, or give --tessera PREFIX of an "
                 "installation")


def words_of(prefix, config, folder, libraries=("--libs",)):
    """The compiler, its options and what to link, by the installation's config program; without one as CMake does with QDP++."""
    program = prefix / "bin" / config
    if program.exists():
        return [shlex.split(output_of([program, *asked])) for asked in (["--cxx"], ["--cxxflags"], ["--ldflags", *libraries])]
    if config != "qdp++-config" or not prefix.is_dir():
        raise Failed(f"{program}: no such program")
    probe = folder / "probe"
    probe.mkdir(exist_ok=True)
    (probe / "CMakeLists.txt").write_text(PROJECT)
    try:
        output_of(["cmake", "-G", "Unix Makefiles", "-S", probe, "-B", probe / "build", f"-DCMAKE_PREFIX_PATH={prefix}"])
    except Failed as error:
        raise Failed(f"{prefix}: expected bin/{config} or a package QDPXX of CMake ({error})") from None
    made = probe / "build/CMakeFiles/probe.dir"
    variables = dict(re.findall(r"^CXX_(\w+) = (.*)$", (made / "flags.make").read_text(), re.M))
    options = [word for key in ("DEFINES", "INCLUDES", "FLAGS") for word in shlex.split(variables.get(key, ""))]
    words = shlex.split((made / "link.txt").read_text())
    link = [word for word in words[1:] if not word.endswith(".o") and word not in ("-o", "probe")]
    # Relative to the folder in which CMake links.
    link = [str((probe / "build" / word).resolve()) if re.match(r"[^-/].*\.(a|so)$", word) else word for word in link]
    return words[:1], options, link
