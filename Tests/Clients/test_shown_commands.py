"""Every command line that README.md, CONTRIBUTING.md and the pages of docs show: taken by the real programs' parsers, and run where a machine can.

Command lines stand in blocks (indented, or fenced as `sh` and `console`) and in code marks within sentences.

- Each one of a program of ours goes to that program with an option that does not exist behind it. A parser that has
  nothing else to complain of is content with the rest; nothing is run by that.
- Those in blocks are run from the top of a page to its end, beside a server of their own, in a folder that has the
  files they name; but for the pages that a test of their own runs, and for what `FOREIGN` and `ENDLESS` list.
"""

import os
import re
import shlex
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest

from certificates import Identity
from hearth_server import BINARY, PROGRAMS, ROOT, Hearth
from signing import ECKey, jwks

DECISIONS = ROOT / "docs" / "decisions"
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted(set((ROOT / "docs").rglob("*.md")) - set(DECISIONS.glob("*.md")))]
OURS = {
    "hearth": BINARY,
    **{name: PROGRAMS / name for name in ("hearth-chat", "hearth-timeline", "hearth-party")},
}
# What a command line may begin with, beside programs of ours.
OTHERS = "cd certbot cp curl docker export firebase generate-rules git make pkill scripts swift systemctl".split()
NONE = "--no-such-option"

# Blocks that tests of their own run: how they are recognised, and by which test.
RUN_ELSEWHERE = {
    "TUTORIAL.md": (".", "test_tutorial.py"),
    "REST.md": (r"curl|^\w+=", "test_rest_page.py"),
    "ACCOUNTS.md": (r"curl|^\w+=", "test_accounts_page.py"),
    "RULES_FAULTS.md": (r"^\$ ", "test_rules_pages.py"),
    "RULES_TOOLS.md": (r"^\$ ", "test_rules_pages.py"),
}
# Programs of others that need what a test does not have, and why.
FOREIGN = {
    "certbot": "asks an authority of the world outside",
    "docker": "needs a container engine",
    "firebase": "is the command line of Firebase, and speaks to Firebase",
    "systemctl": "needs systemd; the unit is checked by test_service_manager.py",
    "hearth files download demo.appspot.com": "speaks to Firebase; test_files_transfer.py plays its store",
    "hearth-chat push": "does not end, and needs a receiver; test_push_worker.py runs it",
}
# Commands that end when a test says so: what makes them end, and their exit code then.
ENDLESS = [
    (r"^hearth watch \S+", r"\g<0> --count 1", 0),
    (r"^hearth rules requests --refused --follow", None, 0),
    (r"^hearth serve\b(.*)$", r"hearth serve\1 --port 0 --stop-at-eof </dev/null", 0),
    (r"^curl -N ", "curl -N --max-time 1 ", 28),
]
# Exit codes that say what the page says.
CODES = {
    "hearth rules explain read /messages/ab --uid eve": 1,
    "hearth get /messages/ab --auth-override": 1,
    "hearth rules explain set /rooms/r1/title": 1,
    "hearth rules explain query /rooms": 1,
    "hearth rules diff rules/chat.json new.json": 1,
    # There is no such connection on the server of the test.
    "hearth connections end 7": 1,
    "hearth rules shadow status": 0,
}


class Block:
    """Lines of a page that stand together, indented or in a fence, and what kind the fence says they are."""

    def __init__(self, page, number, kind):
        self.page, self.number, self.kind, self.lines = page, number, kind, []

    @property
    def is_run_elsewhere(self):
        marker, _ = RUN_ELSEWHERE.get(self.page.name, (None, None))
        return bool(marker) and any(re.search(marker, line) for line in self.lines)

    def command_lines(self):
        """Its command lines as `(number, text)`; a line that ends with a backslash goes on."""
        if self.kind.split(" ")[0] not in ("indented", "sh", "console"):
            return
        begun = None
        for number, text in enumerate(self.lines, self.number):
            if begun:
                begun = (begun[0], f"{begun[1]} {text.strip()}")
            elif is_command(text.removeprefix("$ ")) and (self.kind != "console" or text.startswith("$ ")):
                begun = (number, text.removeprefix("$ "))
            if begun and not text.endswith("\\"):
                yield begun
                begun = None
            elif begun:
                begun = (begun[0], begun[1][:-1].rstrip())


