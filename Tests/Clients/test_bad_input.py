"""Requests that are wrong: each has its error, changes nothing, and leaves its connection usable or closed."""

import gzip
import json

import pytest

from hearth_server import Hearth
from raw_http import Raw, chunked, request

TREE = {"kept": {"a": 1, "b": {"c": True}}, "x": "old"}
UNPARSED = "Invalid data; couldn't parse JSON object, array, or value."
BAD_PATH = "Invalid path: Invalid token in path"
TOO_LARGE = "Data to write exceeds the maximum size that can be modified with a single request."
NO_DATA = "Error: No data supplied."
PROBE = request("GET", "/kept/a.json")


@pytest.fixture(scope="module")
def server():
    with Hearth() as server:
        yield server


@pytest.fixture(autouse=True)
def nothing_changes(server):
    """The whole tree is the same after as it was before."""
    server.put("/.json", TREE)
    yield
    answer = server.get("/.json?format=export")
    assert answer.status == 200 and answer.json == TREE, "a bad request changed something"


def error_of(answer):
    status, headers, body = answer
    assert headers["content-type"] == "application/json; charset=utf-8", answer
    message = json.loads(body)["error"]
    layout = '{\n  "error" : %s\n}\n' % json.dumps(message, ensure_ascii=False)
    assert body.decode() == layout, "errors have one layout"
    return message


def ends_known(raw, answer):
    """Either the answer says that the connection closes, and it does, or the next request is served."""
    if answer[1].get("connection", "").lower() == "close":
        assert raw.is_over(), raw.waiting
    else:
        raw.send(PROBE)
        status, _, body = raw.answer()
        assert (status, body) == (200, b"1")


def refused(server, data, status, text=None, then_end=False):
    """Sends `data` and checks the refusal and what becomes of the connection."""
    with Raw(server.port) as raw:
        raw.send(data)
        if then_end:
            raw.end()
        answer = raw.answer()
        assert answer is not None, "the connection ended without an answer"
        assert answer[0] == status, answer
        message = error_of(answer)
        assert text is None or message.startswith(text), message
        if then_end:
            assert raw.is_over()
        else:
            ends_known(raw, answer)


# --- bodies that are no data


