"""Rules cases through `/.simulate` of the real binary: those of the units with rules and data in the request, those of
the samples on a live database, which stays as it was, and a share of these with rules and data as well."""

import http.client
import itertools
import json

import pytest

from hearth_server import Hearth
from rules_cases import sample_files, spec_cases

ADMIN = {"Authorization": "Bearer owner"}
SAMPLES = sample_files()
SPEC_CASES = spec_cases()
CASES = SPEC_CASES + [case for _, cases in SAMPLES for case in cases]
SPECS = {case.file for case in SPEC_CASES}
FILES = {file: [case for case in CASES if case.file == file] for file in dict.fromkeys(case.file for case in CASES)}


class Simulator:
    """One connection to one server; `ask` gives status and answer."""

    def __init__(self, server):
        self.server = server
        self.connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=120)

    def send(self, method, path, raw=None, headers=None):
        self.connection.request(method, path, raw, headers or {})
        answer = self.connection.getresponse()
        return answer.status, answer.read()

    def ask(self, body, database="cases", headers=None):
        raw = body if isinstance(body, bytes) else json.dumps(body).encode()
        status, answer = self.send("POST", f"/.simulate?ns={database}", raw, headers)
        return status, json.loads(answer)


@pytest.fixture(scope="module")
def simulator():
    with Hearth() as server:
        yield Simulator(server)


def decider(answer):
    rule = answer["rule"]
    return rule and f"{rule['kind']} {rule['path']}"


def check(case, status, answer):
    """What a case says against what the simulator does."""
    expected = case.members
    if expected["expect"] == "invalid-rules":
        assert status == 400, answer
        if "errors" in expected:
            found = [f"{e['line']}:{e['column']}: {e['message']}" for e in answer["errors"]]
            assert found == expected["errors"]
        return
    assert status == 200, answer
    assert answer["allowed"] == (expected["expect"] == "allow"), answer["trace"]
    if "decidedBy" in expected:
        assert decider(answer) == expected["decidedBy"]
    if "error" in expected:
        errors = [rule["error"]["message"] for rule in answer["trace"] if "error" in rule]
        assert expected["error"] in errors


def faults(cases, ask):
    """What went wrong, for each case with which something did."""
    found = []
    for case in cases:
        try:
            check(case, *ask(case))
        except AssertionError as error:
            found.append(f"{case}: {error}")
    return found


@pytest.mark.parametrize("file", FILES)
def test_a_case_with_its_rules_and_data(simulator, file):
    # The rules of a sample are long: there, every 20th case shows that a request takes them.
    cases = FILES[file] if file in SPECS else FILES[file][::20]
    found = faults(cases, lambda case: simulator.ask(case.body()))
    assert not found, "\n".join(found)


def test_there_are_cases_to_try():
    assert sum(len(FILES[file]) for file in SPECS) >= 480
    assert all(len(cases) >= 18 for _, cases in SAMPLES)


@pytest.mark.parametrize("rules,cases", SAMPLES, ids=[file.stem for file, _ in SAMPLES])
def test_the_cases_of_a_sample_on_live_rules_and_data(simulator, rules, cases):
    name = f"live-{rules.stem}"
    text = rules.read_bytes()
    place = f"/.json?format=export&ns={name}"
    settings = f"/.settings/rules.json?ns={name}"
    assert simulator.send("PUT", settings, text, ADMIN)[0] == 200
    # Cases in a row that share their data; what one case leaves behind the next one meets.
    for _, group in itertools.groupby(cases, lambda case: json.dumps(case.data)):
        group = list(group)
        assert simulator.send("PUT", place, json.dumps(group[0].data).encode(), ADMIN)[0] == 200
        before = simulator.send("GET", place, headers=ADMIN)
        found = faults(group, lambda case: simulator.ask(case.request(), name))
        assert not found, "\n".join(found)
        assert simulator.send("GET", place, headers=ADMIN) == before, [str(case) for case in group]
    assert simulator.send("GET", settings, headers=ADMIN) == (200, text)


def test_a_simulated_write_makes_no_commit(simulator):
    def commits():
        text = simulator.send("GET", "/.metrics", headers=ADMIN)[1].decode()
        return [line for line in text.splitlines() if line.startswith("hearth_commits")]

    before = commits()
    assert before
    rules = {"rules": {".write": True}}
    body = {"op": "write", "path": "/a", "value": {"b": 1}, "auth": None, "rules": rules}
    assert simulator.ask(body)[1]["newData"] == {"b": 1}
    assert commits() == before


