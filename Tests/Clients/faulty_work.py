"""Real work of the server and its commands on a disk of which one call fails, and what came of it."""

import json
import os
import re
import shutil
import subprocess
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path

from hearth_server import BINARY, Hearth
from shaky_disk import calls_of

# Nothing here takes a tenth as long.
TIMEOUT = 60
# Of a disk of 16 MiB the log takes 1 MiB for a segment.
ROOMY, TIGHT, PLENTY = "15 16", "1 16", "100000"
TEXTS = {"EIO": "Input/output error", "ENOSPC": "No space left on device", "EMFILE": "Too many open files"}
HALF_A_SEGMENT = "x" * 600_000


@dataclass
class Outcome:
    """What came of one run: one word for it, what server or command said, and what is wrong with that."""

    word: str
    said: str = ""
    faults: list = field(default_factory=list)


class Disk:
    """A folder with all files of one run, and the variables of a process for which it is shaky."""

    def __init__(self, folder, library, template=None, fail=None):
        self.folder = folder
        folder.mkdir()
        self.root = folder / "disk"
        shutil.copytree(template, self.root) if template else self.root.mkdir()
        self.free, self.calls, self.log = folder / "free", folder / "calls", folder / "log"
        self.set_free(ROOMY)
        self.variables = {"LD_PRELOAD": library, "SHAKY_FOLDER": str(self.root), "SHAKY_FREE": str(self.free)}
        self.shaken = {**self.variables, "SHAKY_CALLS": str(self.calls), **({"SHAKY_FAIL": fail} if fail else {})}

    def set_free(self, text):
        draft = self.free.with_suffix(".draft")
        draft.write_text(text)
        draft.rename(self.free)

    def path(self, name):
        return str(self.root / name)

    def met(self):
        """Operation, file and error number of the call that failed; None if none did."""
        found = [(operation, path, met) for operation, path, _, met in calls_of(self.calls, self.root) if met]
        assert len(found) < 2, found
        return found[0] if found else None

    def command(self, *arguments, shaken=False):
        own = {k: v for k, v in os.environ.items() if not k.startswith(("HEARTH_", "FIREBASE_"))}
        return subprocess.run(
            [BINARY, *arguments], capture_output=True, text=True, timeout=TIMEOUT, cwd=self.folder,
            env={**own, **(self.shaken if shaken else self.variables)},
        )


class Life:
    """One life of a server, and what it was asked and answered."""

    def __init__(self, disk, shaken):
        self.disk, self.is_over = disk, False
        settings = disk.root / "hearth.json"
        if not settings.exists():
            settings.write_text('{"database": ["one"]}')
            (disk.root / "rules.json").write_text('{"rules": {".read": true}}')
        flags = ["--config", str(settings), "--rules", disk.path("rules.json")]
        self.server = Hearth.__new__(Hearth)
        self.watch = threading.Timer(TIMEOUT, self.end_hung)
        self.watch.start()
        self.is_hung = False
        variables = disk.shaken if shaken else disk.variables
        # Of the lives before.
        seen = len(disk.log.read_text()) if disk.log.exists() else 0
        try:
            self.server.__init__(*flags, data=disk.root / "data", dev=False, log=disk.log, variables=variables)
        except AssertionError:
            self.watch.cancel()
            raise
        self.server.log_seen = seen
        secret = (disk.root / "data" / "admin-secret").read_text().strip()
        self.admin = {"Authorization": f"Bearer {secret}"}

    def end_hung(self):
        self.is_hung = True
        self.server.process.kill()

    def ask(self, method, path, body=None):
        """The status of the answer; 0 when the server is gone."""
        if self.is_over:
            return 0
        try:
            return self.server.request(method, path, body, headers=self.admin).status
        except OSError:
            self.is_over = True
            return 0

    def wait_for(self, *texts):
        """Waits until the log has one of the texts; returns it, or None when the server ends."""
        while True:
            is_over = self.server.process.poll() is not None
            text = self.server.log_text
            found = [(at, one) for one in texts if (at := text.find(one, self.server.log_seen)) >= 0]
            if found:
                at, one = min(found)
                self.server.log_seen = at + len(one)
                return one
            if is_over:
                self.is_over = True
                return None
            time.sleep(0.01)

    def end(self, kills=False):
        """Ends the server; its exit code."""
        if kills:
            self.server.process.kill()
        elif self.server.process.poll() is None:
            self.server.process.terminate()
        code = self.server.process.wait()
        self.watch.cancel()
        self.server.__exit__()
        return code


