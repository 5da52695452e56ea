"""Rules for files in the tools of rules: the simulator, `hearth rules check`, `test` and `explain`, the samples."""

import json

import pytest
from command_line import hearth
from file_requests import BUCKET, place, signed_in, upload
from hearth_server import ROOT, Hearth
from sample_pages import Window, contrast_faults

RULES = """rules_version = '2';
service firebase.storage {
  match /b/{bucket}/o {
    match /users/{uid}/{file} {
      allow read: if request.auth.uid == uid || resource.metadata.get('public', '') == 'yes';
      allow create: if request.auth.uid == uid && request.resource.size < 1000;
    }
    match /parties/{party}/{file=**} {
      allow read: if database.exists(/parties/$(party)/guests/$(request.auth.uid));
    }
    match /late/{file} { allow get: if request.time > timestamp.value(5000); }
  }
}
"""
DATA = {"parties": {"p": {"guests": {"ann": True}}}}
OWNER = {"Authorization": "Bearer owner"}
NAME = "users/ann/a.txt"
STATEMENT = "/b/{bucket}/o/users/{uid}/{file}"

REQUESTS = [
    (0, ["get", NAME, "--uid", "ann"]),
    (1, ["get", NAME, "--uid", "bob", "--resource", '{"metadata":{"public":"no"}}']),
    (0, ["get", NAME, "--resource", '{"metadata":{"public":"yes"}}', "--uid", "bob"]),
    (1, ["get", NAME, "--resource", "null"]),
    (0, ["create", NAME, "--uid", "ann", "--new-resource", '{"size":999}']),
    (1, ["create", NAME, "--uid", "ann", "--new-resource", '{"size":1000}']),
    (1, ["update", NAME, "--uid", "ann", "--resource", '{"size":1}']),
    (0, ["list", "parties/p", "--uid", "ann"]),
    (1, ["list", "parties/p", "--uid", "bob"]),
    (0, ["get", "late/a", "--now", "6000", "--resource", "null"]),
    (1, ["delete", "late/a", "--now", "6000", "--resource", "null"]),
]


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    folder = tmp_path_factory.mktemp("rules")
    (folder / "storage.rules").write_text(RULES)
    with Hearth("--files-rules", str(folder / "storage.rules")) as server:
        assert server.request("PUT", "/.json", DATA, headers=OWNER).status == 200
        metadata = {"contentType": "text/plain", "metadata": {"public": "yes"}}
        assert upload(server, "users/ann/public.txt", b"hello", metadata, OWNER).status == 200
        yield server


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "storage.rules").write_text(RULES)
    (tmp_path / "data.json").write_text(json.dumps(DATA))
    return tmp_path


def rules(server, folder, *arguments):
    done = hearth(server, "rules", *arguments, folder=folder)
    return done.returncode, done.stdout.decode(), done.stderr.decode()


def simulate(server, words=False, headers=OWNER, **body):
    accept = {"Accept": "text/plain"} if words else {}
    return server.request("POST", "/.simulate", {"service": "files", **body}, headers={**headers, **accept})


@pytest.mark.parametrize(("code", "arguments"), REQUESTS, ids=lambda value: str(value)[:60])
def test_a_server_and_files_give_the_same_words(server, folder, code, arguments):
    # The time of what is not said of an object is that of the request.
    now = [] if "--now" in arguments else ["--now", "7000"]
    arguments = ["explain", *arguments, "--bucket", BUCKET, *now]
    offline = ["--rules", "storage.rules", "--data", "data.json"]
    here = rules(None, folder, *arguments, *offline)
    assert (here[0], here[2]) == (code, ""), here
    assert (" allowed: " if code == 0 else " refused: ") in here[1].splitlines()[0]
    assert rules(server, folder, *arguments) == here
    # The same, with the rules and the data brought along.
    assert rules(server, folder, *arguments, *offline, "--url", server.address) == here
    # And as JSON.
    there = rules(server, folder, *arguments, "--json")
    assert there == rules(None, folder, *arguments, *offline, "--json")
    assert there[0] == code and json.loads(there[1])["allowed"] == (code == 0)


