"""What strangers send is not read when nothing of it could count, and takes no more than a share of anything."""

import gzip
import json
import random
import socket
import struct
import time

import pytest

from hearth_server import Hearth
from raw_http import Raw, request

RULES = {
    "rules": {
        "open": {".write": True, ".read": True},
        "mine": {".write": "auth != null"},
        "known": {"$name": {".write": "$name === auth.uid"}},
        "five": {".write": "newData.val() === 5"},
    }
}
GZIP = ("Content-Encoding: gzip",)
TOO_LARGE = "Data to write exceeds the maximum size that can be modified with a single request."


def production(tmp_path, *flags):
    rules = tmp_path / "rules.json"
    rules.write_text(json.dumps(RULES))
    return Hearth(
        "--rules", str(rules), *flags, data=tmp_path / "data", dev=False, log=tmp_path / "log"
    )


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    folder = tmp_path_factory.mktemp("server")
    with production(folder) as server:
        server.secret = (folder / "data" / "admin-secret").read_text().strip()
        yield server


def metric(server, name):
    answer = server.get("/.metrics", headers={"Authorization": f"Bearer {server.secret}"})
    return float(next(l for l in answer.text.splitlines() if l.startswith(name + " ")).split()[1])


def read_jobs(server):
    """Jobs that were done once none is left: a reader lets go of a body after its request is answered."""
    while metric(server, 'hearth_work_waiting{kind="reading"}'):
        pass
    return metric(server, 'hearth_work_done_total{kind="reading"}')


def zeros(count):
    return b"[" + b"0," * (count - 1) + b"0]"


class Client(Raw):
    """One of 127.0.0.x."""

    def __init__(self, server, number, timeout=120, small=False):
        """`small`: the kernels of both sides keep little that is not read."""
        self.socket = socket.socket()
        self.socket.settimeout(timeout)
        if small:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_MAXSEG, 536)
        self.socket.bind((f"127.0.0.{number}", 0))
        self.socket.connect(("127.0.0.1", server.port))
        self.waiting = bytearray()


def ask(server, data, number=2):
    with Client(server, number) as client:
        return client.send(data).answer()


# --- who may not write is not read


BOMB = gzip.compress(zeros(10_000_000), 9)


@pytest.mark.parametrize("method", ["PUT", "POST", "PATCH"])
@pytest.mark.parametrize("path", ["/secret", "/mine", "/known/ann", ""])
def test_a_body_is_not_inflated_for_a_stranger(server, method, path):
    if method == "PATCH" and path == "":
        # An update of the root may be one of what is open.
        path = "/mine"
    before = read_jobs(server)
    answer = ask(server, request(method, f"{path}/.json", BOMB, *GZIP))
    assert answer[0] == 401
    assert json.loads(answer[2])["error"] == "Permission denied"
    assert read_jobs(server) == before


def test_a_stranger_is_not_asked_for_a_body(server):
    with Client(server, 2) as client:
        head = request("PUT", "/mine.json", b"[1]", "Expect: 100-continue")[:-3]
        assert client.send(head).answer()[0] == 401
    with Client(server, 2) as client:
        head = request("PUT", "/open.json", b"[1]", "Expect: 100-continue")[:-3]
        assert client.send(head).answer()[0] == 100
        assert client.send(b"[1]").answer()[0] == 200


def test_a_large_body_is_refused_before_its_end(server):
    before = read_jobs(server)
    with Client(server, 2) as client:
        head = request("PUT", "/mine.json", b"", "Content-Length: 200000000")
        assert client.send(head + b"[" + b" " * 70_000).answer()[0] == 401
    assert read_jobs(server) == before


@pytest.mark.parametrize("path", ["/.settings/rules.json", "/.simulate", "/.upload", "/.inspect/level.json"])
def test_a_body_for_administrators_is_not_read_for_a_stranger(server, path):
    method = "PUT" if path.endswith("json") else "POST"
    before = read_jobs(server)
    with Client(server, 2) as client:
        head = request(method, path, b"", "Content-Length: 200000000")
        assert client.send(head + b"[" + b" " * 70_000).answer()[0] in (401, 405)
    assert ask(server, request(method, path, BOMB, *GZIP))[0] in (401, 405)
    assert read_jobs(server) == before