class Twin:
    """What the database must hold. A write without an answer may be there."""

    def __init__(self, text="{}"):
        self.values = {key: [value] for key, value in json.loads(text).items()}
        self.faults = []

    def write(self, life, method, key, value=None):
        path = f"/{key}.json?ns=one&print=silent"
        status = life.ask(method, path, value)
        if status in (200, 204):
            self.values[key] = [value]
        elif not status:
            self.values.setdefault(key, [None]).append(value)
        elif status != 503:
            self.faults.append(f"{method} {key}: {status}")
        return status

    def check(self, life):
        found = life.server.get("/.json?ns=one", headers=life.admin).json or {}
        faults = [f"{key} is {str(found.get(key))[:20]}" for key, may in self.values.items() if found.get(key) not in may]
        unknown = set(found) - set(self.values)
        return self.faults + faults + ([f"no client wrote {unknown}"] if unknown else [])

    def text(self):
        return json.dumps({key: may[-1] for key, may in self.values.items() if may[-1] is not None})


# The work of a server: each a function of its life and of the twin of its data.


def write(life, twin):
    twin.write(life, "PUT", "small", 1)
    twin.write(life, "PUT", "small", 2)
    life.ask("POST", "/.accounts/keys.json")
    for key in ("half", "other-half"):
        twin.write(life, "PUT", key, HALF_A_SEGMENT)
    twin.write(life, "DELETE", "half")


def checkpoint(life, twin):
    """A disk that is nearly full, a removal that makes room with a checkpoint, and room again."""
    write(life, twin)
    life.disk.set_free(TIGHT)
    if life.wait_for("the disk is nearly full"):
        twin.write(life, "DELETE", "other-half")
        life.wait_for("checkpoint written", "a checkpoint failed")
    life.disk.set_free(ROOMY)
    if life.wait_for("writes are taken again"):
        twin.write(life, "PUT", "late", [1, 2])


def reload(life, twin):
    """The rules change: the server sees it by itself."""
    (life.disk.root / "rules.json").write_text('{"rules": {".read": true, ".write": false}}')
    life.wait_for("rules read again", "the rules in force stay")
    twin.write(life, "PUT", "small", 3)


def read(life, twin):
    twin.write(life, "PUT", "after", "x")


class ServerWork:
    """A start, some work, and an orderly end, or SIGKILL."""

    program = "serve"
    # About as many calls as a run has.
    size = 200

    def __init__(self, name, template, work, kills=False):
        self.name, self.template, self.work, self.kills = name, template, work, kills

    def run(self, disk):
        text = disk.root / "twin.json"
        twin = Twin(text.read_text() if text.exists() else "{}")
        try:
            life = Life(disk, shaken=True)
        except AssertionError as error:
            outcome = Outcome("does not start", disk.log.read_text())
            if not str(error).endswith(("exit 1", "exit 2")):
                outcome.faults.append(str(error))
        else:
            self.work(life, twin)
            code = life.end(self.kills)
            outcome = Outcome("goes on", disk.log.read_text())
            if code and not (self.kills and code == -9):
                outcome.word = "stops"
            if code not in ((-9,) if self.kills else ()) + (0, 74, 1) or life.is_hung:
                outcome.faults.append(f"exit code {code}")
        outcome.faults += self.check(disk, twin)
        return outcome

    def check(self, disk, twin):
        """A start without a fault has all that was acknowledged; the folder is sound."""
        disk.set_free(ROOMY)
        try:
            life = Life(disk, shaken=False)
        except AssertionError as error:
            return [f"does not start again: {error}: {disk.log.read_text()[-400:]}"]
        faults = twin.check(life)
        twin.write(life, "PUT", "again", 1)
        keys = life.server.get("/.well-known/jwks.json").json["keys"]
        before = disk.root / "kid"
        if before.exists() and before.read_text() not in [key["kid"] for key in keys]:
            faults.append("the key that signed is gone")
        code = life.end()
        if code:
            faults.append(f"ends with {code} afterwards")
        verified = disk.command("log", "verify", disk.path("data"))
        if verified.returncode:
            faults.append(verified.stdout + verified.stderr)
        checked = disk.command(
            "check", "--config", disk.path("hearth.json"), "--rules", disk.path("rules.json"), "--data-dir", disk.path("data")
        )
        if checked.returncode:
            faults.append(checked.stdout + checked.stderr)
        (disk.root / "twin.json").write_text(twin.text())
        return faults


