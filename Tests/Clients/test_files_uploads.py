"""Resumable uploads as JS, Android, iOS and the libraries of servers make them: cuts, repeats, restarts, kills."""

import concurrent.futures
import hashlib
import os
import random
import time

import pytest

from file_requests import BUCKET, MIB, UNIT, Upload, place, quote, signed_in, state
from hearth_server import Hearth
from raw_http import Raw

RULES = """
rules_version = '2';
service firebase.storage {
  match /b/{bucket}/o {
    match /open/{file=**} { allow read, write; }
    match /small/{file} { allow read; allow create: if request.resource.size <= 300000; }
    match /users/{uid}/{file} { allow create: if request.auth.uid == uid && request.auth.token.level == 7; }
    match /switch/{file} { allow create: if database.get(/isOpen) == true; }
  }
}
"""
DATA = random.Random(23).randbytes(3 * UNIT + 1234)


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    folder = tmp_path_factory.mktemp("uploads")
    (folder / "storage.rules").write_text(RULES)
    with Hearth("--files-rules", str(folder / "storage.rules"), data=folder / "data", log=folder / "log") as server:
        server.folder = folder
        yield server


def is_stored(server, name, data=DATA):
    read = server.get(place(name) + "?alt=media")
    return read.status == 200 and read.body == data


@pytest.mark.parametrize("sdk", ["js", "android", "ios"])
def test_chunks_of_each_sdk(server, sdk):
    upload = Upload(server, f"open/{sdk} +%.mp4", len(DATA), sdk)
    started = upload.started
    assert (started.status, started.body) == (200, b"")
    assert started.headers["X-Goog-Upload-Status"] == "active"
    assert started.headers["X-Goog-Upload-Chunk-Granularity"] == str(UNIT)
    assert started.headers["X-Goog-Upload-URL"].startswith(server.address + "/v0/b/")
    assert state(upload.send("upload", 0, DATA[:UNIT])) == (200, "active", UNIT)
    # The same once more, and a part of it with what follows.
    assert state(upload.send("upload", 0, DATA[:UNIT])) == (200, "active", UNIT)
    assert state(upload.send("upload", 100, DATA[100 : 2 * UNIT])) == (200, "active", 2 * UNIT)
    gap = upload.send("upload", 2 * UNIT + 1, DATA[2 * UNIT + 1 :])
    assert state(gap) == (400, "active", 2 * UNIT)
    assert "X-Goog-Upload-Chunk-Granularity" not in upload.send("query").headers
    assert not is_stored(server, upload_name(sdk))
    done = upload.send("upload, finalize", 2 * UNIT, DATA[2 * UNIT :])
    assert state(done) == (200, "final", len(DATA)) and done.json["size"] == str(len(DATA))
    assert is_stored(server, upload_name(sdk))
    if sdk == "js":
        assert done.json["metadata"] == {"k": "v"}
    # What has ended is answered again.
    for again in (upload.send("query"), upload.send("finalize", data=b"{}"), upload.send("upload, finalize", 0, DATA)):
        assert (state(again)[:2], again.body) == ((200, "final"), done.body)
    assert state(upload.send("cancel"))[:2] == (400, "final")


def upload_name(sdk):
    return f"open/{sdk} +%.mp4"


def test_other_ends(server):
    upload = Upload(server, "open/cancelled", 10)
    assert state(upload.send("cancel"))[:2] == (200, "cancelled")
    assert state(upload.send("cancel"))[:2] == (200, "cancelled")
    assert state(upload.send("query"))[:2] == (200, "cancelled")
    assert state(upload.send("upload", 0, b"x"))[:2] == (400, "cancelled")
    unknown = Upload(server, "open/unknown", 10)
    unknown.path = unknown.path.replace("upload_id=", "upload_id=0")
    assert unknown.send("query").status == 404
    short = Upload(server, "open/short", 10)
    assert state(short.send("upload, finalize", 0, b"12345")) == (400, "active", 5)
    assert state(short.send("upload, finalize", 5, b"67890")) == (200, "final", 10)
    long = Upload(server, "open/long", 10)
    assert state(long.send("upload", 0, b"12345678901"))[:2] == (400, "final")
    assert server.get(place("open/long")).status == 404
    assert server.request("POST", long.path, raw=b"x").status == 400
    wrong = Upload(server, "open/wrong", 5)
    wrong.started = None
    for command in ("", "jump", "start"):
        assert wrong.send(command).status == 400
    assert state(wrong.send("upload, finalize", 0, b"hello")) == (200, "final", 5)
    empty = Upload(server, "open/empty", 0)
    assert state(empty.send("finalize")) == (200, "final", 0)


