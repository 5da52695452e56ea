"""`POST /path/.upload`: a form with a file, as a web page imports JSON."""

import json

import pytest

from hearth_server import Hearth

TYPE = {"Content-Type": "multipart/form-data; boundary=xyz"}


def form(*parts, boundary="xyz", end="--"):
    text = b""
    for disposition, content in parts:
        text += f"--{boundary}\r\nContent-Disposition: form-data; {disposition}\r\n".encode()
        text += b"Content-Type: application/json\r\n\r\n" + content + b"\r\n"
    return text + f"--{boundary}{end}\r\n".encode()


def upload(server, path, body, headers=TYPE):
    return server.request("POST", path, raw=body, headers=headers)


FILE = 'name="file"; filename="data.json"'


@pytest.mark.parametrize("path, place", [
    ("/.upload", "/"), ("/a/.upload", "/a"), ("/a/b/.upload?writeSizeLimit=unlimited", "/a/b"),
])
def test_the_file_replaces_the_node_at_the_path(dev, path, place):
    dev.put("/.json", {"old": 1, "a": {"old": 1, "b": {"old": 1}}})
    answer = upload(dev, path, form((FILE, b'{"new": [1, {"x": "y"}]}')))
    assert (answer.status, answer.body) == (204, b"")
    assert dev.get(f"{place}.json").json == {"new": [1, {"x": "y"}]}


def test_the_file_goes_into_the_database_that_ns_names(dev):
    assert upload(dev, "/.upload?ns=other&access_token=owner", form((FILE, b"1"))).status == 204
    assert dev.get("/.json?ns=other").json == 1
    assert dev.get("/.json").json is None


@pytest.mark.parametrize("body", [
    form(('name="field"', b'{"not": "this"}'), (FILE, b'"first"'), (FILE, b'"second"')),
    b"a preamble\r\n" + form((FILE, b'"first"')) + b"an epilogue",
    form(("name=file; FILENAME=data.json", b'"first"')),
    form((FILE, b'\r\n"first"\r\n')),
    form((FILE, b'"first"')).replace(b"--xyz\r\n", b"--xyz  \r\n"),
])
def test_the_first_file_counts(dev, body):
    assert upload(dev, "/a/.upload", body).status == 204
    assert dev.get("/a.json").json == "first"


def test_a_quoted_boundary_is_read(dev):
    headers = {"Content-Type": 'Multipart/Form-Data; charset=utf-8; boundary="a b;c"'}
    # A semicolon within quotes is no separator for a full parser; a space is common.
    headers = {"Content-Type": 'Multipart/Form-Data; charset=utf-8; boundary="a b"'}
    assert upload(dev, "/a/.upload", form((FILE, b"1"), boundary="a b"), headers).status == 204


def test_a_large_file_is_taken(dev):
    value = {f"key{index}": "x" * 100 for index in range(50_000)}
    assert upload(dev, "/a/.upload", form((FILE, json.dumps(value).encode()))).status == 204
    assert dev.get("/a.json").json == value


@pytest.mark.parametrize("headers, body, reason", [
    ({"Content-Type": "application/json"}, b"1", "multipart/form-data"),
    ({"Content-Type": "multipart/form-data"}, form((FILE, b"1")), "boundary"),
    ({"Content-Type": "multipart/form-data; boundary=" + "x" * 71}, b"", "boundary"),
    ({"Content-Type": 'multipart/form-data; boundary="'}, b"", "boundary"),
    (TYPE, b"", "no part that is a file"),
    (TYPE, form(), "no part that is a file"),
    (TYPE, form(('name="file"', b"1")), "no part that is a file"),
    (TYPE, form((FILE, b"1"), boundary="other"), "no part that is a file"),
    (TYPE, form((FILE, b"1"))[:-9], "ends within a part"),
    (TYPE, form((FILE, b"{")), "couldn't parse JSON"),
    (TYPE, form((FILE, b"")), "couldn't parse JSON"),
    (TYPE, form((FILE, b'{"a.b": 1}')), "couldn't parse key"),
])
def test_a_bad_upload_is_reported_and_changes_nothing(dev, headers, body, reason):
    dev.put("/a.json", "before")
    answer = upload(dev, "/a/.upload", body, headers)
    assert answer.status == 400
    assert reason in answer.json["error"]
    assert dev.get("/a.json").json == "before"


def test_only_a_post_is_taken_and_only_a_good_path(dev):
    assert dev.get("/a/.upload").status == 405
    assert upload(dev, "/a.b/.upload", form((FILE, b"1"))).status == 400
    assert upload(dev, "/" + "k/" * 33 + ".upload", form((FILE, b"1"))).status == 400


def test_an_upload_is_for_admins(tmp_path):
    with Hearth(dev=False, data=tmp_path / "data") as server:
        assert upload(server, "/a/.upload", form((FILE, b"1"))).status == 401
        secret = (tmp_path / "data" / "admin-secret").read_text().strip()
        assert upload(server, f"/a/.upload?auth={secret}", form((FILE, b"1"))).status == 204
