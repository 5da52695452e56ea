"""The chat by commands: the same program with pipes, as scripts use it."""

import re
import signal
import subprocess
import threading
import urllib.error
import urllib.request

import pytest
from chat_people import CHAT, FLAGS, PASSWORD, PATIENCE, PNG, Pane, People
from hearth_server import Hearth


@pytest.fixture(scope="module")
def server():
    with Hearth(*FLAGS) as server:
        yield server


@pytest.fixture
def people(server, tmp_path):
    return People(server, tmp_path)


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
        # A job in the background is born deaf to it.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
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


def test_messages_by_commands(people):
    people.sign_up("ann", "bea")
    ann, bea, tea = people.named("ann"), people.named("bea"), people.named("Tea")
    people.does("ann", "rooms", "create", tea, "--invite", bea)

    def said(name, thread):
        lines = people.does(name, "read", thread, "--keys").splitlines()
        return [line.split("\t")[1:] for line in lines if ": " in line]

    for name, thread in (("ann", bea), ("ann", f"#{tea}")):
        other = ann if thread == bea else f"#{tea}"
        people.does(name, "send", thread, "hello")
        people.does(name, "edit", thread, "hello,", "dear")
        people.does("bea", "reply", other, "who is there?")
        people.does("bea", "flag", other)
        people.does("bea", "unflag", other)
        *_, (first, words), (answer, question) = said("bea", other)
        assert words == f"{ann}: hello, dear (edited)" and question == f"{bea}: who is there?"
        stored = people.as_owner("GET", "/messages" if thread == bea else "/roomEvents")
        assert [chat[answer]["replyTo"] for chat in stored.values() if answer in chat] == [first]
        # By its key any message is meant, and by none the latest of one's own.
        people.does(name, "edit", thread, "--message", first, "hi")
        assert said(name, thread)[-2] == [first, f"{ann}: hi (edited)"]
        people.does("bea", "unsend", other)
        assert said(name, thread)[-1] == [answer, f"{bea}: (message deleted)"]
        assert "do not allow" in people.fails("bea", "unsend", other, "--message", first)
        assert "message of yours" in people.fails("bea", "edit", other, "again")


def test_pictures_by_commands(people, tmp_path):
    people.sign_up("ann", "bea")
    ann, room = people.named("ann"), people.named("Boats")
    (tmp_path / "lake.png").write_bytes(PNG)
    (tmp_path / "menu.txt").write_text("soup")
    people.does("ann", "rooms", "create", room, "--invite", people.named("bea"))
    for own, seen in (
        (["picture"], ["picture", "--of", ann]),
        (["rooms", "picture", room], ["rooms", "picture", room]),
    ):
        assert "there is no picture of" in people.fails("bea", *seen)
        addresses = []
        for _ in range(2):
            assert people.does("ann", *own, str(tmp_path / "lake.png")) == "the picture is changed\n"
            addresses.append(people.does("bea", *seen).strip())
            # 300 points wide.
            assert urllib.request.urlopen(addresses[-1]).read()[16:20] == (300).to_bytes(4, "big")
        assert "the rules do not allow" in people.fails("ann", *own, str(tmp_path / "menu.txt"))
        assert people.does("bea", *seen).strip() == addresses[1]
        people.does("ann", *own, "--remove")
        assert "there is no picture of" in people.fails("bea", *seen)
        for address in addresses:
            with pytest.raises(urllib.error.HTTPError, match="403"):
                urllib.request.urlopen(address)
    assert "do not allow" in people.fails("bea", "rooms", "picture", room, str(tmp_path / "lake.png"))
    other = people.run("bea", "picture", "x.png", "--of", ann)
    assert other.returncode == 2 and "you change your own alone" in other.stderr


