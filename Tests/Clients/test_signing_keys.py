"""The keys that sign ID tokens: their files, their succession, and what others learn of them."""

import base64
import json
import os
import stat
import subprocess
import threading
import time

import pytest

from hearth_server import BINARY, Hearth
from key_folder import DAY, KeyFolder, OwnKey
from signing import token


def production(folder, *flags):
    return Hearth("--project", "party", *flags, dev=False, data=folder / "data", log=folder / "log")


def refusal(folder):
    """What a server that does not start says; it must end with 1."""
    ended = subprocess.run(
        [BINARY, "serve", "--port", "0", "--data-dir", str(folder / "data")],
        capture_output=True,
        timeout=120,
    )
    assert ended.returncode == 1 and ended.stdout == b""
    return ended.stderr.decode()


def admin(folder):
    secret = (folder / "data" / "admin-secret").read_text().strip()
    return {"Authorization": f"Bearer {secret}"}


def mode(path):
    return stat.S_IMODE(os.stat(path).st_mode)


def published(server):
    return {key["kid"]: key for key in server.get("/.well-known/jwks.json").json["keys"]}


def sign_up(server):
    body = {"email": "ann@example.com", "password": "long enough", "returnSecureToken": True}
    return server.request("POST", "/v1/accounts:signUp?key=any", body).json


def kid(text):
    head = text.split(".")[0]
    return json.loads(base64.urlsafe_b64decode(head + "=" * (-len(head) % 4)))["kid"]


def is_good(server, text):
    answer = server.request("POST", "/v1/accounts:lookup?key=any", {"idToken": text})
    return answer.status == 200


def test_a_new_server_makes_its_keys_for_itself_alone_and_keeps_them(tmp_path):
    with production(tmp_path) as server:
        keys = tmp_path / "data" / "keys"
        assert mode(keys) == 0o700
        assert sorted(os.listdir(keys)) == ["refresh-key", "signing-keys.json"]
        assert {mode(keys / name) for name in os.listdir(keys)} == {0o600}
        made = sign_up(server)
        answer = server.get("/.well-known/jwks.json")
        assert answer.headers["Cache-Control"] == "public, max-age=1800"
        assert answer.headers["Content-Type"].startswith("application/json")
        (key,) = answer.json["keys"]
        assert set(key) == {"kty", "use", "alg", "kid", "n", "e"}
        assert kid(made["idToken"]) == key["kid"]
        server.kill()
    with production(tmp_path) as server:
        assert list(published(server)) == [key["kid"]]
        assert is_good(server, made["idToken"])
        body = {"grantType": "refresh_token", "refreshToken": made["refreshToken"]}
        answer = server.request("POST", "/securetoken.googleapis.com/v1/token?key=a", body)
        assert answer.status == 200 and is_good(server, answer.json["id_token"])


def test_only_administrators_see_and_begin_keys(tmp_path):
    with production(tmp_path) as server:
        for method in ("GET", "POST"):
            assert server.request(method, "/.accounts/keys.json").status == 401
            user = {"Authorization": f"Bearer {sign_up(server).get('idToken', 'owner')}"}
            assert server.request(method, "/.accounts/keys.json", headers=user).status == 401
            # In an address even the right one is refused, and the answer says why.
            secret = admin(tmp_path)["Authorization"].removeprefix("Bearer ")
            answer = server.request(method, f"/.accounts/keys.json?auth={secret}")
            assert answer.status == 401 and "Authorization" in answer.json["error"]
        (first,) = server.get("/.accounts/keys.json", headers=admin(tmp_path)).json["keys"]
        assert first["state"] == "current" and "verifiesUntil" not in first
        before = published(server)
        answer = server.request("POST", "/.accounts/keys.json", headers=admin(tmp_path))
        old, new = answer.json["keys"]
        assert (old["kid"], old["state"], new["state"]) == (first["kid"], "current", "next")
        assert old["verifiesUntil"] > new["signsFrom"] > new["created"]
        # It is published at once, and signs later.
        assert set(published(server)) == {*before, new["kid"]}
        body = {"email": "bob@example.com", "password": "long enough", "returnSecureToken": True}
        bob = server.request("POST", "/v1/accounts:signUp?key=any", body).json
        assert kid(bob["idToken"]) == old["kid"]
        # There is one at a time.
        again = server.request("POST", "/.accounts/keys.json", headers=admin(tmp_path))
        assert again.json["keys"] == answer.json["keys"]
        server.kill()
    with production(tmp_path) as server:
        assert server.get("/.accounts/keys.json", headers=admin(tmp_path)).json == answer.json


def test_a_server_that_was_away_goes_on_with_its_keys_and_makes_the_next_one(tmp_path):
    data = tmp_path / "data"
    keys = KeyFolder(data)
    # The one that signs began 100 days ago, and no server ran to make the next one.
    old, current = OwnKey(time.time() - 200 * DAY), OwnKey(time.time() - 100 * DAY)
    keys.write([old.entry(), current.entry()])
    with production(tmp_path) as server:
        made = sign_up(server)
        assert kid(made["idToken"]) == current.id
        server.await_log("a signing key is published")
        listed = server.get("/.accounts/keys.json", headers=admin(tmp_path)).json["keys"]
        assert [key["state"] for key in listed] == ["current", "next"]
        assert listed[0]["kid"] == current.id
        assert old.id not in published(server)
        assert [entry["kid"] for entry in keys.read()] == [key["kid"] for key in listed]
        assert is_good(server, made["idToken"])


