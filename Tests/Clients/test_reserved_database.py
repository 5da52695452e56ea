"""The database in which accounts are kept: no client can name it, nothing that is for clients shows it, and it lives as
long as the data folder does."""

import json
import os
import subprocess

import pytest
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect

from hearth_server import BINARY, Hearth
from raw_http import Raw
from stream_client import Stream

EMAIL = "marker@example.com"
PASSWORD = "a marked password"
# What is stored of the account and of no other.
MARKERS = (EMAIL, "marker%40example%2Ecom", "argon2", "passwordUpdatedAt", ":accounts")
SIGN_UP = "/identitytoolkit.googleapis.com/v1/accounts:signUp?key=k"
SIGN_IN = "/identitytoolkit.googleapis.com/v1/accounts:signInWithPassword?key=k"

# Every way to write the name, as it stands in a query.
NAMES = [
    ":accounts", "%3Aaccounts", "%3aaccounts", "%253Aaccounts", "%25253Aaccounts", ":ACCOUNTS", ":Accounts",
    "%EF%BC%9Aaccounts", "%E2%88%B6accounts", "%EA%9E%89accounts", "%CB%90accounts", "%C0%BAaccounts",
    "%00:accounts", ":accounts%00", "default%00:accounts", "default:accounts", "default;:accounts",
    "%20:accounts", ":accounts%20", ":accounts%0A", ":accounts/", ":accounts%2F", "/:accounts", "..%2F:accounts",
    ".%2F:accounts", "default%2F..%2F:accounts", ":accounts.json", ":accounts%23", "%5B:accounts%5D", "+:accounts",
    "%7F:accounts", ":accou%6Ets", "%E2%80%8B:accounts", ":accounts%E2%80%8B", "%u003aaccounts", "&ns=:accounts",
]
PATHS = [
    "/.json", "/accounts.json", "/emails.json", "/.settings/rules.json", "/.settings/defaultWriteSizeLimit.json",
    "/.settings/rulesHistory.json", "/.settings/profile.json", "/.inspect/requests.json", "/.inspect/rules",
    "/.inspect/coverage.json", "/.inspect/shadow.json",
]