def test_a_photo_of_more_than_a_million_characters_is_refused(simulator):
    """The largest value that the party rules take; too long for a file of cases."""
    rules, cases = next(entry for entry in SAMPLES if entry[0].stem == "party")
    case = next(c for c in cases if c.members["name"] == "a guest uploads the bytes")
    body = case.body()
    (photo,) = body["value"].values()
    for length, expected in ((1_000_000, True), (1_000_001, False)):
        photo["png"] = "iVBORw0KGgo".ljust(length, "A")
        status, answer = simulator.ask(body)
        assert (status, answer["allowed"]) == (200, expected)
    assert decider(answer) == "validate /photos/$photo/png"


# MARK: Requests that make no sense

GOOD = {"op": "read", "path": "/a", "auth": None, "rules": {"rules": {}}, "data": None}


def good(**members):
    """A request that is answered, with some members put in or, by `...`, left out."""
    merged = {**GOOD, **members}
    return json.dumps({name: value for name, value in merged.items() if value is not ...})


# (name, body, (line, column) or None, a piece of the message)
BAD = [
    ("nothing", "", (1, 1), "The body is no JSON"),
    ("no JSON", "{\n  oops}", (2, 3), "The body is no JSON"),
    ("cut off", '{"op":"read"', (1, 13), "The body is no JSON"),
    ("two values", good() + "{}", None, "The body is no JSON"),
    ("a list", "[]", (1, 1), "The body must be an object"),
    ("a text", '"read"', (1, 1), "The body must be an object"),
    ("null", "null", (1, 1), "The body must be an object"),
    ("bad UTF-8", b'{"op":"\xff"}', (1, 8), "The body is no JSON"),
    ("no op", good(op=...), (1, 1), "'op' is missing"),
    ("an unknown op", good(op="set"), (1, 8), "'op' is 'set'"),
    ("an op that is no text", good(op=1), (1, 8), "'op' must be a string"),
    ("no path", good(path=...), (1, 1), "'path' is missing"),
    ("a path that is no text", good(path=5), (1, 24), "'path' must be a string"),
    ("a path with a dot", good(path="/a.b"), (1, 24), "'path' is not a path"),
    ("a path with a bracket", good(path="/a[0]"), (1, 24), "'path' is not a path"),
    ("a path of 33 keys", good(path="/a" * 33), (1, 24), "'path' is not a path"),
    ("a key of 769 bytes", good(path="/" + "k" * 769), (1, 24), "'path' is not a path"),
    ("a control character", good(path="/a\u0001"), (1, 24), "'path' is not a path"),
    ("an unknown member", good(user="ann"), None, "Unknown member 'user' in the body"),
    ("a misspelt member", '{"op":"read","pth":"/a"}', (1, 14), "Unknown member 'pth'"),
    ("a member twice", '{"op":"read","op":"read"}', (1, 14), "'op' is given twice"),
    ("auth is a text", good(auth="ann"), (1, 38), "'auth' must be an object or null"),
    ("auth is a list", good(auth=["ann"]), (1, 38), "'auth' must be an object or null"),
    ("now is a text", good(now="12:00"), None, "'now' must be a whole number"),
    ("now is a fraction", good(now=1.5), None, "'now' must be a whole number"),
    ("now is too large", good(now=10**30), None, "'now' must be a whole number"),
    ("data with a server value", good(data={".sv": "timestamp"}), None, "without server values"),
    ("data with a bad key", good(data={"a": {"b/c": 1}}), None, "'data' cannot be stored"),
    ("data of 33 levels", good(data=json.loads('{"a":' * 33 + "1" + "}" * 33)), None, "'data'"),
    ("a write without a value", good(op="write"), (1, 1), "'value' is missing"),
    ("a read with a value", good(value=1), None, "'value' has no meaning here"),
    ("a write with a query", good(op="write", value=1, query={}), None, "'query' has no meaning"),
    ("a value with a bad key", good(op="write", value={"a$": 1}), None, "'value' cannot be stored"),
    ("a value too deep", good(op="write", path="/a" * 32, value={"b": 1}), None, "'value'"),
    ("a bad server value", good(op="write", value={".sv": "now"}), None, "'value' cannot be stored"),
    ("an update of no object", good(op="update", value=5), None, "must be an object of paths"),
    ("an update without paths", good(op="update", value=[1]), None, "must be an object of paths"),
    ("an update at a bad path", good(op="update", value={"b.c": 1}), None, "'value' of an update"),
    ("an update of a node and its child", good(op="update", value={"b": 1, "b/c": 2}), None, "update"),
    ("a query that is no object", good(op="query", query=5), None, "'query' must be an object"),
    ("an unknown query parameter", good(op="query", query={"first": 5}), None, "'first' in 'query'"),
    ("a limit of nothing", good(op="query", query={"orderByKey": True, "limitToFirst": 0}), None, "'query'"),
    ("two limits", good(op="query", query={"limitToFirst": 1, "limitToLast": 1}), None, "'query'"),
    ("rules that are a number", good(rules=5), None, "'rules' must be the text of a rules file"),
    ("rules that are null", good(rules=None), None, "'rules' must be the text of a rules file"),
]


