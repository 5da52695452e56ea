"""Three nodes of one group over three brokers: where clients are sent, who takes over, and that nothing acknowledged is lost."""

import gzip
import http.client
import json
import os
import random
import threading
import time
from urllib.parse import quote

import pytest
from cluster_nodes import PATIENCE, Cluster
from nats_brokers import Brokers
from wire_client import Wire

SEED = int(os.environ.get("HEARTH_SEED", "1"))
KILLS = int(os.environ.get("HEARTH_KILLS", "4"))
WRITERS = 8


@pytest.fixture(scope="module")
def brokers():
    started = Brokers()
    yield started
    started.stop()


@pytest.fixture(scope="module")
def cluster(brokers, tmp_path_factory):
    started = Cluster(brokers, tmp_path_factory.mktemp("nodes"))
    yield started
    started.stop()


def follower(cluster):
    owner = cluster.owner()
    return next(number for number in cluster.running() if number != owner)


def test_a_follower_has_the_owner_answer(cluster):
    owner, other = cluster.owner(), follower(cluster)
    node = cluster.nodes[other]
    answer = node.put("/room.json", {"topic": "fire"})
    assert (answer.status, answer.json) == (200, {"topic": "fire"})
    assert cluster.nodes[owner].get("/room/topic.json").json == "fire"
    # Answers are the owner's, whatever they are: bodies, headers, refusals.
    for method, path, headers in [
        ("GET", "/room.json?shallow=true", {}), ("GET", "/room.json", {"X-Firebase-ETag": "true"}),
        ("GET", "/room.json?orderBy=1", {}), ("PUT", "/a.b.json", {}), ("HEAD", "/room.json", {}),
        ("GET", "/room.json", {"Origin": "http://localhost:8080"}), ("GET", "/room.json", {"Accept-Encoding": "gzip"}),
    ]:
        ours, theirs = [cluster.nodes[number].request(method, path, headers=headers) for number in (other, owner)]
        assert (ours.status, ours.body) == (theirs.status, theirs.body), path
        seen = [{name.lower(): value for name, value in one.headers.items() if name.lower() not in ("date", "connection")} for one in (ours, theirs)]
        assert seen[0] == seen[1], path


def test_many_clients_of_a_follower_get_what_they_wrote(cluster):
    """Twenty at once: coded and in chunks, names beyond ASCII, small and large, with deletes."""
    port, wrong = cluster.ports[follower(cluster)], []

    def go(number):
        value = {"text": "é☃"[number % 2] * [0, 1, 1_000, 70_000, 400_000][number % 5], "number": number}
        path, body = quote(f"/many/ü {number}/x☃.json"), json.dumps(value).encode()
        coded = {"Content-Encoding": "gzip"} if number % 3 == 0 else {}
        body = gzip.compress(body) if coded else body
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE)
        parts = [body[:9], body[9:]] if number % 4 == 1 else body
        connection.request("PUT", path, parts, coded, encode_chunked=number % 4 == 1)
        connection.getresponse().read()
        for method, want in [("GET", value), ("DELETE", None), ("GET", None)][: 3 if number % 6 == 0 else 1]:
            connection.request(method, path)
            if json.loads(connection.getresponse().read()) != want:
                wrong.append((number, method))
        connection.close()

    clients = [threading.Thread(target=go, args=(number,)) for number in range(20)]
    for client in clients:
        client.start()
    for client in clients:
        client.join()
    kept = cluster.nodes[cluster.owner()].get("/many.json?shallow=true").json
    assert wrong == [] and kept == {f"ü {number}": True for number in range(20) if number % 6}


def test_what_is_large_or_has_no_end_is_sent_to_the_owner(cluster):
    owner, other = cluster.owner(), follower(cluster)
    for path, headers in [("/.backup", {}), ("/.lp?start=t&v=5&ns=demo", {}), ("/v0/b/demo.appspot.com/o/x", {})]:
        connection = http.client.HTTPConnection("127.0.0.1", cluster.ports[other], timeout=60)
        connection.request("GET", path, headers=headers)
        answer = connection.getresponse()
        assert (answer.status, answer.headers["Location"]) == (307, f"http://127.0.0.1:{cluster.ports[owner]}{path}")
        connection.close()


