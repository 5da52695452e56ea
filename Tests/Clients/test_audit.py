"""The audit log: each change of an administrator leaves one line, whichever door it came by, and the lines outlive the server."""

import json
import re
import stat
import threading
import time

import pytest

from command_line import hearth, start
from console_door import Visitor, viewer_of
from event_client import Events
from hearth_server import ROOT, Hearth
from production_server import Production

RULES = {"rules": {".read": True}}
PROJECT = "/v1/projects/demo"
FORM = b'--x\r\nContent-Disposition: form-data; name="f"; filename="f"\r\n\r\n{"a":1}\r\n--x--\r\n'


BATCH = (
    b"--x\r\nContent-Type: application/http\r\n\r\nDELETE /storage/v1/b/one/o/b HTTP/1.1\r\n\r\n\r\n--x--\r\n"
)

# What is posted there is a question.
DEVELOPMENT_ONLY = ("POST", "/.inspect/databases.json")
# `test_cluster_nodes.py` has its line.
OF_A_GROUP = ("POST", "/.settings/cluster/handover.json")
QUESTIONS = {"/.simulate", "/.settings/rules_check.json", "/.inspect/backup_check.json"}


def changing_rows():
    """The rows of the table of routes by which administrators change something, as REST.md has them."""
    page = (ROOT / "docs" / "reference" / "REST.md").read_text()
    for pattern, methods, who in re.findall(r"^\| `(/[^`]*)` \| ([^|]*) \| ([^|]*) \|$", page, re.M):
        if who == "administrators" and pattern not in QUESTIONS:
            for method in re.findall(r"`(\w+)`", methods):
                if method not in ("GET", "HEAD") and (method, pattern) not in (DEVELOPMENT_ONLY, OF_A_GROUP):
                    yield method, pattern


def open_upload(served):
    """The address of a resumable upload that has begun, which is no entry yet."""
    path = "/upload/storage/v1/b/one/o?uploadType=resumable&name=r"
    started = served.request("POST", path, {}, headers=served.head)
    return "/" + started.headers["Location"].split("/", 3)[3]


def open_connection(served):
    """The address of a connection that is open now."""
    served.client = Events(served.port, ns="default")
    [connection] = served.get("/.inspect/connections.json", headers=served.head).json["connections"]
    return f"/.inspect/connections/{connection['id']}.json"


# What to send for each: the address, or what makes it, and the body. A new row needs one here, and fails without.
RECIPES = {
    ("DELETE", "/.inspect/connections/{id}.json"): (open_connection, None),
    ("POST", "/{path}/.upload"): ("/up/.upload", FORM),
    ("PUT", "/.settings/rules.json"): ("/.settings/rules.json", RULES),
    ("DELETE", "/.settings/rules.json"): ("/.settings/rules.json", None),
    ("POST", "/.settings/rulesets.json"): ("/.settings/rulesets.json", RULES),
    ("PUT", "/.settings/ruleset_labels.json"): ("/.settings/ruleset_labels.json", {}),
    ("PUT", "/.settings/defaultWriteSizeLimit.json"): ("/.settings/defaultWriteSizeLimit.json", "small"),
    ("PUT", "/.settings/strictTriggerValidation.json"): ("/.settings/strictTriggerValidation.json", True),
    ("DELETE", "/.inspect/requests"): ("/.inspect/requests", None),
    ("DELETE", "/.inspect/requests.json"): ("/.inspect/requests.json", None),
    ("DELETE", "/.inspect/coverage"): ("/.inspect/coverage", None),
    ("DELETE", "/.inspect/coverage.json"): ("/.inspect/coverage.json", None),
    ("DELETE", "/.inspect/shadow.json"): ("/.inspect/shadow.json", None),
    ("PUT", "/.inspect/level.json"): ("/.inspect/level.json", "all"),
    ("POST", "/.accounts/service-accounts.json"): ("/.accounts/service-accounts.json", {"name": "robot"}),
    ("DELETE", "/.accounts/service-accounts/{name}.json"): ("/.accounts/service-accounts/robot.json", None),
    ("POST", "/.accounts/keys.json"): ("/.accounts/keys.json", {}),
    ("POST", "/upload/storage/v1/b/{bucket}/o"): ("/upload/storage/v1/b/one/o?uploadType=media&name=a", b"hello"),
    ("PUT", "/upload/storage/v1/b/{bucket}/o"): (open_upload, b"hello"),
    ("PUT", "/storage/v1/b/{address...}"): ("/storage/v1/b/one/o/a", {}),
    ("PATCH", "/storage/v1/b/{address...}"): ("/storage/v1/b/one/o/a", {"metadata": {"k": "v"}}),
    ("POST", "/storage/v1/b/{address...}"): ("/storage/v1/b/one/o/a/copyTo/b/one/o/b", {}),
    ("DELETE", "/storage/v1/b/{address...}"): ("/storage/v1/b/one/o/a", None),
    ("POST", "/batch/storage/v1"): ("/batch/storage/v1", BATCH),
}
ACCOUNTS = [
    ("POST", f"{PROJECT}/accounts", {"localId": "u1", "email": "u1@example.com"}, "an account is made"),
    ("POST", f"{PROJECT}/accounts:update", {"localId": "u1", "displayName": "U"}, "an account is changed"),
    ("POST", f"{PROJECT}/accounts:sendOobCode", {"requestType": "PASSWORD_RESET", "email": "u1@example.com", "returnOobLink": True}, "a link for an account is made"),
    ("POST", f"{PROJECT}/accounts:delete", {"localId": "u1"}, "an account is removed"),
    ("POST", f"{PROJECT}/accounts:batchCreate", {"users": [{"localId": "u2"}, {"localId": "u3"}]}, "accounts imported"),
    ("POST", f"{PROJECT}/accounts:batchDelete", {"localIds": ["u2", "u3"], "force": True}, "accounts removed"),
    ("PATCH", "/v2/projects/demo/config?updateMask=signIn.email.enabled", {}, None),
]


