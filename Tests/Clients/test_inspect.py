"""What the rules have decided: `/.inspect`, and what refused clients receive in development."""

import json
import subprocess
import urllib.parse

import firebase_admin
import pytest
from firebase_admin import db
from firebase_admin.exceptions import FirebaseError

from event_client import Events
from hearth_server import BINARY, Hearth
from sample_pages import Window
from stream_client import Stream
from wire_client import Wire

OWNER = {"Authorization": "Bearer owner"}
RULES = {
    "rules": {
        "open": {".read": True, ".write": True},
        "rooms": {
            "$room": {
                ".read": "data.child('members').child(auth.uid).val() === true",
                ".write": "auth != null && newData.child('owner').val() === auth.uid",
                "size": {".validate": "newData.isNumber() && newData.val() < 100"},
            }
        },
    }
}
RULES_TEXT = json.dumps(RULES, indent=2)
DEBUG = "X-Firebase-Auth-Debug"


def set_rules(server, headers=OWNER):
    answer = server.put("/.settings/rules.json?ns=demo", None, headers=headers, raw=RULES_TEXT.encode())
    assert answer.status == 200, answer.text


@pytest.fixture
def server():
    with Hearth() as server:
        set_rules(server)
        yield server


def as_user(uid):
    return "auth_variable_override=" + urllib.parse.quote(json.dumps({"uid": uid}))


def listed(server, query="", headers=None):
    answer = server.get(f"/.inspect/requests.json?ns=demo&{query}", headers=headers)
    assert answer.status == 200, answer.text
    return answer.json["requests"]


def brief(requests):
    """Requests in a few words, the oldest first."""
    return [
        " ".join(
            [
                request["protocol"],
                request["operation"],
                request["path"],
                "allowed" if request["allowed"] else "refused",
            ]
        )
        for request in reversed(requests)
    ]


def sign_in(wire, uid):
    reply, _ = wire.request("auth", cred="owner", authvar={"uid": uid})
    assert reply["s"] == "ok", reply


# Who is refused, over every way in


def test_requests_over_rest_are_listed_with_their_trace(server):
    assert server.put(f"/rooms/a.json?ns=demo&{as_user('ann')}", {"owner": "ann"}, headers=OWNER).status == 200
    refused = server.put(f"/rooms/a.json?ns=demo&{as_user('bob')}", {"owner": "ann"}, headers=OWNER)
    assert refused.status == 401
    newest, oldest = listed(server)
    assert brief([newest, oldest]) == ["rest set /rooms/a allowed", "rest set /rooms/a refused"]
    assert oldest["rule"]["path"] == "/rooms/$room"
    assert newest["auth"] == {"uid": "bob"}
    assert newest["rule"] is None
    [rule] = newest["trace"]
    assert (rule["kind"], rule["result"], rule["bindings"]) == ("write", False, {"$room": "a"})
    values = {value["text"]: value for value in rule["values"]}
    assert values["auth.uid"]["value"] == "bob"
    assert values["newData.child('owner').val()"]["value"] == "ann"
    assert "because" in newest["explanation"]
    assert newest["id"] == oldest["id"] + 1


def test_a_refusal_over_rest_says_why_in_a_header(server):
    answer = server.get("/rooms/ä.json?ns=demo".replace("ä", "%C3%A4"))
    assert answer.status == 401
    assert answer.json == {"error": "Permission denied"}
    line = answer.headers[DEBUG]
    assert line.startswith("read /rooms/?? refused:") or line.startswith("read /rooms/? refused:"), line
    assert line.isascii() and line.isprintable() and len(line) <= 2_010
    # What is allowed has nothing to say.
    assert DEBUG not in server.get("/open.json?ns=demo").headers


def test_a_page_may_read_the_header(server):
    origin = {"Origin": f"http://localhost:{server.port}"}
    answer = server.get("/rooms/a.json?ns=demo", headers=origin)
    assert DEBUG in answer.headers["Access-Control-Expose-Headers"]


def test_a_long_reason_is_cut(server):
    text = "x" * 700
    path = "/".join([text] * 20)
    answer = server.get(f"/{path}.json?ns=demo")
    assert answer.status == 401
    assert len(answer.headers[DEBUG]) <= 2_010


