"""Every operation of rules/timeline.json by signed-in clients alone, on one database: the updates are those of
the table in rules/README.md, and nothing is written by an administrator."""

import itertools
import json
import threading
import urllib.parse

import pytest

from hearth_server import ROOT, Hearth
from signing import unsigned
from wire_client import Wire

RULES = ROOT / "rules" / "timeline.json"
NOW = {".sv": "timestamp"}


def step(by):
    return {".sv": {"increment": by}}


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

    # People

    def sign_up(self):
        return self.update(
            {f"users/{self.uid}": {"username": self.name}, f"usernames/{self.name.lower()}": self.uid}
        )

    def following(self, other, value):
        """Both edges, and what goes with them into the own timeline or out of it: all posts of `other`."""
        places = {f"following/{self.uid}/{other.uid}": value, f"followers/{other.uid}/{self.uid}": value}
        for key in self.read(f"posts/{other.uid}") or {}:
            places[f"timeline/{self.uid}/{key}"] = value and {"poster_uid": other.uid}
        return self.update(places)

    def follow(self, other):
        return self.following(other, True)

    def unfollow(self, other):
        return self.following(other, None)

    # Posts

    def entries(self, key, value):
        """The places of a post in the timelines of its author and of all followers."""
        readers = [self.uid, *(self.read(f"followers/{self.uid}") or {})]
        return {f"timeline/{reader}/{key}": value for reader in readers}

    def post(self, key=None):
        """Returns the key of a new post, or the status of the refusal."""
        key = key or f"-p{next(self.keys):06}"
        post = {
            "image_url": f"https://images.example.com/{key}",
            "image_height": 300,
            "created_at": NOW,
            "like_count": 0,
            "poster": {"uid": self.uid, "username": self.name},
        }
        places = {f"postOwners/{key}": self.uid, f"posts/{self.uid}/{key}": post}
        status = self.update({**places, **self.entries(key, {"poster_uid": self.uid})})
        return key if status == 200 else status

    def delete(self, key):
        places = {f"postOwners/{key}": None, f"posts/{self.uid}/{key}": None, f"postLikes/{key}": None}
        return self.update({**places, **self.entries(key, None)})

    def show(self, key, poster):
        """A post, and whether this person likes it."""
        return self.read(f"posts/{poster.uid}/{key}"), self.read(f"postLikes/{key}/{self.uid}") is True

    def like(self, key, poster, value=True):
        count = f"posts/{poster.uid}/{key}/like_count"
        return self.update({f"postLikes/{key}/{self.uid}": value, count: step(1 if value else -1)})

    def timeline(self, **page):
        """The posts of the own timeline, newest first, without those that are gone."""
        entries = self.read(f"timeline/{self.uid}", **page) or {}
        posts = {key: self.read(f"posts/{entry['poster_uid']}/{key}") for key, entry in entries.items()}
        return [key for key in sorted(posts, reverse=True) if posts[key]]


@pytest.fixture
def people():
    with Hearth("--rules", str(RULES)) as server:
        people = [Person(server, uid) for uid in ("ann", "bob", "cyd", "eve")]
        assert [person.sign_up() for person in people] == [200] * 4
        yield people


def test_posts_reach_followers_and_those_who_come_later(people):
    ann, bob, cyd, eve = people
    assert bob.follow(ann) == 200
    keys = [ann.post() for _ in range(5)]
    assert bob.timeline() == ann.timeline() == keys[::-1]
    assert cyd.timeline() == []

    # A user who comes later fills in what came before, as often as they like.
    assert [cyd.follow(ann), cyd.follow(ann)] == [200, 200]
    assert cyd.timeline() == keys[::-1]
    late = bob.post()
    assert bob.timeline() == [late, *keys[::-1]] and cyd.timeline() == keys[::-1]

    # A page of older ones; a user's posts, newest first; one post with the own like.
    assert cyd.timeline(orderBy="$key", endBefore=keys[3], limitToLast=2) == [keys[2], keys[1]]
    assert sorted(eve.read("posts/ann", orderBy="created_at", limitToLast=2)) == keys[3:]
    post, liked = eve.show(keys[0], ann)
    assert post["poster"] == {"uid": "ann", "username": "Ann"} and post["like_count"] == 0 and not liked

    # No user posts for another, looks into another's timeline, or takes another's post away.
    assert eve.read("timeline/bob") == 401
    assert eve.post(keys[0]) == 401
    assert eve.update({f"posts/ann/{keys[0]}": None, f"postOwners/{keys[0]}": None}) == 401
    assert eve.update({f"timeline/bob/{late}": {"poster_uid": "eve"}}) == 401

    # Who follows no longer sees nothing of it any more.
    assert cyd.unfollow(ann) == 200
    assert cyd.timeline() == [] and "cyd" not in ann.read("followers/ann")
    newest = ann.post()
    assert cyd.timeline() == [] and bob.timeline()[0] == newest


