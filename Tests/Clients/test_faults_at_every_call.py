"""Every call on a file fails once: what server and commands then do, and that nothing acknowledged is lost.

In the gate a few calls, which HEARTH_SEED chooses. HEARTH_EVERY_CALL=1000 (`make faults-at-every-call`) takes
each call, of a site (operation and file) that many, of every work, and writes the table of docs/operate/DISK_FAULTS.md.
"""

import os
import random
import shutil
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

from faulty_work import TEXTS, WORKS, Disk, names_failure, site, templates
from hearth_server import ROOT
from shaky_disk import calls_of, library
from vocabulary import SEED

OF_EACH_SITE = int(os.environ.get("HEARTH_EVERY_CALL", 0))
KINDS = [*TEXTS, "EINTR", "short"]
PAGE = ROOT / "docs" / "operate" / "DISK_FAULTS.md"
AT_ONCE = 12
IN_THE_GATE = 12


def cell(outcomes, kinds):
    """The outcomes of one call, by the errors that led to them: `stops`, or `goes on (ENOSPC); stops (EIO)`."""
    texts = []
    for word in sorted(outcomes):
        rest = [kind for kind in TEXTS if kind in outcomes[word]]
        texts.append(word if rest == [kind for kind in TEXTS if kind in kinds] else f"{word} ({', '.join(rest)})")
    return "; ".join(texts)


def table(seen):
    """The tables of the page: for each program its files, with the calls that end alike in one row."""
    lines = []
    for program in dict.fromkeys(work.program for work in WORKS):
        lines += ["", f"### {program}", "", "| file | call | outcome |", "| --- | --- | --- |"]
        rows = {}
        for (found, path, operation), outcomes in sorted(seen.items()):
            if found == program:
                kinds = set().union(*outcomes.values())
                rows.setdefault((path, cell(outcomes, kinds)), []).append(operation)
        lines += [f"| `{path}` | {', '.join(calls)} | {text} |" for (path, text), calls in rows.items()]
    return "\n".join(lines) + "\n"


def documented(page):
    """What the page says: by program, file and call, each outcome with its errors; None stands for all that a call can have."""
    found, program = {}, None
    for line in page.splitlines():
        if line.startswith("### "):
            program = line.removeprefix("### ")
        elif program and line.startswith("| `"):
            path, calls, text = (part.strip() for part in line.strip("|").split("|"))
            outcomes = {}
            for part in text.split("; "):
                word, _, kinds = part.partition(" (")
                outcomes[word] = set(kinds.rstrip(")").split(", ")) if kinds else None
            for call in calls.split(", "):
                found[program, path.strip("`"), call] = outcomes
    return found


class Runs:
    """Runs of works, several at once, each with one fault: what they met, and what is wrong."""

    def __init__(self, folder):
        self.folder = folder / "runs"
        self.folder.mkdir()
        self.library = library(folder)
        self.templates = templates(folder, self.library, checkpoints=OF_EACH_SITE > 0)
        self.pool = ThreadPoolExecutor(AT_ONCE)
        self.count = 0
        # By work, file and operation: the outcomes, each with the errors that led to it.
        self.seen, self.faults = {}, []

    def all(self, plans):
        """Runs all (work, call, kind); returns the calls of each."""
        begun = []
        for plan in plans:
            self.count += 1
            begun.append(self.pool.submit(self.one, self.folder / str(self.count), *plan))
        return [run.result() for run in begun]

    def one(self, folder, work, call, kind):
        disk = Disk(folder, self.library, self.templates[work.template], fail=f"{call} {kind}")
        outcome = work.run(disk)
        met, faults = disk.met(), outcome.faults
        if not met or kind not in TEXTS:
            if outcome.word != "goes on":
                faults.append("nothing failed for good")
        else:
            operation, path, _ = met
            found = self.seen.setdefault((work.program, site(path), operation), {})
            found.setdefault(outcome.word, set()).add(kind)
            if outcome.word != "goes on" and not names_failure(outcome.said, path, kind):
                faults.append("does not name file and error")
        origin = f"HEARTH_SEED={SEED}, {work.name}, call {call} {kind}: {met}, {outcome.word}"
        self.faults += [f"{origin}: {fault}\n{outcome.said[-800:]}" for fault in faults]
        calls = calls_of(disk.calls, disk.root)
        if not faults:
            shutil.rmtree(folder)
        return calls


def plans_of(work, calls):
    """A plan for each call of a run without a fault and each kind of failure that it can have."""
    counts = Counter()
    for number, (operation, path, kinds, _) in enumerate(calls, 1):
        counts[site(path), operation] += 1
        if counts[site(path), operation] <= OF_EACH_SITE:
            yield from ((work, number, kind) for kind in kinds)


def test_every_call_fails_once(tmp_path):
    chance = random.Random(SEED)
    runs = Runs(tmp_path)
    if OF_EACH_SITE:
        # First without a fault, for the calls that there are.
        calls = runs.all([(work, 0, "EIO") for work in WORKS])
        plans = [plan for work, found in zip(WORKS, calls) for plan in plans_of(work, found)]
        runs.all(plans)
    else:
        works = [chance.choice(WORKS) for _ in range(IN_THE_GATE)]
        runs.all([(work, chance.randint(1, work.size), chance.choice(KINDS)) for work in works])
    runs.pool.shutdown()
    print(runs.count, "runs,", len(runs.seen), "sites")
    text = PAGE.read_text()
    head = text[: text.find("\n### ") if "\n### " in text else len(text)]
    if os.environ.get("UPDATE_SPECS"):
        PAGE.write_text(head.rstrip() + "\n" + table(runs.seen))
    said = documented(PAGE.read_text())
    for key, outcomes in runs.seen.items():
        for word, kinds in outcomes.items():
            # How a call ends can depend on when it is made, which a few runs do not settle.
            allowed = said.get(key, {}).get(word, set()) if OF_EACH_SITE or key not in said else None
            if allowed is not None and not kinds <= allowed:
                runs.faults.append(f"HEARTH_SEED={SEED}: {PAGE.name} does not say of {key}: {word} {kinds}")
    if OF_EACH_SITE:
        runs.faults += [f"{key} was never reached" for key in said if key not in runs.seen]
    assert not runs.faults, f"{len(runs.faults)} faults\n\n" + "\n\n".join(runs.faults)
