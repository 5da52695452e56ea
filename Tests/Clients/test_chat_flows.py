"""Every flow of rules/chat.json by signed-in clients alone, on one database: the updates are those of the
table in rules/README.md, and nothing is written by an administrator."""

import hashlib
import itertools
import json
import threading
import urllib.parse

import pytest

from hearth_server import ROOT, Hearth
from signing import unsigned
from wire_client import Wire

RULES = ROOT / "rules" / "chat.json"
NOW = {".sv": "timestamp"}
ONE_MORE = {".sv": {"increment": 1}}


def digest(*uids):
    """What identifies a pair in whatever order: over both uids, sorted, each behind its length."""
    text = "".join(f"{len(uid)}:{uid}" for uid in sorted(uids))
    return hashlib.sha256(text.encode()).hexdigest()


class Person:
    """A signed-in client."""

    keys = itertools.count()

    def __init__(self, server, uid):
        self.server = server
        self.uid = uid
        self.name = uid.title()
        self.token = unsigned({"sub": uid, "user_id": uid})
        self.query = "auth=" + self.token

    def update(self, places):
        return self.server.request("PATCH", "/.json?" + self.query, places).status

    def read(self, path, **query):
        terms = "".join(f"&{name}={urllib.parse.quote(json.dumps(value))}" for name, value in query.items())
        answer = self.server.get(f"/{path}.json?{self.query}{terms}")
        return answer.json if answer.status == 200 else answer.status

    def key(self):
        return f"-k{next(self.keys):06}"

    # People

    def sign_up(self):
        profile = {"username": self.name, "name": self.name}
        private = {"email": f"{self.uid}@example.com"}
        return self.update(
            {
                f"users/{self.uid}": {"username": self.name},
                f"usernames/{self.name.lower()}": self.uid,
                f"profiles/{self.uid}": profile,
                f"private/{self.uid}": private,
                f"searchIndex/name/{self.uid[:2]}/{self.uid}": True,
            }
        )

    def follow(self, other, value=True):
        return self.update(
            {f"following/{self.uid}/{other.uid}": value, f"followers/{other.uid}/{self.uid}": value}
        )

    # Direct chats

    def message(self, content):
        sender = {"uid": self.uid, "username": self.name}
        return {"content": content, "timestamp": 1700000000.25, "sentAt": NOW, "sender": sender}

    def start(self, other, content):
        chat = digest(self.uid, other.uid)
        key = self.key()
        copy = {
            "title": ", ".join(sorted([self.name, other.name])),
            "memberHash": chat,
            "members": {self.uid: True, other.uid: True},
            "lastMessage": f"{self.name}: {content}",
            "lastMessageSent": 1700000000.25,
            "lastMessageAt": NOW,
            "lastMessageKey": key,
        }
        return self.update(
            {
                f"pairs/{chat}": {self.uid: other.uid, other.uid: self.uid},
                f"chats/{self.uid}/{chat}": copy,
                f"chats/{other.uid}/{chat}": copy,
                f"messages/{chat}/{key}": self.message(content),
            }
        )

    def send(self, other, content):
        chat = digest(self.uid, other.uid)
        key = self.key()
        places = {f"messages/{chat}/{key}": self.message(content)}
        for uid in (self.uid, other.uid):
            places[f"chats/{uid}/{chat}/lastMessage"] = f"{self.name}: {content}"
            places[f"chats/{uid}/{chat}/lastMessageSent"] = 1700000000.25
            places[f"chats/{uid}/{chat}/lastMessageAt"] = NOW
            places[f"chats/{uid}/{chat}/lastMessageKey"] = key
        return self.update(places)

    # Rooms

    def entry(self, name, unread):
        return {"name": name, "lastEventText": "", "lastEventAt": NOW, "unread": unread}

    def make(self, room, name, *others, type="private"):
        event = {"kind": "createdChat", "at": NOW, "by": self.uid}
        key = self.key()
        members = {self.uid: "owner", **{other.uid: "member" for other in others}}
        facts = {"name": name, "createdAt": NOW, "createdBy": self.uid, "type": type, "members": members}
        places = {f"userRooms/{uid}/{room}": self.entry(name, 0) for uid in members}
        places[f"rooms/{room}"] = {**facts, "lastEvent": {"key": key, **event}}
        places[f"roomEvents/{room}/{key}"] = event
        return self.update(places)

    def tell(self, room, to, more, summary="", **event):
        """An event, the copy of it in the room, and in the lists of `to`; `more` comes with it."""
        event = {"at": NOW, "by": self.uid, **event}
        key = self.key()
        places = {f"roomEvents/{room}/{key}": event, f"rooms/{room}/lastEvent": {"key": key, **event}}
        for person in to:
            place = f"userRooms/{person.uid}/{room}"
            places[f"{place}/lastEventText"] = summary
            places[f"{place}/lastEventAt"] = NOW
            if person is not self:
                places[f"{place}/unread"] = ONE_MORE
        return self.update({**places, **more})

    def say(self, room, to, text):
        return self.tell(room, to, {}, text, kind="message", text=text)

    def add(self, room, name, to, who, role="member"):
        more = {f"rooms/{room}/members/{who.uid}": role, f"userRooms/{who.uid}/{room}": self.entry(name, 0)}
        return self.tell(room, to, more, kind="addedUser", target=who.uid)

    def put_out(self, room, to, who, role=None):
        more = {f"rooms/{room}/members/{who.uid}": role, f"userRooms/{who.uid}/{room}": None}
        return self.tell(room, to, more, kind="userLeft", target=who.uid)

    def rename(self, room, name, to):
        more = {f"rooms/{room}/name": name, **{f"userRooms/{person.uid}/{room}/name": name for person in to}}
        return self.tell(room, to, more, kind="renamedChat", name=name)


