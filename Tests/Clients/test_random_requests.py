"""Random requests, right and wrong: each is answered, none ends the server, and the tree stays a tree."""

import gzip
import json
import os
import random
import urllib.parse

import pytest

from hearth_server import Hearth
from raw_http import Raw, chunked, request
from vocabulary import SEED

COUNT = int(os.environ.get("HEARTH_REQUESTS", "700"))
# 501 is what libraries for files do not try again.
STATUSES = {200, 204, 304, 400, 401, 403, 404, 405, 411, 412, 413, 415, 426, 501}

RULES = {
    ".read": True,
    ".write": True,
    "a": {".indexOn": ["b", ".value", "b/c"]},
    "closed": {".write": False, ".validate": "newData.isNumber() || newData.child('b').exists()"},
    "$any": {"n": {".validate": "newData.val() != 3"}},
}
SEGMENTS = [
    "a",
    "b",
    "n",
    "0",
    "1",
    "2",
    "10",
    "-1",
    "closed",
    "é",
    "a%20b",
    "%F0%9F%98%80",
    "k" * 60,
]
ODD_SEGMENTS = [
    ".priority",
    ".value",
    ".info",
    ".settings",
    ".sv",
    "",
    "a.b",
    "$x",
    "%2E",
    "%00",
    "%ff",
    "%",
]
ODD_SEGMENTS += ["..", ".json", "[0]", "k" * 769, ".inspect", ".upload", "%2F", "a+b", "#"]
# Every address that is no data, but for exports, which write files where the request says.
ROUTES = ["/", "/.ws", "/.events", "/.lp", "/.health/live", "/.health/ready", "/.metrics"]
ROUTES += ["/.settings/rules.json", "/.settings/rulesets.json", "/.settings/nope.json"]
ROUTES += ["/.settings/rulesets/x.json", "/.settings/profile.json", "/.settings", "/.simulate"]
ROUTES += ["/.settings/ruleset_labels.json", "/.settings/strictTriggerValidation.json", "/.backup"]
ROUTES += ["/.inspect/databases.json", "/.inspect/coverage.json", "/b/.upload", "/.priority/.upload"]
ROUTES += ["/emulators", "/functions/disableBackgroundTriggers", "/.info.json", "/.info/x.json"]
FILE = b'--x\r\nContent-Disposition: form-data; name="f"; filename="q"\r\n\r\n{"u":1}\r\n--x--'
BODIES = [b"", b"null", b"{}", b"true", b'{"rules":{".read":true,".write":true}}', b'{"rules":5}']
BODIES += [b'{"stable":"x"}', b'{"stable":null}', FILE, FILE[:-5], b"--x", b"[[[[", b"\xff\xfe"]
LEAVES = [
    None,
    True,
    False,
    0,
    1,
    -1,
    2.5,
    1e300,
    9007199254740993,
    -(2**63),
    "",
    "x",
    "é😀",
    "\u0000",
    "y" * 300,
]
TEXTS = [
    "null",
    "true",
    "0",
    "1",
    "-1.5",
    '"a"',
    '"b","a"',
    "1,2",
    "{}",
    "[1]",
    "x",
    '"',
    "",
    "1e999",
    '"\\ud800"',
]
PARAMETERS = {
    "orderBy": [
        '"b"',
        '"$key"',
        '"$value"',
        '"$priority"',
        '"b/c"',
        '"none"',
        '"$x"',
        "b",
        "5",
        '""',
        '"a.b"',
    ],
    "startAt": TEXTS,
    "startAfter": TEXTS,
    "endAt": TEXTS,
    "endBefore": TEXTS,
    "equalTo": TEXTS,
    "limitToFirst": ["1", "2", "1000", "0", "-1", "x", "99999999999999999999"],
    "limitToLast": ["1", "2", "1000", "0", "1.5"],
    "shallow": ["true", "false", "x"],
    "print": ["pretty", "silent", "x"],
    "format": ["export", "x"],
    "callback": ["f", "a.b", "alert(1)"],
    "download": ["x.json", 'a"b', ""],
    "timeout": ["1s", "1ms", "x"],
    "writeSizeLimit": ["tiny", "unlimited", "x"],
    "auth": ["owner", "garbage", "a.b.c", ""],
    "access_token": ["owner", "x"],
    "auth_variable_override": ["null", '{"uid":"a"}', "{", "1"],
    "start": ["t"],
    "id": ["x"],
    "pw": ["x"],
    "cb": ["1", "x"],
    "v": ["5", "6"],
    "disconn": ["t"],
    "ts0": ["1", "x"],
    "ns": ["default", "other", "a_b", ""],
    "x-http-method-override": ["PUT", "PATCH", "DELETE", "GET", "FLY"],
    "unknown": ["1"],
}
HEADERS = {
    "X-Firebase-ETag": ["true", "false"],
    "If-Match": ["null_etag", "x", '"x"', ""],
    "If-None-Match": ["null_etag", "x", "*"],
    "X-HTTP-Method-Override": ["PUT", "PATCH", "DELETE", "GET", "FLY"],
    "Authorization": ["Bearer owner", "Bearer x", "Basic eDp5", "Bearer", ""],
    "Origin": ["http://localhost:1", "http://evil.example", "null"],
    "Accept-Encoding": ["gzip", "gzip;q=0", "*", "identity"],
    "Accept": ["application/json", "*/*", "", "text/event-stream", "text/event-stream;q=0"],
    "Host": ["evil.example", "x.localhost", ""],
    "Upgrade": ["websocket", "h2c"],
    "Connection": ["close", "keep-alive", "upgrade"],
    "Referer": ["http://localhost/", "http://evil.example/", "x"],
    "Sec-Fetch-Site": ["cross-site", "same-origin"],
    "Access-Control-Request-Headers": ["a, b"],
    "Content-Type": ["text/plain", "multipart/form-data; boundary=x", "x"],
    "Content-Encoding": ["identity", "br"],
    "Expect": ["100-continue"],
    "Range": ["bytes=0-1"],
    "Cookie": ["a=b"],
}


