"""Files by the protocol of the SDKs of clients: uploads in one request, downloads, lists, metadata, tokens, rules, pages."""

import gzip
import hashlib
import base64
import json

import pytest

from file_requests import BUCKET, MIB, place, quote, related, signed_in, upload
from hearth_server import Hearth
from raw_http import Raw

RULES = """
rules_version = '2';
service firebase.storage {
  match /b/{bucket}/o {
    match /open/{file=**} { allow read, write; }
    match /users/{uid}/{file=**} {
      allow read: if request.auth.uid == uid;
      allow create: if request.auth.uid == uid && request.resource.size < 1000
                    && request.resource.contentType.matches('image/.*');
      allow update: if request.auth.uid == uid && request.resource.metadata.get('owner', uid) == uid;
      allow delete: if request.auth.token.admin == true;
    }
    match /once/{file} { allow get; allow create: if resource == null; }
    match /parties/{party}/{photo=**} {
      allow read, create: if database.exists(/parties/$(party)/guests/$(request.auth.uid));
    }
  }
}
"""
HASHES = {"md5Hash": "XUFAKrxLKna5cZ2REBfFkg==", "crc32c": "mnG7TA=="}


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    folder = tmp_path_factory.mktemp("files")
    (folder / "storage.rules").write_text(RULES)
    with Hearth("--files-rules", str(folder / "storage.rules"), data=folder / "data", log=folder / "log") as server:
        server.folder = folder
        yield server


def test_an_upload_its_metadata_and_its_bytes(server):
    made = upload(server, "open/p/a.txt", b"hello", {"contentType": "text/plain", "metadata": {"k": "v"}})
    assert made.status == 200, made.text
    record = made.json
    assert {name: record[name] for name in HASHES} == HASHES
    assert (record["name"], record["bucket"], record["size"], record["metageneration"]) == ("open/p/a.txt", BUCKET, "5", "1")
    assert (record["contentType"], record["contentDisposition"], record["contentEncoding"]) == ("text/plain", "inline", "identity")
    assert record["metadata"] == {"k": "v"} and len(record["timeCreated"]) == 24
    assert server.get(place("open/p/a.txt")).json == record
    read = server.get(place("open/p/a.txt") + f"?alt=media&token={record['downloadTokens']}")
    assert (read.status, read.body) == (200, b"hello")
    for name, value in {
        "Content-Length": "5", "Content-Type": "text/plain", "Accept-Ranges": "bytes", "ETag": f'"{record["etag"]}"',
        "x-goog-generation": record["generation"], "x-goog-hash": f"crc32c={HASHES['crc32c']},md5={HASHES['md5Hash']}",
        "Content-Disposition": "inline; filename*=UTF-8''a.txt", "X-Content-Type-Options": "nosniff",
    }.items():
        assert read.headers[name] == value
    head = server.request("HEAD", place("open/p/a.txt") + "?alt=media")
    assert (head.status, head.body, head.headers["Content-Length"]) == (200, b"", "5")
    again = upload(server, "open/p/a.txt", b"hello!").json
    assert int(again["generation"]) > int(record["generation"]) and again["metageneration"] == "1"
    assert again["downloadTokens"] != record["downloadTokens"] and "metadata" not in again
    assert server.request("DELETE", place("open/p/a.txt")).status == 204
    gone = server.get(place("open/p/a.txt"))
    assert (gone.status, gone.json) == (404, {"error": {"code": 404, "message": "Not Found."}})
    assert server.request("DELETE", place("open/p/a.txt")).status == 404


def test_raw_bodies_and_bodies_in_parts(server):
    data = bytes(range(256)) * 8192
    raw = server.request("POST", f"/v0/b/{BUCKET}/o?name=open%2Fraw", raw=data, headers={"Content-Type": "application/x"})
    assert (raw.status, raw.json["size"], raw.json["contentType"]) == (200, str(len(data)), "application/x")
    assert raw.json["md5Hash"] == base64.b64encode(hashlib.md5(data).digest()).decode()
    assert server.get(place("open/raw") + "?alt=media").body == data
    body = related({"name": "x"}, b"hello", boundary="=='a b'==")
    head = (
        f"POST /v0/b/{BUCKET}/o?name=open/parts HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Goog-Upload-Protocol: multipart\r\n"
        "Content-Type: multipart/related; boundary=\"=='a b'==\"\r\nTransfer-Encoding: chunked\r\nExpect: 100-continue\r\n\r\n"
    )
    raw = Raw(server.port).send(head.encode())
    assert raw.answer()[0] == 100
    for byte in body:
        raw.send(b"1\r\n%c\r\n" % byte)
    status, _, text = raw.send(b"0\r\n\r\n").answer()
    assert (status, json.loads(text)["size"]) == (200, "5")


