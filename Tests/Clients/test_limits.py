"""Clients that ask for too much, or leave at the wrong moment: only they pay for it."""

import json
import os
import resource
import socket
import time
import subprocess
import sys

import pytest
from websockets.exceptions import ConnectionClosed

from hearth_server import BINARY, Hearth
from wire_client import Wire


def request_text(number, action, **body):
    return json.dumps({"t": "d", "d": {"r": number, "a": action, "b": body}})


def frame(text):
    """One masked text frame; the mask of zeros leaves the bytes as they are."""
    data = text.encode()
    if len(data) < 126:
        head = bytes([0x81, 0x80 | len(data)])
    elif len(data) < 65536:
        head = bytes([0x81, 0x80 | 126]) + len(data).to_bytes(2, "big")
    else:
        head = bytes([0x81, 0x80 | 127]) + len(data).to_bytes(8, "big")
    return head + bytes(4) + data


def burst(client, texts):
    """Sends messages in one go, past the client library's own pace."""
    client.socket.socket.sendall(b"".join(frame(text) for text in texts))


@pytest.fixture(scope="module")
def large():
    """A server whose /large takes a while to be hashed; a test that asks here puts nothing else there that stays."""
    value = {f"k{n:06}": n for n in range(300_000)}
    with Hearth() as server:
        assert server.put("/large.json?ns=demo&print=silent", value).status == 204
        yield server


SLOW_PUT = request_text(1, "p", p="/large", d=1, h="not the hash")


def test_ten_thousand_credentials_may_wait_behind_a_hash(large):
    with Wire(large.port) as client:
        numbers = range(2, 10_001)
        burst(client, [SLOW_PUT, *(request_text(n, "auth", cred="x") for n in numbers)])
        assert client.reply(1)[0]["s"] == "datastale"
        assert all(client.reply(n)[0]["s"] == "invalid_token" for n in numbers)


def test_one_waiting_message_more_ends_the_connection(large):
    client = Wire(large.port)
    burst(client, [SLOW_PUT, *(request_text(n, "s", c={}) for n in range(2, 10_003))])
    with pytest.raises(ConnectionClosed):
        while True:
            client.receive()
    assert large.get("/.health/live").status == 200


def test_waiting_messages_are_limited_by_their_bytes_too(large):
    client = Wire(large.port)
    big = request_text(2, "p", p="/x", d="x" * 9_000_000)
    with pytest.raises((ConnectionClosed, ConnectionError)):
        # One after the other they keep the connection waiting for longer than the rest takes to come.
        burst(client, [SLOW_PUT] * 100)
        for _ in range(8):
            burst(client, [big])
        while client.receive():
            pass
    assert large.get("/x.json?ns=demo").json is None


def test_a_client_that_leaves_while_its_put_is_compared_changes_nothing(large):
    client = Wire(large.port)
    client.request("o", p="/gone", d=1)
    burst(client, [SLOW_PUT, request_text(2, "p", p="/late", d=1)])
    client.close()
    assert large.get("/gone.json?ns=demo").json == 1
    with Wire(large.port) as other:
        # Its own comparison stands behind the one that was left.
        assert other.request("p", p="/large", d=1, h="no")[0]["s"] == "datastale"
    assert large.get("/late.json?ns=demo").json is None


def test_a_session_may_have_10_000_listens(dev):
    with Wire(dev.port) as client:
        burst(client, [request_text(n, "q", p=f"/k{n}", h="") for n in range(1, 10_002)])
        statuses = [client.reply(n)[0]["s"] for n in range(1, 10_002)]
        assert statuses == ["ok"] * 10_000 + ["failed"]
        assert client.request("n", p="/k1")[0]["s"] == "ok"
        assert client.request("q", p="/k0", h="")[0]["s"] == "ok"
        # One that is there already is replaced, not counted.
        assert client.request("q", p="/k0", h="")[0]["s"] == "ok"


def test_a_session_may_have_1_000_on_disconnect_writes(dev):
    with Wire(dev.port) as client:
        for n in range(1_000):
            client.send("o", p=f"/gone/k{n}", d=n)
        assert all(client.reply(n)[0]["s"] == "ok" for n in range(1, 1_001))
        assert client.request("o", p="/gone/more", d=1)[0]["s"] == "failed"
        assert client.request("oc", p="/gone/k7", d=None)[0]["s"] == "ok"
        assert client.request("o", p="/gone/more", d=1)[0]["s"] == "ok"
    expected = {f"k{n}": n for n in range(1_000) if n != 7} | {"more": 1}
    assert dev.get("/gone.json?ns=demo").json == expected