BODIES = {
    "nothing": (b"", NO_DATA),
    "an object that is not closed": (b'{"a":1', UNPARSED),
    "a list that is not closed": (b"[1,2", UNPARSED),
    "a text that is not closed": (b'"abc', UNPARSED),
    "a word": (b"hello", UNPARSED),
    "half a word": (b"tru", UNPARSED),
    "two values": (b"1 2", UNPARSED),
    "single quotes": (b"'a'", UNPARSED),
    "a comma too many": (b'{"a":1,}', UNPARSED),
    "no colon": (b'{"a" 1}', UNPARSED),
    "a comment": (b"1 // one", UNPARSED),
    "NaN": (b"NaN", UNPARSED),
    "Infinity": (b"-Infinity", UNPARSED),
    "a number that no double holds": (b"1e400", UNPARSED),
    "a number with a leading zero": (b"007", UNPARSED),
    "a number with a plus": (b"+1", UNPARSED),
    "a hexadecimal number": (b"0x10", UNPARSED),
    "a line break in a text": (b'"a\nb"', UNPARSED),
    "an unknown escape": (b'"\\x41"', UNPARSED),
    "half an escape": (b'"\\u12"', UNPARSED),
    "a byte order mark": (b"\xef\xbb\xbf1", UNPARSED),
    "UTF-16": ('"a"'.encode("utf-16"), UNPARSED),
    "a byte that begins no character": (b'"\xff"', UNPARSED),
    "half a character": (b'"\xc3"', UNPARSED),
    "an over-long character": (b'"\xc0\xaf"', UNPARSED),
    "a surrogate in three bytes": (b'"\xed\xa0\x80"', UNPARSED),
    "a character beyond the last": (b'"\xf4\x90\x80\x80"', UNPARSED),
    "bad UTF-8 in a key": (b'{"\xff":1}', "Invalid data"),
    "a zero byte": (b"\x00", "Invalid data"),
    "a zero byte behind a value": (b"1\x00", UNPARSED),
    "a form feed": (b"\x0c1", UNPARSED),
    "a space of another kind": ("\u00a01".encode(), UNPARSED),
    "brackets without end": (b"[" * 100_000, "Invalid data"),
    "braces without end": (b'{"a":' * 100_000, "Invalid data"),
    "an empty key": (b'{"":1}', "Invalid data; couldn't parse key beginning at 1:2."),
    "a key with a dot": (b'{"a.b":1}', "Invalid data; couldn't parse key beginning at 1:2."),
    "a key with a dollar sign": (
        b'{"a":{"$b":1}}',
        "Invalid data; couldn't parse key beginning at 1:7.",
    ),
    "a key with a hash": (b'{"a#":1}', "Invalid data; couldn't parse key beginning at 1:2."),
    "a key with brackets": (b'{"a[0]":1}', "Invalid data; couldn't parse key beginning at 1:2."),
    "a key with a slash": (b'{"a/b":1}', "Invalid data; couldn't parse key beginning at 1:2."),
    "a key with an escaped slash": (
        b'{"a\\u002fb":1}',
        "Invalid data; couldn't parse key beginning at 1:2.",
    ),
    "a key with a control character": (
        b'{"a\\u0007":1}',
        "Invalid data; couldn't parse key beginning at 1:2.",
    ),
    "a key of 769 bytes": (b'{"%s":1}' % (b"k" * 769), "Invalid data"),
    "an unknown key that begins with a dot": (b'{".size":1}', "Invalid data"),
    "a value beside .value": (b'{".value":1,"a":2}', "Invalid data"),
    "an object as .value": (b'{".value":{"a":1}}', "Invalid data"),
    "an object as .priority": (b'{"a":1,".priority":{}}', "Invalid data"),
    "a boolean as .priority": (b'{"a":1,".priority":true}', "Invalid data"),
    "an unknown server value": (b'{".sv":"x"}', "Invalid data"),
    "an increment that is no number": (b'{".sv":{"increment":"1"}}', "Invalid data"),
    "two server values at once": (b'{".sv":{"increment":1,"timestamp":1}}', "Invalid data"),
    "32 keys below a key": (b'{"k":' * 32 + b"1" + b"}" * 32, None),
    "33 keys": (b'{"k":' * 33 + b"1" + b"}" * 33, None),
}


@pytest.mark.parametrize("method", ["PUT", "POST"])
@pytest.mark.parametrize("body, text", BODIES.values(), ids=BODIES)
def test_a_body_that_is_no_data_is_reported_why(server, method, body, text):
    length = f"Content-Length: {len(body)}"
    refused(server, request(method, "/x.json", body, length), 400, text)


@pytest.mark.parametrize("body, text", BODIES.values(), ids=BODIES)
def test_it_is_the_same_in_chunks(server, body, text):
    parts = [body[place : place + 7] for place in range(0, min(len(body), 700), 7)] + [body[700:]]
    data = chunked(*(part for part in parts if part))
    refused(server, request("PUT", "/x.json", data, "Transfer-Encoding: chunked"), 400, text)


PATCHES = {
    "a number": b"5",
    "a list": b"[1]",
    "a text": b'"x"',
    "nothing": b"",
    "an object that is not closed": b'{"kept/a":2',
    "a bad path": b'{"kept/a":2,"kept/$b":1}',
    "a path above another": b'{"kept":{"a":2},"kept/b":1}',
    "a path below another": b'{"kept/b":1,"kept":{"a":2}}',
    "a path twice": b'{"kept/a":2,"/kept/a":3}',
    "a path of 33 keys": b'{"%s":1}' % b"/".join([b"k"] * 33),
    "a value that ends at depth 33": b'{"%s":{"k":1}}' % b"/".join([b"k"] * 32),
    "a key with a slash below a path": b'{"kept":{"a/b":1}}',
    "an empty path": b'{"":{"kept":1},"x":1}',
    "a path of .info": b'{".info/a":1}',
    "a path with a zero byte": b'{"kept/\\u0000":1}',
}


