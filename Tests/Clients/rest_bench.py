"""Runs rows of the table of the REST API with real curls; `rest_table.py` says what they mean."""

import gzip
import http.client
import json
import os
import re
import select
import shlex
import ssl
import string
import subprocess
import time

from hearth_server import Hearth
from rest_table import BODIES
from signing import HMACKey, RSAKey, claims, jwks, token, unsigned

EVENT = re.compile(r"([a-z_-]+)(:| =| \?) (.*)", re.DOTALL)
PATIENCE = 120
# What tokens for signing in are for, and tokens for data never.
SIGN_IN = (
    "https://identitytoolkit.googleapis.com/google.identity.identitytoolkit.v1.IdentityToolkit"
)
KEY, STRANGER, SHARED = RSAKey("k1"), RSAKey("k1"), HMACKey(b"a secret that two services share")


def canonical(value):
    return json.dumps(value, sort_keys=True, ensure_ascii=False)


def plain(node):
    """A tree whose lists are objects, as which they are kept."""
    if isinstance(node, list):
        node = {str(place): child for place, child in enumerate(node) if child is not None}
    return {key: plain(child) for key, child in node.items()} if isinstance(node, dict) else node


class Answer:
    """The last of the answers that one curl had."""

    def __init__(self, head, body):
        blocks = [block for block in head.replace("\r\n", "\n").split("\n\n") if block.strip()]
        first, *rest = blocks[-1].split("\n")
        self.status = int(first.split()[1])
        self.headers = {}
        for line in rest:
            name, _, value = line.partition(":")
            known = self.headers.get(name.lower())
            self.headers[name.lower()] = (
                value.strip() if known is None else f"{known}, {value.strip()}"
            )
        self.body = body


class Stream:
    """A curl that goes on reading events."""

    def __init__(self, process):
        self.process, self.waiting = process, b""

    def next(self, is_quiet=False):
        """The lines of the next event, keep-alives only if it `is_quiet`; None at the end of the stream."""
        deadline = time.monotonic() + PATIENCE
        while True:
            block, end, rest = self.waiting.partition(b"\n\n")
            if end:
                self.waiting = rest
                if is_quiet or not block.startswith(b"event: keep-alive\n"):
                    return block.decode()
                continue
            assert self.wait(deadline - time.monotonic()), f"no event came, only {self.waiting!r}"
            part = os.read(self.process.stdout.fileno(), 65536)
            if not part:
                assert not self.waiting, f"the stream ended within {self.waiting!r}"
                return None
            self.waiting += part

    def wait(self, seconds):
        """Whether there is something to read, after at most so long."""
        return bool(select.select([self.process.stdout], [], [], max(0, seconds))[0])

    def end(self):
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()


def make_files(folder):
    """What rows send from files: no command line is so long, or holds such bytes."""
    (folder / "gzipped").write_bytes(gzip.compress(b'{"zipped":[1,2,3]}'))
    (folder / "body").write_text('{"from":"a file"}')
    (folder / "keys.json").write_text(jwks(KEY))
    (folder / "hs256").write_bytes(SHARED.secret)
    (folder / "hs256").chmod(0o600)


def make_large_files(folder):
    (folder / "text-10-mib").write_text('"' + "x" * 10 * 2**20 + '"')
    (folder / "text-10-mib-and-1").write_text('"' + "x" * (10 * 2**20 + 1) + '"')
    (folder / "texts-20-mib").write_text("[" + ",".join(['"' + "x" * 2**20 + '"'] * 20) + "]")
    (folder / "text-in-utf-8").write_text('"' + "é" * (5 * 2**20 + 1) + '"')


def make_certificate(folder):
    """A certificate of this machine, which curl trusts by `--cacert cert.pem`."""
    command = "openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=localhost"
    command += " -addext subjectAltName=DNS:localhost,IP:127.0.0.1 -keyout key.pem -out cert.pem"
    subprocess.run(shlex.split(command), cwd=folder, check=True, capture_output=True)