class CommandWork:
    """One command, which must either do all or say why not, and can then be done again."""

    def __init__(self, name, template, *arguments, result=None, needs_server=False):
        self.name = self.program = name
        self.template, self.arguments, self.result, self.needs_server = template, arguments, result, needs_server
        self.size = 20 if needs_server else 60

    def run(self, disk):
        disk.set_free(ROOMY if self.needs_server else PLENTY)
        life = Life(disk, shaken=False) if self.needs_server else None
        own = ["--url", life.server.address, "--admin-secret-file", disk.path("data/admin-secret")] if life else []
        arguments = [argument.replace("DISK", str(disk.root)) for argument in self.arguments] + own
        try:
            done = disk.command(*arguments, shaken=True)
            outcome = Outcome("goes on" if done.returncode == 0 else "refuses", done.stdout + done.stderr)
            if done.returncode not in (0, 1, 2):
                outcome.faults.append(f"exit code {done.returncode}")
            if done.returncode:
                again = disk.command(*arguments)
                # Done, but the folder of the new name could not be synced.
                if again.returncode and "is there already" not in again.stderr:
                    outcome.faults.append(f"cannot be done again: {again.stdout}{again.stderr}")
            if self.result:
                outcome.faults += self.result(disk, life)
        except subprocess.TimeoutExpired:
            outcome = Outcome("hangs", "", ["hangs"])
        finally:
            if life:
                life.end()
        return outcome


def holds_data(name):
    """Whether a data folder serves what the twin of the template has."""

    def check(disk, _):
        copy = disk.folder / "copy"
        (copy / "disk").mkdir(parents=True)
        other = Disk.__new__(Disk)
        other.__dict__ = {**disk.__dict__, "root": copy / "disk", "log": copy / "log"}
        shutil.copytree(disk.path(name), other.root / "data")
        life = Life(other, shaken=False)
        faults = Twin((disk.root / "twin.json").read_text()).check(life)
        life.end()
        return faults

    return check


def is_whole_backup(disk, _):
    done = disk.command("backup", "--verify", disk.path("new.backup"))
    return [] if done.returncode == 0 else [done.stderr]


def is_export(disk, _):
    found, twin = (json.loads((disk.root / name).read_text()) for name in ("new.json", "twin.json"))
    return [] if found == twin else ["the export is another"]


def is_imported(disk, life):
    found = life.server.get("/imported.json?ns=one", headers=life.admin).json
    return [] if found == json.loads((disk.root / "export.json").read_text()) else ["the import is another"]


def has_users(disk, _):
    return [] if len(json.loads((disk.root / "users.json").read_text())["users"]) == 1 else ["the users are others"]


def has_key_file(disk, _):
    return [] if "private_key" in json.loads((disk.root / "robot.json").read_text()) else ["no key"]


