"""What differs by mode and flag, and the smaller promises of the REST surface."""

import gzip
import json
import os
import signal
import socket
import subprocess
import urllib.request

import pytest

from hearth_server import BINARY, Hearth
from test_origin import exchange
from wire_client import Wire

EVERYBODY = '{"rules":{".read":true,".write":true}}'


def serve(*flags, folder):
    return subprocess.run(
        [BINARY, "serve", *map(str, flags)],
        capture_output=True,
        text=True,
        timeout=120,
        cwd=folder,
        env={**os.environ, "HEARTH_CONFIG": ""},
    )


def test_an_exposed_dev_server_opens_admin_routes_to_local_programs_only():
    routes = [("GET", "/.settings/rules.json"), ("GET", "/.metrics"), ("POST", "/.simulate")]
    strangers = [
        {"Host": "evil.example"},
        {"Host": "localhost", "Origin": "https://evil.example"},
        {"Host": "localhost", "Origin": "null"},
        {"Host": "localhost", "Sec-Fetch-Site": "cross-site"},
    ]
    # All loopback addresses reach this bind; it does not count as one, and nothing else can reach it here.
    with Hearth("--host", "0.0.0.0", "--dev-exposed") as server:
        for method, path in routes:
            status, _ = exchange(server.port, method, path, {"Host": "localhost"})
            assert status == 200, path
            for headers in strangers:
                status, answer = exchange(server.port, method, path, headers)
                assert status == 401, (path, headers)
                assert b"Access-Control-Allow-Origin" not in answer


def test_a_host_name_chooses_the_database(tmp_path):
    flags = ["--database", "chat", "--database", "main", "--default-ns", "main"]
    flags += ["--domain", "db.example", "--allow-host", "api.example", "--alias", "talk=chat"]
    rules = tmp_path / "rules.json"
    rules.write_text(EVERYBODY)
    with Hearth(*flags, "--rules", str(rules), dev=False, data=tmp_path / "data") as server:
        for name in ("chat", "main"):
            assert server.put(f"/name.json?ns={name}", name).json == name
        found = {
            ("localhost", ""): "main",
            ("127.0.0.1", ""): "main",
            ("chat.localhost", ""): "chat",
            ("CHAT.localhost", ""): "chat",
            ("chat.db.example", ""): "chat",
            ("api.example", ""): "main",
            ("chat.localhost", "?ns=main"): "main",
            ("localhost", "?ns=CHAT"): "chat",
            ("localhost", "?ns=talk"): "chat",
        }
        for (host, query), name in found.items():
            answer = server.get(f"/name.json{query}", headers={"Host": host})
            assert answer.status == 200 and answer.json == name, (host, query)
        for host, query in [("nosuch.localhost", ""), ("localhost", "?ns=nosuch")]:
            assert server.get(f"/name.json{query}", headers={"Host": host}).status == 404
        assert server.get("/name.json", headers={"Host": "chat.other.example"}).status == 403


@pytest.mark.parametrize("recheck, isRevoked", [("data", True), ("auth", False)])
def test_listen_recheck_says_whether_data_can_revoke_a_listen(recheck, isRevoked, tmp_path):
    rules = tmp_path / "rules.json"
    rules.write_text(
        '{"rules":{".write":true,"a":{".read":"root.child(\'on\').exists()"},"b":{".read":true}}}'
    )
    with Hearth("--rules", str(rules), "--listen-recheck", recheck) as server:
        server.put("/on.json?ns=demo", True)
        with Wire(server.port) as client:
            assert client.request("q", p="/a", h="")[0]["s"] == "ok"
            _, pushes = client.request("m", p="/", d={"on": None, "a/x": 1})
            revoked = ["sd", {"a": "c", "b": {"p": "a"}}]
            sent = [{"a": "m", "b": {"p": "a", "d": {"x": 1}}}]
            # In development the reason comes ahead.
            pushes = ["sd" if push["a"] == "sd" else push for push in pushes]
            assert pushes == (revoked if isRevoked else sent)