class Bench:
    """One server, and the shell in which a group's rows run."""

    def __init__(self, group, folder):
        self.folder = folder
        (folder / ".curlrc").write_text(f"silent\nshow-error\nmax-time = {PATIENCE}\n")
        make_files(folder)
        if any("@text" in step.words for row in group.rows for step in row.steps):
            make_large_files(folder)
        if "tls-cert" in group.flags:
            make_certificate(folder)
        flags = group.flags.replace("$FOLDER", str(folder))
        production = "production" in shlex.split(flags)
        flags = [flag for flag in shlex.split(flags) if flag != "production"]
        self.server = Hearth(
            *flags,
            dev=not production,
            data=folder / "data" if production else None,
            log=folder / "log",
        )
        self.admin = "owner"
        if production:
            self.admin = (folder / "data" / "admin-secret").read_text().strip()
        self.http = self.connection()
        self.rules = None
        self.names = {
            **os.environ,
            "CURL_HOME": str(folder),
            "URL": self.server.address.replace("https://127.0.0.1", "https://localhost"),
            "PORT": str(self.server.port),
            "PID": str(self.server.process.pid),
            "ADMIN": self.admin,
            "ANN": unsigned({"sub": "ann", "user_id": "ann", "email": "ann@example.com"}),
            "MOCK": unsigned({"sub": "ann", "user_id": "ann", "iat": 0, "exp": 3600}),
            "SIGNED": token(KEY, claims("ann")),
            "EXPIRED": token(KEY, claims("ann", lifetime=-60)),
            "FORGED": token(STRANGER, claims("ann")),
            "LEVEL": unsigned({"sub": "ann", "level": 3}),
            "ANONYMOUS": unsigned({"sub": "ann", "firebase": {"sign_in_provider": "anonymous"}}),
            "GOOGLE": unsigned({"sub": "ann", "firebase": {"sign_in_provider": "google.com"}}),
            "CUSTOM": unsigned({"sub": "ann", "uid": "ann", "aud": SIGN_IN}),
            "OTHER_ISSUER": token(KEY, claims("ann", iss="https://other.example")),
            "OTHER_AUDIENCE": token(KEY, claims("ann", aud="other")),
            "LEGACY": token(SHARED, {"v": 0, "d": {"uid": "ann"}, **claims("ann")}),
        }

    def connection(self):
        if not self.server.address.startswith("https:"):
            return http.client.HTTPConnection("127.0.0.1", self.server.port, timeout=PATIENCE)
        trust = ssl.create_default_context(cafile=self.folder / "cert.pem")
        return http.client.HTTPSConnection(
            "localhost", self.server.port, timeout=PATIENCE, context=trust
        )

    def exchange(self, method, path, body=None, headers=None):
        headers = {"Authorization": f"Bearer {self.admin}", **(headers or {})}
        try:
            self.http.request(method, path, body, headers)
            answer = self.http.getresponse()
        except (ConnectionError, http.client.RemoteDisconnected):
            # The server has closed it since the row before.
            self.http.close()
            self.http.request(method, path, body, headers)
            answer = self.http.getresponse()
        return answer.status, answer.headers, answer.read()

    def ask(self, method, path, body=None):
        status, _, data = self.exchange(method, path, body)
        assert status == 200, f"{method} {path}: {status} {data!r}"
        return data

    def tree(self):
        """What is kept, by its tag alone when it is larger than this server answers."""
        status, headers, data = self.exchange("GET", "/.json?format=export")
        if status == 200:
            return canonical(plain(json.loads(data)))
        assert status == 400 and b"exceeds the maximum size" in data, data
        return self.exchange("PUT", "/.json", b"0", {"if-match": "none"})[1]["ETag"]

    def prepare(self, row):
        if row.rules not in (self.rules, "none"):
            self.ask("PUT", "/.settings/rules.json", row.rules.encode())
            self.rules = row.rules
        self.ask("PUT", "/.json", json.dumps(row.tree).encode())
        # Lives for long enough to open a stream with it.
        self.names["BRIEF"] = token(KEY, claims("ann", lifetime=8))
        self.saved, self.stream = {}, None

    def run(self, row):
        self.prepare(row)
        try:
            for step in row.steps:
                self.take(step)
        finally:
            if self.stream:
                self.stream.end()
            if any(".settings/rules" in step.words for step in row.steps):
                self.rules = None

    def take(self, step):
        is_refusal = not (step.one("status") or "").removeprefix("~ ").startswith("2")
        before = self.tree() if is_refusal else None
        head = self.folder / "head"
        head.write_bytes(b"")
        command = f"{'exec ' if step.kind == 'stream' else ''}curl -D {shlex.quote(str(head))} {step.words}"
        arguments = ["/bin/sh", "-c", command]
        options = {
            "env": {**self.names, **self.saved},
            "cwd": self.folder,
            "stdout": subprocess.PIPE,
        }
        if step.kind == "stream":
            self.stream = Stream(subprocess.Popen(arguments, **options))
            self.expect_stream(step, head)
            return
        done = subprocess.run(arguments, stderr=subprocess.PIPE, timeout=2 * PATIENCE, **options)
        if (code := step.one("fails")) is not None:
            assert re.fullmatch(code, str(done.returncode)), done
            return
        assert done.returncode == 0, f"curl: {done.returncode} {done.stderr.decode()}"
        answer = Answer(head.read_text("latin-1"), done.stdout)
        self.expect(step, answer)
        if (wanted := step.one("tree")) is not None:
            assert self.tree() == canonical(plain(json.loads(wanted)))
        elif is_refusal:
            assert self.tree() == before, "a refused request changed something"
        self.expect_events(step)

    def expect_stream(self, step, head):
        """A stream that is to begin is one whose row says nothing of a body."""
        body = b""
        if any(word in BODIES for word, _ in step.expected):
            body = self.stream.process.stdout.read()
        else:
            deadline = time.monotonic() + PATIENCE
            while not head.read_bytes().endswith(b"\r\n\r\n"):
                assert time.monotonic() < deadline, "no answer came"
                self.stream.wait(0.005)
        self.expect(step, Answer(head.read_text("latin-1"), body))
        self.expect_events(step)

    def expect_events(self, step):
        for word, text in step.expected:
            if word == "event":
                self.expect_event(*EVENT.fullmatch(self.filled(text)).groups())
            elif word == "closed":
                assert self.stream.next() is None

    def expect_event(self, name, mark, data):
        mark = mark.strip()
        while True:
            block = self.stream.next()
            assert block is not None, f"the stream ended before {name} {data}"
            first, second, *more = block.split("\n")
            assert second.startswith("data: ") and not more, block
            found = second.removeprefix("data: ")
            if mark != "?" or (first == f"event: {name}" and re.match(data, found)):
                break
        assert first == f"event: {name}", block
        if mark == ":":
            assert canonical(json.loads(found)) == canonical(json.loads(data)), block
        elif mark == "=":
            assert found == data, block

    def filled(self, text):
        """What a row expects, with the names in it replaced."""
        known = {name: self.names[name] for name in ["PORT", "PID"]}
        return string.Template(text).safe_substitute(known, **self.saved)

    def expect(self, step, answer):
        wanted = step.one("status").removeprefix("~ ")
        assert re.fullmatch(wanted, str(answer.status)), f"{answer.status} {answer.body[:400]!r}"
        for text in step.all("header"):
            expect_header(text, answer)
        for word, text in step.expected:
            if word in BODIES:
                expect_body(word, self.filled(text), answer)
            elif word == "save":
                name, source = text.split()
                if source.startswith("."):
                    self.saved[name] = json.loads(answer.body)[source[1:]]
                else:
                    self.saved[name] = answer.headers[source.lower()]

    def close(self):
        self.http.close()
        self.server.__exit__()


def expect_header(text, answer):
    name, mark, value = re.fullmatch(r"([A-Za-z-]+)(: | ~ | none)(.*)", text).groups()
    found = answer.headers.get(name.lower())
    if mark == " none":
        assert found is None, f"{name}: {found}"
    elif mark == ": ":
        assert found == value, f"{name}: {found}"
    else:
        assert found is not None and re.search(value, found), f"{name}: {found}"


def expect_body(word, text, answer):
    body = answer.body.decode("utf-8")
    if word == "json":
        assert canonical(json.loads(body)) == canonical(json.loads(text)), body[:1000]
    elif word == "body":
        assert body == json.loads(text)
    elif word == "like":
        assert re.match(text, body), body[:1000]
    else:
        message = json.loads(body)["error"]
        if text.startswith("~ "):
            assert re.search(text[2:], message), message
        else:
            assert message == text
        # The layout that clients have seen, to the byte.
        assert body == '{\n  "error" : %s\n}\n' % json.dumps(message, ensure_ascii=False), body