def test_the_object_as_it_is_counts_where_the_request_says_none(server):
    answer = simulate(server, op="get", path="users/ann/public.txt", auth={"uid": "bob"})
    assert answer.status == 200 and answer.headers["Hearth-Verdict"] == "allowed"
    assert answer.json["allow"]["pattern"] == STATEMENT and answer.json["trace"][0]["bindings"]["uid"] == '"ann"'
    values = {value["text"]: value.get("value") for value in answer.json["trace"][0]["values"]}
    assert values["resource.metadata.get('public', '')"] == '"yes"'
    words = simulate(server, words=True, op="get", path="users/ann/public.txt", auth={"uid": "bob"}, resource=None).text
    assert words.startswith(f"get users/ann/public.txt of bucket {BUCKET} refused: no allow of get is true.\n")
    assert "resource is null" in words and 'asked by "bob": {}' in words
    # A request that is tried changes nothing.
    tried = simulate(server, op="create", path="users/ann/new.txt", auth={"uid": "ann"}, newResource={"size": 1})
    assert tried.json["allowed"]
    assert server.request("GET", f"/v0/b/{BUCKET}/o/users%2Fann%2Fnew.txt", headers=OWNER).status == 404


def test_rules_look_into_the_tree_or_into_the_data_of_the_request(server):
    request = {"op": "get", "path": "parties/p/a.png", "auth": {"uid": "ann"}}
    answer = simulate(server, **request).json
    assert answer["allowed"] and answer["lookups"] == [{"database": None, "path": "/parties/p/guests/ann"}]
    assert not simulate(server, **request, data={"parties": {}}).json["allowed"]


@pytest.mark.parametrize(
    ("body", "line", "column", "message"),
    [
        ('{"service":"files","op":"read","path":"a"}', 1, 25, "'op' must be one of get, list, create, update, delete."),
        ('{"service":"files","op":"get"}', 1, 1, "'path' is missing; it names an object or a prefix"),
        ('{"service":"files",\n "op":"get","pth":"a"}', 2, 13, "Unknown member 'pth' in the body."),
        ('{"service":"files","op":"get","path":"a","newResource":{}}', 1, 56, "'newResource' has no meaning for get."),
        ('{"service":"files","op":"list","path":"a","resource":{}}', 1, 54, "'resource' has no meaning for list."),
        ('{"service":"files","op":"get","path":"a","auth":{"id":1}}', 1, 50, "Unknown member 'id' in 'auth'."),
        ('{"service":"files","op":"get","path":"a","resource":{"size":"1"}}', 1, 61, "'size' must be a whole number."),
    ],
)
def test_a_request_that_makes_no_sense_is_named_with_its_place(server, body, line, column, message):
    answer = server.request("POST", "/.simulate", raw=body.encode(), headers=OWNER)
    [error] = answer.json["errors"]
    assert (answer.status, error["line"], error["column"]) == (400, line, column)
    assert error["message"].startswith(message)


def test_rules_of_a_request_that_do_not_load_are_named_twice(server):
    answer = simulate(server, op="get", path="a", rules="service firebase.storage {\n  match /b {allow get: if x;} }")
    [error] = answer.json["errors"]
    assert (answer.status, error["line"], error["column"], error["message"]) == (400, 2, 27, "Unknown name 'x'.")
    assert error["body"]["line"] == 1 and error["body"]["column"] > 80


def test_a_bucket_and_a_name_must_be_possible(server):
    assert simulate(server, op="get", path="a", bucket="B!").status == 400
    answer = simulate(server, op="get", path="..", bucket="demo")
    assert (answer.status, answer.json["error"]) == (400, "An object name must not be '.' or '..'.")


