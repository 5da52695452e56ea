"""A page of another origin must not reach a developer's database."""

import re
import socket

import pytest

from hearth_server import Hearth

ROUTES = [
    ("GET", "/a.json?ns=demo"),
    ("PUT", "/a.json?ns=demo"),
    ("POST", "/.simulate?ns=demo"),
    ("GET", "/.settings/rules.json?ns=demo"),
    ("GET", "/.metrics"),
    ("UPGRADE", "/.ws?v=5&ns=demo"),
    ("GET", "/.lp?start=t&ser=1&cb=1&v=5&ns=demo"),
]

ALLOWED = [
    {"Host": "localhost:{port}"},
    {"Host": "127.0.0.1:{port}"},
    {"Host": "demo.localhost:{port}"},
    {"Host": "[::1]:{port}"},
    {"Host": "localhost:{port}", "Origin": "http://localhost:3000"},
    {"Host": "localhost:{port}", "Origin": "http://app.localhost:5173"},
    {"Host": "localhost:{port}", "Origin": "http://127.0.0.1"},
]

REFUSED = [
    {"Host": "evil.example"},
    {"Host": "127.0.0.1.nip.io"},
    {"Host": "localhost.evil.example"},
    {"Host": "localhost:{port}", "Origin": "https://evil.example"},
    {"Host": "localhost:{port}", "Origin": "null"},
    {"Host": "localhost:{port}", "Origin": "http://localhost.evil.example"},
    {"Host": "localhost:{port}", "Sec-Fetch-Site": "cross-site"},
    {"Host": "attacker.example:{port}", "Origin": "http://attacker.example:{port}"},
]


def exchange(port, method, target, headers):
    """Sends one request as it is and returns the status of the answer."""
    lines = [f"{'GET' if method == 'UPGRADE' else method} {target} HTTP/1.1"]
    lines += [f"{name}: {value.format(port=port)}" for name, value in headers.items()]
    body = b""
    if method == "UPGRADE":
        lines += [
            "Connection: Upgrade",
            "Upgrade: websocket",
            "Sec-WebSocket-Version: 13",
            "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
        ]
    else:
        lines.append("Connection: close")
        if method in ("PUT", "POST"):
            body = b'{"op":"read","path":"/"}'
            lines.append(f"Content-Length: {len(body)}")
    with socket.create_connection(("127.0.0.1", port), timeout=120) as peer:
        peer.sendall("\r\n".join(lines).encode() + b"\r\n\r\n" + body)
        answer = b""
        while b"\r\n" not in answer:
            piece = peer.recv(4096)
            assert piece, (method, target, headers, answer)
            answer += piece
        while method != "UPGRADE" and (piece := peer.recv(65536)):
            answer += piece
    return int(answer.split()[1]), answer


@pytest.mark.parametrize("method, target", ROUTES)
def test_pages_of_other_origins_are_refused(dev, method, target):
    for headers in REFUSED:
        status, answer = exchange(dev.port, method, target, headers)
        assert status == 403, (headers, answer)
        if method != "UPGRADE":
            assert b"--allow-" in answer, answer
    assert dev.get("/a.json?ns=demo").json is None


@pytest.mark.parametrize("method, target", ROUTES)
def test_local_pages_and_plain_clients_are_served(dev, method, target):
    for headers in ALLOWED:
        status, answer = exchange(dev.port, method, target, headers)
        assert status in (101, 200), (headers, answer)


# Script elements send no Origin: the page is known by Referer, or else not at all.
SCRIPTS = [
    ({"Referer": "http://localhost:3000/app"}, 200),
    ({"Referer": "http://localhost:3000/", "Sec-Fetch-Site": "cross-site"}, 200),
    ({"Sec-Fetch-Site": "same-origin"}, 200),
    ({"Sec-Fetch-Site": "same-site"}, 200),
    ({"Sec-Fetch-Site": "none"}, 200),
    ({"Sec-Fetch-Site": "cross-site"}, 403),
    ({"Referer": "https://evil.example/"}, 403),
    ({"Referer": "https://evil.example/", "Sec-Fetch-Site": "same-origin"}, 403),
    ({"Referer": "about:blank"}, 403),
    ({"Origin": "https://evil.example", "Referer": "http://localhost:3000/"}, 403),
    ({"Origin": "http://localhost:3000", "Referer": "https://evil.example/"}, 200),
]


@pytest.mark.parametrize("headers, status", SCRIPTS)
def test_scripts_are_accepted_by_the_page_that_refers_to_them(dev, headers, status):
    target = "/.lp?start=t&ser=1&cb=1&v=5&ns=demo"
    got, answer = exchange(dev.port, "GET", target, {"Host": "localhost:{port}", **headers})
    assert got == status, answer
    assert (b"pLPCommand('start'" in answer) == (status == 200)
    # Elsewhere Referer counts for nothing.
    if "Origin" not in headers:
        site = headers.get("Sec-Fetch-Site")
        target = "/a.json?ns=demo"
        got, _ = exchange(dev.port, "GET", target, {"Host": "localhost:{port}", **headers})
        assert got == (403 if site == "cross-site" else 200)


