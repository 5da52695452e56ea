"""Shadow rules for files: tried on live requests beside those in force, counted and listed, without effect."""

import json
import time

import pytest
from command_line import hearth
from file_requests import BUCKET, Upload, place, signed_in, upload
from hearth_server import Hearth

OWNER = {"Authorization": "Bearer owner"}
REPORT = "/.inspect/shadow.json?service=files"
LIVE = """rules_version = '2';
service firebase.storage {
  match /b/{bucket}/o {
    match /open/{file=**} { allow read, create: if true; }
    match /own/{uid}/{file} { allow get, update: if request.auth.uid == uid; }
  }
}
"""
# Takes small files under 'open' of who is signed in, lists nothing, and lets anybody read 'own'.
SHADOW = """rules_version = '2';
service firebase.storage {
  match /b/{bucket}/o {
    match /open/{file=**} {
      allow get: if true;
      allow create: if request.auth != null && request.resource.size < 10;
    }
    match /own/{uid}/{file} { allow get, delete: if true; }
  }
}
"""


def setting(server, method, name, body=None, raw=None, head=OWNER):
    return server.request(method, f"/.settings/{name}.json?service=files", body, headers=head, raw=raw)


def stage(server, text):
    """Stores rules and labels them `canary`."""
    stored = setting(server, "POST", "rulesets", raw=text.encode()).json["id"]
    assert setting(server, "PUT", "ruleset_labels", {"canary": stored}).status == 200
    return stored


def report(server):
    answer = server.get(REPORT, headers=OWNER)
    assert answer.status == 200, answer.text
    return answer.json


def totals(server):
    found = report(server)
    return tuple(found[name] for name in ["judged", "agreed", "newlyAllowed", "newlyRefused"])


def kinds(server):
    """What differs: operation, decision, the deciding statements, how often."""
    statement = lambda rule: rule and f"{rule['kind']} {rule['path']}"
    return {
        (each["operation"], each["verdict"], statement(each["live"]), statement(each["shadow"])): each["count"]
        for each in report(server)["differences"]
    }


@pytest.fixture
def staged(durable):
    assert setting(durable, "PUT", "rules", raw=LIVE.encode()).status == 200
    durable.canary = stage(durable, SHADOW)
    return durable


def differ(server):
    """A list, which is allowed now and would not be."""
    assert server.get(f"/v0/b/{BUCKET}/o?prefix=open/&delimiter=/").status == 200


# Counting


def test_without_shadow_rules_nothing_is_counted(dev):
    before = report(dev)
    assert (before["service"], before["canary"], before["judged"], before["differences"]) == ("files", None, 0, [])
    assert upload(dev, "open/a.txt", b"hello").status == 200
    assert totals(dev) == (0, 0, 0, 0)


