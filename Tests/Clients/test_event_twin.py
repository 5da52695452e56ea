"""Lists kept by child events alone, against a twin that sorts everything again after each write."""

import pytest

from event_client import Events
from hearth_server import Hearth
from naive_query import key_order, selected
from vocabulary import SEED, drawn

CHILDREN = ["childAdded", "childChanged", "childMoved", "childRemoved"]
KINDS = ["childRemoved", "childAdded", "childMoved", "childChanged", "value"]
ORDERS = [
    {"orderByKey": True},
    {"orderByValue": True},
    {"orderByPriority": True},
    {"orderByChild": "n"},
]
KEYS = ["1", "2", "10", "-3", "a", "b", "c", "d", "Z", "é", "ab", "01"]
SCALARS = [False, True, -1, 0, 1, 1.5, 2, "", "a", "b", "é"]


@pytest.fixture(scope="module")
def server():
    with Hearth() as server:
        yield server


class KeptList:
    """What a client keeps that is notified of children: they and their order."""

    def __init__(self):
        self.keys = []
        self.values = {}

    def apply(self, events):
        """Applies the events of one change together, as docs/reference/EVENTS.md says."""
        behind = {}
        for event in events:
            key, kind = event["key"], event["event"]
            if kind == "childRemoved":
                assert self.values.pop(key) == event["value"]
                self.keys.remove(key)
                continue
            assert (key in self.values) == (kind != "childAdded")
            self.values[key] = event["value"]
            if kind == "childMoved":
                self.keys.remove(key)
            if kind != "childChanged":
                behind[key] = event["previousKey"]
        while behind:
            placed = [key for key, previous in behind.items() if previous not in behind]
            assert placed, "no child is behind itself"
            for key in placed:
                previous = behind.pop(key)
                self.keys.insert(self.keys.index(previous) + 1 if previous is not None else 0, key)


def random_query(dice):
    query = dict(dice.choice(ORDERS))

    def bound():
        if "orderByKey" in query:
            return dice.choice(KEYS)
        value = dice.choice([None, *SCALARS])
        if "orderByPriority" in query and isinstance(value, bool):
            value = 1
        return {"value": value, "key": dice.choice(KEYS)} if dice.random() < 0.3 else value

    shape = dice.randrange(6)
    if shape == 1:
        query["equalTo"] = bound()
    if shape in (2, 3):
        query[dice.choice(["startAt", "startAfter"])] = bound()
    if shape in (3, 4):
        query[dice.choice(["endAt", "endBefore"])] = bound()
    if dice.random() < 0.6:
        query[dice.choice(["limitToFirst", "limitToLast"])] = dice.randint(1, 5)
    return query


def random_child(dice):
    shape = dice.randrange(4)
    priority = dice.choice([None, None, 1, 2, "p"])
    if shape == 0:
        return None
    if shape == 1:
        value = dice.choice(SCALARS)
        return value if priority is None else {".value": value, ".priority": priority}
    node = {"n": dice.choice(SCALARS), "x": dice.randrange(3)}
    if shape == 2:
        del node["n"]
    return node if priority is None else {**node, ".priority": priority}


def without_null(tree):
    return {key: value for key, value in tree.items() if value is not None}


@pytest.mark.parametrize("number", range(6))
def test_child_events_lead_to_what_the_query_selects(server, number):
    seed = SEED + number
    dice = drawn(number)
    tree = {}
    with Events(server.port, ns=f"twin{seed}") as client:
        observers = {}
        heard = 0
        for step in range(2_000):
            # Some queries select next to nothing: then it takes more of them.
            if step >= 250 and heard > 1_000:
                break
            about = f"seed {seed}, step {step}"
            if step % 25 == 0:
                query = random_query(dice)
                names = [*CHILDREN, "value"]
                id, first, reply = client.observe("/list", *names, query=query, export=True)
                assert reply["ok"], (about, reply)
                observers[id] = (query, KeptList())
                check(about, observers, {id: first}, tree)
            change = {key: random_child(dice) for key in dice.sample(KEYS, dice.randint(1, 4))}
            tree = without_null({**tree, **change})
            reply, events = client.request("update", path="/list", value=change)
            assert reply == {"ok": True}, about
            sent = {}
            for event in events:
                sent.setdefault(event.pop("observer"), []).append(event)
            check(about, observers, sent, tree)
            heard += len(events)
        assert heard > 1_000, "hardly anything was compared"


def check(about, observers, sent, tree):
    """Applies what each observer received, and compares with what its query selects now."""
    for id, (query, kept) in observers.items():
        events = sent.get(id, [])
        kinds = [KINDS.index(event["event"]) for event in events]
        assert kinds == sorted(kinds) and kinds.count(4) == (1 if events else 0), about
        kept.apply([event for event in events if event["event"] != "value"])
        keys = selected(query, tree)
        assert kept.keys == keys, (about, query, tree)
        assert kept.values == {key: tree[key] for key in keys}, (about, query)
        if events:
            assert (events[-1]["value"] or {}) == kept.values, (about, query)
            assert list(events[-1]["value"] or {}) == sorted(keys, key=key_order), (about, query)
