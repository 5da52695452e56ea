"""Headless Chromium, driven over its DevTools protocol, and pages for it to load."""

import contextlib
import functools
import http.server
import itertools
import json
import os
import re
import shutil
import subprocess
import threading
import time
from pathlib import Path

from websockets.sync.client import connect

PAGES = Path(__file__).with_name("Pages")

# A name that is not this machine's for anybody but the browser under test.
STRANGER = "stranger.example"


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


@contextlib.contextmanager
def serving_pages():
    """Serves the test's pages; gives the port."""
    handler = functools.partial(Quiet, directory=PAGES)
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield server.server_port
        finally:
            server.shutdown()
            thread.join()


class Browser:
    """One browser process. Everything but this machine is unreachable from it."""

    def __init__(self, folder):
        # Without the windows and pages of its own that the whole browser draws and no user sees.
        program = shutil.which("chromium-headless-shell")
        assert program, "Chromium is missing: scripts/setup test"
        self.log = open(folder / "chromium.log", "wb")
        self.process = subprocess.Popen(
            [
                program,
                "--disable-gpu",
                "--disable-dev-shm-usage",
                "--no-first-run",
                "--disable-background-networking",
                "--disable-component-update",
                "--disable-sync",
                "--no-proxy-server",
                *(["--no-sandbox"] if os.geteuid() == 0 else []),
                f"--host-resolver-rules=MAP {STRANGER} 127.0.0.1, MAP * ~NOTFOUND, "
                "EXCLUDE 127.0.0.1, EXCLUDE localhost",
                "--remote-debugging-port=0",
                f"--user-data-dir={folder / 'profile'}",
                "about:blank",
            ],
            stdout=self.log,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, "HOME": str(folder)},
        )
        address = None
        for line in self.process.stderr:
            if found := re.search(r"DevTools listening on (ws://\S+)", line):
                address = found[1]
                break
        assert address, f"chromium ended with {self.process.wait()}"
        # What else it says must not fill the pipe.
        self.drain = threading.Thread(target=self.process.stderr.read)
        self.drain.start()
        self.stack = contextlib.ExitStack()
        self.socket = self.stack.enter_context(
            connect(address, max_size=None, ping_interval=None)
        )
        self.numbers = itertools.count(1)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        # It is the child of a script, which a signal would end alone.
        self.socket.send(json.dumps({"id": next(self.numbers), "method": "Browser.close"}))
        self.stack.close()
        try:
            self.process.wait(timeout=120)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.drain.join()
        self.process.stderr.close()
        self.log.close()

    def call(self, method, session=None, timeout=120, **parameters):
        """One call of the DevTools protocol; events that come meanwhile are not looked at."""
        number = next(self.numbers)
        message = {"id": number, "method": method, "params": parameters}
        if session:
            message["sessionId"] = session
        self.socket.send(json.dumps(message))
        while (answer := json.loads(self.socket.recv(timeout=timeout))).get("id") != number:
            pass
        assert "error" not in answer, (method, answer)
        return answer["result"]

    def open(self, address):
        """Opens a page in a tab of its own; gives the tab's session."""
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        # Answered when the page has taken the place of the empty one.
        answer = self.call("Page.navigate", session, url=address)
        assert "errorText" not in answer, answer
        return session

    def value(self, session, expression):
        """The value of an expression in a page, awaited."""
        result = self.call(
            "Runtime.evaluate",
            session,
            expression=expression,
            awaitPromise=True,
            returnByValue=True,
        )
        assert "exceptionDetails" not in result, result
        return result["result"].get("value")

    def until(self, session, expression):
        """The value of an expression once it is true; a page that is being left has none."""
        deadline = time.monotonic() + 300
        while time.monotonic() < deadline:
            with contextlib.suppress(AssertionError):
                if value := self.value(session, expression):
                    return value
            time.sleep(0.02)
        raise AssertionError(f"never: {expression}")

    def outcome(self, session):
        """What a page of doors saw, once it is done."""
        return self.value(
            session,
            """new Promise((resolve) => {
                if (document.readyState === "complete") resolve();
                else addEventListener("load", resolve);
            }).then(() => done)""",
        )
