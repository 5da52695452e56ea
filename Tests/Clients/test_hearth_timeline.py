"""The program hearth-timeline as people run it: two who sign up, post, follow, like and watch, on a server with the
sample rules."""

import json
import os
import pathlib
import queue
import re
import socket
import struct
import urllib.error
import urllib.request
import subprocess
import threading
import zlib

import pytest

from fault_proxy import Units
from hearth_server import PROGRAMS, ROOT, Hearth

PROGRAM = str(PROGRAMS / "hearth-timeline")
COMMANDS = """sign-up sign-in sign-out post show delete timeline posts like unlike follow unfollow following followers
users""".split()
KEY = re.compile(r"^[-0-9A-Z_a-z]{20}$")
# Machines that run tests are crowded.
DEADLINE = 300


def png(width, height):
    """A picture of one colour."""

    def chunk(kind, data):
        body = kind + data
        return struct.pack(">I", len(data)) + body + struct.pack(">I", zlib.crc32(body))

    rows = b"".join(b"\0" + bytes([200, 100, 50]) * width for _ in range(height))
    return (
        b"\x89PNG\r\n\x1a\n"
        + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0))
        + chunk(b"IDAT", zlib.compress(rows))
        + chunk(b"IEND", b"")
    )


class Person:
    """A user at a machine of their own."""

    def __init__(self, server, home, name, port=None):
        self.name = name
        self.home = home / name
        self.home.mkdir()
        self.environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(self.home),
            "HEARTH_URL": f"http://127.0.0.1:{port or server.port}",
            "HEARTH_PASSWORD": "correct horse",
        }

    def run(self, command, *arguments, stdin=None):
        return subprocess.run(
            [PROGRAM, command, "--deadline", str(DEADLINE), *map(str, arguments)],
            env=self.environment,
            input=stdin,
            capture_output=True,
            timeout=2 * DEADLINE,
        )

    def say(self, *arguments, stdin=None):
        """What a command prints, which must be all that it says."""
        done = self.run(*arguments, stdin=stdin)
        assert done.returncode == 0, done.stderr
        assert done.stderr == b"" or b"--before=" in done.stderr
        return done.stdout.decode().rstrip("\n")

    def rows(self, *arguments):
        return [line.split("\t") for line in self.say(*arguments).splitlines()]

    def fail(self, *arguments, code=1):
        """The error of a command, printed once."""
        done = self.run(*arguments)
        assert done.returncode == code, (done.stdout, done.stderr)
        assert done.stdout == b""
        return done.stderr.decode()

    def sign_up(self):
        assert self.say("sign-up", f"{self.name}@example.com", self.name) == f"signed up as {self.name}"
        return self


class CutWay:
    """A way to a server that is cut once. `lose_answer` cuts it when the server answers an update that names a place, so
    that the update is done and no answer comes; `lose_request` when a request is to be sent that names one, and nothing
    gets through it any more."""

    def __init__(self, target):
        self.target = target
        self.answer_of = self.request_of = None
        self.lost = None
        self.is_closed = False
        self.sockets = []
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def lose_answer(self, place):
        self.answer_of, self.lost = place.encode(), None

    def lose_request(self, place):
        self.request_of, self.lost = place.encode(), None

    def accept(self):
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            if self.is_closed:
                client.close()
                continue
            server = socket.create_connection(("127.0.0.1", self.target))
            self.sockets += [client, server]
            link = {"is_cut": False, "due": None}
            for source, sink, is_server in ((client, server, False), (server, client, True)):
                threading.Thread(target=self.pump, args=(source, sink, is_server, link), daemon=True).start()

    def pump(self, source, sink, is_server, link):
        units = None
        try:
            while data := source.recv(65536):
                # Requests of accounts are let through; what a connection is, the client says first.
                if "units" not in link:
                    link["units"] = data.startswith(b"GET /.ws")
                if link["units"] and units is None:
                    units = Units()
                for unit in units.feed(data) if units else [data]:
                    if units and not self.passes(unit, is_server, link):
                        link["is_cut"] = True
                    if link["is_cut"]:
                        break
                    sink.sendall(unit)
                if link["is_cut"]:
                    break
        except OSError:
            pass
        for end in (source, sink):
            try:
                end.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass

    def passes(self, unit, is_server, link):
        text = payload(unit)
        if is_server:
            if link["due"] is not None and text.startswith(b"{") and json.loads(text)["d"].get("r") == link["due"]:
                self.answer_of, self.lost = None, json.loads(text)["d"]["b"]["s"]
                return False
        elif self.answer_of and b'"a":"m"' in text and self.answer_of in text:
            link["due"] = json.loads(text)["d"]["r"]
        elif self.request_of and self.request_of in text:
            self.request_of, self.lost, self.is_closed = None, "request", True
            return False
        return True

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.listener.close()
        for end in self.sockets:
            end.close()


def payload(unit):
    """What a frame says; of the head of an upgrade some of it."""
    size, head = unit[1] & 127, 2
    head += {126: 2, 127: 8}.get(size, 0)
    if not unit[1] & 128:
        return unit[head:]
    mask = unit[head : head + 4]
    return bytes(byte ^ mask[index % 4] for index, byte in enumerate(unit[head + 4 :]))