def test_clients_of_the_wire_protocol_are_reported_ahead_of_their_refusal(server):
    with Wire(server.port) as wire:
        sign_in(wire, "bob")
        asks = [
            ("p", {"p": "/rooms/a", "d": {"owner": "ann"}}, "set /rooms/a refused"),
            ("m", {"p": "/", "d": {"open/x": 1, "rooms/a/n": 1}}, "update / refused"),
            ("p", {"p": "/rooms/a", "d": 1, "h": ""}, "transaction /rooms/a refused"),
            ("q", {"p": "/rooms/a", "h": ""}, "listen /rooms/a refused"),
            ("g", {"p": "/rooms/a", "q": {}}, "read /rooms/a refused"),
            ("o", {"p": "/rooms/a", "d": 1}, "on-disconnect /rooms/a refused"),
        ]
        for action, body, start in asks:
            reply, pushes = wire.request(action, **body)
            assert reply["s"] == "permission_denied", (action, reply)
            [push] = pushes
            assert push["a"] == "sd" and list(push["b"]) == ["msg"]
            assert push["b"]["msg"].startswith(start), push
        assert wire.request("p", p="/open/x", d=1) == ({"s": "ok", "d": ""}, [])
    assert brief(listed(server, "refused=true")) == [
        f"wire {text.split()[0]} {text.split()[1]} refused" for _, _, text in asks
    ]


def test_a_listen_that_is_lost_is_explained(server):
    server.put("/rooms/a.json?ns=demo", {"members": {"ann": True}}, headers=OWNER)
    with Wire(server.port) as wire:
        sign_in(wire, "ann")
        wire.request("q", p="/rooms/a", h="")
        server.put("/rooms/a/members.json?ns=demo", {"cid": True}, headers=OWNER)
        debug, cancel = wire.push(), wire.push()
        assert debug["a"] == "sd" and debug["b"]["msg"].startswith("recheck /rooms/a refused")
        assert (cancel["a"], cancel["b"]["p"]) == ("c", "rooms/a")
        # Nothing is sent of others.
        server.get("/rooms/b.json?ns=demo")
        assert wire.request("s", c={}) == ({"s": "ok", "d": ""}, [])


def test_clients_of_the_plain_event_protocol_are_reported_in_the_refusal(server):
    with Events(server.port) as events:
        reply = events.ask("get", path="/rooms/a")
        assert (reply["ok"], reply["error"]) == (False, "permission_denied")
        assert reply["message"].startswith("read /rooms/a refused: ")
        assert "\n" not in reply["message"]
        assert events.ask("set", path="/rooms/a", value=1)["message"].startswith("set /rooms/a refused")
        reply, first = events.request("observe", path="/rooms/a", events=["value"])
        assert first == [] and reply["message"].startswith("listen /rooms/a refused")


def test_event_streams_are_reported_in_a_header_and_never_by_an_event(server):
    with Stream(server.port, "/rooms/a.json?ns=demo") as stream:
        assert stream.status == 401
        assert stream.headers[DEBUG.lower()].startswith("listen /rooms/a refused")
    server.put("/rooms/a.json?ns=demo", {"members": {"ann": True}}, headers=OWNER)
    target = f"/rooms/a.json?ns=demo&{as_user('ann')}"
    with Stream(server.port, target, headers=OWNER) as stream:
        assert stream.status == 200
        server.put("/rooms/a/members.json?ns=demo", {"cid": True}, headers=OWNER)
        text = stream.body().decode()
        assert "event: cancel\ndata: null" in text and "refused" not in text
    assert brief(listed(server, "refused=true")) == [
        "stream listen /rooms/a refused", "stream recheck /rooms/a refused",
    ]