def test_what_signs_no_more_loses_its_private_half_on_disk(tmp_path):
    keys = KeyFolder(tmp_path / "data")
    with production(tmp_path) as server:
        assert set(published(server)) == {keys.superseded.id, keys.current.id, keys.next.id}
        assert mode(keys.file) == 0o600
        halves = {entry["kid"]: entry["key"].split("\n")[0] for entry in keys.read()}
        assert halves == {
            keys.superseded.id: "-----BEGIN PUBLIC KEY-----",
            keys.current.id: "-----BEGIN PRIVATE KEY-----",
            keys.next.id: "-----BEGIN PRIVATE KEY-----",
        }
        uid = sign_up(server)["localId"]
        now = int(time.time())
        claims = {
            "iss": "https://securetoken.google.com/party",
            "aud": "party",
            "sub": uid,
            "auth_time": now,
            "iat": now,
            "exp": now + 60,
        }
        assert is_good(server, token(keys.superseded, claims))
        assert not is_good(server, token(keys.retired, claims))


def test_a_key_that_begins_to_sign_while_the_server_runs_does(tmp_path):
    keys = KeyFolder(tmp_path / "data")
    keys.next.signs_from = int(time.time()) + 8
    keys.write([keys.current.entry(), keys.next.entry()])
    with production(tmp_path) as server:
        first = sign_up(server)
        deadline = time.monotonic() + 120
        pause = threading.Event()
        body = {"grantType": "refresh_token", "refreshToken": first["refreshToken"]}
        while True:
            answer = server.request("POST", "/securetoken.googleapis.com/v1/token?key=a", body)
            assert is_good(server, answer.json["id_token"])
            if kid(answer.json["id_token"]) == keys.next.id:
                break
            assert time.monotonic() < deadline
            # Each request is a connection, of which one address has 200 a second.
            pause.wait(0.05)
        assert time.time() >= keys.next.signs_from
        assert is_good(server, first["idToken"])
        # The private half goes with the first look at the clock after that.
        while keys.read()[0]["key"].startswith("-----BEGIN PRIVATE"):
            assert time.monotonic() < deadline
        assert is_good(server, first["idToken"])


@pytest.mark.parametrize("name, right", [("", "700"), ("refresh-key", "600"), ("signing-keys.json", "600")])
def test_keys_that_others_may_read_stop_the_start(tmp_path, name, right):
    with production(tmp_path):
        pass
    path = tmp_path / "data" / "keys" / name
    os.chmod(path, 0o755)
    said = refusal(tmp_path)
    assert "others may read these keys; run: chmod " + right in said and "keys" in said
    os.chmod(path, int(right, 8))
    with production(tmp_path) as server:
        assert len(published(server)) == 1


def test_a_damaged_key_file_stops_the_start_and_is_left_as_it_is(tmp_path):
    with production(tmp_path):
        pass
    path = tmp_path / "data" / "keys" / "signing-keys.json"
    whole = path.read_text()
    path.write_text(whole[:700])
    said = refusal(tmp_path)
    assert "signing-keys.json: it is not JSON at byte" in said
    assert "remove it" in said and "PRIVATE" not in said
    assert path.read_text() == whole[:700]


def test_without_its_keys_a_folder_has_new_ones_and_people_sign_in_again(tmp_path):
    with production(tmp_path) as server:
        made = sign_up(server)
    for name in ("refresh-key", "signing-keys.json"):
        (tmp_path / "data" / "keys" / name).unlink()
    (tmp_path / "data" / "keys").rmdir()
    with production(tmp_path) as server:
        assert not is_good(server, made["idToken"])
        body = {"grantType": "refresh_token", "refreshToken": made["refreshToken"]}
        answer = server.request("POST", "/securetoken.googleapis.com/v1/token?key=a", body)
        assert answer.json["error"]["message"] == "INVALID_REFRESH_TOKEN"
        body = {"email": "ann@example.com", "password": "long enough", "returnSecureToken": True}
        again = server.request("POST", "/v1/accounts:signInWithPassword?key=any", body).json
        assert again["localId"] == made["localId"] and is_good(server, again["idToken"])


def test_development_signs_nothing_and_has_no_key_until_a_client_needs_one(dev):
    assert dev.get("/.well-known/jwks.json").json == {"keys": []}
    made = sign_up(dev)
    assert made["idToken"].endswith(".")
    answer = dev.request("POST", "/.accounts/keys.json")
    (key,) = answer.json["keys"]
    assert key["state"] == "current"
    assert list(published(dev)) == [key["kid"]]


def test_the_time_that_keys_live_sets_how_long_they_are_published_before(tmp_path):
    with production(tmp_path, "--signing-key-lifetime", "1h") as server:
        answer = server.get("/.well-known/jwks.json")
        assert answer.headers["Cache-Control"] == "public, max-age=180"
