"""scripts/report: the Gamma method against processes with known autocorrelations, reading of documents in every state, the
page. With HMC=path/to/hmc in the environment also on documents of a real run."""

import base64
import os
import re
import subprocess
import sys
import tempfile
import tracemalloc
import unittest
import xml.etree.ElementTree as ET
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[2]
sys.dont_write_bytecode = True
sys.path.insert(0, str(SOURCE / "scripts"))

try:
    import matplotlib  # noqa: F401
    import numpy as np
except ModuleNotFoundError as missing:
    print(f"SKIP: no Python module {missing.name}")
    sys.exit(77)

from hmc_report import page, run_log  # noqa: E402
from hmc_report.gamma_method import _autocovariance, gamma_method  # noqa: E402


def ar1(rng, a, *shape):
    """x(i+1) = a x(i) + noise, unit variance, started in equilibrium: rho(t) = a^t, tau_int = (1+a)/(2(1-a)). `shape`:
    [steps], or [runs, steps] for independent ones."""
    x = rng.normal(size=shape)
    x[..., 1:] *= np.sqrt(1 - a * a)
    for i in range(1, shape[-1]):
        x[..., i] += a * x[..., i - 1]
    return x


class GammaMethod(unittest.TestCase):
    def test_integrated_autocorrelation_times_of_AR1_series_come_out(self):
        rng = np.random.default_rng(1)
        for a in (0.0, 0.3, 0.7, 0.9, 0.97):
            exact = (1 + a) / (2 * (1 - a))
            e = gamma_method([ar1(rng, a, 100000)])
            self.assertTrue(e.long_enough)
            self.assertLess(abs(e.tau_int - exact), 3 * e.tau_int_error + 1e-12, f"a = {a}")
            self.assertLess(e.tau_int_error, 0.12 * exact)
            for t in (1, 3, 8):
                self.assertLess(abs(e.rho[t] - a**t), 4 * e.rho_error[t], f"rho({t}) at a = {a}")

    def test_errors_are_the_spread_of_repeated_experiments(self):
        rng = np.random.default_rng(2)
        for a in (0.0, 0.8):
            runs = [gamma_method([x]) for x in ar1(rng, a, 300, 2000)]
            pulls = np.array([e.value / e.error for e in runs])
            self.assertAlmostEqual(np.sqrt(np.mean(pulls**2)), 1, delta=0.13)
            spread = np.std([e.value for e in runs])
            self.assertAlmostEqual(np.mean([e.error for e in runs]) / spread, 1, delta=0.12)
            # and the error of the error
            errors = np.array([e.error for e in runs])
            self.assertAlmostEqual(np.mean([e.error_of_error for e in runs]) / np.std(errors), 1, delta=0.4)
            taus = np.array([e.tau_int for e in runs])
            if a > 0:
                self.assertAlmostEqual(np.mean([e.tau_int_error for e in runs]) / np.std(taus), 1, delta=0.4)

    def test_derived_quantities_have_the_error_of_linear_propagation(self):
        rng = np.random.default_rng(3)
        runs = []
        for x, noise in zip(ar1(rng, 0.7, 300, 3000), ar1(rng, 0.4, 300, 3000)):
            y = 0.5 * x + noise  # correlated with x
            runs.append(gamma_method([np.stack((x + 2, y + 5), axis=1)], lambda p, q: p / q))
        spread = np.std([e.value for e in runs])
        self.assertAlmostEqual(np.mean([e.error for e in runs]) / spread, 1, delta=0.12)
        self.assertAlmostEqual(np.mean([e.value for e in runs]), 0.4, delta=4 * spread / np.sqrt(300) + 2e-3)

    def test_stretches_of_a_series_give_the_error_of_the_whole(self):
        x = ar1(np.random.default_rng(4), 0.8, 60000)
        whole, parts = gamma_method([x]), gamma_method([x[:5000], x[5000:5003], x[5003:30000], x[30000:]])
        self.assertAlmostEqual(parts.value, whole.value, places=12)
        self.assertAlmostEqual(parts.error / whole.error, 1, delta=0.05)
        self.assertEqual(parts.count, 60000)

    def test_autocovariance_is_the_sum_over_pairs(self):
        rng = np.random.default_rng(5)
        deltas = [rng.normal(size=37), rng.normal(size=20)]
        for t, gamma in enumerate(_autocovariance(deltas)):
            pairs = [d[i] * d[i + t] for d in deltas for i in range(len(d) - t)]
            self.assertAlmostEqual(gamma, np.mean(pairs), places=12)

    def test_white_noise_has_the_naive_error_and_constants_none(self):
        x = np.random.default_rng(6).normal(size=50000)
        e = gamma_method([x])
        self.assertAlmostEqual(e.error / (np.std(x) / np.sqrt(len(x))), 1, delta=0.03)
        constant = gamma_method([np.full(100, 0.25)])
        self.assertEqual((constant.value, constant.error), (0.25, 0.0))

    def test_series_shorter_than_their_memory_are_marked(self):
        self.assertFalse(gamma_method([ar1(np.random.default_rng(7), 0.95, 200)]).long_enough)

    def test_wrong_series_are_refused(self):
        with self.assertRaisesRegex(ValueError, "two measurements"):
            gamma_method([np.array([1.0])])
        with self.assertRaisesRegex(ValueError, "finite"):
            gamma_method([np.array([1.0, np.nan, 2.0])])