def test_an_unchanged_admin_sdk_that_acts_as_a_user_is_listed(server, monkeypatch):
    monkeypatch.setenv("FIREBASE_DATABASE_EMULATOR_HOST", f"127.0.0.1:{server.port}")
    monkeypatch.delenv("GOOGLE_APPLICATION_CREDENTIALS", raising=False)
    app = firebase_admin.initialize_app(
        options={
            "databaseURL": "https://demo.firebaseio.com",
            "databaseAuthVariableOverride": {"uid": "bob"},
            "projectId": "demo",
        },
        name="inspected",
    )
    try:
        with pytest.raises(FirebaseError, match="Permission denied"):
            db.reference("/rooms/a", app).set({"owner": "ann"})
        with pytest.raises(FirebaseError, match="Permission denied"):
            db.reference("/rooms/a", app).get()
    finally:
        firebase_admin.delete_app(app)
    # It takes a 401 for a credential that has run out, and asks again with the next one.
    found = brief(listed(server, "uid=bob"))
    assert list(dict.fromkeys(found)) == ["rest set /rooms/a refused", "rest read /rooms/a refused"]


# What is asked for


def test_filters(server):
    for path, uid in [("/rooms/a", "ann"), ("/rooms/a/size", "bob"), ("/rooms/ab", "bob"), ("/open", "ann")]:
        server.get(f"{path}.json?ns=demo&{as_user(uid)}", headers=OWNER)
    everything = listed(server)
    assert [request["path"] for request in everything] == ["/open", "/rooms/ab", "/rooms/a/size", "/rooms/a"]

    def paths(query):
        return [request["path"] for request in listed(server, query)]

    assert paths("path=/rooms/a") == ["/rooms/a/size", "/rooms/a"]
    assert paths("path=rooms") == ["/rooms/ab", "/rooms/a/size", "/rooms/a"]
    assert paths("uid=ann") == ["/open", "/rooms/a"]
    assert paths("refused=true&uid=ann") == ["/rooms/a"]
    assert paths("limit=2") == ["/open", "/rooms/ab"]
    assert paths(f"after={everything[2]['id']}") == ["/open", "/rooms/ab"]
    assert paths("refused=&path=&uid=&limit=&after=") == paths("")
    assert listed(server, "path=/nowhere") == []


def test_an_update_is_found_by_the_places_it_names(server):
    body = {"rooms/a/size": 1, "open/x": 2}
    assert server.request("PATCH", f"/.json?ns=demo&{as_user('ann')}", body, headers=OWNER).status == 401
    [found] = listed(server, "path=/rooms/a")
    assert found["operation"] == "update" and found["refusedPath"] == "/rooms/a/size"
    assert sorted(found["paths"]) == ["/open/x", "/rooms/a/size"]
    assert listed(server, "path=/rooms/b") == []


def test_a_query_is_shown(server):
    target = '/rooms/a.json?ns=demo&orderBy="size"&startAt=3&limitToLast=2'.replace('"', "%22")
    server.get(target)
    [found] = listed(server)
    assert found["query"] == {"orderBy": "size", "startAt": 3, "limitToLast": 2}


@pytest.mark.parametrize(
    "query, word",
    [
        ("refused=yes", "'refused'"), ("path=/a.b", "'path'"), ("limit=0", "'limit'"),
        ("limit=1001", "'limit'"), ("limit=x", "'limit'"), ("after=-1", "'after'"),
    ],
)
def test_parameters_that_make_no_sense_are_named(server, query, word):
    for address in ["requests.json", "requests"]:
        answer = server.get(f"/.inspect/{address}?ns=demo&{query}")
        assert answer.status == 400 and word in answer.json["error"], answer.text


def test_only_so_many_are_kept(server):
    with Wire(server.port) as wire:
        numbers = [wire.send("p", p=f"/open/{number}", d=1) for number in range(1_100)]
        wire.reply(numbers[-1])
    everything = listed(server, "limit=1000")
    assert len(everything) == 1_000
    assert everything[0]["path"] == "/open/1099" and everything[-1]["path"] == "/open/100"
    ids = [request["id"] for request in everything]
    assert ids == list(range(ids[0], ids[0] - 1_000, -1))


