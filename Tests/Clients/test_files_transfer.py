"""`hearth files download` and `upload`: buckets copied into folders and back, also from a store that is no server of Hearth."""

import http.server
import json
import os
import threading

import pytest

from file_requests import place, quote, upload
from hearth_server import Hearth
from test_backup import run

BUCKET = "demo.appspot.com"
OWNER = {"Authorization": "Bearer owner"}
OBJECTS = f"/storage/v1/b/{BUCKET}/o"
NAMES = [
    "a", "a/b", "a/b/c", "x.partial", "x", "objects.jsonl", "../up", "d//e", "g/", "ü/%41%2F", 'c:\\*?"<>|',
    "n" * 250, "m/" * 300,
]
FIELDS = {"contentType": "image/png", "cacheControl": "no-cache", "metadata": {"k": "v", "a.b/#$[]": "ü"}}


class Store:
    """A store that is no server of Hearth: passes requests on to one as its administrator, and keeps what came with them."""

    def __init__(self, server):
        self.credentials, self.media, self.stored, self.fails = [], [], [], lambda path: False
        store = self

        class Answers(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_):
                pass

            def pass_on(self):
                body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
                store.credentials.append(self.headers.get("Authorization"))
                status, head, answer = 503, {}, b"{}"
                if not store.fails(self.path):
                    # Metadata and tokens are for administrators.
                    kept = {name: self.headers[name] for name in ("Content-Type", "Accept-Encoding") if name in self.headers}
                    answered = server.request(self.command, self.path, raw=body or None, headers={**kept, **OWNER})
                    status, head, answer = answered.status, answered.headers, answered.body
                    if "alt=media" in self.path:
                        store.media.append(self.path)
                    if self.command == "POST":
                        store.stored.append(self.path)
                self.send_response(status)
                self.send_header("Content-Type", head.get("Content-Type", "application/json"))
                self.send_header("Content-Length", str(len(answer)))
                self.end_headers()
                self.wfile.write(answer)

            do_GET = do_POST = pass_on

        self.http = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Answers)
        self.url = f"http://127.0.0.1:{self.http.server_port}"
        threading.Thread(target=self.http.serve_forever, daemon=True).start()


@pytest.fixture(scope="module")
def source():
    with Hearth() as server:
        server.contents = {name: f"content of {number}".encode() * (number * 1000) for number, name in enumerate(NAMES)}
        for name, content in server.contents.items():
            path = f"/upload{OBJECTS}?uploadType=media&name={quote(name)}"
            assert server.request("POST", path, raw=content, headers=OWNER).status == 200, name
            fields = {**FIELDS, "contentEncoding": "gzip" if name == "x" else None}
            assert server.request("PATCH", f"{OBJECTS}/{quote(name)}", fields, headers=OWNER).status == 200
        # One has a link.
        server.token = server.get(place("a")).json["downloadTokens"]
        server.store = Store(server)
        yield server


def objects(server):
    items = server.get(OBJECTS, headers=OWNER).json["items"]
    same = ("size", "crc32c", "md5Hash", "contentType", "cacheControl", "contentEncoding", "metadata")
    return {item["name"]: {key: item.get(key) for key in same} for item in items}


def download(server, folder, *more, **variables):
    return run("files", "download", BUCKET, folder, *more, **{"HEARTH_URL": server.address, **variables})


def test_a_bucket_goes_into_a_folder_and_into_another_server(source, tmp_path):
    folder = tmp_path / "folder"
    done = download(source, folder)
    assert done.returncode == 0 and f"{len(NAMES)} files copied" in done.stdout, done.stderr
    lines = [json.loads(line) for line in (folder / "objects.jsonl").read_text().splitlines()]
    for line in lines:
        path = folder / line["path"]
        assert path.resolve().is_relative_to(folder) and path.read_bytes() == source.contents[line["name"]]
    assert sorted(line["name"] for line in lines) == sorted(NAMES)
    assert (folder / "objects" / "a").is_file() and len(list((folder / "by-hash").iterdir())) >= 4
    assert not [name for name in os.listdir(tmp_path) if name != "folder"]
    with Hearth(data=tmp_path / "data") as other:
        first = run("files", "upload", folder, BUCKET, "--url", other.address)
        assert first.returncode == 0 and f"{len(NAMES)} files copied" in first.stdout, first.stderr
        assert objects(other) == objects(source)
        # Links are the same but for the address.
        assert other.get(f"{place('a')}?alt=media&token={source.token}").body == source.contents["a"]
        again = run("files", "upload", folder, BUCKET, "--url", other.address)
        assert again.returncode == 0 and f"0 files copied, 0 B; {len(NAMES)} were there" in again.stdout
        # Only what differs.
        assert upload(other, "a", b"another").status == 200
        assert "1 file copied" in run("files", "upload", folder, BUCKET, "--url", other.address).stdout
        assert other.get(place("a") + "?alt=media").body == source.contents["a"]


