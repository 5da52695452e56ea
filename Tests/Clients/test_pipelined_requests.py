"""Requests of all kinds on one connection, cut at random places, answer as the same requests one by one.

Two servers get the same requests: one gets each on a connection of its own, the other gets them in a row over as few
connections as the answers allow, in pieces that end anywhere.
"""

import collections
import gzip
import json
import os
import re
import threading
from pathlib import Path

from hearth_server import Hearth
from raw_http import Raw, chunked, request
from signing import AUDIENCE, ISSUER, ECKey, claims, jwks, token
from vocabulary import SEED, drawn

COUNT = int(os.environ.get("HEARTH_REQUESTS", "250"))
KEY, STRANGER = ECKey("key"), ECKey("key")
SECRET = "0123456789abcdef0123456789abcdef"
RULES = {
    "rules": {
        "open": {".read": True, ".write": True, "list": {".indexOn": "n"}},
        "members": {".read": "auth != null", ".write": "auth != null"},
        "users": {"$uid": {".read": "auth.uid === $uid", ".write": "auth.uid === $uid"}},
    }
}
FORM = b'--x\r\nContent-Disposition: form-data; name="f"; filename="q"\r\n\r\n{"u":1}\r\n--x--'
LARGE = json.dumps({f"k{n:05}": {"n": n, "text": "x" * 20} for n in range(3_000)}).encode()
NAMES = ["default", "other"]
CREDENTIALS = {
    "none": None,
    "ann": lambda: token(KEY, claims("ann")),
    "bob": lambda: token(KEY, claims("bob")),
    "expired": lambda: token(KEY, claims("ann", lifetime=-3600)),
    "forged": lambda: token(STRANGER, claims("ann")),
    "garbage": lambda: "garbage",
    "administrator": lambda: SECRET,
}
# What the answers of two servers differ in: names of new children, and times.
OWN = re.compile(rb'-[-\w]{19}|"(time|createdAt)":\d+')
# Answers that tell of the server: only whether there is one is compared.
PRIVATE = {"metrics", "backup", "keys"}