def test_requests_are_decided_by_both_and_answered_by_those_in_force(staged):
    before = int(time.time() * 1000)
    assert upload(staged, "open/a.txt", b"hello", headers=signed_in("ann")).status == 200
    assert upload(staged, "open/b.txt", b"hello").status == 200
    assert upload(staged, "open/c.txt", b"hello hello", headers=signed_in("ann")).status == 200
    assert staged.get(place("open/a.txt")).status == 200
    assert staged.get(place("open/a.txt") + "?alt=media").text == "hello"
    differ(staged)
    assert staged.get(place("own/ann/a.txt")).status == 403
    assert staged.get(place("own/ann/a.txt") + "?alt=media", headers=signed_in("bob")).status == 403
    # Allowed by both, and not there.
    assert staged.get(place("own/ann/a.txt"), headers=signed_in("ann")).status == 404
    patched = staged.request("PATCH", place("own/ann/a.txt"), {"metadata": {"k": "v"}}, headers=signed_in("ann"))
    assert patched.status == 404
    assert staged.request("DELETE", place("own/ann/a.txt"), headers=signed_in("ann")).status == 403
    found = report(staged)
    assert found["canary"] == staged.canary and found["since"] <= before + 1000
    assert totals(staged) == (11, 4, 3, 4)
    assert kinds(staged) == {
        ("create", "newlyRefused", "allow read, create /b/{bucket}/o/open/{file=**}", None): 2,
        ("list", "newlyRefused", "allow read, create /b/{bucket}/o/open/{file=**}", None): 1,
        ("get", "newlyAllowed", None, "allow get, delete /b/{bucket}/o/own/{uid}/{file}"): 2,
        ("update", "newlyRefused", "allow get, update /b/{bucket}/o/own/{uid}/{file}", None): 1,
        ("delete", "newlyAllowed", None, "allow get, delete /b/{bucket}/o/own/{uid}/{file}"): 1,
    }
    read = next(each for each in found["differences"] if each["operation"] == "get")
    assert (read["shadow"]["source"], read["shadow"]["line"], read["shadow"]["column"]) == ("true", 8, 31)
    assert [each["path"] for each in read["examples"]] == [f"{BUCKET}/own/ann/a.txt"] * 2
    assert [each["uid"] for each in read["examples"]] == ["bob", None]
    assert all(each["time"] >= before for each in read["examples"])


def test_an_upload_counts_once(staged):
    begun = Upload(staged, "open/r.txt", 11, headers=signed_in("ann"))
    assert begun.started.status == 200 and totals(staged) == (0, 0, 0, 0)
    assert begun.send("upload", 0, b"hello ").status == 200
    assert totals(staged) == (0, 0, 0, 0)
    assert begun.send("upload, finalize", 6, b"hello").status == 200
    assert totals(staged) == (1, 0, 0, 1)
    # Refused at its start.
    assert Upload(staged, "other/r.txt", 11, headers=signed_in("ann")).started.status == 403
    assert totals(staged) == (2, 1, 0, 1)


def test_what_an_upload_will_be_is_not_known_at_its_start(durable):
    assert setting(durable, "PUT", "rules", raw=LIVE.replace("true", "false").encode()).status == 200
    known = SHADOW.replace("size < 10", "size > 3")
    stage(durable, known)
    assert Upload(durable, "open/r.txt", 5, headers=signed_in("ann")).started.status == 403
    assert totals(durable) == (1, 0, 1, 0)
    # Of what it looks at nothing is there yet: whether it allows this is not known.
    stage(durable, SHADOW.replace("size < 10", "md5Hash == 'x'"))
    assert Upload(durable, "open/r.txt", 5, headers=signed_in("ann")).started.status == 403
    assert totals(durable) == (1, 0, 0, 0) and report(durable)["undecided"] == 1


def test_administrators_and_holders_of_an_address_are_decided_by_neither(staged):
    assert upload(staged, "closed/a.txt", b"hello", headers=OWNER).status == 200
    token = staged.get(place("closed/a.txt"), headers=OWNER).json["downloadTokens"]
    assert staged.get(place("closed/a.txt") + f"?alt=media&token={token}").text == "hello"
    assert staged.get(f"/storage/v1/b/{BUCKET}/o/closed%2Fa.txt").status == 200
    assert totals(staged) == (0, 0, 0, 0)


def test_they_read_the_tree(durable):
    assert setting(durable, "PUT", "rules", raw=LIVE.encode()).status == 200
    stage(durable, SHADOW.replace("allow get: if true", "allow get: if database.get(/open) == true"))
    for is_open, found in [(True, (1, 1, 0, 0)), (False, (2, 1, 0, 1))]:
        assert durable.put("/open.json", is_open).status == 200
        assert durable.get(place("open/a.txt")).status == 404
        assert totals(durable) == found


