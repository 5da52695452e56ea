"""People with accounts, on a production server with the rules of the chat: what their sockets may read and write, and
when that ends. Nothing here runs in development mode, and no token is made by anybody but the server, except where an
operator signs one with the server's own key."""

import json
import time

import pytest
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import padding
from websockets.exceptions import ConnectionClosed

from event_client import Events
from hearth_server import ROOT, Hearth
from poll_client import Closed, Poll
from signing import RSAKey, token, unsigned
from stream_client import Stream
from wire_client import Wire

NOW = {".sv": "timestamp"}
PROJECT = "hearth"
ISSUER = f"https://securetoken.google.com/{PROJECT}"
CLIENT = "/identitytoolkit.googleapis.com/v1/accounts"
ADMIN = f"/identitytoolkit.googleapis.com/v1/projects/{PROJECT}/accounts"

REVOKED = ["ac", {"s": "invalid_token", "d": "The credential no longer counts."}]
EXPIRED = ["ac", {"s": "expired_token", "d": "Auth token is expired"}]


class OwnKey:
    """The key that the server signs with, read from its data folder."""

    algorithm = "RS256"

    def __init__(self, folder):
        kept = json.loads((folder / "keys" / "signing-keys.json").read_text())["keys"][-1]
        self.id = kept["kid"]
        self.private = serialization.load_pem_private_key(kept["key"].encode(), password=None)

    def sign(self, text):
        return self.private.sign(text, padding.PKCS1v15(), hashes.SHA256())


class Realm:
    """A production server whose people are made over REST."""

    def __init__(self, server, folder):
        self.server = server
        self.port = server.port
        self.folder = folder
        self.secret = (folder / "admin-secret").read_text().strip()
        self.count = 0

    def post(self, path, body, key="?key=an-api-key", **headers):
        answer = self.server.request("POST", path + key, body, headers=headers)
        assert answer.status == 200, answer.text
        return answer.json

    def administer(self, method, **body):
        return self.post(f"{ADMIN}:{method}", body, "", Authorization=f"Bearer {self.secret}")

    def sign_up(self, name):
        self.count += 1
        return Person(self, f"{name}{self.count}")

    def token(self, uid, key=None, **claims):
        """A token as the server itself makes them, but for some claims."""
        now = int(time.time())
        made = {"iss": ISSUER, "aud": PROJECT, "sub": uid, "user_id": uid, "iat": now, "auth_time": now}
        return token(key or OwnKey(self.folder), {**made, "exp": now + 3600, **claims})


class Person:
    """A user with an account, a profile and a username."""

    def __init__(self, realm, name):
        self.realm = realm
        self.name = name
        self.email = f"{name}@example.com"
        body = {"email": self.email, "password": "a good password", "returnSecureToken": True}
        answer = realm.post(f"{CLIENT}:signUp", body)
        self.uid, self.token = answer["localId"], answer["idToken"]

    def wire(self, token=None):
        """A socket that is signed in, its profile written over it."""
        socket = Wire(self.realm.port, ns="default")
        reply, _ = socket.request("auth", cred=token or self.token)
        assert reply["s"] == "ok", reply
        assert reply["d"]["auth"]["uid"] == self.uid
        return socket

    def sign_up_for_chat(self, socket):
        places = {f"users/{self.uid}": {"username": self.name}, f"usernames/{self.name}": self.uid}
        assert update(socket, places) == "ok"

    def read_status(self, token=None):
        return self.realm.server.get(f"/users/{self.uid}.json?auth={token or self.token}").status


@pytest.fixture(scope="module")
def realm(tmp_path_factory):
    folder = tmp_path_factory.mktemp("realm") / "data"
    flags = ["--rules", str(ROOT / "rules" / "chat.json")]
    with Hearth(*flags, dev=False, data=folder) as server:
        yield Realm(server, folder)


def update(socket, places):
    return socket.request("m", p="/", d=places)[0]["s"]


def listen(socket, path):
    """The status of a listen, and the value that came before its reply."""
    reply, pushes = socket.request("q", p=path, h="")
    return reply["s"], next((push["b"]["d"] for push in pushes if push["a"] == "d"), None)


def assert_ends(socket, wanted):
    """The next thing it hears is `wanted`, and nothing comes behind it."""
    push = socket.push()
    assert [push["a"], push["b"]] == wanted
    with pytest.raises((ConnectionClosed, Closed)):
        socket.receive()


# What they may


