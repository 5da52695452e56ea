"""The power of all brokers is cut at once: what was acknowledged is there again, and brokers that do not sync are found out.

Each broker stores on a file system of its own in a file. The cut takes what has reached that file, which is what was synced:
nothing else is written for minutes.
"""

import itertools
import os
import subprocess
import threading
import time
from types import SimpleNamespace

import pytest
from cluster_nodes import PATIENCE, Cluster
from nats_brokers import Brokers

CUTS = int(os.environ.get("HEARTH_CUTS", "2"))
WRITES = 150


class Disk:
    """A file system in a file, mounted at `place`."""

    def __init__(self, folder):
        self.image, self.place = folder / "image", folder / "disk"
        folder.mkdir()
        self.place.mkdir()
        with open(self.image, "wb") as file:
            file.truncate(256 << 20)
        run("mkfs.ext4", "-q", "-m", "0", "-E", "lazy_itable_init=0", self.image)
        self.mount()

    def mount(self):
        # Nothing but a sync writes within this time.
        run("mount", "-o", "loop,commit=600,noatime", self.image, self.place)

    def take(self):
        """Keeps the file as it is at this moment."""
        run("cp", "--sparse=always", self.image, f"{self.image}.cut")

    def fall_back(self):
        """Mounts what was kept."""
        self.unmount()
        os.replace(f"{self.image}.cut", self.image)
        self.mount()

    def unmount(self):
        run("umount", self.place)


def run(*words):
    subprocess.run([str(word) for word in words], check=True, capture_output=True)


@pytest.fixture
def disks(tmp_path):
    made = []
    try:
        for number in range(3):
            made.append(Disk(tmp_path / f"broker{number}"))
    except (OSError, subprocess.CalledProcessError) as error:
        for disk in made:
            disk.unmount()
        pytest.skip(f"no file system can be mounted here: {error}")
    yield made
    for disk in made:
        disk.unmount()


def write(cluster, names, count, kept):
    """Eight writers write until so many were acknowledged."""
    ended = threading.Event()

    def go_on(number):
        while not ended.is_set():
            name = next(names)
            update = {f"keys/k{name}": "x" * (name % 3 * 900), "count": {".sv": {"increment": 1}}}
            if cluster.ask("PATCH", "/ledger.json", update, start=number % 3) is not None:
                kept.add(name)

    writers = [threading.Thread(target=go_on, args=(number,)) for number in range(8)]
    for writer in writers:
        writer.start()
    deadline, want = time.monotonic() + PATIENCE, len(kept) + count
    while len(kept) < want and time.monotonic() < deadline:
        time.sleep(0.005)
    return ended, writers


def cut(cluster, brokers, disks, with_nodes):
    """Ends all brokers at once, and gives them what their disks have at that moment."""
    for number in range(3):
        brokers.signal(number, "STOP")
    if with_nodes:
        for node in cluster.nodes:
            node.kill()
    for disk in disks:
        disk.take()
    for number in range(3):
        brokers.signal(number)
    for disk in disks:
        disk.fall_back()


def test_what_was_acknowledged_survives_the_power_cut_of_all_brokers(disks, tmp_path):
    brokers = Brokers(disks=[disk.place / "store" for disk in disks])
    cluster = Cluster(brokers, tmp_path)
    kept, names = set(), itertools.count()
    try:
        cluster.owner()
        for round in range(CUTS):
            ended, writers = write(cluster, names, WRITES, kept)
            cut(cluster, brokers, disks, with_nodes=round % 2 == 1)
            ended.set()
            for writer in writers:
                writer.join()
            for number in range(3):
                brokers.start(number)
            brokers.ready()
            cluster.restart_ended()
            owner = cluster.owner()
            found = cluster.nodes[owner].get("/ledger.json").json
            assert len(kept) >= WRITES
            # An empty text is a value; nothing else that was sent is missing or double.
            assert {f"k{name}" for name in kept} <= set(found["keys"])
            assert found["count"] == len(found["keys"])
        print(f"{CUTS} power cuts, {len(kept)} acknowledged writes, each there once")
    finally:
        cluster.stop()
        brokers.stop()


def has_stopped(node):
    """Whether a node knows that the brokers lack what they had, or has lost the group."""
    known = ["lost what they had acknowledged", "have no stream LOG_main any more"]
    return node.process.poll() == 75 or any(words in node.log_text for words in known)


def test_brokers_that_do_not_sync_lose_what_they_acknowledged_and_the_nodes_stop(disks, tmp_path):
    """Shows that the cut takes away what was not synced, and that no node serves from a log that went back."""
    brokers = Brokers(jetstream="", disks=[disk.place / "store" for disk in disks])
    cluster = Cluster(SimpleNamespace(addresses=brokers.addresses, monitors=[]), tmp_path)
    try:
        cluster.owner()
        kept = set()
        ended, writers = write(cluster, itertools.count(), WRITES, kept)
        cut(cluster, brokers, disks, with_nodes=False)
        ended.set()
        for writer in writers:
            writer.join()
        for number in range(3):
            brokers.start(number)
        brokers.ready()
        deadline = time.monotonic() + PATIENCE
        while not all(has_stopped(node) for node in cluster.nodes):
            assert time.monotonic() < deadline, [node.log_text[-500:] for node in cluster.nodes]
            time.sleep(0.05)
        cluster.restart_ended()
        for node in cluster.nodes:
            assert node.get("/.health/ready").status == 503
    finally:
        cluster.stop()
        brokers.stop()
