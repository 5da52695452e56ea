"""Every flow of rules/party.json by signed-in clients alone, one after the other on one database: the
updates are those of the table in rules/README.md, and nothing is written by an administrator."""

import json
import re
import urllib.parse

import pytest

from hearth_server import ROOT, Hearth
from signing import unsigned

RULES = ROOT / "rules" / "party.json"
PNG = "iVBORw0KGgoAAAANSUhEUg=="


def encoded(email):
    """The key of an e-mail in the index: lower case, what no key may hold as `=` and two digits."""
    return re.sub(r"[=.#$/\[\]]", lambda match: f"={ord(match[0]):02X}", email.lower())


class Guest:
    """A signed-in client."""

    def __init__(self, server, uid):
        self.server = server
        self.uid = uid
        self.email = f"{uid}@Example.com"
        token = unsigned({"sub": uid, "user_id": uid, "email": self.email})
        self.query = "?auth=" + token

    def update(self, places):
        return self.server.request("PATCH", "/.json" + self.query, places).status

    def read(self, path):
        answer = self.server.get(urllib.parse.quote(f"/{path}.json") + self.query)
        return answer.json if answer.status == 200 else answer.status

    def sign_up(self):
        return self.update(
            {
                f"users/{self.uid}": {"uid": self.uid, "email": self.email},
                f"profiles/{self.uid}": {"name": self.uid.title()},
                f"emails/{encoded(self.email)}": self.uid,
            }
        )

    def message(self, to, subject, content, party="null", photo="null", **more):
        parts = {"messageType": subject, "messageContent": content, "party": party, "photo": photo}
        return {"from": self.uid, "to": to.uid, **parts, **more}

    def ask(self, other, key):
        return self.update({f"messages/{other.uid}/{key}": self.message(other, "friend_request", "invite")})

    def befriend(self, other, key):
        """Accepts the request that lies in the own inbox under `key`."""
        return self.update(
            {
                f"users/{self.uid}/friends/{other.uid}": True,
                f"messages/{other.uid}/{key}": self.message(other, "friend_request", "accept"),
                f"messages/{self.uid}/{key}": None,
            }
        )

    def apply_friendship(self, key):
        """Does what the answer under `key` says, which is applied as often as one likes."""
        inbox = self.read(f"messages/{self.uid}") or {}
        if key not in inbox:
            return 200
        friend = inbox[key]["messageContent"] == "accept"
        return self.update(
            {f"users/{self.uid}/friends/{inbox[key]['from']}": friend, f"messages/{self.uid}/{key}": None}
        )

    def answer(self, host, party, content, key, invitation=None):
        places = {
            f"users/{self.uid}/attendingParties/{party}": content == "accept",
            f"messages/{host.uid}/{key}": self.message(host, "party_invite", content, party),
        }
        if invitation:
            places[f"messages/{self.uid}/{invitation}"] = None
        return self.update(places)

    def note(self, party, guest, coming, key):
        """The owner's client does what a guest has answered."""
        return self.update({f"parties/{party}/guests/{guest.uid}": coming, f"messages/{self.uid}/{key}": None})


@pytest.fixture
def people():
    with Hearth("--rules", str(RULES)) as server:
        yield [Guest(server, uid) for uid in ("ann", "bob", "cyd", "eve")]