def test_json_log_lines_are_json(tmp_path):
    with Hearth("--log-format", "json", log=tmp_path / "log") as server:
        with Wire(server.port) as client:
            client.socket.send("no\n\"message\" \u2028 \x1b[31m")
        server.await_log("closed a connection")
        assert server.stop() == 0
        lines = [json.loads(line) for line in server.log_text.splitlines()]
        assert {"ready", "stopping", "stopped"} <= {line["message"] for line in lines}
        assert all({"time", "level", "message"} <= set(line) for line in lines)


def test_a_request_under_way_is_answered_before_the_server_ends(durable):
    assert durable.get("/.health/ready").text == "ready\n"
    with socket.create_connection(("127.0.0.1", durable.port), timeout=120) as busy:
        busy.sendall(b"PUT /a.json HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n\r\n4")
        # Answered on the same loop, so the head above has been taken in by then.
        assert durable.get("/.health/live").text == "live\n"
        durable.process.send_signal(signal.SIGTERM)
        durable.await_log("stopping")
        busy.sendall(b"2")
        answer = busy.recv(4096)
    assert answer.startswith(b"HTTP/1.1 200 ") and answer.endswith(b"42")
    assert durable.process.wait(120) == 0
    durable.start()
    assert durable.get("/a.json").json == 42


def test_metrics_count_what_happened(dev):
    with Wire(dev.port) as client:
        client.request("q", p="/a", h="")
        client.request("p", p="/a", d=1)
        text = dev.get("/.metrics").text
    values = dict(line.rsplit(" ", 1) for line in text.splitlines() if not line.startswith("#"))
    assert values["hearth_commits_total"] == "1"
    assert any("listens" in name and value == "1" for name, value in values.items()), text
    for line in text.splitlines():
        assert line.startswith("#") or float(line.rsplit(" ", 1)[1]) >= 0


@pytest.mark.parametrize(
    "flags, text",
    [
        (["--hs256-secret-file", "short"], "the HS256 secret has 5 bytes; it must have 32 to 4096"),
        (["--jwks", "short"], "short: is not JSON at byte 0"),
        (["--jwks", "."], ".: is not a regular file"),
        (["--rules", "short"], "short:1:1: Parse error."),
        (["--admin-secret-file", "short"], "chmod 600 short"),
        (["--tls-cert", "short", "--tls-key", "short"], "cannot use the TLS certificate and key"),
    ],
)
def test_a_file_that_cannot_be_used_ends_the_start_with_1(flags, text, tmp_path):
    (tmp_path / "short").write_text("short")
    result = serve("--dev", "--memory", "--port", "0", *flags, folder=tmp_path)
    assert result.returncode == 1 and result.stdout == ""
    assert text in result.stderr


@pytest.mark.parametrize(
    "flags, text",
    [
        (["--port", "99999"], "--port: must be a number from 0 to 65535, not '99999'"),
        (["--data-dir", ""], "--data-dir: is empty"),
        (["--durability", "interval=0"], "1 to 60000 milliseconds"),
        (["--default-ns", "A B", "--dev"], "--default-ns: the name 'A B' has a bad character"),
        (["--database", "a", "--database", "a"], "names 'a' more than once"),
        (["--database", "a", "--default-ns", "b"], "there is no database 'b'"),
        (["--tls-cert", "/etc/hostname"], "is given without --tls-key"),
        (["--host", "999.1.1.1"], "is no address to listen on"),
        (["--dev-exposed"], "means nothing without --dev"),
        (["--allow-origin", "x"], "such as https://app.example.com"),
        (["--listen-recheck", "x"], "Write one of: data, auth"),
        (["--max-body", "0"], "must be a size from"),
        (["--ping-interval", "0"], "must be a time from 1s"),
    ],
)
def test_a_wrong_flag_exits_with_2_and_says_what_to_do(flags, text, tmp_path):
    result = serve(*flags, folder=tmp_path)
    assert result.returncode == 2 and result.stdout == ""
    assert text in result.stderr and list(tmp_path.iterdir()) == []


