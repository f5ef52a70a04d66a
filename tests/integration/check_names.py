#!/usr/bin/env python3
"""The names of QDP++'s interface (tests/data/qdp_names.txt): each is declared by qdp.h or, as there, by qdp_map_obj.h, and a test says it.

    check_names.py SOURCE_FOLDER COMPILER FLAG...

Says which names fail either. That a test says a name does not prove that it tests it; that none does proves that it does not.
"""
import pathlib
import re
import subprocess
import sys


def main() -> int:
    source, command = pathlib.Path(sys.argv[1]), sys.argv[2:]
    names = [line for line in (source / "tests/data/qdp_names.txt").read_text().split("\n")
             if line and not line.startswith("#")]

    # A using-declaration in a namespace of its own: line 2 + i is the name's.
    # qdp_map_obj.h is qdp.h and maps, which QDP++'s qdp.h does not bring either.
    program = '#include "qdp_map_obj.h"\n' + "".join(f"namespace n{i} {{ using {name}; }}\n" for i, name in enumerate(names))
    compiled = subprocess.run([*command, "-fsyntax-only", "-w", "-fmax-errors=0", "-x", "c++", "-"], input=program,
                              capture_output=True, text=True, check=False)
    absent = {names[int(line) - 2] for line in re.findall(r"<stdin>:(\d+):\d+: error", compiled.stderr)
              if 2 <= int(line) < 2 + len(names)}
    if compiled.returncode != 0 and not absent:
        print(compiled.stderr)
        return 1

    said = set()
    for folder, pattern in (("qdp", "*.[ch]pp"), ("mpi", "*.cpp"), ("lib", "*.cpp"), ("integration/consumer", "*.cpp")):
        for file in (source / "tests" / folder).glob(pattern):
            said |= set(re.findall(r"\w+", file.read_text()))
    untested = {name for name in names if name.split("::")[-1] not in said}

    for name in sorted(absent):
        print(f"not declared by qdp.h: {name}")
    for name in sorted(untested):
        print(f"in no test: {name}")
    print(f"{len(names)} names, {len(absent)} not declared, {len(untested)} in no test")
    return 1 if absent or untested or len(names) < 800 else 0


if __name__ == "__main__":
    sys.exit(main())
