"""Sessions over long polling: what browsers without a WebSocket see, and those on their way to one."""

import contextlib
import http.client
import json
import random
import threading
import time

import pytest

from hearth_server import Hearth
from poll_client import Closed, Poll, Upgrade, fetch, parse, pieces, script
from vocabulary import SEED, drawn
from wire_client import Wire

PING = '{"t":"c","d":{"t":"p","d":{}}}'
PONG = {"t": "c", "d": {"t": "o", "d": {}}}
END = {"t": "c", "d": {"t": "n", "d": {}}}


@pytest.fixture(scope="module")
def server():
    """A server on which requests are held for a second."""
    with Hearth("--poll-hold", "1s") as server:
        yield server


@pytest.fixture
def ns(request):
    """A database of the test's own."""
    return f"t{abs(hash(request.node.name)) % 10**9}"


def begin(server, ns="demo", **parameters):
    """Opens a session by hand; returns the parameters of its requests and its hello."""
    query = "".join(f"&{name}={value}" for name, value in parameters.items())
    start, batch = script(server.port, f"start=t&ser=1&cb=1&v=5&ns={ns}{query}")
    assert start[0] == "start" and batch[:2] == ("batch", 0)
    (hello,) = batch[2]
    return f"id={start[1]}&pw={start[2]}&ser=2", hello["d"]["d"]


def carry(numbered, first=0):
    """The parameters of pieces: `(number, count, text)` each."""
    return "".join(
        f"&seg{index}={number}&ts{index}={count}&d{index}={text}"
        for index, (number, count, text) in enumerate(numbered, first)
    )


def whole(text, number=0):
    (piece,) = pieces(text)
    return carry([(number, 1, piece)])


def at_once(server, queries):
    """Sends requests without a look at the answers, which are then returned in the order of their batches."""
    connections = []
    for query in queries:
        connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=120)
        connection.request("GET", f"/.lp?{query}")
        connections.append(connection)
    answers = []
    for connection in connections:
        with contextlib.closing(connection):
            answers.append(parse(connection.getresponse().read().decode()))
    return sorted(answers, key=lambda parts: (parts[0][0] == "close", parts[0][1]))


def poll_sessions(server):
    for line in server.get("/.metrics").text.splitlines():
        if line.startswith("hearth_poll_sessions "):
            return float(line.split()[1])
    raise AssertionError("no metric")


# Begin


def test_the_first_answer_defines_the_functions_and_says_hello(server):
    status, headers, text = fetch(server.port, "start=t&ser=5&cb=42&v=5&ns=demo&p=1:2:web:3&ac=x")
    assert status == 200
    assert headers["Content-Type"].startswith("application/javascript")
    assert headers["Cache-Control"] == "no-cache"
    lines = text.split("\n")
    assert lines[:2] == [
        'function pLPCommand(c,a1,a2,a3,a4){parent.window["pLPCommand42"]&&'
        'parent.window["pLPCommand42"](c,a1,a2,a3,a4);}',
        'function pRTLPCB(pN,data){parent.window["pRTLPCB42"]&&'
        'parent.window["pRTLPCB42"](pN,data);}',
    ]
    start, (_, number, (hello,)) = parse(text)
    assert start[0] == "start" and len(start[1]) >= 20 and len(start[2]) >= 20
    assert number == 0 and hello["t"] == "c" and hello["d"]["t"] == "h"
    data = hello["d"]["d"]
    assert data["v"] == "5" and isinstance(data["ts"], int)
    assert data["h"] == f"127.0.0.1:{server.port}" and data["s"]


@pytest.mark.parametrize(
    "callback, suffix",
    [("7", "7"), ("", ""), ("1);alert(1", "11"), ('"</script>3', "3"), ("9" * 40, "9" * 20)],
)
def test_only_the_digits_of_a_callback_reach_the_script(server, callback, suffix):
    quoted = callback.replace('"', "%22").replace("<", "%3C").replace(">", "%3E")
    _, _, text = fetch(server.port, f"start=t&cb={quoted}&v=5&ns=demo")
    assert text.startswith(
        f'function pLPCommand(c,a1,a2,a3,a4){{parent.window["pLPCommand{suffix}"]&&'
    )