def test_what_was_stopped_goes_on(source, tmp_path):
    store, folder = source.store, tmp_path / "folder"
    store.media.clear()
    store.fails = lambda path: "alt=media" in path and len(store.media) >= 4
    stopped = run("files", "download", BUCKET, folder, "--store", store.url)
    assert stopped.returncode == 1 and "4 files copied" in stopped.stdout and "503" in stopped.stderr, stopped.stderr
    # It is not whole, so nothing is made of it.
    refused = run("files", "upload", folder, BUCKET, "--url", source.address)
    assert refused.returncode == 1 and "objects.jsonl" in refused.stderr
    store.fails = lambda path: False
    done = run("files", "download", BUCKET, folder, "--store", store.url)
    assert done.returncode == 0 and f"{len(NAMES) - 4} files copied" in done.stdout and "4 were there" in done.stdout
    assert len(store.media) == len(NAMES)
    # What is another there is fetched again.
    (folder / "objects" / "a").write_bytes(b"flipped")
    assert "1 file copied" in run("files", "download", BUCKET, folder, "--store", store.url).stdout
    with Hearth() as other:
        target = Store(other)
        target.fails = lambda path: path.startswith("/upload") and len(target.stored) >= 3
        stopped = run("files", "upload", folder, BUCKET, "--store", target.url)
        assert stopped.returncode == 1 and "3 files copied" in stopped.stdout, stopped.stderr
        target.fails = lambda path: False
        done = run("files", "upload", folder, BUCKET, "--store", target.url)
        assert done.returncode == 0 and "3 were there" in done.stdout and len(target.stored) == len(NAMES)
        assert objects(other) == objects(source)


def test_another_store_gets_its_own_token_and_no_other(source, tmp_path):
    store, secret = source.store, tmp_path / "secret"
    secret.write_text("our-own-secret")
    (tmp_path / "token").write_text("token-of-the-store\n")
    ours = {"HEARTH_TOKEN": "our-own-token", "HEARTH_ADMIN_SECRET_FILE": str(secret)}
    for more, variables, expected in (
        ([], {}, None),
        (["--token", "our-own-token"], {}, None),
        (["--store-token-file", tmp_path / "token"], {}, "Bearer token-of-the-store"),
        ([], {"HEARTH_STORE_TOKEN": "of-the-variable"}, "Bearer of-the-variable"),
    ):
        store.credentials.clear()
        done = download(source, tmp_path / "folder", "--store", store.url, *more, **ours, **variables)
        assert done.returncode == 0, done.stderr
        assert set(store.credentials) == {expected}
    clear = run("files", "download", BUCKET, tmp_path / "folder", "--store", "http://192.0.2.1", HEARTH_STORE_TOKEN="t")
    assert clear.returncode == 2 and "in the clear" in clear.stderr
    alone = run("files", "download", BUCKET, tmp_path / "folder", "--store-token-file", tmp_path / "token")
    assert alone.returncode in (2, 64) and "--store URL" in alone.stderr


def test_bytes_that_are_not_those_of_their_hash_are_not_kept(source, tmp_path):
    store = Store(source)
    pass_on = source.request

    def spoiled(method, path, **options):
        answer = pass_on(method, path, **options)
        if "alt=media" in path and "/o/a?" in path:
            answer.body = answer.body[:-1] + b"!" if answer.body else b"!"
        return answer

    source.request = spoiled
    try:
        done = run("files", "download", BUCKET, tmp_path / "folder", "--store", store.url)
    finally:
        del source.request
    assert done.returncode == 1 and "error: a: " in done.stderr and "other bytes" in done.stderr
    assert not (tmp_path / "folder" / "objects" / "a").is_file()
    for line, words in (('{"name":"b"}', "line 1"), ('{"name":"b","path":"../b","size":"1","crc32c":"x"}', "line 1")):
        (tmp_path / "folder" / "objects.jsonl").write_text(line)
        refused = run("files", "upload", tmp_path / "folder", BUCKET, "--url", source.address)
        assert refused.returncode == 1 and words in refused.stderr, refused.stderr
