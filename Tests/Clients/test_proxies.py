"""nginx and Caddy before a production server, with the very recipes of docs/operate/OPERATING.md."""

import json
import os
import re
import shutil
import socket
import ssl
import subprocess
import time
import urllib.error
import urllib.request

import pytest

from certificates import Identity
from hearth_server import ROOT, Answer, Hearth
from secure_socket import SecureSocket
from test_origin import exchange

PAGE = (ROOT / "docs" / "operate" / "OPERATING.md").read_text()
RULES = '{"rules": {"open": {".read": true, ".write": true}, "mine": {".read": "auth != null"}}}'


# What the server answered to each request that nginx saw; a dash where it was not asked.
NOTES = "log_format seen '$upstream_status $request';\n"


def recipe(language):
    """The only code block of this language on the page."""
    (found,) = re.findall(rf"^```{language}\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    return found


def free_port():
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]


def replaced(text, *pairs):
    """Each text that stands for this test's own has to be in the recipe."""
    for old, new in pairs:
        assert old in text, f"the recipe has no {old!r}"
        text = text.replace(old, new)
    return text


def nginx(folder, identity, port, behind):
    text = replaced(
        recipe("nginx"),
        ("listen 443 ssl", f"listen 127.0.0.1:{port} ssl"),
        ("127.0.0.1:9000", f"127.0.0.1:{behind}"),
        ("server_name db.example.com;", "server_name localhost;"),
        ("/etc/ssl/db.example.com/fullchain.pem", str(identity.chain)),
        ("/etc/ssl/db.example.com/privkey.pem", str(identity.key)),
    )
    # What Debian's nginx.conf has around it, with places of ours.
    kinds = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    places = "".join(f"{kind}_temp_path {folder}/{kind};\n" for kind in kinds)
    user = "user root;" if os.geteuid() == 0 else ""
    (folder / "nginx.conf").write_text(
        f"{user}\ndaemon off;\npid {folder}/nginx.pid;\nerror_log {folder}/error.log;\n"
        f"events {{ worker_connections 512; }}\nhttp {{\n{NOTES}access_log {folder}/access.log seen;\n"
        f"{places}{text}\n}}\n"
    )
    return ["nginx", "-p", str(folder), "-e", f"{folder}/error.log", "-c", f"{folder}/nginx.conf"]


def caddy(folder, identity, port, behind):
    text = replaced(
        recipe("caddyfile"),
        ("db.example.com {", f"https://localhost:{port} {{\nbind 127.0.0.1"),
        ("127.0.0.1:9000", f"127.0.0.1:{behind}"),
        ("/etc/ssl/db.example.com/fullchain.pem", str(identity.chain)),
        ("/etc/ssl/db.example.com/privkey.pem", str(identity.key)),
        # One round of probes is enough to see that it is done.
        ("health_interval 5s", "health_interval 200ms"),
    )
    # No port 80, no port of its own for administration.
    (folder / "Caddyfile").write_text(f"{{\nadmin off\nauto_https disable_redirects\n}}\n{text}")
    return ["caddy", "run", "--config", f"{folder}/Caddyfile", "--adapter", "caddyfile"]


class Proxied:
    """A production server behind a proxy, both as the page has them."""

    def __init__(self, kind, folder):
        assert shutil.which(kind.__name__), f"{kind.__name__} is missing; run: scripts/setup test"
        self.notes = folder / "access.log"
        self.identity = Identity(folder)
        self.port = free_port()
        settings = replaced(
            recipe("json"),
            ('"port": 9000', '"port": 0'),
            ("https://db.example.com", f"https://localhost:{self.port}"),
        )
        (folder / "hearth.json").write_text(settings)
        (folder / "rules.json").write_text(RULES)
        flags = ["--config", str(folder / "hearth.json"), "--rules", str(folder / "rules.json")]
        self.server = Hearth(
            *flags, "--password-memory", "8MiB", data=folder / "data", log=folder / "log", dev=False
        )
        self.secret = (folder / "data" / "admin-secret").read_text().strip()
        self.log = open(folder / "proxy.log", "wb")
        self.proxy = subprocess.Popen(
            kind(folder, self.identity, self.port, self.server.port),
            stdin=subprocess.DEVNULL,
            stdout=self.log,
            stderr=self.log,
            env={**os.environ, "HOME": str(folder), "XDG_DATA_HOME": str(folder), "XDG_CONFIG_HOME": str(folder)},
        )
        self.context = ssl.create_default_context(cafile=str(self.identity.root))
        self.address = f"https://localhost:{self.port}"
        self.opener = urllib.request.build_opener(
            urllib.request.ProxyHandler({}), urllib.request.HTTPSHandler(context=self.context)
        )
        self.await_proxy(folder)

    def await_proxy(self, folder):
        deadline = time.monotonic() + 120
        while True:
            try:
                if self.request("GET", "/.health/ready").status == 200:
                    return
            except OSError:
                pass
            ended = self.proxy.poll() is not None
            text = (folder / "proxy.log").read_text()
            assert not ended and time.monotonic() < deadline, f"the proxy does not serve: {text}"
            time.sleep(0.05)

    def request(self, method, path, body=None, headers=None, raw=None):
        data = raw if raw is not None else None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(
            self.address + path, data=data, method=method, headers=headers or {}
        )
        try:
            with self.opener.open(request, timeout=120) as answer:
                return Answer(answer.status, answer.headers, answer.read())
        except urllib.error.HTTPError as error:
            with error:
                return Answer(error.code, error.headers, error.read())

    def raw(self, source="127.0.0.1"):
        """A connection to the proxy from an address of this machine."""
        plain = socket.create_connection(("127.0.0.1", self.port), 20, source_address=(source, 0))
        return self.context.wrap_socket(plain, server_hostname="localhost")

    def close(self):
        # Caddy would wait for connections that tests left open.
        self.proxy.terminate()
        try:
            self.proxy.wait(timeout=2)
        except subprocess.TimeoutExpired:
            self.proxy.kill()
        self.proxy.wait(timeout=120)
        self.log.close()
        assert self.server.stop() == 0
        self.server.__exit__()