def test_sessions_have_different_names_and_passwords(server):
    seen = {begin(server)[0] for _ in range(20)}
    assert len({name for query in seen for name in query.split("&")[:2]}) == 40


@pytest.mark.parametrize(
    "query, words",
    [
        ("start=t&ser=1&cb=1&v=4&ns=demo", "version 5"),
        ("start=t&ser=1&cb=1&v=5&ns=no.such", "database name"),
        ("start=t&ser=1&cb=1&v=5&ns=", "database name"),
    ],
)
def test_what_cannot_begin_is_shut_down_in_a_script(server, query, words):
    (batch,) = [part for part in script(server.port, query) if part[0] == "batch"]
    assert batch[1] == 0
    (message,) = batch[2]
    assert message["t"] == "c" and message["d"]["t"] == "s" and words in message["d"]["d"]


def test_an_unknown_database_is_shut_down_in_production(tmp_path):
    with Hearth("--database", "main", data=tmp_path / "data", dev=False) as server:
        parts = script(server.port, "start=t&ser=1&cb=1&v=5&ns=other")
        batch = next(part for part in parts if part[0] == "batch")
        assert batch[1] == 0 and batch[2][0]["d"]["t"] == "s" and "other" in batch[2][0]["d"]["d"]
        start, batch = script(server.port, "start=t&ser=1&cb=1&v=5&ns=main")
        assert batch[2][0]["d"]["t"] == "h"


# Who may


def test_strangers_are_reported_to_close_and_change_nothing(server):
    query, hello = begin(server)
    name = query.split("&")[0]
    for wrong in [
        f"{name}&pw=wrong",
        name,
        "id=missing&pw=nothing",
        "ser=1",
        "",
        f"{name}&pw=wrong&disconn=t",
        f"{name}&pw=wrong&dframe=t",
    ]:
        assert script(server.port, wrong) == [("close", None)]
    # The session is there, and waits as before.
    assert script(server.port, query + whole(PING)) == [("batch", 1, [PONG])]


def test_only_get_is_taken(server):
    query, _ = begin(server)
    for method in ("HEAD", "PUT", "POST"):
        status, headers, _ = fetch(server.port, query, method=method)
        assert status == 405 and headers["Allow"] == "GET"
    assert script(server.port, query + whole(PING)) == [("batch", 1, [PONG])]


# Requests


def test_a_request_without_news_is_answered_with_an_empty_batch(server):
    query, _ = begin(server)
    before = time.monotonic()
    assert script(server.port, query) == [("batch", 1, [])]
    assert time.monotonic() - before > 0.9
    assert script(server.port, query) == [("batch", 2, [])]


def test_a_second_request_ends_the_first_at_once():
    with Hearth() as patient:
        query, _ = begin(patient)
        answers = {}

        def ask(name, query):
            answers[name] = script(patient.port, query)

        first = threading.Thread(target=ask, args=("first", query))
        first.start()
        # The first waits for 20 s, unless the second (or the third) comes.
        second = threading.Thread(target=ask, args=("second", query))
        second.start()
        deadline = time.monotonic() + 120
        while not answers and time.monotonic() < deadline:
            time.sleep(0.01)
        assert len(answers) == 1 and list(answers.values()) == [[("batch", 1, [])]]
        (waiting,) = {"first", "second"} - answers.keys()
        # Data comes with the third; the second has nothing to wait for any more.
        assert script(patient.port, query + whole(PING)) == [("batch", 3, [PONG])]
        first.join()
        second.join()
        assert answers[waiting] == [("batch", 2, [])]


def test_pieces_are_put_in_order_and_taken_once(server, ns):
    query, _ = begin(server, ns)
    requests = [
        json.dumps({"t": "d", "d": {"r": number, "a": "p", "b": {"p": f"/{number}", "d": "é" * 9}}})
        for number in range(1, 5)
    ]
    numbered = []
    for text in requests:
        cut = pieces(text, 13)
        numbered += [(len(numbered) + index, len(cut), piece) for index, piece in enumerate(cut)]
    order = list(range(len(numbered)))
    random.Random(4).shuffle(order)
    requests_sent = []
    for begun in range(0, len(order), 5):
        taken = [numbered[index] for index in order[begun : begun + 5]]
        # A browser may send a request twice.
        requests_sent += [query + carry(taken)] * 2
    answers = at_once(server, requests_sent)
    assert [parts[0][1] for parts in answers] == list(range(1, len(answers) + 1))
    messages = [message for parts in answers for message in parts[0][2]]
    while len(messages) < len(requests):
        messages += script(server.port, query)[0][2]
    assert [message["d"]["r"] for message in messages] == [1, 2, 3, 4]
    assert all(message["d"]["b"]["s"] == "ok" for message in messages)
    assert server.get(f"/.json?ns={ns}").json == [None] + ["é" * 9] * 4