def test_without_rules_it_says_what_happens_then(tmp_path):
    with Hearth() as server:
        request = {"op": "get", "path": "a", "auth": {"uid": "ann"}}
        missing = simulate(server, **request)
        assert missing.json["errors"][0]["message"] == "'bucket' is missing; it names the bucket."
        answer = simulate(server, bucket="demo", **request).json
        assert answer == {"allowed": True, "allow": None, "trace": [], "lookups": [], "debug": [], "rules": "open"}
    with Hearth("--files-bucket", "photos", dev=False, data=tmp_path / "data") as server:
        admin = {"Authorization": f"Bearer {(tmp_path / 'data' / 'admin-secret').read_text().strip()}"}
        assert simulate(server, headers={}, **request).status == 401
        words = simulate(server, words=True, headers=admin, **request).text
        assert words.splitlines()[0] == "get a of bucket photos refused: the bucket has no rules, so everything is refused."
        other = simulate(server, headers=admin, bucket="other", **request)
        assert (other.status, other.json["error"]) == (400, "There is no bucket 'other'; there are: photos.")


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["gt", "a"], "'gt' is not an operation on files: get, list, create, update or delete; did you mean 'get'?"),
        (["get", "a", "--value", "1"], "a request for a file takes no --value"),
        (["get", "a", "--resource", "{"], "--resource:1:2: This is no JSON"),
        (["get", "a", "--resource", '{"sise":1}'], "--resource:1:2: Unknown member 'sise' in a resource."),
        (["get", "a", "--rules", "other.json"], "other.json: holds rules for a database; rules for files are needed here"),
    ],
)
def test_what_makes_no_sense_is_said_of_the_option(folder, arguments, reason):
    (folder / "other.json").write_text('{"rules":{}}')
    given = [] if "--rules" in arguments else ["--rules", "storage.rules"]
    code, out, errors = rules(None, folder, "explain", "--files", *arguments, *given)
    assert (code, out) == (2, "") and reason in errors, errors


# Coverage


def test_requests_of_clients_are_counted_part_by_part(folder):
    (folder / "own.rules").write_text(RULES.replace("users", "people"))
    flags = ["--files-rules", folder / "storage.rules", "--files-bucket", f"own={folder / 'own.rules'}"]
    with Hearth(*flags) as server:
        for uid in ("ann", "bob"):
            server.get(place(NAME), headers=signed_in(uid))
        # Rules do not decide what administrators do, and a request that is tried is none of a client.
        server.get(place(NAME), headers=OWNER)
        simulate(server, op="get", path=NAME, bucket=BUCKET)
        code, out, _ = rules(server, folder, "coverage", "--files")
        assert code == 0 and out.startswith("coverage: 1 of 4 allows tried, 9 of ")
        assert "     5      2      1      -      1  allow read of " + STATEMENT in out
        report = json.loads(rules(server, folder, "coverage", "--files", "--json")[1])
        read = report["report"][0]
        assert (report["decisions"], read["times"], read["true"], read["error"]) == (2, 2, 1, 1)
        parts = {part["text"]: (part["true"], part["false"]) for part in read["parts"]}
        assert parts["request.auth.uid == uid"] == (1, 1)
        # An upload counts once, when all of it is there.
        assert upload(server, NAME, b"hello", headers=signed_in("ann")).status == 200
        counts = server.get("/.inspect/coverage.json?service=files", headers=OWNER).json
        assert (counts["decisions"], counts["report"][1]["true"]) == (3, 1)
        # A bucket with a file of its own is counted by itself.
        own = json.loads(rules(server, folder, "coverage", "--files", "--bucket", "own", "--json")[1])
        assert (own["decisions"], "people" in own["rules"]) == (0, True)
        assert rules(server, folder, "coverage", "--files", "--reset")[0] == 0
        assert server.get("/.inspect/coverage.json?service=files", headers=OWNER).json["decisions"] == 0
        # Other rules begin anew; without recording, nothing is counted.
        assert server.request("PUT", "/.inspect/level.json", raw=b'"off"', headers=OWNER).status == 200
        server.get(place(NAME), headers=signed_in("ann"))
        off = server.get("/.inspect/coverage.json?service=files", headers=OWNER).json
        assert off["decisions"] == 0 and off["hint"].startswith("nothing is counted now")


def contents(page):
    return page.value("document.querySelector('.code-box code').textContent")