def test_an_absolute_target_names_the_host_that_is_checked(dev):
    for host, authority, status in [
        ("localhost:{port}", "evil.example", 400),
        ("evil.example", "localhost:{port}", 400),
        ("evil.example", "evil.example", 403),
        ("localhost:{port}", "localhost:{port}", 200),
    ]:
        target = f"http://{authority}/a.json?ns=demo".replace("{port}", str(dev.port))
        got, answer = exchange(dev.port, "GET", target, {"Host": host})
        assert got == status, (host, authority, answer)


def test_who_knows_a_session_may_use_it_from_anywhere(dev):
    start = "/.lp?start=t&ser=1&cb=1&v=5&ns=demo"
    host = {"Host": "localhost:{port}"}
    _, answer = exchange(dev.port, "GET", start, host)
    id, password = re.search(rb"'start','([^']+)','([^']+)'", answer).groups()
    live = f"/.lp?id={id.decode()}&pw={password.decode()}"
    for headers in [{"Sec-Fetch-Site": "cross-site"}, {"Referer": "https://evil.example/"}]:
        got, answer = exchange(dev.port, "GET", f"{live}&dframe=t", {**host, **headers})
        assert got == 200 and b"disconn=t" in answer
        got, answer = exchange(dev.port, "GET", f"{live}x&dframe=t", {**host, **headers})
        assert got == 403 and b"disconn" not in answer
        # It opens no other door, and no other host.
        got, _ = exchange(dev.port, "GET", live.replace("/.lp", "/a.json"), {**host, **headers})
        assert got == (403 if "Sec-Fetch-Site" in headers else 200)
        got, _ = exchange(dev.port, "GET", live, {"Host": "evil.example", **headers})
        assert got == 403
    got, _ = exchange(dev.port, "GET", f"{live}&disconn=t", {**host, "Sec-Fetch-Site": "cross-site"})
    assert got == 200
    got, _ = exchange(dev.port, "GET", f"{live}&dframe=t", {**host, "Sec-Fetch-Site": "cross-site"})
    assert got == 403


LOCAL = {"Host": "localhost:{port}"}


def count(server, name, **headers):
    found = re.search(rf"^{name} (\d+)$", server.get("/.metrics", headers=headers).text, re.M)
    return int(found[1])


def test_a_refused_page_can_read_why_and_the_log_says_it_once(tmp_path):
    with Hearth(log=tmp_path / "log") as server:
        for origin in ["https://evil.example:81", "https://evil.example:81", "null"]:
            got, answer = exchange(server.port, "GET", "/a.json", {**LOCAL, "Origin": origin})
            assert got == 403 and f"Access-Control-Allow-Origin: {origin}\r\n".encode() in answer, answer
            got, answer = exchange(server.port, "OPTIONS", "/a.json", {**LOCAL, "Origin": origin})
            assert got == 403, answer
        said = "start hearth with --allow-origin https://evil.example:81."
        assert exchange(server.port, "GET", "/a.json", {"Host": "nip.example"})[0] == 403
        assert server.log_text.count(said) == 1, server.log_text
        assert server.log_text.count("answered 403: A page without an origin") == 1
        assert server.log_text.count("start hearth with --allow-host nip.example.") == 1
        # Strangers do not fill the log.
        for number in range(200):
            exchange(server.port, "GET", "/a.json", {**LOCAL, "Origin": f"https://a{number}.example"})
        assert server.log_text.count("answered 403") == 100
        assert count(server, "hearth_refused_origins_total") == 207


def test_a_database_that_is_not_here_is_logged_in_development(tmp_path):
    with Hearth("--database", "mine", log=tmp_path / "log") as server:
        for target in ["/a.json?ns=mien", "/a.json?ns=mien", "/a.json?ns=mine", "/.ws?v=5&ns=other"]:
            method = "UPGRADE" if ".ws" in target else "GET"
            exchange(server.port, method, target, LOCAL)
        exchange(server.port, "GET", "/a.json", {"Host": "meni.localhost:{port}"})
        lines = [line for line in server.log_text.splitlines() if "nothing is in this database" in line]
        assert [re.search(r"named-by=(\S+)", line)[1] for line in lines] == [
            '"ns=mien"', '"ns=other"', '"Host:',
        ], lines
        assert all("there-are=mine" in line for line in lines), lines
        # One that was written to is there.
        server.put("/a.json?ns=third", 1)
        exchange(server.port, "GET", "/a.json?ns=fourth", LOCAL)
        assert "there-are=mine,third\n" in server.log_text


def test_production_counts_what_it_refuses_and_does_not_log_it(tmp_path):
    with Hearth(dev=False, data=tmp_path / "data", log=tmp_path / "log") as server:
        admin = {"Authorization": f"Bearer {(tmp_path / 'data' / 'admin-secret').read_text().strip()}"}
        for target in ["/a.json?ns=no", "/.ws?v=5&ns=no", "/.events?ns=no"]:
            exchange(server.port, "GET" if ".json" in target else "UPGRADE", target, LOCAL)
        got, answer = exchange(server.port, "GET", "/a.json", {**LOCAL, "Origin": "https://evil.example"})
        assert got == 403 and b"Access-Control-Allow-Origin: https://evil.example\r\n" in answer
        assert count(server, "hearth_unknown_databases_total", **admin) == 3
        assert count(server, "hearth_refused_origins_total", **admin) == 1
        assert "evil.example" not in server.log_text and "ns=no" not in server.log_text