@pytest.fixture
def people():
    with Hearth("--rules", str(RULES)) as server:
        people = [Person(server, uid) for uid in ("ann", "bob", "cyd", "eve")]
        assert [person.sign_up() for person in people] == [200] * 4
        yield people


def test_a_username_goes_to_the_first_who_claims_it(people):
    ann = people[0]
    late = Person(ann.server, "late")
    late.name = "ANN"
    assert late.sign_up() == 401
    late.name = "Late"
    assert late.sign_up() == 200
    assert ann.read("usernames/late") == "late"
    assert ann.read("users") == 401


def test_following_goes_both_ways_and_ends(people):
    ann, bob, _, _ = people
    assert ann.follow(bob) == 200
    assert bob.read("followers/bob") == {"ann": True}
    assert ann.follow(bob, None) == 200
    assert bob.read("followers/bob") is None


def test_a_direct_chat_from_the_first_message_to_the_last(people):
    ann, bob, _, eve = people
    chat = digest("ann", "bob")
    assert ann.start(bob, "hi") == 401
    assert ann.follow(bob) == 200
    assert ann.read(f"pairs/{chat}") is None
    assert ann.start(bob, "hi") == 200
    assert [bob.send(ann, f"answer {n}") for n in range(5)] == [200] * 5
    assert eve.send(bob, "let me in") == 401 and eve.read(f"messages/{chat}") == 401

    # Found by its members' hash, and listed newest first.
    assert list(ann.read("chats/ann", orderBy="memberHash", equalTo=chat)) == [chat]
    assert list(bob.read("chats/bob", orderBy="lastMessageAt", limitToLast=10)) == [chat]

    # A page of older messages.
    keys = sorted(ann.read(f"messages/{chat}"))
    page = ann.read(f"messages/{chat}", orderBy="$key", endBefore=keys[-2], limitToLast=2)
    assert sorted(page) == keys[-4:-2]

    # Bob throws the chat away; the next message brings it back, and a block ends it.
    assert bob.update({f"chats/bob/{chat}": None}) == 200
    assert ann.send(bob, "still there?") == 401
    assert ann.start(bob, "still there?") == 200
    assert bob.read(f"chats/bob/{chat}/lastMessage") == "Ann: still there?"
    assert bob.update({"blocks/bob/ann": True}) == 200
    assert ann.send(bob, "hello?") == 401


