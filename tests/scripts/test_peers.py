#!/usr/bin/env python3
"""scripts/peers with libraries that only pretend: who runs when, what the table says, what goes wrong."""

import json
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

PEERS = Path(__file__).resolve().parents[2] / "scripts/peers"

# "Compiles" a program that notes who was called how, and prints its lines: of a round the first number, then the second ...
CONFIG = """#!{python}
import sys
if sys.argv[1] == "--cxx":
    print("{folder}/compiler-{name}")
elif sys.argv[1] == "--cxxflags":
    print("-D{name}")
"""
COMPILER = """#!{python}
import os, sys
source = next(w for w in sys.argv if w.endswith(".cpp"))
target = sys.argv[sys.argv.index("-o") + 1]
if "{broken}" and "{broken}" in source:
    sys.exit("x.cpp:1: error: no such header")
with open(target, "w") as out:
    out.write('''#!{python}
import os, sys
called = "{folder}/called"
rounds = open(called).read().count("{name} " + os.path.basename(sys.argv[0]) + " ") if os.path.exists(called) else 0
with open(called, "a") as out:
    print("{name}", os.path.basename(sys.argv[0]), *sys.argv[1:], "threads", os.environ["OMP_NUM_THREADS"], file=out)
lines = {lines}
solver = os.path.basename(sys.argv[0]).startswith("solver")
print("Grid : Message : 3.2 double precision")
for case, values in lines.items():
    if case.startswith("cg") == solver or "{name}" == "grid":
        print("{{}} {{:g}}".format(case, values[rounds % len(values)]))
''')
os.chmod(target, 0o755)
"""


class Peers(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def library(self, name, lines, broken=""):
        values = {"python": sys.executable, "folder": self.folder, "name": name, "lines": repr(lines).replace("{", "{").replace("'", '"'),
                  "broken": broken}
        (self.folder / name / "bin").mkdir(parents=True)
        for path, text in [(self.folder / name / "bin" / ("grid-config" if name == "grid" else "qdp++-config"), CONFIG),
                           (self.folder / f"compiler-{name}", COMPILER)]:
            path.write_text(text.format(**values))
            path.chmod(0o755)
        return self.folder / name

    def peers(self, *options):
        return subprocess.run([str(PEERS), *map(str, options)], capture_output=True, text=True)

    def test_rounds_in_turn_medians_and_ratios(self):
        tessera = self.library("tessera", {"hop single": [2e-6, 1e-6, 9e-6], "hop double": [4e-3], "cg double": [5e-4], "mine single": [1.0]})
        bench = tessera / "bin/bench"
        bench.write_text("""#!/bin/sh\nwhile [ "$1" != --json ]; do shift; done\necho '{"machine": {"cores": 2}}' >"$2"\n""")
        bench.chmod(0o755)
        qdpxx = self.library("qdpxx", {"hop single": [3e-6, 5e-6, 4e-6], "theirs single": [1.0]})
        grid = self.library("grid", {"hop single": [1e-6], "hop double": [8e-3], "cg double": [1e-3]})
        done = self.peers("--tessera", tessera, "--qdpxx", qdpxx, "--grid", grid, "--rounds", 3, "--seconds", 0.5, "--threads", "1,2",
                          "--lattice", 2, 4, 6, 8, "--json", self.folder / "rows.json")
        self.assertEqual(done.returncode, 0, done.stderr)
        called = (self.folder / "called").read_text().splitlines()
        once = [f"{who} 0.5 {where} threads {threads}" for threads in (1, 2) for who, where in
                [("tessera language-Tessera", "2 4 6 8"), ("qdpxx language-QDPpp", "2 4 6 8"),
                 ("grid grid-Grid", f"--grid 2.4.6.8 --threads {threads}"), ("tessera solver-Tessera", "2 4 6 8")]]
        self.assertEqual(called, once * 3)
        rows = done.stdout.splitlines()
        self.assertEqual(len(rows), 2 + 2 * 3, done.stdout)  # what one library alone has is no row
        # Called for the second thread, too, each program has gone on in its list.
        self.assertIn("| cg | 2x4x6x8 | double | 1 | 500 µs | 0.00 |  |  |  | 1 ms | 0.00 | 2.00 |", rows)
        self.assertIn("| hop | 2x4x6x8 | double | 2 | 4 ms | 0.00 |  |  |  | 8 ms | 0.00 | 2.00 |", rows)
        document = json.loads((self.folder / "rows.json").read_text())
        self.assertEqual(document["machine"], {"cores": 2})
        hop = next(row for row in document["peers"] if row["precision"] == "single")
        self.assertEqual((hop["seconds"], hop["QDP++_seconds"], hop["QDP++_ratio"]), (2e-6, 4e-6, 2.0))
        self.assertEqual((hop["spread"], hop["lattice"], hop["threads"]), (4.0, [2, 4, 6, 8], 1))
        self.assertEqual(hop["Grid_ratio"], 0.5)

    def test_what_goes_wrong_is_said(self):
        tessera = self.library("tessera", {"hop single": [1e-6]})
        for options, status, said in [((), 2, "--qdpxx PREFIX"), (("--qdpxx", self.folder / "nowhere"), 1, "nowhere"),
                                      (("--qdpxx", self.folder), 1, f"{self.folder}: expected bin/qdp++-config or"),
                                      (("--grid", self.folder), 1, "grid-config: no such program"),
                                      (("--qdpxx", self.library("broken", {}, "language"), ), 1, "no such header"),
                                      (("--qdpxx", self.library("silent", {})), 1, "language-QDPpp printed no time"),
                                      (("--qdpxx", tessera, "--rounds", 0), 2, "--rounds"), (("--qdpxx", tessera, "--threads", "0"), 2, "threads")]:
            done = self.peers("--tessera", tessera, *options)
            self.assertEqual(done.returncode, status, options)
            self.assertIn(said, done.stderr)
            self.assertNotIn("Traceback", done.stderr)


if __name__ == "__main__":
    unittest.main()