@pytest.mark.parametrize("raw,place,piece", [row[1:] for row in BAD], ids=[row[0] for row in BAD])
def test_a_request_that_makes_no_sense(simulator, raw, place, piece):
    status, answer = simulator.ask(raw if isinstance(raw, bytes) else raw.encode())
    assert status == 400, answer
    (fault,) = answer["errors"]
    assert piece in fault["message"]
    assert fault["line"] >= 1 and fault["column"] >= 1
    if place is not None:
        assert (fault["line"], fault["column"]) == place, fault
    assert fault["message"] in answer["error"]


# (name, rules text, the first fault in it)
BAD_RULES = [
    ("no JSON", "{oops", (1, 2)),
    ("no rules", "{}", (1, 2)),
    ("an open bracket", '{"rules":{"a":{}', (1, 17)),
    ("an unknown name", '{\n "rules": {".read": "user != null"}\n}', (2, 22)),
    ("huge nesting", '{"rules":' + '{"a":' * 200 + "{}" + "}" * 201, None),
    ("a deep expression", '{"rules":{".read":"' + "(" * 300 + "true" + ")" * 300 + '"}}', None),
    ("more than 256 KB", '{"rules":{}}' + " " * (256 * 1024), None),
    ("1 MB of one expression", '{"rules":{".read":"' + "true && " * 131_072 + 'true"}}', None),
    ("a pattern of many states", '{"rules":{".read":"\'a\'.matches(/(a{1,500}){1,500}/)"}}', None),
]


@pytest.mark.parametrize("text,place", [row[1:] for row in BAD_RULES], ids=[r[0] for r in BAD_RULES])
def test_rules_that_do_not_load(simulator, text, place):
    status, answer = simulator.ask({**GOOD, "rules": text})
    assert status == 400
    fault = answer["errors"][0]
    assert fault["message"] and fault["line"] >= 1 and fault["column"] >= 1
    assert len(json.dumps(answer)) < 20_000
    if place is not None:
        assert (fault["line"], fault["column"]) == place, fault


def test_all_faults_of_rules_are_reported_with_their_places(simulator):
    text = '{"rules": {\n  ".read": "user != null",\n  "a": {".write": "data.size() > 1"}\n}}'
    status, answer = simulator.ask({**GOOD, "rules": text})
    assert status == 400
    assert [(e["line"], e["column"]) for e in answer["errors"]] == [(2, 13), (3, 25)]


@pytest.mark.parametrize("depth", [1_000, 100_000, 1_000_000])
def test_huge_nesting_ends_at_once(simulator, depth):
    for text in ("[" * depth, '{"data":' * depth, good(data=0).replace('"data": 0', '"data":' + "[" * depth)):
        status, answer = simulator.ask(text.encode())
        assert status == 400
        assert answer["errors"][0]["line"] == 1


def test_a_body_ends_at_the_limit_of_all_bodies(simulator):
    ok = simulator.ask({**GOOD, "data": {"text": "x" * 5_000_000}})
    assert (ok[0], ok[1]["allowed"]) == (200, False)
    with Hearth("--max-body", "1000000") as server:
        status, answer = Simulator(server).ask({**GOOD, "data": {"text": "x" * 1_000_000}})
    assert status == 400
    assert "exceeds the maximum size" in answer["error"]


def test_a_pattern_or_an_expression_that_never_ends_ends_at_the_budget(simulator):
    """A text of half a megabyte under a pattern of many states: refused, and the next is served."""
    rules = {"rules": {"a": {".write": True, ".validate": "newData.val().matches(/(a|aa|aaa){1,200}b$/)"}}}
    body = {"op": "write", "path": "/a", "value": "a" * 500_000, "auth": None, "rules": rules, "data": None}
    status, answer = simulator.ask(body)
    assert (status, answer["allowed"]) == (200, False)
    assert "steps" in answer["rule"]["error"]["message"]
    assert simulator.ask(GOOD)[0] == 200


def test_a_simulator_in_production_is_for_the_administrator(tmp_path):
    with Hearth("--database", "p", data=tmp_path / "data", dev=False, log=tmp_path / "log") as server:
        simulator = Simulator(server)
        for headers in ({}, ADMIN, {"Authorization": "Bearer nonsense"}):
            status, answer = simulator.ask(GOOD, "p", headers)
            assert status == 401, answer
            assert "trace" not in answer