def test_without_rules_they_are_compared_with_what_counts_then(durable, tmp_path):
    stage(durable, SHADOW)
    assert upload(durable, "open/a.txt", b"hello").status == 200
    assert upload(durable, "open/a.txt", b"hello", headers=signed_in("ann")).status == 200
    begun = Upload(durable, "open/r.txt", 5)
    assert begun.send("upload, finalize", 0, b"hello").status == 200
    assert totals(durable) == (3, 1, 0, 2)
    assert kinds(durable) == {("create", "newlyRefused", None, None): 2}
    shown = hearth(durable, "rules", "shadow", "status", "--files")
    assert "  in force  no rules: everything is allowed\n  shadow    nothing grants it\n" in shown.stdout.decode()
    with Hearth("--files-bucket", BUCKET, dev=False, data=tmp_path / "closed") as server:
        head = {"Authorization": f"Bearer {(tmp_path / 'closed' / 'admin-secret').read_text().strip()}"}
        stored = setting(server, "POST", "rulesets", raw=SHADOW.encode(), head=head).json["id"]
        assert setting(server, "PUT", "ruleset_labels", {"canary": stored}, head=head).status == 200
        assert server.get(place("open/a.txt")).status == 403
        assert server.get(place("other/a.txt")).status == 403
        # Refused before anything of it is known.
        assert Upload(server, "open/r.txt", 5).started.status == 403
        found = server.get(REPORT, headers=head).json
        assert (found["judged"], found["newlyAllowed"], found["agreed"]) == (2, 1, 1)
        assert found["differences"][0]["live"] is None
        for method, address in [("GET", REPORT), ("DELETE", REPORT), ("GET", "/.settings/rulesets.json?service=files")]:
            assert server.request(method, address).status == 401
        newest = server.get("/.inspect/audit.json", headers=head).json["entries"][0]
        assert newest["what"] == "a setting of the rules for files is changed"
        assert newest["details"]["setting"] == "/.settings/ruleset_labels.json"


def test_a_bucket_with_a_file_of_its_own_is_left_out(tmp_path):
    (tmp_path / "own.rules").write_text(LIVE)
    with Hearth("--files-bucket", f"own={tmp_path / 'own.rules'}", data=tmp_path / "data", log=tmp_path / "log") as server:
        assert setting(server, "PUT", "rules", raw=LIVE.encode()).status == 200
        stage(server, SHADOW)
        assert server.get("/v0/b/own/o?prefix=open/&delimiter=/").status == 200
        assert totals(server) == (0, 0, 0, 0)
        differ(server)
        assert totals(server) == (1, 0, 0, 1)
        # Another file of that bucket is none of theirs.
        (tmp_path / "draft").write_text(LIVE + "\n")
        (tmp_path / "draft").rename(tmp_path / "own.rules")
        server.await_log("rules for files read again")
        assert totals(server) == (1, 0, 0, 1)


def test_examples_and_kinds_are_bounded(durable):
    blocks = "".join(
        f"    match /k{number:03}/{{file}} {{ allow get: if true; }}\n" for number in range(130)
    )
    live = f"rules_version = '2';\nservice firebase.storage {{\n  match /b/{{bucket}}/o {{\n{blocks}  }}\n}}\n"
    assert setting(durable, "PUT", "rules", raw=live.encode()).status == 200
    stage(durable, "service firebase.storage { match /b/{bucket}/o { } }")
    for number in range(130):
        assert durable.get(place(f"k{number:03}/x")).status == 404
    for number in range(30):
        assert durable.get(place(f"k000/{'n' * 700}{number}")).status == 404
    found = report(durable)
    assert totals(durable) == (160, 0, 0, 160)
    assert len(found["differences"]) == 100 and found["unlisted"] == 30
    most = found["differences"][0]
    assert most["count"] == 31 and len(most["examples"]) == 20
    assert all(len(example["path"]) <= 259 for example in most["examples"])