@pytest.mark.parametrize("body", PATCHES.values(), ids=PATCHES)
def test_a_bad_update_changes_none_of_its_paths(server, body):
    refused(server, request("PATCH", "/.json", body, f"Content-Length: {len(body)}"), 400)


def test_of_a_key_that_is_given_twice_the_last_counts(server):
    for body, value in [
        (b'{"a":1,"a":2}', {"a": 2}),
        (b'{"a":{"b":1},"a":{"c":2}}', {"a": {"c": 2}}),
        (b'{"a":{"b":1},"\\u0061":null}', None),
        (b'{"a":1,"b":2,"a":3}', {"a": 3, "b": 2}),
    ]:
        assert server.request("PUT", "/x.json", raw=body).status == 200
        assert server.get("/x.json").json == value, body
    server.put("/x.json", "old")


def test_a_text_has_at_most_10_mib_wherever_it_stands(server):
    over = b'"' + b"x" * (10 * 2**20 + 1) + b'"'
    for body in [over, b'{"a":[1,' + over + b"]}", b'{".value":' + over + b',".priority":1}']:
        refused(server, request("PUT", "/x.json", body), 400)
    refused(server, request("PATCH", "/.json", b'{"x":1,"kept/a":' + over + b"}"), 400)
    refused(server, request("PUT", "/x.json", chunked(over), "Transfer-Encoding: chunked"), 400)
    escaped = b'"' + b"\\u00e9" * (5 * 2**20 + 1) + b'"'
    refused(server, request("PUT", "/x.json", escaped), 400)


def test_a_depth_of_33_keys_is_refused_and_of_32_is_not(server):
    path = "/" + "/".join(["x"] * 31)
    assert server.request("PUT", f"{path}.json", raw=b'{"k":1}').status == 200
    server.put("/x.json", "old")
    refused(server, request("PUT", f"{path}.json", b'{"k":{"k":1}}'), 400)
    refused(server, request("PUT", f"{path}/x/x.json", b"1"), 400)
    refused(server, request("POST", f"{path}/x.json", b"1"), 400)


# --- addresses


TARGETS = {
    "a dot": "/a.b.json",
    "two endings": "/a.json.json",
    "a dollar sign": "/a$b.json",
    "brackets": "/a[0].json",
    "a percent-coded dot": "/a%2Eb.json",
    "a percent-coded dollar sign": "/a%24b.json",
    "a percent-coded hash": "/a%23.json",
    "a percent-coded slash": "/kept%2Fa.json",
    "a percent-coded slash in lower case": "/kept%2fa.json",
    "a percent-coded bracket": "/a%5B.json",
    "a percent-coded zero": "/a%00.json",
    "a percent-coded line break": "/a%0D%0A.json",
    "a percent-coded delete": "/a%7f.json",
    "a percent-coded step up": "/kept/%2e%2e/x.json",
    "bytes that are no UTF-8": "/%ff.json",
    "half a character": "/%c3.json",
    "half a percent code": "/a%2.json",
    "a percent sign alone": "/%.json",
    "ASCII letters for digits": "/%zz.json",
    "data of the client": "/.info/connected.json",
    "an unknown special name": "/.secret/a.json",
}


@pytest.mark.parametrize("method", ["GET", "PUT", "POST", "PATCH", "DELETE"])
@pytest.mark.parametrize("target", TARGETS.values(), ids=TARGETS)
def test_a_bad_path_is_reported_so(server, method, target):
    body = b'{"a":1}' if method in ("PUT", "POST", "PATCH") else b""
    refused(server, request(method, target, body), 400, BAD_PATH)


@pytest.mark.parametrize(
    "target", ["/" + "k" * 769 + ".json", "/" + "/".join(["k"] * 33) + ".json"]
)
def test_a_path_beyond_its_limits_is_400(server, target):
    refused(server, request("GET", target), 400)
    refused(server, request("PUT", target, b"1"), 400)


