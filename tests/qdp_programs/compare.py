#!/usr/bin/env python3
"""What a program left in its folder, as one text; and whether two such texts are the same.

  compare.py run EXPECTED FOLDER COMMAND...   runs COMMAND in FOLDER, which is emptied before, and compares with EXPECTED
  compare.py collect FOLDER                   the text of a run: stdout.txt of FOLDER, then its other files
  compare.py check EXPECTED TEXT              two texts

Text must be the same to the character, and so must whole numbers and zero's sign. Other numbers may differ by rounding: by the
tolerance that EXPECTED's first line names, relatively, or in the last of six digits and more; what is both below a tenth of the
tolerance is noise. Binary files stand in a text by length and checksum. Exit status: 0 if they are the same, 1 if not.
"""

import re
import shutil
import subprocess
import sys
import zlib
from pathlib import Path

# What QDP++ prints of its own accord.
CHATTER = re.compile(
    r"""^(Lattice\ initialized:|\ \ (problem\ size|layout\ size|logical\ machine\ size|subgrid\ size|total\ number\ of\ nodes
    |total\ volume|subgrid\ volume)\ =.*|Initializing\ QDPDefaultAllocator\.|Finished\ (init\ of\ RNG|lattice\ layout)
    |(Reading\ )?(Single|Double)\ Precision(\ Read)?|Reading\ (Single|Double)\ Precision|Reading\ I\ or\ U\ precisions
    |QIO_read_finished|QIO_write.*|MapObjectDisk:\ .*|Wrote\ Checksum\ On\ Map:.*|Start\ of\ header|End\ of\ header)$""", re.X)
HEADER = re.compile(rb"^BEGIN_HEADER\n.*?^END_HEADER\n", re.S | re.M)
DATE = re.compile(rb"<date>[^<]*</date>")
NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?")
WHOLE = re.compile(r"[-+]?\d+")


def without_chatter(text):
    text = HEADER.sub(b"", text.encode()).decode()  # the header of a NERSC file that QDP++ reads
    return "\n".join(line for line in text.split("\n") if not CHATTER.match(line))


def text_of(path):
    """A file as it stands in the text of a run. Dates are nobody's business, nor how many digits a NERSC header has."""
    data = path.read_bytes()
    if data.startswith(b"BEGIN_HEADER"):
        data = HEADER.sub(b"", data)
    try:
        text = data.decode("ascii")
        if all(c.isprintable() or c in "\n\t" for c in text):
            return text if text.endswith("\n") else text + "\n(no newline)\n"
    except UnicodeDecodeError:
        pass
    data = DATE.sub(b"<date></date>", data)
    return f"({len(data)} bytes, crc32 {zlib.crc32(data):08x})\n"


def collect(folder):
    folder = Path(folder)
    parts = [without_chatter((folder / "stdout.txt").read_text(errors="backslashreplace"))]
    for path in sorted(folder.rglob("*")):
        if path.is_file() and path.name not in ("stdout.txt", "stderr.txt"):
            parts.append(f"==> {path.relative_to(folder)}\n{text_of(path)}")
    return "".join(part if part.endswith("\n") else part + "\n" for part in parts)


def digits(word):
    return len(re.sub(r"[eE].*|[-+.]", "", word).lstrip("0"))


def last_place(word):
    mantissa, _, exponent = word.lower().partition("e")
    return 10.0 ** (int(exponent or 0) - len(mantissa.partition(".")[2]))


def same_number(wanted, found, tolerance):
    if wanted == found:
        return True
    if WHOLE.fullmatch(wanted) and WHOLE.fullmatch(found):
        return False
    a, b = float(wanted), float(found)
    if max(abs(a), abs(b)) < tolerance / 10:
        return True
    allowed = tolerance * max(abs(a), abs(b))
    if min(digits(wanted), digits(found)) >= 6:
        allowed = max(allowed, 1.01 * max(last_place(wanted), last_place(found)))
    return abs(a - b) <= allowed


def same_line(wanted, found, tolerance):
    if NUMBER.sub("#", wanted) != NUMBER.sub("#", found):
        return False
    return all(same_number(w, f, tolerance) for w, f in zip(NUMBER.findall(wanted), NUMBER.findall(found)))


def differences(expected, text):
    """Lines that differ, as (number, wanted, found)."""
    first, _, expected = expected.partition("\n")
    if not re.fullmatch(r"tolerance \S+", first):
        raise ValueError(f"expected a first line 'tolerance <number>', got '{first}'")
    tolerance = float(first.split()[1])
    wanted, found = expected.split("\n"), text.split("\n")
    result = []
    for n in range(max(len(wanted), len(found))):
        w = wanted[n] if n < len(wanted) else "(nothing)"
        f = found[n] if n < len(found) else "(nothing)"
        if not same_line(w, f, tolerance):
            result.append((n + 2, w, f))
    return result


def verdict(expected, text):
    found = differences(Path(expected).read_text(), text)
    for n, w, f in found[:20]:
        print(f"{expected}:{n}: expected  {w}\n{' ' * len(f'{expected}:{n}: ')}got       {f}")
    if found:
        print(f"{len(found)} lines differ")
    return 1 if found else 0


def run(expected, folder, command):
    folder = Path(folder)
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    with open(folder / "stdout.txt", "w") as out, open(folder / "stderr.txt", "w") as err:
        status = subprocess.call(command, cwd=folder, stdin=subprocess.DEVNULL, stdout=out, stderr=err)
    if status != 0:
        print((folder / "stderr.txt").read_text(errors="replace"))
        print(f"{' '.join(command)} ended with status {status}")
        return 1
    return verdict(expected, collect(folder))


def main(arguments):
    if len(arguments) > 3 and arguments[0] == "run":
        return run(arguments[1], arguments[2], arguments[3:])
    if len(arguments) == 2 and arguments[0] == "collect":
        print(collect(arguments[1]), end="")
        return 0
    if len(arguments) == 3 and arguments[0] == "check":
        return verdict(arguments[1], Path(arguments[2]).read_text())
    print(__doc__, file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