def update_xml(number, dh=0.1, warm_up=False, log=False, plaquette=0.55, extra=""):
    """One update as hmc writes it, short."""
    kick = (
        "<leapP><dt>0.1</dt><AbsHamiltonianForce><num_terms>2</num_terms><ForcesByMonomial>"
        "<elem><monomial_id>light</monomial_id><TwoFlavorExactWilsonTypeFermMonomial><n_count>{n} 20</n_count>"
        "<Forces><F_sq>0.3</F_sq><F_avg>{f}</F_avg><F_max>1.5</F_max></Forces></TwoFlavorExactWilsonTypeFermMonomial></elem>"
        "<elem><GaugeMonomial><Forces><F_sq>9</F_sq><F_avg>3</F_avg><F_max>{m}</F_max></Forces></GaugeMonomial></elem>"
        "</ForcesByMonomial></AbsHamiltonianForce></leapP><leapQ><dt>0.1</dt></leapQ>"
    )
    forward = kick.format(n=10, f=0.4, m=7) + kick.format(n=12, f=0.6, m=8) if log else ""
    backward = kick.format(n=999, f=99, m=99) if log else ""  # of the reversibility check, after deltaH
    reverse = "<ReversibilityMetrics><DeltaDeltaH>1e-10</DeltaDeltaH></ReversibilityMetrics>" if log else ""
    observables = "" if log else (
        f"<InlineObservables><elem><Plaquette><update_no>{number}</update_no><w_plaq>{plaquette!r}</w_plaq></Plaquette></elem>"
        f"<elem><PolyakovLoop><poly_loop><elem><re>{dh!r}</re><im>0.5</im></elem></poly_loop></PolyakovLoop></elem>"
        "<elem><Correlator><c>" + " 1" * 64 + "</c></Correlator></elem></InlineObservables>"
    )
    return (
        f"<elem><Update><update_no>{number}</update_no><WarmUpP>{str(warm_up).lower()}</WarmUpP><HMCTrajectory><H_old>"
        f"<KE_old>-9.5</KE_old></H_old>{forward}<H_new><KE_new>1</KE_new></H_new><deltaH>{dh!r}</deltaH>"
        f"<AcceptP>{str(dh < 0.5).lower()}</AcceptP>{backward}{reverse}</HMCTrajectory>"
        f"<seconds_for_trajectory>2.5</seconds_for_trajectory>{observables}{extra}</Update></elem>\n"
    )


HEAD = (
    '<?xml version="1.0"?>\n<hmc><Input><Params><MCControl><NWarmUpUpdates>2</NWarmUpUpdates></MCControl><HMCTrj><nrow>4 4 4 8</nrow>'
    "<Monomials><elem><Name>GAUGE_MONOMIAL</Name><GaugeAction><Name>WILSON_GAUGEACT</Name><beta>5.7</beta></GaugeAction>"
    "<NamedObject><monomial_id>gauge</monomial_id></NamedObject></elem></Monomials><MDIntegrator><tau0>1</tau0><Integrator>"
    "<Name>LCM_STS_LEAPFROG</Name><n_steps>7</n_steps><monomial_ids><elem>gauge</elem></monomial_ids></Integrator></MDIntegrator>"
    "</HMCTrj></Params></Input><ProgramInfo><basePrecision>64</basePrecision><Setgeom><latt_size>4 4 4 8</latt_size>"
    "<total_volume>512</total_volume></Setgeom></ProgramInfo><doHMC><MCUpdates>\n"
)
TAIL = "</MCUpdates></doHMC></hmc>\n"


