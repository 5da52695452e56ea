"""`hearth import` and `hearth export`: round trips, what is cut and what is kept, retries, and going on."""

import gzip
import hashlib
import json
import os
import signal
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from command_line import hearth, on_terminal, peak_memory, start
from hearth_server import Hearth

MEGABYTE = 1024 * 1024


def words(result):
    return result.stderr.decode()


def write(path, value):
    path.write_text(value if isinstance(value, str) else json.dumps(value))
    return path


def exported(server, path="/"):
    result = hearth(server, "export", path)
    assert result.returncode == 0, words(result)
    return json.loads(result.stdout)


# A bit of everything that exports of the official console have in them.
CONSOLE = {
    "users": {
        "ada": {"name": "Ada", "tags": ["a", None, "c"], ".priority": 2.5},
        "bob": {".value": "leaf", ".priority": "first"},
        "ü 7": {"true": True, "big": 1e300, "deep": {"a": {"b": {"c": [[1, 2], {"x": "\u2028"}]}}}},
    },
    "messages": {f"-N{i:06}": {"text": "hello " * 20, "at": i} for i in range(12_000)},
    "scores": list(range(5000)),
    "empty": {},
    "none": None,
    "flag": False,
    ".priority": "root",
}


def cleaned(value):
    """What a database keeps of a value: arrays are objects, and what is empty is not there."""
    if isinstance(value, list):
        value = {str(i): item for i, item in enumerate(value)}
    if not isinstance(value, dict):
        return value
    kept = {key: cleaned(item) for key, item in value.items()}
    return {key: item for key, item in kept.items() if item not in (None, {})}


# Importing.


@pytest.mark.parametrize("path", ["/", "/a/b"])
def test_an_export_of_the_console_is_imported_as_it_is(dev, tmp_path, path):
    result = hearth(dev, "import", path, write(tmp_path / "export.json", CONSOLE))
    assert result.returncode == 0, words(result)
    assert result.stdout == b"" and "imported " in words(result)
    assert cleaned(exported(dev, path)) == cleaned(CONSOLE)
    assert [p.name for p in tmp_path.iterdir()] == ["export.json"]


@pytest.mark.parametrize("text", ['"x"', "17", '{"a":{"b":[1,2]}}', "[1,null,3]", " {} ", "null"])
def test_small_values_are_imported_whole(dev, tmp_path, text):
    assert hearth(dev, "import", "/v", write(tmp_path / "v.json", text)).returncode == 0
    assert cleaned(dev.get("/v.json").json) == (cleaned(json.loads(text)) or None)


def test_a_pipe_is_imported(dev):
    result = hearth(dev, "import", "/p", "-", stdin=json.dumps(CONSOLE).encode())
    assert result.returncode == 0, words(result)
    assert cleaned(exported(dev, "/p")) == cleaned(CONSOLE)


def test_a_part_of_a_file_is_imported(dev, tmp_path):
    file = write(tmp_path / "f.json", CONSOLE)
    for number, (path, part) in enumerate(
        [("users/ada", CONSOLE["users"]["ada"]), ("/messages/", CONSOLE["messages"]), ("scores/7", 7)]
    ):
        result = hearth(dev, "import", f"/{number}", file, "--filter", path)
        assert result.returncode == 0, words(result)
        assert cleaned(exported(dev, f"/{number}")) == cleaned(part)
    missing = hearth(dev, "import", "/x", file, "--filter", "/users/eve")
    assert missing.returncode == 1 and "no data at /users/eve" in words(missing)