class Writer:
    """Makes requests up from a seed, each with the kind of its route and of its credential."""

    def __init__(self, number):
        self.random = drawn(number)
        self.tokens = {name: make() if make else None for name, make in CREDENTIALS.items()}
        self.kinds = {
            name.removeprefix("ask_"): getattr(self, name) for name in dir(self) if name.startswith("ask_")
        }

    def pick(self, choices):
        return self.random.choice(choices)

    def path(self):
        top = self.pick(["open", "open", "members", "users/ann", "users/bob"])
        return "/" + "/".join([top, *(self.pick(["a", "b", "c"]) for _ in range(self.random.randrange(3)))])

    def value(self):
        return json.dumps(self.pick([None, 0, 1.5, "é😀", True, {"a": 1, "b": {"c": "x"}}, {"n": 2}])).encode()

    # Each gives the method, the address, the body, and header lines.

    def ask_read(self):
        return "GET", self.path() + ".json" + self.pick(["", "?print=pretty", "?shallow=true"])

    def ask_head(self):
        return "HEAD", self.path() + ".json"

    def ask_query(self):
        limit = self.pick(["&limitToFirst=2", "&limitToLast=1", "&startAt=1", ""])
        return "GET", f'/open/list.json?orderBy="{self.pick(["n", "$key", "none"])}"{limit}'

    def ask_put(self):
        return "PUT", self.path() + ".json", self.value()

    def ask_update(self):
        return "PATCH", self.path() + ".json", self.pick([b'{"a":1,"b/c":2}', b"null", b"[]", b"{"])

    def ask_remove(self):
        return "DELETE", self.path() + ".json"

    def ask_push(self):
        return "POST", "/open/pushed.json", self.value()

    def ask_override(self):
        return "POST", self.path() + ".json", self.value(), "X-HTTP-Method-Override: PUT"

    def ask_condition(self):
        if self.pick([True, False]):
            return "GET", "/open/a.json", b"", "X-Firebase-ETag: true"
        return "PUT", "/open/a.json", self.value(), f"If-Match: {self.pick(['null_etag', 'x'])}"

    def ask_large_write(self):
        return "PUT", "/open/large.json?print=silent", LARGE

    def ask_large_read(self):
        return "GET", "/open/large.json", b"", self.pick(["Accept: */*", "Accept-Encoding: gzip"])

    def ask_coded_write(self):
        return "PUT", "/open/list.json?print=silent", gzip.compress(LARGE[:-1] + b"}"), "Content-Encoding: gzip"

    def ask_chunked_write(self):
        data = b'{"one":{"n":1},"two":{"n":2}}'
        cut = self.random.randrange(1, len(data))
        return "PUT", "/open/list.json", chunked(data[:cut], data[cut:]), "Transfer-Encoding: chunked"

    def ask_rules(self):
        address = "/.settings/rules" + self.pick([".json", "_history.json", "_history/1.json"])
        return self.pick(["GET", "HEAD"]), address

    def ask_new_rules(self):
        return "PUT", "/.settings/rules.json", self.pick([json.dumps(RULES).encode(), b'{"rules":5}'])

    def ask_setting(self):
        address = "/.settings/defaultWriteSizeLimit.json"
        return self.pick([("PUT", address, self.pick([b'"large"', b'"tiny"'])), ("GET", address)])

    def ask_upload(self):
        return "POST", "/open/u/.upload", FORM, "Content-Type: multipart/form-data; boundary=x"

    def ask_simulation(self):
        return "POST", "/.simulate", b'{"operation":"read","path":"/open"}'

    def ask_inspection(self):
        return "GET", "/.inspect/" + self.pick(["level.json", "databases.json"])

    def ask_metrics(self):
        return "GET", "/.metrics"

    def ask_backup(self):
        return "GET", "/.backup"

    def ask_keys(self):
        return "GET", "/.accounts/keys.json"

    def ask_identity(self):
        return "POST", "/identitytoolkit.googleapis.com/v1/accounts:lookup", b"{}"

    def ask_health(self):
        return self.pick(["GET", "HEAD"]), self.pick(["/", "/.health/live", "/.health/ready"])

    def ask_refused_method(self):
        return "DELETE", self.pick(["/.simulate", "/.settings/rulesets.json"])

    def ask_socket(self):
        return "GET", self.pick(["/.ws", "/.events"])

    def ask_nothing(self):
        return self.pick(["GET", "PUT"]), self.pick(["/nowhere", "/a.b/c.json", "/.settings/nope.json"])

    def ask_preflight(self):
        return "OPTIONS", self.pick(["/open.json", "/.settings/rules.json"])

    def request(self, kind):
        method, target, *rest = self.kinds[kind]()
        body, *lines = rest or [b""]
        name = self.pick([*self.tokens])
        credential = self.tokens[name]
        way = self.pick(["header", "auth", "access_token"])
        database = self.pick([*NAMES, *NAMES, *NAMES, "unknown"])
        parameters = [f"ns={database}"]
        if credential and way == "header":
            lines.append(f"Authorization: Bearer {credential}")
        elif credential:
            parameters.append(f"{way}={credential}")
        target += ("&" if "?" in target else "?") + "&".join(parameters)
        data = request(method, target, body, *lines)
        return Asked(kind, method, data, {("credential", name), ("database", database), ("route", kind)})


class Asked:
    def __init__(self, kind, method, data, facts):
        self.kind, self.method, self.data, self.facts = kind, method, data, facts

    def place(self, offset):
        """What a cut before this byte of the request cuts."""
        head = self.data.index(b"\r\n\r\n")
        if offset == 0:
            return "between requests"
        if offset < self.data.index(b"\r\n"):
            return "request line"
        if offset <= head:
            return "header"
        if offset < head + 4:
            return "end of the head"
        if offset == head + 4:
            return "between head and body"
        return "chunks" if b"Transfer-Encoding" in self.data[:head] else "body"


PLACES = {
    "between requests", "request line", "header", "end of the head", "between head and body", "body", "chunks",
}


def comparable(asked, answer):
    """What of an answer two servers share."""
    status, headers, body = answer
    if headers.get("content-encoding") == "gzip":
        body = gzip.decompress(body)
    if asked.kind in PRIVATE and status == 200:
        return status, headers["content-type"]
    # The tag of a node that has children named by the server is that server's.
    return status, OWN.sub(b"", body), headers.get("content-type"), headers.get("etag")


def one_by_one(server, requests):
    """The answers, and which of them end their connection."""
    answers = []
    for asked in requests:
        with Raw(server.port) as raw:
            answers.append(raw.send(asked.data).answer(has_body=asked.method != "HEAD"))
    return answers


def is_read(raw, port):
    """Whether the server has taken all that was sent: the system shows what waits for it."""
    own = raw.socket.getsockname()[1]
    # The server's end of the connection: both addresses, the state, what waits to be sent and to be read.
    queues = re.compile(rf":{port:04X} \w+:{own:04X} \w+ \w+:(\w+)")
    found = (queues.search(Path(table).read_text()) for table in ["/proc/net/tcp", "/proc/net/tcp6"])
    return all(int(line[1], 16) == 0 for line in found if line)