PARAMETERS = {
    "an unknown print": "print=x",
    "an unknown format": "format=x",
    "shallow that is neither": "shallow=x",
    "a timeout without a unit": "timeout=5",
    "a timeout that is no number": "timeout=xs",
    "a timeout below 0": "timeout=-1s",
    "an override that is no JSON": "auth_variable_override=x",
    "an override that is a number": "auth_variable_override=1",
    "an override that is a list": "auth_variable_override=[]",
    "an override without end": "auth_variable_override=%7B%22a%22:" + "[" * 900,
    "an order that is no JSON": "orderBy=x",
    "an order that is no path": "orderBy=%22a$%22",
    "a limit without order": "limitToFirst=1",
    "a limit of 0": "orderBy=%22$key%22&limitToFirst=0",
    "a limit beyond every number": "orderBy=%22$key%22&limitToFirst=99999999999999999999",
    "two limits": "orderBy=%22$key%22&limitToFirst=1&limitToLast=1",
    "a bound that is an object": "orderBy=%22$key%22&startAt=%7B%7D",
    "a bound that is no JSON": "orderBy=%22$key%22&startAt=x",
    "three values in a bound": "orderBy=%22$priority%22&startAt=1,%22a%22,%22b%22",
    "a key that is no key in a bound": "orderBy=%22$priority%22&startAt=1,2",
    "startAt and startAfter": "orderBy=%22$priority%22&startAt=1&startAfter=2",
    "equalTo and a bound": "orderBy=%22$priority%22&equalTo=1&startAt=1",
    "a callback that is code": "callback=alert(1)",
    "an ns that is no name": "ns=a_b",
    "an ns with a slash": "ns=a%2Fb",
    "an empty ns": "ns=",
    "an ns of 64 characters": "ns=" + "n" * 64,
    "bytes that are no UTF-8": "orderBy=%22%ff%22",
}


@pytest.mark.parametrize("query", PARAMETERS.values(), ids=PARAMETERS)
def test_a_bad_parameter_is_reported_so(server, query):
    refused(server, request("GET", f"/kept.json?{query}"), 400)


@pytest.mark.parametrize("query", ["print=x", "writeSizeLimit=huge", "ns=a_b", "print=silent&ns="])
def test_a_bad_parameter_of_a_write_is_reported_so(server, query):
    refused(server, request("PUT", f"/x.json?{query}", b"1"), 400)
    refused(server, request("DELETE", f"/x.json?{query}"), 400)


@pytest.mark.parametrize(
    "query", ["_=1", "unknown", "=", "&", "a=b&a=c", "%C3%A9=1", "timeout%20=1"]
)
def test_an_unknown_parameter_says_nothing(server, query):
    answer = server.get(f"/kept/a.json?{query}")
    assert (answer.status, answer.body) == (200, b"1")


def test_a_url_of_more_than_the_limit_is_refused(server):
    with Raw(server.port) as raw:
        raw.send(request("GET", "/" + "k" * 100_000 + ".json"))
        answer = raw.answer()
        assert answer[0] == 414 and "longer than" in error_of(answer), answer
        ends_known(raw, answer)


def test_headers_of_more_than_the_limit_are_refused(server):
    with Raw(server.port) as raw:
        raw.send(request("GET", "/kept/a.json", b"", *(f"X-{n}: {'v' * 1000}" for n in range(200))))
        answer = raw.answer()
        assert answer[0] == 431 and "larger than" in error_of(answer), answer
        ends_known(raw, answer)


def test_an_unknown_database_is_404_in_production(tmp_path):
    with Hearth(dev=False, data=tmp_path / "data") as server:
        for method, body in [
            ("GET", b""),
            ("PUT", b"1"),
            ("PATCH", b"{}"),
            ("POST", b"1"),
            ("DELETE", b""),
        ]:
            with Raw(server.port) as raw:
                raw.send(request(method, "/a.json?ns=unknown-name", body))
                answer = raw.answer()
                assert answer[0] == 404 and error_of(answer)
                raw.send(request("GET", "/.health/live"))
                assert raw.answer()[0] == 200


