"""What tags, settings and large answers of the REST API do under a real server: races, restarts, sizes."""

import json
import threading

import pytest

from hearth_server import Hearth

WANTS = {"X-Firebase-ETag": "true"}


def count_up(server, path, times, finished):
    """Adds 1 so many times, each on top of what is there."""
    answer = server.get(path, headers=WANTS)
    value, tag = answer.json, answer.headers["ETag"]
    done = 0
    while done < times:
        changed = {"n": (value or {"n": 0})["n"] + 1}
        answer = server.put(path, changed, headers={"if-match": tag})
        assert answer.status in (200, 412), answer.body
        done += answer.status == 200
        value, tag = answer.json, answer.headers["ETag"]
    finished.append(done)


def test_no_increment_is_lost_among_writers_with_tags(durable):
    finished = []
    writers = [
        threading.Thread(target=count_up, args=(durable, "/count.json", 15, finished)) for _ in range(4)
    ]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    assert finished == [15] * 4
    assert durable.get("/count.json").json == {"n": 60}
    durable.kill()
    durable.start()
    assert durable.get("/count.json").json == {"n": 60}


def test_a_large_node_is_compared_as_a_small_one(dev):
    value = {f"k{i:05}": {"n": i, "t": "é" * 10} for i in range(5_000)}
    written = dev.put("/large.json", value, headers=WANTS)
    tag = written.headers["ETag"]
    assert written.json == value
    read = dev.get("/large.json", headers=WANTS)
    assert read.headers["ETag"] == tag and read.json == value
    same = dev.get("/large.json", headers={"If-None-Match": tag})
    assert same.status == 304 and same.body == b"" and same.headers["ETag"] == tag
    dev.put("/large/k00001/n.json", -1)
    changed = dev.get("/large.json", headers={"If-None-Match": tag})
    assert changed.status == 200 and changed.headers["ETag"] != tag
    stale = dev.put("/large.json", 1, headers={"if-match": tag})
    assert stale.status == 412 and stale.headers["ETag"] == changed.headers["ETag"]
    assert stale.json == changed.json
    deleted = dev.request("DELETE", "/large.json", headers={"if-match": stale.headers["ETag"]})
    assert deleted.status == 200 and deleted.headers["ETag"] == "null_etag"


@pytest.mark.parametrize("count", [3, 20_000])
def test_a_script_has_the_whole_value_whatever_its_size(dev, count):
    value = {f"k{i:05}": i for i in range(count)}
    dev.put("/v.json?print=silent", value)
    script = dev.get("/v.json?callback=page.show")
    assert script.headers["Content-Type"] == "application/javascript; charset=utf-8"
    assert script.headers["X-Content-Type-Options"] == "nosniff"
    assert script.text.startswith("/**/page.show(") and script.text.endswith(");")
    assert json.loads(script.text[len("/**/page.show("):-2]) == value
    assert dev.get("/v.json?download=v.json").headers["Content-Disposition"] == (
        'attachment; filename="v.json"'
    )
    pretty = dev.get("/v.json?print=pretty&format=export")
    assert pretty.json == value and pretty.text.count("\n") == count + 2


def test_a_large_update_is_echoed_whole(dev):
    update = {f"c{i}/d": [i, {"x": "y" * 20}] for i in range(5_000)}
    assert dev.request("PATCH", "/u.json", update).json == update
    pretty = dev.request("PATCH", "/u.json?print=pretty", update)
    assert pretty.json == update and pretty.text.startswith('{\n  "c0/d" : [ 0, {\n    "x" : ')
    assert dev.request("PATCH", "/u.json?print=silent", update).status == 204


def test_a_read_that_takes_longer_than_its_timeout_is_refused(dev):
    value = {f"k{i:06}": {"n": i} for i in range(150_000)}
    assert dev.put("/large.json?print=silent", value).status == 204
    late = dev.get("/large.json?timeout=1ms")
    assert late.status == 400 and "timeout" in late.json["error"]
    # The connection and the server go on.
    assert dev.get("/large.json?timeout=15min").json == value
    assert dev.get("/large/k000001/n.json?timeout=1s").json == 1