RANGES = [
    # What is asked for, the status, and what comes of `hello`.
    (None, 200, b"hello"), ("bytes=1-2", 206, b"el"), ("bytes=0-0", 206, b"h"), ("bytes=2-", 206, b"llo"),
    ("bytes=-2", 206, b"lo"), ("bytes=-9", 206, b"hello"), ("bytes=0-99", 206, b"hello"), ("bytes=5-", 416, b""),
    ("bytes=-0", 416, b""), ("bytes=3-1", 200, b"hello"), ("bytes=0-1,3-4", 200, b"hello"), ("lines=1-2", 200, b"hello"),
    ("bytes=x", 200, b"hello"),
]


@pytest.mark.parametrize("asked, status, body", RANGES, ids=[str(row[0]) for row in RANGES])
def test_ranges(server, asked, status, body):
    record = upload(server, "open/range", b"hello").json
    tag = f'"{record["etag"]}"'
    path = place("open/range") + "?alt=media"
    answer = server.get(path, headers={"Range": asked} if asked else {})
    assert (answer.status, answer.body) == (status, body)
    assert answer.headers["Content-Length"] == str(len(body))
    if status == 206:
        start = b"hello".index(body)
        assert answer.headers["Content-Range"] == f"bytes {start}-{start + len(body) - 1}/5"
        for condition, wanted in ((tag, 206), ('"other"', 200), (answer.headers["Last-Modified"], 206)):
            assert server.get(path, headers={"Range": asked, "If-Range": condition}).status == wanted
    if status == 416:
        assert answer.headers["Content-Range"] == "bytes */5"
    assert server.get(path, headers={"If-None-Match": f"W/{tag}"}).status == 304


def test_an_empty_object_and_one_that_is_gzipped(server):
    upload(server, "open/empty", b"")
    empty = server.get(place("open/empty") + "?alt=media", headers={"Range": "bytes=0-9"})
    assert (empty.status, empty.body, empty.headers["Content-Length"]) == (200, b"", "0")
    text = b"hello " * 100_000
    upload(server, "open/z", gzip.compress(text), {"contentType": "text/plain", "contentEncoding": "gzip"})
    path = place("open/z") + "?alt=media"
    plain = server.get(path, headers={"Range": "bytes=0-9"})
    assert (plain.status, plain.body, plain.headers["Content-Encoding"]) == (200, text, None)
    coded = server.get(path, headers={"Accept-Encoding": "gzip"})
    assert gzip.decompress(coded.body) == text and coded.headers["Content-Encoding"] == "gzip"


def test_lists(server):
    names = ["open/l/" + name for name in ["a", "b/1", "b/2", "c d", "e%41", "ü", "z/y/x"]]
    for name in names:
        assert upload(server, name, b"x").status == 200
    path = f"/v0/b/{BUCKET}/o?prefix=open/l/"
    page = server.get(path + "&delimiter=/").json
    assert page == {
        "prefixes": ["open/l/b/", "open/l/z/"],
        "items": [{"name": "open/l/" + name, "bucket": BUCKET} for name in ["a", "c d", "e%41", "ü"]],
    }
    seen, next = [], ""
    while next is not None:
        page = server.get(f"{path}&maxResults=2&pageToken={next}").json
        assert page["prefixes"] == [] and len(page["items"]) <= 2
        seen += [item["name"] for item in page["items"]]
        next = page.get("nextPageToken")
    assert seen == sorted(names, key=str.encode)
    assert server.get(f"/v0/b/{BUCKET}/o?prefix=open/none/&delimiter=/").json == {"prefixes": [], "items": []}
    for query, status in (("prefix=open/l", 400), ("prefix=open/&maxResults=0", 400), ("prefix=open/&pageToken=!", 400), ("prefix=", 403)):
        assert server.get(f"/v0/b/{BUCKET}/o?{query}").status == status
    assert server.get(place("open/l/e%41") + "?alt=media").body == b"x"


