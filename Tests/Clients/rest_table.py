"""Reads the table of the REST API: `Specs/rest/*.txt`, one file for a section of the API.

A file is lines of a word and what it says; indented lines continue the one before.

    group NAME       rows from here share one server
    flags FLAGS      flags of that server; `--dev` unless `production` stands there
    rules JSON       rules of the database, for the group or, in a row, for that row; `none` puts none

    # sentence       a row: what the API promises
    -- text          a remark, above all where Hearth differs on purpose
    tree JSON        before the first request: the whole tree (null otherwise); after one: what it is then
    curl WORDS       runs curl in a shell: $URL and the names below are set
    stream WORDS     the same for a stream of events, which stays open until the row ends
    event NAME: JSON the next event of the stream; `event NAME = TEXT` when its data is no JSON;
                     `event NAME ? REGEX` the next that is so, whatever comes before
    closed           the stream ends
    status N         the last answer's status; `status ~ REGEX`
    header NAME: V   a header of it, exactly; `header NAME ~ REGEX`; `header NAME none`
    json JSON        its body is this value
    body "TEXT"      its body is exactly this text, written as JSON
    like REGEX       its body has a match, from the start
    error TEXT       its body is this error in the layout of errors; `error ~ REGEX`
    fails REGEX      curl gets no answer at all, and this is its exit code
    save NAME HEADER a shell variable for what follows; `save NAME .member` takes it from the body

Each request needs `status` and one of `json`, `body`, `like`, `error`. A request that is refused, without a `tree` after
it, must leave the tree as it was.
"""

import json
from pathlib import Path

FOLDER = Path(__file__).parent / "Specs" / "rest"
OPEN = '{"rules":{".read":true,".write":true}}'
BODIES = {"json", "body", "like", "error"}


class Group:
    def __init__(self, name):
        self.name, self.flags, self.rules, self.rows = name, "", OPEN, []

    def __repr__(self):
        return self.name


class Row:
    def __init__(self, title, rules):
        self.title, self.rules, self.tree, self.steps = title, rules, None, []


class Step:
    """One request, or some more events of a stream, and all that is expected then."""

    def __init__(self, kind, words):
        self.kind, self.words, self.expected = kind, words, []

    def all(self, word):
        return [text for name, text in self.expected if name == word]

    def one(self, word):
        return next(iter(self.all(word)), None)


def lines(text):
    joined = []
    for line in text.splitlines():
        if line.startswith("  ") and line.strip():
            joined[-1] += "\n" + line.strip()
        elif line.strip():
            joined.append(line)
    return joined


def groups(path):
    """The groups of one file, checked for what every row must say."""
    found, row = [], None
    for line in lines(path.read_text()):
        word, _, text = line.partition(" ")
        if word == "group":
            found.append(Group(text))
            row = None
        elif word == "#":
            row = Row(text, found[-1].rules)
            found[-1].rows.append(row)
        elif word == "--":
            continue
        elif word == "flags":
            found[-1].flags = text
        elif word == "rules":
            (row or found[-1]).rules = text
        elif word in ("curl", "stream"):
            row.steps.append(Step(word, text))
        elif word == "tree" and not row.steps:
            row.tree = json.loads(text)
        elif word in {"tree", "event", "closed", "status", "header", "fails", "save", *BODIES}:
            row.steps[-1].expected.append((word, text))
        else:
            raise ValueError(f"{path.name}: {line}")
    for group in found:
        for row in group.rows:
            check(row)
    return found


def check(row):
    assert row.steps, row.title
    for step in row.steps:
        names = [name for name, _ in step.expected]
        if names == ["fails"]:
            continue
        assert names.count("status") == 1, f"{row.title}: a request without a status"
        bodies = sum(name in BODIES for name in names)
        assert bodies == 1 or step.kind == "stream" and not bodies, f"{row.title}: {bodies} bodies"