def escaped(text):
    return "".join(
        c if c.isalnum() or c in "-._~$/:" else "".join(f"%{b:02X}" for b in c.encode())
        for c in text
    )


class Writer:
    """Makes requests up from a seed."""

    def __init__(self, seed):
        self.random = random.Random(seed)

    def chance(self, share):
        return self.random.random() < share

    def pick(self, choices):
        return self.random.choice(choices)

    def path(self):
        if self.chance(0.25):
            return self.pick(ROUTES)
        count = self.pick([0, 1, 1, 2, 2, 3, 3, 4, 33] if self.chance(0.1) else [0, 1, 1, 2, 2, 3])
        odd = self.chance(0.15)
        pieces = [
            self.pick(ODD_SEGMENTS if odd and self.chance(0.4) else SEGMENTS) for _ in range(count)
        ]
        if self.chance(0.15):
            pieces.append(".priority")
        return "/" + "/".join(pieces) + self.pick([".json"] * 12 + ["", "/.json", ".jso"])

    def key(self):
        if self.chance(0.15):
            return self.pick(
                [".priority", ".value", ".sv", "", "a/b", "a.b", "$x", ".x", "\u0001", "k" * 769]
            )
        return self.pick(["a", "b", "c", "n", "0", "1", "2", "é", "closed", "a b"])

    def value(self, depth=0):
        kind = self.random.random()
        if kind < 0.35 or depth > 4:
            return self.pick(LEAVES)
        if kind < 0.45:
            return {
                ".sv": self.pick(
                    ["timestamp", {"increment": self.pick([1, -2.5, "x", None])}, "x", 5]
                )
            }
        if kind < 0.55:
            return {
                ".value": self.pick(LEAVES),
                ".priority": self.pick([1, "p", None, True, {}, {".sv": "timestamp"}]),
            }
        if kind < 0.65:
            return [self.value(depth + 1) for _ in range(self.random.randrange(4))]
        made = {self.key(): self.value(depth + 1) for _ in range(self.random.randrange(4))}
        if self.chance(0.1):
            made[".priority"] = self.pick([1, "p", None])
        return made

    def update(self):
        paths = [
            "a",
            "a/b",
            "/b",
            "n",
            "c/d/e",
            "a/.priority",
            "closed",
            "0",
            "",
            "a.b",
            ".info/x",
            "b/.value",
        ]
        return {self.pick(paths): self.value(2) for _ in range(self.random.randrange(4))}

    def body(self, method):
        if self.chance(0.2):
            return self.pick(BODIES)
        made = self.update() if method == "PATCH" and self.chance(0.8) else self.value()
        data = json.dumps(made, ensure_ascii=self.chance(0.5)).encode()
        if self.chance(0.12) and data:
            data = bytearray(data)
            for _ in range(self.random.randrange(1, 4)):
                data[self.random.randrange(len(data))] = self.random.randrange(256)
            data = bytes(data)
        return data[: self.random.randrange(len(data) + 1)] if self.chance(0.05) else data

    def query(self):
        if self.chance(0.4):
            return ""
        names = self.random.sample([*PARAMETERS], self.pick([1, 1, 2, 3]))
        if self.chance(0.4) and "orderBy" not in names:
            names.append("orderBy")
        return "?" + "&".join(f"{name}={escaped(self.pick(PARAMETERS[name]))}" for name in names)

    def request(self):
        method = self.pick(
            ["GET", "PUT", "PUT", "POST", "PATCH", "PATCH", "DELETE", "HEAD", "OPTIONS", "FLY"]
        )
        lines = []
        if self.chance(0.4):
            names = self.random.sample([*HEADERS], self.pick([1, 1, 2]))
            lines = [f"{name}: {self.pick(HEADERS[name])}" for name in names]
        data = b""
        if method in ("PUT", "POST", "PATCH") or self.chance(0.05):
            data = self.body(method)
            if self.chance(0.1):
                data = gzip.compress(data)
                lines.append("Content-Encoding: gzip")
            if self.chance(0.15):
                cut = self.random.randrange(len(data) + 1)
                data = chunked(*(part for part in (data[:cut], data[cut:]) if part))
                lines.append("Transfer-Encoding: chunked")
            elif not data:
                lines.append("Content-Length: 0")
        return request(method, self.path() + self.query(), data, *lines), method