def read(page):
    """The blocks of a page, and the code marks of its sentences as `(number, text)`."""
    fence, open_block, blocks, marks = False, None, [], []
    for number, line in enumerate(page.read_text().splitlines(), 1):
        if opening := re.match(r"\s*```(.*)$", line):
            fence = not fence
            open_block = Block(page, number + 1, opening[1].strip()) if fence else None
            blocks += [open_block] if fence else []
        elif fence:
            open_block.lines.append(line)
        elif line.startswith("    "):
            if not open_block:
                open_block = Block(page, number, "indented")
                blocks.append(open_block)
            open_block.lines.append(line[4:])
        else:
            open_block = None
            marks += [(number, mark) for mark in re.findall(r"`([^`]+)`", line)]
    return blocks, marks


def is_command(text):
    """Whether a shell would start a program that is known here; no drawings, no words in files."""
    if re.match(r"hearth(-\w+)?,? (─►|data folder|closed log|hearth)|hearth-\w+,", text):
        return False
    words = text.split()
    while words and (words[0] == "sudo" or re.match(r"[A-Z_]+=\S*$", words[0])):
        words = words[1:]
    name = words[0].rsplit("/", 1)[-1] if words else ""
    return name in OURS or name in OTHERS or bool(words) and words[0].startswith("scripts/")


def programs_of(text):
    """The words of each program of ours that a shell would start for a line."""
    lexer = shlex.shlex(text, posix=True, punctuation_chars="|&;<>()")
    lexer.whitespace_split, lexer.commenters = True, "#"
    words, skips = [], False
    for token in [*lexer, ";"]:
        if skips:
            skips = False
        elif token in ("<", ">", ">>"):
            skips = True
        elif set(token) <= set("|&;()"):
            while words and (words[0] == "sudo" or re.match(r"\w+=", words[0])):
                words = words[1:]
            name = words[0].rsplit("/", 1)[-1] if words else ""
            if name in OURS:
                yield name, words[1:]
            words = []
        else:
            words.append(token)


def complaint(name, words):
    """What a program's parser has to say of arguments; empty when it is content."""
    end = words.index("--") if "--" in words else len(words)
    done = subprocess.run(
        [OURS[name], *words[:end], NONE, *words[end:]], capture_output=True, text=True, timeout=600, stdin=subprocess.DEVNULL
    )
    if "--help" in words and done.returncode == 0:
        return ""
    assert done.returncode == 2, (name, words, done)
    first = done.stderr.splitlines()[0]
    return "" if first == f"Error: Unknown option '{NONE}'" else first


def mentions(page):
    """The command lines in the sentences of a page, with something in the place of what they leave open."""
    for number, mark in read(page)[1]:
        mark = mark.replace("\\|", "|")
        if mark.split(" ")[0] not in OURS or mark.startswith("hearth ready "):
            continue
        # An option that may be left out, several of a kind, a number, one of several.
        text = re.sub(r"[\[\]]|\.\.\.", "", mark)
        text = re.sub(r"\bN$", "3", text).replace(" OP ", " read ")
        yield number, mark, text


def all_checks():
    """Places, each with a program, its arguments, and whether a sentence mentions them."""
    for page in PAGES:
        for block in read(page)[0]:
            for number, text in block.command_lines():
                for name, words in programs_of(text):
                    yield f"{page.name}:{number}: {text}", name, words, False
        for number, mark, text in mentions(page):
            for name, words in programs_of(text):
                yield f"{page.name}:{number}: `{mark}`", name, words, True


