"""What is JSON is so at each door, and what is not is refused: the rows of JSONTreeTests/Specs/grammar.json.

The doors are a body with a length and one in chunks, an update, messages of both protocols, keys, and rules.
"""

import json

import pytest

from hearth_server import ROOT, Hearth
from raw_http import Raw, chunked, request
from websocket_table import Socket, frame_of

TABLE = ROOT / "Tests" / "Data" / "JSONTreeTests" / "Specs" / "grammar.json"
OLD = "old"
RULES = b'{"rules":{".read":true,".write":true,"a":{".indexOn":[%s]}}}'


def rows():
    """(what, bytes, whether it is JSON, its value)"""
    for row in json.loads(TABLE.read_text()):
        data = row["bytes"]
        if "fill" in row:
            data = data.replace("~", row["fill"] * row["count"])
        yield row["what"], data.encode("latin-1"), "is" in row, json.loads(row.get("is", "null"))


ROWS = list(rows())


@pytest.fixture(scope="module")
def server():
    with Hearth() as server:
        yield server


class Door:
    """A way of JSON text into the tree, to /x."""

    def __init__(self, server):
        self.server, self.raw = server, None

    def connection(self):
        if self.raw is None:
            self.raw = self.opened()
        return self.raw

    def opened(self):
        return Raw(self.server.port)

    def ask(self, data):
        """Whether the request is done; the connection stays, or is over."""
        answer = self.connection().send(data).answer()
        if answer[1].get("connection") == "close":
            self.raw = None
        assert answer[0] in (200, 400), answer
        return answer[0] == 200


class WithLength(Door):
    def put(self, text):
        return self.ask(request("PUT", "/x.json", text, f"Content-Length: {len(text)}"))


class InChunks(Door):
    def put(self, text):
        body = chunked(*(text[at : at + 1] for at in range(len(text))))
        return self.ask(request("PUT", "/x.json", body, "Transfer-Encoding: chunked"))


class Update(Door):
    def put(self, text):
        return self.ask(request("PATCH", "/.json", b'{"y":[1],"x":' + text + b',"z":2}'))


class Messages(Door):
    """A WebSocket; what is no UTF-8 or no JSON ends it."""

    def opened(self):
        found = Socket(self.server, f"GET {self.ADDRESS} HTTP/1.1")
        found.open()
        return found

    def put(self, text):
        raw = self.connection()
        message = self.MESSAGE % text
        raw.send_all(frame_of("text " + message.hex())[0])
        bits, payload = raw.frame()
        if bits & 0x0F == 8:
            self.raw = None
            return False
        return self.is_done(json.loads(payload))


class Events(Messages):
    ADDRESS = "/.events"
    MESSAGE = b'{"id":1,"do":"set","path":"/x","value":%s}'

    def is_done(self, reply):
        return reply["ok"]


class Wire(Messages):
    ADDRESS = "/.ws?v=5"
    MESSAGE = b'{"t":"d","d":{"r":1,"a":"p","b":{"p":"/x","d":%s}}}'

    def is_done(self, reply):
        return reply["d"]["b"]["s"] == "ok"


@pytest.mark.parametrize("kind", [WithLength, InChunks, Update, Events, Wire])
def test_each_row_is_its_value_or_is_refused(server, kind):
    door, faults = kind(server), []
    for what, text, is_json, value in ROWS:
        server.put("/x.json", OLD)
        is_done = door.put(text)
        found = server.get("/x.json?format=export").json
        expected = exported(value) if is_json else OLD
        is_same = found == expected and isinstance(found, bool) == isinstance(expected, bool)
        if is_done != is_json or not is_same:
            faults.append((what, is_done, found))
    assert not faults


def exported(value):
    """Lists are objects in an export."""
    if isinstance(value, list):
        value = dict(enumerate(value))
    if isinstance(value, dict):
        return {str(key): exported(child) for key, child in value.items() if child is not None}
    return value


def is_key(text):
    return 0 < len(text.encode()) <= 768 and not any(ord(c) < 32 or c in "\x7f.#$/[]" for c in text)


def texts():
    """Rows that are one text, or none because of it."""
    return [row for row in ROWS if row[1][:1] == b'"' and (row[1][-1:] == b'"' or not row[2])]


def test_each_text_is_so_as_a_key(server):
    door, faults = WithLength(server), []
    for what, text, is_json, value in texts():
        server.put("/x.json", OLD)
        is_right = is_json and is_key(value)
        is_done = door.put(b"{" + text + b":1}")
        found = server.get("/x.json").json
        if is_done != is_right or found != ({value: 1} if is_right else OLD):
            faults.append((what, is_done, found))
    assert not faults


def test_each_text_is_so_in_rules(server):
    door, faults = Door(server), []
    for what, text, is_json, value in texts():
        rules = RULES % text
        is_done = door.ask(request("PUT", "/.settings/rules.json?ns=ruled", rules))
        if is_done != (is_json and is_key(value)):
            faults.append((what, is_done))
    assert not faults