def test_many_messages_in_one_address_are_answered_in_order(server, ns):
    query, _ = begin(server, ns)
    texts = [
        json.dumps({"t": "d", "d": {"r": number, "a": "echo", "b": {"d": number}}})
        for number in range(100)
    ]
    data = carry([(number, 1, pieces(text)[0]) for number, text in enumerate(texts)])
    messages = script(server.port, query + data)[0][2]
    while len(messages) < 100:
        messages += script(server.port, query)[0][2]
    replies = [message["d"] for message in messages]
    assert replies == [{"r": number, "b": {"s": "ok", "d": number}} for number in range(100)]


@pytest.mark.parametrize(
    "data",
    [
        "&seg0=0&ts0=1",
        "&seg0=0&d0=e30.",
        "&ts0=1&d0=e30.",
        "&seg1=0&ts1=1&d1=e30.",
        "&seg0=x&ts0=1&d0=e30.",
        "&seg0=-1&ts0=1&d0=e30.",
        "&seg0=0&ts0=0&d0=e30.",
        "&seg0=0&ts0=1&d0=e30=",
        "&seg0=0&ts0=1&d0=e",
        "&seg0=0&ts0=1&d0=",
        "&seg0=0&ts0=1&d0=!!!!",
        "&seg0=0&ts0=1&d0=e.30",
        "&seg0=0&ts0=2&d0=e30&seg1=1&ts1=3&d1=e30.",
        "&seg0=0&ts0=1&d0=e30.",
        "&seg0=0&ts0=1&d0=W10.",
        "&seg0=0&ts0=1&d0=_____w..",
        "&seg0=0&ts0=1&d0=eyJ0Ijoi_yJ9",
    ],
)
def test_what_is_no_message_ends_the_session(server, data):
    query, _ = begin(server)
    assert script(server.port, query + data) == [("close", 0)]
    assert script(server.port, query + whole(PING)) == [("close", 0)]


def test_pieces_far_ahead_of_their_turn_end_the_session(server):
    query, _ = begin(server)
    ahead = [carry([(number, 1, "e30.") for number in range(at, at + 100)]) for at in (1, 101, 201)]
    answers = at_once(server, [query + data for data in ahead])
    assert answers == [[("batch", 1, [])], [("batch", 2, [])], [("close", 2)]]


def test_a_write_of_more_than_the_limit_is_answered_and_later_ones_are_done():
    with Hearth("--max-message", "64KiB", "--poll-hold", "1s") as server:
        with Poll(server.port) as client:
            reply, _ = client.request("p", p="/a", d="x" * 60_000)
            assert reply["s"] == "ok"
            big = client.send("p", p="/a", d="y" * 200_000)
            later = client.send("p", p="/b", d=1)
            body, pushes = client.reply(big)
            assert body["s"] == "write_too_big" and "65536 bytes" in body["d"], body
            assert [push["a"] for push in pushes] == ["sd"]
            assert client.reply(later) == ({"s": "ok", "d": ""}, [])
        assert server.get("/.json?ns=demo").json == {"a": "x" * 60_000, "b": 1}


def test_a_message_of_more_than_the_limit_without_a_request_ends_the_session():
    with Hearth("--max-message", "64KiB", "--poll-hold", "1s") as server, Poll(server.port) as client:
        client.send_text("[" + "1," * 40_000 + "1]")
        with pytest.raises(Closed):
            client.receive()


# Messages


