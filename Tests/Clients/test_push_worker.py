"""`hearth-chat push`: a worker that is a client like any other, with a webhook and people who come and go."""

import json
import os
import signal
import stat
import subprocess
import threading

import pytest

from hearth_server import BINARY, PROGRAMS, Hearth
from test_chat_flows import NOW, RULES, Person, digest
from webhook_receiver import SECRET, Receiver, verified

PROGRAM = str(PROGRAMS / "hearth-chat")
DEADLINE = 300
EMAIL = "push@example.com"


class Holding(Receiver):
    """A webhook that answers nothing until it is let go."""

    def __init__(self):
        super().__init__()
        self.came = threading.Semaphore(0)
        self.go = threading.Event()

    def take(self, handler, body):
        self.requests.append((handler.headers, body))
        self.came.release()
        self.go.wait(DEADLINE)
        try:
            handler.send_response(200)
            handler.send_header("Content-Length", "0")
            handler.end_headers()
        except OSError:
            return
        self.messages.put(verified(handler.headers, body))


class Worker:
    """A process of the worker, signed in to its account."""

    def __init__(self, place, *arguments):
        self.place = place
        self.arguments = arguments
        self.lines = []
        self.start()

    def start(self):
        self.process = self.place.spawn("push", "--secret-file", self.place.secret, *self.arguments)
        self.await_line("watching")

    def await_line(self, text):
        for line in self.process.stderr:
            self.lines.append(line)
            if text in line:
                return
        raise AssertionError(f"{text!r} was not said: {self.lines}, exit {self.process.wait()}")

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        code = self.process.wait(DEADLINE)
        self.lines += self.process.stderr.readlines()
        self.process.stderr.close()
        return code

    def kill(self):
        self.process.kill()
        self.process.wait(DEADLINE)
        self.process.stderr.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.kill()


class Place:
    """A server with people, and what a worker needs."""

    def __init__(self, server, folder):
        self.server = server
        self.folder = folder
        self.secret = folder / "secret"
        self.secret.write_text(SECRET + "\n")
        self.secret.chmod(stat.S_IRUSR | stat.S_IWUSR)
        self.ann, self.bob, self.cid, self.dan = (
            Person(server, uid) for uid in ("ann", "bob", "cid", "dan")
        )
        for person in (self.ann, self.bob, self.cid, self.dan):
            assert person.sign_up() == 200
        for person in (self.bob, self.cid, self.dan):
            assert self.ann.follow(person) == 200
        self.comes(self.ann)

    def environment(self):
        home = str(self.folder / "home")
        kept = {key: value for key, value in os.environ.items() if not key.startswith("XDG_")}
        return {**kept, "HOME": home, "HEARTH_URL": self.server.address, "HEARTH_PASSWORD": "correct horse"}

    def run(self, *arguments):
        return subprocess.run(
            [PROGRAM, *map(str, arguments), "--ns", "default", "--deadline", str(DEADLINE)],
            env=self.environment(), capture_output=True, text=True, timeout=DEADLINE, stdin=subprocess.DEVNULL,
        )

    def spawn(self, *arguments):
        return subprocess.Popen(
            [PROGRAM, *map(str, arguments), "--ns", "default", "--deadline", str(DEADLINE)],
            env=self.environment(), stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True,
        )

    def sign_up_worker(self):
        """The account, and the one thing that an operator does."""
        result = self.run("sign-up", EMAIL, "push-worker")
        assert result.returncode == 0, result.stderr
        self.allow('{"pushWorker":true}')

    def allow(self, *claims):
        result = subprocess.run(
            [BINARY, "users", "claims", EMAIL, *claims, "--url", self.server.address],
            capture_output=True, text=True, timeout=DEADLINE,
        )
        assert result.returncode == 0, result.stderr

    def comes(self, person):
        places = {f"presence/{person.uid}/s": {"online": True, "at": NOW}}
        assert person.update(places) == 200

    def leaves(self, person):
        places = {f"presence/{person.uid}/s": None, f"lastOnline/{person.uid}": NOW}
        assert person.update(places) == 200


@pytest.fixture
def place(tmp_path):
    with Hearth("--rules", str(RULES), "--password-memory", "8MiB", "--password-passes", "1") as server:
        place = Place(server, tmp_path)
        place.sign_up_worker()
        yield place


def ids(receiver):
    return [headers["webhook-id"] for headers, _ in receiver.requests]


def test_the_absent_are_notified_once_and_no_other(place):
    for person in (place.bob, place.cid, place.dan):
        place.leaves(person)
    place.comes(place.cid)
    with Receiver() as receiver, Worker(place, "--webhook", receiver.url, "--after", "0s") as worker:
        # Who is there, and who does not want to know.
        chat = digest("ann", "dan")
        assert place.dan.update({f"mutes/dan/{chat}": True}) == 200
        assert place.ann.start(place.cid, "you are here") == 200
        assert place.ann.start(place.dan, "you are asleep") == 200
        # Who has blocked the sender: the rules let no message in.
        assert place.bob.update({"blocks/bob/ann": True}) == 200
        assert place.ann.start(place.bob, "you hate me") != 200
        assert place.bob.update({"blocks/bob/ann": None}) == 200
        assert place.ann.start(place.bob, "hello 👋") == 200
        message = receiver.next(DEADLINE)
        assert message["recipient"] == "bob"
        assert message["text"] == "hello 👋"
        assert message["sender"] == "Ann"
        assert message["type"] == "message"
        assert message["thread"] == {"kind": "direct", "key": digest("ann", "bob"), "title": "Ann, Bob"}
        # What comes behind it is not pushed; another thread is.
        assert place.ann.send(place.bob, "and again") == 200
        assert place.ann.make("tea", "Tea", place.bob, place.cid) == 200
        assert place.ann.say("tea", [place.ann, place.bob, place.cid], "milk?") == 200
        message = receiver.next(DEADLINE)
        assert message["recipient"] == "bob"
        assert message["thread"] == {"kind": "room", "key": "tea", "title": "Tea"}
        assert message["unread"] >= 1
        # After a return and another absence there is one more: of what came just before, which may not have arrived.
        place.comes(place.bob)
        assert place.bob.update({"userRooms/bob/tea/unread": 0}) == 200
        place.leaves(place.bob)
        assert receiver.next(DEADLINE)["text"] == "and again"
        # That is not pushed twice, but what is new after one more return is.
        place.comes(place.bob)
        place.leaves(place.bob)
        assert place.ann.send(place.bob, "third") == 200
        assert receiver.next(DEADLINE)["text"] == "third"
        assert [json.loads(body)["recipient"] for _, body in receiver.requests] == ["bob"] * 4
        assert len(set(ids(receiver))) == 4
        worker.await_line("pushed")
        assert worker.stop() == 0
        text = "".join(worker.lines)
        assert "stopped" in text
        assert "milk" not in text and "hello" not in text and SECRET not in text