def test_rules_at_the_start_and_at_the_end(server):
    # Known already at its start.
    denied = Upload(server, "small/a", 300_001)
    assert (denied.started.status, denied.started.json["error"]["message"]) == (403, "Permission denied. No WRITE permission.")
    # Android says no size, so it is known at the end.
    late = Upload(server, "small/b", 300_001, "android")
    assert late.started.status == 200
    ended = late.send("upload, finalize", 0, DATA[:300_001])
    assert state(ended)[:2] == (403, "final") and ended.json["error"]["message"] == "Permission denied. No WRITE permission."
    assert [late.send("finalize").body, late.send("query").body] == [ended.body] * 2
    assert server.get(place("small/b")).status == 404
    # What the tree says then decides.
    server.put("/isOpen.json", True)
    upload = Upload(server, "switch/a", 5)
    server.put("/isOpen.json", False)
    assert state(upload.send("upload, finalize", 0, b"hello"))[:2] == (403, "final")
    # iOS sends its credential with the start alone, and its claims count to the end, also after a restart.
    ios = Upload(server, "users/ann/a", 5, "ios", signed_in("ann", level=7))
    other = Upload(server, "users/ann/b", 5, "ios", signed_in("ann", level=6))
    assert other.started.status == 403
    server.kill()
    server.start()
    assert state(ios.send("upload, finalize", 0, b"hello")) == (200, "final", 5)


def test_two_finalizes_at_once(server):
    for round in range(5):
        upload = Upload(server, f"open/twice{round}", 2 * UNIT)
        assert state(upload.send("upload", 0, DATA[:UNIT])) == (200, "active", UNIT)
        with concurrent.futures.ThreadPoolExecutor() as pool:
            ends = list(pool.map(lambda _: upload.send("upload, finalize", UNIT, DATA[UNIT : 2 * UNIT]), range(3)))
        finals = [answer for answer in ends if answer.headers["X-Goog-Upload-Status"] == "final"]
        assert finals and len({answer.body for answer in finals}) == 1
        record = server.get(place(f"open/twice{round}")).json
        assert record["generation"] == finals[0].json["generation"] and record["metageneration"] == "1"


def test_a_chunk_that_is_cut_keeps_whole_units(server):
    for cut in (0, 1, UNIT - 1, UNIT, UNIT + 1, 2 * UNIT + 99_999, len(DATA) - 1):
        upload = Upload(server, "open/cut", len(DATA))
        head = f"POST {upload.path} HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Goog-Upload-Command: upload, finalize\r\n"
        head += f"X-Goog-Upload-Offset: 0\r\nContent-Length: {len(DATA)}\r\n\r\n"
        raw = Raw(server.port).send(head.encode() + DATA[:cut])
        raw.socket.close()
        # Asking ends what comes in, so only what was read by then counts.
        time.sleep(0.3)
        received = upload.received()
        assert received <= cut and received % UNIT == 0
        assert received == upload.received()
        assert state(upload.send("upload, finalize", received, DATA[received:]))[:2] == (200, "final")
        assert is_stored(server, "open/cut")


def test_a_client_that_asks_again_takes_the_place_of_its_older_connection(server):
    upload = Upload(server, "open/stalled", len(DATA))
    head = f"POST {upload.path} HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Goog-Upload-Command: upload\r\n"
    head += f"X-Goog-Upload-Offset: 0\r\nContent-Length: {len(DATA)}\r\n\r\n"
    stalled = Raw(server.port).send(head.encode() + DATA[: UNIT + 5])
    time.sleep(0.2)
    began = time.monotonic()
    assert upload.received() in (0, UNIT)
    assert time.monotonic() - began < 20
    received = upload.received()
    assert state(upload.send("upload, finalize", received, DATA[received:]))[:2] == (200, "final")
    stalled.socket.close()
    assert is_stored(server, "open/stalled")