# --- requests that are no HTTP


@pytest.mark.parametrize("method", ["FLY", "TRACE", "put", "PROPFIND", "X" * 30])
def test_an_unknown_method_is_405(server, method):
    refused(server, request(method, "/x.json"), 405)
    refused(server, request(method, "/x.json", b"1"), 405)


LENGTHS = {
    "ASCII letters": ["Content-Length: abc"],
    "a number below 0": ["Content-Length: -1"],
    "a plus": ["Content-Length: +1"],
    "a fraction": ["Content-Length: 1.5"],
    "hexadecimal digits": ["Content-Length: 0x1"],
    "a number beyond every other": ["Content-Length: 99999999999999999999999"],
    "nothing": ["Content-Length:"],
    "two that differ": ["Content-Length: 1", "Content-Length: 2"],
    "two that differ in one line": ["Content-Length: 1, 2"],
    "length and chunks": ["Content-Length: 1", "Transfer-Encoding: chunked"],
    "chunks and length": ["Transfer-Encoding: chunked", "Content-Length: 1"],
    "an unknown coding": ["Transfer-Encoding: fly"],
    "chunks that are not last": ["Transfer-Encoding: chunked, gzip"],
    "chunks twice": ["Transfer-Encoding: chunked, chunked"],
    "chunks in two lines": ["Transfer-Encoding: chunked", "Transfer-Encoding: identity"],
}


@pytest.mark.parametrize("lines", LENGTHS.values(), ids=LENGTHS)
def test_a_length_that_two_could_read_differently_ends_the_connection(server, lines):
    with Raw(server.port) as raw:
        raw.send(request("PUT", "/x.json", b"0\r\n\r\n", *lines) + PROBE)
        answer = raw.answer()
        assert answer[0] in (400, 501) and error_of(answer), answer
        assert answer[1]["connection"] == "close", answer
        assert raw.is_over(), "what follows such a request is not read"


CHUNKS = {
    "a size that is no number": b"xyz\r\n1\r\n0\r\n\r\n",
    "a size below 0": b"-1\r\n1\r\n0\r\n\r\n",
    "no size": b"\r\n1\r\n0\r\n\r\n",
    "a size beyond every number": b"fffffffffffffffff\r\n1\r\n0\r\n\r\n",
    "a size with 0x": b"0x1\r\n1\r\n0\r\n\r\n",
    "a chunk longer than its size": b"1\r\n123\r\n0\r\n\r\n",
    "a size without its line": b"1" * 100_000,
}


@pytest.mark.parametrize("data", CHUNKS.values(), ids=CHUNKS)
def test_a_bad_chunk_ends_the_connection(server, data):
    with Raw(server.port) as raw:
        try:
            raw.send(request("PUT", "/x.json", data, "Transfer-Encoding: chunked"))
        except ConnectionError:
            pass  # closed before all was sent
        answer = raw.answer()
        assert answer[0] == 400 and error_of(answer), answer
        assert raw.is_over()


CUT = {
    "in the request line": b"PUT /x.js",
    "in the headers": b"PUT /x.json HTTP/1.1\r\nHost: loc",
    "before the body": request("PUT", "/x.json", b"", "Content-Length: 1"),
    "in the body": request("PUT", "/x.json", b'{"a":', "Content-Length: 100"),
    "after a whole value": request("PUT", "/x.json", b'{"a":1}', "Content-Length: 8"),
    "in a chunk": request("PUT", "/x.json", b"5\r\n123", "Transfer-Encoding: chunked"),
    "between chunks": request("PUT", "/x.json", b"1\r\n1\r\n", "Transfer-Encoding: chunked"),
    "before the last line": request(
        "PUT", "/x.json", b"1\r\n1\r\n0\r\n", "Transfer-Encoding: chunked"
    ),
}


