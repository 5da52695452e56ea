"""docs/reference/EVENTS.md, run: its transcripts line by line, and both of its clients."""

import json
import os
import re
import subprocess
import sys

import pytest

from event_client import Events
from hearth_server import ROOT, Hearth

PAGE = (ROOT / "docs" / "reference" / "EVENTS.md").read_text()
# Times, sessions and keys differ from run to run; on the page they look like these.
TIME = 1_600_000_000_000
KEY = re.compile(r"-Na\w+")


def blocks(language):
    return re.findall(rf"^```{language}\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)


TRANSCRIPTS = blocks("transcript")


class Names:
    """What the names of one transcript stand for in this run."""

    def __init__(self):
        self.meanings = {}

    def filled(self, text):
        for name, meaning in self.meanings.items():
            text = text.replace(name, meaning)
        return text

    def same(self, written, got):
        """Whether a message is the one that the page shows; learns what new names stand for."""
        if isinstance(written, dict) and isinstance(got, dict):
            if len(written) != len(got):
                return False
            return all(
                self.same(key, other) and self.same(written[key], got[other])
                for key, other in zip(written, got)
            )
        if isinstance(written, list) and isinstance(got, list):
            return len(written) == len(got) and all(map(self.same, written, got))
        if isinstance(written, str) and isinstance(got, str):
            if KEY.fullmatch(written):
                return self.meanings.setdefault(written, got) == got and len(got) == 20
            return written == got or written in ("*", "Pq3xSESSION")
        if isinstance(written, int) and not isinstance(written, bool) and written > TIME:
            return isinstance(got, int) and got > TIME
        return written == got and type(written) is type(got)


@pytest.fixture(scope="module")
def server():
    with Hearth() as server:
        yield server


def test_the_page_has_transcripts():
    assert len(TRANSCRIPTS) >= 6
    assert len(blocks("python")) == 1 and len(blocks("javascript")) == 1


@pytest.mark.parametrize("index", range(len(TRANSCRIPTS)))
def test_transcripts_are_what_the_server_says(server, index):
    names = Names()
    with Events(server.port, ns=f"page{index}") as client:
        waiting = [client.hello]
        for line in TRANSCRIPTS[index].splitlines():
            side, text = line.split(" ", 1)
            if side == "C":
                client.socket.send(names.filled(text))
                continue
            got = waiting.pop() if waiting else client.receive()
            assert names.same(json.loads(text), got), (line, got)
        # Nothing more came: the next thing to come is the answer to this.
        client.socket.send('{"id":999,"do":"ping"}')
        assert client.receive()["id"] == 999


@pytest.mark.parametrize("language", ["python", "javascript"])
def test_the_clients_see_children_come_and_go(server, language, tmp_path):
    (text,) = blocks(language)
    assert len([line for line in text.splitlines() if line.strip()]) <= 22
    program = tmp_path / ("client.py" if language == "python" else "client.js")
    program.write_text(text)
    interpreter = sys.executable if language == "python" else "node"
    ns = f"client-{language}"
    process = subprocess.Popen(
        [interpreter, str(program), f"ws://127.0.0.1:{server.port}/.events?ns={ns}"],
        stdout=subprocess.PIPE,
        text=True,
        # Where Debian keeps the modules of Node.js, for a Node.js that is not Debian's.
        env={**os.environ, "PYTHONUNBUFFERED": "1", "NODE_PATH": "/usr/share/nodejs"},
    )
    try:
        seen = [next_event(process) for _ in range(4)]
        assert [name for name, _ in seen] == ["childAdded", "childAdded", "childRemoved", "childAdded"]
        assert "one" in seen[0][1] and "two" in seen[1][1] and "three" in seen[3][1]
        assert "one" in seen[2][1]
        key = server.request("POST", f"/messages/c1.json?ns={ns}", {"text": "from curl"}).json["name"]
        removed, added = next_event(process), next_event(process)
        assert removed[0] == "childRemoved" and "two" in removed[1]
        assert added[0] == "childAdded" and key in added[1] and "from curl" in added[1]
        server.request("DELETE", f"/messages/c1/{key}.json?ns={ns}")
        removed, added = next_event(process), next_event(process)
        assert removed[0] == "childRemoved" and key in removed[1]
        assert added[0] == "childAdded" and "two" in added[1]
    finally:
        process.kill()
        process.communicate()


def next_event(process):
    """The next line that begins with an event's name; a client may print values over several."""
    while line := process.stdout.readline():
        if line.startswith("child"):
            return line.split(" ", 1)[0], line
    raise AssertionError(f"the client ended with {process.wait()}")
