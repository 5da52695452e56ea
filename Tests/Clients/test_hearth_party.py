"""The program for parties: an evening of four people on one machine, each with a profile, over pipes."""

import base64
import struct
import subprocess
import threading
import urllib.error
import urllib.request
import zlib

import pytest

from command_line import environment
from hearth_server import PROGRAMS, ROOT, Hearth

PROGRAM = str(PROGRAMS / "hearth-party")
RULES = (
    "--rules", str(ROOT / "rules" / "party.json"), "--files-rules", str(ROOT / "rules" / "party.storage"),
)
# Crowded machines are slow; nothing here is to be quick.
PATIENCE = 300


class Machine:
    """One folder of sign-ins, and commands as any of its people."""

    def __init__(self, server, folder):
        self.variables = environment(
            server,
            HOME=str(folder),
            XDG_DATA_HOME=str(folder),
            XDG_CONFIG_HOME=str(folder),
            XDG_STATE_HOME=str(folder),
            XDG_CACHE_HOME=str(folder),
            HEARTH_PASSWORD="correct horse",
            TZ="UTC",
        )
        self.folder = folder
        self.server = server

    def run(self, who, *arguments):
        return subprocess.run(
            [PROGRAM, *arguments, "--profile", who, "--deadline", str(PATIENCE)],
            capture_output=True,
            text=True,
            timeout=2 * PATIENCE,
            cwd=self.folder,
            env=self.variables,
            stdin=subprocess.DEVNULL,
        )

    def does(self, who, *arguments):
        """What a command says that must succeed."""
        ended = self.run(who, *arguments)
        assert ended.returncode == 0, ended
        return ended.stdout

    def fails(self, who, *arguments, code=1):
        """What a command complains of, once, that must fail."""
        ended = self.run(who, *arguments)
        assert ended.returncode == code, ended
        assert ended.stdout == "" and ended.stderr.lower().count("error: ") == 1, ended
        return ended.stderr

    def follow(self, who):
        """A program that goes on until it is stopped."""
        return subprocess.Popen(
            [PROGRAM, "run", "--profile", who, "--deadline", str(PATIENCE)],
            stdout=subprocess.PIPE,
            text=True,
            cwd=self.folder,
            env=self.variables,
            stdin=subprocess.DEVNULL,
        )


@pytest.fixture(scope="module")
def machine(tmp_path_factory):
    with Hearth(*RULES, "--password-memory", "8MiB", "--password-passes", "1") as server:
        machine = Machine(server, tmp_path_factory.mktemp("home"))
        for who in ("ann", "bob", "cyd", "eve"):
            said = machine.does(who, "sign-up", f"{who}@example.com", "--name", who.title())
            assert said == f"signed up as {who.title()} <{who}@example.com>\n"
        for friend in ("bob", "cyd"):
            machine.does("ann", "befriend", f"{friend}@example.com")
            assert machine.does(friend, "accept") == "accepted: Ann asks for your friendship\n"
        machine.does("bob", "befriend", "eve@example.com")
        machine.does("eve", "accept")
        yield machine


def write_png(path, width, height):
    rows = b"".join(b"\0" + bytes((x + y) % 251 for x in range(width)) for y in range(height))

    def chunk(kind, content):
        return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))

    header = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    path.write_bytes(
        b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")
    )


def test_an_evening_from_the_invitation_to_the_cancellation(machine):
    assert machine.does("ann", "friends") == "Bob\nCyd\n"
    made = machine.does("ann", "create", "--description", "Midsummer", "--date", "2027-06-21T19:00")
    key = made.split()[0]
    assert made == f"{key}\tinvited: Bob, Cyd\n"
    assert "Ann invites you to Midsummer on 2027-06-21T19:00:00Z" in machine.does("bob", "inbox")
    assert machine.does("bob", "parties") == (
        f"{key}\t2027-06-21T19:00:00Z\tMidsummer\tby Ann\t0 come, 2 invited\n"
    )
    machine.does("bob", "accept")
    machine.does("cyd", "refuse", "1")
    shown = machine.run("ann", "show", "midsummer")
    assert shown.stdout == (
        f"Midsummer\nkey\t{key}\ndate\t2027-06-21T19:00:00Z\nhost\tyou\ncoming\tBob\nnot\tCyd\n"
    )
    # Answers that waited are printed beside what was asked for, once.
    assert shown.stderr == "note: Bob comes to Midsummer\nnote: Cyd does not come to Midsummer\n"
    assert machine.run("ann", "show", key).stderr == ""
    assert machine.does("cyd", "parties") == "no parties\n"

    # A guest brings a photo, and suggests a friend.
    write_png(machine.folder / "lake.png", 640, 20)
    photo = machine.does("bob", "photo", "add", "Midsummer", "lake.png").split()[0]
    machine.does("ann", "photo", "accept", photo)
    machine.does("bob", "suggest", "Midsummer", "eve@example.com")
    machine.does("ann", "accept")
    assert len(machine.does("eve", "inbox").splitlines()) == 2
    machine.does("eve", "accept", "1")
    machine.does("eve", "accept")
    assert machine.does("eve", "photo", "list", "Midsummer") == f"{photo}\tby Bob\n"
    assert machine.does("eve", "photo", "save", photo, "copy.png").startswith("copy.png\t300 by 9\t")
    assert (machine.folder / "copy.png").read_bytes().startswith(b"\x89PNG")
    assert "--force" in machine.fails("eve", "photo", "save", photo, "copy.png")
    assert "photo:" in machine.fails("eve", "photo", "delete", photo)

    # A photo whose bytes an earlier version kept in the database.
    def owner(method, path, body=None):
        headers = {"Authorization": "Bearer owner"}
        return machine.server.request(method, f"/{path}.json?ns=party", body, headers).json

    (record,) = owner("GET", "photos").values()
    earlier = {name: record[name] for name in ("owner", "host", "party")}
    earlier["png"] = base64.b64encode((machine.folder / "copy.png").read_bytes()).decode()
    owner("PUT", "photos/earlier", earlier)
    owner("PUT", f"users/{record['owner']}/photos/earlier", True)
    assert machine.does("bob", "photo", "move") == "earlier\tmoved\n"
    assert machine.does("bob", "photo", "move") == "no photos are in the database\n"
    assert set(owner("GET", "photos/earlier")) == {"owner", "host", "party", "file"}
    machine.does("bob", "photo", "save", "earlier", "moved.png")
    assert (machine.folder / "moved.png").read_bytes() == (machine.folder / "copy.png").read_bytes()
    machine.does("bob", "photo", "delete", "earlier")
    machine.does("bob", "photo", "delete", photo)
    assert f"note: Bob deleted the photo {photo}" in machine.run("ann", "show", key).stderr

    machine.does("ann", "change", key, "--description", "Midwinter", "--date", "2027-12-21")
    assert "2027-12-21T00:00:00Z\tMidwinter" in machine.does("eve", "parties")
    assert machine.does("ann", "cancel", "Midw") == "cancelled Midwinter\n"
    left = machine.run("eve", "parties")
    assert left.stdout == "no parties\n" and "Ann cancelled" in left.stderr