def entries(server, head, query=""):
    answer = server.get(f"/.inspect/audit.json?limit=1000{query}", headers=head)
    assert answer.status == 200, answer.text
    return answer.json["entries"]


def files(data):
    return sorted((data / "audit").glob("*.jsonl"))


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    folder = tmp_path_factory.mktemp("audited")
    flags = ("--project", "demo", "--files-bucket", "one")
    with Hearth(*flags, dev=False, data=folder / "data", log=folder / "log") as server:
        server.folder = folder
        server.secret_file = folder / "data" / "admin-secret"
        server.head = {"Authorization": f"Bearer {server.secret_file.read_text().strip()}"}
        yield server


def test_each_row_that_changes_something_leaves_one_line(served):
    rows = list(changing_rows())
    assert len(rows) >= len(RECIPES)
    for method, pattern in sorted(rows, key=lambda row: list(RECIPES).index(row) if row in RECIPES else 0):
        assert (method, pattern) in RECIPES, f"{method} {pattern} has no recipe here"
        path, body = RECIPES[method, pattern]
        path = path(served) if callable(path) else path
        before = len(entries(served, served.head))
        if isinstance(body, bytes):
            kind = "mixed" if body is BATCH else "form-data"
            head = {**served.head, "Content-Type": f"multipart/{kind}; boundary=x"}
            answer = served.request(method, path, raw=body, headers=head)
        else:
            answer = served.request(method, path, body, headers=served.head)
        assert answer.status in (200, 204), (method, path, answer.status, answer.text)
        newest, *older = entries(served, served.head)
        assert len(older) == before, (method, pattern, newest)
        assert newest["request"] == f"{method} {pattern}"
        assert (newest["by"], newest["with"], newest["from"], newest["door"]) == ("admin", "secret", "127.0.0.1", "request")
        assert abs(newest["time"] / 1000 - time.time()) < 600
        assert "role" not in newest
    texts = "".join(file.read_text() for file in files(served.folder / "data"))
    assert "PRIVATE KEY" not in texts and served.secret_file.read_text().strip() not in texts


@pytest.mark.parametrize("method, path, body, what", ACCOUNTS, ids=[path.rpartition(":")[2] for _, path, _, _ in ACCOUNTS])
def test_so_does_each_change_of_accounts(served, method, path, body, what):
    before = len(entries(served, served.head))
    answer = served.request(method, path, body, headers={**served.head, "Content-Type": "application/json"})
    if answer.status >= 400:
        # Not all of it is served; then nothing is changed either.
        assert what is None
        assert len(entries(served, served.head)) == before
        return
    newest, *older = entries(served, served.head)
    assert len(older) == before
    assert what is None or newest["what"] == what
    assert "example.com" not in json.dumps(newest), "no addresses of people"


def test_a_database_that_is_made_in_development_is_in_it(tmp_path):
    with Hearth(data=tmp_path / "data") as server:
        assert server.request("POST", "/.inspect/databases.json", {"name": "shop"}).status == 200
        [entry] = entries(server, {})
        assert (entry["what"], entry["database"], entry["with"]) == ("a database is made", "shop", "development")
        assert server.request("POST", "/.inspect/databases.json", {"name": "shop"}).status == 409
        assert len(entries(server, {})) == 1