@pytest.mark.parametrize("is_polite", [True, False], ids=["said", "reset"])
@pytest.mark.parametrize("data", CUT.values(), ids=CUT)
def test_a_request_cut_short_is_no_write(server, data, is_polite):
    raw = Raw(server.port).send(data)
    if is_polite:
        raw.end()
        answer = raw.answer()
        assert answer is None or answer[0] >= 400, answer
        assert raw.is_over()
    raw.socket.close()
    assert server.get("/x.json").json == "old"


@pytest.mark.parametrize("method", ["PUT", "POST", "PATCH"])
def test_a_write_without_a_length_has_no_body(server, method):
    refused(server, request(method, "/x.json"), 400, NO_DATA)


def test_a_length_shorter_than_the_body_leaves_the_rest_to_the_next_request(server):
    with Raw(server.port) as raw:
        raw.send(request("PUT", "/y.json", b'{"a":1}GET /x.json', "Content-Length: 7"))
        assert raw.answer()[0] == 200
        raw.send(b" HTTP/1.1\r\nHost: localhost\r\n\r\n")
        assert raw.answer()[2] == b'"old"'
        raw.send(request("DELETE", "/y.json"))
        assert raw.answer()[0] == 200


HEADS = {
    "no version": b"GET /kept/a.json\r\n\r\n",
    "a version of long ago": b"GET /kept/a.json HTTP/0.9\r\nHost: localhost\r\n\r\n",
    "a version to come": b"GET /kept/a.json HTTP/3.0\r\nHost: localhost\r\n\r\n",
    "no host": b"GET /kept/a.json HTTP/1.1\r\n\r\n",
    "two hosts": b"GET /kept/a.json HTTP/1.1\r\nHost: localhost\r\nHost: evil.example\r\n\r\n",
    "a header without a colon": b"GET /kept/a.json HTTP/1.1\r\nHost: localhost\r\nnonsense\r\n\r\n",
    "a space before a colon": b"PUT /x.json HTTP/1.1\r\nHost: localhost\r\nContent-Length : 1\r\n\r\n1",
    "a zero byte in a header": b"GET /kept/a.json HTTP/1.1\r\nHost: localhost\r\nX: a\0b\r\n\r\n",
    "a zero byte in the address": b"GET /kept\0/a.json HTTP/1.1\r\nHost: localhost\r\n\r\n",
    "a target that is no path": b"GET kept/a.json HTTP/1.1\r\nHost: localhost\r\n\r\n",
    "a proxy's connect": b"CONNECT localhost:80 HTTP/1.1\r\nHost: localhost\r\n\r\n",
    "TLS": b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + bytes(32),
    "the preface of HTTP/2": b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    "bytes": bytes(range(128, 256)) + b"\r\n\r\n",
    "empty lines": b"\r\n\r\n\r\n\r\n",
}


@pytest.mark.parametrize("data", HEADS.values(), ids=HEADS)
def test_what_is_no_http_is_refused_or_closed(server, data):
    with Raw(server.port) as raw:
        raw.send(data).end()
        answer = raw.answer()
        # Some of these a lenient server may read; none may do harm, and none is left hanging.
        assert answer is None or answer[0] in (200, 400, 403, 404, 405, 426, 431, 501, 505), answer
        while answer:
            answer = raw.answer()
    assert server.get("/kept/a.json").json == 1


# --- compressed bodies


