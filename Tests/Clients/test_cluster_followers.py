"""Clients of a node that another one owns: they listen and read there, write through it, and see one order of things."""

import json
import os
import random
import ssl
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from certificates import Identity
from cluster_nodes import PATIENCE, Cluster
from event_client import Events
from nats_brokers import Brokers
from stream_client import Stream
from websockets.exceptions import ConnectionClosed
from wire_client import Wire

SEED = int(os.environ.get("HEARTH_SEED", "1"))
OK = {"s": "ok", "d": ""}


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    brokers = Brokers(count=1)
    nodes = Cluster(brokers, tmp_path_factory.mktemp("nodes"))
    settle(nodes)
    yield nodes
    nodes.stop()
    brokers.stop()


def followers(cluster):
    owner = cluster.owner()
    return [number for number in cluster.running() if number != owner]


def wire(cluster, number, **parameters):
    """A session at a node, which takes it once it knows the owner."""
    deadline = time.monotonic() + PATIENCE
    while True:
        client = Wire(cluster.ports[number], **parameters)
        if client.hello["d"]["t"] == "h":
            return client
        client.close()
        assert time.monotonic() < deadline, client.hello


def is_closed(client):
    """Whether the server ends a session, with everything else that it sends passed over; waits for it."""
    try:
        while True:
            client.receive(timeout=PATIENCE)
    except ConnectionClosed:
        return True


def listen(client, path, **more):
    reply, pushes = client.request("q", p=path, h="", **more)
    assert reply == {"s": "ok", "d": {}}, reply
    return pushes[-1]["b"]["d"] if pushes else None


def settle(cluster):
    """Every node runs again and knows the owner."""
    cluster.restart_ended()
    cluster.until_all(lambda status: "owner" in status, "an owner that every node knows")


def test_a_session_at_a_follower_sees_all_writes_its_own_before_their_answers(cluster):
    one, two = followers(cluster)
    owner = cluster.owner()
    with wire(cluster, one) as reader, wire(cluster, two) as other, wire(cluster, owner) as at_owner:
        for client in (reader, other, at_owner):
            assert listen(client, "/room") is None
        for number, writer in enumerate([reader, other, at_owner]):
            reply, pushes = writer.request("p", p="/room", d={"from": number})
            assert reply == OK
            assert pushes == [{"a": "d", "b": {"p": "room", "d": {"from": number}}}], number
            for client in (reader, other, at_owner):
                if client is not writer:
                    assert client.push() == {"a": "d", "b": {"p": "room", "d": {"from": number}}}
        # An update is one message at every node.
        reply, pushes = reader.request("m", p="/room", d={"a/b": 1, "c": 2})
        assert (reply, pushes) == (OK, [{"a": "m", "b": {"p": "room", "d": {"a/b": 1, "c": 2}}}])
        assert other.push() == at_owner.push() == pushes[0]
        assert reader.request("g", p="/room")[0]["d"] == {"from": 2, "a": {"b": 1}, "c": 2}


def test_requests_of_a_session_are_answered_in_their_order(cluster):
    with wire(cluster, followers(cluster)[0]) as client:
        sent = []
        for number in range(100):
            sent.append((client.send("p", p=f"/order/k{number % 7}", d=number), None))
            if number % 3 == 0:
                sent.append((client.send("g", p=f"/order/k{number % 7}"), number))
        for number, value in sent:
            reply, pushes = client.reply(number)
            assert reply["s"] == "ok" and pushes == []
            if value is not None:
                assert reply["d"] == value


def test_refusals_and_transactions_are_the_owners(cluster):
    with wire(cluster, followers(cluster)[0]) as client:
        assert client.request("p", p="/count", d=1)[0] == OK
        reply, _ = client.request("p", p="/count", d=2, h="bad")
        assert reply["s"] == "datastale"
        reply, _ = client.request("p", p="/a.b", d=1)
        assert reply["s"] != "ok"
        large = "é" * 400_000
        assert client.request("p", p="/large", d=large)[0] == OK
        assert client.request("g", p="/large")[0]["d"] == large


def test_rules_and_credentials_count_at_every_node(cluster):
    one, two = followers(cluster)
    rules = {"rules": {"open": {".read": True, ".write": True},
                       "mine": {"$uid": {".read": "auth.uid === $uid", ".write": "auth.uid === $uid"}}}}
    answer = cluster.nodes[one].put("/.settings/rules.json?ns=ruled", rules, headers={"Authorization": "Bearer owner"})
    assert answer.status == 200, answer.text
    with wire(cluster, two, ns="ruled") as client, wire(cluster, one, ns="ruled") as early:
        assert client.request("p", p="/mine/ann", d=1)[0]["s"] == "permission_denied"
        assert client.request("q", p="/mine/ann", h="")[0]["s"] == "permission_denied"
        token = unsigned({"sub": "ann", "user_id": "ann"})
        # The first has a session at the owner by now, the second has not.
        for session in (client, early):
            assert session.request("auth", cred=token)[0]["s"] == "ok"
            assert session.request("p", p="/mine/ann", d=1)[0] == OK
            assert listen(session, "/mine/ann") == 1
            assert session.request("p", p="/mine/bea", d=1)[0]["s"] == "permission_denied"
        assert client.request("unauth")[0]["s"] == "ok"
        assert client.request("p", p="/mine/ann", d=2)[0]["s"] == "permission_denied"
        assert listen(early, "/open") is None
        # Rules that come by the log end what they forbid.
        rules["rules"].pop("open")
        cluster.nodes[two].put("/.settings/rules.json?ns=ruled", rules, headers={"Authorization": "Bearer owner"})
        assert early.push()["a"] == "sd"
        assert early.push() == {"a": "c", "b": {"p": "open"}}


