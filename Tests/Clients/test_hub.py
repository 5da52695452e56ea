"""The emulator hub: discovery, triggers, exports, the locator file, databases."""

import http.client
import json
import os
from pathlib import Path

import pytest

from hearth_server import Hearth


def hub(server, method, path, body=None, headers=None):
    connection = http.client.HTTPConnection("127.0.0.1", server, timeout=120)
    connection.request(method, path, body, headers or {})
    answer = connection.getresponse()
    text = answer.read()
    connection.close()
    return answer.status, text


def test_the_root_says_where_the_hub_is(dev):
    assert dev.get("/").json == {
        "version": dev.get("/").json["version"],
        "origins": [dev.address],
        "pid": dev.process.pid,
        "host": "127.0.0.1",
        "port": dev.port,
    }


def test_the_emulators_are_listed_with_host_and_port(dev):
    def emulator(name):
        return {
            "name": name,
            "host": "127.0.0.1",
            "port": dev.port,
            "pid": dev.process.pid,
            "listen": [{"address": "127.0.0.1", "family": "IPv4", "port": dev.port}],
        }

    listed = {name: emulator(name) for name in ["hub", "database", "auth", "storage"]}
    assert dev.get("/emulators").json == listed


@pytest.mark.parametrize("method, path, status", [
    ("PUT", "/functions/disableBackgroundTriggers", 200),
    ("PUT", "/functions/enableBackgroundTriggers", 200),
    ("GET", "/functions/enableBackgroundTriggers", 405),
    ("POST", "/emulators", 405),
    ("GET", "/_admin/export", 405),
    ("GET", "/functions/other", 404),
])
def test_each_address_takes_its_methods(dev, method, path, status):
    assert dev.request(method, path).status == status


@pytest.mark.parametrize("path", ["/emulators", "/_admin/export", "/functions/enableBackgroundTriggers"])
def test_there_is_no_hub_in_production(tmp_path, path):
    with Hearth(dev=False, data=tmp_path / "data") as server:
        assert server.request("POST", path).status == 404
        assert server.get("/").text.startswith("Hearth ")


@pytest.mark.parametrize("flag", [
    "--hub-port=0", "--import=x", "--export-on-exit=x",
])
def test_emulator_flags_want_dev(tmp_path, flag):
    with pytest.raises(AssertionError, match="exit 2"):
        Hearth(flag, dev=False, data=tmp_path / "data")


def test_a_hub_may_have_a_port_of_its_own():
    with Hearth("--hub-port", "0") as server:
        port = int(server.ready.split("hub=http://127.0.0.1:")[1])
        assert port != server.port
        found = json.loads(hub(port, "GET", "/emulators")[1])
        assert (found["hub"]["port"], found["database"]["port"]) == (port, server.port)
        assert json.loads(hub(port, "GET", "/")[1])["port"] == port
        assert hub(port, "GET", "/a.json")[0] == 404
        assert hub(port, "GET", "/emulators", headers={"Host": "evil.example"})[0] == 403
        upgrade = {"Connection": "Upgrade", "Upgrade": "websocket", "Sec-WebSocket-Version": "13",
                   "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ=="}
        assert hub(port, "GET", "/.ws", headers=upgrade)[0] == 404
        assert server.stop() == 0


@pytest.mark.parametrize("host, expected", [
    ("127.0.0.1:{port}", "127.0.0.1"), ("db.example:{port}", "db.example"), ("[::1]:{port}", "::1"),
])
def test_on_every_address_the_host_that_was_asked_is_reported(host, expected):
    with Hearth("--host", "0.0.0.0", "--dev-exposed") as server:
        headers = {"Host": host.format(port=server.port)}
        _, text = hub(server.port, "GET", "/emulators", headers=headers)
        assert json.loads(text)["database"]["host"] == expected


def test_pages_of_other_origins_see_nothing(dev):
    for path in ["/emulators", "/", "/.inspect/databases.json"]:
        assert dev.get(path, headers={"Origin": "https://evil.example"}).status == 403


# The locator file


def test_the_locator_file_is_there_while_the_server_is(tmp_path, monkeypatch):
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    file = tmp_path / "hub-demo-party.json"
    with Hearth("--project", "demo-party") as server:
        assert json.loads(file.read_text()) == server.get("/").json
        assert server.stop() == 0
    assert list(tmp_path.iterdir()) == []


def test_the_locator_file_of_a_later_server_stays(tmp_path, monkeypatch):
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    file = tmp_path / "hub-demo-party.json"
    with Hearth("--project", "demo-party") as first, Hearth("--project", "demo-party") as second:
        assert first.stop() == 0
        assert json.loads(file.read_text()) == second.get("/").json


