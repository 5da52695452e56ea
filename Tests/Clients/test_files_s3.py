"""Files whose bytes are in a bucket of an S3 store: OpenStack Swift's, which checks signatures."""

import os

import pytest

from hearth_server import Hearth
from s3_store import BUCKET, S3Store

OWNER = {"Authorization": "Bearer owner"}
OBJECTS = "/storage/v1/b/demo.appspot.com/o"


@pytest.fixture(scope="module")
def store():
    store = S3Store()
    yield store
    store.stop()


def served(store, folder, secret=None, bucket=BUCKET):
    key = folder / "s3-key"
    key.write_text(f"{store.access_key}\n{secret or store.secret}\n")
    key.chmod(0o600)
    log = folder / "log"
    return Hearth("--files-s3", store.url, "--files-s3-bucket", bucket, "--files-s3-key-file", str(key), data=folder / "data", log=log)


def put(server, name, body):
    path = f"/upload{OBJECTS}?uploadType=media&name={name}"
    return server.request("POST", path, None, raw=body, headers={**OWNER, "Content-Type": "image/png"})


def stored(store):
    return [each["Key"] for each in store.s3().list_objects_v2(Bucket=BUCKET).get("Contents", [])]


def test_bytes_are_in_the_bucket_and_nowhere_else(store, tmp_path):
    body = os.urandom(3_000_000)
    with served(store, tmp_path) as server:
        answer = put(server, "a.png", body)
        assert answer.status == 200 and answer.json["size"] == str(len(body)), answer.text
        [key] = stored(store)
        assert key.startswith("blobs/")
        assert not [path for path in (tmp_path / "data" / "files").rglob("*") if path.is_file()]
        # The same bytes under another name are there already.
        assert put(server, "b.png", body).status == 200
        assert stored(store) == [key]
        server.kill()
        server.start()
        part = server.get(f"{OBJECTS}/a.png?alt=media", headers={**OWNER, "Range": "bytes=2000000-2000009"})
        assert part.status == 206 and part.body == body[2_000_000:2_000_010]
        assert server.get(f"{OBJECTS}/b.png?alt=media", headers=OWNER).body == body
        assert server.request("DELETE", f"{OBJECTS}/a.png", None, headers=OWNER).status == 204
        assert server.get(f"{OBJECTS}/b.png?alt=media", headers=OWNER).body == body


def test_a_store_that_refuses_is_a_503_and_a_line_of_the_log(store, tmp_path):
    with served(store, tmp_path, secret="another") as server:
        answer = put(server, "a.png", b"bytes")
        assert answer.status == 503 and answer.headers["retry-after"], answer.text
        assert server.get(f"{OBJECTS}/a.png", headers=OWNER).status == 404
        log = (tmp_path / "log").read_text()
        assert "a file is not stored" in log and "another" not in log, log


def test_settings_that_cannot_be_used_end_the_start(tmp_path):
    key = tmp_path / "s3-key"
    key.write_text("one line\n")
    key.chmod(0o600)
    for flags, words in (
        (["--files-s3", "http://127.0.0.1:1"], "--files-s3-bucket NAME"),
        (["--files-s3-bucket", "files"], "--files-s3 URL"),
        (["--files-s3", "ftp://x", "--files-s3-bucket", "files", "--files-s3-key-file", str(key)], "must begin with https://"),
        (["--files-s3", "http://127.0.0.1:1", "--files-s3-bucket", "files", "--files-s3-key-file", str(key)], "must have two lines"),
    ):
        log = tmp_path / "refused"
        log.unlink(missing_ok=True)
        with pytest.raises(AssertionError, match="no ready line"):
            Hearth(*flags, log=log)
        assert words in log.read_text(), log.read_text()
