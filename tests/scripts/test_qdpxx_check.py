#!/usr/bin/env python3
"""tests/qdp_programs/compare.py and scripts/qdpxx-check: what counts as the same, and that they say so when it is not."""

import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]
PROGRAMS = REPOSITORY / "tests/qdp_programs"
sys.dont_write_bytecode = True
sys.path[:0] = [str(PROGRAMS), str(REPOSITORY / "scripts")]
import compare  # noqa: E402
import steps  # noqa: E402


def same(wanted, found, tolerance="1e-12"):
    return not compare.differences(f"tolerance {tolerance}\n{wanted}", found)


class Compare(unittest.TestCase):
    def test_rounding_is_the_same(self):
        self.assertTrue(same("x = 0.333333333333333\n", "x = 0.333333333333334\n"))
        self.assertTrue(same("( 1.5e-3 , -2 )\n", "( 0.0015 , -2 )\n"))
        self.assertTrue(same("0.333333", "0.333334"))  # the last of six digits
        self.assertTrue(same("0", "-1.5e-17") and same("2e-14", "-3e-15"))  # noise
        self.assertTrue(same("1.001", "1.002", tolerance="1e-2"))

    def test_what_differs_is_seen(self):
        for wanted, found in [("0.3333333333", "0.3333333433"), ("12", "13"), ("0.33333", "0.33334"), ("1e-12", "1.1e-12"), ("0", "-0"),
                              ("a 1", "b 1"), ("a  1", "a 1"), ("1 2", "1"), ("1\n2\n", "1\n"), ("1\n", "1\n2\n"), ("<a>1</a>", "<a> 1</a>"),
                              ("inf", "1.5"), ("nan", "inf"), ("1.5", "-1.5")]:
            self.assertFalse(same(wanted, found), (wanted, found))

    def test_an_expectation_names_its_tolerance(self):
        with self.assertRaises(ValueError):
            compare.differences("x = 1\n", "x = 1\n")

    def test_every_program_has_an_expectation_and_every_expectation_a_program(self):
        programs = {p.stem for p in PROGRAMS.glob("*.cpp")}
        self.assertEqual(programs, {p.stem for p in PROGRAMS.glob("*.expected")})
        self.assertEqual(len(programs), 40)
        for name in programs:  # none is empty, and a changed number shows
            expected = (PROGRAMS / f"{name}.expected").read_text()
            self.assertGreater(len(expected.splitlines()), 4, name)
            text = expected.partition("\n")[2]
            self.assertFalse(compare.differences(expected, text), name)
            self.assertTrue(compare.differences(expected, text.replace("1", "2")), name)

    def test_files_stand_in_the_text_of_a_run(self):
        with tempfile.TemporaryDirectory() as folder:
            folder = Path(folder)
            (folder / "stdout.txt").write_text("Lattice initialized:\n  problem size = 2 2\nFinished lattice layout\nmine\n")
            (folder / "b.lime").write_bytes(b"\0<date>today</date>\0")
            (folder / "a.xml").write_text("<a/>")
            (folder / "c.nersc").write_bytes(b"BEGIN_HEADER\nCHECKSUM = 1\nEND_HEADER\n\1\2")
            text = compare.collect(folder)
            self.assertTrue(text.startswith("mine\n==> a.xml\n<a/>\n(no newline)\n==> b.lime\n("), text)
            (folder / "b.lime").write_bytes(b"\0<date>yesterday</date>\0")
            (folder / "c.nersc").write_bytes(b"BEGIN_HEADER\nCHECKSUM = 22\nEND_HEADER\n\1\2")
            self.assertEqual(text, compare.collect(folder))
            (folder / "b.lime").write_bytes(b"\1<date>today</date>\0")
            self.assertNotEqual(text, compare.collect(folder))

    def test_a_run_that_fails_or_says_something_else_is_no_success(self):
        with tempfile.TemporaryDirectory() as folder:
            folder = Path(folder)
            (folder / "p.expected").write_text("tolerance 1e-12\nx 1.5\n")
            for command, status in [("echo x 1.5", 0), ("echo x 1.6", 1), ("echo x 1.5; exit 3", 1), ("echo x 1.5; echo 1 > new", 1)]:
                done = subprocess.run([sys.executable, PROGRAMS / "compare.py", "run", folder / "p.expected", folder / "run", "sh", "-c", command],
                                      capture_output=True)
                self.assertEqual(done.returncode, status, command)


