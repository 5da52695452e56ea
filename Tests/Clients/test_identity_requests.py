"""Identity requests that no SDK sends: bodies that are too large or tell no length, other projects, other origins."""

import gzip
import json

import pytest

from hearth_server import Hearth
from raw_http import Raw, chunked, request

SIGN_UP = "/identitytoolkit.googleapis.com/v1/accounts:signUp?key=k"
LIMIT = 64 * 1024


def message(answer):
    status, _, body = answer
    error = json.loads(body)["error"]
    assert error["code"] == status
    assert error["errors"][0]["message"] == error["message"]
    return status, error["message"]


def padded(byte_count):
    """A body of exactly so many bytes, with a field that no code reads."""
    frame = len(json.dumps({"returnSecureToken": True, "x": ""}))
    return json.dumps({"returnSecureToken": True, "x": "y" * (byte_count - frame)}).encode()


def test_a_body_may_have_64_kib_and_no_byte_more(dev):
    assert dev.request("POST", SIGN_UP, raw=padded(LIMIT)).status == 200
    answer = Raw(dev.port).send(request("POST", SIGN_UP, padded(LIMIT + 1))).answer()
    assert message(answer) == (413, "The body may have up to 65536 bytes.")
    # It is refused by its head: nothing of the body need come.
    head = f"POST {SIGN_UP} HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100000000\r\n\r\n".encode()
    assert message(Raw(dev.port).send(head).answer())[0] == 413


def test_a_body_that_does_not_tell_its_length_is_refused(dev):
    body = chunked(b"{}")
    answer = Raw(dev.port).send(request("POST", SIGN_UP, body, "Transfer-Encoding: chunked")).answer()
    assert message(answer)[0] == 411


@pytest.mark.parametrize("byte_count, status", [(LIMIT, 200), (LIMIT + 1, 413), (100_000_000, 413)])
def test_a_coded_body_is_inflated_as_far_as_it_may_be_large(dev, byte_count, status):
    body = gzip.compress(padded(byte_count))
    answer = dev.request("POST", SIGN_UP, raw=body, headers={"Content-Encoding": "gzip"})
    assert answer.status == status, answer.text
    if len(body) > LIMIT:
        return
    damaged = dev.request("POST", SIGN_UP, raw=body[:-9], headers={"Content-Encoding": "gzip"})
    assert damaged.status in (400, 413) and damaged.json["error"]["message"]


def test_a_method_that_is_not_taken_is_reported_which_are(dev):
    answer = dev.get(SIGN_UP)
    assert answer.status == 405 and answer.headers["Allow"] == "POST, OPTIONS"


def test_browsers_may_ask_from_pages_of_this_machine(dev):
    headers = {
        "Origin": "http://localhost:5000",
        "Access-Control-Request-Method": "POST",
        "Access-Control-Request-Headers": "content-type,x-client-version,x-firebase-gmpid",
    }
    answer = dev.request("OPTIONS", SIGN_UP, headers=headers)
    assert answer.status in (200, 204)
    assert answer.headers["Access-Control-Allow-Origin"] == "http://localhost:5000"
    assert "x-client-version" in answer.headers["Access-Control-Allow-Headers"].lower()
    refused = dev.request("POST", SIGN_UP, raw=b'{"email":"x"}', headers={"Origin": "http://localhost:5000"})
    assert refused.status == 400
    assert refused.headers["Access-Control-Allow-Origin"] == "http://localhost:5000"


# Projects


def lookup(server, project, token):
    path = f"/identitytoolkit.googleapis.com/v1/projects/{project}/accounts:lookup"
    headers = {"Authorization": f"Bearer {token}"}
    return server.request("POST", path, body={"localId": ["x"]}, headers=headers)


def project(server):
    return server.get("/v1/projects?key=k").json["projectId"]


def test_in_development_the_first_project_that_is_named_is_the_project():
    with Hearth() as server:
        assert project(server) == "hearth"
        assert lookup(server, "..", "owner").status == 200
        assert project(server) == "hearth"
        assert lookup(server, "demo-chat", "nobody").status == 401
        assert project(server) == "hearth"
        assert lookup(server, "demo-chat", "owner").status == 200
        assert project(server) == "demo-chat"
        assert lookup(server, "demo-other", "owner").status == 200
        assert project(server) == "demo-chat"


def test_a_project_that_is_given_stays():
    with Hearth("--project", "mine") as server:
        assert lookup(server, "demo-chat", "owner").status == 200
        assert project(server) == "mine"


def test_in_production_another_project_is_refused(tmp_path):
    with Hearth("--project", "mine", dev=False, data=tmp_path / "data") as server:
        secret = (tmp_path / "data" / "admin-secret").read_text().strip()
        assert lookup(server, "mine", secret).status == 200
        answer = lookup(server, "other", secret)
        assert answer.status == 403
        assert "'mine' (--project)" in answer.json["error"]["message"]
        # Only an administrator gets the answer.
        assert lookup(server, "other", "owner").status == 401