def answer_of(raw, method):
    """The answer after those that only say to go on; of an event stream the head."""
    while True:
        answer = raw.answer(has_body=method != "HEAD", reads_streams=False)
        if answer is None or answer[0] != 100:
            return answer


def check_tree(server, target, method, answer, before, about):
    """A refused request has changed nothing; what a put has echoed is there."""
    status, _, body = answer
    if status >= 300 or method in ("GET", "HEAD", "OPTIONS"):
        assert server.get("/.json?format=export").body == before, about
    elif status == 200 and method == "PUT" and "?" not in target and target not in ROUTES and not target.startswith("/."):
        assert server.get(urllib.parse.quote(target, safe="/%")).body == body, about


@pytest.mark.parametrize("number", range(3))
def test_random_requests_are_answered(number, tmp_path):
    seed = SEED + number
    writer = Writer(seed)
    with Hearth(data=tmp_path / "data") as server:
        answer = server.put("/.settings/rules.json", {"rules": RULES})
        assert answer.status == 200, answer.text
        raw = Raw(server.port)
        for n in range(COUNT):
            data, method = writer.request()
            about = f"seed {seed}, request {n}: {data!r}"
            # Asked for now and then: it takes longer than the request.
            before = server.get("/.json?format=export").body if writer.chance(0.1) else None
            raw.send(data)
            answer = answer_of(raw, method)
            assert answer is not None, f"{about}: no answer, the server says {server.process.poll()}"
            status, headers, body = answer
            assert status in STATUSES, f"{about}: {answer}"
            if (
                status not in (200, 204, 304, 412)
                and method != "HEAD"
                and headers["content-type"].startswith("application/json")
            ):
                assert json.loads(body)["error"], about
            if before is not None:
                check_tree(server, data.split(b" ")[1].decode(), method, answer, before, about)
            is_stream = headers.get("content-type", "").startswith("text/event-stream")
            if is_stream or headers.get("connection", "").lower() == "close":
                assert is_stream or raw.is_over(), f"{about}: {raw.waiting!r}"
                raw.socket.close()
                raw = Raw(server.port)
        raw.socket.close()
        exported = server.get("/.json?format=export")
        assert server.request("PUT", "/.json?ns=copy&print=silent", raw=exported.body).status == 204
        assert server.get("/.json?ns=copy&format=export").body == exported.body, f"seed {seed}"
        server.kill()
        server.start()
        assert server.get("/.json?format=export").body == exported.body, f"seed {seed}"
