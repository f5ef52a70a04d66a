"""scripts/same-results on what hmc, purgaug and measure leave: it passes over what a second run changes, and nothing else."""

import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[2]
SCRIPT = SOURCE / "scripts/same-results"
PROGRAMS = Path(os.environ["HMC"]).resolve().parent
sys.dont_write_bytecode = True


def compare(*arguments):
    result = subprocess.run([sys.executable, SCRIPT, *map(str, arguments)], capture_output=True, text=True, timeout=120)
    return result.returncode, result.stdout, result.stderr


def run(folder, program, example, *changes, **environment):
    """Runs an example on 2^4 sites in the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    text = (SOURCE / "examples" / example).read_text()
    for pattern, value in (("nrow", "2 2 2 2"), ("NUpdatesThisRun", "2"), ("SaveInterval", "2"), *changes):
        text = re.sub(f"<{pattern}>[^<]*<", f"<{pattern}>{value}<", text)
    (folder / "in.xml").write_text(text)
    subprocess.run([PROGRAMS / program, "-i", "in.xml", "-o", "out.xml", "-l", "log.xml"], cwd=folder, check=True, timeout=300,
                   capture_output=True, env={**os.environ, **environment})


class SameResults(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.scratch = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.scratch.cleanup)
        cls.runs = Path(cls.scratch.name)
        for name, environment in (("one", {"OMP_NUM_THREADS": "1"}), ("other", {"OMP_NUM_THREADS": "2"})):
            run(cls.runs / name / "hmc", "hmc", "hmc/quickstart.xml", **environment)
            run(cls.runs / name / "purgaug", "purgaug", "purgaug/wilson_6.0.xml", ("NWarmUpUpdates", "2"), **environment)
            run(cls.runs / name / "measure", "measure", "measure/spectrum.xml", **environment)

    def setUp(self):
        self.folder = self.runs / "changed"
        shutil.rmtree(self.folder, ignore_errors=True)
        shutil.copytree(self.runs / "other", self.folder)

    def change(self, file, old, new, count=1):
        """Replaces what must be there, bytes or text, in a file of the second run."""
        path = self.folder / file
        data = path.read_bytes()
        old, new = (t.encode() if isinstance(t, str) else t for t in (old, new))
        self.assertTrue(old in data, f"{old} is not in {file}")
        path.write_bytes(data.replace(old, new, count))

    def told(self, *arguments):
        """What is said of the two runs, which must be different."""
        status, output, errors = compare(*(arguments or (self.runs / "one", self.folder)))
        self.assertEqual((status, errors), (1, ""), output)
        return output

    def test_a_second_run_with_other_threads_at_another_time_is_the_same(self):
        status, output, errors = compare(self.runs / "one", self.folder)
        self.assertEqual((status, errors), (0, ""), output)
        self.assertRegex(output, r"^1\d files, the same\n$")
        one, other = ((self.runs / name / "hmc/out.xml").read_text() for name in ("one", "other"))
        self.assertNotEqual(one, other)

    def test_the_list_is_of_elements_that_are_written(self):
        status, output, _ = compare("--list")
        self.assertEqual(status, 0)
        documents = "".join(p.read_bytes().decode("latin1") for p in (self.runs / "one").rglob("*") if p.is_file())
        paths = [line.split(":")[0] for line in output.splitlines()]
        self.assertGreaterEqual(len(paths), 10)
        self.assertLess(len(paths), 15)
        for path in paths:
            *groups, name = path.split("/")
            self.assertIn(f"<{name}>", documents)
            for group in groups:
                self.assertRegex(documents, f"<{group}>(?s:.)*<{name}>")

    def test_the_last_digit_of_a_plaquette_counts(self):
        text = (self.folder / "hmc/out.xml").read_text()
        old = re.findall(r"<w_plaq>([^<]*)<", text)[-1]
        new = old[:-1] + str((int(old[-1]) + 1) % 10)
        self.change("hmc/out.xml", f"<w_plaq>{old}<", f"<w_plaq>{new}<")
        output = self.told()
        self.assertIn(f"Plaquette/w_plaq: '{old}' and '{new}'", output)
        self.assertIn("1 differences", output)
        self.assertIn("elem[2]/Update/", output)
        self.assertIn("hmc/out.xml", output)

    def test_a_correlator_counts(self):
        text = (self.folder / "measure/out.xml").read_text()
        old = re.search(r"<re>(-?\d\.\d{6,}[^<]*)<", text)[1]
        self.change("measure/out.xml", f"<re>{old}<", f"<re>{old}1<")
        self.assertIn(f"/re: '{old}' and '{old}1'", self.told())

    def test_elements_that_are_missing_extra_renamed_or_moved(self):
        for old, new, words in (("<AcceptP>true</AcceptP>", "", "AcceptP"), ("<AcceptP>true</AcceptP>", "<AcceptP>true</AcceptP><x/>", "nothing more and x"),
                                ("<deltaKE>(.*)</deltaKE>", r"<deltaPE_>\1</deltaPE_>", "deltaKE and deltaPE_"),
                                ("<run_date>(.*)</run_date>", r"<run_dates>\1</run_dates>", "run_date and run_dates"),
                                ("<WarmUpP>true</WarmUpP>", "<WarmUpP/>", "'true' and ''"), ("<ProgramInfo>", '<ProgramInfo a="b">', "attributes")):
            with self.subTest(old=old, new=new):
                path = self.folder / "hmc/out.xml"
                whole = path.read_text()
                text, count = re.subn(old, new, whole)
                self.assertGreater(count, 0)
                path.write_text(text)
                self.assertIn(words, self.told())
                path.write_text(whole)

    def test_what_may_differ_is_where_it_belongs_is_there_and_looks_like_it(self):
        self.change("hmc/out.xml", "<threads>2<", "<threads>3<")
        self.assertEqual(compare(self.runs / "one", self.folder)[0], 0)
        self.change("hmc/out.xml", "<threads>3<", "<threads>many<")
        self.assertIn("machine/threads: may differ, but 'many' does not look like one", self.told())
        self.setUp()
        self.change("hmc/out.xml", "<threads>2</threads>", "")
        self.assertIn("element 4 of 4 and of 3: threads and nothing more", self.told())
        self.setUp()
        for name in ("one", "changed"):  # another element of that name
            path = self.runs / name / "extra.xml"
            path.write_text(f"<a><threads>{len(name)}</threads></a>")
        self.addCleanup((self.runs / "one/extra.xml").unlink)
        self.assertIn("a/threads: '3' and '7'", self.told())

    def test_the_input_and_its_comments_count(self):
        self.change("hmc/out.xml", "<beta>5.7<", "<beta>5.70<")
        self.assertIn("Input/Params/HMCTrj/Monomials/elem/GaugeAction/beta: '5.7' and '5.70'", self.told())
        self.change("purgaug/out.xml", "Wilson flow to t = 1 ", "Wilson flow to t = 2 ")
        self.assertIn("/comment: ", self.told(self.runs / "one/purgaug/out.xml", self.folder / "purgaug/out.xml"))

    def test_a_truncated_document_is_no_result(self):
        for file in ("hmc/out.xml", "hmc/quickstart_cfg_2.lime"):
            path = self.folder / file
            whole = path.read_bytes()
            for length in (len(whole) - 8, len(whole) // 2, 200):
                path.write_bytes(whole[:length])
                self.assertRegex(self.told(self.runs / "one" / file, path), "no complete XML document|LIME file that ends|records ")
                self.told(path, path)  # nor are two of them
            path.write_bytes(whole[:0])
            self.told(self.runs / "one" / file, path)

    def test_text_that_is_no_xml(self):
        (self.runs / "a.txt").write_text("one\ntwo three\n")
        (self.runs / "b.txt").write_text("one\ntwo  three\n")
        self.assertIn("line 2, byte 8: 'two three' and 'two three'", self.told(self.runs / "a.txt", self.runs / "b.txt"))
        (self.runs / "b.txt").write_text("one\n")
        self.assertIn("14 and 4 bytes", self.told(self.runs / "a.txt", self.runs / "b.txt"))
        (self.runs / "b.txt").write_text("<one/>\n")
        self.assertIn("text and XML document", self.told(self.runs / "a.txt", self.runs / "b.txt"))

    def test_files_of_one_folder_only(self):
        (self.folder / "hmc/log.xml").rename(self.folder / "hmc/log2.xml")
        output = self.told()
        self.assertIn(f"hmc/log.xml: only in {self.runs / 'one'}", output)
        self.assertIn(f"hmc/log2.xml: only in {self.folder}", output)

    def record(self, file, kind):
        """Where a record's data begin in a LIME file of the second run, and how long they are."""
        data = (self.folder / file).read_bytes()
        at = data.index(kind.encode() + b"\0")
        return at + 128, struct.unpack(">Q", data[at - 8 : at])[0]

    def test_the_last_bit_of_a_link_counts_and_its_place_is_told(self):
        file = "hmc/quickstart_cfg_2.lime"
        begin, length = self.record(file, "ildg-binary-data")
        self.assertEqual(length, 2**4 * 4 * 144)
        data = bytearray((self.folder / file).read_bytes())
        data[begin + 5 * 4 * 144 + 8 * 20 + 7] ^= 1
        (self.folder / file).write_bytes(data)
        output = self.told()
        self.assertRegex(output, r"\(ildg-binary-data\): site 5, number 20: (-?0\.\d+(e-\d+)?) and (?!\1\b)-?0\.\d+")
        self.assertIn("(scidac-checksum): is not that of the data", output)
        # The same damage in both: the checksum tells.
        self.assertIn("is not that of the data", self.told(self.folder, self.folder))

    def test_checksums_and_records_of_configurations(self):
        file = "hmc/quickstart_cfg_2.lime"
        text = (self.folder / file).read_bytes()
        suma = re.search(rb"<suma>([0-9a-f]+)<", text)[1]
        self.change(file, suma, suma[:-1] + (b"0" if suma[-1:] != b"0" else b"1"))
        self.assertIn("scidacChecksum/suma: ", self.told())
        self.setUp()
        self.change(file, b"<date>", b"<dote>")
        self.change(file, b"</date>", b"</dote>")
        self.assertIn("scidacRecord: element 2", self.told())
        self.setUp()
        self.change(file, "<beta>5.7<", "<beta>5.8<")
        self.assertIn("(scidac-record-xml): Params/HMCTrj/Monomials/elem/GaugeAction/beta: ", self.told())
        self.setUp()
        self.change(file, b"ildg-format\0", b"ildg-farmat\0")
        self.assertIn("records ", self.told())
        self.setUp()
        begin, length = self.record(file, "ildg-format")
        self.assertNotEqual(length % 8, 0)
        data = bytearray((self.folder / file).read_bytes())
        data[begin + length] = 1
        (self.folder / file).write_bytes(data)
        self.assertIn("other bytes than zeros", self.told())

    def test_nothing_to_compare_is_an_error(self):
        empty = self.runs / "empty"
        empty.mkdir()
        for arguments, words in (((empty, empty), "no files to compare"), ((empty,), "got 1"), ((empty, self.runs / "absent"), "got nothing"),
                                 ((empty, SCRIPT), "got one of each")):
            status, _, errors = compare(*arguments)
            self.assertEqual(status, 2)
            self.assertIn(words, errors)


if __name__ == "__main__":
    unittest.main()