def test_answers_are_applied_while_the_owners_program_runs(machine):
    key = machine.does("ann", "create", "--description", "Tea", "--date", "2027-01-01T16:00").split()[0]
    machine.does("dan", "sign-up", "dan@example.com", "--name", "Dan")
    machine.does("dan", "befriend", "ann@example.com")
    running = machine.follow("ann")
    stop = threading.Timer(PATIENCE, running.kill)
    stop.start()
    try:
        # The command that prints this follows the inbox: what waited before is printed as a note.
        assert running.stdout.readline().endswith("\tDan asks for your friendship\n")
        machine.does("bob", "attend", "Tea")
        assert running.stdout.readline() == "Bob comes to Tea\n"
        machine.does("bob", "attend", key, "--no")
        assert running.stdout.readline() == "Bob does not come to Tea\n"
    finally:
        stop.cancel()
        running.terminate()
        running.wait(timeout=PATIENCE)
        running.stdout.close()
    machine.does("ann", "refuse")
    assert "not\tBob" in machine.does("ann", "show", key)
    machine.does("ann", "cancel", key)


def test_errors_say_what_to_do(machine):
    assert "`hearth-party sign-in --profile zed EMAIL`" in machine.fails("zed", "friends")
    assert "no one is signed up as" in machine.fails("ann", "befriend", "nobody@example.com")
    assert "`hearth-party parties`" in machine.fails("ann", "show", "Nowhere")
    assert "`hearth-party inbox`" in machine.fails("ann", "accept", "7")
    assert "2027-06-21T19:00" in machine.fails(
        "ann", "create", "--description", "x", "--date", "soon", code=2
    )
    assert "--description" in machine.fails("ann", "change", "x", code=2)
    assert "it is empty" in machine.fails("ann", "create", "--description", "", "--date", "2027-01-01")
    (machine.folder / "note.txt").write_text("no picture")
    assert "this is no PNG" in machine.fails("ann", "photo", "add", "x", "note.txt")
    assert "friends" in machine.fails("ann", "befriend", "bob@example.com")


def test_every_command_explains_itself_with_an_example():
    whole = subprocess.run([PROGRAM, "--help"], capture_output=True, text=True, timeout=PATIENCE)
    assert whole.returncode == 0 and "hearth-party create --description" in whole.stdout
    for command in (
        "sign-up sign-in sign-out friends befriend unfriend inbox accept refuse run parties create show change"
        " invite suggest attend cancel picture"
    ).split():
        said = subprocess.run([PROGRAM, command, "--help"], capture_output=True, text=True, timeout=PATIENCE)
        assert said.returncode == 0 and "Examples:" in said.stdout, command


def test_a_picture_by_commands(machine):
    write_png(machine.folder / "me.png", 600, 300)
    assert "there is no picture" in machine.fails("cyd", "picture")
    addresses = []
    for _ in range(2):
        assert machine.does("cyd", "picture", "me.png") == "the picture is changed\n"
        addresses.append(machine.does("eve", "picture", "--of", "cyd@example.com").strip())
        # 300 points wide.
        assert urllib.request.urlopen(addresses[-1]).read()[16:20] == (300).to_bytes(4, "big")
    assert machine.does("cyd", "picture", "--remove") == "the picture is gone\n"
    assert "there is no picture" in machine.fails("eve", "picture", "--of", "cyd@example.com")
    for address in addresses:
        with pytest.raises(urllib.error.HTTPError, match="403"):
            urllib.request.urlopen(address)