def test_listens_writes_and_replies_go_as_on_a_websocket(server, ns):
    with Poll(server.port, ns) as client, Wire(server.port, ns) as other:
        reply, pushes = client.request("q", p="/room", h="")
        assert reply == {"s": "ok", "d": {}} and pushes == []
        assert other.request("p", p="/room/topic", d="tea")[0]["s"] == "ok"
        assert client.push() == {"a": "d", "b": {"p": "room/topic", "d": "tea"}}
        reply, pushes = client.request("m", p="/room", d={"a": 1, "b": {".sv": "timestamp"}})
        assert reply["s"] == "ok" and [push["a"] for push in pushes] == ["m"]
        query = {"i": ".key", "l": 1, "vf": "r"}
        reply, pushes = client.request("q", p="/room", q=query, t=7, h="")
        assert reply["s"] == "ok" and pushes[0]["b"] == {"p": "room", "d": {"topic": "tea"}, "t": 7}
        assert other.request("p", p="/room/zoo", d=1)[0]["s"] == "ok"
        assert {client.push()["b"].get("t") for _ in range(2)} == {None, 7}
        reply, _ = client.request("p", p="/room/topic", d="no", h="wrong")
        assert reply["s"] == "datastale"
        reply, _ = client.request("g", p="/room/topic", q={})
        assert reply == {"s": "ok", "d": "tea"}
        client.ping()
        assert client.receive() == PONG


def test_text_is_what_it_was_through_script_and_address(server, ns):
    text = 'a</script><!--<script>\u2028\u2029"\\\u0000\u007f é € 😀 \uffff ' + "<" * 100
    with Poll(server.port, ns) as client:
        client.request("q", p="/", h="")
        _, pushes = client.request("p", p="/text", d=text)
        assert pushes[0]["b"]["d"] == text
        _, pushes = client.request("p", p="/text/<\u2028/</<", d=1)
        assert pushes[0]["b"]["p"] == "text/<\u2028/</<"
    with Poll(server.port, ns) as client:
        _, pushes = client.request("q", p="/", h="")
        assert pushes[0]["b"]["d"] == {"text": {"<\u2028": {"<": {"<": 1}}}}


def test_large_messages_go_both_ways(server, ns):
    rows = {f"k{number:05}": f"</é\u2028{number}" for number in range(9_000)}
    long = "<€\u2029é/" * 30_000
    with Poll(server.port, ns) as client, Wire(server.port, ns) as other:
        # Up: more than is read on the loop, and so that what follows must wait for it.
        number = client.send("p", p="/long", d="é" * 60_000)
        after = client.send("p", p="/after", d=1)
        assert client.reply(number)[0]["s"] == "ok" and client.reply(after)[0]["s"] == "ok"
        assert server.get(f"/long.json?ns={ns}").json == "é" * 60_000
        # Down: a long text, which is a message at once, and many nodes, which are streamed.
        assert other.request("p", p="/long", d=long)[0]["s"] == "ok"
        assert other.request("p", p="/rows", d=rows)[0]["s"] == "ok"
        for _ in range(2):
            _, pushes = client.request("q", p="/rows", h="")
            assert pushes[0]["b"]["d"] == rows
            client.request("n", p="/rows")
        reply, _ = client.request("g", p="/long", q={})
        assert reply["d"] == long
        # What comes while values stream comes behind them.
        client.send("q", p="/rows", h="")
        client.send("q", p="/long", h="")
        client.send("p", p="/rows/z", d=1)
        seen = [client.receive()["d"] for _ in range(6)]
        assert seen[0]["b"] == {"p": "rows", "d": rows} and seen[2]["b"]["d"] == long
        assert seen[4]["b"] == {"p": "rows/z", "d": 1}
        assert [data["r"] for data in seen if "r" in data] == [client.number - 2 + at for at in range(3)]


def test_a_text_with_a_number_of_its_own_for_each_receiver_reaches_all(server, ns):
    query = {"i": ".key", "l": 10, "vf": "r"}
    with Poll(server.port, ns) as one, Poll(server.port, ns) as two, Wire(server.port, ns) as three:
        clients = [(one, 5), (two, 77), (three, 123_456)]
        for client, tag in clients:
            assert client.request("q", p="/a", q=query, t=tag, h="")[0]["s"] == "ok"
        # Short ones are copied, several in a row are joined, long ones are shared but for the number.
        texts = ["</é" * length for length in (1, 2, 3, 3_000, 6_000, 90_000, 4)]
        for text in texts:
            three.send("p", p="/a/b", d=text)
        for client, tag in clients:
            pushes = []
            while len(pushes) < len(texts):
                data = client.receive()["d"]
                if "r" not in data:
                    pushes.append(data["b"])
            assert [push["t"] for push in pushes] == [tag] * len(texts)
            assert [push["d"] for push in pushes] == texts or [
                push["d"]["b"] for push in pushes
            ] == texts


