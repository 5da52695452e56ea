"""One update of 10,001 paths: a post, and an entry in the timeline of each of its author's followers."""

import json
import threading

import pytest
from websockets.exceptions import WebSocketException

from hearth_server import Hearth
from signing import unsigned
from wire_client import Wire

FOLLOWERS = 10_000
CONNECTED = 200
AUTHOR = "ann"

RULES = {
    "rules": {
        "followers": {"$author": {".read": "auth.uid == $author"}},
        "posts": {
            "$post": {
                ".read": True,
                ".write": "auth != null && !data.exists()"
                " && newData.child('author').val() == auth.uid",
                ".validate": "newData.hasChildren(['author', 'text', 'at'])",
            }
        },
        "timelines": {
            "$user": {
                ".read": "auth != null && auth.uid == $user",
                "$post": {
                    # No user writes to those who do not follow, nor of a post that is not there.
                    ".write": "auth != null && !data.exists() && root.child('followers')"
                    ".child(auth.uid).child($user).val() == true",
                    ".validate": "newData.val() == auth.uid && newData.parent().parent().parent()"
                    ".child('posts').child($post).exists()",
                },
            }
        },
    }
}


@pytest.fixture
def server(tmp_path):
    (tmp_path / "rules.json").write_text(json.dumps(RULES))
    flags = ["--rules", str(tmp_path / "rules.json")]
    with Hearth(*flags, data=tmp_path / "data", log=tmp_path / "log") as hearth:
        followers = {f"u{n}": True for n in range(FOLLOWERS)}
        headers = {"Authorization": "Bearer owner"}
        path = f"/followers/{AUTHOR}.json?ns=demo"
        assert hearth.put(path, followers, headers=headers).status == 200
        yield hearth


def signed_in(server, user):
    client = Wire(server.port)
    assert client.request("auth", cred=unsigned({"sub": user}))[0]["s"] == "ok"
    return client


def post(name, users=range(FOLLOWERS)):
    """The paths and values of one update."""
    entries = {f"posts/{name}": {"author": AUTHOR, "text": "hello", "at": 1}}
    return entries | {f"timelines/u{n}/{name}": AUTHOR for n in users}


def everything(server):
    answer = server.get("/.json?ns=demo", headers={"Authorization": "Bearer owner"})
    assert answer.status == 200
    return answer.json


@pytest.fixture
def followers(server):
    """Of every fiftieth follower a connection that listens to its own timeline, by its number."""
    connected = {}
    for n in range(0, FOLLOWERS, FOLLOWERS // CONNECTED):
        client = signed_in(server, f"u{n}")
        assert client.request("q", p=f"/timelines/u{n}", h="")[0]["s"] == "ok"
        connected[n] = client
    yield connected
    for client in connected.values():
        client.close()


def assert_nothing_more(client):
    """What the server sent before the answer would have come before it."""
    _, pushes = client.request("s", c={})
    assert pushes == []


def test_each_follower_hears_of_a_post_exactly_once(server, followers):
    with signed_in(server, AUTHOR) as author:
        body, pushes = author.request("m", p="/", d=post("p1"))
        assert body["s"] == "ok" and pushes == []
        for n, client in followers.items():
            pushed = client.push()
            assert pushed["b"]["p"].strip("/").startswith(f"timelines/u{n}"), pushed
            assert "p1" in json.dumps(pushed) and AUTHOR in json.dumps(pushed), pushed
            assert_nothing_more(client)
    tree = everything(server)
    assert tree["posts"]["p1"]["text"] == "hello"
    assert tree["timelines"] == {f"u{n}": {"p1": AUTHOR} for n in range(FOLLOWERS)}


def test_a_listener_above_hears_of_all_paths_in_one_message(server):
    with signed_in(server, AUTHOR) as author, Wire(server.port) as reader:
        assert reader.request("auth", cred="owner")[0]["s"] == "ok"
        assert reader.request("q", p="/", h="")[0]["s"] == "ok"
        entries = post("p1")
        assert author.request("m", p="/", d=entries)[0]["s"] == "ok"
        pushed = reader.push()
        assert pushed["a"] == "m" and pushed["b"]["p"].strip("/") == ""
        assert {path.strip("/"): value for path, value in pushed["b"]["d"].items()} == entries
        assert_nothing_more(reader)


@pytest.mark.parametrize("place", [0, FOLLOWERS // 2, FOLLOWERS])
def test_one_refused_path_of_10001_refuses_them_all(server, followers, place):
    with signed_in(server, AUTHOR) as author:
        before = everything(server)
        paths = list(post("p1").items())
        # No user of this name follows.
        paths[place] = ("timelines/stranger/p1", AUTHOR)
        body, pushes = author.request("m", p="/", d=dict(paths))
        assert body["s"] == "permission_denied"
        # In development the reason comes ahead.
        assert [push["a"] for push in pushes] == ["sd"]
        assert "timelines/stranger/p1" in pushes[0]["b"]["msg"]
        assert everything(server) == before
        for client in followers.values():
            assert_nothing_more(client)
        assert author.request("m", p="/", d=post("p1"))[0]["s"] == "ok"


def test_two_paths_of_10001_that_overlap_refuse_them_all(server):
    with signed_in(server, AUTHOR) as author:
        before = everything(server)
        overlap = {"timelines/u77/p1/more": 1}
        body, _ = author.request("m", p="/", d=post("p1") | overlap)
        assert body["s"] not in ("ok", "permission_denied") and "u77" in json.dumps(body["d"])
        assert everything(server) == before


def test_an_acknowledged_post_survives_a_kill_whole(server):
    with signed_in(server, AUTHOR) as author:
        assert author.request("m", p="/", d=post("p1"))[0]["s"] == "ok"
        server.kill()
    server.start()
    tree = everything(server)
    assert set(tree["posts"]) == {"p1"}
    assert tree["timelines"] == {f"u{n}": {"p1": AUTHOR} for n in range(FOLLOWERS)}


class Poster(threading.Thread):
    """Posts p0, p1, ... until the server is gone; remembers how many were acknowledged."""

    def __init__(self, author, first):
        super().__init__()
        self.author = author
        self.first = first
        self.acknowledged = first
        self.begun = threading.Event()

    def run(self):
        try:
            while True:
                entries = post(f"p{self.acknowledged}", range(1_000))
                assert self.author.request("m", p="/", d=entries)[0]["s"] == "ok"
                self.acknowledged += 1
                self.begun.set()
        except (WebSocketException, OSError, EOFError, TimeoutError):
            self.begun.set()


def test_a_post_is_there_whole_or_not_at_all_after_a_kill_at_any_moment(server):
    count = 0
    for round in range(5):
        poster = Poster(signed_in(server, AUTHOR), count)
        poster.start()
        assert poster.begun.wait(120)
        # Real time is the point here: the kill falls anywhere in the work.
        threading.Event().wait(0.013 * round)
        server.kill()
        poster.join(120)
        poster.author.close()
        server.start()
        tree = everything(server)
        count = len(tree["posts"])
        assert poster.acknowledged <= count <= poster.acknowledged + 1
        expected = {f"p{number}": AUTHOR for number in range(count)}
        assert tree["timelines"] == {f"u{n}": expected for n in range(1_000)}