GOOD = gzip.compress(b'{"a":1}')
GZIPPED = {
    "what is not compressed": b'{"a":1}',
    "nothing": b"",
    "half of it": GOOD[: len(GOOD) // 2],
    "all but its last byte": GOOD[:-1],
    "a wrong checksum": GOOD[:-8] + bytes(4) + GOOD[-4:],
    "a wrong length": GOOD[:-4] + bytes(4),
    "damage within": GOOD[:10] + b"\xff" * (len(GOOD) - 18) + GOOD[-8:],
    "something behind": GOOD + b"rest",
    "no JSON within": gzip.compress(b"{"),
    "two values within": gzip.compress(b"1 2"),
}


@pytest.mark.parametrize("body", GZIPPED.values(), ids=GZIPPED)
def test_a_compressed_body_that_is_none_is_refused(server, body):
    lines = ["Content-Encoding: gzip", f"Content-Length: {len(body)}"]
    refused(server, request("PUT", "/x.json", body, *lines), 400)
    data = chunked(body) if body else chunked()
    refused(
        server,
        request("PUT", "/x.json", data, "Content-Encoding: gzip", "Transfer-Encoding: chunked"),
        400,
    )


@pytest.mark.parametrize("coding", ["br", "deflate", "zstd", "fly", "gzip, br"])
def test_an_unknown_coding_is_refused(server, coding):
    with Raw(server.port) as raw:
        raw.send(request("PUT", "/x.json", b"1", f"Content-Encoding: {coding}"))
        answer = raw.answer()
        assert answer[0] in (400, 415) and error_of(answer), answer
        ends_known(raw, answer)


def test_a_small_body_that_becomes_a_huge_one_is_refused():
    with Hearth("--max-body", "1MiB") as server:
        bomb = gzip.compress(b'"' + b"x" * (9 * 2**20) + b'"')
        assert len(bomb) < 100_000
        refused_on(server, request("PUT", "/x.json", bomb, "Content-Encoding: gzip"))


def refused_on(server, data):
    with Raw(server.port) as raw:
        raw.send(data)
        answer = raw.answer()
        assert answer[0] == 400 and error_of(answer) == TOO_LARGE, answer
        if answer[1].get("connection", "").lower() == "close":
            assert raw.is_over()
    assert server.get("/.json").json is None


def test_a_body_above_the_limit_is_refused_before_it_is_sent():
    with Hearth("--max-body", "1MiB") as server:
        refused_on(server, request("PUT", "/x.json", b"", f"Content-Length: {2**20 + 1}"))
        refused_on(server, request("PUT", "/x.json", b"", f"Content-Length: {2**40}"))
        waiting = ["Content-Length: 9999999", "Expect: 100-continue"]
        refused_on(server, request("PUT", "/x.json", b"", *waiting))


# --- what comes behind an error


def test_requests_behind_errors_are_answered_in_order(server):
    requests = [
        (request("PUT", "/x.json", b"{"), 400),
        (PROBE, 200),
        (request("GET", "/a$b.json"), 400),
        (request("PATCH", "/.json", b"[]"), 400),
        (request("GET", "/kept/b.json"), 200),
        (request("PUT", "/x.json", chunked(b'{"a"', b":"), "Transfer-Encoding: chunked"), 400),
        (request("GET", "/nothing"), 404),
        (request("GET", "/x.json?auth=garbage"), 401),
        (request("DELETE", "/a$b.json"), 400),
        (PROBE, 200),
    ]
    with Raw(server.port) as raw:
        raw.send(b"".join(data for data, _ in requests))
        assert [raw.answer()[0] for _ in requests] == [status for _, status in requests]


def test_a_hundred_bad_requests_leave_the_connection_as_it_was(server):
    with Raw(server.port) as raw:
        for n in range(100):
            raw.send(request("PUT", "/x.json", b'{"a":' + b"[" * n))
            assert raw.answer()[0] == 400
        raw.send(PROBE)
        assert raw.answer()[2] == b"1"


def test_a_body_with_a_refused_path_is_not_taken_for_a_request(server):
    inner = request("DELETE", "/kept.json")
    with Raw(server.port) as raw:
        raw.send(request("PUT", "/a$b.json", inner) + PROBE)
        answer = raw.answer()
        assert answer[0] == 400
        if answer[1].get("connection", "").lower() == "close":
            assert raw.is_over()
        else:
            assert raw.answer()[2] == b"1"


def test_a_body_of_a_get_is_not_taken_for_a_request(server):
    with Raw(server.port) as raw:
        raw.send(request("GET", "/kept/a.json", request("DELETE", "/kept.json")) + PROBE)
        answer = raw.answer()
        if answer[1].get("connection", "").lower() == "close":
            assert raw.is_over()
        else:
            assert raw.answer()[2] == b"1"