def test_a_hundred_sessions_hear_the_same(server, ns):
    queries = [begin(server, ns)[0] for _ in range(100)]
    listen = whole('{"t":"d","d":{"r":1,"a":"q","b":{"p":"/a","h":""}}}')
    for query in queries:
        assert script(server.port, query + listen)[0][2][0]["d"]["r"] == 1
    with Wire(server.port, ns) as other:
        assert other.request("p", p="/a", d="news")[0]["s"] == "ok"
    for query in queries:
        (batch,) = script(server.port, query)
        assert batch[1] == 2 and batch[2][0]["d"]["b"] == {"p": "a", "d": "news"}


def test_a_client_that_does_not_ask_costs_the_queue_limit():
    with Hearth("--queue-limit", "64KiB", "--poll-hold", "1s") as server:
        query, _ = begin(server)
        listen = '{"t":"d","d":{"r":1,"a":"q","b":{"p":"/a","h":""}}}'
        (batch,) = script(server.port, query + whole(listen))
        assert [message["d"]["r"] for message in batch[2]] == [1]
        with Wire(server.port) as other:
            # One message may be as large as it likes.
            assert other.request("p", p="/a", d="x" * 500_000)[0]["s"] == "ok"
            assert poll_sessions(server) == 1
            for character in "yzy":
                assert other.request("p", p="/a", d=character * 30_000)[0]["s"] == "ok"
        assert poll_sessions(server) == 0
        assert script(server.port, query) == [("close", None)]


# The end


def test_goodbye_runs_what_was_to_be_done_on_disconnect(server, ns):
    for method in ("GET", "POST"):
        client = Poll(server.port, ns)
        with Wire(server.port, ns) as other:
            other.request("q", p="/gone", h="")
            assert client.request("o", p=f"/gone/{method}", d="bye")[0]["s"] == "ok"
            client.vanish()
            query = f"disconn=t&id={client.id}&pw={client.password}"
            assert script(server.port, query, method=method) == [("close", None)]
            assert other.push()["b"] == {"p": f"gone/{method}", "d": "bye"}
            # No user is there any more.
            query = f"id={client.id}&pw={client.password}"
            assert script(server.port, query) == [("close", None)]


def test_silence_ends_a_session():
    with Hearth("--poll-hold", "1s", "--poll-silence", "3s") as server:
        client = Poll(server.port)
        with Wire(server.port) as other:
            other.request("q", p="/gone", h="")
            assert client.request("o", p="/gone", d="bye")[0]["s"] == "ok"
            # As long as it asks it is there: longer than the time of silence.
            until = time.monotonic() + 4
            while time.monotonic() < until:
                script(server.port, f"id={client.id}&pw={client.password}")
            assert server.get("/gone.json?ns=demo").json is None
            client.vanish()
            before = time.monotonic()
            assert other.push()["b"] == {"p": "gone", "d": "bye"}
            assert time.monotonic() - before > 1


def test_a_client_that_comes_back_ends_its_last_session_first(server, ns):
    last = Poll(server.port, ns)
    assert last.request("o", p="/presence", d="bye")[0]["s"] == "ok"
    session = last.hello["d"]["d"]["s"]
    with Poll(server.port, ns, ls=session) as client:
        _, pushes = client.request("q", p="/presence", h="")
        assert pushes[0]["b"]["d"] == "bye"
        with pytest.raises(Closed):
            last.receive()
        last.vanish()
    # A WebSocket may come back in place of a long-polling session, too.
    last = Poll(server.port, ns)
    assert last.request("o", p="/presence", d="again")[0]["s"] == "ok"
    with Wire(server.port, ns, ls=last.hello["d"]["d"]["s"]) as client:
        _, pushes = client.request("q", p="/presence", h="")
        assert pushes[0]["b"]["d"] == "again"
    last.vanish()


