"""The chat on terminals: people at tmux panes who chat with each other, and the same program with pipes."""

import os
import re
import shlex
import shutil
import signal
import subprocess
import threading
import time
import uuid

import pytest
from hearth_server import PROGRAMS, ROOT, Hearth

CHAT = str(PROGRAMS / "hearth-chat")
FLAGS = [
    "--rules", str(ROOT / "rules" / "social.json"),
    "--password-memory", "8MiB", "--password-passes", "1",
]
PASSWORD = "correct horse battery"

# Machines that run these tests may have much else to do.
PATIENCE = 300


@pytest.fixture(scope="module")
def server():
    with Hearth(*FLAGS) as server:
        yield server


@pytest.fixture
def people(server, tmp_path):
    return People(server, tmp_path)


class People:
    """Profiles of the chat in one folder, with names that nobody else in the database has."""

    def __init__(self, server, folder):
        self.server = server
        self.folder = folder
        self.mark = uuid.uuid4().hex[:6]
        self.before = []

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
        """What the database has at a path, which no rules keep from whoever runs it."""
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
            timeout=60,
            env=self.people.environment(),
        )
        assert done.returncode == 0, done
        return done.stdout

    def __enter__(self):
        return self

    def __exit__(self, *_):
        subprocess.run(["tmux", "-L", self.socket, "kill-server"], capture_output=True, timeout=60)

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
            assert time.monotonic() < deadline, f"never came; there is\n{screen}"
            time.sleep(0.03)
        return screen

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


def test_two_people_at_two_terminals(people):
    people.sign_up("ann", "bea")
    ann, bea = people.named("ann"), people.named("bea")
    with Pane(people, "ann") as one, Pane(people, "bea", columns=60, rows=16) as two:
        one.wait("No chats yet")
        two.wait("No chats yet")
        one.press("n")
        one.wait("Chat with whom?")
        one.say(bea)
        one.wait(lambda screen: f"│ {bea}" in screen and "nothing here yet" in screen)
        one.say("Hallo Bea, 日本 👍")
        one.wait(lambda screen: "Hallo Bea, 日本 👍\n" in screen and "…" not in screen)

        # The other sees the chat come, with what is unread in it, and opens it.
        two.wait(lambda screen: ann in screen and " 1\n" in screen and "Hallo" in screen)
        two.press("Enter")
        two.wait("  Hallo Bea, 日本 👍")
        two.wait("● here")
        one.wait("● here")
        two.say("Hello, Ann")
        one.wait("  Hello, Ann")
        one.say("How are you?")
        two.wait("  How are you?")

        # Whoever has a chat open has read it.
        two.press("Escape")
        two.wait(lambda screen: "Enter open" in screen and not re.search(r" \d{1,3}\n", screen))
        one.say("third")
        one.say("fourth")
        two.wait(lambda screen: "fourth" in screen and " 2\n" in screen)

        # Who is put out by the end of a process is away.
        os.kill(two.process, signal.SIGKILL)
        one.wait("○ last here")
        one.press("C-c")
        assert one.ended() == 0
    for name, other in [("ann", bea), ("bea", ann)]:
        lines = people.does(name, "read", other).splitlines()
        said = [line.split(": ", 1)[1] for line in lines]
        assert said == ["Hallo Bea, 日本 👍", "Hello, Ann", "How are you?", "third", "fourth"]


