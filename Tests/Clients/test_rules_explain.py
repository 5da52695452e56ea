"""`hearth rules explain` and `/.simulate`: with a server and without, the same words."""

import json
import subprocess

import pytest
from command_line import hearth
from hearth_server import BINARY, Hearth

RULES = {
    "rules": {
        "rooms": {
            "$room": {
                ".read": "data.child('members').child(auth.uid).exists()",
                ".write": "auth != null && newData.child('owner').val() === auth.uid",
                ".validate": "newData.hasChildren(['owner', 'title'])",
            }
        },
        "late": {".read": "now > 5000"},
    }
}
DATA = {"rooms": {"r1": {"owner": "ann", "title": "Tea", "members": {"ann": True}}}}
OWNER = {"Authorization": "Bearer owner"}

REQUESTS = [
    (0, ["read", "/rooms/r1", "--uid", "ann"]),
    (1, ["read", "/rooms/r1", "--uid", "bob"]),
    (1, ["read", "/rooms/r1"]),
    (1, ["read", "/rooms", "--auth", '{"uid":"ann"}']),
    (1, ["query", "/rooms", "--query", '{"orderByKey":true,"limitToLast":2}', "--auth", "null"]),
    (0, ["set", "/rooms/r2", "--value", '{"owner":"bob","title":"Milk"}', "--uid", "bob"]),
    (1, ["set", "/rooms/r2", "--value", '{"owner":"bob"}', "--uid", "bob"]),
    (1, ["update", "/rooms", "--value", '{"r1/title":"x","r9/title":"y"}', "--uid", "ann"]),
    (1, ["remove", "/rooms/r1", "--uid", "ann"]),
    (0, ["read", "/late", "--now", "6000"]),
    (1, ["read", "/late", "--now", "5000"]),
]


@pytest.fixture(scope="module")
def server():
    with Hearth() as server:
        body = json.dumps(RULES).encode()
        assert server.request("PUT", "/.settings/rules.json", raw=body, headers=OWNER).status == 200
        assert server.request("PUT", "/.json", DATA, headers=OWNER).status == 200
        yield server


@pytest.fixture
def files(tmp_path):
    (tmp_path / "rules.json").write_text(json.dumps(RULES))
    (tmp_path / "data.json").write_text(json.dumps(DATA, indent=1))
    return tmp_path


def explain(server, folder, *arguments):
    done = hearth(server, "rules", "explain", *arguments, folder=folder)
    return done.returncode, done.stdout.decode(), done.stderr.decode()


@pytest.mark.parametrize(("code", "arguments"), REQUESTS, ids=lambda value: str(value)[:60])
def test_a_server_and_files_give_the_same_words(server, files, code, arguments):
    offline = ["--rules", "rules.json", "--data", "data.json"]
    here = explain(None, files, *arguments, *offline)
    assert (here[0], here[2]) == (code, "")
    assert (" allowed: " if code == 0 else " refused: ") in here[1].splitlines()[0]
    assert explain(server, files, *arguments) == here
    # The same, with the rules and the data brought along.
    assert explain(server, files, *arguments, *offline, "--url", server.address) == here
    # And as JSON.
    there = explain(server, files, *arguments, "--json")
    assert there == explain(None, files, *arguments, *offline, "--json")
    assert there[0] == code and json.loads(there[1])["allowed"] == (code == 0)


def test_it_says_why_and_what_would_have_to_change(files):
    code, out, _ = explain(
        None, files, "set", "/rooms/r1", "--value", '{"title":"x"}', "--uid", "bob",
        "--rules", "rules.json", "--data", "data.json",
    )
    assert code == 1
    assert out.splitlines()[0] == "set /rooms/r1 refused: no .write rule allows it."
    assert 'auth.uid is "bob"' in out
    assert "it would hold if this did: newData.child('owner').val() === auth.uid" in out
    assert 'asked by "bob": {"uid":"bob"}' in out


def test_without_data_the_database_is_empty(files):
    code, out, _ = explain(None, files, "read", "/rooms/r1", "--uid", "ann", "--rules", "rules.json")
    assert code == 1 and "nothing is at /rooms/r1/members/ann" in out


def test_rules_that_are_tried_on_a_server_change_nothing(server, files):
    (files / "open.json").write_text('{"rules": {".read": true}}')
    code, out, _ = explain(server, files, "read", "/x", "--rules", "open.json", "--url", server.address)
    assert code == 0 and ".read of / (rules 1:21) is true" in out
    assert explain(server, files, "read", "/x")[0] == 1
    assert server.get("/.json", headers=OWNER).json == DATA


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["reed", "/a"], "'reed' is not an operation: read, query, write, update or remove; did you mean 'read'?"),
        (["read", "/a.b"], "the path:1:1: 'path' is not a path: a key must not contain '.'."),
        (["set", "/a", "--value", '{"x":}'], "--value:1:6: This is no JSON: unexpected '}'."),
        (["set", "/a", "--value", '{"a":1,\n "b.":2}'], "--value:2:2: 'value' cannot be stored: a key must not"),
        (["set", "/a"], "'set' takes --value JSON or --value-file FILE; 'remove' takes none"),
        (["transaction", "/a", "--value", "hello"], "hint: in JSON text has quotes: --value '\"hello\"'"),
        (["set", "/a", "--value-file", "no.json"], "no.json: No such file"),
        (["remove", "/a", "--value", "1"], "'remove' takes no value"),
        (["read", "/a", "--value", "1"], "'value' has no meaning here: a read has no value."),
        (["read", "/a", "--auth", "[1]"], "--auth:1:1: 'auth' must be an object or null."),
        (["read", "/a", "--auth", "{}", "--uid", "x"], "--auth and --uid: give one of them"),
        (["query", "/a", "--query", '{"orderByKy":true}'], "--query:1:2: Unknown member 'orderByKy' in 'query'."),
    ],
)
def test_what_makes_no_sense_is_said_of_the_option(server, files, arguments, reason):
    for where in ([None, "--rules", "rules.json"], [server]):
        code, out, errors = explain(where[0], files, *arguments, *where[1:])
        assert out == "" and reason in errors, errors
        assert code == (1 if "No such file" in reason else 2)


