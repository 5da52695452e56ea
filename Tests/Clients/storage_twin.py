"""Clients of a server under test, and the ledger of what each has sent: the twin of its part of the tree.

A client writes below one name at the top, in one order. What stands there after a crash, or in a backup, must be what some
prefix of its writes makes, with every acknowledged one in it. So a write of several paths is there whole or not at all, and
a transaction or an increment is done once.
"""

import base64
import hashlib
import http.client
import json
import struct
import threading
from urllib.parse import quote

from websockets.exceptions import WebSocketException

import vocabulary
from event_client import Events
from wire_client import Wire

GONE = (WebSocketException, http.client.HTTPException, OSError, EOFError, TimeoutError)
INCREMENT = {".sv": {"increment": 1}}
# In a ledger, how often its client has counted in a transaction; no key has a dot.
COUNTED = ".counted"


def same(left, right):
    """Whether two values in the export form are one: true is not 1, and 1.0 is 1."""
    left, right = (as_map(side) for side in (left, right))
    if isinstance(left, dict) and isinstance(right, dict):
        return left.keys() == right.keys() and all(same(left[key], right[key]) for key in left)
    if isinstance(left, bool) or isinstance(right, bool):
        return left is right
    if isinstance(left, (int, float)) and isinstance(right, (int, float)):
        return float(left) == float(right)
    return left == right


def as_map(value):
    """A map whose keys are those of an array comes back as one."""
    if not isinstance(value, list):
        return value
    return {str(index): item for index, item in enumerate(value) if item is not None}


def hash_of(value):
    """The hash of a map of integers, or of nothing, that a transaction of the realtime protocol compares."""
    if value is None:
        return ""
    if isinstance(value, dict):
        text = "".join(f":{key}:{hash_of(value[key])}" for key in sorted(value))
    else:
        text = f"number:{struct.pack('>d', value).hex()}"
    return base64.b64encode(hashlib.sha1(text.encode()).digest()).decode()


class WireDoor:
    """The realtime protocol."""

    window = 8

    def __init__(self, port):
        self.client = Wire(port)
        self.close = self.client.close

    def send(self, name, write):
        (key, value), *others = write.items()
        if others:
            return self.client.send("m", p=f"/{name}", d=write)
        return self.client.send("p", p=f"/{name}/{key}", d=value)

    def answer(self, number):
        return self.client.reply(number)[0]["s"]

    def counter(self):
        value = self.client.request("g", p="/counter", q={})[0]["d"]
        return value, hash_of(value)

    def compare(self, value, tag):
        return self.client.request("p", p="/counter", d=value, h=tag)[0]["s"]


class EventDoor:
    """The plain event protocol."""

    window = 8

    def __init__(self, port):
        self.client = Events(port)
        self.close = self.client.close

    def send(self, name, write):
        (key, value), *others = write.items()
        if others:
            return self.client.send("update", path=f"/{name}", value=write)
        if value is None:
            return self.client.send("remove", path=f"/{name}/{key}")
        return self.client.send("set", path=f"/{name}/{key}", value=value)

    def answer(self, id):
        reply = self.client.reply(id)[0]
        return "ok" if reply["ok"] else reply["error"]

    def counter(self):
        reply = self.client.ask("get", path="/counter")
        return reply["value"], reply["etag"]

    def compare(self, value, tag):
        return self.answer(self.client.send("set", path="/counter", value=value, ifMatch=tag))


