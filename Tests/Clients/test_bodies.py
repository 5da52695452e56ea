"""Large bodies, compressed bodies and answers, and bodies that are asked for."""

import functools
import gzip
import json
import random
import zlib

import pytest

from hearth_server import Hearth
from raw_http import Raw, chunked, request

PROBE = request("GET", "/probe.json")
GZIP = ("Content-Encoding: gzip",)
TOO_LARGE = "Data to write exceeds the maximum size that can be modified with a single request."


def tree(seed, records):
    """A tree of that many records, a tenth of them awkward."""
    rng = random.Random(seed)
    made = {}
    for index in range(records):
        record = {"name": f"n{rng.random()}", "size": rng.randrange(10**9), "on": index % 2 == 0}
        if index % 10 == 0:
            record["text"] = "é\n\"\\😀 " * rng.randrange(40)
            record["list"] = [rng.randrange(9) for _ in range(rng.randrange(1, 9))]
        made[f"key{index:07d}"] = record
    return made


LARGE = tree(1, 40_000)
LARGE_TEXT = json.dumps(LARGE).encode()


@functools.cache
def huge_text():
    return json.dumps(tree(2, 400_000)).encode()


def ask(server, data):
    with Raw(server.port) as raw:
        return raw.send(data).answer()


def value(server, path):
    return server.get(path).json


def error(answer):
    return json.loads(answer[2])["error"]


def parts_of(data, size=50_000):
    return [data[start : start + size] for start in range(0, len(data), size)]


# --- large bodies


@pytest.mark.parametrize("coding", ["plain", "gzip"])
@pytest.mark.parametrize("framing", ["length", "chunked"])
@pytest.mark.parametrize("method", ["PUT", "PATCH", "POST"])
def test_a_large_body_is_stored_as_it_is(dev, method, framing, coding):
    assert len(LARGE_TEXT) > 3_000_000
    data = LARGE_TEXT if coding == "plain" else gzip.compress(LARGE_TEXT, 1)
    lines = GZIP if coding == "gzip" else ()
    if framing == "chunked":
        body, lines = chunked(*parts_of(data)), (*lines, "Transfer-Encoding: chunked")
    else:
        body = data
    with Raw(dev.port) as raw:
        status, _, answer = raw.send(request(method, "/big.json?print=silent", body, *lines)).answer()
        assert (status, answer) == (204, b"")
        assert raw.send(PROBE).answer()[0] == 200
    found = value(dev, "/big.json")
    if method == "POST":
        assert len(found) == 1
        (found,) = found.values()
    assert found == LARGE


def test_of_equal_members_of_a_large_body_the_last_one_counts(dev):
    filler = ",".join(f'"f{n:06d}":"{"x" * 50}"' for n in range(20_000))
    text = f'{{"a":{{"b":1,"c":2}},"gone":5,{filler},"a":{{"d":3}},"gone":null,"z":{{".sv":"timestamp"}},"z":7}}'
    assert dev.request("PUT", "/d.json?print=silent", raw=text.encode()).status == 204
    assert value(dev, "/d/a.json") == {"d": 3}
    assert value(dev, "/d/gone.json") is None
    assert value(dev, "/d/z.json") == 7
    assert len(value(dev, "/d.json?shallow=true")) == 20_002


def test_a_large_update_names_paths(dev):
    dev.put("/u.json", {"a": {"b": 1, "c": 2}, "old": 1})
    long = {f"k{n:05d}": "y" * 100 for n in range(5_000)}
    text = json.dumps({"a/b": long, "/old": None, "p/.priority": 3, "p/v": {".value": 1, ".priority": "q"}})
    assert dev.request("PATCH", "/u.json?print=silent", raw=text.encode()).status == 204
    assert value(dev, "/u/a.json") == {"b": long, "c": 2}
    assert value(dev, "/u/old.json") is None
    assert value(dev, "/u/p.json?format=export") == {".priority": 3, "v": {".value": 1, ".priority": "q"}}