def test_a_post_goes_from_everywhere_or_stays(people):
    ann, bob, cyd, _ = people
    assert [bob.follow(ann), cyd.follow(ann)] == [200, 200]
    gone, stays = ann.post(), ann.post()
    assert [person.like(gone, ann) for person in (bob, cyd)] == [200, 200]
    assert ann.update({f"timeline/ann/{gone}": None}) == 401
    assert ann.update({f"posts/ann/{gone}": None}) == 401
    assert bob.update({f"timeline/bob/{stays}": None}) == 200
    assert ann.delete(gone) == 200
    everything = ann.server.get("/.json", headers={"Authorization": "Bearer owner"}).json
    assert gone not in json.dumps(everything) and "postLikes" not in everything
    assert bob.timeline() == [] and cyd.timeline() == ann.timeline() == [stays]


def test_a_like_counts_once_and_its_end_too(people):
    ann, bob, _, _ = people
    key = ann.post()
    assert bob.like(key, ann) == 200 and bob.like(key, ann) == 401
    post, liked = bob.show(key, ann)
    assert post["like_count"] == 1 and liked
    assert bob.update({f"posts/ann/{key}/like_count": 100}) == 401
    assert bob.update({f"postLikes/{key}/bob": None}) == 401
    assert bob.like(key, ann, None) == 200 and bob.like(key, ann, None) == 401
    post, liked = bob.show(key, ann)
    assert post["like_count"] == 0 and not liked


def at_once(actions):
    """Does all of `actions` on threads of their own, which start together; returns what they return."""
    line = threading.Barrier(len(actions))
    results = [None] * len(actions)

    def run(index, action):
        line.wait()
        results[index] = action()

    threads = [threading.Thread(target=run, args=pair) for pair in enumerate(actions)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return results


def test_sixteen_who_like_at_once_are_counted_exactly(people):
    ann = people[0]
    key = ann.post()
    fans = [Person(ann.server, f"fan{n}") for n in range(16)]
    assert at_once([lambda fan=fan: fan.like(key, ann) for fan in fans]) == [200] * 16
    assert ann.read(f"posts/ann/{key}/like_count") == 16 == len(ann.read(f"postLikes/{key}"))

    # Half of them end it while the others try to like twice.
    again = [lambda fan=fan, n=n: fan.like(key, ann, None if n % 2 else True) for n, fan in enumerate(fans)]
    assert at_once(again) == [401, 200] * 8
    assert ann.read(f"posts/ann/{key}/like_count") == 8 == len(ann.read(f"postLikes/{key}"))


def test_a_post_to_a_thousand_followers_is_one_update_that_reaches_each(people):
    ann, bob, _, eve = people
    crowd = [Person(ann.server, f"reader{n:04}") for n in range(999)]
    assert {reader.follow(ann) for reader in [bob, *crowd]} == {200}
    first = ann.post()
    with Wire(ann.server.port, ns="default") as bobs:
        assert bobs.request("auth", cred=bob.token)[0]["s"] == "ok"
        reply, (shown,) = bobs.request("q", p="/timeline/bob", h="")
        assert reply["s"] == "ok" and shown["b"]["d"] == {first: {"poster_uid": "ann"}}
        key = ann.post()
        merge = {"p": "timeline/bob", "d": {key: {"poster_uid": "ann"}}}
        assert bobs.push() == {"a": "m", "b": merge}
    assert all(reader.read(f"timeline/{reader.uid}/{key}") == {"poster_uid": "ann"} for reader in crowd)

    # One place among the thousand that the rules refuse: nothing of it is written.
    followers = ann.entries
    ann.entries = lambda key, value: {**followers(key, value), f"timeline/{eve.uid}/{key}": value}
    assert ann.post("-refused") == 401
    del ann.entries
    everything = ann.server.get("/.json", headers={"Authorization": "Bearer owner"}).text
    assert "-refused" not in everything

    assert [ann.delete(key), ann.delete(first)] == [200, 200]
    everything = ann.server.get("/.json", headers={"Authorization": "Bearer owner"}).json
    assert not {"timeline", "posts", "postOwners"} & set(everything)