def test_a_room_with_typing_and_commands(people):
    people.sign_up("ann", "bea")
    ann, bea = people.named("ann"), people.named("bea")
    with Pane(people, "ann") as one, Pane(people, "bea") as two:
        one.wait("No chats yet")
        two.wait("No chats yet")
        one.press("r")
        one.wait("What is the room called?")
        one.say("Lunch")
        one.wait(f"{ann} made this room")
        one.say(f"/invite {bea}")
        one.wait(f"{ann} invited {bea}")
        two.wait("#Lunch")
        two.press("Enter")
        two.wait(f"{ann} made this room")

        # Typing is seen, and no more when it pauses or is sent.
        one.types_until("soup?", two, f"{ann} is typing …")
        two.wait_without("is typing")
        one.types_until(" or salad?", two, f"{ann} is typing …")
        one.press("Enter")
        two.wait(lambda screen: re.search(r"  soup\?!* or salad\?!*", screen))
        two.wait_without("is typing")

        # ... and when the program of who types is gone.
        two.types_until("so", one, f"{bea} is typing …")
        os.kill(two.process, signal.SIGKILL)
        one.wait_without("is typing")

        one.say("/members")
        one.wait(f"{ann} (owner), {bea}")
        one.say("/rename Dinner")
        one.wait(f"{ann} called this room Dinner")
        one.wait("▌#Dinner")
        one.say("/nothing")
        one.wait("there is no /nothing")
        one.press("C-u")
        one.press("F1")
        one.wait("/rename NEW NAME")
        one.press("x")
        one.wait_without("/rename NEW NAME")
        one.say("/leave")
        one.wait(lambda screen: "you left" in screen and "No chats yet" in screen)
        one.press("q")
        assert one.ended() == 0
    assert f"{ann} left" in people.does("bea", "read", "#dinner")
    assert people.fails("ann", "read", "#dinner") == (
        "error: there is no room called #dinner that you are in\n"
    )


def test_typing_in_a_direct_chat(people):
    people.sign_up("ann", "bea")
    ann, bea = people.named("ann"), people.named("bea")
    people.does("ann", "send", bea, "hello")
    with Pane(people, "ann", "open", bea) as one, Pane(people, "bea", "open", ann) as two:
        for pane in (one, two):
            pane.wait("│   hello")
        one.types_until("how", two, f"{ann} is typing …")
        two.wait_without("is typing")
        one.types_until(" are you?", two, f"{ann} is typing …")
        one.press("Enter")
        two.wait(lambda screen: re.search(r"│   how!* are you\?!*", screen))
        two.wait_without("is typing")
        two.types_until("so", one, f"{bea} is typing …")
        os.kill(two.process, signal.SIGKILL)
        one.wait_without("is typing")

        # Whoever is blocked is not seen typing, and hears of that when they say something.
        people.does("bea", "block", ann)
        one.type("why?")
        one.wait("> why?")
        one.press("Enter")
        screen = one.wait("✗ not sent:")
        assert screen.count("the rules do not allow") == 1, screen
        one.press("C-c")
        assert one.ended() == 0
    people.does("bea", "unblock", ann)


def test_what_is_typed_and_sent_at_once_leaves_nobody_typing(people):
    people.sign_up("ann")
    places = []
    for name in ("one", "two"):
        people.does("ann", "rooms", "create", people.named(name))
        key = people.does("ann", "rooms").splitlines()[0].split()[-1]
        places.append(f"/typing/{key}")
    with Pane(people, "ann", "open", people.named("one"), rows=40) as pane:
        for turn in range(5):
            pane.wait(lambda screen: "made this room" in screen and "│ one" in screen)
            # One read of the terminal has both keys.
            pane.press(str(turn), "Enter")
            pane.wait(lambda screen: re.search(rf"│   {turn} *\n", screen))
            # What was said of the one room before has come when what is said of the other has.
            pane.press("Escape", "Down", "Enter")
            pane.wait("│ two")
            pane.type("so")
            wait_for(lambda: people.as_owner("GET", places[1]))
            assert people.as_owner("GET", places[0]) is None
            pane.press("C-u")
            wait_for(lambda: people.as_owner("GET", places[1]) is None)
            pane.press("Escape", "Up", "Enter")
        pane.press("C-c")
        assert pane.ended() == 0


def test_history_comes_on_scroll_up_and_sizes_change(people):
    people.sign_up("ann", "bea")
    bea = people.named("bea")
    lines = "".join(f"message {number:03}\n" for number in range(1, 131))
    people.does("ann", "send", bea, stdin=lines)
    with Pane(people, "bea", "open", people.named("ann"), columns=90, rows=20) as pane:
        # The list beside it may have the newest message before the thread has all of its own.
        screen = pane.wait(lambda screen: re.search(r"│ +message 130", screen))
        assert "message 100" not in screen
        for _ in range(100):
            if "message 001" in screen and "the beginning" in screen:
                break
            pane.press("PageUp")
            # The screen moves, or what is asked for comes.
            before = screen
            screen = pane.wait(lambda screen: screen != before)
        assert "message 001" in screen and "the beginning" in screen, screen

        # What comes meanwhile is below, and moves nothing.
        before = screen.splitlines()[1:18]
        people.does("ann", "send", bea, "the newest")
        screen = pane.wait("the newest")
        right = [line.split("│", 1)[1] for line in screen.splitlines()[1:18]]
        assert right == [line.split("│", 1)[1] for line in before]

        pane.tmux("resize-window", "-t", "chat", "-x", "50", "-y", "12")
        pane.wait(lambda screen: "message" in screen and screen.count("│") == 1)
        pane.tmux("resize-window", "-t", "chat", "-x", "110", "-y", "30")
        pane.wait(lambda screen: screen.count("│") > 20 and "message" in screen)
        for _ in range(40):
            pane.press("PageDown")
        screen = pane.wait(lambda screen: re.search(r"│ +the newest", screen))
        shown = [int(number) for number in re.findall(r"message (\d+)", screen)]
        assert shown == list(range(shown[0], 131))
        pane.press("C-c")
        assert pane.ended() == 0