def test_a_body_that_decides_is_read(server):
    five = gzip.compress(b"5")
    assert ask(server, request("PUT", "/five.json", five, *GZIP))[0] == 200
    assert ask(server, request("PUT", "/five.json", gzip.compress(b"6"), *GZIP))[0] == 401
    assert server.get("/five.json", headers={"Authorization": f"Bearer {server.secret}"}).json == 5


def test_a_client_that_may_write_writes(server):
    bearer = f"Authorization: Bearer {server.secret}"
    body = gzip.compress(json.dumps({"a": ["x"] * 100_000}).encode())
    for method in ["PUT", "PATCH"]:
        assert ask(server, request(method, "/mine.json?print=silent", body, bearer, *GZIP))[0] == 204
    assert ask(server, request("PUT", "/mine.json", body, "Authorization: Bearer wrong", *GZIP))[0] == 401
    text = json.dumps(RULES).encode() + b" " * 200_000
    assert ask(server, request("PUT", "/.settings/rules.json", text, bearer))[0] == 200
    packed = gzip.compress(text)
    assert ask(server, request("PUT", "/.settings/rules.json", packed, bearer, *GZIP))[0] == 200


def test_a_refusal_that_was_foreseen_is_seen_as_others_are(server):
    bearer = {"Authorization": f"Bearer {server.secret}"}
    assert server.request("PUT", "/.inspect/level.json", raw=b'"refused"', headers=bearer).status == 200
    refused = metric(server, "hearth_refused_writes_total")
    ask(server, request("PUT", "/mine.json", BOMB, *GZIP))
    seen = server.get("/.inspect/requests", headers=bearer).text
    assert "/mine" in seen
    assert metric(server, "hearth_refused_writes_total") == refused + 1


# --- readers have turns


def test_another_address_is_read_while_one_keeps_the_reader_busy(server):
    """Of one client a body is read at a time, and others' are read beside it."""
    slow = [Client(server, 2) for _ in range(3)]
    body = gzip.compress(zeros(4_000_000), 9)
    for client in slow:
        client.send(request("PUT", "/open/a.json?print=silent", body, *GZIP))
    honest = json.dumps({f"k{n}": "x" * 20 for n in range(10_000)}).encode()
    assert len(honest) > 300_000
    assert ask(server, request("PUT", "/open/b.json?print=silent", honest), 3)[0] == 204
    # None of those before it is done.
    for client in slow:
        client.socket.setblocking(False)
        with pytest.raises(BlockingIOError):
            client.socket.recv(1)
        client.socket.close()


# --- what a body comes to


def test_a_body_may_come_to_twice_its_limit_in_memory(tmp_path):
    """A zero of a list is two bytes of text and 12 to 14 in memory."""
    with production(tmp_path, "--max-body", "1MiB") as server:
        body = zeros(140_000)
        assert 256 * 1024 < len(body) < 1 << 20
        for data in [request("PUT", "/open.json?print=silent", body),
                     request("PUT", "/open.json?print=silent", gzip.compress(body), *GZIP)]:
            assert ask(server, data)[0] == 204
        body = zeros(200_000)
        assert len(body) < 1 << 20
        for data in [request("PUT", "/open.json", body),
                     request("PUT", "/open.json", gzip.compress(body), *GZIP)]:
            answer = ask(server, data)
            assert (answer[0], json.loads(answer[2])["error"]) == (400, TOO_LARGE)
        entries = json.dumps({f"k{n}": 0 for n in range(40_000)}).encode()
        assert len(entries) < 1 << 20
        answer = ask(server, request("PATCH", "/open.json", entries))
        assert (answer[0], json.loads(answer[2])["error"]) == (400, TOO_LARGE)