class Pipeline:
    """Requests in a row on one connection, sent in pieces while their answers are read."""

    def __init__(self, server, requests, random, seen):
        self.server, self.requests, self.random, self.seen = server, requests, random, seen
        self.data = b"".join(asked.data for asked in requests)

    def cuts(self):
        """Where pieces begin, in order."""
        offsets, start = set(), 0
        for asked in self.requests:
            head = asked.data.index(b"\r\n\r\n")
            inside = [self.random.randrange(head), head + self.random.randrange(1, 4), head + 4, 0]
            inside.append(self.random.randrange(len(asked.data)))
            inside.append(self.random.randrange(max(0, len(asked.data) - 40), len(asked.data)))
            for offset in inside:
                if self.random.random() < 0.3 and 0 <= offset < len(asked.data) and start + offset:
                    offsets.add(start + offset)
                    self.seen["cut", asked.place(offset)] += 1
            start += len(asked.data)
        return sorted(offsets)

    def answers(self):
        with Raw(self.server.port) as raw:
            sender = threading.Thread(target=self.send, args=[raw])
            sender.start()
            answers = [raw.answer(has_body=asked.method != "HEAD") for asked in self.requests]
            sender.join()
        return answers

    def send(self, raw):
        ends = [*self.cuts(), len(self.data)]
        start = 0
        for end in ends:
            raw.send(self.data[start:end])
            # Every other piece is waited for; a server that works on a request reads no further one, and pieces come together.
            alone = self.random.random() < 0.5 and any(is_read(raw, self.server.port) for _ in range(20))
            self.seen["piece", "read alone" if alone else "read with the next"] += 1
            start = end


def server(folder, name):
    """A server on a data folder of its own; both read the same files."""
    files = {"rules.json": json.dumps(RULES), "keys.json": jwks(KEY), "secret": SECRET}
    for file, text in files.items():
        (folder / file).write_text(text)
        (folder / file).chmod(0o600)
    flags = ["--rules", folder / "rules.json", "--jwks", folder / "keys.json", "--project", AUDIENCE]
    flags += ["--token-issuer", ISSUER, "--token-audience", AUDIENCE]
    flags += ["--admin-secret-file", folder / "secret"]
    for database in NAMES:
        flags += ["--database", database]
    return Hearth(*map(str, flags), dev=False, data=folder / name, log=folder / f"{name}.log")


def compare(one, row, requests, random, seen, origin):
    """Sends the requests one by one to a server and in pieces to the other; the answers are the same."""
    expected = one_by_one(one, requests)
    begin = 0
    while begin < len(requests):
        # Behind an answer that ends its connection nothing more is answered there.
        end = begin + 1
        while end < len(requests) and expected[end - 1][1].get("connection", "").lower() != "close":
            end += 1
        pipeline = Pipeline(row, requests[begin:end], random, seen)
        for index, answer in enumerate(pipeline.answers(), begin):
            asked = requests[index]
            shown = f"{origin}, request {index} of {begin} to {end}: {asked.data[:200]!r}"
            assert answer is not None, shown
            assert comparable(asked, answer) == comparable(asked, expected[index]), shown
            seen.update(asked.facts)
            seen["status", answer[0]] += 1
        seen["connection", "of several requests"] += end - begin > 1
        begin = end
    for name in NAMES:
        left, right = (
            OWN.sub(b"", which.get(f"/.json?ns={name}&auth={SECRET}").body) for which in (one, row)
        )
        assert left == right, origin


def test_requests_in_a_row_and_in_pieces_answer_as_one_by_one(tmp_path):
    origin = f"HEARTH_SEED={SEED}"
    writer = Writer(0)
    seen = collections.Counter()
    must = {("route", kind) for kind in writer.kinds} | {("cut", place) for place in PLACES}
    must |= {("credential", name) for name in CREDENTIALS} | {("piece", "read alone")}
    must |= {("database", name) for name in [*NAMES, "unknown"]} | {("connection", "of several requests")}
    must |= {("status", status) for status in (200, 204, 400, 401, 404, 405, 412)}
    with server(tmp_path, "one") as one, server(tmp_path, "row") as row:
        # Every kind at least twice, in any order; then any kinds, until each state was reached.
        kinds = 2 * [*writer.kinds]
        kinds += [writer.pick([*writer.kinds]) for _ in range(max(0, COUNT - len(kinds)))]
        writer.random.shuffle(kinds)
        for _ in range(20):
            compare(one, row, [writer.request(kind) for kind in kinds], writer.random, seen, origin)
            missing = {fact for fact in must if not seen[fact]}
            if not missing:
                break
            kinds = [writer.pick([*writer.kinds]) for _ in range(50)]
    assert not missing, f"{origin}: {missing} not reached, but {dict(seen)}"
