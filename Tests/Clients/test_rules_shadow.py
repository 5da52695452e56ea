"""Shadow rules: tried on live traffic beside those in force, counted and listed, without effect."""

import json
import time

import pytest

from command_line import hearth
from hearth_server import Hearth
from signing import unsigned
from wire_client import Wire

OWNER = {"Authorization": "Bearer owner"}
LIVE = """{"rules": {
  "open": {".read": true, ".write": true},
  "own": {"$u": {".read": "auth.uid === $u", ".write": "auth.uid === $u"}}
}}"""
# Refuses signed-out writes and negative numbers under 'open', and lets anybody read 'own'.
SHADOW = """{"rules": {
  "open": {".read": true, ".write": "auth != null",
    "$k": {".validate": "newData.isNumber() && newData.val() >= 0"}},
  "own": {"$u": {".read": true, ".write": "auth.uid === $u"}}
}}"""


def setting(server, method, name, body=None, ns="demo", raw=None):
    return server.request(method, f"/.settings/{name}.json?ns={ns}", body, headers=OWNER, raw=raw)


def stage(server, text, ns="demo"):
    """Stores rules and labels them `canary`."""
    stored = setting(server, "POST", "rulesets", ns=ns, raw=text.encode()).json["id"]
    assert setting(server, "PUT", "ruleset_labels", {"canary": stored}, ns).status == 200
    return stored


def shadow(server, ns="demo"):
    return server.get(f"/.inspect/shadow.json?ns={ns}", headers=OWNER).json


def totals(server, ns="demo"):
    report = shadow(server, ns)
    return tuple(report[name] for name in ["judged", "agreed", "newlyAllowed", "newlyRefused"])


def kinds(server, ns="demo"):
    """What differs: operation, decision, the deciding rules by path, how often."""
    return {
        (
            difference["operation"],
            difference["verdict"],
            difference["live"] and difference["live"]["path"],
            difference["shadow"] and difference["shadow"]["path"],
        ): difference["count"]
        for difference in shadow(server, ns)["differences"]
    }


@pytest.fixture
def staged(durable):
    assert setting(durable, "PUT", "rules", raw=LIVE.encode()).status == 200
    durable.canary = stage(durable, SHADOW)
    return durable


def user(name):
    """An unsigned token, which development servers take."""
    return unsigned({"sub": name, "user_id": name, "iat": 0, "exp": 3600})


# Counting


def test_without_shadow_rules_there_is_nothing_to_tell(dev):
    report = shadow(dev)
    assert report["canary"] is None and report["judged"] == 0 and report["differences"] == []
    dev.put("/a.json?ns=demo", 1)
    assert totals(dev) == (0, 0, 0, 0)


def test_rest_requests_are_decided_by_both(staged):
    before = int(time.time() * 1000)
    assert staged.put("/open/a.json?ns=demo", 1).status == 200
    assert staged.put("/open/a.json?ns=demo&auth=" + user("ann"), 2).status == 200
    assert staged.put("/open/b.json?ns=demo&auth=" + user("ann"), -2).status == 200
    assert staged.get("/own/ann.json?ns=demo").status == 401
    assert staged.get("/own/ann.json?ns=demo&auth=" + user("bob")).status == 401
    assert staged.get("/own/ann.json?ns=demo&auth=" + user("ann")).status == 200
    assert staged.put("/own/ann.json?ns=demo", 1).status == 401
    report = shadow(staged)
    assert report["canary"] == staged.canary and report["since"] <= before + 1000
    assert totals(staged) == (7, 3, 2, 2)
    assert kinds(staged) == {
        ("set", "newlyRefused", "/open", None): 1,
        ("set", "newlyRefused", "/open", "/open/$k"): 1,
        ("read", "newlyAllowed", None, "/own/$u"): 2,
    }
    most = report["differences"][0]
    assert most["count"] == 2 and most["shadow"]["kind"] == "read" and most["live"] is None
    assert most["shadow"]["source"] == "true" and most["shadow"]["line"] == 4
    assert [example["path"] for example in most["examples"]] == ["/own/ann", "/own/ann"]
    assert [example["uid"] for example in most["examples"]] == ["bob", None]
    assert all(example["time"] >= before for example in most["examples"])


def test_admins_are_decided_by_neither(staged):
    assert staged.put("/open/a.json?ns=demo", "text", headers=OWNER).status == 200
    assert staged.get("/own.json?ns=demo", headers=OWNER).status == 200
    assert totals(staged) == (0, 0, 0, 0)


