"""REST verbs, credentials and modes."""

import json

import pytest

from hearth_server import Hearth
from stream_client import Stream
from wire_client import Wire

PRETTY_DENIED = b'{\n  "error" : "Permission denied"\n}\n'


def test_the_five_verbs(dev):
    assert dev.put("/greeting.json", {"hello": "world"}).json == {"hello": "world"}
    assert dev.get("/greeting.json").json == {"hello": "world"}
    assert dev.request("PATCH", "/greeting.json", {"a/b": 1, "hello": None}).status == 200
    assert dev.get("/greeting.json").json == {"a": {"b": 1}}
    name = dev.request("POST", "/list.json", {"n": 1}).json["name"]
    assert len(name) == 20 and dev.get(f"/list/{name}/n.json").json == 1
    answer = dev.request("DELETE", "/greeting.json")
    assert answer.status == 200 and answer.json is None
    assert dev.get("/greeting.json").json is None


def test_arrays_and_priorities(dev):
    dev.put("/a.json", ["x", None, "y"])
    assert dev.get("/a.json").json == ["x", None, "y"]
    dev.put("/p.json", {"k": {".value": 5, ".priority": 2}})
    assert dev.get("/p.json").json == {"k": 5}
    assert dev.get("/p.json?format=export").json == {"k": {".value": 5, ".priority": 2}}
    assert dev.get("/p/k/.priority.json").json == 2


def test_print_and_shallow(dev):
    dev.put("/a.json", {"b": {"c": 1}, "d": 2})
    assert dev.get("/a.json?shallow=true").json == {"b": True, "d": True}
    assert dev.put("/a/d.json?print=silent", 3).status == 204
    assert dev.get("/a/d.json?print=pretty").text.strip() == "3"


def test_server_values_are_resolved(dev):
    assert dev.put("/n.json", {".sv": {"increment": 2}}).json == 2
    assert dev.put("/n.json", {".sv": {"increment": 2}}).json == 4
    assert isinstance(dev.put("/t.json", {".sv": "timestamp"}).json, int)


def test_an_increment_tells_no_number_to_who_may_not_read_it(dev):
    rules = {"in": {".write": True}, "mixed": {".write": True, "open": {".read": True}}}
    owner = {"Authorization": "Bearer owner"}
    assert dev.put("/.settings/rules.json", {"rules": rules}, headers=owner).status == 200
    dev.put("/.json", {"in": {"n": 41, "m": {"k": 1}}, "mixed": {"open": 5, "shut": 6}}, headers=owner)
    nought, one = {".sv": {"increment": 0}}, {".sv": {"increment": 1}}
    tagged = {"X-Firebase-ETag": "true"}
    for body, stored in [(nought, None), ({".value": nought, ".priority": nought}, None), ({"a": 1, "b": nought}, {"a": 1})]:
        answer = dev.put("/in/n.json?format=export", body, headers=tagged)
        assert answer.status == 200 and answer.json == stored, body
        assert "ETag" not in answer.headers
        dev.put("/in/n.json", 41, headers=owner)
    answer = dev.request("PATCH", "/in.json", {"n": one, "m/k": 2, "t": {".sv": "timestamp"}})
    assert answer.json["n"] is None and answer.json["m/k"] == 2 and answer.json["t"] > 0
    assert dev.get("/in/n.json", headers=owner).json == 42
    answer = dev.request("PATCH", "/mixed.json", {"open": one, "shut": one})
    assert answer.json == {"open": 6, "shut": None}
    # A client that may read receives it, with the tag.
    answer = dev.put("/in/n.json", one, headers={**owner, **tagged})
    assert answer.json == 43 and answer.headers["ETag"]


def test_rules_see_a_read_without_a_query_in_the_order_of_its_door(dev):
    """As production was observed: by key over REST and its streams, by priority over WebSocket."""
    key, priority = "query.orderByKey", "query.orderByPriority"
    rules = {
        "key": {".read": f"{key} && !{priority}"},
        "priority": {".read": f"{priority} && !{key}", ".indexOn": "n"},
    }
    owner = {"Authorization": "Bearer owner"}
    assert dev.put("/.settings/rules.json?ns=demo", {"rules": rules}, headers=owner).status == 200
    read = lambda path, **options: dev.get(f"/{path}.json?ns=demo", **options).status
    stream = {"Accept": "text/event-stream"}
    assert [read("key"), read("priority")] == [200, 401]
    assert read("priority", headers=stream) == 401
    with Stream(dev.port, "/key.json?ns=demo") as events:
        assert events.event() == ("put", "/", None)
        # The rules are asked again when they change.
        rules["other"] = {".read": False}
        assert dev.put("/.settings/rules.json?ns=demo", {"rules": rules}, headers=owner).status == 200
        dev.put("/key.json?ns=demo", 1, headers=owner)
        assert events.event() == ("put", "/", 1)
    status = lambda path: dev.get(f"/{path}&ns=demo").status
    assert status('key.json?orderBy="$key"') == 200
    assert status('priority.json?orderBy="$priority"&limitToFirst=1') == 200
    with Wire(dev.port) as wire:
        assert wire.request("g", p="/key", q={})[0]["s"] == "permission_denied"
        assert wire.request("g", p="/priority", q={})[0]["s"] == "ok"


