"""kill -9 at any moment while files are uploaded, replaced, deleted and collected; ledgers of the clients say what must be there.

A short run in the gate; `make soak-kill ROUNDS=200` is a long one. HEARTH_SEED repeats what is drawn, but no moment.
"""

import contextlib
import hashlib
import http.client
import os
import random
import threading
import time
from collections import Counter

from file_requests import UNIT, Upload, place, state, upload
from hearth_server import Hearth
from test_backup import run
from test_kills import until
from vocabulary import SEED

ROUNDS = int(os.environ.get("HEARTH_KILLS", 4))
CLIENTS = 4
NAMES = 6
SECONDS_BETWEEN_LINES = 30
# Older than what is collected.
AGED = 25 * 3600


class Client(threading.Thread):
    """Works on names of its own until the server is gone, and keeps what each may hold: one content, or none, when all was answered."""

    def __init__(self, number, chance, contents, states):
        self.number, self.chance, self.contents, self.states = number, chance, contents, states
        self.may = {f"c{number}/{n}": [None] for n in range(NAMES)}
        # Resumable uploads that go on: name, content, acknowledged bytes.
        self.open = []
        # Those whose begin had no answer: no client can go on with them, and they stay for a week.
        self.orphaned = 0
        self.faults = []

    def begin(self, server):
        super().__init__(daemon=True)
        self.server = server
        self.start()

    def run(self):
        with contextlib.suppress(OSError, http.client.HTTPException):
            while True:
                work = self.chance.choice([self.store, self.store, self.begin_resumable, self.go_on, self.go_on, self.go_on, self.delete])
                work(self.chance.choice(list(self.may)))

    def attempt(self, name, content):
        """What a request may leave, until its answer says what it has left."""
        self.may[name].append(content)

    def settle(self, name, content, what):
        self.may[name] = [content]
        self.states[what] += 1

    def metadata(self, content):
        return {"contentType": "a/b", "metadata": {"sum": hashlib.sha256(content).hexdigest()}}

    def store(self, name):
        content = self.chance.choice(self.contents)
        before = list(self.may[name])
        self.attempt(name, content)
        answer = upload(self.server, name, content, self.metadata(content))
        self.check(answer, name)
        self.settle(name, content, "replaced" if before != [None] else "stored")

    def check(self, answer, what, statuses=(200,)):
        if answer.status not in statuses:
            self.faults.append(f"{what}: {answer.status} {answer.text}")

    def delete(self, name):
        self.attempt(name, None)
        answer = self.server.request("DELETE", place(name))
        self.check(answer, name, (204, 404))
        if answer.status == 404 and None not in self.may[name][:-1]:
            self.faults.append(f"{name} is not there to be deleted")
        self.settle(name, None, "deleted")

    def begin_resumable(self, name):
        if len(self.open) < 3:
            content = self.chance.choice(self.contents)
            self.orphaned += 1
            upload = Upload(self.server, name, len(content), self.chance.choice(["js", "android", "ios"]))
            self.orphaned -= 1
            self.check(upload.started, name)
            self.open.append([name, content, 0, upload])

    def go_on(self, _):
        if not self.open:
            return
        one = self.chance.choice(self.open)
        name, content, acknowledged, upload = one
        upload.server = self.server
        query = upload.send("query")
        status, word, received = state(query)
        if word == "final":
            # Its last request had no answer, and it was done; what came behind it was answered.
            self.open.remove(one)
            return
        if status != 200 or received < acknowledged:
            self.faults.append(f"{name}: {status}, {received} bytes where {acknowledged} were acknowledged")
            self.open.remove(one)
            return
        size = min(len(content) - received, self.chance.choice([UNIT, 2 * UNIT]))
        isLast = received + size == len(content)
        if isLast:
            self.attempt(name, content)
        answer = upload.send("upload, finalize" if isLast else "upload", received, content[received : received + size])
        self.check(answer, name)
        if isLast:
            self.open.remove(one)
            self.settle(name, content, "finished in parts")
        else:
            one[2] = state(answer)[2]

    def compare(self):
        """What is there must be what may be; then it is what must be."""
        for name, may in self.may.items():
            answer = self.server.get(place(name) + "?alt=media")
            found = answer.body if answer.status == 200 else None
            if answer.status not in (200, 404) or found not in may:
                self.faults.append(f"{name}: {answer.status}, {len(answer.body)} bytes of {[one and len(one) for one in may]}")
            if found is not None:
                record = self.server.get(place(name)).json
                sum = record.get("metadata", {}).get("sum")
                if int(record["size"]) != len(found) or sum not in (None, "v", hashlib.sha256(found).hexdigest()):
                    self.faults.append(f"{name}: its record is of another content")
            self.states["unanswered, and done"] += len(may) > 1 and found == may[-1] != may[0]
            self.may[name] = [found]


def blobs(data):
    return {path.parent.name + path.name: path for path in (data / "files" / "blobs").glob("??/*")}


def age(data):
    past = time.time() - AGED
    for path in blobs(data).values():
        os.utime(path, (past, past))


def test_kills(tmp_path):
    chance, states = random.Random(SEED), Counter()
    contents = [chance.randbytes(size) for size in (0, 1, 700, 70_000, UNIT, UNIT + 1, 3 * UNIT + 5, 3 * UNIT + 6)]
    clients = [Client(number, random.Random(chance.random()), contents, states) for number in range(CLIENTS)]
    data, said = tmp_path / "data", time.monotonic()
    with Hearth(data=data, log=tmp_path / "log") as server:
        for number in range(1, ROUNDS + 1):
            for client in clients:
                client.begin(server)
            # Real time is the point: the kill falls anywhere in the work; behind a second also into a collection.
            threading.Event().wait(chance.choice([chance.uniform(0, 0.4), chance.uniform(0.9, 1.6)]))
            server.kill()
            for client in clients:
                client.join(120)
                assert not client.is_alive()
            if chance.random() < 0.7:
                age(data)
            server.start()
            for client in clients:
                client.compare()
            faults = [fault for client in clients for fault in client.faults]
            assert not faults, (f"HEARTH_SEED={SEED}, round {number}", faults, server.log_text[-2000:])
            if time.monotonic() - said > SECONDS_BETWEEN_LINES:
                said = time.monotonic()
                print(number, "kills", dict(states))
        for client in clients:
            for name, content, _, upload in client.open:
                assert state(upload.send("cancel"))[0] in (200, 400), name
        assert server.stop() == 0
        age(data)
        server.start()
        kept = {hashlib.sha256(may[0]).hexdigest() for client in clients for may in client.may.values() if may[0] is not None}
        until(lambda: set(blobs(data)) == kept, f"a collection that leaves {len(kept)} contents")
        left = {path.name for path in (data / "files" / "uploads").iterdir()}
        parts = [name for name in left if not name.endswith(".json")]
        assert all(name.endswith(".part") and name.replace(".part", ".json") in left for name in parts), parts
        assert len(parts) <= sum(client.orphaned for client in clients), parts
        for client in clients:
            client.compare()
            assert not client.faults, client.faults
        assert server.stop() == 0
    checked = run("files", "check", "--data-dir", data)
    assert checked.returncode == 0 and f"{len(kept)} contents" in checked.stdout, checked.stdout + checked.stderr
    assert "cannot be read" not in (tmp_path / "log").read_text()
    assert states["stored"] and states["replaced"] and states["deleted"]
    print(f"HEARTH_SEED={SEED}:", ROUNDS, "kills,", dict(states), len(kept), "contents kept")
