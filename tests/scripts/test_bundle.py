"""scripts/gpu-check on made-up programs of every behaviour and on this build's own, scripts/benchmarks on records of any shape, the
help of scripts/bundle. The bundle itself takes a build of its own; scripts/bundle checks what it packs."""

import json
import os
import re
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[2]
sys.dont_write_bytecode = True


def run(*command, **options):
    environment = {**os.environ, **options.pop("environment", {})}
    result = subprocess.run([str(word) for word in command], capture_output=True, text=True, env=environment, timeout=300, **options)
    return result.returncode, result.stdout, result.stderr


class InFolder(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def program(self, name, text):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("#!/bin/sh\n" + text + "\n")
        path.chmod(0o755)


class CommandLines(InFolder):
    def test_help_names_every_option(self):
        for script, words in (("bundle", ("--output", "--build", "--data", "glibc")), ("benchmarks", ("--check", "--folder")),
                              ("gpu-check", ("--quick", "--output", "--seconds", "--tests", "TESSERA_DEVICE"))):
            status, output, errors = run(SOURCE / "scripts" / script, "--help")
            self.assertEqual((status, errors), (0, ""))
            for word in words:
                self.assertIn(word, output)

    def test_wrong_uses_are_told_what_is_right(self):
        for script, arguments, message in (
            ("bundle", ["--frobnicate"], "unknown option --frobnicate. Valid: --output"),
            ("bundle", ["--output"], "--output needs a value"),
            ("bundle", ["--output", "bundle.zip"], "ends in .tar.xz, .tar.zst or .tar.gz"),
            ("bundle", ["--build", self.folder], "expected a build tree of preset bundle"),
            ("bundle", ["--data", "nowhere"], "--data: expected a folder"),
            ("gpu-check", ["--frobnicate"], "unknown option --frobnicate. Valid: --quick"),
            ("gpu-check", ["--seconds", "soon"], "--seconds: expected a whole number above 0, got soon"),
            ("gpu-check", ["--build", self.folder], "expected a bundle or a build tree"),
            ("benchmarks", ["--folder", "nowhere"], "--folder: expected a folder"),
        ):
            status, _, errors = run(SOURCE / "scripts" / script, *arguments, cwd=self.folder)
            self.assertNotEqual(status, 0)
            self.assertIn(message, errors)
        self.assertEqual(list(self.folder.iterdir()), [])


class GpuCheck(InFolder):
    BENCH = """suite=$1; shift
while [ $# -gt 0 ]; do [ "$1" != --json ] || file=$2; shift; done
[ "$suite" != "$BROKEN" ] || exit 1
echo "table of $suite on $TESSERA_DEVICE"; echo "{\\"machine\\": {}, \\"records\\": []}" > "$file" """

    def check(self, *arguments, **environment):
        """(status, output, the folder with the results)"""
        results = self.folder / f"results{len(list(self.folder.glob('results*')))}"
        status, output, errors = run(SOURCE / "scripts/gpu-check", "--build", self.folder, "--output", results, "--jobs", "3", *arguments,
                                     environment={"TESSERA_DEVICE": "cpu", **environment})
        self.assertEqual(errors, "")
        return status, output, results

    def test_every_outcome_of_a_test_is_told_from_the_others(self):
        self.program("tests/bin/test_good", 'echo "on $TESSERA_DEVICE"')
        self.program("tests/bin/test_bad", "echo why it failed; exit 1")
        self.program("tests/bin/test_crash", "kill -SEGV $$")
        self.program("tests/bin/test_absent", "exit 77")
        self.program("tests/bin/test_slow", "trap '' TERM; sleep 1000")
        self.program("bin/bench", self.BENCH)
        status, output, results = self.check("--tests", "^(good|bad|crash|absent|slow)$", "--seconds", "8", BROKEN="")
        self.assertEqual(status, 1)
        self.assertIn("1 passed, 2 failed, 1 skipped, 1 timed out, 0 not run", output)
        for line in ("fail bad", "fail crash", "timeout slow"):
            self.assertIn(line, output)
        log = (results / "tests.log").read_text()
        self.assertIn("why it failed", log)
        self.assertIn("on cpu", log)
        self.assertLess(log.index("why it failed"), log.index("on cpu"))  # what failed comes first
        self.assertIn("1 passed, 2 failed", (results / "summary.txt").read_text())
        self.assertIn("cores", (results / "summary.txt").read_text())

    def test_good_runs_have_status_0_and_a_record_of_each_suite(self):
        self.program("tests/bin/test_good", "exit 0")
        self.program("bin/bench", self.BENCH)
        status, output, results = self.check("--quick", "--tests", "^good$", BROKEN="")
        self.assertEqual(status, 0, output)
        records = sorted(path.name for path in results.glob("*.json"))
        self.assertEqual([name.rsplit("-", 1)[1] for name in records], ["dslash.json", "expr.json", "hmc.json", "jit.json", "solver.json"])
        for name in records:
            self.assertRegex(name, r"^cpu-[a-z0-9-]+$|^cpu-[a-z0-9-]+core-[a-z]+\.json$")
        self.assertIn("table of solver on cpu", (results / "tests.log").read_text())

        status, output, results = self.check("--quick", "--tests", "^good$", BROKEN="dslash")
        self.assertEqual(status, 1)
        self.assertIn("bench dslash --lattice 8 8 8 8: failed with status 1", output)
        self.assertEqual(len(list(results.glob("*.json"))), 4)
        self.assertIn("not measured", output)

    RECORDS = {
        "expr": [{"suite": "expr", "case": case, "lattice": [8, 8, 8, 8], "precision": precision, "share_of_copy": share}
                 for case, share in (("lcm", .97), ("upsi", .92), ("spmat", .9199), ("matvec", 1.02), ("clover", .5), ("axpy", .1))
                 for precision in ("single", "double")],
        "dslash": [{"suite": "dslash", "case": "dslash", "lattice": lattice, "precision": precision, "gflops": rate}
                   for lattice, precision, rate in (([8, 8, 8, 8], "single", 4100.), ([8, 8, 8, 8], "double", 1900.), ([4, 4, 4, 4], "double", 9e9))],
        "jit": [{"suite": "jit", "case": "host_axpy", "precision": "single", "seconds": 2e-6},
                {"suite": "jit", "case": "host_axpy", "precision": "double", "seconds": 3.2e-6},
                {"case": "dslash", "precision": "single", "cold_seconds": .081, "warm_seconds": .001, "warm_from_cache": True},
                {"case": "dslash", "precision": "double", "cold_seconds": .12, "warm_seconds": .001, "warm_from_cache": True},
                {"case": "upsi", "precision": "double", "cold_seconds": .7, "warm_seconds": .001, "warm_from_cache": False}],
        "hmc": [{"lattice": [4, 4, 4, 4], "seconds": 1, "share_in_kernels": .2, "fields_moved": 0, "parts": []},
                {"lattice": [8, 8, 8, 8], "seconds": 1, "share_in_kernels": .95, "fields_moved": 3, "parts": []}],
        "solver": [],
    }

    def test_the_table_at_the_end_compares_what_was_measured_with_what_is_wanted(self):
        for suite, records in self.RECORDS.items():
            (self.folder / suite).write_text("{\n" + ",\n".join(json.dumps(record) for record in records) + "}\n")
        self.program("tests/bin/test_good", "exit 0")
        self.program("bin/bench", f"""suite=$1; [ "$suite" != "$HANGS" ] || exec sleep 1000
while [ $# -gt 0 ]; do [ "$1" != --json ] || file=$2; shift; done; cp {self.folder}/$suite "$file" """)
        wanted = {"lcm single": ".970 reached", "lcm double": ".970 reached", "upsi single": ".920 reached", "spmat double": ".920 MISSED",
                  "matvec single": "1.020 reached", "clover double": ".500 MISSED", "Dslash single": "4.10 reached",
                  "Dslash double": "1.90 MISSED", "cold compilation": "120.0 reached", "a second run compiles": "1 MISSED",
                  "launch of a kernel": "3.20 reached", "fields moved": "0 reached", "in kernels": ".950 reached"}
        status, output, results = self.check("--quick", "--tests", "^good$", HANGS="")
        self.assertEqual(status, 0, output)
        table = (results / "summary.txt").read_text().split("verdict\n")[1]
        for what, end in wanted.items():
            line = next(line for line in table.splitlines() if what in line)
            self.assertEqual(" ".join(line.split()[-2:]).lstrip("0"), end.lstrip("0"), line)
        self.assertEqual(table.count("reached") + table.count("MISSED"), 17)

        status, output, _ = self.check("--quick", "--tests", "^good$", "--seconds", "40", HANGS="dslash")
        self.assertEqual(status, 1)
        self.assertRegex(output, "Dslash double.* - +not measured")
        self.assertRegex(output, "in kernels.*0.950 +reached")
        self.assertIn("1 passed", output)

    def test_a_device_that_is_not_there_is_told_and_nothing_is_run(self):
        self.program("tests/bin/test_good", "exit 0")
        self.program("bin/bench", "echo 'bench: TESSERA_DEVICE=cuda: expected one of these devices to be there, got none' >&2; exit 1")
        results = self.folder / "results"
        status, output, errors = run(SOURCE / "scripts/gpu-check", "--build", self.folder, "--output", results,
                                     environment={"TESSERA_DEVICE": ""})
        self.assertEqual(status, 2)
        self.assertIn("no such device here: TESSERA_DEVICE=cuda\n", output)
        self.assertEqual(errors, "TESSERA_DEVICE=cuda: expected one of these devices to be there, got none\n")
        self.assertNotIn("passed", output)

        self.program("bin/bench", "echo 'bench: the kernel is wrong' >&2; exit 1")
        status, output, _ = self.check("--tests", "^good$")
        self.assertEqual(status, 1)
        self.assertIn("1 passed", output)

    def test_time_is_kept_whatever_tests_do(self):
        for i in range(12):
            self.program(f"tests/bin/test_slow{i}", "trap '' TERM; sleep 1000")
        begin = time.monotonic()
        status, output, _ = self.check("--no-bench", "--seconds", "3", "--tests", "^slow")
        self.assertLess(time.monotonic() - begin, 25)
        self.assertEqual(status, 1)
        timed_out, not_run = map(int, re.search(r"(\d+) timed out, (\d+) not run", output).groups())
        self.assertEqual((timed_out, not_run), (3, 9))

    def test_a_folder_with_results_is_not_written_to(self):
        self.program("tests/bin/test_good", "exit 0")
        (self.folder / "old").mkdir()
        (self.folder / "old/summary.txt").write_text("of yesterday")
        status, _, errors = run(SOURCE / "scripts/gpu-check", "--build", self.folder, "--output", self.folder / "old")
        self.assertEqual(status, 2)
        self.assertIn("expected a new or empty folder", errors)
        self.assertEqual((self.folder / "old/summary.txt").read_text(), "of yesterday")

    def test_tests_of_this_build_pass(self):
        if "HMC" not in os.environ:
            self.skipTest("HMC is not set")
        self.folder = Path(os.environ["HMC"]).resolve().parent.parent  # its results folder goes, the build stays
        with tempfile.TemporaryDirectory() as results:
            status, output, errors = run(SOURCE / "scripts/gpu-check", "--build", self.folder, "--output", results, "--no-bench",
                                         "--tests", "^(jit_communicator|jit_env_readme|docs_readme_example)$",
                                         environment={"TESSERA_DEVICE": "cpu"})
        self.assertEqual((status, errors), (0, ""), output)
        self.assertIn("3 passed, 0 failed, 0 skipped", output)


class Benchmarks(InFolder):
    def make(self, **records):
        """(status, page, errors)"""
        folder = self.folder / "records"
        folder.mkdir(exist_ok=True)
        for name, record in records.items():
            (folder / f"{name}.json").write_text(record if isinstance(record, str) else json.dumps(record))
        status, _, errors = run(SOURCE / "scripts/benchmarks", "--folder", folder)
        page = self.folder / "records.md"
        return status, page.read_text() if page.exists() else "", errors

    def test_the_page_in_docs_is_that_of_the_records(self):
        status, output, errors = run(SOURCE / "scripts/benchmarks", "--check")
        self.assertEqual((status, output, errors), (0, "", ""))

    def test_suites_and_figures_that_no_one_has_heard_of_get_a_table(self):
        status, page, errors = self.make(new={
            "machine": {"gpu": "Imaginary 9000", "memory_gib": 7, "ceilings": [{"precision": "single", "copy_gbytes_per_s": 4012.3}]},
            "records": [{"suite": "twist", "case": "a|b", "lattice": [4, 4, 4, 8], "seconds": 2.5e-05, "share_of_copy": 0.954, "hash": "f00"},
                        {"suite": "twist", "case": "c", "lattice": [4, 4, 4, 4], "seconds": 0.5, "share_of_copy": 0.5, "hash": "f01"}],
            "spills": [{"device": "cuda:0", "ok": True, "steps": [{"case": "page out", "gbytes_per_s": 51.26}]}]})
        self.assertEqual((status, errors), (0, ""))
        for text in ("## gpu Imaginary 9000, memory gib 7", "### twist", "### spills", "| case | lattice | time | / copy |",
                     "| a\\|b | 4×4×4×8 | 25 µs | 0.95 |", "| c | 4^4 | 500 ms | 0.50 |", "| cuda:0 | yes |", "steps of device cuda:0:",
                     "| page out | 51.3 |", "| single | 4012 |", "records/new.json"):
            self.assertIn(text, page)
        self.assertNotIn("f00", page)

    def test_records_of_one_machine_stand_together_and_what_all_rows_share_is_said_once(self):
        one, other = {"cpu": "One"}, {"cpu": "Other"}
        rows = [{"suite": "s", "case": c, "device": "cpu", "seconds": 1.0} for c in "ab"]
        _, page, _ = self.make(a={"machine": one, "records": rows}, b={"machine": other, "records": rows}, c={"machine": one, "later": rows})
        self.assertEqual(re.findall("^## .*", page, re.M), ["## cpu One", "## cpu Other"])
        self.assertEqual(page.count("In all rows: device cpu."), 3)
        self.assertNotIn("| device |", page)

    def test_a_page_that_is_out_of_date_is_found(self):
        self.make(a={"machine": {"cpu": "One"}, "records": []})
        check = (SOURCE / "scripts/benchmarks", "--folder", self.folder / "records", "--check")
        self.assertEqual(run(*check)[0], 0)
        (self.folder / "records/b.json").write_text('{"machine": {"cpu": "Two"}}')
        status, _, errors = run(*check)
        self.assertEqual(status, 1)
        self.assertIn("run scripts/benchmarks", errors)

    def test_what_is_no_record_is_refused_with_its_name(self):
        for text in ("{", "[]", '{"records": []}'):
            status, page, errors = self.make(broken=text)
            self.assertEqual((status, page), (1, ""))
            self.assertIn("broken.json", errors)
            self.assertEqual(errors.count("\n"), 1)


if __name__ == "__main__":
    unittest.main(verbosity=2)