@pytest.mark.parametrize("path", ["/a.b.json", "/a$b.json", "/a%2Fb.json", "/x%5B.json"])
def test_a_bad_path_is_400(dev, path):
    answer = dev.put(path, 1)
    assert answer.status == 400
    assert answer.json == {"error": "Invalid path: Invalid token in path"}


def test_a_plus_in_a_path_is_a_plus(dev):
    dev.put("/a+b.json", 1)
    assert dev.get("/.json").json == {"a+b": 1}
    dev.put("/a%20b.json", 2)
    assert dev.get("/a%20b.json").json == 2


@pytest.mark.parametrize(
    "method, body, text",
    [
        ("PUT", b"", "Error: No data supplied."),
        ("PUT", b"{", "Invalid data; couldn't parse JSON object, array, or value."),
        ("PUT", b'{"a$":1}', "Invalid data; couldn't parse key beginning at 1:2."),
        ("PUT", b"\xff", "Invalid data"),
        ("PUT", b"NaN", "Invalid data"),
        ("PATCH", b"5", "Invalid data; couldn't parse JSON object."),
        ("PATCH", b'{"a":1,"a/b":2}', ""),
        ("POST", b"", "Error: No data supplied."),
    ],
)
def test_a_bad_body_is_400_and_changes_nothing(dev, method, body, text):
    dev.put("/kept.json", 1)
    answer = dev.request(method, "/x.json", raw=body)
    assert answer.status == 400 and text in answer.json["error"], answer.body
    assert dev.get("/.json").json == {"kept": 1}


def test_addresses_that_are_not_data(dev):
    assert dev.get("/a/b").status == 404
    assert "append .json" in dev.get("/a/b").text
    assert dev.get("/.health/live").status == 200
    assert dev.get("/.health/ready").status == 200
    assert dev.request("TRACE", "/a.json").status in (405, 501)


def test_production_denies_everything_but_to_its_admin(tmp_path):
    with Hearth(dev=False, data=tmp_path / "data") as server:
        denied = server.get("/a.json")
        assert denied.status == 401 and denied.body == PRETTY_DENIED
        assert server.put("/a.json", 1, headers={"Authorization": "Bearer owner"}).status == 401
        secret_file = tmp_path / "data" / "admin-secret"
        assert secret_file.stat().st_mode & 0o777 == 0o600
        secret = secret_file.read_text().strip()
        bearer = {"Authorization": f"Bearer {secret}"}
        assert server.put("/a.json", 1, headers=bearer).json == 1
        assert server.get(f"/a.json?auth={secret}").json == 1
        assert server.get("/.settings/rules.json").status == 401
        assert server.get("/.metrics").status == 401
        assert server.get("/.metrics", headers=bearer).status == 200
        assert server.request("POST", "/.simulate", {"op": "read", "path": "/"}).status == 401
        unsigned = "eyJhbGciOiJub25lIn0.eyJzdWIiOiJhbm4ifQ."
        assert server.get(f"/a.json?auth={unsigned}").status == 401


def test_rules_are_put_got_and_obeyed(durable):
    text = '{ // whose\n "rules": {"u": {"$u": {".read": "auth.uid == $u", ".write": "auth.uid == $u"}}}}\n'
    owner = {"Authorization": "Bearer owner"}
    path = "/.settings/rules.json?ns=demo"
    assert durable.request("PUT", path, raw=text.encode(), headers=owner).json == {"status": "ok"}
    assert durable.get(path, headers=owner).text == text
    bad = durable.request("PUT", path, raw=b'{"rules":{".read":"foo"}}', headers=owner)
    assert bad.status == 400 and bad.json["error"] == "1:20: Unknown variable 'foo'.\n"
    assert bad.json["errors"][0]["line"] == 1
    assert durable.get(path, headers=owner).text == text
    assert durable.put("/u/ann.json?ns=demo", 1).status == 401
    override = "&auth_variable_override=%7B%22uid%22:%22ann%22%7D"
    assert durable.put(f"/u/ann.json?ns=demo{override}", 1, headers=owner).json == 1
    assert durable.put(f"/u/bob.json?ns=demo{override}", 1, headers=owner).status == 401
    durable.kill()
    durable.start()
    assert durable.get(path, headers=owner).text == text
    assert durable.get("/u/ann.json?ns=demo").status == 401
    # Without rules of its own, the database is under those of the server again.
    assert durable.request("DELETE", path, headers=owner).json == {"status": "ok"}
    assert durable.get("/u/ann.json?ns=demo").json == 1