def test_uploads_of_libraries_of_servers(server):
    path = f"/upload/storage/v1/b/{BUCKET}/o?uploadType=resumable&name=open%2Fs"
    started = server.request("POST", path, {"contentType": "video/mp4"}, headers={"X-Upload-Content-Type": "a/b"})
    assert started.status == 200 and started.body == b""
    url = "/" + started.headers["Location"].split("/", 3)[3]

    def put(range, data=b""):
        return server.request("PUT", url, raw=data, headers={"Content-Range": f"bytes {range}"} if range else {})

    assert put("*/*").status == 308 and put("*/*").headers["Range"] is None
    first = put(f"0-{UNIT - 1}/*", DATA[:UNIT])
    assert (first.status, first.headers["Range"]) == (308, f"bytes=0-{UNIT - 1}")
    assert put(f"{UNIT + 1}-{2 * UNIT}/*", DATA[UNIT + 1 : 2 * UNIT + 1]).status == 400
    assert put(f"*/{len(DATA)}").headers["Range"] == f"bytes=0-{UNIT - 1}"
    assert put("*/5").status == 400
    done = put(f"{UNIT}-{len(DATA) - 1}/{len(DATA)}", DATA[UNIT:])
    assert (done.status, done.json["kind"], done.json["contentType"]) == (200, "storage#object", "video/mp4")
    assert "metadata" not in done.json and "contentDisposition" not in done.json
    assert put(f"*/{len(DATA)}").json == done.json
    assert server.get(f"/download/storage/v1/b/{BUCKET}/o/open%2Fs?alt=media").body == DATA
    node = server.request("POST", path.replace("open%2Fs", "open%2Fn") + "&ifGenerationMatch=0", {})
    url = "/" + node.headers["Location"].split("/", 3)[3]
    assert put("0-*/*", DATA).json["size"] == str(len(DATA))
    taken = server.request("POST", path.replace("open%2Fs", "open%2Fn") + "&ifGenerationMatch=0", {})
    url = "/" + taken.headers["Location"].split("/", 3)[3]
    refused = put(None, b"other")
    assert (refused.status, refused.json["error"]["errors"][0]["reason"]) == (412, "conditionNotMet")
    cancelled = server.request("POST", path, {})
    assert server.request("DELETE", "/" + cancelled.headers["Location"].split("/", 3)[3]).status == 499
    media = path.replace("resumable", "media")
    assert server.request("POST", media, raw=b"hello", headers={"X-Goog-Hash": "crc32c=AAAAAA=="}).status == 400
    assert server.request("POST", media, raw=b"hello", headers={"X-Goog-Hash": "crc32c=mnG7TA=="}).status == 200


@pytest.mark.parametrize("sdk", ["js", "android"])
def test_a_last_part_that_could_not_be_stored_is_sent_again(tmp_path, sdk):
    content = b"p" * UNIT + b"the end"
    hash = hashlib.sha256(content).hexdigest()
    with Hearth(data=tmp_path) as server:
        upload = Upload(server, "open/again", len(content), sdk)
        assert state(upload.send("upload", 0, content[:UNIT])) == (200, "active", UNIT)
        blobs = tmp_path / "files" / "blobs"
        obstacle = blobs / hash[:2]
        obstacle.write_text("no folder")
        for _ in range(2):
            assert upload.send("upload, finalize", UNIT, content[UNIT:]).status == 500
            assert upload.received() == UNIT
        obstacle.unlink()
        assert state(upload.send("upload, finalize", UNIT, content[UNIT:]))[:2] == (200, "final")
        assert is_stored(server, "open/again", content) and (obstacle / hash[2:]).read_bytes() == content


def test_acknowledged_bytes_outlive_kills(server):
    chance = random.Random(os.environ.get("FILES_SEED", "23"))
    ledger, uploads = {}, {}
    for round in range(4):
        for number in range(3):
            name = f"open/kill{round}.{number}"
            data = chance.randbytes(chance.randrange(1, 5) * UNIT + chance.randrange(UNIT))
            uploads[name] = (Upload(server, name, len(data)), data, 0)
        for name in list(uploads):
            upload, data, _ = uploads[name]
            offset = upload.received()
            assert offset >= uploads[name][2], "acknowledged bytes are lost"
            size = min(len(data) - offset, chance.choice([UNIT, 2 * UNIT, len(data)]))
            isLast = offset + size == len(data)
            answer = upload.send("upload, finalize" if isLast else "upload", offset, data[offset : offset + size])
            assert answer.status == 200
            uploads[name] = (upload, data, offset + size)
            if isLast:
                ledger[name] = data
                del uploads[name]
        if round % 2 and ledger:
            gone = chance.choice(sorted(ledger))
            assert server.request("DELETE", place(gone)).status == 204
            del ledger[gone]
        # One without an answer.
        name, (upload, data, offset) = next(iter(uploads.items()), (None, (None, b"", 0)))
        if name:
            head = f"POST {upload.path} HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Goog-Upload-Command: upload\r\n"
            head += f"X-Goog-Upload-Offset: {offset}\r\nContent-Length: {len(data) - offset}\r\n\r\n"
            Raw(server.port).send(head.encode() + data[offset:-1])
        server.kill()
        server.start()
        for name, data in ledger.items():
            read = server.get(place(name) + "?alt=media")
            assert (read.status, hashlib.sha256(read.body).digest()) == (200, hashlib.sha256(data).digest()), name
    for name, (upload, data, acknowledged) in uploads.items():
        offset = upload.received()
        assert offset >= acknowledged
        assert state(upload.send("upload, finalize", offset, data[offset:]))[:2] == (200, "final")
        assert is_stored(server, name, data)
    listed = server.get(f"/v0/b/{BUCKET}/o?prefix=open/").json["items"]
    found = {item["name"] for item in listed if item["name"].startswith("open/kill")}
    assert found == set(ledger) | set(uploads)