def test_two_who_start_a_chat_at_one_moment_end_in_one(people):
    ann, bob, _, _ = people
    assert ann.follow(bob) == 200 and bob.follow(ann) == 200
    line = threading.Barrier(2)
    statuses = []

    def start(one, other):
        line.wait()
        statuses.append(one.start(other, f"it is me, {one.name}"))

    racers = [threading.Thread(target=start, args=pair) for pair in ((ann, bob), (bob, ann))]
    for racer in racers:
        racer.start()
    for racer in racers:
        racer.join()
    assert statuses == [200, 200]
    chat = digest("ann", "bob")
    assert list(ann.read("chats/ann")) == [chat] and list(bob.read("chats/bob")) == [chat]
    messages = ann.read(f"messages/{chat}")
    assert sorted(message["sender"]["uid"] for message in messages.values()) == ["ann", "bob"]
    last = max(messages.values(), key=lambda message: message["sentAt"])
    assert ann.read("chats/ann")[chat]["lastMessageAt"] == last["sentAt"]


def test_a_room_from_its_making_to_the_last_who_leaves(people):
    ann, bob, cyd, eve = people
    assert ann.make("r", "Tea", bob) == 200
    assert [bob.say("r", (ann, bob), text) for text in ("hello", "anybody?")] == [200] * 2
    assert ann.read("userRooms/ann/r/unread") == 2
    latest = max(bob.read("roomEvents/r"))
    read = {"userRooms/ann/r/unread": 0, "readStatus/r/ann": {"upTo": latest, "at": NOW}}
    assert ann.update(read) == 200

    # Invited by a member, made an admin by the owner, renaming as one.
    assert cyd.read("rooms/r") == 401
    assert bob.add("r", "Tea", (ann, bob), cyd) == 200
    assert cyd.rename("r", "Coffee", (ann, bob, cyd)) == 401
    assert ann.update({"rooms/r/members/cyd": "admin"}) == 200
    assert cyd.rename("r", "Coffee", (ann, bob, cyd)) == 200
    assert bob.read("userRooms/bob/r/name") == "Coffee"

    # Put out and banned, he sees nothing, and only an admin brings him back.
    assert cyd.put_out("r", (ann, cyd), bob, "banned") == 200
    assert bob.read("rooms/r") == 401 and bob.read("userRooms/bob") is None
    assert bob.say("r", (ann, cyd), "unfair") == 401
    assert cyd.add("r", "Coffee", (ann, cyd), bob) == 200

    # All of them leave.
    assert ann.put_out("r", (bob, cyd), ann) == 200
    assert bob.put_out("r", (cyd,), bob) == 200
    assert cyd.put_out("r", (), cyd) == 200
    assert [person.read("rooms/r") for person in people] == [401] * 4

    # A public room is joined without being asked.
    assert ann.make("p", "Open", type="public") == 200
    assert eve.read("rooms/p/name") == "Open" and eve.say("p", (ann,), "hi") == 401
    assert eve.add("p", "Open", (ann,), eve) == 200
    assert eve.say("p", (ann, eve), "hi") == 200
    kinds = [event["kind"] for _, event in sorted(ann.read("roomEvents/p").items())]
    assert kinds == ["createdChat", "addedUser", "message"]


def test_a_user_who_goes_away_is_gone_for_the_others(people):
    ann, bob, _, _ = people
    assert ann.make("r", "Tea", bob) == 200
    bobs = Wire(bob.server.port, ns="default")
    assert bobs.request("auth", cred=bob.token)[0]["s"] == "ok"
    assert bobs.request("o", p="/presence/bob/s1", d=None)[0]["s"] == "ok"
    assert bobs.request("o", p="/lastOnline/bob", d=NOW)[0]["s"] == "ok"
    assert bobs.request("o", p="/typing/r/bob", d=None)[0]["s"] == "ok"
    assert bobs.request("p", p="/presence/bob/s1", d={"online": True, "at": NOW})[0]["s"] == "ok"
    assert bobs.request("p", p="/typing/r/bob", d=True)[0]["s"] == "ok"
    assert ann.read("typing/r") == {"bob": True}
    assert bobs.request("o", p="/presence/ann/s1", d=None)[0]["s"] == "permission_denied"

    with Wire(ann.server.port, ns="default") as anns:
        assert anns.request("auth", cred=ann.token)[0]["s"] == "ok"
        places = ["presence/bob", "typing/r", "lastOnline/bob"]
        assert [anns.request("q", p="/" + place, h="")[0]["s"] for place in places] == ["ok"] * 3
        bobs.close()
        seen = {}
        while len(seen) < 3:
            event = anns.push()["b"]
            seen[event["p"]] = event["d"]
    assert ann.read("presence/bob") is None and ann.read("typing/r") is None
    assert ann.read("lastOnline/bob") == seen["lastOnline/bob"]