def test_metadata_changes_as_sdks_send_them(server):
    upload(server, "open/m", b"hello", {"contentType": "text/plain", "metadata": {"k": "v", "l": "w"}})
    before = server.get(place("open/m")).json
    ios = {"storageClass": None, "downloadTokens": None, "etag": None, "size": 5, "contentType": "text/x", "metadata": {"k": None, "n": 7}}
    after = server.request("PATCH", place("open/m"), ios).json
    assert (after["contentType"], after["metadata"], after["metageneration"]) == ("text/x", {"l": "w", "n": "7"}, "2")
    assert after["downloadTokens"] == before["downloadTokens"]
    head = {"X-HTTP-Method-Override": "PATCH", "Content-Type": "application/json"}
    android = server.request("PUT", place("open/m"), {"cacheControl": "no-store", "metadata": None}, headers=head).json
    assert "metadata" not in android and android["cacheControl"] == "no-store"
    js = server.request("PATCH", place("open/m"), {"name": "open/m", "md5Hash": before["md5Hash"], "cacheControl": None}).json
    assert "cacheControl" not in js and js["generation"] == before["generation"]
    own = {"metadata": {"firebaseStorageDownloadTokens": "mine"}}
    assert "mine" not in server.request("PATCH", place("open/m"), own).text
    for body, status in ((b"{", 400), (b'{"contentType":"a\\nb"}', 400), (b'{"a":"' + b"x" * 70_000 + b'"}', 413)):
        assert server.request("PATCH", place("open/m"), raw=body).status == status
    assert server.request("PATCH", place("open/none"), {}).status == 404


def test_download_tokens(server):
    secret = upload(server, "users/ann/i", b"hello", {"contentType": "image/png"}, signed_in("ann")).json["downloadTokens"]
    path = place("users/ann/i")
    assert server.get(path + "?alt=media").status == 403
    assert server.get(path + f"?alt=media&token={secret}").body == b"hello"
    assert server.get(path + "?alt=media&token=other").status == 403
    assert server.get(place("users/ann/j") + f"?alt=media&token={secret}").status == 403
    assert server.request("POST", path + "?create_token=true", headers=signed_in("ann")).json["error"]["message"] == "Missing admin credentials."
    owner = {"Authorization": "Bearer owner"}
    two = server.request("POST", path + "?create_token=true", headers=owner).json["downloadTokens"].split(",")
    assert two[0] == secret and len(two) == 2
    for gone in two:
        left = server.request("POST", path + f"?delete_token={gone}", headers=owner).json["downloadTokens"]
        assert gone not in left and left
    assert server.get(path + f"?alt=media&token={secret}").status == 403
    assert server.request("POST", path + "?create_token=yes", headers=owner).status == 400


def test_rules_decide_with_what_is_true(server):
    png, ann = {"contentType": "image/png"}, signed_in("ann")
    assert upload(server, "users/ann/a", b"x" * 999, png, ann).status == 200
    for data, metadata, head in ((b"x" * 1000, png, ann), (b"x", {"contentType": "text/html"}, ann), (b"x", png, signed_in("bob")), (b"x", png, {})):
        denied = upload(server, "users/ann/a", data, metadata, head)
        assert (denied.status, denied.json["error"]["message"]) == (403, "Permission denied. No WRITE permission.")
    assert server.get(place("users/ann/a"), headers=ann).json["size"] == "999"
    # Who may not read does not learn which names there are.
    for name in ("users/ann/a", "users/ann/none"):
        assert server.get(place(name)).json["error"]["message"] == "Permission denied. No READ permission."
    assert server.get(f"/v0/b/{BUCKET}/o?prefix=users/ann/&delimiter=/").json["error"]["message"] == "Permission denied. No LIST permission."
    assert [item["name"] for item in server.get(f"/v0/b/{BUCKET}/o?prefix=users/ann/", headers=ann).json["items"]] == ["users/ann/a", "users/ann/i"]
    assert server.request("PATCH", place("users/ann/a"), {"metadata": {"owner": "bob"}}, headers=ann).status == 403
    assert server.request("PATCH", place("users/ann/a"), {"metadata": {"owner": "ann"}}, headers=ann).status == 200
    assert server.request("DELETE", place("users/ann/a"), headers=ann).status == 403
    assert server.request("DELETE", place("users/ann/a"), headers=signed_in("ann", admin=True)).status == 204
    # A credential that does not count is never nobody's.
    assert server.get(place("open/p"), headers={"Authorization": "Firebase a.b.c"}).status == 401
    assert upload(server, "once/a", b"1").status == 200
    assert upload(server, "once/a", b"2").status == 403
    # Rules look into the tree.
    assert upload(server, "parties/p1/x.png", b"1", png, ann).status == 403
    assert server.put("/parties/p1/guests/ann.json", True).status == 200
    assert upload(server, "parties/p1/x.png", b"1", png, ann).status == 200
    assert server.get(place("parties/p1/x.png"), headers=signed_in("bob")).status == 403


