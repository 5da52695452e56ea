"""The program hearth-timeline as people run it: two who sign up, post, follow, like and watch, on a server with the
sample rules."""

import os
import pathlib
import queue
import re
import struct
import subprocess
import threading
import zlib

import pytest

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
    """Somebody at a machine of their own."""

    def __init__(self, server, home, name):
        self.name = name
        self.home = home / name
        self.home.mkdir()
        self.environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(self.home),
            "HEARTH_URL": f"http://127.0.0.1:{server.port}",
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
        """The error of a command, told once."""
        done = self.run(*arguments)
        assert done.returncode == code, (done.stdout, done.stderr)
        assert done.stdout == b""
        return done.stderr.decode()

    def sign_up(self):
        assert self.say("sign-up", f"{self.name}@example.com", self.name) == f"signed up as {self.name}"
        return self


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
    with Hearth("--rules", str(ROOT / "rules" / "social.json")) as server:
        yield server


@pytest.fixture
def people(server, tmp_path, request):
    """Two whose names no other test has."""
    place = re.sub(r"[^a-z]", "", request.node.name)[-20:]
    return [Person(server, tmp_path, f"{name}-{place}").sign_up() for name in ("ann", "bea")]


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
    # The path is told to whoever has the folder, and to nobody else.
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
    assert [row[0] for row in bea.rows("timeline", f"--before={second}")] == [first]
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


def test_what_cannot_be_done_is_told_in_one_line(people, server, tmp_path):
    ann, _ = people
    nobody = Person(server, tmp_path, "nobody")
    assert "sign-in" in nobody.fail("timeline") and "sign-up" in nobody.fail("post", "https://example.com/1.jpg")
    text = tmp_path / "text.png"
    text.write_text("no picture")
    errors = [
        ann.fail("post", text),
        ann.fail("post", tmp_path / "none.png"),
        ann.fail("post", "https://example.com/1.jpg", "--height", "0"),
        ann.fail("post", "https://example.com/" + "a" * 2000),
        ann.fail("show", "-none"),
        ann.fail("like", "a/b"),
        ann.fail("follow", "nobody-here"),
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