def test_the_disconnect_frame_says_goodbye_for_its_page(server):
    query, hello = begin(server)
    status, headers, text = fetch(server.port, f"dframe=t&{query}&ns=demo")
    assert status == 200 and headers["Content-Type"] == "text/html; charset=utf-8"
    assert headers["X-Frame-Options"] is None and headers["Content-Security-Policy"] is None
    parameters = dict(part.split("=") for part in query.split("&"))
    assert f'"/.lp?disconn=t&id={parameters["id"]}&pw={parameters["pw"]}"' in text
    assert "pagehide" in text


def test_sessions_are_counted_and_end_with_the_server():
    with Hearth() as server:
        client = Poll(server.port)
        assert poll_sessions(server) == 1
        client.request("o", p="/a", d=1)
        assert server.stop() == 0
        # Sent away, or between two requests when the server went.
        with pytest.raises((Closed, OSError, http.client.HTTPException)):
            client.receive()
        client.vanish()


# The way to a WebSocket


def test_a_session_moves_to_a_websocket(server, ns):
    with Poll(server.port, ns) as client, Wire(server.port, ns) as other:
        client.request("q", p="/a", h="")
        assert client.request("o", p="/gone", d="bye")[0]["s"] == "ok"
        client.upgrade()
        # Its old end is sent away behind the end of transmission, and receives nothing else.
        assert client.request("p", p="/a", d=1) == (
            {"s": "ok", "d": ""},
            [{"a": "d", "b": {"p": "a", "d": 1}}],
        )
        assert not client.is_on_poll
        with client.changed:
            assert client.changed.wait_for(lambda: client.is_closed, 10)
        assert client.close_after == client.next_batch - 1
        query = f"id={client.id}&pw={client.password}"
        assert script(server.port, query) == [("close", client.close_after)]
        # Goodbye there is none here.
        assert script(server.port, f"{query}&disconn=t") == [("close", None)]
        assert server.get(f"/gone.json?ns={ns}").json is None
        assert other.request("p", p="/a", d="é" * 40_000)[0]["s"] == "ok"
        assert client.push()["b"]["d"] == "é" * 40_000
        other.request("q", p="/gone", h="")
        client.upgraded.close()
        assert other.push()["b"] == {"p": "gone", "d": "bye"}


def test_data_on_the_websocket_waits_for_the_end_of_the_old_way(server, ns):
    query, hello = begin(server, ns)
    put = '{{"t":"d","d":{{"r":{0},"a":"p","b":{{"p":"/order/{0}","d":"{1}"}}}}}}'
    with Wire(server.port, ns) as other:
        other.request("q", p="/order", h="")
        socket = Upgrade(server.port, ns, hello["s"])
        assert socket.receive()["d"]["t"] == "a"
        socket.send_text('{"t":"c","d":{"t":"a","d":{}}}')
        # Three messages overtake: the second is large, so that it is read elsewhere.
        for number, text in [(2, "x"), (3, "y" * 100_000), (4, "z")]:
            socket.send_text(put.format(number, text))
        first = pieces(put.format(1, "w" * 3_000))
        end = pieces('{"t":"c","d":{"t":"n","d":{}}}')
        numbered = [(index, len(first), piece) for index, piece in enumerate(first)]
        late = numbered.pop(0)
        numbered.append((len(first), 1, end[0]))
        # The end is here, but not the piece before it.
        assert script(server.port, query + carry(numbered)) == [("batch", 1, [])]
        assert server.get(f"/order.json?ns={ns}").json is None
        parts = script(server.port, query + carry([late]))
        messages = parts[0][2]
        assert parts[-1] == ("close", 2) and messages[-1] == END
        replies = [message["d"]["r"] for message in messages[:-1]]
        replies += [socket.receive()["d"]["r"] for _ in range(4 - len(replies))]
        assert replies == [1, 2, 3, 4]
        assert [other.push()["b"]["p"] for _ in range(4)] == [f"order/{at}" for at in range(1, 5)]
        socket.close()