def test_a_webhook_that_is_down_is_asked_again_and_a_restart_repeats_nothing(place):
    place.leaves(place.bob)
    place.leaves(place.cid)
    with Receiver(503, 429) as receiver:
        with Worker(place, "--webhook", receiver.url, "--after", "0s") as worker:
            assert place.ann.start(place.bob, "one") == 200
            assert receiver.next(DEADLINE)["text"] == "one"
            assert len(ids(receiver)) == 3 and len(set(ids(receiver))) == 1
            assert len({body for _, body in receiver.requests}) == 1
            worker.await_line("at try 3")
            assert worker.stop() == 0
            # What comes while no worker is there waits in the database.
            assert place.ann.start(place.cid, "two") == 200
            worker.start()
            assert receiver.next(DEADLINE)["text"] == "two"
            worker.await_line("pushed")
            worker.kill()
            worker.start()
            place.leaves(place.dan)
            assert place.ann.start(place.dan, "three") == 200
            assert receiver.next(DEADLINE)["text"] == "three"
            assert len(ids(receiver)) == 5
            assert worker.stop() == 0


def test_killed_between_post_and_record_it_repeats_the_same_id_and_bytes(place):
    place.leaves(place.bob)
    with Holding() as receiver:
        with Worker(place, "--webhook", receiver.url, "--after", "0s") as worker:
            assert place.ann.start(place.bob, "one") == 200
            assert receiver.came.acquire(timeout=DEADLINE)
            worker.kill()
            # A newer message does not change what was claimed.
            assert place.ann.send(place.bob, "two") == 200
            worker.start()
            assert receiver.came.acquire(timeout=DEADLINE)
            receiver.go.set()
            worker.await_line("pushed")
            assert worker.stop() == 0
            worker.start()
            place.leaves(place.cid)
            assert place.ann.start(place.cid, "three") == 200
            worker.await_line("pushed cid")
            assert worker.stop() == 0
        first, second, third = receiver.requests
        assert first[0]["webhook-id"] == second[0]["webhook-id"] != third[0]["webhook-id"]
        assert first[1] == second[1]
        assert json.loads(first[1])["text"] == "one"
    pushed = place.server.get("/pushed.json?auth=owner").json
    assert {entry["state"] for threads in pushed.values() for entry in threads.values()} == {"done"}
    assert not any("body" in entry for threads in pushed.values() for entry in threads.values())


def test_what_is_gone_is_given_up(place):
    place.leaves(place.bob)
    with Receiver(410) as receiver:
        with Worker(place, "--webhook", receiver.url, "--after", "0s") as worker:
            assert place.ann.start(place.bob, "one") == 200
            worker.await_line("gave up bob")
            assert worker.stop() == 0
            worker.start()
            assert place.ann.send(place.bob, "two") == 200
            place.leaves(place.cid)
            assert place.ann.start(place.cid, "three") == 200
            assert receiver.next(DEADLINE)["text"] == "three"
            assert len(ids(receiver)) == 2


def test_without_the_claim_it_says_what_the_operator_does(place):
    place.allow("--clear")
    result = place.run(
        "push", "--webhook", "http://127.0.0.1:9/", "--secret-file", place.secret, "--after", "1m"
    )
    assert result.returncode == 1
    assert "hearth users claims EMAIL" in result.stderr


@pytest.mark.parametrize(
    "arguments, code, words",
    [
        (["--webhook", "ftp://x/"], 1, "the webhook is an address"),
        (["--webhook", "http://x/", "--after", "10"], 2, "after"),
        (["--webhook", "http://x/", "--after", "-1m"], 2, "after"),
        ([], 2, "--webhook"),
    ],
)
def test_wrong_usage(tmp_path, arguments, code, words):
    secret = tmp_path / "secret"
    secret.write_text(SECRET)
    secret.chmod(0o600)
    result = subprocess.run(
        [PROGRAM, "push", "--secret-file", secret, *arguments],
        env={**os.environ, "HOME": str(tmp_path)}, capture_output=True, text=True, timeout=DEADLINE,
    )
    assert result.returncode == code
    assert words in result.stderr


def test_a_secret_that_others_may_read_is_refused(tmp_path):
    secret = tmp_path / "secret"
    secret.write_text(SECRET)
    secret.chmod(0o644)
    result = subprocess.run(
        [PROGRAM, "push", "--secret-file", secret, "--webhook", "http://x/"],
        env={**os.environ, "HOME": str(tmp_path)}, capture_output=True, text=True, timeout=DEADLINE,
    )
    assert result.returncode == 1
    assert "chmod 600" in result.stderr
