"""A page of another origin must not reach a developer's database."""

import socket

import pytest

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
    with socket.create_connection(("127.0.0.1", port), timeout=20) as peer:
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


@pytest.mark.parametrize("method, target", [route for route in ROUTES if ".lp" not in route[1]])
def test_local_pages_and_plain_clients_are_served(dev, method, target):
    for headers in ALLOWED:
        status, answer = exchange(dev.port, method, target, headers)
        assert status in (101, 200), (headers, answer)