def test_a_signed_in_socket_reads_and_writes_what_the_chat_rules_allow_and_nothing_else(realm):
    ann, bob, eve = realm.sign_up("ann"), realm.sign_up("bob"), realm.sign_up("eve")
    with ann.wire() as anns, bob.wire() as bobs, eve.wire() as eves:
        for person, socket in [(ann, anns), (bob, bobs), (eve, eves)]:
            person.sign_up_for_chat(socket)
        room, key = f"room-{ann.name}", "-k1"
        event = {"kind": "createdChat", "at": NOW, "by": ann.uid}
        entry = {"name": "Tea", "lastEventText": "", "lastEventAt": NOW, "unread": 0}
        members = {ann.uid: "owner", bob.uid: "member"}
        facts = {"name": "Tea", "createdAt": NOW, "createdBy": ann.uid, "type": "private", "members": members}
        places = {f"userRooms/{uid}/{room}": entry for uid in members}
        places[f"rooms/{room}"] = {**facts, "lastEvent": {"key": key, **event}}
        places[f"roomEvents/{room}/{key}"] = event
        assert update(anns, places) == "ok"

        status, value = listen(bobs, f"/roomEvents/{room}")
        assert status == "ok" and value[key]["by"] == ann.uid
        assert listen(eves, f"/roomEvents/{room}") == ("permission_denied", None)
        assert listen(eves, f"/userRooms/{ann.uid}") == ("permission_denied", None)

        def said(by, key):
            message = {"kind": "message", "text": "hello", "at": NOW, "by": by}
            places = {f"roomEvents/{room}/{key}": message, f"rooms/{room}/lastEvent": {"key": key, **message}}
            for uid in members:
                places[f"userRooms/{uid}/{room}/lastEventText"] = "hello"
                places[f"userRooms/{uid}/{room}/lastEventAt"] = NOW
            places[f"userRooms/{bob.uid}/{room}/unread"] = {".sv": {"increment": 1}}
            return places

        assert update(anns, said(by=ann.uid, key="-k2")) == "ok"
        assert any("hello" in json.dumps(push) for push in [bobs.push()])
        # No user speaks for another: not a member, and not a stranger.
        assert update(bobs, said(by=ann.uid, key="-k3")) == "permission_denied"
        assert update(eves, said(by=ann.uid, key="-k4")) == "permission_denied"
        assert update(eves, {f"users/{ann.uid}": {"username": eve.name}}) == "permission_denied"


def test_a_client_without_a_token_or_with_a_made_up_one_gets_nothing(realm):
    ann = realm.sign_up("ann")
    forged = [
        unsigned({"iss": ISSUER, "aud": PROJECT, "sub": ann.uid, "iat": int(time.time())}),
        realm.token(ann.uid, key=RSAKey(OwnKey(realm.folder).id)),
        realm.token(ann.uid, aud="another"),
        realm.token(ann.uid, iss="https://securetoken.google.com/another"),
        realm.token("unknown-account"),
        realm.token(ann.uid, iat=int(time.time()) - 3600),
        ann.token[:-4] + ("AAAA" if ann.token[-4:] != "AAAA" else "BBBB"),
        "owner",
    ]
    for made_up in forged:
        with Wire(realm.port, ns="default") as socket:
            assert socket.request("auth", cred=made_up)[0]["s"] == "invalid_token"
            assert socket.request("gauth", cred=made_up)[0]["s"] == "invalid_token"
            assert listen(socket, f"/users/{ann.uid}") == ("permission_denied", None)
        assert ann.read_status(made_up) == 401
        stream = Stream(realm.port, f"/users/{ann.uid}.json?ns=default&auth={made_up}")
        assert stream.status == 401
        stream.close()
    # The real one, and one like it that is as young as the account.
    assert ann.read_status() == 200
    assert ann.read_status(realm.token(ann.uid)) == 200


# When it runs out


def test_everything_that_goes_on_is_cut_when_the_token_runs_out(realm):
    ann = realm.sign_up("ann")
    soon = realm.token(ann.uid, exp=int(time.time()) + 8)
    place = f"/users/{ann.uid}"
    with (
        ann.wire(soon) as wire,
        Poll(realm.port, ns="default") as poll,
        Events(realm.port, ns="default") as events,
        Stream(realm.port, f"{place}.json?ns=default&auth={soon}") as stream,
        ann.wire() as other,
    ):
        assert poll.request("auth", cred=soon)[0]["s"] == "ok"
        assert events.ask("auth", token=soon) == {"ok": True, "uid": ann.uid}
        observer, _, reply = events.observe(place, "value")
        assert reply["ok"] and listen(wire, place)[0] == "ok" and listen(poll, place)[0] == "ok"
        assert stream.event() == ("put", "/", None)
        assert_ends(wire, EXPIRED)
        assert_ends(poll, EXPIRED)
        assert stream.next() == ("auth_revoked", "credential is no longer valid")
        assert stream.next() is None
        received = [events.receive(), events.receive()]
        assert [event["event"] for event in received] == ["authRevoked", "cancelled"]
        assert received[0]["error"] == "expired_token"
        assert events.ask("get", path=place)["error"] == "permission_denied"
        assert ann.read_status(soon) == 401
        # What the same person holds by another token goes on.
        assert listen(other, place)[0] == "ok"