def unsigned(claims):
    import base64
    now = int(time.time())
    parts = [{"alg": "none", "typ": "JWT"}, {"iat": now, "exp": now + 3600, **claims}]
    return ".".join(base64.urlsafe_b64encode(json.dumps(part).encode()).decode().rstrip("=") for part in parts) + "."


def test_a_read_at_one_node_shows_what_another_has_answered(cluster):
    dice = random.Random(SEED)
    for number in range(60):
        nodes = list(cluster.running())
        writer, reader = dice.choice(nodes), dice.choice(nodes)
        assert cluster.nodes[writer].put("/seen.json?ns=demo", number).status == 200
        assert cluster.nodes[reader].get("/seen.json?ns=demo").json == number
        if number % 10 == 0:
            with wire(cluster, reader) as client:
                assert client.request("g", p="/seen")[0]["d"] == number


def test_an_event_stream_of_a_follower(cluster):
    other = followers(cluster)[0]
    with Stream(cluster.ports[other], "/streamed.json") as stream:
        assert stream.event() == ("put", "/", None)
        cluster.nodes[cluster.owner()].put("/streamed/a.json", 1)
        assert stream.event() == ("put", "/a", 1)


@pytest.mark.parametrize("ends", ["socket", "follower", "owner", "both"])
def test_what_is_stored_for_a_disconnection_runs_once(cluster, ends):
    settle(cluster)
    owner, other = cluster.owner(), followers(cluster)[0]
    watcher = next(number for number in cluster.running() if number not in (owner, other))
    path = f"/presence/{ends}"
    with wire(cluster, watcher) as reader:
        assert listen(reader, path) is None
        client = wire(cluster, other)
        assert client.request("o", p=f"{path}/gone", d={".sv": {"increment": 1}})[0] == OK
        assert client.request("p", p=f"{path}/here", d=True)[0] == OK
        assert reader.push()["b"]["d"] is True
        if ends == "socket":
            client.close()
        if ends in ("follower", "both"):
            cluster.nodes[other].kill()
        if ends in ("owner", "both"):
            cluster.nodes[owner].kill()
        # The reader's session has nothing at the owner, and goes on while owners change.
        assert reader.push()["b"] == {"p": f"presence/{ends}/gone", "d": 1}
        settle(cluster)
        assert cluster.ask("PUT", f"{path}/last.json?ns=demo", 1, start=cluster.owner()) == 1
        assert reader.push()["b"]["p"] == f"presence/{ends}/last"
        assert reader.request("g", p=path)[0]["d"] == {"gone": 1, "here": True, "last": 1}


def test_listeners_of_all_nodes_see_one_order_while_owners_die(cluster):
    """Writers write through every node; each listener's values never fall, and end where the tree does."""
    settle(cluster)
    seen = {number: [] for number in cluster.running()}
    acknowledged, stop = [], threading.Event()

    def read(number):
        while not stop.is_set():
            try:
                with wire(cluster, number) as client:
                    listen(client, "/steps")
                    while not stop.is_set():
                        try:
                            value = client.socket.recv(timeout=0.5)
                        except TimeoutError:
                            continue
                        found = json.loads(value)
                        if found["d"].get("a") == "d":
                            seen[number].append(found["d"]["b"]["d"])
            except Exception:
                time.sleep(0.05)

    readers = [threading.Thread(target=read, args=(number,)) for number in seen]
    for reader in readers:
        reader.start()
    value = 0
    for round in range(3):
        for _ in range(40):
            node = random.Random(SEED + value).choice(cluster.running())
            value += 1
            if cluster.ask("PUT", "/steps.json?ns=demo", value, start=node) is not None:
                acknowledged.append(value)
        cluster.nodes[cluster.owner()].kill()
        cluster.owner()
        settle(cluster)
    value += 1
    while cluster.ask("PUT", "/steps.json?ns=demo", value, start=cluster.owner()) is None:
        pass
    deadline = time.monotonic() + PATIENCE
    while any(not values or values[-1] != value for values in seen.values()):
        assert time.monotonic() < deadline, {number: values[-3:] for number, values in seen.items()}
        time.sleep(0.02)
    stop.set()
    for reader in readers:
        reader.join()
    for number, values in seen.items():
        assert values == sorted(values), number
    assert len(acknowledged) > 60


