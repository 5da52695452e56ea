"""Runs `hearth` commands that talk to a server: with pipes, or on a terminal of their own."""

import os
import pty
import select
import socket
import subprocess
import threading
import time

from hearth_server import BINARY


def environment(server=None, **variables):
    """The variables of a command: none of this shell's that it would heed, and the server's address."""
    own = ("HEARTH_", "FIREBASE_")
    kept = {k: v for k, v in os.environ.items() if not k.startswith(own)}
    address = {"HEARTH_URL": getattr(server, "address", server)} if server else {}
    return {**kept, **address, **variables}


def hearth(server, *arguments, stdin=b"", timeout=120, folder=None, **variables):
    """Runs a command to its end, with pipes."""
    return subprocess.run(
        [BINARY, *map(str, arguments)],
        input=stdin,
        capture_output=True,
        timeout=timeout,
        cwd=folder,
        env=environment(server, **variables),
    )


def start(server, *arguments, **options):
    """Starts a command; the caller ends it."""
    return subprocess.Popen(
        [BINARY, *map(str, arguments)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment(server),
        **options,
    )


def on_terminal(server, *arguments, answer="", timeout=120, shows_output=False):
    """Runs a command with standard input and error on a terminal; returns code, output and what was shown.

    `answer` is typed at once: it waits in the terminal until it is read. With `shows_output`, standard
    output is the terminal as well.
    """
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [BINARY, *map(str, arguments)],
        stdin=theirs,
        stdout=theirs if shows_output else subprocess.PIPE,
        stderr=theirs,
        env=environment(server),
    )
    os.close(theirs)
    os.write(ours, answer.encode())
    shown = b""
    output = b""
    deadline = time.monotonic() + timeout
    open_ends = {ours} if shows_output else {ours, process.stdout.fileno()}
    while open_ends:
        assert time.monotonic() < deadline, f"{arguments} does not end:\n{shown!r}"
        for end in select.select(list(open_ends), [], [], 1)[0]:
            try:
                part = os.read(end, 65536)
            except OSError:
                # How a terminal says that its last user is gone.
                part = b""
            if not part:
                open_ends.discard(end)
            elif end == ours:
                shown += part
            else:
                output += part
    os.close(ours)
    if process.stdout:
        process.stdout.close()
    return process.wait(timeout=120), output.decode(), shown.decode()


def peak_memory(process):
    """Waits for a process to end; returns the most memory it had, in bytes."""
    peak = 0
    while True:
        try:
            with open(f"/proc/{process.pid}/status") as status:
                lines = dict(line.split(":", 1) for line in status)
            peak = int(lines["VmHWM"].split()[0]) * 1024 if "VmHWM" in lines else peak
            process.wait(timeout=0.02)
            return peak
        except subprocess.TimeoutExpired:
            pass


class Answering:
    """A server that answers each request with the bytes that `answer` gives for its path, and closes."""

    def __init__(self, answer):
        self.answer = answer if callable(answer) else lambda path: answer
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.address = f"http://127.0.0.1:{self.listener.getsockname()[1]}"
        self.thread = threading.Thread(target=self._serve)

    def _serve(self):
        while True:
            connection, _ = self.listener.accept()
            with connection:
                head = b""
                while b"\r\n\r\n" not in head:
                    part = connection.recv(65536)
                    if not part:
                        break
                    head += part
                if not head:
                    return
                connection.sendall(self.answer(head.split()[1].decode()))
                connection.shutdown(socket.SHUT_WR)
                # Until the client has closed: what it sends meanwhile must not become a reset.
                while connection.recv(65536):
                    pass

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        # A connection without a request ends it.
        socket.create_connection(self.listener.getsockname()).close()
        self.thread.join(120)
        self.listener.close()