def test_bad_rules_are_reported_with_their_place(server, files):
    (files / "bad.json").write_text('{"rules": {\n  ".read": "x"}}')
    for where in ([None], [server, "--url", server.address]):
        code, out, errors = explain(where[0], files, "read", "/a", "--rules", "bad.json", *where[1:])
        assert (code, out) == (1, "")
        assert "bad.json:2:13: Unknown variable 'x'." in errors and "^" in errors


def test_no_server_is_an_error(files):
    code, _, errors = explain("http://127.0.0.1:1", files, "read", "/a")
    assert code == 1 and errors.startswith("error: ")


def test_the_simulator_answers_in_words_when_asked(server):
    body = {"op": "read", "path": "/rooms/r1", "auth": {"uid": "ann"}}
    words = {**OWNER, "Accept": "text/plain"}
    answer = server.request("POST", "/.simulate", body, headers=words)
    assert answer.status == 200 and answer.headers["Content-Type"].startswith("text/plain")
    assert answer.headers["Hearth-Verdict"] == "allowed"
    assert answer.text.startswith("read /rooms/r1 allowed: .read of /rooms/$room (rules ")
    answer = server.request("POST", "/.simulate", dict(body, auth=None), headers=OWNER)
    assert answer.headers["Hearth-Verdict"] == "refused"
    assert answer.json["allowed"] is False and answer.json["trace"][0]["values"]


@pytest.mark.parametrize(
    ("raw", "line", "column", "reason"),
    [
        (b"", 1, 1, "The body is no JSON"),
        (b'{"op":"read",\n"pth":1}', 2, 1, "Unknown member 'pth' in the body."),
        (b'{"op":"write","path":"/","value":{"a":{"b#":1}}}', 1, 40, "'value' cannot be stored"),
        (b'{"op":"read","path":"/","data":{"\xc3\xa9":{"a/b":1}}}', 1, 38, "'data' cannot be stored"),
        (b'{"op":"read","path":"/","now":"soon"}', 1, 31, "'now' must be a whole number"),
    ],
)
def test_a_body_that_makes_no_sense_is_refused_with_its_place(server, raw, line, column, reason):
    answer = server.request("POST", "/.simulate", raw=raw, headers=OWNER)
    assert answer.status == 400
    fault = answer.json["errors"][0]
    assert (fault["line"], fault["column"]) == (line, column) and reason in fault["message"]
    assert answer.json["error"].startswith(f"{line}:{column}: ")


def test_rules_in_a_body_have_their_places_in_both_texts(server):
    raw = b'{"op":"read","path":"/",\n"rules":"{\\"rules\\":\\n {\\".read\\":\\"x\\"}}"}'
    answer = server.request("POST", "/.simulate", raw=raw, headers=OWNER)
    fault = answer.json["errors"][0]
    assert answer.status == 400 and fault["message"] == "Unknown variable 'x'."
    assert (fault["line"], fault["column"]) == (2, 12)
    assert fault["body"] == {"line": 2, "column": 37}


def test_an_update_of_everything_delays_no_client(server):
    """A simulated update with tens of thousands of validated children is worked out away from the loop."""
    rules = {"rules": {".write": True, "$a": {"$b": {".validate": "newData.isNumber() && newData.val() > -1"}}}}
    value = {f"k{i}": {f"c{j}": j for j in range(100)} for i in range(500)}
    body = {"op": "update", "path": "/", "value": value, "rules": rules}
    answer = server.request("POST", "/.simulate", body, headers=OWNER)
    assert answer.status == 200 and answer.json["allowed"] is True
    assert answer.json["cut"] is True and answer.json["newDataIsLarge"] is True
    assert len(answer.text) < 8 << 20
    assert server.get("/.json", headers=OWNER).json == DATA


def test_files_may_be_pipes(server, files):
    words = ["explain", "set", "/rooms/r2", "--uid", "bob", "--value-file", "<(echo '{\"owner\":\"bob\"}')"]
    words += ["--rules", "<(cat rules.json)", "--data", "<(cat data.json)"]
    for url in ["", f" --url {server.address}"]:
        command = f"{BINARY} rules {' '.join(words)}{url}"
        done = subprocess.run(["bash", "-c", command], cwd=files, capture_output=True, timeout=120)
        assert (done.returncode, done.stderr) == (1, b"")
        assert b".validate" in done.stdout
