"""People who chat by hearth-chat: their commands, and the panes of tmux at which they sit."""

import base64
import os
import re
import shlex
import subprocess
import time
import uuid

from hearth_server import PROGRAMS, ROOT

CHAT = str(PROGRAMS / "hearth-chat")
FLAGS = [
    "--rules", str(ROOT / "rules" / "social.json"),
    "--files-rules", str(ROOT / "rules" / "social.storage"),
    "--password-memory", "8MiB", "--password-passes", "1",
]
PASSWORD = "correct horse battery"

# 400 points wide: it has a smaller picture beside it.
PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAZAAAAAECAIAAAAvXf56AAAAKUlEQVR42u3UQQ0AAAjEsJODRCQiCx2EJlWwx1I9ACdEAsCwAAwL"
    "+GoBU8zKeclxlVwAAAAASUVORK5CYII="
)

# Machines that run these tests may have much else to do.
PATIENCE = 300


class People:
    """Profiles of the chat in one folder, with names that no other user in the database has."""

    def __init__(self, server, folder):
        self.server = server
        self.folder = folder
        self.mark = uuid.uuid4().hex[:6]
        self.panes = []

    def named(self, name):
        return f"{name}-{self.mark}"

    def environment(self, **variables):
        kept = {k: v for k, v in os.environ.items() if not k.startswith(("HEARTH_", "TMUX"))}
        own = {
            "HEARTH_URL": self.server.address, "XDG_STATE_HOME": str(self.folder), "TZ": "UTC",
            "LC_ALL": "C.UTF-8", "TERM": "xterm-256color",
        }
        return {**kept, **own, **variables}

    def run(self, profile, *arguments, stdin="", before=(), **variables):
        """Runs a command to its end, with pipes."""
        command = [*before, CHAT, *arguments, "--profile", profile, "--deadline", str(PATIENCE)]
        return subprocess.run(
            command,
            input=stdin,
            capture_output=True,
            text=True,
            timeout=2 * PATIENCE,
            env=self.environment(**variables),
        )

    def does(self, profile, *arguments, **options):
        """Runs a command that must succeed; its output."""
        done = self.run(profile, *arguments, **options)
        assert (done.returncode, done.stderr) == (0, ""), (arguments, done)
        return done.stdout

    def fails(self, profile, *arguments, **options):
        """Runs a command that must fail; the one line that says why."""
        done = self.run(profile, *arguments, **options)
        assert (done.returncode, done.stdout) == (1, ""), (arguments, done)
        assert done.stderr.startswith("error: ") and done.stderr.count("\n") == 1, done.stderr
        return done.stderr

    def as_owner(self, method, path, body=None):
        """What the database has at a path, which no rules keep from the operator."""
        return self.server.request(
            method, f"{path}.json?ns=social", body, {"Authorization": "Bearer owner"}
        ).json

    def sign_up(self, *names):
        for name in names:
            address = f"{self.named(name)}@example.com"
            self.does(name, "sign-up", address, self.named(name), HEARTH_PASSWORD=PASSWORD)
        for one in names:
            for other in names:
                if one != other:
                    self.does(one, "follow", self.named(other))


def wait_for(condition):
    """Waits until something is so."""
    deadline = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.03)


class Pane:
    """A terminal on which the chat runs, or a shell."""

    def __init__(self, people, profile, *arguments, columns=100, rows=24, before=(), shell=None):
        self.people = people
        self.socket = f"hearth-{uuid.uuid4().hex[:8]}"
        self.folder = people.folder / self.socket
        self.folder.mkdir()
        people.panes.append(self)
        command = [*before, CHAT, *arguments, "--profile", profile, "--deadline", str(PATIENCE)]
        # The shell tells how it ended, and whether the terminal is as it was.
        words = shell or (
            f"stty -g > {self.folder}/before; sh -c 'echo $$ > {self.folder}/pid; exec "
            f"{shlex.join(command)}'; echo ended with $?; stty -g > {self.folder}/after; exec cat"
        )
        self.tmux(
            "-f", "/dev/null", "new-session", "-d", "-s", "chat",
            "-x", str(columns), "-y", str(rows), words,
        )

    def tmux(self, *arguments):
        done = subprocess.run(
            ["tmux", "-u", "-L", self.socket, *arguments],
            capture_output=True,
            text=True,
            timeout=120,
            env=self.people.environment(),
        )
        assert done.returncode == 0, done
        return done.stdout

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.people.panes.remove(self)
        subprocess.run(["tmux", "-L", self.socket, "kill-server"], capture_output=True, timeout=120)

    def press(self, *keys):
        self.tmux("send-keys", "-t", "chat", *keys)

    def type(self, text):
        self.tmux("send-keys", "-t", "chat", "-l", text)

    def types_until(self, text, other, mark):
        """Types until another pane has a mark that goes when typing pauses."""
        self.type(text)
        typed = time.monotonic()

        def is_seen(screen):
            nonlocal typed
            if mark not in screen and time.monotonic() - typed > 2:
                self.type("!")
                typed = time.monotonic()
            return mark in screen

        other.wait(is_seen)

    def say(self, text):
        self.type(text)
        self.press("Enter")

    @property
    def screen(self):
        return self.tmux("capture-pane", "-p", "-t", "chat")

    @property
    def colored_screen(self):
        return self.tmux("capture-pane", "-p", "-e", "-t", "chat")

    @property
    def process(self):
        return int((self.folder / "pid").read_text())

    def wait(self, condition, *, patience=PATIENCE):
        """Waits until a text is to be seen, or until what is to be seen is as `condition` says."""
        if isinstance(condition, str):
            text = condition
            condition = lambda screen: text in screen  # noqa: E731
        deadline = time.monotonic() + patience
        while not condition(screen := self.screen):
            assert time.monotonic() < deadline, f"never came; there is\n{screen}\n{self.others()}"
            time.sleep(0.03)
        return screen

    def others(self):
        """What the other terminals show."""
        others = (pane for pane in self.people.panes if pane is not self)
        return "\n".join(f"and on another terminal\n{pane.screen}" for pane in others)

    def wait_without(self, text):
        return self.wait(lambda screen: text not in screen)

    def ended(self):
        """Waits until the program has ended; how. The terminal is as it was then."""
        screen = self.wait(lambda screen: re.search(r"ended with \d+", screen))
        deadline = time.monotonic() + PATIENCE
        while not (self.folder / "after").exists() or not (self.folder / "after").read_text():
            assert time.monotonic() < deadline
            time.sleep(0.03)
        assert (self.folder / "after").read_text() == (self.folder / "before").read_text()
        state = self.tmux(
            "display-message", "-p", "-t", "chat", "#{alternate_on} #{cursor_flag}"
        )
        assert state.split() == ["0", "1"], "the screen before is back, with its cursor"
        return int(re.search(r"ended with (\d+)", screen)[1])
