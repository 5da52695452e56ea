"""Starts the real `hearth` binary for a test and speaks to it over HTTP."""

import json
import os
import signal
import subprocess
import time
import urllib.error
import urllib.request
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
# Where the build that was tested is: the programs of services, the modules, and the objects of each target.
PROGRAMS = Path(
    os.path.abspath(os.environ.get("HEARTH_PROGRAMS", ROOT / ".build" / "gate" / "release"))
)
BINARY = os.path.abspath(os.environ.get("HEARTH_BINARY", PROGRAMS / "hearth"))

# What a password costs here, unless its cost is what is tested: a fortieth of what is built in.
CHEAP_PASSWORDS = ("--password-memory", "8MiB", "--password-passes", "1")


class Answer:
    """An HTTP answer, whatever its status."""

    def __init__(self, status, headers, body):
        self.status = status
        self.headers = headers
        self.body = body

    @property
    def text(self):
        return self.body.decode("utf-8")

    @property
    def json(self):
        return json.loads(self.body)


class Hearth:
    """One server process. `data` of None keeps everything in memory; what passwords cost is for `flags` to say."""

    def __init__(self, *flags, data=None, dev=True, log=None, passwords=CHEAP_PASSWORDS, variables={}):
        if any(str(flag).startswith("--password-") for flag in flags):
            passwords = ()
        self.variables = variables
        port = [] if "--port" in flags else ["--port", "0"]
        self.flags = [*(["--dev"] if dev else []), *port, *passwords, *flags]
        self.flags += ["--data-dir", str(data)] if data else (["--memory"] if dev else [])
        self.log_path = log
        self.log = open(log, "ab") if log else subprocess.DEVNULL
        self.log_seen = 0
        self.process = None
        self.start()

    def start(self):
        self.process = subprocess.Popen(
            [BINARY, "serve", *self.flags],
            stdout=subprocess.PIPE,
            stderr=self.log,
            env={**os.environ, "HEARTH_CONFIG": "", **self.variables},
        )
        self.ready = self.process.stdout.readline().decode()
        if not self.ready.startswith("hearth ready "):
            raise AssertionError(f"no ready line but {self.ready!r}, exit {self.process.wait()}")
        self.address = self.ready.split()[2]
        self.port = int(self.address.rsplit(":", 1)[1])

    def kill(self):
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def stop(self):
        """Asks the server to end; returns its exit code."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        code = self.process.wait(timeout=120)
        self.process.stdout.close()
        return code

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        self.process.stdout.close()
        if self.log is not subprocess.DEVNULL:
            self.log.close()

    @property
    def log_text(self):
        return Path(self.log_path).read_text()

    def await_log(self, text, timeout=120):
        """Waits until `text` stands in the log after what was awaited before."""
        deadline = time.monotonic() + timeout
        while (place := self.log_text.find(text, self.log_seen)) < 0:
            assert time.monotonic() < deadline, f"{text!r} is not in the log:\n{self.log_text}"
            assert self.process.poll() is None, f"the server ended:\n{self.log_text}"
            time.sleep(0.02)
        self.log_seen = place + len(text)

    def request(self, method, path, body=None, headers=None, raw=None):
        data = raw if raw is not None else (None if body is None else json.dumps(body).encode())
        request = urllib.request.Request(
            f"http://127.0.0.1:{self.port}{path}", data=data, method=method, headers=headers or {}
        )
        try:
            with urllib.request.urlopen(request, timeout=120) as answer:
                return Answer(answer.status, answer.headers, answer.read())
        except urllib.error.HTTPError as error:
            with error:
                return Answer(error.code, error.headers, error.read())

    def get(self, path, **options):
        return self.request("GET", path, **options)

    def put(self, path, body, **options):
        return self.request("PUT", path, body, **options)