def test_of_equal_members_of_a_large_update_the_last_one_counts(dev):
    text = f'{{"twice":1,"long":"{"x" * 400_000}","twice":2}}'
    assert dev.request("PATCH", "/repeated.json?print=silent", raw=text.encode()).status == 204
    assert value(dev, "/repeated/twice.json") == 2


FILLER = ",".join(f'"f{n:06d}":"{"x" * 50}"' for n in range(20_000))


@pytest.mark.parametrize(
    "method, text, words",
    [
        ("PUT", '{%s,"a$":1}', "couldn't parse key beginning at 1:%d."),
        ("PUT", "{%s,}", "couldn't parse JSON object, array, or value."),
        ("PUT", "{%s", "couldn't parse JSON object, array, or value."),
        ("PUT", "{%s}x", "couldn't parse JSON object, array, or value."),
        ("PUT", "[%s]", "couldn't parse JSON object, array, or value."),
        ("PATCH", "[{%s}]", "Are you sending a JSON object with valid key names?"),
        ("PATCH", '{%s,"a..b":1}', "Are you sending a JSON object with valid key names?"),
        ("PUT", " " * 400_000 + "%.0s", "No data supplied."),
    ],
    ids=["key", "comma", "open", "more", "list", "update of a list", "bad path", "blank"],
)
def test_a_large_body_that_is_no_data_changes_nothing(dev, method, text, words):
    dev.put("/e.json", 1)
    body = (text % FILLER).encode()
    with Raw(dev.port) as raw:
        raw.send(request(method, "/e.json", body))
        answer = raw.answer()
        assert answer[0] == 400
        expected = words % (len(FILLER) + 3) if "%d" in words else words
        assert expected in error(answer), error(answer)
        # The next request is served, or the connection says that it ends, and does.
        if answer[1].get("connection") == "close":
            assert raw.is_over()
        else:
            assert raw.send(PROBE).answer()[0] == 200
    assert value(dev, "/e.json") == 1


def test_a_large_body_that_is_refused_is_not_read_to_its_end(dev):
    with Raw(dev.port) as raw:
        raw.send(b"PUT /x.json HTTP/1.1\r\nHost: localhost\r\nContent-Length: 200000000\r\n\r\n")
        raw.send(b'{"bad$":1,' + b" " * 600_000)
        answer = raw.answer()
        assert answer[0] == 400
        assert answer[1]["connection"] == "close"
        assert raw.end().is_over()


def test_a_large_body_that_is_cut_changes_nothing(dev):
    dev.put("/c.json", 1)
    with Raw(dev.port) as raw:
        raw.send(request("PUT", "/c.json", LARGE_TEXT)[:-5]).end()
        assert raw.is_over()
    with Raw(dev.port) as raw:
        raw.send(request("PUT", "/c.json", chunked(*parts_of(LARGE_TEXT))[:-5], "Transfer-Encoding: chunked"))
        raw.end()
        assert raw.is_over()
    assert value(dev, "/c.json") == 1


def test_a_wrong_chunk_deep_in_a_large_body_is_refused(dev):
    dev.put("/w.json", 1)
    body = chunked(*parts_of(LARGE_TEXT))[:-5] + b"zz\r\n"
    with Raw(dev.port) as raw:
        answer = raw.send(request("PUT", "/w.json", body, "Transfer-Encoding: chunked")).answer()
        assert answer[0] == 400
        assert raw.is_over()
    assert value(dev, "/w.json") == 1


def test_others_are_served_while_a_large_body_arrives(dev):
    with Raw(dev.port) as raw:
        whole = request("PUT", "/slow.json?print=silent", LARGE_TEXT)
        raw.send(whole[:2_000_000])
        dev.put("/quick.json", 5)
        assert value(dev, "/quick.json") == 5
        assert raw.send(whole[2_000_000:]).answer()[0] == 204
    assert value(dev, "/slow.json") == LARGE