ONE = ("--instance", "one")
CONFIGURED = ("--config", "DISK/hearth.json", "--rules", "DISK/rules.json", "--data-dir", "DISK/data")
WORKS = [
    ServerWork("first start", "nothing", write),
    ServerWork("after a close", "closed", checkpoint),
    ServerWork("new rules", "closed", reload),
    ServerWork("after a kill", "killed", write, kills=True),
    ServerWork("after a torn batch", "torn", read),
    ServerWork("nothing to write", "closed", lambda life, twin: None),
    CommandWork("check", "closed", "check", *CONFIGURED),
    CommandWork("log verify", "killed", "log", "verify", "DISK/data"),
    CommandWork("log inspect", "killed", "log", "inspect", "DISK/data"),
    CommandWork("log salvage", "killed", "log", "salvage", "DISK/data", "DISK/new", result=holds_data("new")),
    CommandWork(
        "backup --data-dir", "killed", "backup", "--data-dir", "DISK/data", "DISK/new.backup", result=is_whole_backup
    ),
    CommandWork("backup", "closed", "backup", "DISK/new.backup", result=is_whole_backup, needs_server=True),
    CommandWork("backup --verify", "closed", "backup", "--verify", "DISK/whole.backup"),
    CommandWork("restore", "closed", "restore", "DISK/whole.backup", "--data-dir", "DISK/new", result=holds_data("new")),
    CommandWork(
        "export", "closed", "export", "/", "--format", "plain", "-o", "DISK/new.json", *ONE,
        result=is_export, needs_server=True,
    ),
    CommandWork(
        "import", "closed", "import", "/imported", "DISK/export.json", *ONE, result=is_imported, needs_server=True
    ),
    CommandWork("users export", "closed", "users", "export", "DISK/users.json", result=has_users, needs_server=True),
    CommandWork("users import", "closed", "users", "import", "DISK/people.json", needs_server=True),
    CommandWork(
        "service-account create", "closed", "service-account", "create", "robot", "--output", "DISK/robot.json",
        result=has_key_file, needs_server=True,
    ),
]


def templates(folder, library, checkpoints=True):
    """The folders that works begin with: none, one that was closed after two checkpoints or without any, one that was
    killed, one with a torn batch."""
    disk = Disk(folder / "first", library)
    twin = Twin()
    for _ in range(2):
        life = Life(disk, shaken=False)
        (checkpoint if checkpoints else write)(life, twin)
        assert life.end() == 0, disk.log.read_text()
    assert not twin.faults, twin.faults
    life = Life(disk, shaken=False)
    user = {"email": "ann@example.com", "password": "long enough"}
    assert life.ask("POST", "/v1/accounts:signUp?key=any", user) == 200
    kids = [key["kid"] for key in life.server.get("/.well-known/jwks.json").json["keys"]]
    own = ["--url", life.server.address, "--admin-secret-file", disk.path("data/admin-secret")]
    for arguments in (
        ["backup", disk.path("whole.backup")],
        ["export", "/", "--format", "plain", "-o", disk.path("export.json"), "--instance", "one"],
        ["users", "export", disk.path("people.json")],
    ):
        done = disk.command(*arguments, *own)
        assert done.returncode == 0, done.stderr
    (disk.root / "twin.json").write_text(twin.text())
    (disk.root / "kid").write_text(kids[0])
    assert life.end() == 0
    found = {"nothing": None, "closed": disk.root}
    killed = Disk(folder / "second", library, disk.root)
    life = Life(killed, shaken=False)
    twin.write(life, "PUT", "killed", 1)
    twin.write(life, "PUT", "killed", 2)
    (killed.root / "twin.json").write_text(twin.text())
    life.end(kills=True)
    found["killed"] = killed.root
    torn = Disk(folder / "third", library, killed.root)
    last = max((torn.root / "data" / "log").glob("*.log"))
    content = last.read_bytes()
    end = len(content.rstrip(b"\0"))
    # The seal is whole, and behind it stands what a batch left that never became whole.
    last.write_bytes(content[: end + 16] + b"torn" * 8 + content[end + 48 :])
    found["torn"] = torn.root
    return found


def site(path):
    """A path of the disk without its numbers."""
    path = re.sub(r"\d{20}", "N", path)
    return re.sub(r"\.\d+\.\d+\.draft", ".N.draft", path)


def names_failure(said, path, number):
    """Whether a text names the error and the file; a draft may have the name that it will get."""
    name = re.sub(r"(\.\d+\.\d+\.draft|\.partial)$", "", Path(path).name)
    return TEXTS[number] in said and name in said