# When it is taken away


def disable(person):
    person.realm.administer("update", localId=person.uid, disableUser=True)


def revoke(person):
    person.realm.administer("update", localId=person.uid, validSince=str(int(time.time())))


def delete(person):
    person.realm.administer("delete", localId=person.uid)


def set_password(person):
    person.realm.administer("update", localId=person.uid, password="another password")


def change_own_password(person):
    body = {"idToken": person.token, "password": "another password", "returnSecureToken": True}
    answer = person.realm.post(f"{CLIENT}:update", body)
    assert person.read_status(answer["idToken"]) == 200


def delete_oneself(person):
    person.realm.post(f"{CLIENT}:delete", {"idToken": person.token})


@pytest.mark.parametrize(
    "end", [disable, revoke, delete, set_password, change_own_password, delete_oneself]
)
def test_sockets_lose_their_rights(realm, end):
    ann, bob = realm.sign_up("ann"), realm.sign_up("bob")
    place = f"/users/{ann.uid}"
    with (
        ann.wire() as wire,
        Poll(realm.port, ns="default") as poll,
        Events(realm.port, ns="default") as events,
        Stream(realm.port, f"{place}.json?ns=default&auth={ann.token}") as stream,
        bob.wire() as bystander,
    ):
        ann.sign_up_for_chat(wire)
        assert poll.request("auth", cred=ann.token)[0]["s"] == "ok"
        assert events.ask("auth", token=ann.token) == {"ok": True, "uid": ann.uid}
        _, _, reply = events.observe(place, "value")
        assert reply["ok"] and listen(poll, place)[0] == "ok"
        assert listen(bystander, place)[0] == "ok"
        assert stream.event() == ("put", "/", None)
        assert stream.event() == ("put", "/", {"username": ann.name})

        end(ann)
        assert_ends(wire, REVOKED)
        assert_ends(poll, REVOKED)
        assert stream.next() == ("auth_revoked", "credential is no longer valid")
        assert stream.next() is None
        received = [events.receive(), events.receive()]
        assert [event["event"] for event in received] == ["authRevoked", "cancelled"]
        assert received[0]["error"] == "invalid_token"
        assert events.ask("get", path=place)["error"] == "permission_denied"

        # The old token is good for nothing new either.
        assert ann.read_status() == 401
        with Wire(realm.port, ns="default") as socket:
            assert socket.request("auth", cred=ann.token)[0]["s"] == "invalid_token"
            assert listen(socket, place) == ("permission_denied", None)
        assert events.ask("auth", token=ann.token)["error"] == "invalid_token"
        # Others go on.
        assert listen(bystander, f"/users/{bob.uid}")[0] == "ok"


def test_the_socket_on_which_a_new_password_is_set_goes_on_with_the_new_token(realm):
    ann = realm.sign_up("ann")
    with ann.wire() as here, ann.wire() as elsewhere:
        body = {"idToken": ann.token, "password": "another password", "returnSecureToken": True}
        fresh = realm.post(f"{CLIENT}:update", body)["idToken"]
        # As an SDK does on every new token, at once.
        assert here.request("auth", cred=fresh)[0]["s"] == "ok"
        assert_ends(elsewhere, REVOKED)
        assert listen(here, f"/users/{ann.uid}")[0] == "ok"


def test_what_a_revoked_session_left_for_its_end_is_done(realm):
    ann, bob = realm.sign_up("ann"), realm.sign_up("bob")
    with ann.wire() as wire, bob.wire() as watcher:
        ann.sign_up_for_chat(wire)
        name = {"p": f"/users/{ann.uid}/name"}
        assert wire.request("p", **name, d="here")[0]["s"] == "ok"
        assert wire.request("o", **name, d="gone")[0]["s"] == "ok"
        assert listen(watcher, f"/users/{ann.uid}/name") == ("ok", "here")
        disable(ann)
        assert watcher.push()["b"]["d"] == "gone"


def test_many_sockets_of_one_person_all_end_and_those_of_another_do_not(realm):
    ann, bob = realm.sign_up("ann"), realm.sign_up("bob")
    anns = [ann.wire() for _ in range(50)]
    bobs = [bob.wire() for _ in range(50)]
    delete(ann)
    for socket in anns:
        assert_ends(socket, REVOKED)
    for socket in bobs:
        assert listen(socket, f"/users/{bob.uid}")[0] == "ok"
        socket.close()
