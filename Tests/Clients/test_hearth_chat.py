"""The chat on terminals: people at tmux panes who chat with each other."""

import os
import re
import shutil
import signal
import time

import pytest
from chat_people import CHAT, FLAGS, PASSWORD, PATIENCE, PNG, Pane, People, wait_for
from hearth_server import Hearth


@pytest.fixture(scope="module")
def server():
    with Hearth(*FLAGS) as server:
        yield server


@pytest.fixture
def people(server, tmp_path):
    return People(server, tmp_path)


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

        # A user who has a chat open has read it.
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


def test_a_user_who_follows_none_learns_how_and_then_writes(people):
    people.sign_up("ann")
    people.sign_up("bea")
    bea = people.named("bea")
    with Pane(people, "ann", columns=140) as pane:
        pane.wait("No chats yet")
        pane.press("n")
        pane.wait("Chat with whom?")
        pane.say(bea)
        pane.wait(f"│ {bea}")
        pane.say("hello")
        pane.wait(f"you do not follow {bea} yet: type /follow, then ^R")
        pane.say("/follow")
        pane.wait(f"you follow {bea}")
        pane.press("C-r")
        pane.wait(lambda screen: "  hello\n" in screen and "not sent" not in screen)
        pane.press("C-c")
        assert pane.ended() == 0
    assert people.does("bea", "read", people.named("ann")).endswith(": hello\n")


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


def test_what_was_said_is_answered_changed_deleted_and_seen(people):
    people.sign_up("ann", "bea")
    ann, bea = people.named("ann"), people.named("bea")
    people.does("ann", "send", bea, "first")
    with Pane(people, "ann", "open", bea) as one:
        one.wait("│   first")
        assert "seen" not in one.screen
        with Pane(people, "bea", "open", ann) as two:
            two.wait("│   first")
            one.wait("✓ seen")
            two.press("C-p")
            two.wait("Enter answers it")
            two.say("an answer")
            one.wait(lambda screen: f"↳ {ann}: first" in screen and "│   an answer" in screen)
            two.say("/edit another answer")
            one.wait("│   another answer (edited)")
            two.say("/edit")
            two.wait("> /edit another answer")
            two.press("C-u", "Escape")
            two.wait("Enter send")
            one.say("/unsend")
            two.wait(lambda screen: f"↳ {ann}: message deleted" in screen)
            two.wait("│   message deleted")
            two.say("/flag")
            two.wait("no message is chosen")
            one.say("/flag")
            one.wait("flagged")
            two.press("C-c")
            assert two.ended() == 0
        one.press("C-c")
        assert one.ended() == 0
    read = people.does("bea", "read", ann).splitlines()
    assert [line.split(": ", 1)[1] for line in read] == ["(message deleted)", "another answer (edited)"]


def test_a_file_is_sent_and_shown_as_a_link(people, tmp_path):
    people.sign_up("ann", "bea")
    people.does("ann", "send", people.named("bea"), "hello")
    (tmp_path / "lake.png").write_bytes(PNG)
    with Pane(people, "ann", "open", people.named("bea")) as one:
        with Pane(people, "bea", "open", people.named("ann")) as two:
            one.wait("hello")
            two.wait("hello")
            one.say("/file /nothing/there.png")
            one.wait("cannot be read")
            one.say(f"/file {tmp_path / 'lake.png'}")
            for pane in (one, two):
                pane.wait("⬇ lake.png  98 bytes")
            one.wait("lake.png is sent")


def test_the_terminal_rings_for_what_is_new_unless_it_is_off(people):
    people.sign_up("ann", "bea")
    ann, bea = people.named("ann"), people.named("bea")
    people.does("bea", "send", ann, "before")
    # One of the two has the disk cache, and the other goes on without.
    with Pane(people, "ann") as pane, Pane(people, "ann", "open", "--no-bell") as quiet:
        heard = {}
        for each in (pane, quiet):
            each.wait("before")
            heard[each] = each.folder / "raw"
            each.tmux("pipe-pane", "-t", "chat", "-o", f"cat >> {heard[each]}")
        people.does("bea", "send", ann, "one")
        for each in (pane, quiet):
            each.wait("one")
        wait_for(lambda: heard[pane].exists() and heard[pane].read_bytes().count(b"\x07") == 1)
        # A muted chat is not heard, and what is behind it has come too.
        people.does("ann", "mute", bea)
        people.does("bea", "send", ann, "two")
        for each in (pane, quiet):
            each.wait("two")
            each.press("C-c")
            assert each.ended() == 0
        assert heard[pane].read_bytes().count(b"\x07") == 1
        assert b"\x07" not in heard[quiet].read_bytes()


def test_whom_one_follows_is_there_to_be_chosen(people):
    people.sign_up("ann", "bea", "cid")
    with Pane(people, "ann") as pane:
        pane.wait("No chats yet")
        pane.press("n")
        pane.wait(lambda screen: people.named("bea") in screen and people.named("cid") in screen)
        pane.type("ci")
        pane.wait(lambda screen: people.named("bea") not in screen)
        pane.press("Down", "Enter")
        pane.wait(f"│ {people.named('cid')}")
        pane.press("C-c")
        assert pane.ended() == 0


def test_it_opens_without_a_connection(people, tmp_path):
    with Hearth(*FLAGS, data=tmp_path / "data") as server:
        people.server = server
        people.sign_up("ann", "bea")
        bea, room = people.named("bea"), people.named("Lunch")
        people.does("bea", "send", people.named("ann"), "kept on disk")
        people.does("bea", "rooms", "create", room, "--invite", people.named("ann"))
        people.does("bea", "send", f"#{room}", "soup?")
        with Pane(people, "ann", "open", bea) as pane:
            pane.wait("│   kept on disk")
            pane.press("Escape", "Up", "Enter")
            pane.wait("│   soup?")
            pane.press("C-c")
            assert pane.ended() == 0
        port = server.port
    with Pane(people, "ann", "open", bea) as pane:
        pane.wait(lambda screen: "no connection" in screen and "│   kept on disk" in screen)
        pane.say("meanwhile")
        pane.wait("meanwhile …")
        pane.press("Escape", "Up", "Enter")
        pane.wait(lambda screen: "│   soup?" in screen and f"#{room}" in screen)
        with Hearth(*FLAGS, "--port", str(port), data=tmp_path / "data") as server:
            people.server = server
            pane.wait("● online")
            wait_for(lambda: "meanwhile" in people.does("bea", "read", people.named("ann")))
            pane.press("C-c")
            assert pane.ended() == 0


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

        # A blocked user is not seen typing, and learns it when they say something.
        people.does("bea", "block", ann)
        one.type("why?")
        one.wait("> why?")
        one.press("Enter")
        screen = one.wait("✗ not sent:")
        assert screen.count("the rules do not allow") == 1, screen
        one.press("C-c")
        assert one.ended() == 0
    people.does("bea", "unblock", ann)


def test_what_is_typed_and_sent_at_once_leaves_no_user_typing(people):
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


def test_what_is_typed_last_arrives_or_is_reported(people, tmp_path):
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