class Installation(unittest.TestCase):
    def test_what_is_built_in_part_or_not_at_all_says_how_to_build_it(self):
        """scripts/quickstart builds one program: that is no installation."""
        with tempfile.TemporaryDirectory() as folder:
            before, steps.REPOSITORY = steps.REPOSITORY, Path(folder)
            try:
                with self.assertRaisesRegex(steps.Failed, "cmake --preset release && cmake --build --preset release"):
                    steps.installation(None, Path(folder) / "prefix")
                build = Path(folder) / "build/release"
                build.mkdir(parents=True)
                (build / "qdp++-config").touch()
                (build / "cmake_install.cmake").write_text('message(FATAL_ERROR "no such library")')
                with self.assertRaisesRegex(steps.Failed, "cmake --build --preset release"):
                    steps.installation(None, Path(folder) / "prefix")
                (build / "cmake_install.cmake").write_text("")
                self.assertEqual(steps.installation(None, Path(folder) / "prefix"), Path(folder) / "prefix")
            finally:
                steps.REPOSITORY = before


class QdpxxCheck(unittest.TestCase):
    """Two installations that are a header each, and examples that show where they differ."""

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.root = Path(self.folder.name)
        for name, number in (("old", "1.5"), ("new", "1.6")):
            config = self.root / name / "bin/qdp++-config"
            config.parent.mkdir(parents=True)
            config.write_text(f'#!/bin/sh\ncase $1 in --cxx) echo c++;; --cxxflags) echo "-I{self.root}/{name}";; *) echo;; esac\n')
            config.chmod(0o755)
            (self.root / name / "qdp.h").write_text(f"#include <cstdio>\n#define NUMBER {number}\n"
                                                    + ("#define ONLY_OLD 1\n" if name == "old" else ""))
        (self.root / "examples").mkdir()
        for name, text in {
            "toy_same.cc": 'int helper(); int main() { std::printf("%d in %g seconds\\n", helper(), NUMBER); std::puts("done"); }',
            "toy_other.cc": 'int main() { std::printf("x %g\\n", NUMBER); }',
            "toy_file.cc": 'int main() { std::fprintf(std::fopen("f.txt", "w"), "%g\\n", NUMBER); }',
            "toy_input.cc": 'int main() { int n = 0; if (std::scanf("%d", &n) != 1) return 1; std::printf("%d\\n", n); }',
            "toy_old.cc": "int main() { return ONLY_OLD - 1; }",
            "toy_fails.cc": "int main() { return NUMBER > 1.55; }",
            "helper.cc": "int helper() { return 7; }",
        }.items():
            (self.root / "examples" / name).write_text(f'#include "qdp.h"\n{text}\n')
        (self.root / "examples/toy_input.input").write_text("5\n")

    def run_check(self, *options):
        command = [sys.executable, REPOSITORY / "scripts/qdpxx-check", self.root / "old", self.root / "examples", "--tessera", self.root / "new",
                   "--build", self.root / "build", "--flags=-O0", *options]
        done = subprocess.run([str(c) for c in command], capture_output=True, text=True)
        return done.returncode, done.stdout + done.stderr

    def test_table(self):
        status, said = self.run_check("--only", "toy_")
        self.assertEqual(status, 1, said)
        table = (self.root / "build/report.md").read_text()
        for row in ["| examples of QDP++ | 2 | 3 | 1 |", "| toy_same | same |  |", "| toy_input | same |  |", "| toy_fails | differs | status 0 and 1 |",
                    "| toy_other | differs | 1 lines, the first: `x 1.5` and `x 1.6` |", "| toy_old | does not build on Tessera |"]:
            self.assertIn(row, table)
        self.assertEqual(self.run_check("--only", "toy_", "--at-least", "2")[0], 0)
        self.assertEqual(self.run_check("--only", "toy_same")[0], 0)
        status, said = self.run_check("--only", "nothing of this name")
        self.assertEqual(status, 2)
        self.assertIn("no program's name contains", said)

    def test_wrong_folders_are_named(self):
        command = [sys.executable, str(REPOSITORY / "scripts/qdpxx-check"), str(self.root / "old"), str(self.root / "missing")]
        done = subprocess.run(command, capture_output=True, text=True)
        self.assertEqual(done.returncode, 2)
        self.assertIn("expected the folder of QDP++'s examples", done.stderr)


if __name__ == "__main__":
    unittest.main()
