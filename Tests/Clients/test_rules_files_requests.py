"""Requests for files that the rules decided, in `/.inspect/requests` and `hearth rules requests --files`."""

import json
import signal

import pytest
from command_line import hearth, start
from file_requests import BUCKET, Upload, place, signed_in, upload
from hearth_server import Hearth

OWNER = {"Authorization": "Bearer owner"}
ASKED = "/.inspect/requests.json?service=files"
RULES = """rules_version = '2';
service firebase.storage {
  match /b/{bucket}/o/{user}/{file} {
    allow get: if request.auth.uid == user;
    allow create: if request.auth.uid == user && request.resource.size < 10;
    allow delete: if resource.metadata.keep != 'yes';
  }
}
"""


@pytest.fixture
def server(tmp_path):
    (tmp_path / "storage.rules").write_text(RULES)
    with Hearth("--files-rules", str(tmp_path / "storage.rules")) as server:
        yield server


def requests(server, more=""):
    """The oldest first."""
    answer = server.get(ASKED + more, headers=OWNER)
    assert answer.status == 200, answer.text
    return answer.json["requests"][::-1]


def level(server, word):
    assert server.put("/.inspect/level.json", word, headers=OWNER).status == 200


def test_what_was_asked_and_decided_is_kept_with_its_values(server):
    assert upload(server, "ann/a.txt", b"hello", headers=signed_in("ann")).status == 200
    assert server.get(place("ann/a.txt"), headers=signed_in("bob")).status == 403
    assert server.get(place("ann/a.txt")).status == 403
    made, refused, anonymous = requests(server)
    facts = lambda each: [each[name] for name in ("operation", "bucket", "path", "allowed", "protocol")]
    assert facts(made) == ["create", BUCKET, "ann/a.txt", True, "files"]
    assert (made["newResource"]["size"], made["resource"], made["auth"]["uid"]) == (5, None, "ann")
    assert made["decision"]["allow"]["line"] == 5
    assert facts(refused) == ["get", BUCKET, "ann/a.txt", False, "files"]
    assert (refused["resource"]["size"], refused["auth"]["uid"]) == (5, "bob")
    assert refused["decision"]["allow"] is None
    values = {each["text"]: each["value"] for each in refused["decision"]["trace"][0]["values"]}
    assert values["request.auth.uid"] == '"bob"' and values["user"] == '"ann"'
    assert "request.auth.uid is \"bob\"" in refused["explanation"]
    assert anonymous["auth"] is None and "null has no members" in anonymous["explanation"]
    assert made["id"] < refused["id"] < anonymous["id"] and made["time"] <= anonymous["time"]
    # Of the database there is none.
    assert server.get("/.inspect/requests.json", headers=OWNER).json["requests"] == []
    assert server.request("DELETE", ASKED, headers=OWNER).status == 200
    assert requests(server) == []


def test_an_upload_is_there_once_and_administrators_are_not(server):
    # Refused at its start, by the size that it names.
    assert Upload(server, "ann/b.txt", 11, headers=signed_in("ann")).started.status == 403
    begun = Upload(server, "ann/b.txt", 5, headers=signed_in("ann"))
    assert begun.started.status == 200
    assert [each["allowed"] for each in requests(server)] == [False]
    assert begun.send("upload, finalize", 0, b"hello").status == 200
    assert server.get(place("ann/b.txt"), headers=OWNER).status == 200
    assert [(each["operation"], each["allowed"]) for each in requests(server)] == [("create", False), ("create", True)]


def test_the_level_says_what_is_kept_and_filters_what_is_shown(server):
    level(server, "refused")
    for who in ("ann", "bob"):
        assert upload(server, f"{who}/a.txt", b"hello", headers=signed_in("ann")).status == (200 if who == "ann" else 403)
    [only] = requests(server)
    # Also then with its values.
    assert only["path"] == "bob/a.txt" and only["decision"]["trace"][0]["values"]
    level(server, "off")
    server.get(place("ann/a.txt"))
    assert len(requests(server)) == 1
    level(server, "all")
    server.get(place("ann/a.txt"), headers=signed_in("ann"))
    server.get(place("bob/a.txt", bucket="other"), headers=signed_in("cid"))
    for more, found in (
        ("&path=bob/", ["create", "get"]), ("&path=ann/", ["get"]), ("&uid=cid", ["get"]), ("&operation=create", ["create"]),
        ("&bucket=other", ["get"]), ("&refused=true", ["create", "get"]), ("&limit=1", ["get"]), (f"&after={only['id']}", ["get", "get"]),
        (f"&id={only['id']}", ["create"]),
    ):
        assert [each["operation"] for each in requests(server, more)] == found, more
    assert server.get(f"{ASKED}&operation=set", headers=OWNER).json["error"].endswith("get, list, create, update, delete")


def test_the_command_shows_and_follows_them(server):
    upload(server, "ann/a.txt", b"hello", headers=signed_in("ann"))
    process = start(server, "rules", "requests", "--files", "--follow", "--path", "ann/")
    assert process.stdout.readline().decode().rstrip().endswith(f'allowed create {BUCKET}/ann/a.txt by "ann" over files')
    server.get(place("ann/a.txt"), headers=signed_in("bob"))
    while not (line := process.stdout.readline().decode().rstrip()).startswith("#2 "):
        assert line or process.poll() is None
    assert line.endswith(f'refused get {BUCKET}/ann/a.txt by "bob" over files')
    process.send_signal(signal.SIGINT)
    with process.stdout, process.stderr:
        assert process.wait(timeout=120) == 0
    shown = hearth(server, "rules", "requests", "--files", "--refused").stdout.decode()
    assert "ann/a.txt" in shown and 'request.auth.uid is "bob"' in shown and "create" not in shown.splitlines()[0]
    listed = hearth(server, "rules", "requests", "--files", "--json", "--bucket", "none").stdout
    assert json.loads(listed)["requests"] == []
