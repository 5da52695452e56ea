"""The log of an operator: who took data out or changed something, as an administrator; which connection it is about."""

import json
import re
import time

import pytest

from command_line import hearth
from event_client import Events
from hearth_server import Hearth
from poll_client import Poll
from signing import unsigned
from stream_client import Stream
from wire_client import Wire

EMAIL = "someone@example.com"


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    folder = tmp_path_factory.mktemp("operated")
    with Hearth("--project", "demo", dev=False, data=folder / "data", log=folder / "log") as server:
        server.folder = folder
        server.secret = folder / "data" / "admin-secret"
        yield server


def run(server, *arguments, **options):
    done = hearth(server, *arguments, "--admin-secret-file", server.secret, folder=server.folder, **options)
    assert done.returncode == 0, (done.stdout, done.stderr)
    return done.stdout.decode()


def lines(server, what, count=1, timeout=120):
    """Waits until there are so many lines about something; what each of them says, by name."""
    deadline = time.monotonic() + timeout
    while len(found := re.findall(rf" notice {what}((?: \w+=\S+)*)$", server.log_text, re.M)) < count:
        assert time.monotonic() < deadline, f"{what!r} is not in the log:\n{server.log_text}"
        time.sleep(0.02)
    return [dict(pair.split("=", 1) for pair in line.split()) for line in found]


def line(server, what):
    [found] = lines(server, what)
    assert found.pop("by") == "admin" and found.pop("peer", "127.0.0.1") == "127.0.0.1"
    return found


def total(server, what, **amounts):
    """Waits until the lines about something add up to so much; a machine in trouble may make more than one of it."""
    deadline = time.monotonic() + 120
    while True:
        found = lines(server, what)
        if all(sum(int(one[name]) for one in found) >= least for name, least in amounts.items()):
            break
        assert time.monotonic() < deadline, f"{what!r} does not come to {amounts}:\n{server.log_text}"
        time.sleep(0.02)
    assert all(one["by"] == "admin" and one["peer"] == "127.0.0.1" for one in found)
    assert all(sum(int(one[name]) for one in found) == count for name, count in amounts.items() if name != "bytes")
    assert len(found) <= sum(int(one.get("requests", 1)) for one in found)
    return found


def test_accounts(server):
    uid = run(server, "users", "create", "--email", EMAIL).strip()
    assert line(server, "an account is made") == {"uid": uid}
    run(server, "users", "claims", uid, '{"role":"planted"}')
    assert line(server, "an account is changed") == {"uid": uid, "members": "customAttributes"}
    run(server, "users", "reset", EMAIL)
    assert line(server, "a link for an account is made") == {"kind": "PASSWORD_RESET", "uid": uid}
    users = [{"localId": f"u{n:04}"} for n in range(1200)] + [{"localId": "bad", "email": "nobody"}]
    (server.folder / "users.json").write_text(json.dumps({"users": users}))
    done = hearth(server, "users", "import", "users.json", "--admin-secret-file", server.secret, folder=server.folder)
    assert done.returncode == 1
    run(server, "users", "export", "all.json")
    run(server, "users", "delete", uid, "--force")
    assert line(server, "an account is removed") == {"uid": uid}
    # However many requests they take.
    total(server, "accounts imported", accounts=1200, refused=1)
    total(server, "accounts exported", accounts=1201)
    assert EMAIL not in server.log_text and "planted" not in server.log_text


def test_data(server):
    value = {f"k{n}": "x" * 1000 for n in range(300)}
    (server.folder / "data.json").write_text(json.dumps(value))
    run(server, "import", "/room", "data.json")
    written = total(server, "data written", bytes=300_000)
    run(server, "export", "/room", "-o", "out.json")
    [exported] = total(server, "data exported", bytes=1)
    for found in [*written, exported]:
        assert found["database"] == "default" and found["path"] == "/room"
    assert int(exported["bytes"]) == (server.folder / "out.json").stat().st_size - 1
    run(server, "backup", "all.backup")
    assert line(server, "a backup is sent") == {"bytes": str((server.folder / "all.backup").stat().st_size)}
    run(server, "search", "planted", "/room")
    [searched] = lines(server, "data searched")
    assert (searched["database"], searched["path"]) == ("default", "/room") and "planted" not in server.log_text
    # What is read bit by bit is no export.
    run(server, "get", "/room/k1")
    run(server, "get", "/room", "--shallow")


def test_rules_settings_and_keys(server):
    (server.folder / "rules.json").write_text('{"rules": {"open": {".read": true, ".write": true}}}')
    run(server, "rules", "push", "rules.json")
    [found] = lines(server, "rules in force are new")
    assert found["version"] == "1" and found["database"] == "default" and found["by"]
    assert found["bytes"] == str((server.folder / "rules.json").stat().st_size)
    run(server, "set", "/.settings/defaultWriteSizeLimit", "-d", '"large"', "-f")
    changed = line(server, "a setting is changed")
    assert changed == {"setting": "/.settings/defaultWriteSizeLimit.json", "database": "default"}
    run(server, "service-account", "create", "robot", "-o", "robot.json")
    made = line(server, "a service account has a new key")
    assert made["name"] == "robot" and made["key"]
    run(server, "service-account", "revoke", "robot")
    assert line(server, "a service account is revoked") == {"name": "robot", "key": "all"}
    run(server, "keys", "rotate")
    assert line(server, "the signing key is replaced") == {}
    # What others do leaves no such line.
    assert server.put("/open.json", 1).status == 200
    assert server.get("/open.json").json == 1


