"""scripts/ptx-check with an assembler that says what the test wants, and with the machine's own if it has one."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

SCRIPT = Path(__file__).resolve().parents[2] / "scripts/ptx-check"
sys.dont_write_bytecode = True

# Refuses files with "bogus", reads registers and spills from comments in the others.
ASSEMBLER = """#!/bin/sh
for word; do last=$word; case $word in -arch=*) arch=${word#-arch=} ;; esac; done
grep -q "^.target $arch\\$" "$last" || { echo "ptxas $last: wrong target"; exit 1; }
if grep -q bogus "$last"; then echo "ptxas $last, line 7; error   : Unknown instruction 'bogus'" >&2; exit 255; fi
sed -n 's/^.. spills \\(.*\\)/    \\1 bytes stack frame, \\1 bytes spill stores, 0 bytes spill loads/p; s/^.. registers \\(.*\\)/Used \\1 registers/p' "$last"
"""
ENTRY = ".version 7.8\n.target sm_90\n.address_size 64\n.visible .entry kernel_1()\n{\n\tret;\n}\n"


class PtxCheck(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        (self.folder / "bin").mkdir()
        assembler = self.folder / "bin/ptxas"
        assembler.write_text(ASSEMBLER)
        assembler.chmod(0o755)

    def kernel(self, name, registers=32, spills=0, text=ENTRY, folder="kernels"):
        path = self.folder / folder / f"{name}.ptx"
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"{text}// registers {registers}\n// spills {spills}\n")

    def check(self, *arguments, path=None):
        path = f"{self.folder}/bin:{os.environ['PATH']}" if path is None else path
        result = subprocess.run([sys.executable, SCRIPT, *arguments], cwd=self.folder, capture_output=True, text=True, timeout=60,
                                env={**os.environ, "PATH": path})
        return result.returncode, result.stdout, result.stderr

    def test_kernels_are_counted_once_and_for_each_architecture(self):
        self.kernel("axpy_1", 24)
        self.kernel("hop_2", 64)
        self.kernel("hop_2", 64, folder="others")
        status, output, errors = self.check("kernels", "others")
        self.assertEqual((status, errors), (0, ""))
        for architecture in ("sm_90", "sm_80"):
            self.assertIn(f"{architecture}: 2 kernels, 2 accepted, 0 refused, 0 spill, 0 with a stack frame", output)
        self.assertEqual(output.count("<= 32: 1  <= 64: 1"), 2)
        self.assertIn("64 registers,     0 bytes of stack", output)
        self.assertNotIn("sm_90", self.check("--arch", "sm_75", "kernels")[1])

    def test_a_refused_kernel_is_named_with_the_reason(self):
        self.kernel("good_1")
        self.kernel("bad_2", text=ENTRY.replace("ret", "bogus"))
        self.kernel("absent_3", text="// no libdevice on this machine\n")
        status, output, _ = self.check("--arch", "sm_90", "kernels")
        self.assertEqual(status, 1)
        self.assertIn("3 kernels, 1 accepted, 2 refused", output)
        self.assertIn("refused: bad_2\n    ptxas bad_2.ptx, line 7; error   : Unknown instruction 'bogus'", output)
        self.assertIn("refused: absent_3\n    // no libdevice on this machine", output)

    def test_kernels_that_are_wrong_though_they_assemble_are_named(self):
        def body(*lines):
            loads = "".join(f"\tld.param.u64 \t%rd{i}, [kernel_1_param_{i}];\n" for i in range(3))
            return ENTRY.replace("\tret;", loads + "".join(f"\t{line}\n" for line in lines) + "$L__BB0_9:\n\tret;")

        load, far = "ld.global.nc.f64 \t%fd1, [%rd9+128];", "add.s64 \t%rd9, %rd1, %rd8;"
        self.kernel("good_1", text=body(far, load, "fma.rn.f64 \t%fd2, %fd1, %fd1, %fd1;", "st.global.f64 \t[%rd0], %fd2;", "bar.sync \t0;",
                                        "@%p1 bra \t$L__BB0_9;", "shfl.sync.bfly.b32\t%r2, %r1, 16, 31, -1;", "mul.wide.u32 \t%rd7, %r1, 8;"))
        wrong = {"alias": ((far, load, "add.s64 %rd5, %rd1, 8;", "@%p1 st.global.f64 \t[%rd5], %fd1;"), "parameter 1 is written"),
                 "loop": (("mov.u64 \t%rd3, %rd4;", "add.s64 \t%rd4, %rd2, 8;", "ld.global.nc.v2.f32 \t{%f1, %f2}, [%rd3];", "st.global.f32 \t[%rd2], %f1;"),
                          "parameter 2 is written"),
                 "fused": (("mul.f32 \t%f1, %f2, %f3;",), "not by itself: mul.f32"),
                 "flushed": (("add.rn.ftz.f32 \t%f1, %f2, %f3;",), "not by itself: add.rn.ftz.f32"),
                 "quotient": (("div.full.f32 \t%f1, %f2, %f3;",), "not exactly rounded"),
                 "order": (("atom.global.add.f64 \t%fd1, [%rd1], %fd2;",), "order of threads"),
                 "warp": (("shfl.sync.bfly.b32\t%r2, %r1, 16, 31, 1;",), "of the warp"),
                 "barrier": (("@%p1 bra \t$L__BB0_9;", "bar.sync \t0;"), "at a barrier")}
        for name, (lines, _) in wrong.items():
            self.kernel(f"{name}_2", text=body(*lines))
        status, output, errors = self.check("--arch", "sm_90", "kernels")
        self.assertEqual((status, errors), (1, ""))
        for name, (_, words) in wrong.items():
            self.assertRegex(output, f"wrong: {name}_2: .*{words}")
        self.assertEqual(output.count("wrong: "), len(wrong))

    def test_what_a_thread_does_is_counted_and_its_time_estimated(self):
        lines = ("ld.param.u64 \t%rd1, [kernel_1_param_0];", "mov.u32 \t%r1, %tid.x;", "mad.lo.s32 \t%r2, %r1, %r1, %r1;",
                 "@%p1 bra \t$L__BB0_2;", "ld.global.nc.v4.f32 \t{%f1, %f2, %f3, %f4}, [%rd1];", "ld.global.cs.nc.v2.b16 \t{%rs1, %rs2}, [%rd1];",
                 "fma.rn.f32 \t%f5, %f1, %f2, %f3;", "neg.f32 \t%f6, %f5;", "mul.rn.f64 \t%fd1, %fd2, %fd3;", "cvt.f64.f32 \t%fd2, %f1;",
                 "ld.shared.f64 \t%fd4, [%r1];", "st.global.f64 \t[%rd3], %fd1;", "add.s64 \t%rd2, %rd1, 8;")
        called = ".func helper()\n{\n\tfma.rn.f64 \t%fd1, %fd1, %fd1, %fd1;\n}\n"
        self.kernel("sum_1", text=ENTRY.replace("\tret;", "".join(f"\t{line}\n" for line in lines) + "\tret;") + called)
        status, output, errors = self.check("--arch", "sm_90", "--estimate", "kernels")
        self.assertEqual((status, errors), (0, ""))
        for kind in ("2 loads", "1 stores", "2 f32", "1 f64", "2 moves", "2 integer", "1 parameters", "1 local and shared", "2 control"):
            self.assertIn(kind, output)
        self.assertIn("20 bytes loaded, 8 stored", output)
        # 14 instructions, of which the one on doubles counts twice: 15 / (132 * 128 * 1.98e9) s; 28 bytes at 4.8e12 per second.
        self.assertIn("H200 0.4 ps to issue, 5.8 to move", output)
        # 14 / (304 * 64 * 2.1e9) s; 28 bytes at 5.3e12 per second.
        self.assertIn("MI300X 0.3 ps to issue, 5.3 to move", output)
        status, _, errors = self.check("--arch", "sm_90", "--estimate", "--json", "record.json", "kernels")
        self.assertEqual((status, errors), (0, ""))
        record = json.loads((self.folder / "record.json").read_text())
        self.assertIn("nothing of it measured", record["machine"]["estimated"])
        [row] = record["per_thread"]
        self.assertEqual((row["case"], row["kernel"], row["bytes loaded"], row["bytes stored"], row["instructions"]), ("kernels", "sum", 20, 8, 14))
        self.assertAlmostEqual(row["H200 ps"], 28 / 4.8)
        self.assertIn("--json: expected --estimate", self.check("--json", "record.json", "kernels")[2])
        self.assertNotIn("estimated", self.check("kernels")[1])

    def test_limits_are_errors_only_if_asked_for(self):
        self.kernel("small_1", 128)
        self.kernel("large_2", 255, spills=48)
        status, output, _ = self.check("kernels")
        self.assertEqual(status, 0)
        self.assertIn("spills: 48 bytes, 255 registers, large_2", output)
        self.assertEqual(self.check("--no-spills", "kernels")[0], 1)
        status, output, _ = self.check("--most-registers", "128", "kernels")
        self.assertEqual(status, 1)
        self.assertIn("above 128 registers: 255, large_2", output)
        self.assertEqual(output.count("above 128"), 2)  # once for each architecture
        self.assertEqual(self.check("--most-registers", "255", "kernels")[0], 0)

    def test_nothing_to_check_is_an_error(self):
        (self.folder / "empty").mkdir()
        for arguments, message in ((["empty"], "no *.ptx in empty: was TESSERA_DUMP=ptx set"), (["nowhere"], "expected a folder, got nowhere"),
                                   (["--arch", "hopper", "empty"], "--arch: expected names such as sm_90, got hopper")):
            status, _, errors = self.check(*arguments)
            self.assertEqual(status, 2)
            self.assertIn(message, errors)

    def test_without_an_assembler_it_is_skipped(self):
        if Path("/usr/local/cuda/bin/ptxas").exists():
            self.skipTest("this machine has one where it is looked for")
        self.kernel("axpy_1")
        status, output, _ = self.check("kernels", path=str(self.folder / "kernels"))
        self.assertEqual(status, 77)
        self.assertIn("SKIP: no ptxas", output)

    def test_the_real_assembler_is_understood(self):
        real = shutil.which("ptxas") or shutil.which("/usr/local/cuda/bin/ptxas")
        if not real:
            self.skipTest("no ptxas")
        self.kernel("good_1")
        self.kernel("bad_2", text=ENTRY.replace("ret", "bogus"))
        (self.folder / "bin/ptxas").unlink()
        status, output, _ = self.check("--arch", "sm_90", "kernels")
        self.assertEqual(status, 1)
        self.assertIn("2 kernels, 1 accepted, 1 refused", output)
        self.assertRegex(output, r"refused: bad_2\n    ptxas bad_2.ptx, line 6; ")
        self.assertRegex(output, r"[1-9]\d* registers, +0 bytes of stack, .* good_1")


if __name__ == "__main__":
    unittest.main()
