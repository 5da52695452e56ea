"""Reads tables of identity flows: `Specs/identity/*.txt`, requests exactly as client SDKs send them.

A file is lines of a word and what it says; indented lines continue the one before.

    group NAME        flows from here share one server
    flags FLAGS       flags of that server; `--dev` unless `production` stands there
    family js | ios   whose addresses, headers and spelling of bodies the flows have

    # sentence        a flow: what holds
    -- text           a remark
    call NAME JSON    POST to the method NAME of the family; `{}` without JSON
    get PATH          GET of a path of the family's v1 or v2 address
    refresh TOKEN     POST to the token endpoint, in the family's form
    raw VERB PATH [BODY]   any request; `header NAME: VALUE` lines before it go with it
    status N          the last answer's status, 200 without it
    reply JSON        its body: the same members, where "*" stands for any text that is not empty, "#" for any
                      whole number
    error MESSAGE     its body is the error form with this message; status 400 unless said otherwise
    claims JSON       members of the claims in the last answer's ID token; null for one that is not there
    save NAME .MEMBER a name for a member of it: `$NAME` stands for it in what follows

Names beside the saved ones: `$custom:UID`, a custom token as the Admin SDK makes it for an emulator.
"""

import re
from pathlib import Path

FOLDER = Path(__file__).parent / "Specs" / "identity"

STEPS = {"call", "get", "refresh", "raw"}
EXPECTED = {"status", "reply", "error", "claims", "save"}


class Group:
    def __init__(self, name):
        self.name, self.flags, self.family, self.flows = name, "", "js", []

    def __repr__(self):
        return self.name


class Flow:
    def __init__(self, title):
        self.title, self.steps = title, []


class Step:
    """One request and all that is expected then."""

    def __init__(self, word, text, headers):
        self.word, self.text, self.headers, self.expected = word, text, headers, []


def lines(text):
    joined = []
    for line in text.splitlines():
        if line.startswith("  ") and line.strip():
            joined[-1] += " " + line.strip()
        elif line.strip():
            joined.append(line)
    return joined


def groups(path):
    """The groups of one file."""
    found, headers = [], {}
    for line in lines(path.read_text()):
        word, _, text = line.partition(" ")
        if word == "group":
            found.append(Group(text))
        elif word in ("flags", "family"):
            setattr(found[-1], word, text)
        elif word == "#":
            found[-1].flows.append(Flow(text))
        elif word == "header":
            name, _, value = text.partition(": ")
            headers[name] = value
        elif word in STEPS:
            found[-1].flows[-1].steps.append(Step(word, text, headers))
            headers = {}
        elif word in EXPECTED:
            found[-1].flows[-1].steps[-1].expected.append((word, text))
        elif word != "--":
            raise ValueError(f"{path.name}: {line}")
    return found


def all_groups():
    return [group for path in sorted(FOLDER.glob("*.txt")) for group in groups(path)]


def matches(expected, actual):
    """Whether a JSON value is the expected one; "*" is any text that is not empty, "#" any whole number."""
    if expected == "#":
        return type(actual) is int
    if expected == "*":
        return isinstance(actual, str) and actual != ""
    if isinstance(expected, dict) and isinstance(actual, dict):
        return expected.keys() == actual.keys() and all(
            matches(value, actual[name]) for name, value in expected.items()
        )
    if isinstance(expected, list) and isinstance(actual, list):
        return len(expected) == len(actual) and all(map(matches, expected, actual))
    return type(expected) is type(actual) and expected == actual


def member(value, path):
    for name in path.lstrip(".").split("."):
        value = value[int(name)] if isinstance(value, list) else value[name]
    return value


def error_form(message, status):
    """The body of an error, but for `status`, which not every one has."""
    inner = {"message": message, "reason": "*", "domain": "global"}
    return {"code": status, "message": message, "errors": [inner]}


def names(text):
    return re.findall(r"\$(custom:[\w-]+|\w+)", text)