@pytest.fixture(scope="module", params=["production", "dev"])
def server(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp("reserved") / "data"
    with Hearth(dev=request.param == "dev", data=folder) as server:
        secret = (folder / "admin-secret").read_text().strip()
        server.bearer = {"Authorization": f"Bearer {secret}"}
        sign_up(server)
        yield server
        # Whatever was tried, the account is as it was.
        sign_in(server)


def sign_up(server, email=EMAIL):
    body = {"email": email, "password": PASSWORD, "returnSecureToken": True}
    answer = server.request("POST", SIGN_UP, body)
    assert answer.status == 200, answer.text
    return answer.json


def sign_in(server):
    answer = server.request("POST", SIGN_IN, {"email": EMAIL, "password": PASSWORD, "returnSecureToken": True})
    assert answer.status == 200, answer.text
    return answer.json["localId"]


def assert_shows_nothing(answer):
    for marker in MARKERS[:-1]:
        assert marker not in answer.text, answer.text


def run(*arguments):
    own = {k: v for k, v in os.environ.items() if not k.startswith(("HEARTH_", "FIREBASE_"))}
    return subprocess.run([BINARY, *map(str, arguments)], capture_output=True, text=True, timeout=120, env=own)


# Names


def test_no_spelling_of_the_name_reaches_it_not_even_an_administrators(server):
    for name in NAMES:
        try_every_route(server, name)


def try_every_route(server, name):
    for path in PATHS:
        answer = server.get(f"{path}?ns={name}", headers=server.bearer)
        assert_shows_nothing(answer)
        assert answer.status in (400, 404), (path, answer.text)
    writes = [
        ("PUT", "/.json", {"accounts": None}),
        ("PATCH", "/.json", {"accounts": None}),
        ("POST", "/accounts.json", {"email": "intruder@example.com"}),
        ("DELETE", "/.json", None),
        ("PUT", "/.settings/rules.json", {"rules": {".read": True, ".write": True}}),
        ("POST", "/.simulate", {"op": "read", "path": "/", "auth": None}),
        ("POST", "/.upload", {}),
    ]
    for method, path, body in writes:
        answer = server.request(method, f"{path}?ns={name}", body, headers=server.bearer)
        assert_shows_nothing(answer)
        assert answer.status in (400, 404), (method, path, answer.text)
    with Stream(server.port, f"/.json?ns={name}", headers=server.bearer) as stream:
        assert stream.status in (400, 404)


def test_no_socket_and_no_long_poll_opens_on_it(server):
    for name in NAMES:
        for path in (f"/.ws?v=5&ns={name}", f"/.events?ns={name}"):
            try:
                with connect(f"ws://127.0.0.1:{server.port}{path}") as socket:
                    first = socket.recv(timeout=120)
                    # The wire protocol has a message for it, before it closes.
                    assert json.loads(first)["d"]["t"] == "s", (name, first)
            except InvalidStatus as refused:
                assert refused.response.status_code in (400, 404), name
        answer = server.get(f"/.lp?start=t&ser=1&cb=1&v=5&ns={name}")
        assert_shows_nothing(answer)
        assert answer.status == 400 or '"t":"s"' in answer.text, (name, answer.text)
        assert "'start'" not in answer.text


@pytest.mark.parametrize(
    "host",
    [
        ":accounts.localhost", "%3Aaccounts.localhost", ":accounts", "[:accounts]", "[::accounts]", "\xef\xbc\x9aaccounts.localhost",
        ":accounts.localhost:80", "x.:accounts.localhost", "localhost:accounts", "default.localhost:accounts",
    ],
)
def test_no_host_names_it(server, host):
    raw = Raw(server.port)
    bearer = server.bearer["Authorization"]
    raw.send(
        f"GET /.json HTTP/1.1\r\nHost: {host}\r\nAuthorization: {bearer}\r\nConnection: close\r\n\r\n".encode("latin-1")
    )
    while raw._fill():
        pass
    for marker in MARKERS[:-1]:
        assert marker.encode() not in raw.waiting
    status = int(raw.waiting.split()[1])
    # What is no host names nothing: the standard database, which is empty, or a refusal.
    assert status in (400, 403) or status == 200 and raw.waiting.endswith(b"null"), raw.waiting


@pytest.mark.parametrize(
    "flags",
    [
        ["--database", ":accounts"],
        ["--database", ":accounts=rules.json"],
        ["--database", "%3Aaccounts"],
        ["--alias", "mine=:accounts"],
        ["--alias", ":accounts=default"],
        ["--map-host", "a.example=:accounts"],
        ["--import", ":accounts=data.json"],
    ],
)
def test_no_setting_names_it(tmp_path, flags):
    (tmp_path / "rules.json").write_text('{"rules":{".read":true,".write":true}}')
    (tmp_path / "data.json").write_text("{}")
    flags = [flag.replace("rules.json", str(tmp_path / "rules.json")) for flag in flags]
    flags = [flag.replace("data.json", str(tmp_path / "data.json")) for flag in flags]
    result = run("serve", "--dev", "--memory", "--port", "0", *flags)
    assert result.returncode != 0 and "hearth ready" not in result.stdout
    assert "accounts" in result.stderr


# Listings


def test_nothing_that_lists_or_counts_databases_has_it(server):
    for path in ("/.inspect/databases.json", "/.metrics", "/.inspect/requests.json?ns=default"):
        answer = server.get(path, headers=server.bearer)
        assert answer.status == 200, answer.text
        for marker in MARKERS:
            assert marker not in answer.text, path


def test_no_ring_of_decisions_and_no_profile_tells_of_it(tmp_path):
    with Hearth("--inspect", "all", data=tmp_path / "data") as server:
        assert server.put("/x.json?ns=default", 1).status == 200
        with Stream(server.port, "/.settings/profile.json?ns=default") as profile:
            sign_up(server)
            sign_in(server)
            # The one operation on the watched database comes, and nothing before it.
            assert server.put("/x.json?ns=default", 2).status == 200
            assert profile.status == 200
            name, data = profile.next()
            assert json.loads(data)["path"] == ["x"], data
        rings = server.get("/.inspect/requests.json?ns=default").text
        for marker in MARKERS:
            assert marker not in rings


def test_no_export_has_it(tmp_path):
    last = tmp_path / "last"
    with Hearth("--export-on-exit", str(last), data=tmp_path / "data") as server:
        sign_up(server)
        assert server.put("/a.json?ns=default", 1).status == 200
        body = {"path": str(tmp_path / "now"), "initiatedBy": "test"}
        assert server.request("POST", "/_admin/export", body).status == 200
        assert server.stop() == 0
    for folder in (tmp_path / "now", last):
        files = sorted(path.name for path in (folder / "database_export").iterdir())
        assert files == ["default.json"]
        for file in folder.rglob("*"):
            if file.is_file():
                for marker in MARKERS:
                    assert marker not in file.read_text()


def test_an_emulators_export_with_a_file_of_its_name_imports_nothing(tmp_path):
    data = tmp_path / "export" / "database_export"
    data.mkdir(parents=True)
    version = {"version": "1"}
    metadata = {**version, "database": {**version, "path": "database_export"}}
    (tmp_path / "export" / "firebase-export-metadata.json").write_text(json.dumps(metadata))
    account = {"createdAt": 1, "email": "intruder@example.com"}
    (data / ":accounts.json").write_text(json.dumps({"accounts": {"intruder": account}}))
    result = run("serve", "--dev", "--memory", "--port", "0", "--import", tmp_path / "export")
    assert result.returncode != 0 and "hearth ready" not in result.stdout
    assert "accounts" in result.stderr


# Its life


def account_ids(server):
    secret = {"Authorization": "Bearer owner"}
    answer = server.get("/identitytoolkit.googleapis.com/v1/projects/hearth/accounts:batchGet", headers=secret)
    assert answer.status == 200, answer.text
    return {user["localId"] for user in answer.json.get("users", [])}


def test_accounts_survive_a_kill_other_rules_and_another_list_of_databases(tmp_path):
    folder = tmp_path / "data"
    rules = tmp_path / "rules.json"
    rules.write_text('{"rules":{".read":false,".write":false}}')
    with Hearth(data=folder) as server:
        ann = sign_up(server)["localId"]
        bob = sign_up(server, "bob@example.com")["localId"]
        server.kill()
    with Hearth("--database", "other", "--rules", str(rules), data=folder, log=tmp_path / "log") as server:
        assert account_ids(server) == {ann, bob}
        assert sign_in(server) == ann
        # Rules read again are those of databases that clients name.
        rules.write_text('{"rules":{".read":true,".write":true}}')
        server.await_log("rules read again")
        assert sign_in(server) == ann
        token = sign_up(server, "eve@example.com")["idToken"]
        for name in NAMES:
            assert server.get(f"/.json?ns={name}&auth={token}").status == 400
        server.kill()
    with Hearth(data=folder) as server:
        assert len(account_ids(server)) == 3


def test_accounts_are_in_the_log_and_in_backups_and_come_back(tmp_path):
    folder = tmp_path / "data"
    with Hearth(data=folder) as server:
        ann = sign_up(server)["localId"]
        assert server.put("/a.json?ns=default", 1).status == 200
        hot = run("backup", "--url", server.address, tmp_path / "hot")
        assert hot.returncode == 0 and ":accounts up to commit" in hot.stdout, hot
        assert server.stop() == 0
    cold = run("backup", "--data-dir", folder, tmp_path / "cold")
    assert cold.returncode == 0 and ":accounts up to commit" in cold.stdout, cold
    assert ":accounts" in run("log", "inspect", "--records", folder).stdout
    for file in ("hot", "cold"):
        restored = tmp_path / f"restored-{file}"
        result = run("restore", tmp_path / file, "--data-dir", restored)
        assert result.returncode == 0, result.stderr
        # Keys are not in a backup: people sign in anew, with the passwords they have.
        with Hearth(dev=False, data=restored) as server:
            assert sign_in(server) == ann
            assert server.get("/.json?ns=:accounts").status == 400