def test_data_that_is_there_is_lost_only_when_the_user_wants_it(dev, tmp_path):
    file = write(tmp_path / "f.json", {"new": 1})
    dev.put("/t.json", {"old": 1})
    refused = hearth(dev, "import", "/t", file)
    assert refused.returncode == 2
    assert "--merge" in words(refused) and "--force" in words(refused)
    assert dev.get("/t.json").json == {"old": 1}
    code, _, shown = on_terminal(dev, "import", "/t", file, answer="n\n")
    assert code == 1 and "Are you sure?" in shown
    assert dev.get("/t.json").json == {"old": 1}
    assert hearth(dev, "import", "/t", file, "--force").returncode == 0
    assert dev.get("/t.json").json == {"new": 1}


def test_merging_writes_value_by_value(dev, tmp_path):
    dev.put("/t.json", {"a": {"kept": 1, "changed": 1}, "leaf": 1})
    file = write(tmp_path / "f.json", {"a": {"changed": 2, "n": None}, "leaf": {"b": 3}})
    assert hearth(dev, "import", "/t", file, "--merge").returncode == 0
    assert dev.get("/t.json").json == {"a": {"kept": 1, "changed": 2}, "leaf": {"b": 3}}


def test_a_text_of_ten_megabytes_is_one_request(dev, tmp_path):
    value = {"a": {".value": "x" * (10 * MEGABYTE), ".priority": 1}, "b": 2}
    assert hearth(dev, "import", "/", write(tmp_path / "f.json", value)).returncode == 0
    assert exported(dev) == value


@pytest.mark.parametrize(
    "text, reason",
    [
        ("", "the text ends too early at line 1, column 1"),
        ('{"a":1', "the text ends too early at line 1, column 7"),
        ('{"a":1}}', "text after the value at line 1, column 8"),
        ('{"a":[1,2}', "unexpected '}' at line 1, column 10"),
        ("hello", "unexpected 'h' at line 1, column 1"),
        ('\n{"a.b":1}', "a key must not contain '.' at line 2, column 2"),
        ('{"a":{"b":nul}}', "unexpected '}' at line 1, column 14"),
    ],
)
def test_what_is_no_data_is_refused_with_its_place_and_leaves_nothing(dev, tmp_path, text, reason):
    result = hearth(dev, "import", "/x", write(tmp_path / "f.json", text))
    assert result.returncode == 1
    assert reason in words(result)
    assert "nothing of the file is written" in words(result)
    assert dev.get("/x.json").json is None
    assert [p.name for p in tmp_path.iterdir()] == ["f.json"]
    write(tmp_path / "f.json", '{"a":1}')
    assert hearth(dev, "import", "/x", tmp_path / "f.json").returncode == 0


def test_a_first_part_that_is_refused_leaves_nothing(faulty, tmp_path):
    faulty.faults = [400]
    refused = hearth(faulty, "import", "/t", write(tmp_path / "f.json", {"k": "x" * MEGABYTE}))
    assert refused.returncode == 1 and "nothing of the file is written" in words(refused)
    assert [p.name for p in tmp_path.iterdir()] == ["f.json"]


def test_of_equal_members_the_last_one_counts(dev, tmp_path):
    def long(character):
        return '"' + character * 600_000 + '"'

    text = (
        f'{{"z":{{"old":{long("a")},"more":{long("b")},".priority":1}},"s":1,"s":2,'
        f'"k":{long("c")},"k":{long("d")},"z":{{"new":{long("e")},"more":{long("f")}}},"k":3}}'
    )
    for options in [[], ["--filter", "/"], ["--concurrency", "64"]]:
        done = hearth(dev, "import", "/t", write(tmp_path / "f.json", text), "--force", *options)
        assert done.returncode == 0, words(done)
        assert exported(dev, "/t") == json.loads(text)
    done = hearth(dev, "import", "/p", tmp_path / "f.json", "--filter", "/z/old")
    assert done.returncode == 0 and dev.get("/p.json").json is None
    done = hearth(dev, "import", "/m", tmp_path / "f.json", "--merge")
    assert done.returncode == 0, words(done)
    merged = dev.get("/m.json").json
    assert (merged["k"], merged["s"]) == (3, 2)
    assert {key: text[0] for key, text in merged["z"].items()} == {"old": "a", "new": "e", "more": "f"}


