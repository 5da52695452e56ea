"""Files of rules cases, read as `hearth rules test` reads them, for tests that try them over HTTP."""

import copy
import json
from dataclasses import dataclass, field
from pathlib import Path

from hearth_server import ROOT

SPECS = ROOT / "Tests" / "Rules" / "SecurityRulesTests" / "Specs"
SAMPLES = ROOT / "rules"
DEFAULT_NOW = 1_700_000_000_000


@dataclass
class Case:
    """One case with all that its file shares put in."""

    file: str
    rules: object
    data: object
    members: dict = field(repr=False)

    def __str__(self):
        return f"{self.file}:{self.members['name']}".replace(" ", "-")

    @property
    def now(self):
        return self.members.get("now", DEFAULT_NOW)

    def request(self):
        """The request alone: what is tried, by whom, and when."""
        wanted = ("op", "path", "value", "query", "auth")
        body = {name: self.members[name] for name in wanted if name in self.members}
        if body["op"] == "write":
            body.setdefault("value", None)
        return {**body, "now": self.now}

    def body(self):
        """The request with the rules and the data to try it on."""
        return {**self.request(), "rules": self.rules, "data": self.data}


def spec_cases():
    """The cases of the unit tests; each brings its rules."""
    return [case for file in sorted(SPECS.glob("*-cases.json")) for case in read(file)]


def sample_files():
    """Each sample that has cases: `(rules file, its cases)`. Those of chat and of timelines are social.json's, too."""
    files = sorted(set(SAMPLES.glob("*.cases.json")) - set(SAMPLES.glob("*.storage.cases.json")))
    samples = {SAMPLES / file.name.replace(".cases.json", ".json"): read(file) for file in files}
    social = SAMPLES / "social.json"
    for half in ("chat", "timeline"):
        samples[social] += read(SAMPLES / f"{half}.cases.json", social)
    return list(samples.items())


def read(file: Path, under: Path | None = None):
    """The cases of a file; `under` is the rules file in the place of the one beside it."""
    content = json.loads(file.read_text())
    shared = {} if isinstance(content, list) else content
    cases = content if isinstance(content, list) else content["cases"]
    beside = under or file.with_name(file.name.replace(".cases.json", ".json"))
    rules = beside.read_text() if beside != file and beside.exists() else None
    return [resolved(case, shared, rules, under or file) for case in cases]


def resolved(case, shared, rules, file):
    data = case["data"] if "data" in case else shared.get("data")
    if "given" in case:
        data = copy.deepcopy(data)
        for path, value in case["given"].items():
            data = with_value(data, [key for key in path.split("/") if key], value)
    inherited = {name: shared[name] for name in ("now", "auth") if name in shared}
    return Case(
        file=file.name,
        rules=case.get("rules", shared.get("rules", rules)),
        data=data,
        members={**inherited, **case},
    )


def with_value(data, keys, value):
    """`data` with `value` at `keys`; null deletes."""
    if not keys:
        return value
    children = dict(data) if isinstance(data, dict) else {}
    child = with_value(children.get(keys[0]), keys[1:], value)
    if child is None:
        children.pop(keys[0], None)
    else:
        children[keys[0]] = child
    return children or None
