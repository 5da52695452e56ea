"""How many bytes the files of a bucket may have, and what they leave of the disk, at the edges."""

import pytest

from file_requests import BUCKET, UNIT, Upload, place, state, upload
from hearth_server import Hearth
from shaky_disk import ShakyDisk
from test_backup import run

OWNER = {"Authorization": "Bearer owner"}
OBJECTS = f"/storage/v1/b/{BUCKET}/o"


def put(server, name, size, bucket=BUCKET, headers=OWNER):
    path = f"/upload/storage/v1/b/{bucket}/o?uploadType=media&name={name}"
    return server.request("POST", path, raw=b"x" * size, headers=headers)


@pytest.fixture(scope="module")
def narrow(tmp_path_factory):
    flags = ["--files-quota", "1000", "--files-quota", "wide.example=600KiB"]
    with Hearth(*flags, data=tmp_path_factory.mktemp("narrow") / "data") as server:
        yield server


def test_a_bucket_takes_bytes_up_to_its_quota(narrow):
    assert [put(narrow, name, size).status for name, size in (("a", 600), ("b", 401), ("b", 400), ("c", 1))] == [200, 402, 200, 402]
    refused = put(narrow, "c", 1).json["error"]
    assert (refused["errors"][0]["reason"], refused["message"]) == ("quotaExceeded", "The quota for files is used up.")
    # Clients get the status that their SDKs read as quota-exceeded; an object without bytes still fits.
    assert upload(narrow, "c", b"1").status == 402 and upload(narrow, "c", b"").status == 200
    # What takes the place of another counts without it, also above the quota; what goes makes room.
    assert [put(narrow, "a", size).status for size in (601, 600, 599)] == [402, 200, 200]
    assert put(narrow, "d", 2).status == 402 and put(narrow, "d", 1).status == 200
    assert narrow.request("DELETE", place("a")).status == 204
    copied = f"{OBJECTS}/b/copyTo/b/{BUCKET}/o/copy"
    assert [narrow.request("POST", f"{copied}{n}", {}, headers=OWNER).status for n in (0, 1)] == [200, 402]
    composed = {"sourceObjects": [{"name": "d"}] * 32, "destination": {}}
    assert narrow.request("POST", f"{OBJECTS}/e/compose", composed, headers=OWNER).status == 200
    many = {"sourceObjects": [{"name": "b"}], "destination": {}}
    assert narrow.request("POST", f"{OBJECTS}/f/compose", many, headers=OWNER).status == 402
    assert put(narrow, "own", 500 << 10, "wide.example").status == 200
    assert put(narrow, "more", 101 << 10, "wide.example").status == 402


def test_a_resumable_upload_is_refused_at_its_start_and_at_its_end(tmp_path):
    with Hearth("--files-quota", "1MiB", data=tmp_path / "data") as server:
        assert Upload(server, "a", (1 << 20) + 1).started.status == 402
        first, second = (Upload(server, name, 600_000) for name in "ab")
        silent = Upload(server, "c", 600_000, "android")
        assert state(first.send("upload, finalize", 0, b"x" * 600_000))[:2] == (200, "final")
        for late in (second, silent):
            assert state(late.send("upload, finalize", 0, b"y" * 600_000))[:2] == (402, "final")
        assert server.get(place("b")).status == 404
        assert server.request("DELETE", place("a")).status == 204
        again = Upload(server, "b", 1 << 20)
        assert state(again.send("upload, finalize", 0, b"y" * (1 << 20)))[:2] == (200, "final")
        # Over a restart the use is counted anew from the records.
        server.kill()
        server.start()
        assert upload(server, "d", b"1").status == 402


def test_a_quota_that_cannot_be_read_ends_the_start():
    for text, words in (("many", "cannot be read"), ("=5", "cannot be read"), ("a/b=5", "cannot be read")):
        done = run("check", "--files-quota", text)
        assert words in done.stdout + done.stderr, done.stdout + done.stderr
    done = run("check", "--files-quota", "5", "--files-quota", "6")
    assert "more than once" in done.stdout + done.stderr


def test_every_part_of_an_upload_leaves_a_reserve_of_the_disk(tmp_path):
    data = tmp_path / "data"
    data.mkdir()
    with ShakyDisk(tmp_path, data) as disk, Hearth(data=data) as server:
        # 1 GiB stays free.
        disk.set_free("1025 40000")
        silent = Upload(server, "a", 2 * UNIT, "android")
        assert state(silent.send("upload", 0, b"x" * UNIT)) == (200, "active", UNIT)
        assert put(server, "b", (1 << 20) - 1).status == 200 and put(server, "c", 1 << 20).status == 503
        disk.set_free("1024 40000")
        refused = silent.send("upload, finalize", UNIT, b"x" * UNIT)
        assert refused.status == 503 and refused.headers["Retry-After"]
        assert put(server, "c", 1).status == 503 and Upload(server, "c", 1).started.status == 503
        # What is there is still read; with room again the upload goes on.
        assert server.get(place("b") + "?alt=media").status == 200 and silent.received() == UNIT
        disk.set_free("1025 40000")
        assert state(silent.send("upload, finalize", UNIT, b"x" * UNIT))[:2] == (200, "final")
    # Of a small disk a fifth: the database needs less, and is still written.
    disk = ShakyDisk(tmp_path, data)
    disk.set_free("200 1000")
    with disk, Hearth(data=data) as server:
        assert put(server, "d", 1).status == 503 and server.put("/a.json", 1).status == 200