def test_cancelling_below_a_huge_on_disconnect_write_is_refused_at_once(dev):
    with Wire(dev.port) as client:
        value = {f"k{n:06}": n for n in range(100_000)}
        assert client.request("o", p="/many", d=value)[0]["s"] == "ok"
        assert client.request("oc", p="/many/k000001", d=None)[0]["s"] == "failed"
        stamps = {f"k{n:06}": {".sv": "timestamp"} for n in range(2_000)}
        assert client.request("o", p="/stamps", d=stamps)[0]["s"] == "ok"
        assert client.request("oc", p="/stamps/k000001", d=None)[0]["s"] == "failed"
        few = {"a": 1, "b": {".sv": "timestamp"}, "c": {"d": 1}}
        assert client.request("o", p="/few", d=few)[0]["s"] == "ok"
        assert client.request("oc", p="/few/a", d=None)[0]["s"] == "ok"
        assert client.request("oc", p="/many", d=None)[0]["s"] == "ok"
    stored = dev.get("/.json?ns=demo").json
    assert set(stored) == {"few", "stamps"} and len(stored["stamps"]) == 2_000
    assert set(stored["few"]) == {"b", "c"}


def test_on_disconnect_writes_are_limited_by_their_bytes_too(durable):
    client = Wire(durable.port)
    replies = [client.request("o", p=f"/gone/k{n}", d="x" * 9_000_000)[0]["s"] for n in range(9)]
    assert replies == ["ok"] * 7 + ["failed"] * 2
    # The same place again and again holds one of them only.
    assert client.request("oc", p="/gone", d=None)[0]["s"] == "ok"
    for _ in range(9):
        assert client.request("o", p="/gone", d="x" * 9_000_000)[0]["s"] == "ok"
    client.close()
    assert len(durable.get("/gone.json?ns=demo").json) == 9_000_000
    assert durable.stop() == 0


def test_more_connections_than_descriptors_leave_the_log_its_own(tmp_path):
    limited = (
        "import os, resource, sys;"
        "resource.setrlimit(resource.RLIMIT_NOFILE, (120, 120));"
        "os.execv(sys.argv[1], sys.argv[1:])"
    )
    flags = ["serve", "--dev", "--port", "0", "--data-dir", str(tmp_path / "data")]
    with subprocess.Popen(
        [sys.executable, "-c", limited, BINARY, *flags],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env={**os.environ, "HEARTH_CONFIG": ""},
    ) as process:
        try:
            port = int(process.stdout.readline().split()[2].rsplit(b":", 1)[1])
            with Wire(port) as client:
                crowd = [socket.create_connection(("127.0.0.1", port)) for _ in range(150)]
                # Large enough that the log needs new segments and checkpoints their files.
                for n in range(12):
                    assert client.request("p", p=f"/k{n}", d="x" * 9_000_000)[0]["s"] == "ok"
                for peer in crowd:
                    peer.close()
            with Wire(port) as client:
                assert client.request("p", p="/after", d=1)[0]["s"] == "ok"
        finally:
            process.terminate()
            assert process.wait(120) == 0


def test_a_server_raises_its_own_limit_on_descriptors(dev):
    limits = open(f"/proc/{dev.process.pid}/limits").read().splitlines()
    soft, hard = next(line for line in limits if line.startswith("Max open files")).split()[3:5]
    assert soft == hard == str(resource.getrlimit(resource.RLIMIT_NOFILE)[1])


def test_a_flood_of_connections_that_come_and_go_leaves_nothing_behind(dev):
    upgrade = (
        b"GET /.ws?v=5&ns=demo HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\n"
        b"Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
        b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
    )
    starts = [b"", b"GET /a", upgrade, upgrade + b"\x81\xfe\xff\xff", b"\x16\x03\x01"]
    starts.append(b"PUT /a.json HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99\r\n\r\n{")
    for n in range(1_200):
        with socket.create_connection(("127.0.0.1", dev.port)) as peer:
            peer.sendall(starts[n % len(starts)])
    assert dev.put("/b.json", 1).status == 200
    # A tick of the loop closes some; the last ones may still be open.
    deadline = time.monotonic() + 120
    while (descriptors := len(os.listdir(f"/proc/{dev.process.pid}/fd"))) >= 60:
        assert time.monotonic() < deadline, f"{descriptors} descriptors are open"
        time.sleep(0.01)
    assert dev.get("/.json").json == {"b": 1}


@pytest.mark.release
def test_a_reader_that_does_not_read_is_let_go(dev):
    value = {f"k{n:06}": "x" * 100 for n in range(20_000)}
    assert dev.put("/v.json?ns=demo&print=silent", value).status == 204
    slow = Wire(dev.port)
    burst(slow, [request_text(n, "g", p="/v", q={}) for n in range(1, 200)])
    with Wire(dev.port) as other:
        for n in range(50):
            assert other.request("p", p="/w", d=n)[0]["s"] == "ok"
    status = open(f"/proc/{dev.process.pid}/status").read()
    resident = int(status.split("VmRSS:")[1].split()[0])
    assert resident < 300_000, "kilobytes"
    # A goodbye would wait for an answer behind all that was not read.
    slow.socket.socket.shutdown(socket.SHUT_RDWR)
    slow.close()