def test_a_body_over_the_limit_is_refused_however_its_length_is_reported():
    with Hearth("--max-body", "100000") as server:
        text = json.dumps("x" * 100_000).encode()
        with Raw(server.port) as raw:
            raw.send(request("PUT", "/a.json", text))
            answer = raw.answer()
            assert (answer[0], error(answer)) == (400, TOO_LARGE)
        with Raw(server.port) as raw:
            raw.send(request("PUT", "/a.json", chunked(*parts_of(text, 9_000)), "Transfer-Encoding: chunked"))
            answer = raw.answer()
            assert (answer[0], error(answer)) == (400, TOO_LARGE)
        with Raw(server.port) as raw:
            raw.send(request("PUT", "/a.json", gzip.compress(text), *GZIP))
            answer = raw.answer()
            assert (answer[0], error(answer)) == (400, TOO_LARGE)
        assert value(server, "/a.json") is None
        fits = json.dumps("x" * 99_000).encode()
        assert ask(server, request("PUT", "/a.json", gzip.compress(fits), *GZIP))[0] == 200


# --- compressed bodies


@pytest.mark.parametrize("coding", ["gzip", "x-gzip", "GZIP", "identity"])
def test_a_small_body_may_be_compressed(dev, coding):
    text = b'{"a":[1,2,3]}'
    body = text if coding == "identity" else gzip.compress(text)
    for method in ["PUT", "PATCH"]:
        answer = ask(dev, request(method, "/s.json", body, f"Content-Encoding: {coding}"))
        assert answer[0] == 200
        assert json.loads(answer[2]) == {"a": [1, 2, 3]}
    assert value(dev, "/s.json") == {"a": [1, 2, 3]}


@pytest.mark.parametrize("coding", ["br", "deflate", "gzip, gzip", "zstd", "gzip;q=1"])
def test_another_coding_is_refused_by_the_head(dev, coding):
    with Raw(dev.port) as raw:
        raw.send(request("PUT", "/s.json", b"12", f"Content-Encoding: {coding}", "Expect: 100-continue"))
        answer = raw.answer()
        assert answer[0] == 415
        assert answer[1]["accept-encoding"] == "gzip"
        assert "Content-Encoding" in error(answer)
        assert raw.is_over()
    assert value(dev, "/s.json") is None


@pytest.mark.parametrize("size", ["small", "large"])
@pytest.mark.parametrize("fault", ["cut", "followed", "damaged", "not gzip"])
def test_a_damaged_gzip_stream_is_refused(dev, size, fault):
    text = b'{"a":1}' if size == "small" else LARGE_TEXT
    whole = gzip.compress(text, 1)
    body = {
        "cut": whole[:-6],
        "followed": whole + b"x",
        "damaged": whole[:-8] + bytes([whole[-8] ^ 1]) + whole[-7:],
        "not gzip": text,
    }[fault]
    answer = ask(dev, request("PUT", "/g.json", body, *GZIP))
    assert answer[0] == 400
    assert "gzip" in error(answer)
    assert value(dev, "/g.json") is None


def test_a_gzip_bomb_ends_at_the_limit(dev):
    packer = zlib.compressobj(9, zlib.DEFLATED, 31)
    head = packer.compress(b" ") + packer.flush(zlib.Z_FULL_FLUSH)
    # A block that stands for itself may come again and again.
    block = packer.compress(b" " * 1_000_000) + packer.flush(zlib.Z_FULL_FLUSH)
    bomb = head + block * 400
    assert len(zlib.decompressobj(31).decompress(head + block * 3)) == 3_000_001
    assert len(bomb) < 1_000_000
    answer = ask(dev, request("PUT", "/b.json", bomb, *GZIP))
    assert (answer[0], error(answer)) == (400, TOO_LARGE)
    assert value(dev, "/b.json") is None


def test_rules_may_be_compressed(dev):
    rules = b'{"rules":{".read":true,".write":true}}'
    answer = ask(dev, request("PUT", "/.settings/rules.json", gzip.compress(rules), *GZIP))
    assert answer[0] == 200, answer
    assert dev.get("/.settings/rules.json").text == rules.decode()
    answer = ask(dev, request("PUT", "/.settings/rules.json", b"nonsense", *GZIP))
    assert answer[0] == 400