class RestDoor:
    """REST over one connection, a request at a time."""

    window = 1
    WORDS = {200: "ok", 204: "ok", 412: "stale", 503: "unavailable"}

    def __init__(self, port):
        self.client = http.client.HTTPConnection("127.0.0.1", port, timeout=120)
        self.close = self.client.close

    def send(self, name, write):
        (key, value), *others = write.items()
        if others:
            return self.ask("PATCH", f"/{name}", write)
        path = f"/{name}/{quote(key, safe='')}"
        return self.ask("DELETE", path) if value is None else self.ask("PUT", path, value)

    def ask(self, method, path, value=None, **headers):
        body = None if value is None else json.dumps(value)
        self.client.request(method, f"{path}.json?ns=demo", body, headers)

    def answer(self, _):
        answer = self.client.getresponse()
        text = answer.read()
        return self.WORDS.get(answer.status, f"{answer.status} {text[:200]}")

    def counter(self):
        self.ask("GET", "/counter", **{"X-Firebase-ETag": "true"})
        answer = self.client.getresponse()
        return json.loads(answer.read()), answer.headers["ETag"]

    def compare(self, value, tag):
        return self.answer(self.ask("PUT", "/counter", value, **{"if-match": tag}))


DOORS = [WireDoor, EventDoor, RestDoor]
STALE = {"datastale", "etag_mismatch", "stale"}


class Ledger:
    """What a client's part of the tree was, what it has sent since, and how much of that was acknowledged."""

    def __init__(self):
        self.base, self.writes, self.acknowledged = {}, [], 0
        # Of the writes without an answer, how many the last crash kept and lost.
        self.kept = self.lost = 0
        # Whether the server refuses writes for want of room: then each may be refused or done, the next one too.
        self.isRefused = False

    @staticmethod
    def apply(state, write):
        for key, value in write.items():
            if value is None:
                state.pop(key, None)
            else:
                state[key] = state.get(key, 0) + 1 if value == INCREMENT else value

    def after(self, count):
        """What the first writes make."""
        state = dict(self.base)
        for write in self.writes[:count]:
            self.apply(state, write)
        return state

    def explain(self, found, least, most):
        """How many of the writes make what was found, of `least` to `most`; None if none of these do."""
        state, explained = self.after(least), None
        # One that was refused since is not among them any more.
        for count in range(least, min(most, len(self.writes)) + 1):
            if count > least:
                self.apply(state, self.writes[count - 1])
            if same(state, found):
                explained = count
        return explained

    def settle(self, found):
        """Goes on from what a crash has left; a fault, or None."""
        count = self.explain(found, self.acknowledged, len(self.writes))
        if count is not None:
            self.kept, self.lost = count - self.acknowledged, len(self.writes) - count
            return self.go_on(self.after(count))
        states = [self.after(self.acknowledged)]
        for write in self.writes[self.acknowledged :] if self.isRefused else []:
            done = [dict(state) for state in states]
            for state in done:
                self.apply(state, write)
            states += done
        for state in states:
            if same(state, found):
                return self.go_on(state)
        state = states[0]
        missing = [key for key in state if key not in found]
        more = [key for key in found if key not in state]
        other = [key for key in found if key in state and not same(found[key], state[key])]
        return (
            f"{self.acknowledged} of {len(self.writes)} acknowledged: missing {missing[:3]}, too many {more[:3]},"
            f" other {other[:3]}"
        )

    def go_on(self, state):
        self.base, self.writes, self.acknowledged, self.isRefused = state, [], 0, False