# Exports


def test_an_export_holds_every_database_that_holds_anything(dev, tmp_path):
    folder = tmp_path / "new" / "export"
    data = {"a": {".value": 1, ".priority": "p"}, "b": {"c": [1, 2]}, "ü": "☃"}
    dev.put("/.json?ns=one", data)
    dev.put("/.json?ns=two", 5)
    dev.request("DELETE", "/.json?ns=two")
    dev.get("/.json?ns=three")
    body = {"path": str(folder), "initiatedBy": "test", "targets": ["database", "auth"]}
    assert dev.request("POST", "/_admin/export", body).json == {"message": "OK"}
    metadata = json.loads((folder / "firebase-export-metadata.json").read_text())
    assert metadata["database"]["path"] == "database_export"
    files = {f.name: json.loads(f.read_text()) for f in (folder / "database_export").iterdir()}
    data["b"]["c"] = {"0": 1, "1": 2}
    assert files == {"one.json": data}


def test_an_export_replaces_the_one_before(dev, tmp_path):
    body = {"path": str(tmp_path)}
    (tmp_path / "auth_export").mkdir()
    for database in ["one", "two"]:
        dev.request("DELETE", "/.json?ns=one")
        dev.put(f"/.json?ns={database}", {"of": database})
        assert dev.request("POST", "/_admin/export", body).status == 200
    assert [f.name for f in (tmp_path / "database_export").iterdir()] == ["two.json"]
    assert (tmp_path / "auth_export").is_dir()


@pytest.mark.parametrize("origin", ["http://localhost", "http://127.0.0.1:4000", "null", ""])
def test_no_page_may_export(dev, tmp_path, origin):
    body = {"path": str(tmp_path / "x")}
    answer = dev.request("POST", "/_admin/export", body, headers={"Origin": origin})
    assert answer.status == 403
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("body", [
    b"", b"{", b"[]", b"{}", b'{"path": 1}', b'{"path": "relative"}', b'{"path": "/a\\u0000b"}',
    b'{"path": "/tmp/x", "targets": ["auth"]}',
])
def test_a_bad_export_is_reported(dev, body):
    assert dev.request("POST", "/_admin/export", raw=body).status == 400


def test_an_export_that_cannot_be_written_is_reported(dev, tmp_path):
    (tmp_path / "file").write_text("")
    answer = dev.request("POST", "/_admin/export", {"path": str(tmp_path / "file" / "x")})
    assert answer.status == 500
    assert "Not a directory" in answer.json["error"]


def test_a_server_exports_when_it_ends(tmp_path):
    with Hearth("--export-on-exit", str(tmp_path / "out")) as server:
        server.put("/a.json", {"b": 1})
        assert server.stop() == 0
    assert json.loads((tmp_path / "out/database_export/default.json").read_text()) == {"a": {"b": 1}}


def test_an_export_on_exit_that_fails_is_reported_by_the_exit_code(tmp_path):
    (tmp_path / "file").write_text("")
    log = tmp_path / "log"
    with Hearth("--export-on-exit", str(tmp_path / "file" / "x"), log=log) as server:
        assert server.stop() == 1
        assert "the export on exit failed" in server.log_text


# Databases


def test_the_databases_are_listed_to_everybody_in_development(dev):
    dev.put("/a.json?ns=zed", 1)
    dev.put("/a.json?ns=abc", 1)
    names = [{"name": name} for name in ["abc", "default", "zed"]]
    assert dev.get("/.inspect/databases.json?ns=any").json == names
    bad = dev.get("/.inspect/databases.json", headers={"Authorization": "Bearer nonsense"})
    assert bad.json == names
    assert dev.put("/.inspect/databases.json", 1).status == 405


def test_the_databases_are_listed_to_admins_in_production(tmp_path):
    with Hearth("--database", "one", "--database", "two", dev=False, data=tmp_path / "d") as server:
        assert server.get("/.inspect/databases.json").status == 401
        secret = Path(tmp_path / "d" / "admin-secret").read_text().strip()
        path = f"/.inspect/databases.json?ns=any&auth={secret}"
        assert server.get(path).json == [{"name": "one"}, {"name": "two"}]


def test_a_server_may_end_with_its_standard_input(tmp_path):
    import subprocess
    from hearth_server import BINARY

    process = subprocess.Popen(
        [BINARY, "serve", "--dev", "--memory", "--port", "0", "--stop-at-eof"],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
        env={**os.environ, "HEARTH_CONFIG": ""},
    )
    with process:
        assert process.stdout.readline().startswith(b"hearth ready")
        process.stdin.close()
        assert process.wait(timeout=120) == 0
