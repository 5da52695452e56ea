"""A pytest plugin (`-p followed_server`): tests that start a development server get a node that another one owns."""

import tempfile
import time
from pathlib import Path

import hearth_server
from cluster_nodes import Cluster
from nats_brokers import Brokers, free_ports

Alone = hearth_server.Hearth


class Followed(Alone):
    """The follower of a group of two nodes, of one broker. Servers of which more is asked are alone as ever."""

    owner = None

    def __init__(self, *flags, data=None, dev=True, log=None, **more):
        if not dev or data is not None or any(str(flag).startswith(("--tls", "--port")) for flag in flags):
            super().__init__(*flags, data=data, dev=dev, log=log, **more)
            return
        self.brokers = Brokers(count=1)
        self.folder = tempfile.TemporaryDirectory(prefix="hearth-followed-")
        group = Cluster(self.brokers, Path(self.folder.name), count=0, flags=flags)
        group.ports = free_ports(2)
        self.owner = Alone(*group.settings(0), data=group.data(0), **more)
        await_text(self.owner, "ready")
        super().__init__(*group.settings(1), data=group.data(1), log=log, **more)
        await_text(self, "follower of")

    def __exit__(self, *_):
        super().__exit__()
        if self.owner:
            self.owner.__exit__()
            self.brokers.stop()
            self.folder.cleanup()


def await_text(node, text):
    while not node.get("/.health/ready").text.startswith(text):
        assert node.process.poll() is None
        time.sleep(0.02)


hearth_server.Hearth = Followed