def test_the_wire_is_decided_too(staged):
    with Wire(staged.port) as client:
        assert client.request("q", p="/own/ann", h="")[0]["s"] == "permission_denied"
        assert client.request("g", p="/own/bob", q={})[0]["s"] == "permission_denied"
        assert client.request("q", p="/open", h="")[0]["s"] == "ok"
        body, pushes = client.request("m", p="/open", d={"a": 1, "b": "x"})
        assert body["s"] == "ok" and pushes[0]["b"]["d"] == {"a": 1, "b": "x"}
        assert client.request("o", p="/open/gone", d="left")[0]["s"] == "ok"
    with Wire(staged.port) as client:
        # The other session's write has run: it is over before a later one is served.
        body, pushes = client.request("q", p="/open/gone", h="")
        while not pushes or pushes[-1]["b"]["d"] != "left":
            pushes.append(client.push())
    found = kinds(staged)
    assert found[("listen", "newlyAllowed", None, "/own/$u")] == 1
    assert found[("read", "newlyAllowed", None, "/own/$u")] == 1
    assert found[("update", "newlyRefused", "/open", None)] == 1
    assert found[("on-disconnect", "newlyRefused", "/open", None)] == 1
    assert found[("at-disconnect", "newlyRefused", "/open", None)] == 1
    assert len(found) == 5


def test_examples_and_kinds_are_bounded(dev):
    rules = {f"k{number:03}": {".write": True} for number in range(130)}
    setting(dev, "PUT", "rules", {"rules": rules})
    stage(dev, '{"rules":{}}')
    for number in range(130):
        assert dev.put(f"/k{number:03}/x.json?ns=demo", 1).status == 200
    for number in range(30):
        assert dev.put(f"/k000/{'n' * 700}{number}.json?ns=demo", 1).status == 200
    report = shadow(dev)
    assert totals(dev) == (160, 0, 0, 160)
    # All rules of one line, each of its own kind by its column.
    assert len(report["differences"]) == 100 and report["unlisted"] == 30
    most = report["differences"][0]
    assert most["count"] == 31 and len(most["examples"]) == 20
    assert all(len(example["path"]) <= 259 for example in most["examples"])


def test_counts_begin_anew_with_either_ruleset_and_on_request(staged):
    def differ():
        staged.put("/open/a.json?ns=demo", 1)
        assert totals(staged)[3] == 1

    differ()
    assert staged.request("DELETE", "/.inspect/shadow.json?ns=demo", headers=OWNER).status == 200
    assert totals(staged) == (0, 0, 0, 0)
    differ()
    setting(staged, "PUT", "rules", raw=LIVE.encode() + b" ")
    assert totals(staged) == (0, 0, 0, 0)
    differ()
    stage(staged, SHADOW)
    assert totals(staged) == (0, 0, 0, 0)
    differ()
    # Storing something else changes neither.
    setting(staged, "POST", "rulesets", raw=b'{"rules":{}}')
    assert totals(staged)[3] == 1
    setting(staged, "PUT", "ruleset_labels", {})
    report = shadow(staged)
    assert report["canary"] is None and report["judged"] == 0


def test_shadow_rules_survive_kill_and_restart_and_backup(staged, tmp_path):
    staged.put("/open/a.json?ns=demo", 1)
    staged.kill()
    staged.start()
    assert shadow(staged)["canary"] == staged.canary
    assert totals(staged) == (0, 0, 0, 0)
    assert staged.put("/open/a.json?ns=demo", 1).status == 200
    assert totals(staged) == (1, 0, 0, 1)
    assert staged.stop() == 0
    staged.start()
    assert staged.put("/open/a.json?ns=demo", 1).status == 200
    assert totals(staged) == (1, 0, 0, 1)
    assert hearth(staged, "backup", tmp_path / "file").returncode == 0
    assert hearth(None, "restore", tmp_path / "file", "--data-dir", tmp_path / "new").returncode == 0
    with Hearth(data=tmp_path / "new") as server:
        assert shadow(server)["canary"] == staged.canary
        server.put("/open/a.json?ns=demo", 1)
        assert totals(server) == (1, 0, 0, 1)


def test_databases_are_apart(staged):
    setting(staged, "PUT", "rules", raw=LIVE.encode(), ns="other")
    staged.put("/open/a.json?ns=other", 1)
    assert totals(staged, "other") == (0, 0, 0, 0) and shadow(staged, "other")["canary"] is None
    assert totals(staged) == (0, 0, 0, 0)


def test_the_report_is_for_admins(tmp_path):
    with Hearth(data=tmp_path / "data", dev=False) as server:
        assert server.get("/.inspect/shadow.json").status == 401
        assert server.request("DELETE", "/.inspect/shadow.json").status == 401
        assert server.put("/.inspect/shadow.json", 1).status == 405


