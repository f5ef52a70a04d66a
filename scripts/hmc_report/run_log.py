"""Reading what hmc writes: data documents, logs, or both, of one run or of a chain of restarts.

Documents are read as streams, so their size does not matter, and may end anywhere: a run that is still going on, or was
killed, has left no closing tags. Later documents of a chain win where updates were done twice.
"""

import xml.etree.ElementTree as ET
from dataclasses import dataclass, field

import numpy as np


class LogError(Exception):
    """A file that cannot be used; the text says why and what to do."""


@dataclass
class Update:
    """One trajectory. `values` by name: deltaH, AcceptP (0 or 1), seconds_for_trajectory, Plaquette/w_plaq, ..."""

    number: int
    warm_up: bool = False
    values: dict = field(default_factory=dict)  # name -> float or complex
    forces: dict = field(default_factory=dict)  # monomial -> {"F_avg": mean, "F_max": largest, "F_sq": mean, "dt": mean}
    solves: dict = field(default_factory=dict)  # monomial -> iterations of each solve of the molecular dynamics
    tuning: ET.Element = None  # StepTuning, if the step numbers were chosen anew after this update


@dataclass
class Run:
    files: list = field(default_factory=list)
    updates: list = field(default_factory=list)  # by number, each once
    input: ET.Element = None  # Params of the last document
    program: dict = field(default_factory=dict)  # ProgramInfo, flattened
    start: dict = field(default_factory=dict)  # Config_info of the first document
    warnings: list = field(default_factory=list)

    def selected(self, skip=0):
        """The updates that averages are taken over: after the warm-up, without the first `skip` of those."""
        return [u for u in self.updates if not u.warm_up][skip:]


def read_run(paths):
    """All documents as one Run. Raises LogError for files that are missing or hold no updates."""
    documents = [_read_document(path) for path in paths]
    documents.sort(key=lambda d: min(d.updates, default=0))
    run = Run(files=list(paths))
    merged, origin = {}, {}
    for document in documents:
        run.warnings += document.warnings
        if document.input is not None:
            run.input = document.input
        run.program.update(document.program)
        run.start = run.start or document.start
        different = [n for n, u in document.updates.items() if n in merged and _differs(merged[n], u)]
        if different:
            run.warnings.append(
                f"{_span(different)} differ between {origin[different[0]]} and {document.path}; the latter is used"
            )
        for n, update in document.updates.items():
            if n in merged and n not in different:  # data document and log of the same run
                for part in ("values", "forces", "solves"):
                    getattr(merged[n], part).update(getattr(update, part))
                if update.tuning is not None:
                    merged[n].tuning = update.tuning
            else:
                merged[n] = update
            origin[n] = document.path
    if not merged:
        raise LogError(f"{', '.join(paths)}: no finished update in it; expected the data document or the log of hmc")
    run.updates = [merged[n] for n in sorted(merged)]
    numbers = np.array([u.number for u in run.updates])
    missing = [n for a, b in zip(numbers, numbers[1:]) if b > a + 1 for n in (a + 1, b - 1)]
    if missing:
        run.warnings.append(f"updates are missing between {missing[0]} and {missing[-1]}; is a file of the chain missing?")
    return run


# ---- one document ----------------------------------------------------------------------------------------------------

_TRUNCATED = {3, 5, 6}  # expat: no element found, unclosed token, partial character
_LONGEST_ARRAY = 16  # longer ones are correlators and the like, not histories


@dataclass
class _Document:
    path: str
    updates: dict = field(default_factory=dict)
    input: ET.Element = None
    program: dict = field(default_factory=dict)
    start: dict = field(default_factory=dict)
    warnings: list = field(default_factory=list)


def _read_document(path):
    document = _Document(path)
    stack, update, forward = [], None, True
    try:
        with open(path, "rb") as file:
            for event, element in ET.iterparse(file, events=("start", "end")):
                if event == "start":
                    stack.append(element)
                    if element.tag == "Update" and update is None:
                        update, forward = Update(number=-1), True
                    continue
                stack.pop()
                parent = stack[-1] if stack else None
                if update is not None and element.tag == "Update":
                    if _finish(update, element):
                        document.updates[update.number] = update
                    update = None
                    parent.remove(element)
                elif update is not None:
                    if element.tag == "leapP" and forward:
                        _add_kick(update, element)
                    elif element.tag == "deltaH":
                        forward = False  # what follows is the way back of a reversibility check
                    if element.tag in ("leapP", "leapQ"):
                        parent.remove(element)
                elif len(stack) == 1 and element.tag == "Input":
                    document.input = element.find("*")
                elif len(stack) == 1 and element.tag == "ProgramInfo":
                    document.program = _leaves(element)
                elif len(stack) == 1 and element.tag == "Config_info":
                    document.start = _leaves(element)
                elif element.tag == "elem" and parent is not None and parent.tag == "MCUpdates":
                    parent.remove(element)
    except OSError as error:
        raise LogError(f"{path}: {error.strerror}") from error
    except ET.ParseError as error:
        if error.code not in _TRUNCATED:
            document.warnings.append(f"{path}: not XML any more at line {error.position[0]}; read up to there")
        if error.code not in _TRUNCATED and not document.updates:
            raise LogError(f"{path}: not an XML document of hmc ({error})") from error
    return document


