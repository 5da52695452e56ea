"""HTTP as bytes: requests that no client library would send."""

import socket


class Raw:
    """One connection; `answer` reads exactly one answer, so that what follows it shows."""

    def __init__(self, port, timeout=120):
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=timeout)
        # Taken from at its begin, which costs a `bytearray` nothing, however much is behind.
        self.waiting = bytearray()

    def send(self, data):
        self.socket.sendall(data)
        return self

    def end(self):
        """Says that nothing more will be sent."""
        self.socket.shutdown(socket.SHUT_WR)
        return self

    def _fill(self):
        try:
            part = self.socket.recv(1 << 20)
        except ConnectionResetError:
            part = b""
        self.waiting += part
        return bool(part)

    def _until(self, mark):
        seen = 0
        while (place := self.waiting.find(mark, seen)) < 0:
            seen = max(0, len(self.waiting) - len(mark))
            if not self._fill():
                return None
        found = self._taken(place)
        del self.waiting[: len(mark)]
        return found

    def _exactly(self, count):
        while len(self.waiting) < count:
            assert self._fill(), f"the connection ended within a body: {bytes(self.waiting)!r}"
        return self._taken(count)

    def _taken(self, count):
        found = bytes(memoryview(self.waiting)[:count])
        del self.waiting[:count]
        return found

    def answer(self, has_body=True, reads_streams=True):
        """(status, headers, body) of the next answer; None when the connection has ended instead.

        One to a HEAD has no body. An event stream is read to its end, unless only its head is wanted.
        """
        head = self._until(b"\r\n\r\n")
        if head is None:
            assert not self.waiting, self.waiting
            return None
        first, *lines = head.decode("latin-1").split("\r\n")
        version, status, *_ = first.split(" ", 2)
        assert version in ("HTTP/1.1", "HTTP/1.0"), first
        headers = {
            name.lower(): value.strip()
            for name, _, value in (line.partition(":") for line in lines)
        }
        if not has_body or status in ("204", "304") or status.startswith("1"):
            return int(status), headers, b""
        is_stream = headers.get("content-type", "").startswith("text/event-stream")
        if is_stream and not reads_streams:
            return int(status), headers, b""
        if headers.get("transfer-encoding") == "chunked":
            body = bytearray()
            while size := int(self._until(b"\r\n"), 16):
                body += self._exactly(size)
                assert self._exactly(2) == b"\r\n"
            assert self._exactly(2) == b"\r\n"
            return int(status), headers, bytes(body)
        return int(status), headers, self._exactly(int(headers["content-length"]))

    def is_over(self):
        """Waits for the end of the connection; False when bytes come instead."""
        return not self.waiting and not self._fill()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.socket.close()


def request(method, target, body=b"", *lines, host="localhost"):
    """A whole request with its true length, unless `lines` say something of the body."""
    head = [f"{method} {target} HTTP/1.1", f"Host: {host}", *lines]
    if body and not any(
        line.lower().startswith(("content-length", "transfer-encoding")) for line in lines
    ):
        head.append(f"Content-Length: {len(body)}")
    return "\r\n".join(head).encode() + b"\r\n\r\n" + body


def chunked(*parts):
    return b"".join(b"%x\r\n%s\r\n" % (len(part), part) for part in parts) + b"0\r\n\r\n"