def test_a_cut_and_what_waits_meanwhile(people, tmp_path):
    data = tmp_path / "data"
    with Hearth(*FLAGS, data=data) as first:
        people.server = first
        people.sign_up("ann", "bea")
        bea = people.named("bea")
        people.does("ann", "send", bea, "before")
        pane = Pane(people, "ann", "open", bea)
        with pane:
            pane.wait("  before")
            first.kill()
            pane.wait("no connection")
            pane.say("meanwhile")
            pane.wait("  meanwhile …")
            with Hearth(*FLAGS, "--port", str(first.port), data=data) as second:
                people.server = second
                pane.wait("● online")
                pane.wait(lambda screen: "  meanwhile\n" in screen)
                pane.say("after")
                pane.wait(lambda screen: "  after\n" in screen)
                pane.press("C-c")
                assert pane.ended() == 0
                read = people.does("bea", "read", people.named("ann")).splitlines()
    assert [line.split(": ", 1)[1] for line in read] == ["before", "meanwhile", "after"]


def test_what_is_typed_last_arrives_or_is_told(people, tmp_path):
    with Hearth(*FLAGS, data=tmp_path / "data") as server:
        people.server = server
        people.sign_up("ann", "bea")
        bea = people.named("bea")
        people.does("ann", "send", bea, "before")
        with Pane(people, "ann", "open", bea) as pane:
            pane.wait("  before")
            pane.type("at the end")
            pane.press("Enter", "C-c")
            assert pane.ended() == 0
        read = people.does("bea", "read", people.named("ann")).splitlines()
        assert [line.split(": ", 1)[1] for line in read] == ["before", "at the end"]
        with Pane(people, "ann", "open", bea) as pane:
            pane.wait("  at the end")
            server.kill()
            pane.wait("no connection")
            pane.say("never")
            pane.wait("  never …")
            pane.press("Escape")
            pane.wait("Enter open")
            pane.press("q")
            assert pane.ended() == 1
            assert f"warning: not confirmed by the server, to {bea}: never" in pane.screen
            assert "error: 1 message is not confirmed by the server" in pane.screen


def test_what_is_refused_is_said_once_and_can_be_sent_again(people):
    people.sign_up("ann", "bea")
    ann, bea = people.named("ann"), people.named("bea")
    people.does("ann", "send", bea, "hello")
    with Pane(people, "ann", "open", bea) as pane:
        pane.wait("  hello")
        people.does("bea", "block", ann)
        pane.say("are you there?")
        # What is refused is taken back, from the list too.
        pane.wait(lambda screen: "✗ not sent:" in screen and screen.count("are you there?") == 1)
        people.does("bea", "unblock", ann)
        pane.press("C-r")
        pane.wait(lambda screen: "✗" not in screen and "are you there?\n" in screen)
        pane.press("C-c")
        assert pane.ended() == 0
    assert people.does("bea", "read", ann).count("are you there?") == 1