def test_questions_refusals_and_plain_data_leave_none(served):
    before = entries(served, served.head)
    served.get("/.settings/rules.json", headers=served.head)
    served.request("PUT", "/.settings/rules.json?dryRun=true", RULES, headers=served.head)
    served.request("PUT", "/.settings/rules.json", {"rules": 5}, headers=served.head)
    served.request("PUT", "/.settings/rules.json?expectedVersion=77", RULES, headers=served.head)
    served.request("PUT", "/.settings/rules.json", RULES)
    served.request("POST", f"{PROJECT}/accounts:query", {}, headers=served.head)
    served.request("POST", f"{PROJECT}/accounts:delete", {"localId": "nobody"}, headers=served.head)
    served.request("POST", f"{PROJECT}/accounts:delete", {"localId": "nobody"})
    served.put("/plain.json", 1, headers=served.head)
    served.get("/.inspect/audit.json", headers=served.head)
    assert entries(served, served.head) == before
    assert served.get("/.inspect/audit.json").status == 401


def test_rules_have_their_versions(served):
    for rules in (RULES, {"rules": {}}):
        assert served.request("PUT", "/.settings/rules.json", rules, headers=served.head).status == 200
    newest, before, *_ = entries(served, served.head)
    assert newest["what"] == "the rules are replaced" and newest["database"] == "default"
    version = int(newest["details"]["version"])
    assert newest["details"]["before"] == str(version - 1) == before["details"]["version"]
    served.request("DELETE", "/.settings/rules.json", headers=served.head)
    assert entries(served, served.head)[0]["what"] == "the database's own rules are removed"


def test_who_leaves_before_the_answer_is_in_it(served):
    """Closing the connection at once does not keep a change out of the log: there is an entry for each version of the rules."""
    import socket

    def change():
        return served.request("PUT", "/.settings/rules.json", RULES, headers=served.head).headers["Rules-Version"]

    first, before = int(change()), entries(served, served.head)[0]["number"]
    head = "".join(f"{name}: {value}\r\n" for name, value in served.head.items())
    for number in range(60):
        body = json.dumps({"rules": {f"left{number}": {".read": True}}})
        with socket.create_connection(("127.0.0.1", served.port)) as left:
            left.sendall(
                f"PUT /.settings/rules.json HTTP/1.1\r\nHost: localhost\r\n{head}Content-Length: {len(body)}\r\n\r\n{body}".encode()
            )
    last = int(change())
    versions = [int(entry["details"]["version"]) for entry in entries(served, served.head, f"&after={before}")]
    assert versions == list(range(last, first, -1))


def test_the_command_shows_it(served):
    served.request("PUT", "/.inspect/level.json", "off", headers=served.head)
    secret = ["--admin-secret-file", served.secret_file]
    done = hearth(served, "audit", "--limit", "2", *secret)
    assert done.returncode == 0, done.stderr
    last = done.stdout.decode().splitlines()[-1]
    assert re.match(r"\d{4}-\d\d-\d\dT[\d:.]+Z admin \(secret\) 127\.0\.0\.1 request: a setting is changed database=default", last), last
    lines = hearth(served, "audit", "--json", "--text", "LEVEL.json", *secret).stdout.decode().splitlines()
    assert all("level.json" in json.loads(line)["request"] for line in lines) and lines
    folder = hearth(None, "audit", "--data-dir", served.folder / "data", "--json", "--text", "level.json")
    assert folder.returncode == 0 and folder.stdout.decode().splitlines() == lines
    assert hearth(served, "audit", "--limit", "0", *secret).returncode == 2
    assert hearth(served, "audit", "--data-dir", "x", "--follow").returncode == 2
    assert hearth(None, "audit", "--data-dir", served.folder / "nothing").returncode == 1


def test_the_command_follows(served):
    process = start(served, "audit", "--follow", "--json", "--limit", "1", "--admin-secret-file", served.secret_file)
    try:
        first = json.loads(process.stdout.readline())
        served.request("PUT", "/.inspect/level.json", "refused", headers=served.head)
        assert json.loads(process.stdout.readline())["number"] > first["number"]
    finally:
        process.terminate()
        process.wait()
        process.stdout.close()
        process.stderr.close()


def test_it_outlives_the_server_and_a_torn_line(tmp_path):
    data = tmp_path / "data"
    with Hearth("--project", "demo", dev=False, data=data, log=tmp_path / "log") as server:
        head = {"Authorization": f"Bearer {(data / 'admin-secret').read_text().strip()}"}
        for level in ("all", "off"):
            server.request("PUT", "/.inspect/level.json", level, headers=head)
        # What was answered is there, however the server ends.
        server.kill()
        [file] = files(data)
        assert stat.S_IMODE(file.stat().st_mode) == 0o600 and stat.S_IMODE(file.parent.stat().st_mode) == 0o700
        assert len(file.read_text().splitlines()) == 2
        file.write_bytes(file.read_bytes()[:-10])
        done = hearth(None, "audit", "--data-dir", data)
        assert done.returncode == 0 and len(done.stdout.decode().splitlines()) == 1
        assert "the last line is torn" in done.stderr.decode()
        server.start()
        server.await_log("the last line is torn")
        server.request("PUT", "/.inspect/level.json", "all", headers=head)
        answer = server.get("/.inspect/audit.json", headers=head).json
        assert [entry["number"] for entry in answer["entries"]] == [2, 1] and answer["unreadable"] == 1