def test_the_parsers_take_every_command_line_that_is_shown():
    checks = list(all_checks())
    assert len(checks) > 150
    different = list({(name, *words) for _, name, words, _ in checks})
    with ThreadPoolExecutor(2) as pool:
        complaints = dict(zip(different, pool.map(lambda line: complaint(line[0], list(line[1:])), different)))
    # A sentence may name a command without what it needs.
    faults = [
        f"{place}\n    {fault}"
        for place, name, words, is_mention in checks
        if (fault := complaints[name, *words])
        and not (is_mention and fault.startswith(("Error: Missing expected argument", "Error: no files")))
    ]
    assert not faults, "\n".join(faults)


def test_what_other_tests_run_is_named_there():
    for page, (_, test) in RUN_ELSEWHERE.items():
        assert page.removesuffix(".md") in (ROOT / "Tests" / "Clients" / test).read_text(), page


# What is run here


def stories():
    """The command lines that are run here: of each page, and of those together that have few."""
    few = []
    for page in PAGES:
        blocks = [block for block in read(page)[0] if not block.is_run_elsewhere]
        own = [line for block in blocks for _, line in block.command_lines()]
        if len(own) > 3:
            yield page.name, own
        else:
            few += own
    yield "the others", few


class Place:
    """A folder with the files that the pages name, and a development server with its data in it."""

    def __init__(self, folder):
        self.folder = folder
        (folder / "bin").mkdir()
        for name, program in OURS.items():
            (folder / "bin" / name).symlink_to(program)
        self.script("generate-rules", "cat rules.json")
        self.script("npm", "exec true")
        self.script("python", f'exec "{sys.executable}" "$@"')
        (folder / "rules").symlink_to(ROOT / "rules")
        (folder / "scripts").symlink_to(ROOT / "scripts")
        (folder / "Makefile").symlink_to(ROOT / "Makefile")
        for path in ("etc", ".local/share/bash-completion/completions"):
            (folder / path).mkdir(parents=True)
        self.write("hearth.json", '{"port":0}')
        self.write("etc/hearth.json", '{"port":0}')
        self.write(".curlrc", "silent\nshow-error\nfail\n")
        for name in ("rules.json", "new.json", "stricter.json", "database.rules.json"):
            self.write(name, '{"rules":{"scores":{".indexOn":"points"}}}')
        self.write("data.json", '{"rooms":{"r1":{"title":"Tea"}}}')
        self.write("x.json", '{"rules":{".read":true}}')
        for name in ("storage.rules", "photos.rules", "voice.rules"):
            self.write(name, "service firebase.storage { match /b/{b}/o { match /{f=**} { allow read; } } }")
        self.write("x.cases.json", '[{"name":"all","op":"read","path":"/","expect":"allow"}]')
        self.write("export.json", '{"users":{"ann":{"name":"Ann"}}}')
        self.write("backup.json", '{"users":{"ann":{"name":"Ann"}},"room":1}')
        self.write("users.json", '{"users":[]}')
        self.write("password", "a long password\n")
        self.write("etc/s3-key", "key\nsecret\n")
        for name in ("secret", "webhook-secret"):
            self.write(name, "whsec_" + "c2VjcmV0" * 4 + "\n")
        self.write("test_app.py", "def test_app():\n    pass\n")
        self.write("run-tests.sh", "#!/bin/sh\nexit 0\n")
        self.write("keys.json", jwks(ECKey("key")))
        for secret in ("password", "secret", "webhook-secret", "etc/s3-key"):
            (folder / secret).chmod(0o600)
        (folder / "run-tests.sh").chmod(0o755)
        identity = Identity(folder)
        for file, name in [("chain", "fullchain.pem"), ("chain", "cert.pem"), ("key", "privkey.pem")]:
            shutil.copy(getattr(identity, file), folder / name)
        self.server = Hearth("--samples", data=folder / "hearth-data", log=folder / "log")
        self.local = f"localhost:{self.server.port}"
        self.environment = {
            **{k: v for k, v in os.environ.items() if not k.startswith(("HEARTH", "FIREBASE"))},
            "PATH": f"{folder / 'bin'}:{os.environ['PATH']}",
            "HOME": str(folder),
            "CURL_HOME": str(folder),
            "XDG_STATE_HOME": str(folder / "state"),
            "TMPDIR": str(folder),
            "HEARTH_URL": f"http://{self.local}",
            "HEARTH_PASSWORD": "a long password",
        }

    def write(self, name, text):
        (self.folder / name).write_text(text)

    def script(self, name, text):
        self.write(f"bin/{name}", f"#!/bin/sh\n{text}\n")
        (self.folder / "bin" / name).chmod(0o755)

    def filled(self, line):
        """The line with this machine's names for what the page names."""
        for shown, here in [
            ("localhost:9000", self.local),
            ("127.0.0.1:9000", self.local),
            ("--url https://db.example.com", f"--url http://{self.local}"),
            (".build/release/", ""),
            ("/etc/hearth/", "etc/"),
            ("/var/lib/hearth/data", "hearth-data"),
            ("/tmp/", f"{self.folder}/"),
            ("--host 0.0.0.0", "--host 127.0.0.1"),
            ("--password-prompt", "--password-file password"),
            ("--hash-key KEY", "--hash-key c2VjcmV0"),
        ]:
            line = line.replace(shown, here)
        # A person would be asked.
        line = re.sub(r"^hearth (import|set)\b(?!.* --force)", r"\g<0> --force", line)
        return re.sub(r"--port \d+|^sudo ", "", line)

    def run(self, line, codes=CODES):
        code = next((code for start, code in codes.items() if line.startswith(start)), 0)
        script = self.filled(line)
        for pattern, ending, ends in ENDLESS:
            if re.search(pattern, script):
                if ending is None:
                    return
                bare = re.sub(r"\s+#.*$", "", script)
                script, code = re.sub(pattern, ending, bare), ends
        if "--stop-at-eof" in script and not re.search("--data-dir|--memory", script):
            script = script.replace(" serve", " serve --data-dir served")
        if script.startswith("make "):
            script = script.replace("make ", "make --dry-run ")
        if "--data-dir hearth-data" in script and self.server.process.poll() is None:
            assert self.server.stop() == 0
        done = subprocess.run(
            ["bash", "-c", script],
            cwd=self.folder,
            env=self.environment,
            capture_output=True,
            text=True,
            timeout=600,
            stdin=subprocess.DEVNULL,
        )
        assert done.returncode == code, f"$ {line}\n{script}\n{done.stdout}{done.stderr}"


