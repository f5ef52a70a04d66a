"""scripts/mutate on a program of a dozen lines: the bugs that it knows, each alone in one build, and none where all are asleep."""

import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

SCRIPT = Path(__file__).resolve().parents[2] / "scripts/mutate"

PROGRAM = """#include <cstdio>
#include <string>
constexpr double kHalf = 0.5;
constexpr int kThree = 3;
double f(double x, int n) {
  double s[kThree] = {-kHalf};
  if (n < kThree && x > 0) s[0] += x / n;
  else if (bool last = true; n > 4 && last) s[0] *= 8;
  return s[0];
}
std::string g(int n) { return "n = " + std::to_string(n - 1); }
int main() { std::printf("%.3f %.3f %.3f %s", f(2.0, 2), f(3, 3), f(1, 5), g(3).c_str()); }
"""
TRUE = "0.500 -0.500 -4.000 n = 2"
# What the program prints with a bug.
KNOWN = {
    "0.5 -> another": "0.750 -0.250 -2.000 n = 2",
    "-kHalf: without -": "1.500 0.500 4.000 n = 2",
    "n < kThree: < -> <=": "0.500 0.500 -4.000 n = 2",
    "x / n: / -> *": "3.500 -0.500 -4.000 n = 2",
    "n < kThree && x > 0: always": "0.500 0.500 -0.300 n = 2",
    "n < kThree && x > 0: never": "-0.500 -0.500 -4.000 n = 2",
    "n < kThree && x > 0: without the left side": "0.500 0.500 -0.300 n = 2",
    "s[0] *= 8: left out": "0.500 -0.500 -0.500 n = 2",
    "true -> another": "0.500 -0.500 -0.500 n = 2",
    "n - 1: - -> +": "0.500 -0.500 -4.000 n = 4",
}


class Mutate(unittest.TestCase):
    def test_each_bug_alone(self):
        with tempfile.TemporaryDirectory() as folder:
            folder = Path(folder)
            (folder / "small.cpp").write_text(PROGRAM)
            made = subprocess.run([sys.executable, SCRIPT, "--show", folder / "small.cpp"], capture_output=True, text=True)
            self.assertEqual(made.returncode, 0, made.stderr)
            (folder / "planted.cpp").write_text(made.stdout)
            subprocess.run([shutil.which("c++"), "-std=c++20", folder / "planted.cpp", "-o", folder / "planted"], check=True)
            bugs = dict((what, n) for n, what in re.findall(r"^// (\d+) line \d+: (.*)$", made.stdout, re.M))

            def run(number):
                log = folder / f"log{number}"
                environment = os.environ | {"TESSERA_MUTANT": str(number), "TESSERA_MUTANT_LOG": str(log)}
                out = subprocess.run([folder / "planted"], env=environment, capture_output=True, text=True, check=True)
                return out.stdout, set(log.read_text().split())

            self.assertEqual(run(-1)[0], TRUE)
            for what, expected in KNOWN.items():
                self.assertIn(what, bugs)
                number = bugs[what]
                printed, reached = run(number)
                self.assertEqual(printed, expected, what)
                self.assertIn(number, reached)
            # Strings have no other sign, and what must be constant stays so.
            self.assertFalse([what for what in bugs if "std::to_string" in what and "+" in what.split(":")[-1]])


if __name__ == "__main__":
    try:
        import clang.cindex
    except ImportError:
        print("SKIP: no libclang for Python (python3-clang-19)")
        sys.exit(77)
    if not shutil.which("clang-19"):
        print("SKIP: no clang-19")
        sys.exit(77)
    unittest.main()
