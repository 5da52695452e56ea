"""docs/start/TUTORIAL.md as a reader follows it: each block is written, run or typed, and what it shows must be shown."""

import os
import pty
import re
import select
import subprocess
import sys
import time

import pytest
from hearth_server import BINARY, ROOT

pytestmark = pytest.mark.release

PAGE = (ROOT / "docs" / "start" / "TUTORIAL.md").read_text()
BLOCKS = re.findall(r"^```(\w+) ?(.*?)\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)

# What SwiftPM fetched and planned is kept between runs.
SCRATCH = ROOT / ".build" / "consumers" / "tutorial"
BUILD = ROOT / "Tests" / "Clients" / "swift_consumer.py"


class Screen:
    """A program on a terminal of its own: what is typed, and the lines that are shown."""

    def __init__(self, words, **settings):
        self.output, terminal = pty.openpty()
        # What is typed is not shown a second time.
        self.process = subprocess.Popen(
            words, stdin=subprocess.PIPE, stdout=terminal, stderr=terminal, **settings
        )
        os.close(terminal)
        self.text = ""

    def type(self, line):
        self.process.stdin.write(line.encode() + b"\n")
        self.process.stdin.flush()

    def shows(self, line, seconds=300):
        """Waits for a whole line; what stands before it is used up."""
        deadline = time.monotonic() + seconds
        while True:
            before, found, after = self.text.partition(line + "\r\n")
            if found and (not before or before.endswith("\n")):
                self.text = after
                return
            left = deadline - time.monotonic()
            assert left > 0, f"{line!r} is not shown: {self.text!r}"
            if select.select([self.output], [], [], left)[0]:
                try:
                    self.text += os.read(self.output, 65536).decode()
                except OSError as error:
                    raise AssertionError(f"{line!r} is not shown, the end: {self.text!r}") from error

    def end(self):
        """The end of what is typed, as Ctrl-D makes it."""
        self.process.stdin.close()
        assert self.process.wait(300) == 0

    def stop(self):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        self.process.stdin.close()
        os.close(self.output)


class Follower:
    """A reader who does what the page says, in a folder next to the repository."""

    def __init__(self, folder):
        self.folder = folder
        self.place = folder / "hearth"
        self.screens = {}
        self.server = None
        self.port = 0
        self.shown = ""
        (folder / "hearth").symlink_to(ROOT)
        self.environment = {
            **os.environ, "HOME": str(folder), "XDG_STATE_HOME": str(folder / "state"),
        }
        # The program that is under test, and what the package depends on where it is built already.
        self.words = {
            "../hearth/.build/release/hearth": BINARY,
            'path: "../hearth"': f'name: "hearth", path: "{ROOT}"',
            "localhost:9000": "localhost:{port}",
            # What SwiftPM plans, with the libraries that are built already, and what it has fetched before.
            "swift build": f"HOME='{os.environ['HOME']}' '{sys.executable}' '{BUILD}' . '{SCRATCH}'",
            "swift run chat": str(SCRATCH / "programs" / "chat"),
        }

    def filled(self, text):
        for word, meaning in self.words.items():
            text = text.replace(word, meaning)
        return text.replace("{port}", str(self.port))

    def write(self, name, text):
        (self.place / name).write_text(self.filled(text))

    def run(self, text, fails):
        if "make build" in text:
            assert os.access(BINARY, os.X_OK), "the release binary is built before this test"
            return
        script = f"{self.filled(text)}\nexport code=$?; pwd > '{self.folder}/place'; exit $code"
        done = subprocess.run(
            ["bash", "-c", script], cwd=self.place, env=self.environment, text=True, timeout=1800,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL,
        )
        assert (done.returncode != 0) == fails, done.stdout
        self.place = type(self.folder)((self.folder / "place").read_text().strip())
        self.shown = done.stdout

    def serve(self, text):
        words = self.filled(text).split() + ["--port", str(self.port)]
        self.server = Screen(words, cwd=self.place, env=self.environment)
        ready = r"hearth ready http://127\.0\.0\.1:(\d+) mode=dev data=\S+ durability=always"
        deadline = time.monotonic() + 300
        while not (found := re.search(ready, self.server.text)):
            assert time.monotonic() < deadline, self.server.text
            if select.select([self.server.output], [], [], 1)[0]:
                self.server.text += os.read(self.server.output, 65536).decode()
        self.shown = re.sub(r"127\.0\.0\.1:\d+", "127.0.0.1:9000", found[0]) + "\n"
        self.port = int(found[1])
        self.environment["HEARTH_URL"] = f"http://localhost:{self.port}"

    def kill(self):
        self.server.process.kill()
        self.server.stop()

    def look(self, text):
        """Each line is shown, in this order; `...` stands for anything."""
        pattern = r"(.*\n)?" + "".join(
            r"(.*\n)*?" if line == "..." else re.escape(line).replace(r"\.\.\.", r"\S*") + r"\n"
            for line in text.splitlines()
        )
        assert re.search(pattern, self.shown), (text, self.shown)

    def talk(self, name, text):
        for line in text.splitlines():
            if line.startswith("> "):
                self.screens[name].type(line[2:])
            else:
                self.screens[name].shows(line)

    def close(self):
        for screen in [*self.screens.values(), *([self.server] if self.server else [])]:
            screen.stop()


@pytest.fixture
def follower(tmp_path):
    follower = Follower(tmp_path)
    yield follower
    follower.close()


def test_the_page_has_blocks_of_each_kind():
    kinds = {(language, use) for language, use, _ in BLOCKS}
    assert {("sh", ""), ("sh", "server"), ("sh", "ann"), ("sh", "bea"), ("text", "ann"), ("json", "")} <= kinds
    assert len(BLOCKS) >= 20


def test_a_reader_who_follows_the_page_has_a_chat_for_two(follower):
    # The second step is done in another terminal, from where both folders are.
    for language, use, text in BLOCKS:
        match language, use:
            case "json", _:
                follower.write("rules.json", text)
            case "swift", name:
                follower.write(name, text)
            case "sh", "server":
                follower.serve(text)
            case "sh", ("ann" | "bea") as name:
                if name in follower.screens:
                    follower.screens.pop(name).stop()
                words = follower.filled(text).split()
                follower.screens[name] = Screen(words, cwd=follower.place, env=follower.environment)
            case "sh", _ if text.startswith("cd hearth"):
                follower.place = follower.folder
                follower.run(text, fails=False)
            case "sh", _ if text.startswith("pkill"):
                # By its number: other tests have servers of this name.
                follower.kill()
            case "sh", use:
                follower.run(text, fails=use == "fails")
            case "text", "":
                follower.look(text)
            case "text", name:
                follower.talk(name, text)
        if "Lend me 50" in text and use == "fails":
            follower.screens["ann"].end()