NAMES = ["a b+c", "100%", "%41", "a#b?c&d=e", "ü/é/日本/🎉", "e\u0301", "é", "a;b", "..a", "-", "x" * 1000, "a.json", "'\"<>\\"]
BAD_NAMES = {"a//b": 400, "/a": 400, "a/": 400, "a/../b": 400, "": 400, "a\nb": 400, "x" * 1025: 400, ".": 400}


def test_names(server):
    for name in NAMES:
        made = upload(server, "open/n/" + name, name.encode())
        assert (made.status, made.json.get("name")) == (200, "open/n/" + name), name
    for name in NAMES:
        assert server.get(place("open/n/" + name) + "?alt=media").body == name.encode(), name
        assert server.get(place("open/n/" + name)).json["name"] == "open/n/" + name
    listed = server.get(f"/v0/b/{BUCKET}/o?prefix=open/n/").json["items"]
    assert {item["name"] for item in listed} == {"open/n/" + name for name in NAMES}
    for name, status in BAD_NAMES.items():
        assert upload(server, name, b"x").status == status, name
    assert server.request("POST", f"/v0/b/{BUCKET}/o?name=%ff", raw=b"x").status == 400
    assert server.request("POST", f"{place('open/a')}?name=open%2Fb", raw=b"x").status == 400
    assert server.request("POST", "/v0/b/Bad..Bucket/o?name=a", raw=b"x").status == 400
    assert server.request("GET", "/v0/").json == {"emulator": "storage"}


def test_bodies_that_are_wrong_leave_nothing(server):
    head = {"X-Goog-Upload-Protocol": "multipart", "Content-Type": "multipart/related; boundary=91"}
    path = f"/v0/b/{BUCKET}/o?name=open/wrong"
    whole = related({"contentType": "text/plain"}, b"hello")
    for cut in range(0, len(whole) - 1, 7):
        assert server.request("POST", path, raw=whole[:cut], headers=head).status == 400, cut
    for wrong in ({**head, "Content-Type": "text/plain"}, {**head, "Content-Type": "multipart/related"}):
        assert server.request("POST", path, raw=whole, headers=wrong).text.startswith("Bad content type.")
    for metadata in ({"md5Hash": "XUFAKrxLKna5cZ2REBfFkg=="}, {"crc32c": "AAAAAA=="}, {"md5Hash": "x"}, {"metadata": {"k": "x" * 9000}}):
        assert upload(server, "open/wrong", b"other", metadata).status == 400
    assert server.get(place("open/wrong")).status == 404
    uploads = server.folder / "data" / "files" / "uploads"
    raw = Raw(server.port).send(f"POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Length: 900000\r\n\r\n".encode() + b"x" * 300_000)
    raw.socket.close()
    assert upload(server, "open/right", b"hello", HASHES).status == 200
    for _ in range(200):
        if not list(uploads.iterdir()):
            break
        server.get("/.health/live")
    assert list(uploads.iterdir()) == []