# --- compressed answers


def answer_to(server, path, accepted, method="GET"):
    lines = [] if accepted is None else [f"Accept-Encoding: {accepted}"]
    with Raw(server.port) as raw:
        answer = raw.send(request(method, path, b"", *lines)).answer(has_body=method != "HEAD")
        assert raw.send(PROBE).answer()[0] == 200
        return answer


ACCEPTED = {
    None: False,
    "gzip": True,
    "x-gzip": True,
    "GZip": True,
    "deflate, gzip;q=0.5, br": True,
    "*": True,
    "*;q=0.1": True,
    "identity": False,
    "br": False,
    "gzip;q=0": False,
    "gzip; q=0.000": False,
    "gzip;q=0, *": False,
    "*;q=0": False,
    "gzip;q=nonsense": False,
    "": False,
}


@pytest.mark.parametrize("query", ["", "?print=pretty", "?shallow=true"])
@pytest.mark.parametrize("size", [3_000, 400_000, 4_000_000])
def test_an_answer_is_compressed_when_asked(dev, query, size):
    stored = {f"k{n:06d}": {"v": n} for n in range(size // 20)}
    dev.put("/r.json", stored)
    plain = dev.get("/r.json" + query).body
    assert json.loads(plain) == (dict.fromkeys(stored, True) if "shallow" in query else stored)
    # What the header says is read before anything is known of the answer: the small one tries each form.
    for accepted in ACCEPTED if size == 3_000 else ("gzip", "identity"):
        is_compressed = ACCEPTED[accepted]
        status, headers, body = answer_to(dev, "/r.json" + query, accepted)
        assert status == 200, accepted
        assert "Accept-Encoding" in headers["vary"], accepted
        assert (headers.get("content-encoding") == "gzip") is is_compressed, accepted
        if is_compressed:
            assert len(body) < size / 2, accepted
            body = gzip.decompress(body)
        assert body == plain, accepted


def test_what_is_small_or_no_plain_read_is_not_compressed(dev):
    dev.put("/small.json", "x" * 900)
    dev.put("/large.json", "x" * 9_000)
    assert "content-encoding" not in answer_to(dev, "/small.json", "gzip")[1]
    assert "content-encoding" not in answer_to(dev, "/large.json", "gzip", "HEAD")[1]
    written = json.dumps("y" * 9_000).encode()
    answer = ask(dev, request("PUT", "/w.json", written, "Accept-Encoding: gzip"))
    assert "content-encoding" not in answer[1]
    with Raw(dev.port) as raw:
        raw.send(request("GET", "/large.json", b"", "Accept-Encoding: gzip", "Accept: text/event-stream"))
        head = raw._until(b"\r\n\r\n").lower()
        assert b"text/event-stream" in head and b"content-encoding" not in head


def test_an_old_client_gets_a_compressed_answer_that_ends_with_the_connection(dev):
    dev.put("/large.json", LARGE)
    with Raw(dev.port, timeout=120) as raw:
        raw.send(b"GET /large.json HTTP/1.0\r\nHost: localhost\r\nAccept-Encoding: gzip\r\n\r\n")
        raw._until(b"\r\n\r\n")
        while raw._fill():
            pass
        assert json.loads(gzip.decompress(raw.waiting)) == LARGE


def test_a_reader_that_leaves_a_compressed_answer_costs_nothing_more(dev):
    dev.put("/large.json", LARGE)
    for _ in range(5):
        with Raw(dev.port) as raw:
            raw.send(request("GET", "/large.json", b"", "Accept-Encoding: gzip"))
            raw._until(b"\r\n\r\n")
    assert value(dev, "/large/key0000000/on.json") is True


# --- bodies that are asked for


def test_a_body_is_asked_for_when_its_client_waits(dev):
    for text in [b'{"a":1}', LARGE_TEXT]:
        with Raw(dev.port) as raw:
            head = request("PUT", "/x.json?print=silent", text, "Expect: 100-continue")[: -len(text)]
            assert raw.send(head).answer()[0] == 100
            assert raw.send(text).answer()[0] == 204
            assert raw.send(PROBE).answer()[0] == 200
        assert value(dev, "/x.json") == json.loads(text)


@pytest.mark.parametrize(
    "method, target, lines, status",
    [
        ("PUT", "/a$b.json", (), 400),
        ("POST", "/a.json", ("X-HTTP-Method-Override: BREW",), 405),
        ("PUT", "/a.json?ns=no%20name", (), 400),
        ("PUT", "/a.json?print=loud", (), 400),
        ("PUT", "/a.json", ("Content-Encoding: br",), 415),
        ("PUT", "/a.json", ("Origin: http://evil.example",), 403),
    ],
)
def test_a_request_that_is_refused_by_its_head_is_not_asked_for_its_body(dev, method, target, lines, status):
    with Raw(dev.port) as raw:
        head = request(method, target, b"{}", "Expect: 100-continue", *lines)[:-2]
        answer = raw.send(head).answer()
        assert answer[0] == status
        assert answer[1]["connection"] == "close"
        assert raw.end().is_over()


def test_a_body_that_comes_unasked_is_taken(dev):
    with Raw(dev.port) as raw:
        answer = raw.send(request("PUT", "/x.json", b"1", "Expect: 100-continue")).answer()
        assert (answer[0], answer[2]) == (200, b"1")
        assert raw.send(PROBE).answer()[0] == 200


def test_another_expectation_fails(dev):
    with Raw(dev.port) as raw:
        assert raw.send(request("PUT", "/x.json", b"1", "Expect: a-miracle")).answer()[0] == 417
        assert raw.is_over()


# --- memory


def memory(server):
    with open(f"/proc/{server.process.pid}/status") as status:
        lines = dict(line.split(":", 1) for line in status)
    return int(lines["VmRSS"].split()[0]) * 1024, int(lines["VmHWM"].split()[0]) * 1024


@pytest.mark.release
@pytest.mark.parametrize("coding, kept", [("plain", "durable"), ("gzip", "memory")])
def test_a_large_write_costs_little_beside_its_tree(coding, kept, tmp_path):
    text = huge_text()
    body = text if coding == "plain" else gzip.compress(text, 1)
    with Hearth(data=tmp_path / "data" if kept == "durable" else None) as server:
        before, _ = memory(server)
        answer = ask(server, request("PUT", "/m.json?print=silent", body, *(GZIP if coding == "gzip" else ())))
        assert answer[0] == 204
        after, peak = memory(server)
        # The tree takes less than its text here; a body that was kept whole would add all of the text.
        assert len(text) > 40_000_000
        assert peak - before < len(text) + 24_000_000, (before, after, peak, len(text))
        for accepted in [None, "gzip"]:
            answer_to(server, "/m.json", accepted)
        _, later = memory(server)
        assert later - peak < 16_000_000


@pytest.mark.release
def test_a_large_answer_costs_little_whatever_its_layout():
    stored = tree(3, 150_000)
    with Hearth() as server:
        body = json.dumps({"a": stored, "keys": {f"k{n:07d}": 1 for n in range(300_000)}}).encode()
        assert ask(server, request("PUT", "/m.json?print=silent", body))[0] == 204
        # From here on the peak is that of the reads.
        with open(f"/proc/{server.process.pid}/clear_refs", "w") as peaks:
            peaks.write("5")
        before, _ = memory(server)
        for accepted in [None, "gzip"]:
            answers = {
                query: answer_to(server, "/m" + query, accepted)
                for query in [".json?print=pretty", ".json?print=pretty&callback=f", "/keys.json?shallow=true"]
            }
            assert [answer[0] for answer in answers.values()] == [200] * 3
            assert sum(len(body) for _, _, body in answers.values()) > (50_000_000 if accepted is None else 5_000_000)
        _, peak = memory(server)
        # Written whole, a pretty text alone would take some 25 MB here.
        assert peak - before < 12_000_000, (before, peak)


@pytest.mark.parametrize("accepted", [None, "gzip"])
def test_large_answers_have_the_layout_of_small_ones(dev, accepted):
    stored = {"list": [1, None, {"a": [[], 2]}], "text": "é\n" * 30_000, "more": tree(4, 3_000)}
    dev.put("/l.json", stored)

    def read(path):
        answer = answer_to(dev, path, accepted)
        assert answer[0] == 200
        return (gzip.decompress(answer[2]) if accepted else answer[2]).decode()

    text = read("/l.json?print=pretty")
    assert text.startswith('{\n  "list" : [ 1, null, {\n    "a" : [ null, 2 ]\n  } ],\n  "more" : {\n    "key0000000" : {\n')
    assert text.endswith(f'\n  }},\n  "text" : {json.dumps(stored["text"], ensure_ascii=False)}\n}}\n')
    assert json.loads(text) == value(dev, "/l.json")
    dev.put("/k.json", {f"k{n:05d}": {"a": n} for n in range(6_000)})
    keys = [f"k{n:05d}" for n in range(6_000)]
    assert read("/k.json?shallow=true") == "{" + ",".join(f'"{key}":true' for key in keys) + "}"
    pretty = read("/k.json?shallow=true&print=pretty")
    assert pretty == "{\n" + ",\n".join(f'  "{key}" : true' for key in keys) + "\n}\n"


def test_a_large_layout_keeps_what_goes_with_an_answer(dev):
    stored = tree(5, 5_000)
    dev.put("/l.json", stored)
    path = "/l.json?print=pretty"
    with Raw(dev.port) as raw:
        got = raw.send(request("GET", path + "&download=l.txt", b"", "X-Firebase-ETag: true")).answer()
        tag = got[1]["etag"]
        assert "l.txt" in got[1]["content-disposition"]
        assert int(got[1]["content-length"]) == len(got[2]) and got[2].endswith(b"\n}\n")
        head = raw.send(request("HEAD", path, b"")).answer(has_body=False)
        assert head[1]["content-length"] == got[1]["content-length"]
        script = raw.send(request("GET", path + "&callback=show", b"")).answer()
        assert script[2] == b"/**/show(" + got[2] + b");"
        there = raw.send(request("PUT", path, b"1", "if-match: another")).answer()
        assert (there[0], there[1]["etag"], there[2]) == (412, tag, got[2])
        unchanged = raw.send(request("GET", path, b"", f"If-None-Match: {tag}")).answer(has_body=False)
        assert unchanged[0] == 304
        echo = raw.send(request("PATCH", path, json.dumps(stored).encode())).answer()
        assert (echo[0], echo[2]) == (200, got[2])
        plain = raw.send(request("PATCH", "/l.json", json.dumps(stored).encode())).answer()
        assert json.loads(plain[2]) == stored
    limit = len(got[2])
    for most, status in [(limit, 200), (limit - 1, 400)]:
        with Hearth("--max-response", str(most)) as server:
            server.put("/l.json", stored)
            assert ask(server, request("GET", path))[0] == status
            assert ask(server, request("GET", path, b"", "Accept-Encoding: gzip"))[0] == status


@pytest.mark.parametrize("path", ["/", "/.health/live", "/.health/ready"])
@pytest.mark.parametrize("method", ["PUT", "POST", "PATCH", "DELETE"])
def test_an_address_that_is_only_read_refuses_writes(dev, path, method):
    for name, status in [(method, 405), ("GET", 200), ("HEAD", 200)]:
        with Raw(dev.port) as raw:
            body = b"1" if name == method else b""
            answer = raw.send(request(name, path, body)).answer(has_body=name != "HEAD")
            assert answer[0] == status
            if status == 405:
                assert answer[1]["allow"] == "GET, HEAD, OPTIONS"