# What is there before a page begins.
BEFORE = {
    "COMMAND_LINE.md": [
        "hearth rules push rules.json",
        "hearth set /room --data '{\"topic\":\"tea\"}' --force",
        "hearth users create --email eve@example.com --password-file password",
    ],
    "OPERATING.md": [
        "hearth backup --admin-secret-file hearth-data/admin-secret monday.backup",
    ],
    "SERVICE_PROGRAMS.md": ["printf picture > lake.png"],
    "TESTING_APPS.md": ["hearth exec --export-on-exit fixtures -- hearth set /a --data 1 --force"],
}


@pytest.mark.parametrize("page, own", stories(), ids=lambda value: value if type(value) is str else "")
def test_the_command_lines_of_a_page_run(page, own, tmp_path):
    place = Place(tmp_path)
    with place.server:
        for line in BEFORE.get(page, []):
            place.run(line, {})
        for line in own:
            bare = line.removeprefix("sudo ")
            if not any(bare == name or bare.startswith(name + " ") for name in FOREIGN):
                place.run(line)


def test_each_exception_is_needed():
    shown = [line.removeprefix("sudo ") for _, own in stories() for line in own]
    for start in [*FOREIGN, *CODES]:
        assert any(line.startswith(start) for line in shown), start
    for pattern, _, _ in ENDLESS:
        assert any(re.search(pattern, line) for line in shown), pattern