def test_the_simulator_names_the_deciding_rule(dev):
    rules = {"rules": {"a": {".read": "auth != null"}}}
    body = {"op": "read", "path": "/a/b", "auth": None, "rules": rules, "data": {"a": 1}}
    answer = dev.request("POST", "/.simulate", body)
    assert answer.status == 200 and answer.json["allowed"] is False
    assert answer.json["trace"][0]["path"] == "/a"
    body["auth"] = {"uid": "x"}
    answer = dev.request("POST", "/.simulate", body).json
    assert answer["allowed"] is True and answer["rule"]["kind"] == "read"
    assert dev.request("POST", "/.simulate", {"op": "fly", "path": "/"}).status == 400
    bad = {"op": "read", "path": "/", "rules": '{"rules":{".read":"x"}}'}
    assert dev.request("POST", "/.simulate", bad).status == 400
    assert dev.get("/.json").json is None


def test_the_value_is_there_after_a_kill(durable):
    durable.put("/greeting.json", {"hello": "world"})
    durable.kill()
    durable.start()
    assert durable.get("/greeting.json").json == {"hello": "world"}


def test_sigterm_ends_cleanly(durable):
    durable.put("/a.json", 1)
    assert durable.stop() == 0


def test_unsigned_tokens_identify_users_in_development(dev):
    rules = '{"rules":{"$u":{".read":"auth.uid == $u",".write":"auth.uid == $u"}}}'
    owner = {"Authorization": "Bearer owner"}
    dev.request("PUT", "/.settings/rules.json?ns=demo", raw=rules.encode(), headers=owner)
    token = "eyJhbGciOiJub25lIiwidHlwZSI6IkpXVCJ9.eyJzdWIiOiJhbm4iLCJ1c2VyX2lkIjoiYW5uIiwiaWF0IjowLCJleHAiOjM2MDB9."
    assert dev.put(f"/ann.json?ns=demo&auth={token}", 1).json == 1
    assert dev.put(f"/bob.json?ns=demo&auth={token}", 1).status == 401
    assert dev.get("/ann.json?ns=demo&auth=garbage").json == {"error": "Could not parse auth token."}


def test_a_large_value_is_streamed_and_whole(dev):
    value = {f"k{i:05}": {"n": i, "t": "é" * 20} for i in range(20_000)}
    dev.put("/large.json?print=silent", value)
    answer = dev.get("/large.json")
    assert answer.json == value and int(answer.headers["Content-Length"]) == len(answer.body)
    assert dev.get("/large.json?shallow=true").json == {key: True for key in value}


def test_an_answer_above_the_limit_is_refused(tmp_path):
    with Hearth("--max-response", "65536") as server:
        server.put("/large.json?print=silent", {f"k{i:05}": "x" * 20 for i in range(5_000)})
        answer = server.get("/large.json")
        assert answer.status == 400 and "exceeds the maximum size" in answer.json["error"]
        assert server.get("/large/k00001.json").json == "x" * 20


def test_cors_for_data_but_not_for_admin_routes(dev):
    headers = {"Origin": "http://localhost:3000"}
    assert dev.get("/a.json", headers=headers).headers["Access-Control-Allow-Origin"]
    preflight = dev.request(
        "OPTIONS",
        "/a.json",
        headers={**headers, "Access-Control-Request-Headers": "authorization, if-match"},
    )
    assert preflight.status in (200, 204)
    assert preflight.headers["Access-Control-Allow-Headers"] == "authorization, if-match"


def test_metrics_are_prometheus_text(dev):
    dev.put("/a.json", 1)
    text = dev.get("/.metrics").text
    assert "# TYPE hearth_commits_total counter" in text
    assert any(line.startswith("hearth_commits_total") for line in text.splitlines())


def test_requests_are_counted_by_the_address_of_the_table(dev):
    def counts():
        values = dict(line.rsplit(" ", 1) for line in dev.get("/.metrics").text.splitlines())
        routes = {name: int(values[name]) for name in values if "_route_requests_total{" in name}
        assert sum(routes.values()) == int(values["hearth_http_requests_total"])
        return lambda route: routes['hearth_http_route_requests_total{route="%s"}' % route]

    before = counts()
    for _ in range(3):
        dev.get("/a/b.json")
    dev.get("/.settings/rules.json")
    dev.get("/no/where/at/all")
    after = counts()
    for route, more in [
        ("/{path}.json", 3),
        ("/.settings/rules.json", 1),
        ("/{address...}", 1),
        ("/.metrics", 1),
        ("/.backup", 0),
    ]:
        assert after(route) - before(route) == more, route


def test_the_ready_line_names_everything(tmp_path):
    with Hearth(data=tmp_path / "d") as server:
        assert " mode=dev " in server.ready and f"data={tmp_path / 'd'}" in server.ready
        assert "durability=always" in server.ready
    with Hearth("--durability", "memory", data=tmp_path / "e") as server:
        assert "durability=memory" in server.ready
        assert json.loads(server.put("/a.json", 1).text) == 1