def test_the_page_of_the_counts_shows_statements_parts_and_functions(folder, browser):
    # A text of more than one plane, a function before and one behind, and a statement without a condition.
    text = RULES.replace("    match /users", """    // 🔥 Seen by their owner.
    function owns(uid) { return request.auth.uid == uid; }
    match /open/{file} { allow get; }
    match /users""").replace("read: if request.auth.uid == uid ||", "read: if owns(uid) || isPublic() ||").replace(
        "    match /late", "    function isPublic() { return resource.metadata.get('all', 'no') == 'yes'; }\n    match /late")
    (folder / "storage.rules").write_text(text)
    with Hearth("--files-rules", str(folder / "storage.rules")) as server:
        for uid in ("ann", "bob"):
            upload(server, f"users/{uid}/a.txt", b"hello", headers=signed_in("ann"))
            server.get(place(NAME), headers=signed_in(uid))
        assert rules(server, folder, "coverage", "--files", "--html", "coverage.html")[0] == 0
    page = Window(browser, f"file://{folder}/coverage.html")
    page.wait_text(".rule", "allow read: if owns(uid)")
    assert contents(page) == text
    whole = lambda selector: page.texts(f".code-box {selector}")
    read = "allow read: if owns(uid) || isPublic() || resource.metadata.get('public', '') == 'yes'"
    create = "allow create: if request.auth.uid == uid && request.resource.size < 1000"
    # Bob does not read; no user asked for what is open, for parties and for what is late.
    assert whole(".rule.both") == ["request.auth.uid == uid", read, create]
    assert whole(".rule.only-false") == ["resource.metadata.get('all', 'no') == 'yes'"]
    assert whole(".rule.never") == [
        "allow get", "allow read: if database.exists(/parties/$(party)/guests/$(request.auth.uid))",
        "allow get: if request.time > timestamp.value(5000)",
    ]
    head = " ".join(page.texts(".coverage header")[0].split())
    assert "rules consulted 2 of 5" in head and "decisions" in head
    assert page.texts(".coverage-side details summary")[0].split() == ["○", "Never", "consulted", "3"]
    page.press(".coverage-side button", "/b/{bucket}/o/open/{file}")
    page.wait_text("#counts", "never consulted")
    # What stands in a function counts wherever it is called from, and is none of the rules.
    page.value("document.querySelector('.code-box .rule.both').focus()")
    page.wait_text("#counts", "part of a function request.auth.uid == uid")
    page.wait_text("#counts", "consulted twice: true and false")
    assert contrast_faults(page) == []
    page.check()
    page.close()


# Files of cases


CASES = {
    "service": "files",
    "cases": [
        {"name": "ann reads", "op": "get", "path": NAME, "auth": {"uid": "ann"}, "expect": "allow"},
        {"name": "bob reads", "op": "get", "path": NAME, "auth": {"uid": "bob"}, "expect": "allow", "why": "for bob"},
    ],
}


def test_cases_are_decided_by_the_rules_beside_them(folder):
    (folder / "storage.rules.cases.json").write_text(json.dumps(CASES, indent=1))
    code, out, errors = rules(None, folder, "test", "storage.rules.cases.json")
    assert (code, errors) == (1, "")
    lines = out.splitlines()
    assert lines[0] == "FAILED  storage.rules.cases.json:13:3: bob reads"
    assert lines[1:4] == [f'    get {NAME} as "bob"', "    expected allow, got deny", "    the case says: for bob"]
    assert "    asked by \"bob\": {}" in lines and "1 passed, 1 failed" in lines
    assert lines[-1].startswith("coverage: 1 of 4 allows tried, ")
    code, out, _ = rules(None, folder, "test", "storage.rules.cases.json", "--filter", "ann", "--format", "json")
    report = json.loads(out)
    assert (code, report["passed"], report["failed"]) == (0, 1, 0)
    first = report["coverage"][0]["coverage"]["report"][0]
    assert (first["pattern"], first["words"], first["times"], first["true"]) == (STATEMENT, "read", 1, 1)
    code, out, _ = rules(None, folder, "test", "storage.rules.cases.json", "--format", "junit")
    assert code == 1 and 'tests="2" failures="1"' in out


def test_the_page_of_cases_shows_what_they_reach(folder, browser):
    (folder / "storage.rules.cases.json").write_text(json.dumps(CASES, indent=1))
    rules(None, folder, "test", "storage.rules.cases.json", "--coverage-html", "coverage.html")
    page = Window(browser, f"file://{folder}/coverage.html")
    page.wait_text(".rule.errors, .rule.both", "allow read: if request.auth.uid == uid")
    assert contents(page) == RULES and page.value("document.title") == "Rules coverage: storage.rules"
    page.check()
    page.close()


