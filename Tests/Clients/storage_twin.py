"""A server under the writes of an application, and a plain twin of its tree that knows what was acknowledged.

Every list has one writer, which sends a window of writes and reads the answers. After a kill the list must be what some
prefix of the sent writes makes of it, a prefix with every acknowledged one.
"""

import random
import threading

from websockets.exceptions import WebSocketException

import vocabulary
from wire_client import Wire

WINDOW = 8


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


class List(threading.Thread):
    """Grows a list key by key in one order, overwrites and deletes, until the server is gone or `enough` is called."""

    def __init__(self, name, seed):
        super().__init__(daemon=True)
        self.name, self.chance = name, random.Random(seed)
        self.value = {}
        self.order, self.rest = None, []
        self.port = None
        self.unanswered = []
        self.begun, self.stopped = threading.Event(), threading.Event()
        self.count = 0
        self.fault = None

    def again(self, port):
        """The same list with another thread, at a server that may be another."""
        next = List(self.name, self.chance.random())
        next.value, next.order, next.rest, next.port = self.value, self.order, self.rest, port
        return next

    def draw(self):
        """The next write: a key and its value, None to delete."""
        chance = self.chance
        if not self.rest and len(self.value) < 5:
            self.order = chance.choice(vocabulary.ORDERS)
            self.rest = vocabulary.keys(self.order, chance.randrange(20, 600), chance)[::-1]
        draw = chance.random()
        if not self.rest or self.value and draw < 0.2:
            key = chance.choice(list(self.value))
            return key, None if draw < 0.1 or not self.rest else vocabulary.value(chance)
        return self.rest.pop(), vocabulary.value(chance, depth=1) if draw < 0.5 else vocabulary.text(chance)

    @staticmethod
    def apply(value, write):
        key, new = write
        if new is None:
            value.pop(key, None)
        else:
            value[key] = new

    def run(self):
        try:
            with Wire(self.port) as client:
                while not self.stopped.is_set():
                    window = [self.draw() for _ in range(WINDOW)]
                    # Noted before they are sent: the kill may fall between two of them.
                    self.unanswered = list(window)
                    numbers = [client.send("p", p=f"/{self.name}/{key}", d=new) for key, new in window]
                    for number in numbers:
                        body, _ = client.reply(number)
                        if body["s"] != "ok":
                            self.fault = body
                            return
                        self.apply(self.value, self.unanswered.pop(0))
                        self.count += 1
                    self.begun.set()
        except (WebSocketException, OSError, EOFError, TimeoutError):
            pass
        finally:
            self.begun.set()

    def check(self, found):
        """Compares with what the server has; what was not answered may be there, in order. Returns a fault or None."""
        if self.fault:
            return f"{self.name}: a write is refused: {self.fault}"
        value = dict(self.value)
        candidates = [dict(value)]
        for write in self.unanswered:
            self.apply(value, write)
            candidates.append(dict(value))
        for candidate in reversed(candidates):
            if same(candidate, found):
                self.value, self.unanswered = candidate, []
                return None
        found = as_map(found)
        missing = [key for key in self.value if key not in found]
        more = [key for key in found if key not in self.value]
        other = [key for key in found if key in self.value and not same(found[key], self.value[key])]
        return f"{self.name} ({self.order}): missing {missing[:3]}, too many {more[:3]}, other {other[:3]}"


def export(server, name):
    """The value of one name at the top, in the export form; an empty map for none."""
    answer = server.get(f"/{name}.json?ns=demo&format=export")
    assert answer.status == 200, answer.text
    return answer.json or {}


def top(server):
    """The names at the top."""
    return set(server.get("/.json?ns=demo&shallow=true").json or {})


def compare(server, lists, others={}):
    """The faults of all lists, and of the other values that must be there, against what the server has."""
    faults = [fault for one in lists if (fault := one.check(export(server, one.name)))]
    faults += [f"{name} is another" for name, value in others.items() if not same(value, export(server, name))]
    unknown = top(server) - {one.name for one in lists} - set(others) - {"filling"}
    return faults + ([f"nobody wrote {sorted(unknown)}"] if unknown else [])
