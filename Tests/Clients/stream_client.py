"""Event streams over HTTP as a client reads them, byte by byte."""

import json
import socket


class Stream:
    """One GET that takes `text/event-stream`, on a connection of its own."""

    def __init__(self, port, target, accept="text/event-stream", version="1.1", **options):
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=120)
        if size := options.pop("receive_buffer", None):
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, size)
        headers = {"Host": f"127.0.0.1:{port}", "Accept": accept, **options.pop("headers", {})}
        lines = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
        method, behind = options.pop("method", "GET"), options.pop("behind", "")
        assert not options, options
        request = f"{method} {target} HTTP/{version}\r\n{lines}\r\n{behind}"
        self.socket.sendall(request.encode())
        self.input = self.socket.makefile("rb")
        status = self.input.readline().decode()
        self.status = int(status.split()[1])
        self.headers = {}
        while line := self.input.readline().strip():
            name, value = line.decode().split(": ", 1)
            self.headers[name.lower()] = value
        self.is_chunked = self.headers.get("transfer-encoding") == "chunked"
        self.text = b""

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        self.input.close()
        self.socket.close()

    def body(self):
        """The rest of the body, which ends as it must."""
        if "content-length" in self.headers:
            return self.input.read(int(self.headers["content-length"]))
        while self.more():
            pass
        text, self.text = self.text, b""
        return text

    def more(self):
        """Reads on; returns whether there was more."""
        if not self.is_chunked:
            part = self.input.read1()
            self.text += part
            return bool(part)
        size = int(self.input.readline(), 16)
        part = self.input.read(size)
        assert len(part) == size, "the body is cut short"
        assert self.input.readline() == b"\r\n"
        self.text += part
        return size > 0

    def raw(self):
        """The text of the next event without its empty line; None at the end of the body."""
        while b"\n\n" not in self.text:
            if not self.more():
                assert self.text == b"", self.text
                return None
        event, self.text = self.text.split(b"\n\n", 1)
        return event.decode("utf-8")

    def next(self):
        """The next event but for keep-alives as (name, data), data as text; None at the end."""
        while (event := self.raw()) is not None:
            name, data = event.split("\n")
            assert name.startswith("event: ") and data.startswith("data: "), event
            if name != "event: keep-alive":
                return name[len("event: ") :], data[len("data: ") :]
        return None

    def event(self):
        """The next put or patch as (name, path, data)."""
        name, data = self.next()
        data = json.loads(data)
        assert list(data) == ["path", "data"], data
        return name, data["path"], data["data"]

    def events(self, count):
        return [self.event() for _ in range(count)]


class Tree:
    """What a reader has: puts and patches applied to JSON values without priorities."""

    def __init__(self):
        self.value = None

    def apply(self, name, path, data):
        assert name in ("put", "patch"), name
        for key, value in data.items() if name == "patch" else [("", data)]:
            keys = [key for key in f"{path}/{key}".split("/") if key]
            self.value = placed(self.value, keys, without_arrays(value))


def placed(node, keys, value):
    """The node with a value at a path below it; maps left empty vanish."""
    if not keys:
        return value
    children = dict(node) if isinstance(node, dict) else {}
    child = placed(children.get(keys[0]), keys[1:], value)
    if child is None and not isinstance(node, dict):
        return node
    children.pop(keys[0], None)
    if child is not None:
        children[keys[0]] = child
    return children or None


def without_arrays(value):
    """Arrays are maps with numbers for keys; what is empty is not there."""
    if isinstance(value, list):
        value = {str(index): item for index, item in enumerate(value)}
    if isinstance(value, dict):
        value = {key: without_arrays(item) for key, item in value.items()}
        return {key: item for key, item in value.items() if item is not None} or None
    return value