def resident(server):
    with open(f"/proc/{server.process.pid}/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmRSS")) * 1024


@pytest.mark.release
def test_memory_of_a_large_body_is_given_back(server):
    """The rule asks for the new value, so all of it is made, page by page, and then let go."""
    ask(server, request("PUT", "/open.json?print=silent", gzip.compress(zeros(1_000)), *GZIP))
    before = resident(server)
    read = read_jobs(server)
    # More text than that after which the memory of many bodies is given back.
    body = gzip.compress(b"[" + (b'"' + b"x" * 400 + b'",') * 50_000 + b"0]", 1)
    answer = ask(server, request("PUT", "/five.json", body, *GZIP))
    assert (answer[0], json.loads(answer[2])["error"]) == (401, "Permission denied")
    assert read_jobs(server) > read
    await_memory(server, before + 10_000_000)


@pytest.mark.release
def test_memory_of_data_that_was_replaced_and_removed_is_given_back(server):
    """The body is small; what comes of it is 14 bytes for each element, and is let go when it is replaced."""
    before, returns = resident(server), metric(server, "hearth_memory_returns_total")
    for _ in range(3):
        assert ask(server, request("PUT", "/open.json?print=silent", gzip.compress(zeros(3_000_000)), *GZIP))[0] == 204
    assert ask(server, request("DELETE", "/open.json"))[0] == 200
    await_memory(server, before + 16_000_000)
    # What the allocator keeps may be little enough before the server looks at it.
    deadline = time.monotonic() + 120
    while metric(server, "hearth_memory_returns_total") <= returns:
        assert time.monotonic() < deadline
        time.sleep(0.1)


def await_memory(server, byte_count):
    """Waits until the server has no more than so much in memory."""
    deadline = time.monotonic() + 120
    while resident(server) > byte_count:
        assert time.monotonic() < deadline, (byte_count, resident(server))
        time.sleep(0.1)


# --- unfinished messages


def open_socket(server, number, path="/.ws?v=5"):
    client = Client(server, number)
    lines = (
        "Upgrade: websocket", "Connection: Upgrade", "Sec-WebSocket-Version: 13",
        "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
    )
    client.send(request("GET", path, b"", *lines))
    assert client._until(b"\r\n\r\n").startswith(b"HTTP/1.1 101")
    return client


def unfinished(size):
    """A frame of which the last bytes are missing."""
    return struct.pack("!BBQI", 0x81, 0xFF, size + 100, 0) + b"x" * size