def test_metrics_count_what_differs(staged):
    staged.put("/open/a.json?ns=demo", 1)
    staged.get("/own/a.json?ns=demo")
    staged.get("/open.json?ns=demo")
    lines = staged.get("/.metrics", headers=OWNER).text.splitlines()
    for outcome, count in [("agreed", 1), ("newly_allowed", 1), ("newly_refused", 1)]:
        labels = f'database="demo",verdict="{outcome}"'
        assert f"hearth_shadow_decisions_total{{{labels}}} {count}" in lines


def test_rules_that_take_too_many_steps_delay_no_client(durable):
    setting(durable, "PUT", "rules", raw=b'{"rules":{".read":true,".write":true}}')
    slow = "'" + "a" * 2000 + "b'.matches(/^(a|aa)*(a|aa)*(a|aa)*$/)"
    rules = {"rules": {".write": " || ".join([slow] * 20), ".read": True}}
    stage(durable, json.dumps(rules))
    for number in range(5):
        assert durable.put(f"/n{number}.json?ns=demo", number).status == 200
    # What they would come to is not known.
    assert totals(durable) == (5, 0, 0, 0) and shadow(durable)["undecided"] == 5
    assert durable.get("/n4.json?ns=demo").json == 4


def test_long_rules_are_labelled_too(durable):
    many = {f"k{number:04}": {".write": f"auth.uid === 'u{number}'"} for number in range(300)}
    long = {"rules": {**many, ".read": True}}
    stored = [
        setting(durable, "POST", "rulesets", {**long, "rules": {**long["rules"], ".write": open}}).json["id"]
        for open in [True, False]
    ]
    labels = {"stable": stored[0], "canary": stored[1]}
    assert setting(durable, "PUT", "ruleset_labels", labels).status == 200
    assert durable.put("/a.json?ns=demo", 1).status == 200
    assert totals(durable) == (1, 0, 0, 1)
    durable.kill()
    durable.start()
    assert shadow(durable)["canary"] == stored[1]
    assert setting(durable, "PUT", "ruleset_labels", {"stable": stored[1]}).status == 200
    assert durable.put("/a.json?ns=demo", 2).status == 401


# Commands


def run(server, *arguments, code=0, **options):
    result = hearth(server, "rules", "shadow", *arguments, "--instance", "demo", **options)
    assert result.returncode == code, (result.stdout, result.stderr)
    return result.stdout.decode(), result.stderr.decode()


def test_shadow_commands(durable, tmp_path):
    (tmp_path / "new.json").write_text(SHADOW)
    (tmp_path / "bad.json").write_text('{"rules": {".read": "nope"}}')
    stored = setting(durable, "POST", "rulesets", raw=LIVE.encode()).json["id"]
    assert setting(durable, "PUT", "ruleset_labels", {"stable": stored}).status == 200
    _, errors = run(durable, "status", code=2)
    assert "has no shadow rules" in errors
    _, errors = run(durable, "push", "bad.json", code=1, folder=tmp_path)
    assert "bad.json:1:22: error: Unknown variable 'nope'." in errors
    output, _ = run(durable, "push", "new.json", folder=tmp_path)
    assert "tried as shadow rules" in output
    labels = setting(durable, "GET", "ruleset_labels").json
    assert labels["stable"] == stored and labels["canary"] in output
    output, _ = run(durable, "status")
    assert "decided 0: 0 agreed" in output
    durable.put("/open/a.json?ns=demo&auth=" + user("ann"), "x")
    durable.put("/open/b.json?ns=demo&auth=" + user("ann"), "x")
    durable.get("/own/ann.json?ns=demo")
    output, _ = run(durable, "status", code=1)
    lines = output.splitlines()
    assert lines[1] == "decided 3: 0 agreed, 1 newly allowed, 2 newly refused"
    assert lines[3] == "newly refused: set, 2 times"
    assert lines[4] == "  in force  write /open (2:37): true"
    assert lines[5].startswith("  shadow    validate /open/$k (3:26): newData.isNumber()")
    assert lines[6].endswith("Z  /open/b  ann") and lines[7].endswith("Z  /open/a  ann")
    assert lines[9] == "newly allowed: read, once"
    assert lines[10] == "  in force  nothing grants it"
    assert lines[12].endswith("  /own/ann  (no user)")
    assert json.loads(run(durable, "status", "--json", code=1)[0]) == shadow(durable)
    run(durable, "reset")
    run(durable, "status")
    output, _ = run(durable, "stop")
    assert labels["canary"] in output
    assert setting(durable, "GET", "ruleset_labels").json == {"stable": stored}
    output, _ = run(durable, "stop")
    assert "has no shadow rules" in output