@pytest.fixture(scope="module", params=[nginx, caddy], ids=["nginx", "caddy"])
def proxied(request, tmp_path_factory):
    found = Proxied(request.param, tmp_path_factory.mktemp(request.param.__name__))
    yield found
    found.close()


def test_rest_goes_through(proxied):
    assert proxied.request("PUT", "/open/a.json", {"b": [1, 2]}).json == {"b": [1, 2]}
    answer = proxied.request("GET", "/open/a.json?shallow=true")
    assert answer.json == {"b": True}
    assert answer.headers["Strict-Transport-Security"] == "max-age=31536000"
    assert answer.headers.get_all("Strict-Transport-Security") == ["max-age=31536000"]
    assert proxied.request("GET", "/mine.json").status == 401
    admin = {"Authorization": f"Bearer {proxied.secret}"}
    assert proxied.request("GET", "/mine.json", headers=admin).status == 200


def test_pages_of_listed_origins_are_let_in_and_no_others(proxied):
    def preflight(origin):
        headers = {"Origin": origin, "Access-Control-Request-Method": "PUT"}
        return proxied.request("OPTIONS", "/open/a.json", headers=headers)

    # The recipe's app.
    allowed = preflight("https://app.example.com")
    assert allowed.status == 204
    assert allowed.headers["Access-Control-Allow-Origin"] == "https://app.example.com"
    refused = preflight("https://evil.example")
    assert refused.status == 403
    assert b"--allow-origin" in refused.body


def test_long_bodies_go_through_both_ways(proxied):
    text = json.dumps({f"k{index:05}": "x" * 1000 for index in range(8000)}).encode()
    answer = proxied.request("PUT", "/open/large.json?print=silent", raw=text)
    assert answer.status == 204
    assert proxied.request("GET", "/open/large.json").json == json.loads(text)


def test_a_websocket_goes_through(proxied):
    url = f"wss://localhost:{proxied.port}/.ws?v=5&ns=default"
    with SecureSocket(url, proxied.context) as wire:
        hello = json.loads(wire.recv())
        # Where clients are sent to is what they can reach.
        assert hello["d"]["d"]["h"].split(":")[0] == "localhost"
        wire.send('{"t":"d","d":{"r":1,"a":"p","b":{"p":"/open/tea","d":"green"}}}')
        assert json.loads(wire.recv())["d"]["b"]["s"] == "ok"
        # Larger than any buffer on the way.
        large = json.dumps({"t": "d", "d": {"r": 2, "a": "p", "b": {"p": "/open/l", "d": "y" * 10000}}})
        wire.send(large)
        assert json.loads(wire.recv())["d"]["r"] == 2


def test_an_event_stream_comes_as_it_happens(proxied):
    with proxied.raw() as stream:
        stream.settimeout(120)
        stream.sendall(
            b"GET /open/news.json HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\n\r\n"
        )
        seen = b""
        while b'"data":null' not in seen:
            part = stream.recv(65536)
            assert part
            seen += part
        assert b"text/event-stream" in seen
        for number in range(3):
            proxied.request("PUT", "/open/news.json", number)
            wanted = b'"data":%d' % number
            while wanted not in seen:
                part = stream.recv(65536)
                assert part
                seen += part