def series_of(n, first=1, seed=7):
    rng = np.random.default_rng(seed)
    plaquette = ar1(rng, 0.6, n) * 0.01 + 0.55
    dh = rng.normal(0.125, 0.5, size=n)  # variance 2 <dH>
    return [(first + i, float(dh[i]), float(plaquette[i])) for i in range(n)]


class InFolder(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def write(self, name, text):
        path = Path(self.folder.name) / name
        path.write_text(text)
        return str(path)

    def document(self, name, updates, log=False, tail=TAIL):
        body = "".join(update_xml(n, dh, n <= 2, log, p) for n, dh, p in updates)
        return self.write(name, HEAD + body + tail)

    def report(self, *arguments):
        """(exit status, output, errors)"""
        result = subprocess.run([sys.executable, str(SOURCE / "scripts/report"), *arguments], capture_output=True, text=True)
        return result.returncode, result.stdout, result.stderr


class Reading(InFolder):
    def test_data_and_log_of_a_run_complete_each_other(self):
        updates = series_of(20)
        run = run_log.read_run([self.document("log", updates, log=True), self.document("out", updates)])
        self.assertEqual([u.number for u in run.updates], list(range(1, 21)))
        self.assertEqual([u.number for u in run.selected()], list(range(3, 21)))
        self.assertEqual(len(run.selected(5)), 13)
        u = run.updates[4]
        self.assertEqual(u.values["deltaH"], updates[4][1])
        self.assertEqual(u.values["KE_old"], -9.5)
        self.assertEqual(u.values["Plaquette/w_plaq"], updates[4][2])
        self.assertEqual(u.values["PolyakovLoop/poly_loop[0]"], complex(updates[4][1], 0.5))
        self.assertEqual(u.values["DeltaDeltaH"], 1e-10)
        self.assertFalse(any(name.startswith("Correlator") for name in u.values))
        self.assertEqual(run.warnings, [])

    def test_forces_and_iterations_are_of_the_way_forward_and_by_monomial(self):
        run = run_log.read_run([self.document("log", series_of(3), log=True)])
        u = run.updates[0]
        self.assertEqual(set(u.forces), {"light", "GaugeMonomial"})  # by id, or by name where there is none
        self.assertAlmostEqual(u.forces["light"]["F_avg"], 0.5)
        self.assertEqual(u.forces["GaugeMonomial"]["F_max"], 8)
        self.assertEqual(u.solves, {"light": [10, 20, 12, 20]})

    def test_a_document_may_end_anywhere(self):
        text = HEAD + "".join(update_xml(n, 0.1, log=True) for n in range(1, 5))
        ends = [m.end() for m in re.finditer("</Update>", text)]
        for cut in range(ends[0], len(text), 97):
            path = self.write("cut", text[:cut])
            run = run_log.read_run([path])
            self.assertEqual(len(run.updates), sum(end <= cut for end in ends), f"cut at {cut}")
            self.assertEqual(run.warnings, [])

    def test_a_chain_of_restarts_is_one_run_in_any_order(self):
        updates = series_of(30)
        first = self.document("a", updates[:17], tail="")  # killed at 17, restarted from 10: the same numbers again
        second = self.document("b", updates[10:])
        for order in ([first, second], [second, first]):
            run = run_log.read_run(order)
            self.assertEqual([u.values["deltaH"] for u in run.updates], [u[1] for u in updates])
            self.assertEqual(run.warnings, [])

    def test_updates_done_twice_with_other_results_are_the_later_documents_and_reported(self):
        first = self.document("a", series_of(17))
        second = self.document("b", series_of(10, first=11, seed=8))
        run = run_log.read_run([first, second])
        self.assertEqual(run.updates[12].values["deltaH"], series_of(10, first=11, seed=8)[2][1])
        self.assertIn("updates 11 to 17 differ", run.warnings[0])

    def test_a_hole_in_the_chain_is_reported(self):
        updates = series_of(30)
        run = run_log.read_run([self.document("a", updates[:10]), self.document("b", updates[20:])])
        self.assertEqual(len(run.updates), 20)
        self.assertIn("missing between 11 and 20", run.warnings[0])

    def test_a_document_that_turns_into_garbage_is_read_up_to_there(self):
        path = self.write("log", HEAD + update_xml(1) + update_xml(2) + "\0\0\0\0</oops>")
        run = run_log.read_run([path])
        self.assertEqual(len(run.updates), 2)
        self.assertIn("line", run.warnings[0])

    def test_big_documents_are_read_as_a_stream(self):
        path = Path(self.folder.name) / "big"
        with open(path, "w") as file:
            file.write(HEAD)
            for n in range(1, 1501):
                file.write(update_xml(n, 0.1, log=True).replace("<leapQ>", "<leapQ>" + " " * 5000))
        self.assertGreater(path.stat().st_size, 20e6)
        tracemalloc.start()
        run = run_log.read_run([str(path)])
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        self.assertEqual(len(run.updates), 1500)
        self.assertLess(peak, 8e6)

    def test_what_is_no_document_of_hmc_is_refused_with_its_name(self):
        for name, text, message in (
            ("empty", "", "no finished update"),
            ("text", "plaquette 0.5\n", "not an XML document"),
            ("other", "<chroma><a/></chroma>", "no finished update"),
            ("young", HEAD, "no finished update"),
        ):
            with self.assertRaisesRegex(run_log.LogError, f"{name}.*{message}"):
                run_log.read_run([self.write(name, text)])
        with self.assertRaisesRegex(run_log.LogError, "nothing.xml: No such file"):
            run_log.read_run(["nothing.xml"])


class Page(InFolder):
    def make(self, updates, **options):
        run = run_log.read_run([self.document("out", updates), self.document("log", updates, log=True)])
        return page.make_page(run, **options)

    def test_the_page_needs_nothing_but_itself(self):
        text = self.make(series_of(100))
        self.assertNotRegex(text, r"<(script|link|iframe)|@import|url\(")
        sources = re.findall(r'(?:src|href)="([^"]*)"', text)
        self.assertTrue(sources)
        for source in sources:
            self.assertTrue(source.startswith("data:image/svg+xml;base64,"))
            svg = base64.b64decode(source.split(",")[1])
            self.assertEqual(ET.fromstring(svg).tag, "{http://www.w3.org/2000/svg}svg")
            self.assertNotRegex(svg, rb'(?:href|src)="http')

    def test_the_page_shows_what_a_run_is_judged_by(self):
        text = self.make(series_of(300), title="beta < 6")
        for heading in ("Averages", "Plaquette", "Energy violation", "Acceptance", "Autocorrelation of the plaquette", "Forces",
                        "Solver iterations", "Time", "Reversibility", "PolyakovLoop/poly_loop[0]", "Parameters"):
            self.assertIn(f"<h2>{heading}</h2>", text)
        self.assertIn("<h1>beta &lt; 6</h1>", text)
        self.assertIn("beta 5.7", text)
        self.assertIn("LCM_STS_LEAPFROG, steps 7: gauge", text)
        self.assertIn("4 × 4 × 4 × 8", text)

    def test_averages_are_those_of_the_updates_after_the_warm_up(self):
        updates = series_of(400)
        text = self.make([(n, 1e5 if n <= 2 else dh, p) for n, dh, p in updates])
        e = gamma_method([np.array([p for _, _, p in updates[2:]])])
        self.assertIn(f"<td>plaquette</td><td>{page.measured(e.value, e.error)}</td>", text)
        kept = np.array([dh for _, dh, _ in updates[2:]])
        e = gamma_method([np.exp(-kept)])
        self.assertIn(page.measured(e.value, e.error), text)
        self.assertLess(abs(e.value - 1), 3 * e.error)
        self.assertNotIn("standard deviations from 1", text)

    def test_the_choice_of_step_numbers_is_shown(self):
        tuning = ("<StepTuning><n_steps>20 2</n_steps><sigma_dH>0.05</sigma_dH><n_steps_new>10 1</n_steps_new>"
                  "<predicted_acceptance>0.87</predicted_acceptance></StepTuning>")
        path = self.write("log", HEAD + update_xml(1, warm_up=True, log=True, extra=tuning) + update_xml(2, log=True) + TAIL)
        text = page.make_page(run_log.read_run([path]))
        self.assertIn("<td>1</td><td>20 2</td><td>10 1</td><td>0.05</td><td>0.87</td>", text)

    def test_a_run_that_conserves_the_wrong_energy_is_pointed_out(self):
        self.assertIn("standard deviations from 1", self.make([(n, dh + 0.5, p) for n, dh, p in series_of(300)]))

    def test_runs_with_nothing_to_average_still_make_a_page(self):
        self.assertIn("all updates belong to the warm-up", self.make(series_of(2)))
        self.make(series_of(3))
        self.make([(n, float("nan") if n == 5 else dh, p) for n, dh, p in series_of(9)])

    def test_long_histories_do_not_make_long_pages(self):
        short, long = len(self.make(series_of(2500))), len(self.make(series_of(6000)))
        self.assertLess(long, 1.5 * short)

    def test_numbers_carry_their_error_in_the_last_digits(self):
        for value, error, text in ((0.59662, 0.00018, "0.59662(18)"), (0.5966, 0.000996, "0.5966(10)"), (12.34, 1.84, "12.3(1.8)"),
                                   (1234.5, 38.2, "1234(38)"), (12345.0, 420.0, "12340(420)"), (0.25, 0.0, "0.25"), (-1.5, 0.25, "-1.50(25)")):
            self.assertEqual(page.measured(value, error), text)


class CommandLine(InFolder):
    def test_one_command_makes_the_page_and_prints_the_averages(self):
        log = self.document("run.xml", series_of(50))
        status, output, errors = self.report(log)
        self.assertEqual((status, errors), (0, ""))
        self.assertIn("<exp(-dH)>", output)
        self.assertTrue((Path(self.folder.name) / "run.html").exists())
        other = str(Path(self.folder.name) / "other.html")
        self.assertEqual(self.report(log, "-o", other, "--skip", "10")[0], 0)
        self.assertIn("10 skipped", Path(other).read_text())

    def test_errors_are_one_line_and_status_1(self):
        log = self.document("run.xml", series_of(5))
        for arguments, message in (
            (["missing.xml"], "missing.xml: No such file"),
            ([log, "-o", "/nowhere/page.html"], "/nowhere/page.html"),
            ([log, "--skip", "3"], "--skip 3 leaves none"),
            ([self.write("text", "hello")], "not an XML document"),
        ):
            status, output, errors = self.report(*arguments)
            self.assertEqual(status, 1)
            self.assertIn(message, errors)
            self.assertEqual(errors.count("\n"), 1)
        for arguments in (["--skip", "-1", log], ["--frobnicate"], [], ["-S", "0", log]):
            self.assertEqual(self.report(*arguments)[0], 2)

    def test_help_explains_the_uses(self):
        status, output, _ = self.report("--help")
        self.assertEqual(status, 0)
        for word in ("chain of restarts", "Gamma method", "--skip"):
            self.assertIn(word, output)

    def test_documents_of_a_real_run(self):
        program = os.environ.get("HMC")
        if not program:
            self.skipTest("HMC is not set")
        text = (SOURCE / "examples/hmc/quickstart.xml").read_text()
        for pattern, value in (("<nrow>8 8 8 8", "<nrow>2 2 2 4"), ("<ReverseCheckFrequency>20", "<ReverseCheckFrequency>5")):
            self.assertIn(pattern, text)
            text = text.replace(pattern, value)
        self.write("in.xml", text)
        subprocess.run([program, "-i", "in.xml", "-o", "out.xml", "-l", "log.xml"], cwd=self.folder.name, check=True, capture_output=True)
        log, data = (str(Path(self.folder.name) / name) for name in ("log.xml", "out.xml"))
        # The log alone has it all but the measurements that the input asks for.
        for files, headings in (([log], ["Plaquette", "Forces", "Reversibility"]), ([log, data], ["PolyakovLoop/poly_loop[3]"])):
            self.assertEqual(self.report(*files)[0], 0)
            text = (Path(self.folder.name) / "log.html").read_text()
            for heading in headings:
                self.assertIn(f"<h2>{heading}</h2>", text)
        self.assertIn("40 updates" if "40 updates" in text else "updates 1 to 40", text)


if __name__ == "__main__":
    unittest.main(verbosity=2)