def test_large_credentials_and_paths_take_no_more_than_their_share(server):
    auth = urllib.parse.quote(json.dumps({"uid": "ann", "claim": "x" * 6_000}))
    path = "/".join(["k" * 100] * 20)
    with Wire(server.port) as wire:
        sign_in(wire, "ann")
        reply, _ = wire.request("auth", cred="owner", authvar={"uid": "ann", "claim": "x" * 100_000})
        assert reply["s"] == "ok"
        numbers = [wire.send("p", p=f"/open/{path}", d=1) for _ in range(200)]
        wire.reply(numbers[-1])
    answer = server.get("/.inspect/requests.json?ns=demo&limit=1000", headers=OWNER)
    kept = len(answer.json["requests"]) + answer.json["leftOut"]
    # 8 MiB hold some 80 credentials of 100,000 bytes, and an answer some 20 of them.
    assert 50 < kept < 90, kept
    assert len(answer.text) < 3 << 20
    assert server.get(f"/open.json?ns=demo&auth_variable_override={auth}", headers=OWNER).status == 200


def test_delete_forgets(server):
    server.get("/rooms/a.json?ns=demo")
    first = listed(server)[0]["id"]
    assert server.request("DELETE", "/.inspect/requests.json?ns=demo").json == {"status": "ok"}
    assert listed(server) == []
    server.get("/rooms/a.json?ns=demo")
    assert listed(server)[0]["id"] == first + 1


def test_databases_are_apart(server):
    server.get("/rooms/a.json?ns=demo")
    assert server.get("/.inspect/requests.json?ns=other").json["requests"] == []


def test_simulations_are_no_requests(server):
    body = {"operation": "read", "path": "/rooms/a"}
    answer = server.request("POST", "/.simulate?ns=demo", body)
    if answer.status != 200:
        answer = server.request("POST", "/.simulate?ns=demo", {"op": "read", "path": "/rooms/a"})
    assert answer.status == 200, answer.text
    assert listed(server) == []


# How much is recorded


def test_the_level_changes_while_the_server_runs(server):
    def level(text, raw=None):
        return server.request("PUT", "/.inspect/level.json", text, raw=raw)

    assert server.get("/.inspect/level.json").json == "all"
    assert level("refused").status == 200
    server.get("/open.json?ns=demo")
    server.get("/rooms/a.json?ns=demo")
    assert brief(listed(server)) == ["rest read /rooms/a refused"]
    assert level("off").status == 200
    answer = server.get("/rooms/a.json?ns=demo")
    assert answer.status == 401 and DEBUG not in answer.headers
    page = server.get("/.inspect/requests.json?ns=demo").json
    assert page["inspection"] == "off" and "--inspect" in page["hint"]
    assert len(page["requests"]) == 1
    for bad in ["some", 1, True, {"a": 1}]:
        refused = level(bad)
        assert refused.status == 400 and '"refused"' in refused.json["error"]
    assert level(None, raw=b"{").status == 400
    assert server.get("/.inspect/level.json").json == "off"


@pytest.fixture(scope="module")
def production(tmp_path_factory):
    folder = tmp_path_factory.mktemp("production")

    def start(*flags):
        return Hearth(*flags, data=folder / f"data{len(list(folder.iterdir()))}", dev=False, log=folder / "log")

    return start


def admin_of(server):
    data = server.flags[server.flags.index("--data-dir") + 1]
    with open(f"{data}/admin-secret") as secret:
        return {"Authorization": f"Bearer {secret.read().strip()}"}


@pytest.mark.parametrize("level", ["off", "refused", "all"])
def test_in_production_clients_are_reported_nothing(production, level):
    flags = [] if level == "off" else ["--inspect", level]
    with production("--database", "demo", *flags) as server:
        admin = admin_of(server)
        set_rules(server, admin)
        answer = server.get("/rooms/a.json?ns=demo")
        assert answer.status == 401 and DEBUG not in answer.headers
        assert answer.json == {"error": "Permission denied"}
        with Wire(server.port) as wire:
            for action, body in [
                ("p", {"p": "/rooms/a", "d": 1}),
                ("q", {"p": "/rooms/a", "h": ""}),
                ("m", {"p": "/rooms", "d": {"a": 1}}),
                ("o", {"p": "/rooms/a", "d": 1}),
            ]:
                reply, pushes = wire.request(action, **body)
                assert reply == {"s": "permission_denied", "d": "Permission denied"} and pushes == []
        with Events(server.port) as events:
            assert events.ask("get", path="/rooms/a")["message"] == "The rules do not allow it."
        found = listed(server, headers=admin)
        if level == "off":
            assert found == []
        else:
            assert len(found) == 6 and all("because" in request["explanation"] for request in found)
        # Those who are no administrators see nothing of it.
        for address in ["requests.json", "requests", "coverage.json", "coverage", "level.json"]:
            assert server.get(f"/.inspect/{address}?ns=demo").status == 401, address
        assert server.request("DELETE", "/.inspect/requests.json?ns=demo").status == 401
        assert server.request("PUT", "/.inspect/level.json?ns=demo", "all").status == 401
        counted = server.get("/.metrics?ns=demo", headers=admin).text
        assert 'hearth_refused_requests_total{operation="set"} 1' in counted
        assert 'hearth_refused_requests_total{operation="read"} 2' in counted