def test_tools_that_delete_in_parts_are_reported_when_a_write_is_too_large(dev):
    part = {f"k{i}": "x" * (1 << 20) for i in range(9)}
    for name in "ab":
        assert dev.put(f"/{name}.json?print=silent", part).status == 204
    tiny = "print=silent&writeSizeLimit=tiny"
    refused = dev.request("PATCH", f"/.json?{tiny}", raw=b"null")
    assert refused.status == 400
    assert refused.json["error"] == (
        "Data to write exceeds the maximum size that can be modified with a single request."
    )
    assert dev.request("PATCH", f"/.json?{tiny}", {"a": None}).status == 204
    assert dev.request("PATCH", f"/.json?{tiny}", raw=b"null").status == 204
    assert dev.get("/.json?shallow=true&limitToFirst=1").json is None


def test_settings_survive_a_kill_and_belong_to_one_database(durable):
    rules = '{"rules":{ /* closed */ ".read":false,".write":false}}'
    stored = durable.request("POST", "/.settings/rulesets.json?ns=one", raw=rules.encode()).json["id"]
    durable.put("/.settings/defaultWriteSizeLimit.json?ns=one", "medium")
    durable.put("/.settings/strictTriggerValidation.json?ns=one", False)
    durable.put("/a.json?ns=one", 1)
    durable.put("/.settings/ruleset_labels.json?ns=one", {"stable": stored})
    durable.kill()
    durable.start()
    assert durable.get("/.settings/defaultWriteSizeLimit.json?ns=one").json == "medium"
    assert durable.get("/.settings/strictTriggerValidation.json?ns=one").json == {"value": False}
    assert durable.get("/.settings/ruleset_labels.json?ns=one").json == {"stable": stored}
    assert durable.get(f"/.settings/rulesets/{stored}.json?ns=one").json["source"] == rules
    assert durable.get("/.settings/rules.json?ns=one").text == rules
    assert durable.get("/.settings/rules.json?ns=one&format=strict").json == {
        "rules": {".read": False, ".write": False}
    }
    assert durable.get("/a.json?ns=one").status == 401
    assert durable.get("/.settings/defaultWriteSizeLimit.json?ns=two").json == "unlimited"
    assert durable.get("/.settings/rulesets.json?ns=two").json == {"rulesets": []}


def test_settings_are_for_admins_in_production(tmp_path):
    with Hearth(dev=False, data=tmp_path / "data") as server:
        secret = (tmp_path / "data" / "admin-secret").read_text().strip()
        bearer = {"Authorization": f"Bearer {secret}"}
        for name in ("defaultWriteSizeLimit", "strictTriggerValidation", "rulesets", "ruleset_labels"):
            path = f"/.settings/{name}.json"
            denied = server.get(path)
            assert denied.status == 401 and denied.json == {"error": "Permission denied"}
            assert server.get(path, headers=bearer).status == 200
        for path, body in (("defaultWriteSizeLimit", "small"), ("ruleset_labels", {})):
            assert server.put(f"/.settings/{path}.json", body).status == 401
            assert server.put(f"/.settings/{path}.json", body, headers=bearer).status == 200
        assert server.get("/.settings/defaultWriteSizeLimit.json", headers=bearer).json == "small"


@pytest.mark.parametrize(
    "path, body",
    [
        ("defaultWriteSizeLimit", "tiny"),
        ("defaultWriteSizeLimit", "huge"),
        ("defaultWriteSizeLimit", 1),
        ("strictTriggerValidation", "true"),
        ("strictTriggerValidation", None),
        ("ruleset_labels", {"stable": "none-such"}),
        ("ruleset_labels", {"other": "x"}),
        ("ruleset_labels", [1]),
    ],
)
def test_a_setting_that_makes_no_sense_is_refused(dev, path, body):
    before = dev.get(f"/.settings/{path}.json").body
    answer = dev.put(f"/.settings/{path}.json", body)
    assert answer.status == 400 and answer.json["error"]
    assert dev.get(f"/.settings/{path}.json").body == before
