"""Rules for files on a running server: published, kept as versions, and beside the file of `--files-rules`."""

import json

import pytest
from command_line import hearth
from file_requests import BUCKET, place, signed_in, upload
from hearth_server import Hearth

OWNER = {"Authorization": "Bearer owner"}
SETTINGS = "/.settings/rules.json?service=files"
HISTORY = "/.settings/rules_history.json?service=files"


def text(condition):
    return (
        "rules_version = '2';\n"
        f"service firebase.storage {{ match /b/{{bucket}}/o/{{file=**}} {{ allow get: if {condition}; }} }}\n"
    )


OPEN, CLOSED = text("request.auth != null"), text("request.auth.uid == 'ann'")


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "storage.rules").write_text(CLOSED)
    (tmp_path / "open.rules").write_text(OPEN)
    return tmp_path


def start(folder, *flags):
    return Hearth(*flags, data=folder / "data", log=folder / "log")


def rules(server, folder, *arguments, code=0):
    done = hearth(server, "rules", *arguments, folder=folder, USER="ann")
    assert done.returncode == code, done.stderr.decode()
    return done.stdout.decode() if code == 0 else done.stderr.decode()


def reads(server, uid):
    """Whether a user may read an object; the rules decide before it is looked for."""
    return server.get(place("a.txt"), headers=signed_in(uid)).status != 403


def put(server, rules, **parameters):
    more = "".join(f"&{name}={value}" for name, value in parameters.items())
    return server.request("PUT", SETTINGS + more, raw=rules.encode(), headers=OWNER)


def test_published_rules_stand_before_the_file_and_outlive_the_server(folder):
    flags = ["--files-rules", str(folder / "storage.rules")]
    with start(folder, *flags) as server:
        assert reads(server, "ann") and not reads(server, "bob")
        pushed = rules(server, folder, "push", "open.rules", "--author", "ann")
        assert pushed.startswith(f"pushed open.rules: version 1 is in force at {server.address}")
        assert "storage.rules is not used ('hearth rules detach --files' goes back to it)" in pushed
        assert reads(server, "bob")
        # The rules of the database are others, with a history of their own.
        assert json.loads(rules(server, folder, "history", "--json"))["versions"] == []
    with start(folder, *flags) as server:
        assert reads(server, "bob")
        server.await_log("rules for files in force: version 1 of its own, put in force at ")
        server.await_log(f"{flags[1]} is not used by buckets, which have rules of their own (version 1)")
        # The file is read again, and changes nothing for now.
        draft = folder / "draft"
        draft.write_text(text("false"))
        draft.rename(folder / "storage.rules")
        server.await_log("rules for files read again")
        assert reads(server, "bob")
        assert rules(server, folder, "pull", "--files") == OPEN
        detached = rules(server, folder, "detach", "--files", "--author", "ann")
        assert detached.startswith(f"detached: version 2 is in force at {server.address}; it was 1 (by ann, ")
        assert f"; in force: the server's file {flags[1]}" in detached
        assert not reads(server, "ann")
        back = rules(server, folder, "rollback", "1", "--files", "--author", "ann")
        assert back.startswith("rolled back to version 1 (by ann, ") and reads(server, "bob")
        table = rules(server, folder, "history", "--files").splitlines()
        assert [line.split()[0] for line in table] == ["version", "3", "2", "1", "in"]
        assert "ann (rollback to 1)" in table[1] and "detached" in table[2]
        rules(server, folder, "pull", "--files", "--version", "1", "--output", "pulled.rules")
        assert (folder / "pulled.rules").read_text() == OPEN


def test_the_addresses_of_rules_take_those_for_files(folder):
    with start(folder) as server:
        missing = server.get(SETTINGS, headers=OWNER)
        assert (missing.status, missing.json["error"]) == (404, "There are no rules for files: everything is allowed.")
        assert put(server, CLOSED, dryRun="true").status == 200 and reads(server, "bob")
        assert put(server, CLOSED, expectedVersion=1).json["error"] == "The file service has no version of its rules."
        answer = put(server, CLOSED, author="ann", expectedVersion=0)
        assert (answer.status, answer.headers["Rules-Version"], answer.json) == (200, "1", {"status": "ok"})
        assert reads(server, "ann") and not reads(server, "bob")
        # The same text again is no new version.
        assert put(server, CLOSED).headers["Rules-Version"] == "1"
        late = put(server, OPEN, expectedVersion=0)
        assert (late.status, late.json["number"], late.json["author"]) == (412, 1, "ann")
        shown = server.get(SETTINGS, headers=OWNER)
        assert (shown.text, shown.headers["Content-Type"]) == (CLOSED, "text/plain; charset=utf-8")
        history = server.get(HISTORY, headers=OWNER).json
        assert (history["service"], history["withoutOwn"]) == ("files", {"source": "open"})
        [version] = history["versions"]
        assert (version["number"], version["author"], version["inForce"], version["bytes"]) == (1, "ann", True, len(CLOSED))
        assert server.get("/.settings/rules_history/1.json?service=files", headers=OWNER).text == CLOSED
        assert server.get("/.settings/rules_history/2.json?service=files", headers=OWNER).status == 404
        assert server.get("/.settings/rules.json?service=file", headers=OWNER).status == 400


def test_rules_that_do_not_load_change_nothing(folder):
    with start(folder) as server:
        answer = put(server, text("stranger"))
        [error] = answer.json["errors"]
        assert (answer.status, error["line"], error["message"]) == (400, 2, "Unknown name 'stranger'.")
        assert put(server, '{"rules":{}}').status == 400
        assert reads(server, "bob") and server.get(HISTORY, headers=OWNER).json["versions"] == []
        (folder / "bad.rules").write_text(text("stranger"))
        assert "bad.rules:2:74: error: Unknown name 'stranger'." in rules(server, folder, "push", "bad.rules", code=1)


def test_only_an_administrator_sees_and_changes_them(folder):
    with Hearth("--files-bucket", BUCKET, dev=False, data=folder / "data") as server:
        admin = {"Authorization": f"Bearer {(folder / 'data' / 'admin-secret').read_text().strip()}"}
        for method, raw in [("GET", None), ("PUT", OPEN.encode()), ("DELETE", None)]:
            assert server.request(method, SETTINGS, raw=raw).status == 401
        assert server.request("GET", HISTORY).status == 401
        missing = server.get(SETTINGS, headers=admin)
        assert (missing.status, missing.json["error"]) == (404, "There are no rules for files: everything is denied.")
        assert server.request("PUT", SETTINGS, raw=OPEN.encode(), headers=admin).status == 200
        newest = server.get("/.inspect/audit.json", headers=admin).json["entries"][0]
        assert newest["what"] == "the rules for files are replaced" and newest["details"]["version"] == "1"


def test_objects_that_are_removed_leave_the_rules(folder):
    with start(folder) as server:
        assert upload(server, "a.txt", b"hello", headers=OWNER).status == 200
        assert put(server, CLOSED).status == 200
        assert server.request("POST", "/internal/reset", {}).status == 200
        assert server.get(place("a.txt"), headers=OWNER).status == 404
        assert not reads(server, "bob")
        assert server.get("/.settings/rules.json?service=files", headers=OWNER).text == CLOSED
    with start(folder) as server:
        assert not reads(server, "bob")