def test_what_a_room_refused_is_the_same_event_when_it_is_sent_again(people):
    people.sign_up("ann", "bea")
    ann, room = people.named("ann"), people.named("Lunch")
    people.does("bea", "rooms", "create", room, "--invite", ann)
    key = people.does("bea", "rooms").split()[-1]
    with Pane(people, "ann", "open", room) as pane:
        pane.wait(f"{people.named('bea')} made this room")
        people.does("bea", "rooms", "role", room, ann, "watcher")
        pane.say("soup?")
        pane.wait(lambda screen: "✗ not sent:" in screen and screen.count("soup?") == 1)
        people.does("bea", "send", f"#{room}", "between")
        pane.wait("│   between")
        people.does("bea", "rooms", "role", room, ann, "member")
        pane.press("C-r")
        pane.wait(lambda screen: "✗" not in screen and re.search(r"│   soup\? *\n", screen))
        pane.press("C-c")
        assert pane.ended() == 0
    events = people.as_owner("GET", f"/roomEvents/{key}")
    between, soup = (
        [key for key, event in events.items() if event.get("text") == text]
        for text in ("between", "soup?")
    )
    # Keys are in the order in which they were made: that of the first try, which may have arrived, was kept.
    assert (len(between), len(soup)) == (1, 1) and soup < between
    assert events[soup[0]]["at"] >= events[between[0]]["at"]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT, signal.SIGABRT])
def test_a_signal_leaves_the_terminal_as_it_was(people, number):
    people.sign_up("ann")
    with Pane(people, "ann") as pane:
        pane.wait("No chats yet")
        os.kill(pane.process, number)
        assert pane.ended() == 128 + number


def test_stopping_and_going_on(people):
    people.sign_up("ann")
    with Pane(people, "ann", shell="env PS1='shell> ' bash --norc --noprofile -i") as pane:
        pane.wait("shell>")
        pane.say(f"{CHAT} --profile ann --deadline {PATIENCE}")
        pane.wait("No chats yet")
        pane.press("C-z")
        pane.wait(lambda screen: "Stopped" in screen and "No chats yet" not in screen)
        pane.say("fg")
        pane.wait("No chats yet")
        pane.press("q")
        pane.wait(lambda screen: "No chats yet" not in screen)
        pane.say("echo $((40 + 2))")
        pane.wait("42")


def test_pasted_lines_are_one_message(people):
    people.sign_up("ann", "bea")
    bea = people.named("bea")
    people.does("ann", "send", bea, "hello")
    with Pane(people, "ann", "open", bea) as pane:
        pane.wait("  hello")
        pane.tmux("set-buffer", "first\nsecond")
        pane.tmux("paste-buffer", "-p", "-t", "chat")
        pane.wait("> first⏎second")
        pane.press("Enter")
        # Not "second …", which is on its way still.
        pane.wait(lambda screen: re.search(r"  first *\n.*│   second *\n", screen))
        pane.press("C-c")
        assert pane.ended() == 0
    assert people.does("bea", "read", people.named("ann")).endswith(": first second\n")


def test_a_password_is_typed_unseen(people):
    people.sign_up("ann")
    address = f"{people.named('ann')}@example.com"
    with Pane(people, "other", "sign-in", address) as pane:
        pane.wait("Password:")
        pane.say(PASSWORD)
        screen = pane.wait(f"signed in as {address}")
        assert PASSWORD not in screen
        assert pane.ended() == 0
    with Pane(people, "other", "sign-in", address) as pane:
        pane.wait("Password:")
        pane.press("C-c")
        assert pane.ended() == 130
    with Pane(people, "other", "sign-in", address) as pane:
        pane.wait("Password:")
        os.kill(pane.process, signal.SIGTERM)
        assert pane.ended() == 128 + signal.SIGTERM