def test_counts_begin_anew_with_either_ruleset_and_on_request(staged):
    def counted():
        differ(staged)
        assert totals(staged)[3] == 1

    counted()
    assert staged.request("DELETE", REPORT, headers=OWNER).status == 200
    assert totals(staged) == (0, 0, 0, 0)
    counted()
    setting(staged, "PUT", "rules", raw=LIVE.encode() + b"\n")
    assert totals(staged) == (0, 0, 0, 0)
    counted()
    again = stage(staged, SHADOW)
    assert again != staged.canary and totals(staged) == (0, 0, 0, 0)
    counted()
    # The same label again, a ruleset that is only stored, and the rules of a database change nothing.
    setting(staged, "PUT", "ruleset_labels", {"canary": again})
    setting(staged, "POST", "rulesets", raw=LIVE.encode())
    staged.request("PUT", "/.settings/rules.json", {"rules": {".read": True}}, headers=OWNER)
    assert totals(staged)[3] == 1
    setting(staged, "DELETE", "rules")
    assert totals(staged) == (0, 0, 0, 0)
    setting(staged, "PUT", "ruleset_labels", {})
    found = report(staged)
    assert found["canary"] is None and found["judged"] == 0


def test_they_survive_kill_and_restart_and_backup_and_their_counts_do_not(staged, tmp_path):
    differ(staged)
    staged.kill()
    staged.start()
    assert report(staged)["canary"] == staged.canary
    assert totals(staged) == (0, 0, 0, 0)
    differ(staged)
    assert totals(staged) == (1, 0, 0, 1)
    assert staged.request("POST", "/internal/reset", {}).status == 200
    assert staged.stop() == 0
    staged.start()
    differ(staged)
    assert totals(staged) == (1, 0, 0, 1)
    copy = ["--files", tmp_path / "files"]
    assert hearth(staged, "backup", tmp_path / "file", *copy).returncode == 0
    restored = hearth(None, "restore", tmp_path / "file", "--data-dir", tmp_path / "new", *copy)
    assert restored.returncode == 0, restored.stderr
    with Hearth(data=tmp_path / "new") as server:
        assert report(server)["canary"] == staged.canary
        differ(server)
        assert totals(server) == (1, 0, 0, 1)


def test_stored_rulesets_are_listed_and_bounded(durable):
    stored = stage(durable, SHADOW)
    assert setting(durable, "GET", "ruleset_labels").json == {"canary": stored}
    kept = setting(durable, "GET", f"rulesets/{stored}").json
    assert (kept["id"], kept["source"]) == (stored, SHADOW)
    # Those of a database are others.
    assert durable.get("/.settings/rulesets.json", headers=OWNER).json == {"rulesets": []}
    assert durable.get("/.settings/ruleset_labels.json", headers=OWNER).json == {}
    for _ in range(101):
        assert setting(durable, "POST", "rulesets", raw=LIVE.encode()).status == 200
    listed = [each["id"] for each in setting(durable, "GET", "rulesets").json["rulesets"]]
    # The oldest without a label have gone.
    assert len(listed) == 100 and listed[0] == stored and listed == sorted(listed)
    assert report(durable)["canary"] == stored


def test_what_is_no_ruleset_is_refused(staged):
    broken = setting(staged, "POST", "rulesets", raw=SHADOW.replace("uid", "user", 1).replace("size", "?").encode())
    assert broken.status == 400 and broken.json["errors"]
    assert setting(staged, "POST", "rulesets", raw=b'{"rules":{}}').status == 400
    assert setting(staged, "GET", "rulesets/none").status == 404
    for body, text in [
        ({"canary": "none"}, "There is no stored ruleset"), ({"canary": "a/b"}, "There is no stored ruleset"),
        ({"stable": staged.canary}, "have no label 'stable'"), ({"other": "x"}, "'ruleset_labels' must be"),
        (5, "'ruleset_labels' must be"),
    ]:
        answer = setting(staged, "PUT", "ruleset_labels", body)
        assert answer.status == 400 and text in answer.json["error"], answer.text
    differ(staged)
    assert report(staged)["canary"] == staged.canary and totals(staged) == (1, 0, 0, 1)