def test_the_event_protocol_is_served_by_followers(cluster):
    settle(cluster)
    one, two = followers(cluster)
    with Events(cluster.ports[one]) as client, Events(cluster.ports[two]) as other:
        assert client.hello["event"] == "hello"
        assert other.request("observe", path="/said", events=["childAdded"])[0]["ok"]
        reply, _ = client.request("push", path="/said", value="hi")
        assert reply["ok"]
        assert other.receive()["value"] == "hi"
        # A get behind a write shows it, and a tag that does not fit is the owner's answer.
        assert client.request("set", path="/one", value=1)[0]["ok"]
        read = client.request("get", path="/one")[0]
        assert read["value"] == 1
        assert client.request("set", path="/one", value=2, ifMatch="no")[0]["error"] == "etag_mismatch"
        assert client.request("set", path="/one", value=2, ifMatch=read["etag"])[0]["ok"]
        assert client.request("onDisconnect", path="/gone", value=True)[0]["ok"]
        reply, events = other.request("observe", path="/gone", events=["value"])
        assert reply["ok"] and events[0]["value"] is None
        client.close()
        assert other.receive()["value"] is True


def test_an_account_that_is_disabled_is_signed_out_at_every_node(cluster):
    one, two = followers(cluster)
    api = "/identitytoolkit.googleapis.com/v1/accounts"
    answer = cluster.nodes[one].request("POST", f"{api}:signUp?key=k", {"email": "ann@example.com", "password": "secret1"})
    assert answer.status == 200, answer.text
    account = answer.json
    # Its token counts at another node at once.
    with wire(cluster, two) as client:
        assert client.request("auth", cred=account["idToken"])[0]["s"] == "ok"
        assert listen(client, "/private") is None
        answer = cluster.nodes[cluster.owner()].request(
            "POST", "/identitytoolkit.googleapis.com/v1/projects/demo/accounts:update", {"localId": account["localId"], "disableUser": True}, headers={"Authorization": "Bearer owner"}
        )
        assert answer.status == 200, answer.text
        assert client.push()["a"] == "ac"
    with wire(cluster, one) as client:
        assert client.request("auth", cred=account["idToken"])[0]["s"] == "invalid_token"


def test_nodes_reach_their_owner_over_tls(tmp_path):
    identity = Identity(tmp_path)
    context = ssl.create_default_context(cafile=identity.root)
    brokers = Brokers(count=1)
    flags = ("--tls-cert", str(identity.chain), "--tls-key", str(identity.key), "--cluster-ca-file", str(identity.root))
    cluster = Cluster(brokers, tmp_path / "nodes", count=2, flags=flags, address="https://localhost")
    try:
        deadline = time.monotonic() + PATIENCE
        while not (owners := [number for number in range(2) if "owns its group" in cluster.nodes[number].log_text]):
            assert time.monotonic() < deadline
            time.sleep(0.02)
        [owner] = owners
        cluster.nodes[1 - owner].await_log("follows an owner")
        with wire(cluster, 1 - owner, context=context) as client:
            assert listen(client, "/room") is None
            reply, pushes = client.request("p", p="/room", d=1)
            assert (reply, [push["b"]["d"] for push in pushes]) == (OK, [1])
    finally:
        cluster.stop()
        brokers.stop()


def test_clients_of_a_node_that_hears_no_owner_are_sent_away(tmp_path):
    """It could show them what is long past: the brokers are gone, and so is the owner, which ends."""
    brokers = Brokers(count=1)
    cluster = Cluster(brokers, tmp_path / "nodes", count=2)
    try:
        settle(cluster)
        [other] = followers(cluster)
        with wire(cluster, other) as reader, wire(cluster, other) as writer:
            assert listen(reader, "/room") is None
            assert writer.request("p", p="/room", d=1)[0] == OK
            assert reader.push()["b"]["d"] == 1
            brokers.signal(0)
            # What has something at the owner ends with it; the reader is sent away once no owner is heard for long.
            assert is_closed(writer) and is_closed(reader)
        assert cluster.nodes[other].get("/room.json?ns=demo").status == 503
        cluster.nodes[other].await_log("this node is behind its group")
    finally:
        cluster.stop()
        brokers.stop()


def test_a_new_connection_ends_the_session_it_names_at_any_node(cluster):
    """What that one has stored is done before the new one is answered."""
    settle(cluster)
    one, two = followers(cluster)
    for number, place in enumerate([one, two, cluster.owner()]):
        old = wire(cluster, one)
        path = f"/ended/{number}"
        assert old.request("o", p=path, d="gone")[0] == OK
        with wire(cluster, place, ls=old.hello["d"]["d"]["s"]) as new:
            assert new.request("g", p=path)[0]["d"] == "gone"
        assert is_closed(old)


def test_tests_of_the_wire_protocol_pass_at_a_follower():
    """Every exchange that a server alone has, of sessions with one that another node owns."""
    folder = Path(__file__).parent
    # Run beside one another, they would all wait for the same two processors.
    command = [sys.executable, "-m", "pytest", "--quiet", "-p", "followed_server", "-p", "no:cacheprovider", folder / "test_wire.py"]
    done = subprocess.run(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    assert done.returncode == 0 and " passed" in done.stdout, done.stdout[-5000:]