def test_cases_and_rules_must_be_of_one_kind(folder):
    (folder / "a.json").write_text('{"rules":{".read":true}}')
    (folder / "files.json").write_text(json.dumps(CASES))
    (folder / "a.cases.json").write_text('[{"name":"n","op":"read","path":"/a","expect":"allow"}]')
    code, _, errors = rules(None, folder, "test", "files.json", "--rules", "a.json")
    assert code == 2 and "a.json: holds rules for a database; rules for files are needed here" in errors
    code, _, errors = rules(None, folder, "test", "a.cases.json", "--rules", "storage.rules")
    assert code == 2 and "storage.rules: holds rules for files; rules for a database are needed here" in errors
    code, _, errors = rules(None, folder, "test", "files.json")
    assert code == 2 and "name the file storage.rules.cases.json beside storage.rules" in errors
    code, _, errors = rules(None, folder, "diff", "a.json", "storage.rules", "a.cases.json")
    assert code == 2 and "rules for a database are needed here" in errors


def test_two_files_are_compared_by_their_cases(folder):
    (folder / "cases.json").write_text(json.dumps(CASES))
    (folder / "new.rules").write_text(RULES.replace("auth.uid == uid ||", "auth.uid == 'bob' ||"))
    code, out, errors = rules(None, folder, "diff", "storage.rules", "new.rules", "cases.json", "--verbose")
    assert (code, errors) == (1, "")
    assert f'now refused: ann reads (get {NAME} as "ann")\n    but the case expects allow\n    cases.json:1:32\n' in out
    assert f'now allowed: bob reads (get {NAME} as "bob")\n    cases.json:1:' in out and 'asked by "bob": {}' in out
    assert out.endswith("2 cases: 1 now allowed, 1 now refused, 0 decided by another rule, 0 the same\n")
    code, out, _ = rules(None, folder, "diff", "storage.rules", "storage.rules", "cases.json")
    assert (code, out) == (0, "2 cases: 0 now allowed, 0 now refused, 0 decided by another rule, 2 the same\n")
    (folder / "split.rules").write_text(RULES.replace("allow read: if request.auth.uid", "allow get: if request.auth.uid"))
    code, out, _ = rules(None, folder, "diff", "storage.rules", "split.rules", "cases.json")
    assert code == 1 and f"decided by get {STATEMENT}, was read {STATEMENT}: ann reads" in out


def test_a_file_is_checked_by_what_it_holds(folder):
    code, _, errors = rules(None, ROOT, "check", "--strict", *(f"rules/{file.name}" for file in SAMPLES))
    assert (code, errors) == (0, "")
    (folder / "bad.storage").write_text("// photos\nservice firebase.storage {\n  match /a { allow get: if stranger; }\n}\n")
    code, out, errors = rules(None, folder, "check", "storage.rules", "bad.storage")
    assert code == 1 and out == "storage.rules: ok\n"
    assert "storage.rules:9:22: warning[database-lookup]: " in errors
    assert "bad.storage:3:28: error: Unknown name 'stranger'." in errors
    assert errors.endswith("1 error, 1 warning\n")


# The samples


SAMPLES = sorted((ROOT / "rules").glob("*.storage"))


def test_there_are_samples_with_cases():
    assert [file.stem for file in SAMPLES] == ["party", "social"]


@pytest.mark.parametrize("file", SAMPLES, ids=lambda file: file.stem)
def test_the_cases_of_a_sample_through_the_simulator(server, file):
    cases = json.loads(file.with_name(f"{file.name}.cases.json").read_text())
    shared = {"rules": file.read_text(), "databases": cases["databases"], "bucket": "demo"}
    wrong = []
    for case in cases["cases"]:
        request = {name: case[name] for name in ("op", "path", "auth", "newResource") if name in case}
        if case["op"] != "list":
            request["resource"] = case.get("resource")
        answer = simulate(server, **shared, **request)
        assert answer.status == 200, answer.text
        if answer.json["allowed"] != (case["expect"] == "allow"):
            wrong.append(case["name"])
    assert len(cases["cases"]) > 20 and not wrong
