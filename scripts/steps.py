"""Steps of the scripts that build other programs (peers, qdpxx-check, chroma-check): a command, an installation of Tessera."""

import re
import subprocess
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parent.parent
ERROR = re.compile(r"\berror\b|undefined reference|CMake Error", re.I)


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
            output_of(["cmake", "--install", build, "--prefix", prefix])
            return prefix
    raise Failed("Tessera is not built: run scripts/quickstart, or give --tessera PREFIX of an installation")