class Watch:
    """`timeline --follow`, line by line."""

    def __init__(self, person):
        self.process = subprocess.Popen(
            [PROGRAM, "timeline", "--follow", "--deadline", str(DEADLINE)],
            env=person.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        self.lines = queue.Queue()
        threading.Thread(target=self.read, daemon=True).start()

    def read(self):
        for line in self.process.stdout:
            self.lines.put(line.decode().rstrip("\n").split("\t"))

    def until(self, *fields):
        """Waits for a line with these fields among its own; returns it."""
        while True:
            line = self.lines.get(timeout=DEADLINE)
            if all(field in line for field in fields):
                return line

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()


@pytest.fixture(scope="module")
def server():
    rules = ("--rules", str(ROOT / "rules" / "social.json"))
    with Hearth(*rules, "--files-rules", str(ROOT / "rules" / "social.storage")) as server:
        yield server


@pytest.fixture
def people(server, tmp_path, request):
    """Two whose names no other test has."""
    place = re.sub(r"[^a-z]", "", request.node.name)[-20:]
    return [Person(server, tmp_path, f"{name}-{place}").sign_up() for name in ("ann", "bea")]


def test_a_picture_of_any_size_is_stored_on_the_server_and_goes_with_its_post(people, tmp_path):
    ann, bea = people
    picture = tmp_path / "picture.png"
    picture.write_bytes(png(600, 200))
    bea.say("follow", ann.name)
    first = ann.say("post", picture, "--upload")
    shown = dict(bea.rows("show", first))
    assert shown["height"] == "100"
    with urllib.request.urlopen(shown["picture"]) as answer:
        assert answer.read() == picture.read_bytes()
    ann.say("delete", first)
    with pytest.raises(urllib.error.HTTPError, match="403"):
        urllib.request.urlopen(shown["picture"])
    assert "cannot be read" in ann.fail("post", tmp_path / "none.jpg", "--upload")


def test_two_post_follow_like_and_delete(people, tmp_path):
    ann, bea = people
    picture = tmp_path / "picture.png"
    picture.write_bytes(png(600, 200))
    first = ann.say("post", picture)
    second = ann.say("post", "https://example.com/second.jpg", "--height", "480")
    assert KEY.match(first) and KEY.match(second) and first < second
    photos = pathlib.Path(ann.home, ".local/share/hearth/photos")
    (stored,) = photos.glob("*.png")
    assert struct.unpack(">II", stored.read_bytes()[16:24]) == (300, 100)

    assert bea.say("follow", ann.name) == f"following {ann.name}"
    rows = bea.rows("timeline")
    assert [(row[0], row[2], row[3]) for row in rows] == [
        (second, ann.name, "0 likes"),
        (first, ann.name, "0 likes"),
    ]
    assert re.match(r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d", rows[0][1])
    assert rows[0][4] == "https://example.com/second.jpg" and rows[1][4] == f"photo:{stored.stem}"
    # The owner of the folder sees the path, and no other user.
    assert dict(ann.rows("show", first))["picture"] == str(stored)
    assert dict(bea.rows("show", first, "--photos", photos))["picture"] == str(stored)
    assert dict(bea.rows("show", first))["picture"] == f"photo:{stored.stem}"
    assert bea.say("like", second) == bea.say("like", "--", second) == "1 like, yours too"
    assert ann.say("like", second) == "2 likes, yours too"
    assert ann.say("unlike", second) == "1 like"
    assert dict(bea.rows("show", second)) == {
        "key": second, "posted": rows[0][1], "by": ann.name, "likes": "1 like, yours too",
        "picture": "https://example.com/second.jpg", "height": "480",
    }  # fmt: skip

    page = bea.run("timeline", "--count", "1")
    assert page.stdout.decode().startswith(second) and f"--before={second}" in page.stderr.decode()
    for words in ([f"--before={second}"], ["--before", second]):
        assert [row[0] for row in bea.rows("timeline", *words)] == [first]
    assert [row[0] for row in bea.rows("posts", ann.name)] == [second, first]
    assert [row[0] for row in bea.rows("following")] == [ann.name]
    assert [row[0] for row in ann.rows("followers")] == [bea.name]
    assert ann.name in [row[0] for row in bea.rows("users", ann.name)]

    assert "of another" in bea.fail("delete", first)
    assert ann.say("delete", first) == f"deleted {first}"
    assert not stored.exists()
    assert [row[0] for row in bea.rows("timeline")] == [second]
    assert bea.say("unfollow", f"{ann.name}@example.com") == f"no longer following {ann.name}"
    assert bea.run("timeline").stderr.decode().startswith("nothing yet")


@pytest.fixture
def cut_off(server, tmp_path, request):
    """A user whose connection can be cut, and where."""
    place = re.sub(r"[^a-z]", "", request.node.name)[-20:]
    with CutWay(server.port) as way:
        yield Person(server, tmp_path, f"cut-{place}", port=way.port).sign_up(), way


def test_what_was_done_though_its_answer_was_lost_is_reported_as_done(people, cut_off, tmp_path):
    bea, (ann, way) = people[1], cut_off
    bea.say("follow", ann.name)
    picture = tmp_path / "picture.png"
    picture.write_bytes(png(300, 100))
    way.lose_answer("postOwners/")
    first = ann.say("post", picture)
    assert way.lost == "ok" and KEY.match(first)
    (stored,) = pathlib.Path(ann.home, ".local/share/hearth/photos").glob("*.png")
    way.lose_answer("postOwners/")
    second = ann.say("post", "https://example.com/second.jpg")
    assert way.lost == "ok"
    assert [row[0] for row in ann.rows("posts")] == [row[0] for row in bea.rows("timeline")] == [second, first]
    assert dict(ann.rows("show", first))["picture"] == str(stored) and stored.exists()

    steps = [
        ("postLikes/", ("like", second), "1 like, yours too"),
        ("postLikes/", ("unlike", second), "0 likes"),
        ("followers/", ("follow", bea.name), f"following {bea.name}"),
        ("followers/", ("unfollow", bea.name), f"no longer following {bea.name}"),
        ("postOwners/", ("delete", first), f"deleted {first}"),
    ]
    for place, words, printed in steps:
        way.lose_answer(place)
        assert (ann.say(*words), way.lost) == (printed, "ok"), words
    assert not stored.exists()
    assert [row[0] for row in bea.rows("timeline")] == [second]


def test_a_picture_stays_unless_its_post_is_surely_not_there(cut_off, tmp_path):
    ann, way = cut_off
    folder = pathlib.Path(ann.home, ".local/share/hearth/photos")
    picture = tmp_path / "picture.png"
    picture.write_bytes(png(300, 100))
    error = ann.fail("post", picture, "--photo-url", "https://example.com/" + "a" * 2000)
    assert error.startswith("error: image:") and list(folder.iterdir()) == []

    way.lose_request("followers/")
    error = ann.fail("post", picture)
    assert way.lost == "request"
    (stored,) = folder.glob("*.png")
    assert error.count("\n") == 1 and "not known" in error and str(stored) in error
    assert re.search(r"`hearth-timeline show [-0-9A-Z_a-z]{20}`", error)


def test_a_live_timeline_tells_what_comes_is_liked_and_goes(people):
    ann, bea = people
    bea.say("follow", ann.name)
    before = ann.say("post", "https://example.com/before.jpg")
    with Watch(bea) as watch:
        assert watch.until(before)[0] == before
        key = ann.say("post", "https://example.com/after.jpg")
        watch.until("new", key)
        ann.say("like", key)
        watch.until("likes", key, "1 like")
        ann.say("delete", key)
        watch.until("gone", key)


def test_what_cannot_be_done_is_reported_in_one_line(people, server, tmp_path):
    ann, _ = people
    stranger = Person(server, tmp_path, "nobody")
    assert "sign-in" in stranger.fail("timeline") and "sign-up" in stranger.fail("post", "https://example.com/1.jpg")
    text = tmp_path / "text.png"
    text.write_text("no picture")
    errors = [
        ann.fail("post", text),
        ann.fail("post", tmp_path / "none.png"),
        ann.fail("post", "https://example.com/1.jpg", "--height", "0"),
        ann.fail("post", "https://example.com/" + "a" * 2000),
        ann.fail("show", "-none"),
        ann.fail("like", "a/b"),
        ann.fail("follow", "not-here"),
        ann.fail("follow", ann.name),
        ann.fail("follow", "nobody@nowhere.example.com"),
        ann.fail("timeline", "--before", "a/b"),
        ann.fail("sign-up", f"{ann.name}@example.com", f"{ann.name}-2"),
        # Of two deadlines the last one counts.
        ann.fail("timeline", "--url", "http://127.0.0.1:1", "--deadline", "1"),
    ]
    for error in errors:
        assert error.startswith("error: ") and error.count("\n") == 1, error
    for arguments in (["like"], ["like", "a", "b"], ["timeline", "--count", "0"], ["unknown"], ["follow"]):
        assert ann.fail(*arguments, code=2)
    assert "--before=KEY" in ann.fail("timeline", "--before", "--follow", code=2)
    for command in ("show", "delete", "like", "unlike"):
        assert f"Usage: hearth-timeline {command} <key> [<options>]\n" in ann.fail(command, code=2)


def test_texts_of_others_do_not_steer_the_terminal(people):
    ann, bea = people
    bea.say("follow", ann.name)
    ann.say("post", "https://example.com/\x1b[2J\t\nnew.jpg")
    (row,) = bea.rows("timeline")
    assert "\x1b" not in row[4] and len(row) == 5


@pytest.mark.parametrize("command", COMMANDS)
def test_help_has_examples(server, tmp_path, command):
    text = Person(server, tmp_path, "reader").say(command, "--help")
    assert "Examples:" in text and f"  {command}" in text.replace("hearth-timeline ", "  ")