def test_a_refused_part_says_where_and_the_same_command_goes_on(dev, tmp_path):
    rules = {"rules": {".read": True, ".write": True, "t": {"k7": {".validate": "newData.isNumber()"}}}}
    owner = {"Authorization": "Bearer owner"}
    dev.request("PUT", "/.settings/rules.json", rules, headers=owner)
    text = {f"k{i}": "x" * 600_000 for i in range(12)}
    file = write(tmp_path / "f.json", text)
    command = ["import", "/t", file, "--anonymous", "--concurrency", "1"]
    refused = hearth(dev, *command)
    assert refused.returncode == 1
    assert "401 Permission denied" in words(refused)
    assert "(values from /t/k7 on)" in words(refused)
    assert "the same command goes on" in words(refused)
    # The part before the refused one is there.
    assert dev.get("/t/k6.json").json == text["k6"]
    dev.request("PUT", "/.settings/rules.json", {"rules": {".read": True, ".write": True}}, headers=owner)
    done = hearth(dev, *command)
    assert done.returncode == 0, words(done)
    assert "going on at " in words(done)
    assert dev.get("/t.json").json == text


def test_an_import_whose_data_is_gone_starts_anew(dev, tmp_path):
    rules = {"rules": {".read": True, ".write": True, "t": {"k7": {".validate": False}}}}
    owner = {"Authorization": "Bearer owner"}
    dev.request("PUT", "/.settings/rules.json", rules, headers=owner)
    text = {f"k{i}": "x" * 600_000 for i in range(9)}
    file = write(tmp_path / "f.json", text)
    assert hearth(dev, "import", "/t", file, "--anonymous", "--concurrency", "1").returncode == 1
    assert dev.get("/t/k0.json").json == text["k0"]
    assert hearth(dev, "remove", "/t", "--force").returncode == 0
    done = hearth(dev, "import", "/t", file)
    assert done.returncode == 0 and "starting anew" in words(done)
    assert dev.get("/t.json").json == text


# Servers that fail, and come back.