def test_an_account_is_made_and_its_token_counts(proxied):
    account = {"email": "ann@example.com", "password": "correct horse", "returnSecureToken": True}
    made = proxied.request("POST", "/v1/accounts:signUp?key=any", account)
    assert made.status == 200, made.text
    path = "/identitytoolkit.googleapis.com/v1/accounts:signInWithPassword?key=any"
    signed_in = proxied.request("POST", path, account)
    assert signed_in.status == 200, signed_in.text
    token = signed_in.json["idToken"]
    assert proxied.request("GET", f"/mine.json?auth={token}").status == 200
    assert proxied.request("GET", f"/mine.json?auth={token}x").status == 401


@pytest.mark.parametrize(
    "claim",
    [
        "",
        "X-Forwarded-For: 127.0.0.1\r\n",
        "X-Forwarded-For: 198.51.100.9\r\n",
        "Forwarded: for=198.51.100.9;proto=http\r\n",
        "X-Forwarded-For: 198.51.100.9\r\nForwarded: for=198.51.100.9\r\nX-Real-IP: 198.51.100.9\r\n",
    ],
)
def test_the_client_s_own_address_is_known_whatever_it_claims(claim, proxied):
    with proxied.raw(source="127.0.0.7") as client:
        client.sendall(
            f"GET /.backup HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n{claim}"
            f"Authorization: Bearer {proxied.secret}\r\n\r\n".encode()
        )
        answer = bytearray()
        while part := client.recv(1 << 20):
            answer += part
    assert answer.startswith(b"HTTP/1.1 200 ")
    proxied.server.await_log("a backup is sent")
    proxied.server.await_log("peer=127.0.0.7")


ADMIN = "/.settings/rules.json"


@pytest.mark.parametrize(
    "header",
    [
        "X-Forwarded-For: 127.0.0.1",
        "Forwarded: for=127.0.0.1",
        "X-Real-IP: 127.0.0.1",
        "X-Forwarded-Host: localhost",
        "X-Forwarded-Proto: http",
        "Via: 1.1 tunnel",
    ],
)
def test_a_client_that_comes_through_a_tunnel_is_no_local_developer(header, dev):
    name, value = header.split(": ")
    headers = {"Host": "localhost"}
    assert exchange(dev.port, "GET", ADMIN, headers)[0] == 200
    assert exchange(dev.port, "GET", ADMIN, {**headers, name: value})[0] == 401
    owner = {**headers, name: value, "Authorization": "Bearer owner"}
    assert exchange(dev.port, "GET", ADMIN, owner)[0] == 200
    # What needs no administrator is as open as before.
    assert exchange(dev.port, "GET", "/a.json", {**headers, name: value})[0] == 200


def test_a_trusted_proxy_s_word_makes_a_local_developer_or_none():
    with Hearth("--trusted-proxy", "127.0.0.1") as server:
        for claimed, status in [
            ("127.0.0.1", 200),
            ("203.0.113.9", 401),
            ("127.0.0.1, 203.0.113.9", 401),
            ("203.0.113.9, 127.0.0.1", 401),
        ]:
            headers = {"Host": "localhost", "X-Forwarded-For": claimed}
            assert exchange(server.port, "GET", ADMIN, headers)[0] == status, claimed


def test_an_attacker_behind_the_proxy_slows_down_neither_the_owner_nor_anybody_else(tmp_path):
    flags = ["--trusted-proxy", "127.0.0.1", "--password-memory", "8MiB", "--password-passes", "1"]
    with Hearth(*flags, data=tmp_path / "data", dev=False) as server:

        def sign_in(source, password, method="signInWithPassword"):
            account = {"email": "ann@example.com", "password": password, "returnSecureToken": True}
            headers = {"X-Forwarded-For": source, "X-Forwarded-Proto": "https"}
            answer = server.request("POST", f"/v1/accounts:{method}?key=any", account, headers=headers)
            return answer.json.get("error", {}).get("message", "").split(" ")[0]

        owner, attacker, other = "198.51.100.1", "203.0.113.7", "2001:db8::7"
        assert sign_in(owner, "correct horse", "signUp") == ""
        assert sign_in(owner, "correct horse") == ""
        # Whatever the attacker claims to have come by, the proxy adds its true address.
        found = {sign_in(f"192.0.2.{number}, {attacker}", "guess") for number in range(8)}
        assert found == {"INVALID_LOGIN_CREDENTIALS", "TOO_MANY_ATTEMPTS_TRY_LATER"}
        assert sign_in(attacker, "correct horse") == "TOO_MANY_ATTEMPTS_TRY_LATER"
        assert sign_in(owner, "correct horse") == ""
        assert sign_in(other, "correct horse") == ""
        # Without the proxy's word it is the proxy's own address, and the claim is ignored.
        assert sign_in("", "correct horse") == ""