def test_rules_that_take_too_much_are_left_undecided(durable):
    assert setting(durable, "PUT", "rules", raw=LIVE.encode()).status == 200
    slow = " && ".join(["[1, 2, 3].hasAll([1, 2, 3])"] * 60)
    calls = "".join(f"    function f{number}() {{ return f{number - 1}() && f{number - 1}(); }}\n" for number in range(1, 8))
    text = SHADOW.replace("    match /open", f"    function f0() {{ return {slow}; }}\n{calls}    match /open", 1)
    stage(durable, text.replace("allow get: if true", "allow get: if f7()", 1))
    assert durable.get(place("open/a.txt")).status == 404
    assert totals(durable) == (1, 0, 0, 0) and report(durable)["undecided"] == 1
    differ(durable)
    assert totals(durable) == (2, 0, 0, 1)


def test_metrics_count_what_differs(staged):
    differ(staged)
    staged.get(place("own/ann/a.txt"))
    staged.get(place("open/a.txt"))
    lines = staged.get("/.metrics", headers=OWNER).text.splitlines()
    for outcome in ["agreed", "newly_allowed", "newly_refused"]:
        assert f'hearth_file_shadow_decisions_total{{verdict="{outcome}"}} 1' in lines


# Commands


def run(server, *arguments, code=0, **options):
    result = hearth(server, "rules", "shadow", *arguments, **options)
    assert result.returncode == code, (result.stdout, result.stderr)
    return result.stdout.decode(), result.stderr.decode()


def test_shadow_commands(durable, tmp_path):
    assert setting(durable, "PUT", "rules", raw=LIVE.encode()).status == 200
    (tmp_path / "new.rules").write_text(SHADOW)
    (tmp_path / "bad.rules").write_text(SHADOW.replace("request.auth", "stranger"))
    _, errors = run(durable, "status", "--files", code=2)
    assert "has no shadow rules for files" in errors
    _, errors = run(durable, "push", "bad.rules", code=1, folder=tmp_path)
    assert "bad.rules:6:24: error: Unknown name 'stranger'." in errors
    output, _ = run(durable, "push", "new.rules", folder=tmp_path)
    assert "tried as shadow rules" in output and "'hearth rules shadow status --files' shows" in output
    canary = setting(durable, "GET", "ruleset_labels").json["canary"]
    assert canary in output
    output, _ = run(durable, "status", "--files")
    assert "decided 0: 0 agreed" in output
    # Of a database there are none.
    run(durable, "status", code=2)
    for name in ["a", "b"]:
        upload(durable, f"open/{name}.txt", b"hello")
    durable.get(place("own/ann/a.txt"), headers=signed_in("bob"))
    lines = run(durable, "status", "--files", code=1)[0].splitlines()
    assert lines[1] == "decided 3: 0 agreed, 1 newly allowed, 2 newly refused"
    assert lines[3] == "newly refused: create, 2 times"
    assert lines[4] == "  in force  allow read, create /b/{bucket}/o/open/{file=**} (4:29): true"
    assert lines[5] == "  shadow    nothing grants it"
    assert lines[6].endswith(f"Z  {BUCKET}/open/b.txt  (no user)")
    assert lines[9] == "newly allowed: get, once"
    assert lines[11] == "  shadow    allow get, delete /b/{bucket}/o/own/{uid}/{file} (8:31): true"
    assert lines[12].endswith(f"  {BUCKET}/own/ann/a.txt  bob")
    assert json.loads(run(durable, "status", "--files", "--json", code=1)[0]) == report(durable)
    run(durable, "reset", "--files")
    run(durable, "status", "--files")
    output, _ = run(durable, "stop", "--files")
    assert canary in output and setting(durable, "GET", "ruleset_labels").json == {}
    output, _ = run(durable, "stop", "--files")
    assert "has no shadow rules" in output