class Faulty(BaseHTTPRequestHandler):
    """A server that keeps what it is sent and fails when `faults` says so."""

    protocol_version = "HTTP/1.1"

    def do_GET(self):
        self.reply(200, b"null")

    def do_PATCH(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        with self.server.lock:
            fault = self.server.faults.pop(0) if self.server.faults else None
            self.server.requests.append((self.path, len(body)))
            if fault is None:
                base = self.path.split("?")[0].removesuffix(".json").strip("/")
                for key, item in json.loads(body).items():
                    self.server.data["/".join(filter(None, [base, key]))] = item
        if fault == "cut":
            self.close_connection = True
        else:
            self.reply(fault or 204, b'{"error":"no luck"}' if fault else b"")

    def reply(self, status, body):
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        if status != 204:
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


@pytest.fixture
def faulty():
    server = ThreadingHTTPServer(("127.0.0.1", 0), Faulty)
    server.faults, server.requests, server.data, server.lock = [], [], {}, threading.Lock()
    server.address = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.mark.parametrize("fault", [500, 503, "cut"])
def test_passing_failures_are_tried_again(faulty, tmp_path, fault):
    # As many as are under way at once: the first part, whose pause is printed, is among them.
    faulty.faults = [fault] * 5
    text = {f"k{i:03}": "x" * 50_000 for i in range(100)}
    result = hearth(faulty, "import", "/t", write(tmp_path / "f.json", text))
    assert result.returncode == 0, words(result)
    assert "trying again in" in words(result)
    assert faulty.data == {f"t/{key}": item for key, item in text.items()}
    assert max(size for _, size in faulty.requests) <= MEGABYTE + 2


def test_other_refusals_are_not_tried_again(faulty, tmp_path):
    faulty.faults = [400]
    text = {f"k{i:03}": "x" * 50_000 for i in range(10)} | {"l": ["y" * 600_000] * 2}
    result = hearth(faulty, "import", "/t", write(tmp_path / "f.json", text), "--concurrency", "1")
    assert result.returncode == 1
    assert "400 no luck (values from /t/k000 on)" in words(result)
    assert len(faulty.requests) == 1
    # What was begun goes on: the record says how far it came.
    assert hearth(faulty, "import", "/t", tmp_path / "f.json").returncode == 0


def test_a_record_of_another_import_is_not_followed(faulty, tmp_path):
    faulty.faults = [400]
    file = write(tmp_path / "f.json", {"a": "x" * MEGABYTE, "b": "y" * MEGABYTE})
    assert hearth(faulty, "import", "/t", file).returncode == 1
    record = tmp_path / "f.json.hearth-import"
    assert record.exists()
    for arguments, text in [
        (["/other"], "was stopped; finish it, or remove"),
        (["/t", "--merge"], "was stopped; finish it, or remove"),
    ]:
        refused = hearth(faulty, "import", arguments[0], file, *arguments[1:])
        assert refused.returncode == 1 and text in words(refused)
    os.utime(file, ns=(1, 1))
    changed = hearth(faulty, "import", "/t", file)
    assert changed.returncode == 1 and "has changed since" in words(changed)
    record.write_text("{}")
    assert "is not a record of an import" in words(hearth(faulty, "import", "/t", file))
    record.unlink()
    assert hearth(faulty, "import", "/t", file).returncode == 0
    assert not record.exists()


def test_a_link_in_the_place_of_the_record_is_not_followed(faulty, tmp_path):
    theirs = tmp_path / "theirs"
    theirs.write_text("kept")
    file = write(tmp_path / "f.json", {"a": "x" * MEGABYTE, "b": "y" * MEGABYTE})
    for name in ["f.json.hearth-import.partial", "f.json.hearth-import"]:
        link = tmp_path / name
        link.symlink_to(theirs if "partial" in name else tmp_path / "nothing")
        faulty.faults = [None, 400]
        # One part at a time: the server may still read what an import sent that has ended, and would fail that.
        assert hearth(faulty, "import", "/t", file, "--concurrency", "1").returncode == 1
        assert theirs.read_text() == "kept" and not (tmp_path / "nothing").exists()
        record = tmp_path / "f.json.hearth-import"
        assert record.is_file() and not record.is_symlink()
        record.unlink()


def test_a_stopped_import_says_that_it_goes_on(faulty, tmp_path):
    asked, release = threading.Event(), threading.Event()

    class Slow(Faulty):
        def do_PATCH(self):
            asked.set()
            release.wait(120)
            super().do_PATCH()

    faulty.RequestHandlerClass = Slow
    text = {f"k{i}": "x" * 600_000 for i in range(4)}
    file = write(tmp_path / "f.json", text)
    process = start(faulty, "import", "/t", file)
    assert asked.wait(120)
    process.send_signal(signal.SIGINT)
    _, shown = process.communicate(timeout=120)
    release.set()
    assert process.returncode == 130
    assert b"the same command goes on" in shown
    faulty.RequestHandlerClass = Faulty
    result = hearth(faulty, "import", "/t", file)
    assert result.returncode == 0 and "going on at 0%" in words(result)
    assert faulty.data == {f"t/{key}": item for key, item in text.items()}


# Exporting.


def test_an_export_has_priorities_unless_they_are_not_wanted(dev, tmp_path):
    dev.put("/a.json", {"b": {".value": 1, ".priority": 2}})
    assert exported(dev, "/a") == {"b": {".value": 1, ".priority": 2}}
    file = tmp_path / "plain.json"
    result = hearth(dev, "export", "/a", "--format", "plain", "-o", file)
    assert result.returncode == 0 and result.stdout == b""
    assert file.read_text() == '{"b":1}\n'
    assert "exported 8 B" in words(result)


def test_compressed_files_go_out_and_come_in(dev, tmp_path):
    dev.put("/a.json", CONSOLE)
    file = tmp_path / "a.json.gz"
    assert hearth(dev, "export", "/a", "--gzip", "-o", file).returncode == 0
    plain = hearth(dev, "export", "/a").stdout
    assert gzip.decompress(file.read_bytes()) == plain
    assert hearth(dev, "export", "/a", "--gzip").stdout[:2] == b"\x1f\x8b"
    assert hearth(dev, "import", "/b", file).returncode == 0
    assert cleaned(exported(dev, "/b")) == cleaned(CONSOLE)
    packed = gzip.compress(plain)
    assert hearth(dev, "import", "/c", "-", stdin=packed).returncode == 0
    assert cleaned(exported(dev, "/c")) == cleaned(CONSOLE)
    damaged = packed[:99] + b"?" * 50 + packed[149:]
    for name, text, fault in [
        ("cut", packed[:-9], "cut short"),
        ("bad", damaged, "damaged"),
        ("two", packed + packed, "gunzip first"),
    ]:
        bad = tmp_path / name
        bad.write_bytes(text)
        result = hearth(dev, "import", f"/{name}", bad)
        assert result.returncode == 1 and fault in words(result)


def test_a_compressed_import_goes_on(dev, tmp_path):
    rules = {"rules": {".read": True, ".write": True, "t": {"k7": {".validate": False}}}}
    owner = {"Authorization": "Bearer owner"}
    dev.request("PUT", "/.settings/rules.json", rules, headers=owner)
    text = {f"k{i}": "x" * 600_000 for i in range(9)}
    file = tmp_path / "f.json.gz"
    file.write_bytes(gzip.compress(json.dumps(text).encode()))
    assert hearth(dev, "import", "/t", file, "--anonymous", "--concurrency", "1").returncode == 1
    done = hearth(dev, "import", "/t", file)
    assert done.returncode == 0 and "going on at 4.2 MB of the text" in words(done)
    assert dev.get("/t.json").json == text


@pytest.mark.parametrize("signal_number", [signal.SIGINT, signal.SIGTERM])
def test_a_stopped_export_leaves_nothing(faulty, tmp_path, signal_number):
    asked = threading.Event()
    release = threading.Event()

    class Slow(Faulty):
        def do_GET(self):
            self.send_response(200)
            self.send_header("Content-Length", "1000000")
            self.end_headers()
            self.wfile.write(b'{"a":"' + b"x" * 100_000)
            asked.set()
            release.wait(120)
            self.close_connection = True

    faulty.RequestHandlerClass = Slow
    process = start(faulty, "export", "/", "-o", tmp_path / "e.json")
    assert asked.wait(120)
    process.send_signal(signal_number)
    _, shown = process.communicate(timeout=120)
    release.set()
    assert process.returncode == 130
    assert b"nothing is left" in shown
    assert list(tmp_path.iterdir()) == []


def test_an_answer_that_is_cut_short_is_no_export(faulty, tmp_path):
    class Cut(Faulty):
        def do_GET(self):
            self.send_response(200)
            self.send_header("Content-Length", "1000")
            self.end_headers()
            self.wfile.write(b'{"a":1')
            self.close_connection = True

    faulty.RequestHandlerClass = Cut
    result = hearth(faulty, "export", "/", "-o", tmp_path / "e.json")
    assert result.returncode == 1 and "was lost" in words(result)
    assert list(tmp_path.iterdir()) == []


def test_what_is_too_large_for_one_answer_is_exported_in_pages(tmp_path):
    value = {
        "list": {f"k{i:05}": "text " * 10 for i in range(6000)},
        "array": [f"item {i}" for i in range(12_000)],
        "deep": {"a": {"b": {f"x{i}": {"y": "z" * 500, ".priority": i} for i in range(400)}}},
        "holes": {str(i): i for i in range(0, 60_000, 3)},
        "quote\"": {"\\": "}]{[,\""},
        "leaf": {".value": "v", ".priority": 1},
        ".priority": "top",
    }
    with Hearth("--max-response", "64KiB") as server:
        assert server.put("/t.json", value).status == 200
        result = hearth(server, "export", "/t", "-o", tmp_path / "e.json")
        assert result.returncode == 0, words(result)
        assert "in pages" in words(result)
        assert cleaned(json.loads((tmp_path / "e.json").read_text())) == cleaned(value)
        plain = json.loads(hearth(server, "export", "/t/deep", "--format", "plain").stdout)
        assert plain["a"]["b"]["x7"] == {"y": "z" * 500}


# Progress.


def test_progress_is_shown_on_a_terminal(dev, tmp_path):
    file = tmp_path / "f.json"
    file.write_text(json.dumps({f"k{i:05}": "x" * 2000 for i in range(10_000)}))
    code, output, shown = on_terminal(dev, "import", "/t", file)
    assert (code, output) == (0, "")
    assert "\rimporting " in shown.replace("\x1b[K", "") and "%" in shown and "MB/s" in shown
    code, output, shown = on_terminal(dev, "export", "/t", "-o", tmp_path / "e.json")
    assert (code, output) == (0, "")
    assert "exporting " in shown and "exported " in shown
    for result in [
        hearth(dev, "import", "/u", file),
        hearth(dev, "export", "/t", "-o", tmp_path / "e.json"),
    ]:
        assert b"\r" not in result.stderr and result.stderr.count(b"\n") == 1


# At size.


def make_large(path, byte_count):
    """Writes JSON as an export would, in little time: 1,000 rooms of messages of some kilobytes."""
    rooms = 1000
    filler = "0123456789abcdef" * 256
    per_message = len(filler) + 60
    count = byte_count // rooms // per_message
    with open(path, "w") as file:
        file.write('{"rooms":{')
        for room in range(rooms):
            messages = ",".join(
                f'"-M{i:06}":{{"at":{room * count + i},"from":"user{i}","text":"{filler}"}}'
                for i in range(count)
            )
            file.write(("," if room else "") + f'"room{room:05}":{{{messages}}}')
        file.write("}}\n")
    return os.path.getsize(path)


def digest(path):
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def confirmed(record):
    try:
        return json.loads(record.read_text())["confirmedOffset"]
    except FileNotFoundError:
        return 0


@pytest.mark.release
def test_300_megabytes_survive_a_kill_and_come_out_as_they_went_in(dev, tmp_path):
    source = tmp_path / "large.json"
    record = tmp_path / "large.json.hearth-import"
    size = make_large(source, 300_000_000)
    assert size > 290_000_000
    limit = 200 * MEGABYTE

    killed = start(dev, "import", "/", source)
    deadline = time.monotonic() + 120
    while confirmed(record) < size // 3:
        assert killed.poll() is None, killed.stderr.read()
        assert time.monotonic() < deadline
        time.sleep(0.01)
    killed.send_signal(signal.SIGKILL)
    killed.communicate()
    before = confirmed(record)
    assert size // 3 <= before < size

    resumed = start(dev, "import", "/", source)
    peak = peak_memory(resumed)
    _, shown = resumed.communicate()
    assert resumed.returncode == 0, shown
    assert f"going on at {before * 100 // size}%".encode() in shown
    assert peak < limit
    assert not record.exists()

    out = tmp_path / "out.json"
    export = start(dev, "export", "/", "-o", out)
    peak = peak_memory(export)
    _, shown = export.communicate()
    assert export.returncode == 0, shown
    assert peak < limit
    assert digest(out) == digest(source)
    # Folders of tests are kept for a while.
    out.unlink()
    source.unlink()
