"""Reads the table of requests that two readers could take apart differently, `Specs/smuggling/*.txt`.

Lines of a row, which begins with `# sentence`; `\\r`, `\\n`, `\\t` and `\\x00` stand for bytes:

    line TEXT         a request line other than that of a PUT to /open/first.json
    head NAME: VALUE  a header behind `Host: localhost`; `head -Host` leaves that out
    body BYTES        the body; without this line it is `1`, in one chunk where the headers have `chunked`
    raw BYTES         the whole request
    answers N N ...   all that the server answers to this request and to the one behind it, a PUT to /open/trap.json

The request behind is served if and only if the last of several answers is 200. Where the first answer is 200 (behind a
100), the body was read: `value JSON` says what stands at /open/first then, 1 without this line.
"""

import json
from pathlib import Path

FOLDER = Path(__file__).parent / "Specs" / "smuggling"
LINE = "PUT /open/first.json HTTP/1.1"
TRAP = b"PUT /open/trap.json HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1\r\nConnection: close\r\n\r\n1"


def bytes_of(text):
    return text.encode("latin-1").decode("unicode_escape").encode("latin-1")


class Row:
    def __init__(self, title):
        self.title, self.line, self.heads = title, LINE, ["Host: localhost"]
        self.body = self.raw = None
        self.answers, self.value = [], 1

    def __repr__(self):
        return self.title

    def read(self, word, text):
        match word:
            case "line":
                self.line = text
            case "head" if text == "-Host":
                self.heads.remove("Host: localhost")
            case "head":
                self.heads.append(text)
            case "body":
                self.body = bytes_of(text)
            case "raw":
                self.raw = bytes_of(text)
            case "answers":
                self.answers = [int(status) for status in text.split()]
            case "value":
                self.value = json.loads(text)
            case _:
                raise AssertionError(f"no word: {word}")

    @property
    def data(self):
        """The request."""
        if self.raw is not None:
            return self.raw
        body = self.body
        if body is None:
            is_chunked = any("chunked" in head.lower() for head in self.heads)
            body = b"1\r\n1\r\n0\r\n\r\n" if is_chunked else b"1"
        return b"\r\n".join(bytes_of(line) for line in [self.line, *self.heads, "", ""]) + body

    @property
    def serves_trap(self):
        return len(self.answers) > 1 and self.answers[-1] == 200

    @property
    def first(self):
        """What stands at /open/first afterwards."""
        final = [status for status in self.answers if status >= 200]
        return self.value if final[0] == 200 else None


def rows():
    found = []
    for path in sorted(FOLDER.glob("*.txt")):
        for line in path.read_text().splitlines():
            if line.startswith("# "):
                found.append(Row(line[2:]))
            elif line:
                word, _, text = line.partition(" ")
                found[-1].read(word, text)
    return found
