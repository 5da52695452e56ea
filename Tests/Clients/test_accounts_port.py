"""Accounts on a port of their own, as SDKs look for an Auth emulator, and where tools find it."""

import http.client
import json
import sys

import pytest

from hearth_server import Hearth
from test_exec import run
from test_one_time_codes import OWNER, V1


def ask(port, method, path, body=None, headers=None):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=120)
    text = None if body is None else json.dumps(body)
    connection.request(method, path, text, headers or {})
    answer = connection.getresponse()
    content = answer.read()
    connection.close()
    return answer.status, content


def accounts_port(server):
    word = server.ready.split()[-1]
    assert word.startswith("accounts=http://127.0.0.1:"), server.ready
    return int(word.rsplit(":", 1)[1])


@pytest.fixture
def server():
    with Hearth("--accounts-port", "0") as server:
        yield server


def test_accounts_are_the_same_on_both_ports(server):
    port = accounts_port(server)
    body = {"email": "ann@example.com", "password": "secret1"}
    status, text = ask(port, "POST", f"{V1}accounts:signUp?key=k", body)
    assert status == 200, text
    answer = server.request("POST", f"{V1}accounts:signInWithPassword?key=k", body)
    assert answer.json["localId"] == json.loads(text)["localId"]


def test_a_link_leads_to_the_port_that_it_was_asked_at(server):
    port = accounts_port(server)
    body = {"requestType": "EMAIL_SIGNIN", "email": "ann@example.com"}
    assert ask(port, "POST", f"{V1}accounts:sendOobCode?key=k", body)[0] == 200
    status, text = ask(port, "GET", "/emulator/v1/projects/p/oobCodes")
    assert status == 200
    link = json.loads(text)["oobCodes"][0]["oobLink"]
    assert link.startswith(f"http://127.0.0.1:{port}/emulator/action?")


def test_the_port_says_that_it_is_ready_as_an_emulator_does(server):
    status, text = ask(accounts_port(server), "GET", "/")
    assert status == 200 and json.loads(text)["authEmulator"]["ready"] is True


@pytest.mark.parametrize("method, path", [
    ("GET", "/data.json"), ("PUT", "/data.json"), ("GET", "/.settings/rules.json"),
    ("GET", "/.metrics"), ("GET", "/emulators"), ("GET", "/.lp?start=t"), ("GET", "/nothing"),
])
def test_the_port_serves_nothing_else(server, method, path):
    body = {"x": 1} if method == "PUT" else None
    status, text = ask(accounts_port(server), method, path, body, OWNER)
    assert status == 404 and json.loads(text)["error"]["code"] == 404
    assert server.get("/data.json", headers=OWNER).json is None


def test_the_port_takes_no_websocket(server):
    headers = {
        "Connection": "Upgrade", "Upgrade": "websocket", "Sec-WebSocket-Version": "13",
        "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==",
    }
    assert ask(accounts_port(server), "GET", "/.ws?v=5&ns=x", headers=headers)[0] == 404


@pytest.mark.parametrize("headers", [
    {"Host": "stranger.example"}, {"Origin": "https://stranger.example"},
])
def test_pages_of_strangers_are_refused_on_the_port(server, headers):
    path = "/emulator/v1/projects/p/oobCodes"
    assert ask(accounts_port(server), "GET", path, headers=headers)[0] == 403


def test_a_page_of_this_machine_may_ask(server):
    headers = {
        "Origin": "http://localhost:5000", "Access-Control-Request-Method": "POST",
        "Access-Control-Request-Headers": "content-type,x-client-version",
    }
    connection = http.client.HTTPConnection("127.0.0.1", accounts_port(server), timeout=120)
    connection.request("OPTIONS", f"{V1}accounts:signUp?key=k", headers=headers)
    answer = connection.getresponse()
    assert answer.status == 204
    assert answer.headers["Access-Control-Allow-Origin"] == "http://localhost:5000"
    assert answer.headers["Access-Control-Allow-Headers"] == "content-type,x-client-version"
    connection.close()


def test_the_hub_lists_the_port(server):
    auth = server.get("/emulators").json["auth"]
    assert (auth["host"], auth["port"]) == ("127.0.0.1", accounts_port(server))
    assert auth["listen"][0]["port"] == auth["port"]


def test_without_a_port_of_their_own_the_hub_lists_the_servers(dev):
    assert dev.get("/emulators").json["auth"]["port"] == dev.port
    assert "accounts=" not in dev.ready


def test_the_port_closes_with_the_server(server):
    port = accounts_port(server)
    assert server.stop() == 0
    with pytest.raises(OSError):
        ask(port, "GET", "/")


def test_in_production_the_port_says_who_is_there(tmp_path):
    with Hearth("--accounts-port", "0", dev=False, data=tmp_path / "data") as server:
        status, text = ask(accounts_port(server), "GET", "/")
        assert status == 200 and text.startswith(b"Hearth ")
        assert ask(accounts_port(server), "GET", "/.well-known/jwks.json")[0] in (200, 501)
        assert ask(accounts_port(server), "GET", "/emulator/v1/projects/p/oobCodes")[0] == 404


@pytest.mark.parametrize("flags, project", [([], "demo-hearth"), (["--project=ours"], "ours")])
def test_a_command_of_exec_finds_accounts_and_tokens_of_its_project(flags, project):
    script = """
import base64, json, os, urllib.request as r
host = os.environ["FIREBASE_AUTH_EMULATOR_HOST"]
assert host == os.environ["FIREBASE_DATABASE_EMULATOR_HOST"]
url = f"http://{host}/identitytoolkit.googleapis.com/v1/accounts:signUp?key=k"
answer = json.load(r.urlopen(url, b'{"returnSecureToken":true}'))
claims = answer["idToken"].split(".")[1]
claims = json.loads(base64.urlsafe_b64decode(claims + "=" * (-len(claims) % 4)))
print(claims["aud"], claims["iss"], os.environ["GCLOUD_PROJECT"])
"""
    result = run(*flags, "--", sys.executable, "-c", script)
    assert result.returncode == 0, result.stderr
    issuer = f"https://securetoken.google.com/{project}"
    assert result.stdout.split() == [project, issuer, project]