def test_probes_and_figures_tell_the_owner_from_followers(cluster):
    owner, other = cluster.owner(), follower(cluster)
    assert cluster.nodes[owner].get("/.health/ready").text == "ready\n"
    answer = cluster.nodes[other].get("/.health/ready")
    assert (answer.status, answer.text) == (200, f"follower of http://127.0.0.1:{cluster.ports[owner]}\n")
    assert cluster.nodes[other].get("/.health/live").status == 200
    status = cluster.status(owner)
    assert status["role"] == "owner" and status["owner"] == f"http://127.0.0.1:{cluster.ports[owner]}"
    assert {node["role"] for node in status["nodes"]} == {"follower"} and len(status["nodes"]) == 2
    assert cluster.status(other)["owner"] == status["owner"]
    for number, leads in ((owner, 1), (other, 0)):
        assert f"\nhearth_cluster_owner {leads}\n" in cluster.nodes[number].get("/.metrics").text


def test_followers_hold_what_the_owner_has_acknowledged(cluster):
    owner = cluster.owner()
    assert cluster.ask("PUT", "/held.json", 7) == 7
    want = cluster.status(owner)["commit"]
    cluster.until_all(lambda status: status["commit"] >= want, "what the owner has")


def test_a_node_that_stops_hands_the_group_over(cluster):
    owner = cluster.owner()
    assert cluster.ask("PUT", "/handed.json", 1) == 1
    assert cluster.nodes[owner].stop() == 0
    begun = time.monotonic()
    assert cluster.owner() != owner
    print(f"handed over in {time.monotonic() - begun:.2f} s")
    assert cluster.ask("GET", "/handed.json", start=follower(cluster)) == 1
    cluster.restart_ended()
    # It has data from before, and answers for itself.
    assert cluster.status(owner)["role"] == "follower"
    assert cluster.nodes[owner].get("/.metrics").status == 200


def until_taken(cluster, method, path, body=None):
    """Sends a request until it is answered: a node that has just begun knows no owner yet."""
    deadline = time.monotonic() + PATIENCE
    while cluster.ask(method, path, body, start=cluster.owner()) is None:
        assert time.monotonic() < deadline, path


def test_values_of_every_size_are_the_same_on_every_node(cluster):
    """Large commits travel in parts; keys come in descending order; children go again; owners die in between."""
    dice = random.Random(SEED)
    naive = {"large": {f"k{9999 - number}": "x" * 700 for number in range(6000)}, "mix": {}}
    until_taken(cluster, "PUT", "/sizes/large.json", naive["large"])
    for number in range(24):
        key = f"k{dice.randrange(8)}"
        if dice.random() < 0.3:
            cluster.ask("DELETE", f"/sizes/mix/{key}.json", start=cluster.owner())
            naive["mix"].pop(key, None)
        else:
            naive["mix"][key] = {"text": "y" * dice.choice([1, 1_000, 70_000, 600_000]), "deep": {"d": {"e": number}}}
            until_taken(cluster, "PUT", f"/sizes/mix/{key}.json", naive["mix"][key])
        if number % 8 == 5:
            cluster.nodes[cluster.owner()].kill()
            cluster.owner()
            cluster.restart_ended()
    for number in range(3):
        until_taken(cluster, "PUT", f"/only.json?ns=other{number}", number + 1)
    seen = set()
    while len(seen) < len(cluster.nodes):
        owner = cluster.owner()
        seen.add(owner)
        assert cluster.nodes[owner].get("/sizes.json").json == {name: value for name, value in naive.items() if value}
        assert [cluster.nodes[owner].get(f"/only.json?ns=other{number}").json for number in range(3)] == [1, 2, 3]
        assert cluster.nodes[owner].stop() == 0
        cluster.owner()
        cluster.restart_ended()