def test_what_browsers_need(server):
    page = {"Origin": "http://localhost:5000"}
    asked = {"Access-Control-Request-Method": "POST", "Access-Control-Request-Headers": "authorization,x-goog-upload-command,x-firebase-gmpid"}
    preflight = server.request("OPTIONS", f"/v0/b/{BUCKET}/o?name=a", headers={**page, **asked})
    assert preflight.status == 204 and preflight.headers["Access-Control-Allow-Origin"] == page["Origin"]
    allowed = preflight.headers["Access-Control-Allow-Headers"].split(", ")
    assert {"authorization", "x-goog-upload-command", "x-firebase-gmpid", "range"} <= set(allowed)
    assert "PATCH" in preflight.headers["Access-Control-Allow-Methods"]
    upload(server, "open/page", b"<script>", {"contentType": "text/html"})
    for path in (place("open/page"), place("open/page") + "?alt=media", place("users/a/b"), place("open/none")):
        answer = server.get(path, headers=page)
        assert answer.headers["Access-Control-Allow-Origin"] == page["Origin"]
        assert "x-goog-upload-status" in answer.headers["Access-Control-Expose-Headers"]
    hostile = server.get(place("open/page") + "?alt=media")
    assert hostile.headers["Content-Disposition"].startswith("attachment;")
    assert hostile.headers["Content-Security-Policy"].startswith("sandbox")
    # The door of libraries is open in development to this machine, and to no page of another site.
    assert server.get("/storage/v1/b").status == 200
    assert server.get("/storage/v1/b", headers={"Origin": "https://evil.example"}).status == 403


def test_rules_that_are_read_again_and_set(server):
    rules = server.folder / "storage.rules"
    closed = "rules_version = '2'; service firebase.storage { match /b/{b}/o { match /{f=**} { allow read: if false; } } }"
    rules.write_text(closed)
    server.await_log("rules for files read again")
    assert server.get(place("open/page")).status == 403
    rules.write_text("service firebase.storage {")
    server.await_log("the rules for files in force stay")
    assert server.get(place("open/page")).status == 403
    body = {"rules": {"files": [{"name": "storage.rules", "content": RULES}]}}
    assert server.put("/internal/setRules", body).json == {"message": "Rules updated successfully"}
    assert server.get(place("open/page")).status == 200
    assert server.put("/internal/setRules", {"rules": {}}).json == {"message": "Request body must include 'rules.files' array"}
    assert server.put("/internal/setRules", {"rules": {"files": [{"name": "a"}]}}).status == 400
    assert server.put("/internal/setRules", {"rules": {"files": [{"name": "a", "content": "x"}]}}).status == 400


def test_sizes_and_buckets_in_production(tmp_path):
    (tmp_path / "own.rules").write_text(RULES)
    flags = ["--files-bucket", "one", "--files-bucket", f"two={tmp_path}/own.rules", "--files-client-limit", "1MiB"]
    with Hearth(*flags, data=tmp_path / "data", dev=False) as server:
        assert upload(server, "a", b"x", bucket="one").json["error"]["message"].endswith("no loaded ruleset.")
        assert upload(server, "open/a", b"x" * MIB, bucket="two").status == 200
        assert upload(server, "open/b", b"x" * (MIB + 1), bucket="two").status == 413
        assert upload(server, "open/a", b"x", bucket="none").status == 404
        assert server.get("/storage/v1/b").status == 401
        assert server.get("/b/two/o").status == 404
        assert server.get("/two/open/a").status == 403
        assert server.get("/none/open/a").status == 404
        secret = {"Authorization": f"Bearer {(tmp_path / 'data' / 'admin-secret').read_text().strip()}"}
        assert [bucket["name"] for bucket in server.get("/storage/v1/b", headers=secret).json["items"]] == ["one", "two"]
        made = upload(server, "big", b"x" * (2 * MIB), bucket="one", headers=secret)
        assert made.status == 200
        assert server.get("/one/big", headers=secret).body == b"x" * 2 * MIB
        assert server.get(f"{place('big', 'one')}?alt=media&token={made.json['downloadTokens']}").status == 200
        metrics = server.get("/.metrics", headers=secret).text
        assert f"hearth_file_bytes {3 * MIB}" in metrics and "hearth_files 2" in metrics
        assert server.request("PUT", "/internal/setRules", {}, headers=secret).status == 404
