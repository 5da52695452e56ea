"""Reads and plays the table of the WebSocket protocol, `Specs/websocket/*.txt`: RFC 6455 over a raw socket.

Lines of a row, which begins with `# sentence`; each row has a connection of its own to `/.events`:

    line TEXT              before the handshake: another request line
    head NAME: VALUE       another value of a header of the handshake; a second line adds one
    head -NAME             leaves one out
    status N               what the handshake is answered with, if not with 101; nothing follows
    header NAME: VALUE     a header of the answer; `header -NAME` for one that must not be there

    drip                   what follows is sent byte by byte
    > FLAGS NAME PAYLOAD   sends a frame: text, binary, more, close, ping, pong, or a number
    > raw HEX              sends bytes that are no frame
    < answer               the next frame is the answer to the request that was sent, without a fault
    < pong PAYLOAD         the next frame is this pong
    < close CODE           the next frame is a Close with this code (`none` for one without), and then the end

    FLAGS     part (not final), rsv1, rsv2, rsv3, plain (not masked), in16, in64 (the form of the length), of N (the
              header says so many bytes, whatever the payload has)
    PAYLOAD   ask N          a request of exactly N bytes; `ask N A:B` is a part of it
              set HEX        a request that sets a text of these bytes, which must then be there
              N of HEX       these bytes so many times
              code N HEX     a code of two bytes and a reason; `code N M of HEX`
              HEX            bytes; a dash for none
"""

import json
import os
import socket
from pathlib import Path

from raw_http import Raw

FOLDER = Path(__file__).parent / "Specs" / "websocket"
OPERATIONS = {"more": 0, "text": 1, "binary": 2, "close": 8, "ping": 9, "pong": 10}
HANDSHAKE = [
    "Host: localhost",
    "Upgrade: websocket",
    "Connection: Upgrade",
    "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
    "Sec-WebSocket-Version: 13",
]
ACCEPT = "s3pPLMBiTxaQ9kYGzzhZRbK+xOo="


class Row:
    def __init__(self, title):
        self.title, self.steps = title, []

    def __repr__(self):
        return self.title


def rows():
    found = []
    text = "\n".join(path.read_text() for path in sorted(FOLDER.glob("*.txt")))
    for line in text.splitlines():
        if line.startswith("# "):
            found.append(Row(line[2:]))
        elif line.strip():
            word, _, rest = line.partition(" ")
            found[-1].steps.append((word, rest))
    return found


def request_of(count):
    text = b'{"id":1,"do":"ping"}'
    assert count >= len(text)
    return text[:-1] + b" " * (count - len(text)) + b"}"


def payload_of(words):
    """The bytes, and the text that they set."""
    match words:
        case ["ask", count]:
            return request_of(int(count)), None
        case ["ask", count, part]:
            start, end = (int(number) if number else None for number in part.split(":"))
            return request_of(int(count))[start:end], None
        case ["set", digits]:
            text = bytes.fromhex(digits)
            return b'{"id":1,"do":"set","path":"/text","value":"' + text + b'"}', text
        case [count, "of", digits]:
            return bytes.fromhex(digits) * int(count), None
        case ["code", code, *reason]:
            return int(code).to_bytes(2, "big") + payload_of(reason or ["-"])[0], None
        case ["-"]:
            return b"", None
        case digits:
            return bytes.fromhex("".join(digits)), None