def test_an_evening_from_the_first_sign_up_to_the_end(people):
    ann, bob, cyd, eve = people
    assert [guest.sign_up() for guest in people] == [200] * 4

    # Found by e-mail, asked, accepted, applied: the friendship stands on both sides.
    assert ann.read(f"emails/{encoded('BOB@example.com')}") == "bob"
    for other, key in ((bob, "k1"), (cyd, "k2")):
        assert ann.ask(other, key) == 200
        assert other.befriend(ann, key) == 200
        assert ann.apply_friendship(key) == 200
        assert ann.apply_friendship(key) == 200
    assert ann.read("users/ann/friends") == {"bob": True, "cyd": True}
    assert bob.read("users/bob/friends") == {"ann": True}

    # No user becomes a friend without being asked, and none a second time by an old request.
    forged = {"messages/ann/k9": eve.message(ann, "friend_request", "accept")}
    assert eve.update(forged) == 401
    assert bob.befriend(ann, "k1") == 401

    # The party, with all friends invited; each sees it at once.
    party = {"owner": "ann", "description": "Midsummer", "date": 1782000000000}
    invitations = {
        f"messages/{guest.uid}/i": ann.message(guest, "party_invite", "invite", "p") for guest in (bob, cyd)
    }
    guests = {"bob": "invited", "cyd": "invited"}
    made = {"parties/p": {**party, "guests": guests}, "users/ann/ownedParties/p": True, **invitations}
    assert ann.update(made) == 200
    assert bob.read("parties/p/description") == "Midsummer"
    assert eve.read("parties/p") == 401 and eve.read("parties") == 401

    # Bob comes, Cyd does not.
    assert bob.answer(ann, "p", "accept", "r1", "i") == 200
    assert cyd.answer(ann, "p", "refuse", "r2", "i") == 200
    assert ann.note("p", bob, True, "r1") == 200
    assert ann.note("p", bob, True, "r1") == 200
    assert ann.note("p", cyd, False, "r2") == 200
    assert bob.read("parties/p/guests") == {"bob": True, "cyd": False}
    assert cyd.read("parties/p") == 401

    # Cyd is asked once more and comes.
    again = {
        "parties/p/guests/cyd": "invited",
        "messages/cyd/i2": ann.message(cyd, "party_invite", "invite", "p"),
    }
    assert ann.update(again) == 200
    assert cyd.answer(ann, "p", "accept", "r3", "i2") == 200
    assert ann.note("p", cyd, True, "r3") == 200

    # Bob's photo: bytes first, then the key and the question, then the host's answer.
    link = {
        "users/bob/photos/f": True,
        "messages/ann/q": bob.message(ann, "image_uploaded", "invite", "p", "f"),
    }
    assert bob.update(link) == 401
    assert bob.update({"photos/f": {"owner": "bob", "host": "ann", "party": "p", "png": PNG}}) == 200
    assert bob.update(link) == 200
    assert ann.read("photos/f/png") == PNG and cyd.read("photos/f") == 401
    added = {
        "parties/p/photos/f": True,
        "messages/bob/q": ann.message(bob, "image_uploaded", "accept", "p", "f"),
        "messages/ann/q": None,
    }
    assert ann.update(added) == 200
    assert cyd.read("photos/f/png") == PNG and eve.read("photos/f") == 401

    # Bob suggests Eve; Ann befriends her first, then invites.
    suggestion = {"messages/ann/s": bob.message(ann, "party_invite", "invite", "p", guest="eve")}
    assert bob.update(suggestion) == 200
    assert ann.ask(eve, "k3") == 200 and eve.befriend(ann, "k3") == 200
    assert ann.apply_friendship("k3") == 200
    accepted = {
        "parties/p/guests/eve": "invited",
        "messages/eve/i": ann.message(eve, "party_invite", "invite", "p"),
        "messages/bob/s": ann.message(bob, "party_invite", "accept", "p", guest="eve"),
        "messages/ann/s": None,
    }
    assert ann.update(accepted) == 200
    assert eve.read("parties/p/guests") == {"bob": True, "cyd": True, "eve": "invited"}

    # The host takes the photo off; only Bob deletes the bytes.
    assert ann.update({"parties/p/photos/f": None}) == 200
    assert cyd.read("photos/f") == 401
    assert ann.update({"photos/f": None}) == 401
    assert bob.update({"photos/f": None, "users/bob/photos/f": None}) == 200

    # Unfriending reaches the other side as a message.
    unfriend = {"users/ann/friends/cyd": False, "messages/cyd/u": ann.message(cyd, "friend_request", "refuse")}
    assert ann.update(unfriend) == 200
    assert cyd.apply_friendship("u") == 200
    assert cyd.read("users/cyd/friends") == {"ann": False}

    # The party and its key in the host's list go together or not at all.
    assert ann.update({"parties/p": None}) == 401
    for place in ("users/ann/ownedParties/p", "users/ann/ownedParties", "users/ann"):
        assert ann.update({place: None}) == 401
    assert ann.update({"parties/p/description": "Midsummer night"}) == 200

    # The party is cancelled; each confirmed guest's client takes it out of its own list.
    cancelled = {"parties/p": None, "users/ann/ownedParties/p": None}
    for guest in (bob, cyd):
        cancelled[f"messages/{guest.uid}/c"] = ann.message(guest, "party_invite", "refuse", "p")
    assert ann.update(cancelled) == 200
    for guest in (bob, cyd):
        done = {f"users/{guest.uid}/attendingParties/p": None, f"messages/{guest.uid}/c": None}
        assert guest.update(done) == 200 and guest.update(done) == 200
        assert guest.read("parties/p") == 401
    everything = ann.server.get("/.json", headers={"Authorization": "Bearer owner"}).json
    assert "parties" not in everything and "photos" not in everything
    assert not any("attendingParties" in user for user in everything["users"].values())


def test_the_rules_file_and_the_encoding_of_keys_agree():
    steps = re.findall(r"\.replace\('(.)', '(=..)'\)", RULES.read_text())
    assert "".join(encoded(character) for character, _ in steps) == "".join(code for _, code in steps)
    assert len(steps) == 7 and json.dumps(steps[0]) == '["=", "=3D"]'