def test_the_log_names_refusals_without_values_and_not_all_of_them(production, tmp_path):
    with Hearth("--database", "demo", "--inspect", "refused", data=tmp_path / "data", dev=False, log=tmp_path / "log") as server:
        set_rules(server, admin_of(server))
        with Wire(server.port) as wire:
            numbers = [wire.send("p", p="/rooms/a", d={"owner": "secret-value"}) for _ in range(100)]
            for number in numbers:
                wire.reply(number)
        server.await_log("more requests were refused count=")
        lines = [line for line in server.log_text.splitlines() if " refused set " in line]
        assert 1 <= len(lines) <= 30
        assert "path=/rooms/a" in lines[0] and "line" in lines[0] and "/rooms/$room .write" in lines[0]
        assert "secret-value" not in server.log_text


def test_the_flag_is_checked():
    done = subprocess.run([BINARY, "serve", "--inspect", "some"], capture_output=True, text=True)
    assert done.returncode == 2 and "off, refused, all" in done.stderr


# Pages


def test_lines_for_a_terminal(server):
    server.get("/rooms/a.json?ns=demo")
    answer = server.get("/.inspect/requests?ns=demo", headers={"Accept": "text/plain"})
    assert answer.headers["Content-Type"].startswith("text/plain")
    assert "refused read /rooms/a by no user over rest" in answer.text
    assert "because" in answer.text


# The command line


def hearth(server, *arguments):
    return subprocess.run(
        [BINARY, "rules", *arguments, "--url", server.address, "--ns", "demo"],
        capture_output=True,
        text=True,
        timeout=120,
    )


def test_requests_on_the_command_line(server):
    server.get(f"/rooms/a.json?ns=demo&{as_user('bob')}", headers=OWNER)
    server.get("/open.json?ns=demo")
    shown = hearth(server, "requests", "--refused", "--path", "/rooms", "--uid", "bob", "--limit", "5")
    assert shown.returncode == 0, shown.stderr
    assert "read /rooms/a by \"bob\"" in shown.stdout and "/open" not in shown.stdout
    as_json = hearth(server, "requests", "--json")
    assert len(json.loads(as_json.stdout)["requests"]) == 2
    wrong = hearth(server, "requests", "--path", "/a.b")
    assert wrong.returncode == 1 and "'path'" in wrong.stderr
    assert hearth(server, "requests", "--limit", "0").returncode != 0


# Coverage


def consulted(report):
    """How often each rule came to what, by kind and path."""
    return {
        f"{rule['kind']} {rule['path']}": {
            json.dumps(value.get("value", value.get("error"))): value["count"] for value in rule["values"]
        }
        for rule in report
    }


def coverage(server, **options):
    answer = server.get("/.inspect/coverage.json?ns=demo", **options)
    assert answer.status == 200, answer.text
    return answer.json


def use_the_rules(server):
    server.put(f"/rooms/a.json?ns=demo&{as_user('ann')}", {"owner": "ann", "size": 5}, headers=OWNER)
    server.put(f"/rooms/a.json?ns=demo&{as_user('bob')}", {"owner": "ann"}, headers=OWNER)
    server.put(f"/rooms/a/size.json?ns=demo&{as_user('ann')}", 5_000, headers=OWNER)
    server.get("/open.json?ns=demo")


