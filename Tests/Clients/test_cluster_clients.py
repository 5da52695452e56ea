"""Real programs at any node: they come back by themselves when the owner dies."""

import signal
import subprocess
import threading

import firebase_admin
import pytest
from chat_people import CHAT, FLAGS, PATIENCE, People
from cluster_nodes import Cluster
from firebase_admin import db
from nats_brokers import Brokers


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    brokers = Brokers(count=1)
    nodes = Cluster(brokers, tmp_path_factory.mktemp("nodes"), flags=FLAGS)
    yield nodes
    nodes.stop()
    brokers.stop()


def test_people_go_on_chatting_when_the_owner_dies(cluster, tmp_path):
    """Programs over the Swift client: one reads on all along, the other sends by a command each time."""
    owner = cluster.owner()
    other = next(number for number in cluster.running() if number != owner)
    people = People(cluster.nodes[other], tmp_path)
    people.sign_up("ann", "bea")
    ann, bea = people.named("ann"), people.named("bea")
    people.does("ann", "send", bea, "one")
    reader = subprocess.Popen(
        [CHAT, "read", ann, "--follow", "--profile", "bea", "--deadline", str(PATIENCE)],
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True, env=people.environment(),
    )
    # Ends a read that nothing comes to.
    alarm = threading.Timer(PATIENCE, reader.kill)
    alarm.start()
    try:
        assert reader.stdout.readline().endswith(f"{ann}: one\n")
        for words in ["two", "three"]:
            cluster.nodes[cluster.owner()].kill()
            cluster.owner()
            cluster.restart_ended()
            people.does("ann", "send", bea, words)
            assert reader.stdout.readline().endswith(f"{ann}: {words}\n")
    finally:
        alarm.cancel()
        reader.send_signal(signal.SIGINT)
        reader.wait(PATIENCE)
        reader.stdout.close()
    lines = people.does("bea", "read", ann).splitlines()
    assert [line.rsplit(": ", 1)[1] for line in lines] == ["one", "two", "three"]


def test_every_node_serves_the_admin_sdk(cluster, monkeypatch):
    """Its library drops credentials when it is sent to another host: so a follower has the owner answer."""
    for name in ("FIREBASE_DATABASE_EMULATOR_HOST", "GOOGLE_APPLICATION_CREDENTIALS"):
        monkeypatch.delenv(name, raising=False)
    written = set()
    for round in range(2):
        for number in cluster.running():
            options = {"databaseURL": f"http://127.0.0.1:{cluster.ports[number]}?ns=sdk"}
            app = firebase_admin.initialize_app(options=options, name=f"node-{round}-{number}")
            try:
                place = db.reference(f"/sdk/k{round}{number}", app)
                place.set({"from": number})
                assert place.get() == {"from": number}
                place.child("count").transaction(lambda count: (count or 0) + 1)
                written.add(f"k{round}{number}")
            finally:
                firebase_admin.delete_app(app)
        if round == 0:
            cluster.nodes[cluster.owner()].kill()
            cluster.owner()
            cluster.restart_ended()
            cluster.until_all(lambda status: "owner" in status, "an owner that every node knows")
    found = cluster.nodes[cluster.owner()].get("/sdk.json?ns=sdk", headers={"Authorization": "Bearer owner"}).json
    assert found.keys() == written and all(one["count"] == 1 for one in found.values())
