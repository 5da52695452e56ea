"""How bytes of files leave: from the system's memory, from the disk, to readers that are slow, beside the database."""

import hashlib
import os

import pytest

from file_requests import MIB, place, upload
from hearth_server import Hearth
from raw_http import Raw
from vocabulary import drawn

SIZE = 20 * MIB


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    folder = tmp_path_factory.mktemp("downloads")
    with Hearth(data=folder / "data", log=folder / "log") as server:
        server.folder = folder
        yield server


def metric(server, name):
    lines = server.get("/.metrics").text.splitlines()
    return float(next(line.split()[1] for line in lines if line.startswith(name + " ")))


def disk_reads(server):
    return metric(server, "hearth_file_disk_reads_total")


def blob(server, data):
    digest = hashlib.sha256(data).hexdigest()
    return server.folder / "data/files/blobs" / digest[:2] / digest[2:]


def knows_its_memory(path):
    """Whether the file system says what is in memory; tmpfs does not."""
    with open(path, "rb") as file:
        file.read()
        try:
            return os.preadv(file.fileno(), [bytearray(16)], 0, os.RWF_NOWAIT) == 16
        except OSError:
            return False


def forget(path):
    """Has the system drop a file from its memory."""
    descriptor = os.open(path, os.O_RDONLY)
    os.fsync(descriptor)
    os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
    os.close(descriptor)


def ask(server, name, headers=""):
    reader = Raw(server.port)
    return reader.send(f"GET {place(name)}?alt=media HTTP/1.1\r\nHost: localhost\r\n{headers}\r\n".encode())


def test_a_file_in_memory_needs_no_worker(server):
    data = os.urandom(300_001)
    assert upload(server, "a", data).status == 200
    path = blob(server, data)
    tells = knows_its_memory(path)
    before = disk_reads(server)
    for _ in range(20):
        assert server.get(place("a") + "?alt=media").body == data
    part = server.request("GET", place("a") + "?alt=media", headers={"Range": "bytes=65535-262144"})
    assert (part.status, part.body) == (206, data[65_535:262_145])
    # Two pieces of each file, and one of the part.
    assert disk_reads(server) == before + (0 if tells else 41)


def test_readers_that_stop_hold_no_bytes_and_get_all_of_them_in_the_end(server):
    data = os.urandom(SIZE)
    assert upload(server, "large", data).status == 200
    is_cached = knows_its_memory(blob(server, data))
    server.get(place("large") + "?alt=media")
    before = resident(server)
    readers = [ask(server, "large") for _ in range(200)]
    for reader in readers:
        assert reader.socket.recv(1) == b"H"
        reader.waiting += b"H"
    assert metric(server, "hearth_file_downloads_running") == 200
    # The database answers, and its answers do not wait for a reader.
    assert server.put("/beside.json", {"a": 1}).status == 200
    # A piece of each would be 50 MiB.
    if is_cached:
        assert resident(server) - before < 20 * MIB
    for reader in readers[:3]:
        status, headers, body = reader.answer()
        assert (status, hashlib.sha256(body).digest()) == (200, hashlib.sha256(data).digest())
    for reader in readers:
        reader.socket.close()
    while metric(server, "hearth_file_downloads_running") > 0:
        pass


def resident(server):
    with open(f"/proc/{server.process.pid}/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmRSS")) * 1024


def test_a_file_that_is_removed_meanwhile_is_sent_whole_and_to_nobody_else(server):
    data = os.urandom(SIZE)
    assert upload(server, "gone", data).status == 200
    reader = ask(server, "gone")
    assert reader.socket.recv(1) == b"H"
    reader.waiting += b"H"
    assert server.request("DELETE", place("gone")).status == 204
    assert server.get(place("gone") + "?alt=media").status == 404
    assert reader.answer()[2] == data


def test_a_content_that_is_cut_short_meanwhile_ends_its_answer(server):
    data = os.urandom(SIZE)
    assert upload(server, "short", data).status == 200
    reader = ask(server, "short")
    assert reader.socket.recv(1) == b"H"
    path = blob(server, data)
    path.chmod(0o600)
    os.truncate(path, MIB)
    got = 1
    while part := reader.socket.recv(1 << 20):
        got += len(part)
    assert got < SIZE
    # It is opened anew, and found to be too short.
    assert server.get(place("short") + "?alt=media").status == 500
    assert server.get("/.json").status == 200


def test_random_ranges_from_memory_and_disk_are_those_bytes(server):
    """In the pieces, at their ends, and beyond; files that the system forgets on the way."""
    data = os.urandom(2_000_000)
    assert upload(server, "ranges", data).status == 200
    path = blob(server, data)
    edges = [0, 65_535, 65_536, 262_143, 262_144, 524_288, 1_999_999]
    choose = drawn()
    reader = Raw(server.port)
    for number in range(150):
        first = max(0, choose.choice(edges) + choose.randint(-2, 2))
        last = first + choose.choice([0, 1, 65_535, 65_536, 262_144, 1_000_000])
        if number % 10 == 0:
            forget(path)
        if first >= len(data):
            continue
        reader.send(
            f"GET {place('ranges')}?alt=media HTTP/1.1\r\nHost: localhost\r\nRange: bytes={first}-{last}\r\n\r\n".encode()
        )
        status, _, body = reader.answer()
        assert (status, body) == (206, data[first:last + 1]), (first, last)


def test_a_thousand_requests_at_once_are_all_answered(server):
    data = os.urandom(100_000)
    assert upload(server, "often", data).status == 200
    readers = [ask(server, "often") for _ in range(1_000)]
    assert server.put("/beside.json", {"a": 2}).status == 200
    for reader in readers:
        assert reader.answer()[2] == data
        reader.socket.close()
    assert metric(server, "hearth_file_requests_waiting") == 0