def test_coverage_counts_every_decision(server):
    assert not any(consulted(coverage(server)["report"]).values())
    use_the_rules(server)
    found = coverage(server)
    assert found["decisions"] == 4
    assert consulted(found["report"]) == {
        "read /open": {"true": 1},
        "write /open": {},
        "read /rooms/$room": {},
        "write /rooms/$room": {"true": 2, "false": 1},
        "validate /rooms/$room/size": {"true": 1, "false": 1},
    }
    # What the rules see of a simulation changes nothing.
    server.request("POST", "/.simulate?ns=demo", {"op": "read", "path": "/open", "auth": None})
    assert coverage(server)["decisions"] == 4


def test_listens_that_are_reauthorized_are_counted_and_listed_only_when_they_are_lost(server):
    server.put("/rooms/a.json?ns=demo", {"members": {"ann": True}}, headers=OWNER)
    with Wire(server.port) as wire:
        sign_in(wire, "ann")
        wire.request("q", p="/rooms/a", h="")
        for number in range(5):
            server.put("/rooms/a/members.json?ns=demo", {"ann": True, "n": number}, headers=OWNER)
        assert coverage(server)["decisions"] == 6
        assert brief(listed(server)) == ["wire listen /rooms/a allowed"]
        server.put("/rooms/a/members.json?ns=demo", {"cid": True}, headers=OWNER)
    assert coverage(server)["decisions"] == 7
    assert brief(listed(server)) == ["wire listen /rooms/a allowed", "wire recheck /rooms/a refused"]


def test_new_rules_and_delete_begin_coverage_anew(server):
    use_the_rules(server)
    assert server.request("DELETE", "/.inspect/coverage.json?ns=demo").json == {"status": "ok"}
    assert coverage(server)["decisions"] == 0
    use_the_rules(server)
    set_rules(server)
    assert coverage(server)["decisions"] == 0
    assert coverage(server)["rules"] == RULES_TEXT


def test_coverage_is_counted_while_all_decisions_are_recorded(server):
    server.request("PUT", "/.inspect/level.json", "refused")
    use_the_rules(server)
    assert coverage(server)["decisions"] == 0
    assert "nothing is counted now" in hearth(server, "coverage").stdout
    assert "nothing is counted now" in server.get("/.inspect/coverage?ns=demo").text
    server.request("PUT", "/.inspect/level.json", "all")
    use_the_rules(server)
    assert coverage(server)["decisions"] == 4


def test_a_browser_is_led_to_the_coverage_in_the_console(server, browser):
    use_the_rules(server)
    page = browser.open(f"http://127.0.0.1:{server.port}/.inspect/coverage?ns=demo")
    shown = """new Promise((resolve) => {
        const look = () => document.querySelector(".rule") ? resolve([location.href, document.body.innerText]) : setTimeout(look, 15);
        look();
    })"""
    address, text = browser.value(page, shown)
    assert address.endswith("/.console/rules?ns=demo&coverage=true")
    assert "demo" in text and "newData.child('owner').val()" in text
    assert server.get("/.inspect/coverage?ns=demo", headers={"Accept": "text/plain"}).text.startswith("4 decisions")


def test_coverage_on_the_command_line(server, browser, tmp_path):
    use_the_rules(server)
    shown = hearth(server, "coverage")
    assert shown.returncode == 0, shown.stderr
    lines = shown.stdout.splitlines()
    assert lines[0].startswith("4 decisions consulted 3 of 5 rules")
    [write] = [line.split() for line in lines if ".write of /rooms/$room" in line]
    line = 1 + next(at for at, text in enumerate(RULES_TEXT.splitlines()) if "auth != null" in text)
    assert write == [f"{line}", "3", "2", "1", "-", ".write", "of", "/rooms/$room"]
    [never] = [line for line in lines if ".write of /open" in line]
    assert never.startswith("!")
    assert json.loads(hearth(server, "coverage", "--json").stdout)["decisions"] == 4
    done = hearth(server, "coverage", "--html", str(tmp_path / "page.html"))
    assert done.returncode == 0, done.stderr
    page = Window(browser, f"file://{tmp_path}/page.html")
    page.wait("[...document.querySelectorAll('.rule')].map((rule) => rule.dataset.times).join() === '1,0,0,3,2'")
    page.check()
    page.close()
    assert hearth(server, "coverage", "--reset").returncode == 0
    assert hearth(server, "coverage").stdout.startswith("0 decisions")
    assert hearth(server, "coverage", "--reset", "--json").returncode != 0