class Client:
    """Grows a list key by key in one order, overwrites, removes and counts, until the server is gone or it is stopped."""

    def __init__(self, name, chance):
        self.name, self.chance = name, chance
        self.ledger = Ledger()
        self.order, self.rest = None, []
        self.count = self.refused = self.stale = 0
        self.fault = None

    def begin(self, port):
        self.begun, self.stopped = threading.Event(), threading.Event()
        self.thread = threading.Thread(target=self.run, args=[port, self.chance.choice(DOORS)], daemon=True)
        self.thread.start()

    def join(self):
        self.thread.join(120)
        assert not self.thread.is_alive(), f"{self.name} hangs"

    def run(self, port, kind):
        door = None
        try:
            door = kind(port)
            self.value = self.ledger.after(len(self.ledger.writes))
            while not self.stopped.is_set() and not self.fault:
                if self.chance.random() < 0.15:
                    self.transact(door)
                else:
                    self.write(door)
                self.begun.set()
        except GONE:
            pass
        except Exception as error:
            self.fault = repr(error)
            raise
        finally:
            self.begun.set()
            if door:
                door.close()

    def draw(self):
        """The next write: keys and their values, None to remove."""
        chance = self.chance
        keys = [key for key in self.value if key not in (COUNTED, "sum")]
        if not self.rest and len(keys) < 5:
            self.order = chance.choice(vocabulary.ORDERS)
            self.rest = vocabulary.keys(self.order, chance.randrange(20, 600), chance)[::-1]
        draw = chance.random()
        if draw < 0.05:
            return {"sum": INCREMENT}
        if not self.rest or keys and draw < 0.25:
            return {chance.choice(keys): None if draw < 0.15 or not self.rest else vocabulary.value(chance)}
        if draw < 0.27:
            return {self.rest.pop(): {f"k{n}": vocabulary.text(chance) for n in range(chance.choice([50, 1000]))}}
        if draw < 0.45:
            write = {self.rest.pop(): vocabulary.text(chance) for _ in range(min(len(self.rest), 6))}
            return write | ({chance.choice(keys): None, "sum": INCREMENT} if keys else {})
        return {self.rest.pop(): vocabulary.value(chance, depth=1) if draw < 0.7 else vocabulary.text(chance)}

    def write(self, door):
        window = []
        for _ in range(door.window):
            window.append(self.draw())
            self.ledger.apply(self.value, window[-1])
        # Noted before they are sent: the kill may fall between two of them.
        self.ledger.writes += window
        tickets = [door.send(self.name, write) for write in window]
        for ticket in tickets:
            self.take(door.answer(ticket))

    def transact(self, door):
        for _ in range(5):
            counter, tag = door.counter()
            counter = counter or {"n": 0}
            new = {**counter, "n": counter["n"] + 1, self.name: counter.get(self.name, 0) + 1}
            self.ledger.writes.append({COUNTED: new[self.name]})
            if self.take(door.compare(new, tag)) not in STALE:
                return

    def take(self, word):
        """Takes the answer to the first write without one."""
        if word == "ok":
            self.ledger.acknowledged += 1
            self.count += 1
        elif word in STALE or word == "unavailable":
            del self.ledger.writes[self.ledger.acknowledged]
            self.value = self.ledger.after(len(self.ledger.writes))
            self.stale += word in STALE
            if word == "unavailable":
                self.refused += 1
                self.ledger.isRefused = True
                threading.Event().wait(0.01)
        else:
            self.fault = word
        return word


def export(server, name):
    """The value of one name at the top, in the export form; an empty map for none."""
    answer = server.get(f"/{name}.json?ns=demo&format=export")
    assert answer.status == 200, answer.text
    return answer.json or {}


def top(server):
    """The names at the top."""
    return set(server.get("/.json?ns=demo&shallow=true").json or {})


def parts(server, clients):
    """What stands in each client's part of the tree, and a fault where the counter is not the sum of the clients'."""
    counter = export(server, "counter")
    total = counter.pop("n", 0)
    faults = [] if total == sum(counter.values()) else [f"{total} transactions are {counter}"]
    found = {one.name: dict(as_map(export(server, one.name))) for one in clients}
    for name, count in counter.items():
        found[name][COUNTED] = count
    return found, faults


def differences(server, clients, others):
    """The faults of what stands beside the clients' parts: the other values that must be there, and no more."""
    faults = [f"{name} is another" for name, value in others.items() if not same(value, export(server, name))]
    unknown = top(server) - {one.name for one in clients} - {*others, "counter"}
    return faults + ([f"no client wrote {sorted(unknown)}"] if unknown else [])


def compare(server, clients, others):
    """The faults of the ledgers, which go on from here, and of what stands beside, against what the server has."""
    found, faults = parts(server, clients)
    for one in clients:
        if one.fault:
            faults.append(f"{one.name}: a write is refused: {one.fault}")
        if fault := one.ledger.settle(found[one.name]):
            faults.append(f"{one.name} ({one.order}): {fault}")
    return faults + differences(server, clients, others)