def segments(size):
    """A message in segments, of which the last are missing."""
    part = struct.pack("!BBHI", 0x81, 0xFE, 60_000, 0) + b"x" * 60_000
    return b"\x81\x83\0\0\0\0999" + part * (size // 60_000)


def close_code(client):
    """The code that the server closes with; None when it sends something else first, and then waits."""
    client.socket.settimeout(120)
    data = client.waiting
    while True:
        while len(data) >= 2:
            length, start = data[1], 2
            if length == 126:
                length, start = struct.unpack("!H", data[2:4])[0], 4
            if len(data) < start + length:
                break
            if data[0] == 0x88:
                return struct.unpack("!H", data[start : start + 2])[0]
            data = data[start + length :]
        part = client.socket.recv(65536)
        assert part, "the connection ended without a word"
        data += part


@pytest.mark.parametrize("message", [unfinished, segments])
def test_unfinished_messages_of_one_address_have_a_share(server, message):
    size = 12_000_000
    ended = metric(server, "hearth_transport_overloads_total")
    clients = [open_socket(server, 2) for _ in range(8)]
    for client in clients[:5]:
        client.send(message(size))
    deadline = time.monotonic() + 120
    while metric(server, "hearth_transport_inbound_bytes") < 5 * size - 100_000:
        assert time.monotonic() < deadline
    # 64 MiB have room for five of them. The sixth ends, and those before it do not.
    for client in clients[5:]:
        try:
            client.send(message(size))
        except OSError:
            pass
    for client in clients[5:]:
        assert close_code(client) == 1013
    assert metric(server, "hearth_transport_inbound_bytes") <= 64 << 20
    assert metric(server, "hearth_transport_overloads_total") == ended + 3
    other = open_socket(server, 3)
    other.send(message(size))
    while metric(server, "hearth_transport_inbound_bytes") < 6 * size - 100_000:
        assert time.monotonic() < deadline
    server.await_log("ended unfinished messages and bodies")
    for client in [*clients, other]:
        client.socket.close()
    while metric(server, "hearth_transport_inbound_bytes") > 0:
        assert time.monotonic() < deadline


# --- connections


def test_one_address_has_a_share_of_connections(tmp_path):
    with production(tmp_path, "--max-address-connections", "5") as server:
        clients = [Client(server, 2) for _ in range(5)]
        for client in clients:
            assert client.send(request("GET", "/open.json")).answer()[0] == 200
        # It may end before it is whole.
        with pytest.raises(OSError):
            with Client(server, 2) as refused:
                while refused.send(request("GET", "/open.json")).socket.recv(1):
                    raise AssertionError("answered")
                raise ConnectionResetError
        assert ask(server, request("GET", "/open.json"), 3)[0] == 200
        server.await_log("refused connections")
        assert "address=127.0.0.2" in server.log_text
        clients.pop().socket.close()
        deadline = time.monotonic() + 120
        while True:
            try:
                if ask(server, request("GET", "/open.json")):
                    break
            except OSError:
                pass
            assert time.monotonic() < deadline


def connect(server, number):
    """Whether a new connection is taken."""
    try:
        return ask(server, request("GET", "/open.json"), number) is not None
    except OSError:
        return False


def test_one_address_opens_connections_at_a_rate(tmp_path):
    with production(tmp_path, "--max-connection-rate", "2") as server:
        start = time.monotonic()
        taken = sum(connect(server, 2) for _ in range(200))
        # 20 at once, 2 for each second that it took.
        assert 20 <= taken <= 21 + 2 * (time.monotonic() - start)
        assert connect(server, 3)
        secret = (tmp_path / "data" / "admin-secret").read_text().strip()
        server.secret = secret
        assert metric(server, "hearth_transport_refused_connections_total") == 200 - taken


def test_a_trusted_proxy_speaks_for_many(tmp_path):
    flags = ("--max-connection-rate", "1", "--max-address-connections", "3", "--trusted-proxy", "127.0.0.2")
    with production(tmp_path, *flags) as server:
        assert all(connect(server, 2) for _ in range(100))
        assert not all(connect(server, 3) for _ in range(100))


def test_a_developer_has_all_the_connections_there_are(dev):
    assert all(connect(dev, 2) for _ in range(300))


def test_what_is_built_in_lets_an_office_come_back_at_once(server):
    assert all(connect(server, 7) for _ in range(1_500))


# --- answers


def test_so_many_answers_are_compressed_at_a_time_and_the_next_leave_as_they_are(tmp_path):
    with production(tmp_path) as server:
        # Random digits, of which some 100 KB are under way to a reader who reads nothing, and the rest waits.
        value = {f"k{n}": random.Random(n).randbytes(60).hex() for n in range(10_000)}
        body = gzip.compress(json.dumps(value).encode())
        assert ask(server, request("PUT", "/open.json?print=silent", body, *GZIP))[0] == 204
        get = request("GET", "/open.json", b"", "Accept-Encoding: gzip")
        readers = []
        for _ in range(256):
            readers.append(Client(server, 2, small=True).send(get))
            assert readers[-1].socket.recv(1) == b"H"
        plain = ask(server, get, 3)
        assert "content-encoding" not in plain[1] and json.loads(plain[2]) == value
        for reader in readers:
            reader.socket.close()
        deadline = time.monotonic() + 120
        while "content-encoding" not in (packed := ask(server, get, 3))[1]:
            assert time.monotonic() < deadline
        assert json.loads(gzip.decompress(packed[2])) == value