def test_plain_lines_through_pipes(people):
    people.sign_up("ann", "bea")
    ann, bea = people.named("ann"), people.named("bea")
    assert people.run("ann", "chats").stdout == ""
    people.does("ann", "send", bea, stdin="one\n\n  \ntwo \x1b[31m red\n")
    lines = people.does("bea", "read", ann, "--iso").splitlines()
    assert [re.sub(r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ\t", "", line) for line in lines] == [
        f"{ann}: one", rf"{ann}: two \u001b[31m red",
    ]
    # Without a terminal, or on one that cannot draw, the chat is a list.
    assert people.does("bea").split()[0] == ann
    assert "\x1b" not in people.does("bea")
    people.does("ann", "send", bea, "three", "words")
    name, time, unread, text = people.does("bea", "chats").split("\t")
    assert (name, unread, text) == (ann, "1", f"{ann}: three words\n")
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", time)

    follower = subprocess.Popen(
        [CHAT, "read", ann, "--follow", "--profile", "bea", "--deadline", str(PATIENCE)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        text=True,
        env=people.environment(),
    )
    # Ends a read that nothing comes to.
    alarm = threading.Timer(PATIENCE, follower.kill)
    alarm.start()
    try:
        seen = [follower.stdout.readline() for _ in range(3)]
        assert seen[2].endswith(f"{ann}: three words\n")
        people.does("ann", "send", bea, "four")
        assert follower.stdout.readline().endswith(f"{ann}: four\n")
        follower.send_signal(signal.SIGINT)
        assert follower.wait(timeout=PATIENCE) == -signal.SIGINT
    finally:
        alarm.cancel()
        follower.kill()
        follower.wait()
        follower.stdout.close()
    people.does("bea", "read", ann)
    assert people.does("bea", "chats").split("\t")[2] == ""


def test_a_terminal_that_cannot_draw_gets_lines(people):
    people.sign_up("ann", "bea")
    bea = people.named("bea")
    people.does("ann", "send", bea, "hello")
    with Pane(people, "ann", before=["env", "TERM=dumb"]) as pane:
        pane.wait("You: hello")
        assert pane.ended() == 0


def test_no_color_means_none(people):
    people.sign_up("ann", "bea")
    bea = people.named("bea")
    people.does("ann", "send", bea, "hello")
    for variables, has_color in [([], True), (["NO_COLOR=1"], False)]:
        with Pane(people, "ann", "open", bea, before=["env", *variables]) as pane:
            pane.wait("  hello")
            color = re.compile(r"\x1b\[[0-9;]*3[1-6]m")
            pane.wait(lambda _: bool(color.search(pane.colored_screen)) == has_color)
            pane.press("C-c")
            assert pane.ended() == 0


def test_rooms_by_commands(people):
    people.sign_up("ann", "bea", "cid")
    ann, bea, cid = people.named("ann"), people.named("bea"), people.named("cid")
    lunch = people.named("Lunch")
    people.does("ann", "rooms", "create", lunch, "--public", "--invite", bea)
    people.does("cid", "rooms", "join", lunch)
    assert people.does("bea", "rooms", "members", lunch).split() == [
        ann, "owner", bea, "member", cid, "member",
    ]
    people.does("cid", "send", f"#{lunch}", "soup")
    # Whoever is there already is there.
    assert people.does("ann", "rooms", "invite", lunch, cid) == f"{cid} is in #{lunch}\n"
    assert "the rules do not allow" in people.fails("bea", "rooms", "rename", lunch, "x")
    people.does("ann", "rooms", "role", lunch, bea, "admin")
    people.does("bea", "rooms", "remove", lunch, cid)
    people.does("cid", "rooms", "join", lunch)
    people.does("bea", "rooms", "ban", lunch, cid)
    assert people.run("cid", "rooms", "join", lunch).returncode == 1
    people.does("ann", "rooms", "unban", lunch, cid)
    people.does("ann", "rooms", "invite", lunch, f"{cid}@example.com")
    people.does("cid", "rooms", "leave", lunch)
    notes = [line.split("\t", 1)[1] for line in people.does("ann", "read", lunch).splitlines()]
    assert notes == [
        f"* {ann} made the room", f"* {cid} came in", f"{cid}: soup", f"* {bea} put {cid} out",
        f"* {cid} came in", f"* {bea} put {cid} out", f"* {ann} invited {cid}", f"* {cid} left",
    ]


def test_a_list_of_rooms_that_is_behind_is_right_after_the_next_start(people):
    people.sign_up("ann", "bea")
    lunch = people.named("Lunch")
    people.does("ann", "rooms", "create", lunch, "--invite", people.named("bea"))
    people.does("ann", "send", f"#{lunch}", "one")
    key = people.does("bea", "rooms").split()[-1]
    members = people.as_owner("GET", f"/rooms/{key}/members")
    uid = next(uid for uid, role in members.items() if role == "member")
    place = f"/userRooms/{uid}/{key}"
    behind = people.as_owner("GET", place)
    people.does("ann", "send", f"#{lunch}", "two")
    people.does("ann", "send", f"#{lunch}", "three")
    right = people.as_owner("GET", place)
    assert (behind["lastEventText"], right["lastEventText"]) == ("one", "three")
    assert right["unread"] == behind["unread"] + 2

    # As if these two had been sent by somebody who looked at the members before Bea came.
    assert people.as_owner("PUT", place, behind) == behind
    assert re.search(rf"  {right['unread']}  three\n", people.does("bea", "chats"))
    assert people.as_owner("GET", place) == right
    people.does("bea", "chats")
    assert people.as_owner("GET", place) == right, "twice is harmless"
    assert people.as_owner("PUT", place, behind) == behind
    with Pane(people, "bea") as pane:
        pane.wait(lambda screen: re.search(rf" three +{right['unread']}\b", screen))
        pane.press("q")
        assert pane.ended() == 0
    assert people.as_owner("GET", place) == right

    # A room that makes no sense is told of, and keeps no other from being mended.
    bad = f"bad-{people.mark}"
    people.as_owner("PUT", f"/rooms/{bad}", {"members": {uid: "member"}})
    entry = {"name": "Bad", "lastEventText": "", "lastEventAt": 1, "unread": 0}
    people.as_owner("PUT", f"/userRooms/{uid}/{bad}", entry)
    assert people.as_owner("PUT", place, behind) == behind
    done = people.run("bea", "chats")
    assert done.returncode == 0
    assert re.search(rf"  {right['unread']}  three\n", done.stdout)
    assert done.stderr.startswith(f"warning: left as it is: rooms/{bad}")
    assert done.stderr.count("\n") == 1, done.stderr


def test_people_by_commands(people):
    people.sign_up("ann", "bea")
    ann, bea = people.named("ann"), people.named("bea")
    assert people.does("ann", "following").split() == [bea]
    assert people.does("ann", "following", "--followers").split() == [bea]
    assert people.does("ann", "find", bea).split() == [bea]
    assert people.does("ann", "find", f"{bea}@example.com").split() == [bea]
    for part in ["@ex", "@example.co"]:
        assert "found by" in people.fails("ann", "find", bea + part)
    assert "no person" in people.fails("ann", "follow", f"{bea}@example.co")
    people.does("ann", "unfollow", bea)
    assert people.does("ann", "following") == ""
    assert "follow" in people.fails("ann", "send", bea, "hello")
    assert people.fails("ann", "follow", "nobody-at-all") == (
        "error: there is no person called nobody-at-all\n"
    )
    # A name that cannot be is refused before there is an account, and whoever is signed in stays so.
    people.fails("ann", "sign-up", f"new-{people.mark}@example.com", "a name", stdin=PASSWORD)
    assert people.does("ann", "following") == ""
    assert "taken" in people.fails(
        "new", "sign-up", f"new-{people.mark}@example.com", bea.upper(), HEARTH_PASSWORD=PASSWORD
    )
    # The same command with another name goes on from there.
    again = ["sign-up", f"new-{people.mark}@example.com", people.named("new")]
    people.does("new", *again, HEARTH_PASSWORD=PASSWORD)
    assert "already" in people.fails("other", *again, HEARTH_PASSWORD="another one")


def test_what_goes_wrong_is_said_once(people, tmp_path):
    people.sign_up("ann")
    address = f"{people.named('ann')}@example.com"
    secret = tmp_path / "secret"
    secret.write_text("wrong password\n")
    for options in [{"stdin": "wrong password\n"}, {"HEARTH_PASSWORD": "wrong password"}]:
        people.fails("bob", "sign-in", address, **options)
    people.fails("bob", "sign-in", address, "--password-file", str(secret))
    assert "nobody is signed in" in people.fails("bob", "chats")
    secret.write_text(f"{PASSWORD}\n")
    people.does("bob", "sign-in", address, "--password-file", str(secret))
    assert people.does("bob", "sign-out") == f"signed out {address}\n"
    assert people.does("bob", "sign-out") == "nobody is signed in\n"
    wrong = people.run("ann", "read")
    assert (wrong.returncode, wrong.stdout) == (2, "")
    for arguments in [[], ["read"], ["send"], ["rooms", "create"], ["sign-up"], ["open"]]:
        page = people.does("ann", *arguments, "--help")
        assert "USAGE: hearth-chat" in page
    assert "Examples:" in people.does("ann", "read", "--help")


def test_what_a_profile_keeps_is_for_its_owner_and_may_be_damaged(people):
    people.sign_up("ann", "bea")
    bea = people.named("bea")
    people.does("ann", "send", bea, "hello")
    people.does("bea", "send", people.named("ann"), "hello, Ann")
    people.does("ann", "read", bea)
    folder = people.folder / "hearth" / "hearth-chat" / "ann"
    user, marks = folder / "signed-in-user.json", folder / "read-chats.json"
    assert sorted(folder.iterdir()) == [marks, user]
    assert [path.stat().st_mode & 0o777 for path in (folder, user)] == [0o700, 0o600]
    assert PASSWORD not in user.read_text()
    assert not re.search(r"  1  .*: hello, Ann\n", people.does("ann", "chats"))
    # A mark that is lost makes a chat unread.
    for text in ("", "{", "[]", '{"x": 1}'):
        marks.write_text(text)
        assert re.search(r"  1  .*: hello, Ann\n", people.does("ann", "chats"))
    people.does("ann", "read", bea)
    assert not re.search(r"  1  .*: hello, Ann\n", people.does("ann", "chats"))
    # Whoever's sign-in cannot be read is signed in no more, and may be again.
    whole = user.read_text()
    for text in ("", "{", "[]", '{"version": 1}', whole[: len(whole) // 2]):
        user.write_text(text)
        assert "nobody is signed in to" in people.fails("ann", "chats")
    people.does(
        "ann", "sign-in", f"{people.named('ann')}@example.com", HEARTH_PASSWORD=PASSWORD
    )
    assert "hello, Ann" in people.does("ann", "chats")


def test_a_server_that_is_not_there(people, tmp_path):
    with Hearth(*FLAGS) as gone:
        people.server = gone
        people.sign_up("ann")
    command = [CHAT, "chats", "--profile", "ann", "--deadline", "0.5"]
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=PATIENCE, env=people.environment()
    )
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == (
        f"error: cannot reach {gone.address}: is the server running? "
        "`hearth serve --dev --samples`\n"
    )
    assert "cannot reach" in people.fails("bob", "sign-in", "a@example.com", stdin="secret1\n")


@pytest.mark.skipif(not shutil.which("faketime"), reason="faketime is not installed")
def test_clocks_that_are_wrong_by_a_day_change_no_order(people):
    day = time.gmtime().tm_yday
    people.sign_up("ann", "bea", "cid")
    late, early = [["faketime", "-f", days] for days in ("+1d", "-1d")]
    steady = {"FAKETIME_DONT_FAKE_MONOTONIC": "1"}
    room = people.named("Clocks")
    people.does(
        "ann", "rooms", "create", room, "--invite", people.named("bea"), "--invite",
        people.named("cid"),
    )
    people.does("bea", "send", people.named("ann"), "one", before=late, **steady)
    people.does("ann", "send", people.named("bea"), "two")
    for turn in range(3):
        people.does("bea", "send", room, f"late {turn}", before=late, **steady)
        people.does("ann", "send", room, f"right {turn}")
        people.does("cid", "send", room, f"early {turn}", before=early, **steady)
    expected = [f"{who} {turn}" for turn in range(3) for who in ("late", "right", "early")]
    for name, clock in [("ann", []), ("bea", late), ("cid", early)]:
        variables = steady if clock else {}
        lines = people.does(name, "read", room, before=clock, **variables).splitlines()
        assert [line.split(": ", 1)[1] for line in lines if ": " in line] == expected
        faked = ["env", "FAKETIME_DONT_FAKE_MONOTONIC=1", *clock]
        with Pane(people, name, "open", room, rows=40, before=faked) as pane:
            said = re.compile(r"│   ((?:late|right|early) \d)")
            screen = pane.wait(lambda screen: len(said.findall(screen)) == len(expected))
            assert said.findall(screen) == expected
            # Unless midnight has come meanwhile.
            assert "── Today ──" in screen or time.gmtime().tm_yday != day
            pane.press("C-c")
            assert pane.ended() == 0
    # The room stands above the chat, which is older.
    lines = people.does("bea", "chats", before=late, **steady).splitlines()
    assert [line.split()[0] for line in lines] == [f"#{room}", people.named("ann")]
    read = people.does("bea", "read", people.named("ann"), before=late, **steady).splitlines()
    assert [line.split(": ", 1)[1] for line in read] == ["one", "two"]