def _finish(update, element):
    """Takes what an Update element holds besides its kicks; False if there is no number."""
    number = element.findtext("update_no")
    if number is None:
        return False
    update.number = int(number)
    update.tuning = element.find("StepTuning")
    update.warm_up = element.findtext("WarmUpP", "false").strip() == "true"
    for group in (element.find("HMCTrajectory"), element.find(".//H_old"), element.find(".//H_new"), element):
        for child in group if group is not None else ():
            if len(child) == 0:
                _put(update.values, child.tag, child.text)
    for name, value in _leaves(element.find(".//ReversibilityMetrics")).items():
        _put(update.values, name, value)
    for observable in element.iterfind("InlineObservables/elem/*"):
        if len(observable) and observable.tag != "xml_file":
            _put_group(update.values, observable.tag, observable)
    for name in ("update_no", "WarmUpP"):
        update.values.pop(name, None)
    for forces in update.forces.values():
        kicks = forces.pop("kicks")
        for name in ("F_avg", "F_sq", "dt"):
            forces[name] /= kicks
    return True


def _add_kick(update, leap):
    """The forces and solver counts of one momentum update."""
    dt = abs(float(leap.findtext("dt", "0")))
    tags = {}
    for elem in leap.iterfind("AbsHamiltonianForce/ForcesByMonomial/elem"):
        body = next((child for child in elem if child.tag != "monomial_id"), None)
        if body is None:
            continue
        tags[body.tag] = tags.get(body.tag, 0) + 1
        again = f" ({tags[body.tag]})" if tags[body.tag] > 1 else ""
        name = elem.findtext("monomial_id") or body.tag + again
        forces = body.find("Forces")
        if forces is not None:
            entry = update.forces.setdefault(name, {"kicks": 0, "F_avg": 0.0, "F_sq": 0.0, "F_max": 0.0, "dt": 0.0})
            entry["kicks"] += 1
            entry["F_avg"] += float(forces.findtext("F_avg"))
            entry["F_sq"] += float(forces.findtext("F_sq"))
            entry["F_max"] = max(entry["F_max"], float(forces.findtext("F_max")))
            entry["dt"] += dt
        counts = [int(word) for count in body.iter("n_count") for word in (count.text or "").split()]
        if counts:
            update.solves.setdefault(name, []).extend(counts)


def _put(values, name, text):
    """A number, a truth value, or a short list of numbers under name[0], name[1], ..."""
    words = (text or "").split()
    if not words or len(words) > _LONGEST_ARRAY:
        return
    try:
        numbers = [{"true": 1.0, "false": 0.0}.get(word) if word in ("true", "false") else float(word) for word in words]
    except ValueError:
        return
    for i, number in enumerate(numbers):
        values[name if len(numbers) == 1 else f"{name}[{i}]"] = number


def _put_group(values, name, group):
    """Numbers below a group: Tag/leaf; {re, im} as one complex number; lists of <elem> as Tag/leaf[i]."""
    if {child.tag for child in group} == {"re", "im"}:
        values[name] = complex(float(group.findtext("re")), float(group.findtext("im")))
        return
    children = list(group)
    is_list = all(child.tag == "elem" for child in children)
    if is_list and len(children) > _LONGEST_ARRAY:
        return
    for i, child in enumerate(children):
        child_name = f"{name}[{i}]" if is_list else f"{name}/{child.tag}"
        if len(child):
            _put_group(values, child_name, child)
        elif child.tag != "update_no":
            _put(values, child_name, child.text)


def _leaves(element):
    """Texts of all leaves by tag."""
    if element is None:
        return {}
    return {leaf.tag: (leaf.text or "").strip() for leaf in element.iter() if len(leaf) == 0}


def _differs(a, b):
    """Whether two accounts of one update disagree on a number; times do not count."""
    names = [name for name in b.values if name in a.values and "seconds" not in name]
    return any(str(a.values[name]) != str(b.values[name]) for name in names)  # as text: NaN equals NaN


def _span(numbers):
    return f"update {numbers[0]}" if len(numbers) == 1 else f"updates {min(numbers)} to {max(numbers)}"