def test_an_upgrade_of_no_session_is_sent_away(server, ns):
    query, hello = begin(server, ns)
    for wrong_ns, session in [(ns, "nobody"), ("other", hello["s"])]:
        socket = Upgrade(server.port, wrong_ns, session)
        reset = {"t": "c", "d": {"t": "r", "d": f"127.0.0.1:{server.port}"}}
        assert socket.receive() == reset
        with pytest.raises(Closed):
            socket.receive()
    assert script(server.port, query + whole(PING)) == [("batch", 1, [PONG])]


def test_an_upgrade_given_up_leaves_the_session_where_it_is(server, ns):
    with Poll(server.port, ns) as client:
        session = client.hello["d"]["d"]["s"]
        for _ in range(3):
            socket = Upgrade(server.port, ns, session)
            assert socket.receive()["d"]["t"] == "a"
            socket.send_text(PING)
            assert socket.receive() == PONG
            socket.close()
            assert client.request("p", p="/a", d=1)[0]["s"] == "ok"
        # A new attempt ends the one before.
        first, second = (Upgrade(server.port, ns, session) for _ in range(2))
        assert first.receive()["d"]["t"] == "a" and second.receive()["d"]["t"] == "a"
        with pytest.raises(Closed):
            first.receive()
        second.send_text("no message")
        with pytest.raises(Closed):
            second.receive()
        client.upgrade()
        assert client.request("p", p="/a", d=2)[0]["s"] == "ok"


def test_the_end_of_transmission_with_nowhere_to_go_ends_the_session(server, ns):
    with Poll(server.port, ns) as client:
        client.send_text('{"t":"c","d":{"t":"n","d":{}}}')
        with pytest.raises(Closed):
            client.receive()


def test_a_session_that_ends_takes_its_upgrade_along(server, ns):
    client = Poll(server.port, ns)
    socket = Upgrade(server.port, ns, client.hello["d"]["d"]["s"])
    assert socket.receive()["d"]["t"] == "a"
    client.close()
    with pytest.raises(Closed):
        socket.receive()


@pytest.mark.parametrize("number", range(8))
def test_nothing_is_lost_doubled_or_overtaken_while_a_session_moves(server, number):
    seed = SEED + number
    chance = drawn(number)
    ns = f"moves-{seed}"
    count = 60
    delays = random.Random(seed + 1)

    def jitter():
        time.sleep(delays.choice([0, 0, 0.001, 0.004, 0.02]) * delays.random())

    def text(number):
        # Some in several pieces, so that they can be cut by others.
        return f"{number}:" + "é" * chance.choice([0, 10, 700, 5_000])

    rows = {f"r{number}": number for number in range(5_000)}
    with Wire(server.port, ns) as other:
        assert other.request("p", p="/rows", d=rows)[0]["s"] == "ok"
        assert other.request("q", p="/own", h="")[0]["s"] == "ok"
        client = Poll(server.port, ns, jitter)
        assert client.request("q", p="/theirs", h="")[0]["s"] == "ok"
        base = client.number

        def write():
            for number in range(count):
                other.send("p", p="/theirs", d=text(number))
                jitter()

        writer = threading.Thread(target=write)
        writer.start()
        moved = chance.randrange(count)
        own = []
        for number in range(count):
            if number == moved:
                client.upgrade(pause=jitter)
            if chance.random() < 0.1:
                client.send("g", p="/rows", q={})
                own.append(None)
            client.send("p", p="/own", d=(value := text(number)))
            own.append(value)
            jitter()
        writer.join()
        replies, theirs = [], []
        while len(replies) < len(own) or len(theirs) < count:
            data = client.receive()["d"]
            if "r" in data:
                replies.append(data)
            else:
                theirs.append(data["b"]["d"].split(":")[0])
        assert theirs == [str(number) for number in range(count)]
        assert [data["r"] for data in replies] == [base + 1 + at for at in range(len(own))]
        for value, data in zip(own, replies):
            assert data["b"]["s"] == "ok"
            assert value is not None or data["b"]["d"] == rows
        seen = []
        while len(seen) < count:
            data = other.receive()["d"]
            if "r" not in data:
                seen.append(data["b"]["d"])
        assert seen == [value for value in own if value is not None]
        assert not client.is_on_poll and client.next_batch - 1 >= 1
        client.upgraded.close()
        client.vanish()