def test_a_stop_leaves_nothing_untold(tmp_path):
    with Hearth(dev=False, data=tmp_path / "data", log=tmp_path / "log") as server:
        secret = (tmp_path / "data" / "admin-secret").read_text().strip()
        claim = {"Authorization": f"Bearer {secret}"}
        assert server.put("/a.json", {"b": 1}, headers=claim).status == 200
        assert server.get("/.json", headers=claim).json == {"a": {"b": 1}}
        assert server.stop() == 0
        [written], [exported] = lines(server, "data written"), lines(server, "data exported")
        assert (written["path"], written["bytes"], "requests" in written) == ("/a", "8", False)
        assert (exported["path"], exported["bytes"]) == ("/", "13")


def test_what_an_administrator_does_over_connections_is_a_line_a_minute(tmp_path):
    with Hearth(dev=False, data=tmp_path / "data", log=tmp_path / "log") as server:
        secret = (tmp_path / "data" / "admin-secret").read_text().strip()
        rules = {"rules": {"open": {".read": True, ".write": True}}}
        claim = {"Authorization": f"Bearer {secret}"}
        assert server.put("/.settings/rules.json", rules, headers=claim).status == 200
        with Wire(server.port, "default") as socket, Poll(server.port, "default") as poll:
            for client, count in ((socket, 1000), (poll, 1)):
                # What comes before the credential, and after it, stays out.
                assert client.request("p", p="/open/a", d=1)[0]["s"] == "ok"
                assert client.request("auth", cred=secret)[0]["s"] == "ok"
                numbers = [client.send("p", p="/room/a", d=number) for number in range(count)]
                assert all(client.reply(number)[0]["s"] == "ok" for number in numbers)
                assert client.request("m", p="/room", d={"b": 1, "c": 2})[0]["s"] == "ok"
                assert client.request("o", p="/gone", d=1)[0]["s"] == "ok"
                assert client.request("q", p="/", h="")[0]["s"] == "ok"
                assert client.request("q", p="/room", h="")[0]["s"] == "ok"
                assert client.request("g", p="/", q={"l": 1, "vf": "l", "i": ".key"})[0]["s"] == "ok"
                assert client.request("unauth")[0]["s"] == "ok"
                assert client.request("p", p="/open/a", d=2)[0]["s"] == "ok"
        with Events(server.port, "default") as client:
            assert "error" not in client.ask("auth", token=secret)
            assert "error" not in client.ask("set", path="/room/a", value=1)
            assert "error" not in client.ask("get", path="/")
        for target in ("/.json", "/room.json", '/.json?orderBy="$key"&limitToLast=1'):
            with Stream(server.port, target, headers=claim) as stream:
                assert stream.status == 200
        assert server.stop() == 0
        written, exported = lines(server, "data written", 3), lines(server, "data exported", 4)
    assert {line["by"] for line in written + exported} == {"admin"}
    assert {line["peer"] for line in written + exported} == {"127.0.0.1"}
    assert {line["database"] for line in written + exported} == {"default"}
    assert {line["door"]: (line["path"], line.get("requests")) for line in written} == {
        "/.ws": ("/room/a", "1002"), "/.lp": ("/room/a", "3"), "/.events": ("/room/a", None),
    }
    assert all(int(line["bytes"]) > 0 for line in written)
    assert sorted(line["door"] for line in exported) == ["/.events", "/.lp", "/.ws", "stream"]
    assert {line["path"] for line in exported} == {"/"}
    assert not any("requests" in line for line in exported)


RULES = {"rules": {"mine": {".read": "auth.token.role === 'boss'", ".write": False}}}
CLAIM = "a planted claim"


def test_connections_have_short_names_and_consoles_no_claims(tmp_path):
    with Hearth(log=tmp_path / "log") as server:
        rules = json.dumps(RULES).encode()
        owner = {"Authorization": "Bearer owner"}
        assert server.request("PUT", "/.settings/rules.json?ns=demo", raw=rules, headers=owner).status == 200
        token = unsigned({"sub": "bob", "user_id": "bob", "uid": "bob", "role": CLAIM})
        with Wire(server.port) as client:
            assert client.request("auth", cred=token)[0]["s"] == "ok"
            body, pushes = client.request("q", p="/mine", h="")
            assert body["s"] == "permission_denied"
            text = pushes[0]["b"]["msg"]
            assert text.startswith("listen /mine refused: ")
            # The values that decided are shown; the claims only on request.
            assert text.splitlines()[-1] == "asked by \"bob\"; 'hearth rules requests --refused' shows the claims"
            assert len(text) <= 2048
            client.send_text("no JSON")
            server.await_log("closed a connection")
        assert re.search(r"closed a connection: .* connection=1$", server.log_text, re.M), server.log_text
        answer = server.get("/mine.json?ns=demo", headers={"Authorization": f"Bearer {token}"})
        header = answer.headers["X-Firebase-Auth-Debug"]
        assert answer.status == 401 and "asked by \"bob\"; 'hearth rules requests" in header
        shown = hearth(server, "rules", "requests", "--refused", "--ns", "demo").stdout.decode()
        assert shown.count("asked by \"bob\": {") == 2 and f'"role":"{CLAIM}"' in shown
        page = server.get("/.inspect/requests.json?ns=demo&refused=true", headers=owner).json["requests"]
        assert [request.get("connection") for request in page] == [None, "1"]
