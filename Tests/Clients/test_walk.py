"""A put and a listen go the way that docs/internals/ARCHITECTURE.md says, file by file: a debugger watches them.

The page names functions. Each statement at the beginning of one is a breakpoint of gdb, which prints and goes on; the steps of
the page must be reached in their order.
"""

import json
import re
import shutil
import signal
import subprocess
import threading

import pytest

from hearth_server import BINARY, ROOT
from wire_client import Wire

pytestmark = pytest.mark.release

PAGE = ROOT / "docs" / "internals" / "ARCHITECTURE.md"
# A statement of an inlined function may have no code of its own, but not so many in a row.
STATEMENTS = 24
# Their rules look at data, so that a commit asks them again.
RULES = {"rules": {".read": "root.child('open').val() !== false", ".write": "root.child('open').val() !== false"}}
PREPARATION = """
set pagination off
set confirm off
set debuginfod enabled off
set complaints 0
set breakpoint pending on
set breakpoint always-inserted on
set print thread-events off
set disable-randomization off
set startup-with-shell off
handle SIGPIPE SIGTERM nostop noprint pass
handle SIGUSR1 stop print nopass
starti
info proc
continue
"""


def steps(section):
    """The steps of a section of the page: number, file and function, one for each file."""
    text = PAGE.read_text().split(f"\n## {section}\n")[1].split("\n## ")[0]
    for line in text.splitlines():
        cells = [cell.strip() for cell in line.split("|")[1:-1]]
        if len(cells) == 5 and cells[0].isdigit():
            files, functions = (re.findall(r"`([^`]+)`", cell) for cell in cells[2:4])
            assert len(files) == len(functions) > 0, line
            yield from ((int(cells[0]), file, function) for file, function in zip(files, functions))


def source(file):
    """The source file of the server that a page names by the end of its path."""
    found = [path for path in (ROOT / "Sources").rglob(file.rsplit("/")[-1]) if str(path).endswith(f"/{file}")]
    found = [path for path in found if not {"Client", "Services"} & set(path.relative_to(ROOT).parts)]
    assert len(found) == 1, f"{file}: {found}"
    return found[0]


def statements(file, function):
    """The numbers of the first lines in the bodies of the functions of this name."""
    lines = source(file).read_text().splitlines()
    word = "init" if function == "init" else f"func {function}"
    name = re.compile(rf"( *)(?:[\w()@]+ )*{word}[(<]")
    numbers = []
    for start, line in enumerate(lines):
        if found := name.match(line):
            head = next(n for n in range(start, len(lines)) if "{" in lines[n])
            end = head if "}" in lines[head] else lines.index(found[1] + "}", head)
            numbers += [n + 1 for n in range(min(head + 1, end), min(head + STATEMENTS, end) + 1)]
    assert numbers, f"{file} has no function {function}"
    return numbers


class Debugged:
    """A development server under gdb, which runs freely until `watch`."""

    def __init__(self, folder):
        rules = folder / "rules.json"
        rules.write_text(json.dumps(RULES))
        self.script, self.lines, self.changed = folder / "script", [], threading.Condition()
        self.script.write_text("")
        (folder / "preparation").write_text(PREPARATION + f"source {self.script}\n")
        self.process = subprocess.Popen(
            ["gdb", "-batch", "-nx", "-x", folder / "preparation", "--args"]
            + [BINARY, "serve", "--dev", "--port", "0", "--data-dir", folder / "data", "--rules", rules],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        )
        threading.Thread(target=self.read, daemon=True).start()
        self.port = self.pid = None

    def read(self):
        for line in self.process.stdout:
            with self.changed:
                self.lines.append(line.rstrip())
                self.changed.notify_all()
        with self.changed:
            self.lines.append(None)
            self.changed.notify_all()

    def wait(self, holds, seconds=120):
        """Waits for lines, or until gdb ends; returns what `holds` says of them."""
        with self.changed:
            self.changed.wait_for(lambda: holds(self.lines) or None in self.lines, seconds)
            return holds(self.lines)

    def first(self, pattern):
        """The first part of the first line that matches."""
        found = self.wait(lambda lines: next((m for line in lines if line and (m := re.match(pattern, line))), None))
        return found and found[1]

    def watch(self, walk):
        """Sets breakpoints at the functions of a walk."""
        commands = []
        for file, function in dict.fromkeys((file, function) for _, file, function in walk):
            for number in statements(file, function):
                commands += [f"break {file}:{number}", "commands", "silent"]
                commands += [f'printf "reached {file} {function}\\n"', "continue", "end"]
        self.script.write_text("\n".join([*commands, 'printf "watching\\n"', "continue"]))
        subprocess.run(["kill", "-USR1", self.pid], check=True)
        assert self.first("(watching)"), self.lines[-20:]

    def __enter__(self):
        self.pid = self.first(r"process (\d+)$")
        address = self.first("hearth ready ([^ ]+)")
        if address is None:
            pytest.skip(f"gdb cannot run a program here: {self.lines[-6:]}")
        self.port = int(address.rsplit(":", 1)[1])
        return self

    def __exit__(self, *_):
        self.process.send_signal(signal.SIGKILL)
        if self.pid:
            subprocess.run(["kill", "-KILL", self.pid], check=False)
        self.process.wait()
        self.process.stdout.close()


def missing(walk, lines):
    """The first step of a walk that the lines do not reach in its order; None when they reach all."""
    left = list(walk)
    for line in lines:
        if left and line == f"reached {left[0][1]} {left[0][2]}":
            left.pop(0)
    return left[0] if left else None


PUT = list(steps("One put, step by step"))
LISTEN = [step for step in PUT if step[0] <= 6] + list(steps("One listen, step by step"))


@pytest.mark.skipif(shutil.which("gdb") is None, reason="gdb is not installed: scripts/setup test installs it")
@pytest.mark.parametrize("name, walk", [("put", PUT), ("listen", LISTEN)], ids=["put", "listen"])
def test_it_goes_the_way_that_the_page_says(tmp_path, name, walk):
    with Debugged(tmp_path) as server, Wire(server.port) as client, Wire(server.port) as other:
        if name == "put":
            other.request("q", p="/room", h="")
        else:
            other.request("p", p="/room", d={"topic": "tea"})
        server.watch(walk)
        if name == "put":
            client.request("p", p="/room/topic", d="tea")
            assert other.push()["b"]["d"] == "tea"
        else:
            _, pushes = client.request("q", p="/room", h="")
            assert pushes[0]["b"]["d"] == {"topic": "tea"}
        assert server.wait(lambda lines: missing(walk, lines) is None), (
            f"step, file and function {missing(walk, server.lines)} were not reached after those before it",
            "\n".join(line for line in server.lines if line and line.startswith("reached")),
        )