# MARK: - REST, small print


def test_a_post_may_mean_another_method(dev):
    assert dev.request("POST", "/a.json", {"x": 1}, headers={"X-HTTP-Method-Override": "PUT"}).json == {
        "x": 1
    }
    assert dev.request("POST", "/a.json?x-http-method-override=PATCH", {"y": 2}).status == 200
    override = {"X-HTTP-Method-Override": "get"}
    assert dev.request("POST", "/a.json", raw=b"", headers=override).json == {"x": 1, "y": 2}
    assert dev.request("POST", "/a.json", raw=b"", headers={"X-HTTP-Method-Override": "FLY"}).status == 405
    assert dev.request("PUT", "/b.json", 1, headers={"X-HTTP-Method-Override": "DELETE"}).json == 1
    assert dev.request("POST", "/a.json?x-http-method-override=DELETE", raw=b"").json is None
    assert dev.get("/.json").json == {"b": 1}


def test_shallow_is_always_an_object_of_true(dev):
    dev.put("/list.json", ["a", {"b": 1}])
    dev.put("/leaf.json", {".value": 5, ".priority": 1})
    assert dev.get("/list.json?shallow=true").json == {"0": True, "1": True}
    assert dev.get("/list.json?shallow=true&print=pretty").text == '{\n  "0" : true,\n  "1" : true\n}\n'
    assert dev.get("/leaf.json?shallow=true&format=export").json == 5
    assert dev.get("/none.json?shallow=true").json is None
    assert dev.get("/list.json?shallow=true&print=silent").status == 204
    answer = dev.get("/list.json?shallow=true&orderBy=%22$key%22")
    assert answer.status == 400
    assert answer.json["error"] == "Mixing 'shallow' and querying parameters is not supported"


@pytest.mark.parametrize("nothing", [b"null", b"{}", b"[]", b'{"a":null}', b'{".priority":1}'])
def test_writing_nothing_removes(dev, nothing):
    dev.put("/a.json", {"b": 1})
    assert dev.request("PUT", "/a.json", raw=nothing).json is None
    assert len(dev.request("POST", "/a.json", raw=nothing).json["name"]) == 20
    assert dev.get("/.json").json is None


def test_a_body_may_come_in_chunks_and_compressed(dev):
    def pieces():
        yield b'{"a"'
        yield b":1}"

    request = urllib.request.Request(
        f"http://127.0.0.1:{dev.port}/a.json", data=pieces(), method="PUT"
    )
    with urllib.request.urlopen(request, timeout=120) as answer:
        assert json.loads(answer.read()) == {"a": 1}
    zipped = gzip.compress(b'{"a":2}')
    written = dev.request("PUT", "/a.json", raw=zipped, headers={"Content-Encoding": "gzip"})
    assert written.status == 200
    assert dev.get("/a.json").json == {"a": 2}


def test_head_answers_as_get_without_a_body(dev):
    dev.put("/a.json", {"b": 1})
    for path in ["/a.json", "/a.json?print=pretty", "/.settings/rules.json", "/nope", "/.health/live"]:
        full, head = dev.get(path), dev.request("HEAD", path)
        assert head.status == full.status and head.body == b""
        assert head.headers["Content-Type"] == full.headers["Content-Type"]