def test_files_by_commands(people, tmp_path):
    people.sign_up("ann", "bea")
    ann, bea, tea = people.named("ann"), people.named("bea"), people.named("Tea")
    (tmp_path / "lake.png").write_bytes(PNG)
    (tmp_path / "menu.txt").write_text("soup")
    files = [f"--file={tmp_path / name}" for name in ("lake.png", "menu.txt")]
    assert "say something first" in people.fails("ann", "send", bea, *files)
    people.does("ann", "send", bea, "hello")
    people.does("ann", "rooms", "create", tea, "--invite", bea)
    for thread, other in ((bea, ann), (f"#{tea}", f"#{tea}")):
        people.does("ann", "send", thread, *files, "at", "the lake")
        said = people.does("bea", "read", other).splitlines()[-1].split("\t")[1]
        shown = re.fullmatch(
            rf"{ann}: at the lake \[lake.png, 98 bytes: (http\S+)\] \[menu.txt, 4 bytes: (http\S+)\]", said
        )
        assert shown, said
        for address, content in zip(shown.groups(), (PNG, b"soup")):
            with urllib.request.urlopen(address) as answer:
                assert answer.read() == content
        people.does("ann", "unsend", thread)
        for address in shown.groups():
            with pytest.raises(urllib.error.HTTPError, match="403"):
                urllib.request.urlopen(address)
        people.does("ann", "send", thread, files[1])
        said = people.does("bea", "read", other).splitlines()[-1].split("\t")[1]
        assert said.startswith(f"{ann}: menu.txt [menu.txt, 4 bytes: ")
    assert "cannot be read" in people.fails("ann", "send", bea, f"--file={tmp_path / 'none'}")
    assert people.as_owner("GET", "/uploads") is None


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
    # A member who is added again stays a member.
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

    # As if a client had sent these two that read the members before Bea came.
    assert people.as_owner("PUT", place, behind) == behind
    assert re.search(rf"\t{right['unread']}\tthree\n", people.does("bea", "chats"))
    assert people.as_owner("GET", place) == right
    people.does("bea", "chats")
    assert people.as_owner("GET", place) == right, "twice is harmless"
    assert people.as_owner("PUT", place, behind) == behind
    with Pane(people, "bea") as pane:
        pane.wait(lambda screen: re.search(rf" three +{right['unread']}\b", screen))
        pane.press("q")
        assert pane.ended() == 0
    assert people.as_owner("GET", place) == right

    # A room that makes no sense is reported, and the others are mended.
    bad = f"bad-{people.mark}"
    people.as_owner("PUT", f"/rooms/{bad}", {"members": {uid: "member"}})
    entry = {"name": "Bad", "lastEventText": "", "lastEventAt": 1, "unread": 0}
    people.as_owner("PUT", f"/userRooms/{uid}/{bad}", entry)
    assert people.as_owner("PUT", place, behind) == behind
    done = people.run("bea", "chats")
    assert done.returncode == 0
    assert re.search(rf"\t{right['unread']}\tthree\n", done.stdout)
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
    assert f"`hearth-chat follow {bea}` first" in people.fails("ann", "send", bea, "hello")
    assert people.fails("ann", "follow", "no-such-person") == (
        "error: there is no person called no-such-person\n"
    )
    # An impossible name is refused before there is an account, and the user stays signed in.
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
    assert "no one is signed in" in people.fails("bob", "chats")
    secret.write_text(f"{PASSWORD}\n")
    people.does("bob", "sign-in", address, "--password-file", str(secret))
    assert people.does("bob", "sign-out") == f"signed out {address}\n"
    assert people.does("bob", "sign-out") == "no one is signed in\n"
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
    folder = people.folder / "hearth" / "hearth-chat" / "ann"
    user = folder / "signed-in-user.json"
    assert sorted(folder.iterdir()) == [user]
    assert [path.stat().st_mode & 0o777 for path in (folder, user)] == [0o700, 0o600]
    assert PASSWORD not in user.read_text()
    # What was read on one machine was read on another.
    address = f"{people.named('ann')}@example.com"
    people.does("elsewhere", "sign-in", address, HEARTH_PASSWORD=PASSWORD)
    for profile in ("ann", "elsewhere"):
        assert re.search(r"\t1\t.*: hello, Ann\n", people.does(profile, "chats"))
    people.does("ann", "read", bea)
    for profile in ("ann", "elsewhere"):
        assert re.search(r"\t\t.*: hello, Ann\n", people.does(profile, "chats"))
    # A user whose sign-in cannot be read is signed out, and can sign in again.
    whole = user.read_text()
    for text in ("", "{", "[]", '{"version": 1}', whole[: len(whole) // 2]):
        user.write_text(text)
        assert "no one is signed in to" in people.fails("ann", "chats")
    people.does("ann", "sign-in", address, HEARTH_PASSWORD=PASSWORD)
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
