"""Files by the libraries of servers: google-cloud-storage and firebase-admin, in development and in production over TLS."""

import datetime
import json
import random
import urllib.request

import firebase_admin
import firebase_admin.storage
import pytest
import requests
from google.api_core import exceptions
from google.auth.credentials import AnonymousCredentials
from google.cloud import storage
from google.oauth2 import service_account

from file_requests import BUCKET, MIB, UNIT, place, signed_in
from hearth_server import Hearth
from production_server import NUMBER, Production

RULES = "rules_version = '2'; service firebase.storage { match /b/{b}/o { match /{f=**} { allow read: if request.auth != null; } } }"
DATA = random.Random(7).randbytes(2 * UNIT + 777)


@pytest.fixture(scope="module")
def dev(tmp_path_factory):
    folder = tmp_path_factory.mktemp("libraries")
    (folder / "storage.rules").write_text(RULES)
    with Hearth("--files-rules", str(folder / "storage.rules"), data=folder / "data", log=folder / "log") as server:
        yield server


@pytest.fixture(scope="module")
def production(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tls")
    (folder / "storage.rules").write_text(RULES)
    made = Production(folder, "--files-rules", str(folder / "storage.rules"), "--files-bucket", BUCKET)
    with made.server, pytest.MonkeyPatch.context() as patch:
        # It counts more than what a session says.
        patch.setenv("REQUESTS_CA_BUNDLE", str(made.certificate))
        yield made


def client_of(production):
    key = json.loads(production.create(f"files{next(NUMBER)}").read_text())
    credentials = service_account.Credentials.from_service_account_info(key)
    # A key of Hearth is for no server of Google.
    options = {"api_endpoint": production.address, "universe_domain": key["universe_domain"]}
    return storage.Client(project="demo", credentials=credentials, client_options=options)


@pytest.fixture(params=["development", "production"])
def client(request):
    if request.param == "development":
        server = request.getfixturevalue("dev")
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("STORAGE_EMULATOR_HOST", server.address)
            yield storage.Client(project="demo", credentials=AnonymousCredentials())
    else:
        yield client_of(request.getfixturevalue("production"))


def names(blobs):
    return [blob.name for blob in blobs]


def test_google_cloud_storage(client):
    bucket = client.bucket(BUCKET)
    for blob in bucket.list_blobs():
        blob.delete()
    blob = bucket.blob("a/b c%+.txt")
    assert not blob.exists()
    blob.metadata = {"k": "v"}
    blob.upload_from_string("hello", content_type="text/plain", if_generation_match=0)
    with pytest.raises(exceptions.PreconditionFailed):
        bucket.blob("a/b c%+.txt").upload_from_string("x", if_generation_match=0)
    same = bucket.get_blob("a/b c%+.txt")
    assert (same.size, same.content_type, same.md5_hash, same.crc32c) == (5, "text/plain", "XUFAKrxLKna5cZ2REBfFkg==", "mnG7TA==")
    assert same.metadata == {"k": "v"} and same.generation == blob.generation
    assert blob.download_as_bytes() == b"hello"
    assert blob.download_as_bytes(start=1, end=2) == b"el"
    with pytest.raises(exceptions.RequestRangeNotSatisfiable):
        blob.download_as_bytes(start=9)
    blob.cache_control, blob.metadata = "no-store", {"n": "1"}
    blob.patch()
    blob.reload()
    assert (blob.cache_control, blob.metadata, blob.metageneration) == ("no-store", {"k": "v", "n": "1"}, 2)
    blob.update()
    with pytest.raises(exceptions.NotFound):
        bucket.blob("none").download_as_bytes()
    with pytest.raises(exceptions.NotFound):
        bucket.blob("a/b c%+.txt", generation=5).reload()
    # Resumable, in chunks.
    large = bucket.blob("large", chunk_size=UNIT)
    large.upload_from_string(DATA, content_type="video/mp4", checksum="crc32c")
    assert (large.size, large.content_type) == (len(DATA), "video/mp4")
    assert bucket.blob("large").download_as_bytes(checksum="md5") == DATA
    assert bucket.blob("large", chunk_size=UNIT).download_as_bytes() == DATA
    # Lists.
    for name in ("l/a", "l/b/1", "l/b/2", "l/c", "l/d/"):
        bucket.blob(name).upload_from_string(name)
    found = bucket.list_blobs(prefix="l/", delimiter="/")
    assert names(found) == ["l/a", "l/c"] and found.prefixes == {"l/b/", "l/d/"}
    assert names(bucket.list_blobs(prefix="l/", page_size=2)) == ["l/a", "l/b/1", "l/b/2", "l/c", "l/d/"]
    assert names(bucket.list_blobs(start_offset="l/b/2", end_offset="l/d")) == ["l/b/2", "l/c"]
    assert names(bucket.list_blobs(prefix="l/", delimiter="/", include_trailing_delimiter=True)) == ["l/a", "l/c", "l/d/"]
    # Copies.
    copy = bucket.copy_blob(same, bucket, "copy")
    assert copy.download_as_bytes() == b"hello" and copy.metadata["k"] == "v"
    token, written, total = bucket.blob("rewritten").rewrite(large)
    assert (token, written, total) == (None, len(DATA), len(DATA))
    joined = bucket.blob("joined")
    joined.content_type = "text/plain"
    joined.compose([copy, large])
    assert joined.component_count == 2 and joined.md5_hash is None
    assert joined.download_as_bytes() == b"hello" + DATA
    moved = bucket.rename_blob(copy, "moved")
    assert not bucket.blob("copy").exists() and moved.size == 5
    with client.batch(raise_exception=False) as batch:
        for name in ("l/a", "l/b/1", "none"):
            bucket.delete_blob(name)
    assert [answer.status_code for answer in batch._responses] == [204, 204, 404]
    assert names(bucket.list_blobs(prefix="l/")) == ["l/b/2", "l/c", "l/d/"]
    public = f"{client._connection.API_BASE_URL}/{BUCKET}/moved"
    moved.make_public()
    assert requests.get(public).content == b"hello"
    moved.make_private()
    # As the Node library opens an object to everyone.
    client._connection.api_request("POST", f"/b/{BUCKET}/o/moved/acl", data={"entity": "allUsers", "role": "READER"})
    assert requests.get(public).content == b"hello"
    assert bucket.exists()


def test_firebase_admin(dev, monkeypatch):
    monkeypatch.setenv("STORAGE_EMULATOR_HOST", dev.address)
    app = firebase_admin.initialize_app(AdminCredential(), {"storageBucket": BUCKET, "projectId": "demo"}, name="files")
    try:
        bucket = firebase_admin.storage.bucket(app=app)
        blob = bucket.blob("admin/a.txt")
        blob.upload_from_string("hello", content_type="text/plain")
        assert blob.download_as_bytes() == b"hello"
        assert names(bucket.list_blobs(prefix="admin/")) == ["admin/a.txt"]
        # A client that reads its metadata first makes its token.
        assert blob.metadata is None
        secret = dev.get(place("admin/a.txt"), headers=signed_in("ann")).json["downloadTokens"]
        blob.reload()
        assert blob.metadata == {"firebaseStorageDownloadTokens": secret} and blob.metageneration == 2
        assert dev.get(place("admin/a.txt") + f"?alt=media&token={secret}").body == b"hello"
        blob.metadata = {"firebaseStorageDownloadTokens": "mine"}
        blob.patch()
        assert dev.get(place("admin/a.txt") + "?alt=media&token=mine").body == b"hello"
        blob.delete()
        assert not blob.exists()
    finally:
        firebase_admin.delete_app(app)


class AdminCredential(firebase_admin.credentials.Base):
    def get_credential(self):
        return AnonymousCredentials()


def test_signed_addresses(production):
    client = client_of(production)
    blob = client.bucket(BUCKET).blob("signed/a b.json")
    blob.upload_from_string("hello", content_type="text/html")

    def signed(seconds=60, endpoint=production.address, **options):
        return blob.generate_signed_url(datetime.timedelta(seconds=seconds), api_access_endpoint=endpoint, **options)

    def now():
        return client.bucket(BUCKET).blob(blob.name).download_as_bytes()

    def ask(method, url, data=None, headers=None):
        return requests.request(method, url, data=data, headers=headers)

    for version in ("v4", "v2"):
        read = ask("GET", signed(version=version))
        assert (read.status_code, read.content) == (200, b"hello"), read.text
        url = signed(version=version, method="PUT", content_type="text/plain")
        assert ask("PUT", url, b"new", {"Content-Type": "text/plain"}).status_code == 200
        assert ask("PUT", url, b"new", {"Content-Type": "text/html"}).status_code == 403
        assert ask("DELETE", url).status_code in (400, 403)
        assert now() == b"new"
        blob.upload_from_string("hello")
    shown = ask("GET", signed(version="v4", response_type="text/html", response_disposition="inline; filename=x"))
    assert shown.headers["Content-Type"] == "text/html" and shown.headers["Content-Disposition"].startswith("attachment")
    url = signed(version="v4")
    wrong = ask("GET", url[:-4] + "0000")
    assert wrong.status_code == 403 and "<Code>SignatureDoesNotMatch</Code>" in wrong.text
    assert ask("GET", url.replace("signed/", "other/")).status_code == 403
    assert ask("GET", f"{production.address}/{BUCKET}/signed/a%20b.json").status_code in (401, 403)
    started = ask("POST", signed(version="v4", method="RESUMABLE"), headers={"x-goog-resumable": "start"})
    assert started.status_code == 201, started.text
    assert ask("PUT", started.headers["Location"], DATA).status_code == 200
    assert now() == DATA
    email = client._credentials.service_account_email
    assert production.run("service-account", "revoke", email.split("@")[0]).returncode == 0
    assert ask("GET", url).status_code == 403


def test_who_is_no_administrator_may_not(production):
    for path in ("/storage/v1/b", f"/storage/v1/b/{BUCKET}/o", f"/download/storage/v1/b/{BUCKET}/o/x"):
        answer = production.request("GET", path)
        assert (answer.status, answer.json["error"]["errors"][0]["reason"]) == (401, "required") if "download" not in path else answer.status == 401
    assert production.request("POST", f"/upload/storage/v1/b/{BUCKET}/o?uploadType=media&name=x", {}).status == 401
    assert production.request("POST", f"/upload/storage/v1/b/{BUCKET}/o?uploadType=media&name=x", {}, token="owner").status == 401
    assert production.request("GET", "/storage/v1/b/other/o", token=production.secret_file.read_text().strip()).status == 404
