"""Real work of the server and its commands on a disk of which one call fails, and what came of it."""

import http.client
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
# Bytes of a part of a resumable upload.
UNIT = 262_144


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
            settings.write_text('{"database": ["one"], "files-bucket": ["one"]}')
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
        answer = self.answer(method, path, body=body)
        return answer.status if answer else 0

    def answer(self, method, path, headers=None, **content):
        """The answer; None when the server is gone."""
        if self.is_over:
            return None
        try:
            return self.server.request(method, path, headers={**self.admin, **(headers or {})}, **content)
        except (OSError, http.client.HTTPException):
            self.is_over = True
            return None

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


OBJECTS = "/storage/v1/b/one/o"


class FilesTwin:
    """What files must hold, as `Twin`: for each name the contents that may be there, None for no file."""

    def __init__(self, folder):
        self.file, self.faults = folder / "files.json", []
        self.may = json.loads(self.file.read_text()) if self.file.exists() else {}

    def attempt(self, name, content, answer, done=(200, 204)):
        """Takes the answer to what leaves this content; whether it is done."""
        before = self.may.get(name, [None])
        if answer is None:
            self.may[name] = [*before, content]
        elif answer.status in done:
            self.may[name] = [content]
        elif answer.status not in (500, 503):
            self.faults.append(f"{name}: {answer.status} {answer.text}")
        return answer is not None and answer.status in done

    def store(self, life, name, content):
        path = f"/upload{OBJECTS}?uploadType=media&name={name}"
        return self.attempt(name, content, life.answer("POST", path, raw=content.encode()))

    def store_in_parts(self, life, name, content):
        """A resumable upload; a part that fails is sent again, once."""
        started = life.answer("POST", f"/upload{OBJECTS}?uploadType=resumable&name={name}", body={})
        if started is None or started.status != 200:
            return
        path = "/" + started.headers["Location"].split("/", 3)[3]
        offset, tries = 0, 0
        while tries < 4 and offset < len(content):
            part = content[offset : offset + UNIT].encode()
            head = {"Content-Range": f"bytes {offset}-{offset + len(part) - 1}/{len(content)}"}
            answer = life.answer("PUT", path, headers=head, raw=part)
            if offset + len(part) == len(content):
                if self.attempt(name, content, answer) or answer is None:
                    return
            tries += 1
            asked = life.answer("PUT", path, headers={"Content-Range": "bytes */*"}, raw=b"")
            if asked is None or asked.status not in (308, 200):
                return
            if asked.status == 200:
                self.may[name] = [content]
                return
            offset = int((asked.headers["Range"] or "bytes=0--1").split("-", 1)[1]) + 1

    def delete(self, life, name):
        self.attempt(name, None, life.answer("DELETE", f"{OBJECTS}/{name}"), (204, 404))

    def read(self, life, name):
        answer = life.answer("GET", f"{OBJECTS}/{name}?alt=media")
        if answer and answer.status == 200 and answer.text not in self.may[name]:
            self.faults.append(f"{name} is another while the disk fails")

    def check(self, life):
        """Without a fault: compares everything; what is there is what must be there from now on."""
        for name, may in self.may.items():
            answer = life.answer("GET", f"{OBJECTS}/{name}?alt=media")
            found = answer.text if answer.status == 200 else None
            if answer.status not in (200, 404) or found not in may:
                self.faults.append(f"{name}: {answer.status}, {str(found)[:20]}")
            self.may[name] = [found]
        self.file.write_text(json.dumps(self.may))
        return self.faults


# The work of a server: each a function of its life and of the twin of its data.


def files(life, twin):
    """Uploads of each kind, a replacement, a deletion and a download."""
    all = twin.files
    all.store(life, "small", "s" * 100)
    all.store(life, "kept", "other")
    all.store_in_parts(life, "parts", "p" * (2 * UNIT + 7))
    all.store(life, "small", "t" * 300_000)
    all.store_in_parts(life, "same", "p" * (2 * UNIT + 7))
    all.delete(life, "old")
    for name in ("small", "parts", "kept"):
        if all.may.get(name):
            all.read(life, name)


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
        twin.files = FilesTwin(disk.root)
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
        faults = twin.check(life) + twin.files.check(life)
        twin.write(life, "PUT", "again", 1)
        keys = life.server.get("/.well-known/jwks.json").json["keys"]
        before = disk.root / "kid"
        if before.exists() and before.read_text() not in [key["kid"] for key in keys]:
            faults.append("the key that signed is gone")
        code = life.end()
        if code:
            faults.append(f"ends with {code} afterwards")
        for command in (["log", "verify"], ["files", "check", "--data-dir"]):
            verified = disk.command(*command, disk.path("data"))
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


def holds_files(disk, life):
    """The same, with the files of the template."""
    checked = disk.command("files", "check", "--data-dir", disk.path("new"))
    return holds_data("new")(disk, life) + ([checked.stdout + checked.stderr] if checked.returncode else [])


def is_whole_backup(disk, _, *files):
    done = disk.command("backup", "--verify", disk.path("new.backup"), *files)
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
    ServerWork("files", "files", files),
    ServerWork("files to the kill", "files", files, kills=True),
    ServerWork("nothing to write", "closed", lambda life, twin: None),
    CommandWork("check", "closed", "check", *CONFIGURED),
    CommandWork("log verify", "killed", "log", "verify", "DISK/data"),
    CommandWork("log inspect", "killed", "log", "inspect", "DISK/data"),
    CommandWork("log salvage", "killed", "log", "salvage", "DISK/data", "DISK/new", result=holds_data("new")),
    CommandWork(
        "backup --data-dir", "killed", "backup", "--data-dir", "DISK/data", "DISK/new.backup", result=is_whole_backup
    ),
    CommandWork("backup", "closed", "backup", "DISK/new.backup", result=is_whole_backup, needs_server=True),
    CommandWork(
        "backup --files", "files", "backup", "--data-dir", "DISK/data", "DISK/new.backup", "--files", "DISK/kept",
        result=lambda disk, life: is_whole_backup(disk, life, "--files", disk.path("kept")),
    ),
    CommandWork(
        "restore --files", "files", "restore", "DISK/whole.backup", "--data-dir", "DISK/new", "--files", "DISK/whole",
        result=holds_files,
    ),
    CommandWork("files check", "files", "files", "check", "--data-dir", "DISK/data"),
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
    stored = Disk(folder / "fourth", library, disk.root)
    life, twin = Life(stored, shaken=False), FilesTwin(stored.root)
    for name in ("old", "kept"):
        assert twin.store(life, name, name * 1000)
    assert not twin.check(life) and life.end() == 0
    whole = ["--data-dir", stored.path("data"), stored.path("whole.backup"), "--files", stored.path("whole")]
    done = stored.command("backup", *whole)
    assert done.returncode == 0, done.stderr
    found["files"] = stored.root
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
    path = re.sub(r"files/blobs/[0-9a-f]{2}(?=$|/)", "files/blobs/HH", path)
    path = re.sub(r"files/blobs/HH/[0-9a-f]{62}", "files/blobs/HH/HASH", path)
    path = re.sub(r"files/uploads/[0-9a-f]{32}", "files/uploads/ID", path)
    return re.sub(r"\.\d+\.\d+\.draft", ".N.draft", path)


def names_failure(said, path, number):
    """Whether a text names the error and the file; a draft may have the name that it will get."""
    name = re.sub(r"(\.\d+\.\d+\.draft|\.partial)$", "", Path(path).name)
    return TEXTS[number] in said and name in said