class Writer(threading.Thread):
    """Writes numbers one behind another, each with an increment in the same update, and keeps what was acknowledged."""

    def __init__(self, cluster, name, stop):
        super().__init__(daemon=True)
        self.cluster, self.writer, self.ended = cluster, name, stop
        self.acknowledged, self.tried, self.times = [], 0, []

    def run(self):
        while not self.ended.is_set():
            self.tried += 1
            begun = time.monotonic()
            update = {f"keys/{self.writer}-{self.tried}": self.tried, f"counts/{self.writer}": {".sv": {"increment": 1}}}
            start = self.tried % len(self.cluster.ports)
            if self.cluster.ask("PATCH", "/ledger.json", update, start=start, timeout=30) is not None:
                self.acknowledged.append(self.tried)
                self.times.append((begun, time.monotonic()))
            else:
                # A node that is down refuses at once.
                time.sleep(0.05)


def victims(cluster, brokers, dice):
    """What may fail at once, by name: numbers of nodes, and of brokers."""
    owner, leader = cluster.owner(), brokers.leader("LOG_main")
    other_node = dice.choice([number for number in cluster.running() if number != owner])
    other_broker = dice.choice([number for number in brokers.running() if number != leader])
    return {
        "owner": ([owner], []),
        "follower": ([other_node], []),
        "leading broker": ([], [leader]),
        "other broker": ([], [other_broker]),
        "owner and follower": ([owner, other_node], []),
        "owner and leading broker": ([owner], [leader]),
    }


def await_writes(cluster, writers, killed, kind):
    """Waits until a write is acknowledged that began after the kill; returns the seconds until then."""
    deadline = killed + PATIENCE
    while True:
        later = [moment for writer in writers for begun, moment in writer.times[-1:] if begun > killed]
        if later:
            return min(later) - killed
        assert time.monotonic() < deadline, f"no write was acknowledged after the end of: {kind}"
        cluster.restart_ended()
        time.sleep(0.01)


def test_nothing_acknowledged_is_lost_or_doubled(cluster, brokers):
    """Kills nodes and brokers under load; an outside ledger knows what was acknowledged."""
    print(f"HEARTH_SEED={SEED} HEARTH_KILLS={KILLS}")
    dice, order, stop = random.Random(SEED), [], threading.Event()
    cluster.owner()
    writers = [Writer(cluster, f"w{number}", stop) for number in range(WRITERS)]
    for writer in writers:
        writer.start()
    try:
        for _ in range(KILLS):
            kinds = victims(cluster, brokers, dice)
            order = order or dice.sample(sorted(kinds), len(kinds))
            kind = order.pop()
            nodes, dead = kinds[kind]
            for number in nodes:
                cluster.nodes[number].kill()
            for number in dead:
                brokers.signal(number)
            seconds = await_writes(cluster, writers, time.monotonic(), kind)
            print(f"{kind}: writes are back after {seconds:.1f} s")
            for number in dead:
                brokers.start(number)
            brokers.ready()
            cluster.restart_ended()
    finally:
        stop.set()
        for writer in writers:
            writer.join()
    # Each node holds all of it: each serves once.
    seen = set()
    while len(seen) < len(cluster.nodes):
        owner = cluster.owner()
        seen.add(owner)
        check(cluster, owner, writers)
        assert cluster.nodes[owner].stop() == 0
        cluster.owner()
        cluster.restart_ended()
    print(f"{sum(len(writer.acknowledged) for writer in writers)} acknowledged writes, each there once on every node")


def check(cluster, owner, writers):
    """Every acknowledged write is there, once; what else is there was sent, and once too."""
    keys = cluster.nodes[owner].get("/ledger/keys.json").json or {}
    counts = cluster.nodes[owner].get("/ledger/counts.json").json or {}
    for writer in writers:
        own = {int(key.split("-")[1]) for key in keys if key.startswith(f"{writer.writer}-")}
        assert set(writer.acknowledged) <= own, f"{writer.writer}: lost {sorted(set(writer.acknowledged) - own)[:10]}"
        assert own <= set(range(1, writer.tried + 1))
        assert counts.get(writer.writer, 0) == len(own), f"{writer.writer}: {counts.get(writer.writer)} increments of {len(own)} writes"