def frame_of(words):
    """The bytes of a frame, and the text that it sets."""
    words, bits, is_masked, form, said = words.split(), 0x80, True, None, None
    while words[0] not in OPERATIONS and not (words[0].isdigit() and len(words) <= 2):
        match words.pop(0):
            case "part":
                bits &= 0x7F
            case "rsv1" | "rsv2" | "rsv3" as name:
                bits |= 0x80 >> int(name[3])
            case "plain":
                is_masked = False
            case "in16" | "in64" as name:
                form = int(name[2:])
            case "of":
                said = int(words.pop(0))
            case other:
                raise AssertionError(f"no flag: {other}")
    name = words.pop(0)
    payload, text = payload_of(words)
    count = len(payload) if said is None else said
    form = form or (7 if count < 126 else 16 if count < 65536 else 64)
    first = {7: count, 16: 126, 64: 127}[form]
    head = bytes([bits | OPERATIONS.get(name, int(name) if name.isdigit() else 0), first | is_masked << 7])
    if form > 7:
        head += count.to_bytes(form // 8, "big")
    if not is_masked:
        return head + payload, text
    mask = os.urandom(4)
    return head + mask + bytes(byte ^ mask[at % 4] for at, byte in enumerate(payload)), text


class Socket(Raw):
    """A WebSocket that sends any bytes, right or wrong."""

    is_dripping = False

    def __init__(self, server, line="GET /.events HTTP/1.1"):
        super().__init__(server.port)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.server, self.line, self.heads = server, line, list(HANDSHAKE)

    def open(self, status=101):
        """The handshake; returns the headers of the answer."""
        self.send_all("\r\n".join([self.line, *self.heads, "", ""]).encode())
        found, headers, _ = self.answer()
        assert found == status, (found, headers)
        if found == 101:
            assert headers["upgrade"].lower() == "websocket"
            assert headers["connection"].lower() == "upgrade"
            assert HANDSHAKE[3] not in self.heads or headers["sec-websocket-accept"] == ACCEPT
            assert self.frame()[0] == 0x81, "the server's hello"
        return headers

    def send_all(self, data):
        for part in [data[at : at + 1] for at in range(len(data))] if self.is_dripping else [data]:
            try:
                self.send(part)
            except ConnectionError:
                return  # closed before all was sent

    def frame(self):
        """The first byte and the payload of the next frame of the server."""
        first, second = self._exactly(2)
        assert second & 0x80 == 0, "a server does not mask"
        count = second
        if count > 125:
            count = int.from_bytes(self._exactly(2 if count == 126 else 8), "big")
            assert count > (125 if second == 126 else 65535), "the shortest form of a length"
        return first, self._exactly(count)


class Played(Socket):
    """One row on its connection."""

    def __init__(self, server, row):
        super().__init__(server)
        self.row, self.text = row, None

    def play(self):
        status, changed, steps = 101, set(), list(self.row.steps)
        while steps and steps[0][0] in ("line", "head", "status", "drip"):
            word, rest = steps.pop(0)
            if word == "drip":
                self.is_dripping = True
            elif word == "line":
                self.line = rest
            elif word == "status":
                status = int(rest)
            else:
                name = rest.removeprefix("-").partition(":")[0].lower()
                if name not in changed:
                    self.heads = [head for head in self.heads if head.partition(":")[0].lower() != name]
                changed.add(name)
                self.heads += [] if rest.startswith("-") else [rest]
        headers = self.open(status)
        for word, rest in steps:
            getattr(self, {">": "step_send", "<": "step_expect"}.get(word, f"step_{word}"))(rest, headers)
        if status != 101:
            assert headers.get("connection") == "close" and self.is_over()

    def step_header(self, rest, headers):
        name, _, value = rest.partition(": ")
        if name.startswith("-"):
            assert name[1:].lower() not in headers
        else:
            assert headers[name.lower()] == value

    def step_drip(self, *_):
        self.is_dripping = True

    def step_send(self, rest, _):
        if rest.startswith("raw "):
            return self.send_all(bytes.fromhex(rest[4:]))
        data, text = frame_of(rest)
        self.text = text or self.text
        self.send_all(data)

    def step_expect(self, rest, _):
        kind, *words = rest.split()
        bits, payload = self.frame()
        assert bits & 0x70 == 0 and bits & 0x80, "whole frames without extensions"
        if kind == "answer":
            assert bits & 0x0F == 1 and json.loads(payload)["ok"] is True, (bits, payload)
            if self.text is not None:
                assert self.server.get("/text.json").json == self.text.decode()
        elif kind == "pong":
            assert (bits & 0x0F, payload) == (10, payload_of(words)[0])
        else:
            assert bits & 0x0F == 8, (bits, payload)
            found = "none" if not payload else str(int.from_bytes(payload[:2], "big"))
            assert [found] == words, payload
            payload[2:].decode()
            self.send_all(frame_of("close -")[0])
            assert self.is_over(), "nothing follows a Close frame"