@pytest.mark.parametrize(
    "target",
    ["/%ff.json", "/%.json", "/%zz.json", "/%00.json", "/..json", "/.json.json", "/.info/x.json"]
    + ["/a.json?ns=", "/a.json?ns=a_b", "/a.json?ns=" + "n" * 64, "/" + "k" * 769 + ".json"]
    + ["/" + "/".join("k" * 33) + ".json", "/a.json?print=x", "/a.json?format=x", "/a.json?shallow=x"]
    + ["/a.json?auth_variable_override=1", "/a.json?auth_variable_override=%7B"]
    + ["/a.json?auth_variable_override=%7B%22a%22:" + "[" * 900 + "]" * 900 + "%7D"]
    + ["/.json?limitToFirst=1", "/.json?orderBy=x", "/.json?orderBy=%22$key%22&limitToFirst=0"],
)
def test_a_bad_address_is_400(dev, target):
    assert dev.get(target).status == 400


def test_an_answer_above_the_limit_is_refused(tmp_path):
    with Hearth("--max-response", "65536") as server:
        assert server.put("/a.json?print=silent", {"b": "x" * 70_000, "c": 1}).status == 204
        answer = server.get("/a.json")
        assert answer.status == 400 and "exceeds the maximum size" in answer.json["error"]
        assert server.get("/a/c.json").json == 1


SIMULATIONS = {
    b"": "the text ends too early",
    b"[]": "1:1: The body must be an object",
    b"{}": "'op' is missing",
    b'{"path":"/"}': "'op' is missing",
    b'{"op":"fly","path":"/"}': "'op' is 'fly'",
    b'{"op":"read","path":5}': "1:21: 'path' must be a string",
    b'{"op":"read","path":"/a.b"}': "a key must not contain '.'",
    b'{"op":"read","path":"/","auth":5}': "'auth' must be an object or null",
    b'{"op":"read","path":"/","auth":[]}': "'auth' must be an object or null",
    b'{"op":"read","path":"/","now":1.5}': "'now' must be a whole number of milliseconds",
    b'{"op":"read","path":"/","now":"x"}': "'now' must be a whole number of milliseconds",
    b'{"op":"read","path":"/","data":{".sv":"timestamp"}}': "'data' must be data as it is stored",
    b'{"op":"read","path":"/","rules":{"a":5}}': "Expected 'rules' property",
    b'{"op":"read","path":"/","rules":5}': "'rules' must be the text of a rules file",
    b'{"op":"read","path":"/","rule":{}}': "Unknown member 'rule'",
    b'{"op":"query","path":"/","query":5}': "'query' must be an object",
    b'{"op":"write","path":"/"}': "'value' is missing",
    b'{"op":"write","path":"/","value":{"$":1}}': "a key must not contain '$'",
    b'{"op":"write","path":"' + b"/k" * 32 + b'","value":{"a":1}}': "33 levels deep, the limit is 32",
    b'{"op":"update","path":"/"}': "'value' is missing",
    b'{"op":"update","path":"/","value":5}': "must be an object of paths and values",
    b'{"op":"update","path":"/","value":{"a":1,"a/b":2}}': "at once",
    b'{"op":"read","path":"/"}x': "text after the value",
}


def test_a_bad_simulation_says_what_is_wrong(dev):
    for body, text in SIMULATIONS.items():
        answer = dev.request("POST", "/.simulate", raw=body)
        assert answer.status == 400 and text in answer.json["error"], (body, answer.body)


@pytest.mark.parametrize("body", [b"1e400", b"\xef\xbb\xbf1", b"[" * 100_000, b'{".sv":"x"}', b"\xff"])
def test_faults_of_a_body_are_reported_in_words(dev, body):
    text = dev.request("PUT", "/a.json", raw=body).json["error"]
    words = text.removeprefix("Invalid data; couldn't parse JSON object, array, or value. ")
    assert words != text and "(" not in words and words[0] != words[0].upper(), text


def test_another_version_of_the_protocol_is_shut_out_with_a_reason(dev):
    from websockets.sync.client import connect

    with connect(f"ws://127.0.0.1:{dev.port}/.ws?v=6&ns=demo") as client:
        message = json.loads(client.recv(timeout=120))
        assert message["d"]["t"] == "s" and "version 5" in message["d"]["d"]