def test_a_server_in_memory_keeps_the_newest():
    with Hearth() as server:
        owner = {"Authorization": "Bearer owner"}
        for _ in range(3):
            server.request("PUT", "/.inspect/level.json", "all", headers=owner)
        assert [entry["number"] for entry in entries(server, owner)] == [3, 2, 1]
        assert [entry["number"] for entry in entries(server, owner, "&after=1")] == [3, 2]
        assert entries(server, owner)[0]["with"] == "development"


def test_the_console_has_its_changes_of_data_in_it(tmp_path):
    production = Production(tmp_path)
    with production.server:
        uid, token = viewer_of(production, "ann@example.com", role="admin")
        visitor = Visitor(production, network="203.0.113.5")
        assert visitor.sign_in(idToken=token).status == 200
        assert visitor.status("PUT", "/a.json", {"secret": "value-of-data"}) == 200
        assert visitor.status("PATCH", "/a.json", {"x": 1}) == 200
        assert visitor.status("DELETE", "/a/x.json") == 200
        with visitor.socket() as socket:
            for request in (
                {"do": "set", "path": "/b", "value": "value-of-data"}, {"do": "update", "path": "/b", "value": {"c": 1}},
                {"do": "push", "path": "/b", "value": 1}, {"do": "remove", "path": "/b"},
                {"do": "onDisconnect", "path": "/b", "value": 1},
            ):
                assert visitor.asks(socket, request)["ok"]
        # A back end's writes are none of the console's.
        assert production.request("PUT", "/plain.json", 1, token=production.secret).status == 200
        assert visitor.status("DELETE", "/.console/session.json") == 200
        found = visitor.production.request("GET", "/.inspect/audit.json?limit=100", token=production.secret).json["entries"][::-1]
        mine = [entry for entry in found if entry["by"] == uid]
        assert [entry["what"] for entry in mine] == ["signed in to the console", *["data written"] * 8, "signed out of the console"]
        kinds = [(entry["path"], entry["details"]["kind"]) for entry in mine[1:-1]]
        assert kinds[:3] == [("/a", "set"), ("/a", "update"), ("/a/x", "remove")]
        assert [kind for _, kind in kinds[3:]] == ["set", "update", "push", "remove", "onDisconnect"]
        assert all(
            (entry["with"], entry["role"], entry["from"], entry["door"]) == ("account", "admin", "203.0.113.5", "console")
            for entry in mine
        )
        assert int(mine[4]["details"]["bytes"]) > 0 and mine[4]["database"] == "default"
        assert "value-of-data" not in files(tmp_path / "data")[0].read_text()


def test_so_it_is_in_development():
    with Hearth() as server:
        owner = {"Authorization": "Bearer owner"}
        page = {**owner, "Origin": f"http://127.0.0.1:{server.port}"}
        assert server.put("/a.json", 1, headers=page).status == 200
        assert server.put("/b.json", 1, headers=owner).status == 200
        [entry] = entries(server, owner)
        assert (entry["path"], entry["with"], entry["door"]) == ("/a", "development", "console")


def test_a_service_account_is_named(tmp_path):
    production = Production(tmp_path)
    with production.server:
        token = production.access_token(production.create("robot"))
        assert production.request("PUT", "/.settings/rules.json", RULES, token=token).status == 200
        newest = production.request("GET", "/.inspect/audit.json?limit=1", token=token).json["entries"][0]
        assert newest["by"].startswith("robot@") and newest["with"] == "service account"


def test_many_at_once_lose_none(served):
    """Entries of many connections at the same time are each there before the answer, with numbers without holes."""
    before = entries(served, served.head)[0]["number"]
    failed = []

    def change():
        for _ in range(20):
            answer = served.request("PUT", "/.inspect/level.json", "off", headers=served.head)
            if answer.status != 200:
                failed.append(answer.text)

    threads = [threading.Thread(target=change) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failed
    numbers = [entry["number"] for entry in entries(served, served.head, f"&after={before}")]
    assert numbers == list(range(before + 160, before, -1))
    lines = [json.loads(line) for file in files(served.folder / "data") for line in file.read_text().splitlines()]
    assert [line["number"] for line in lines] == list(range(1, before + 161))
