"""`hearth rules test` and `hearth rules diff`: files of cases on the real command line."""

import json
import pathlib
import re
import subprocess
import xml.etree.ElementTree

import pytest
from command_line import hearth
from sample_pages import Window, contrast_faults

ROOT = pathlib.Path(__file__).parents[2]
RULES = '{"rules": {"a": {".read": "auth.uid === \'ann\'", ".write": "newData.isNumber()"}}}'
CASES = [
    {"name": "ann reads", "op": "read", "path": "/a", "auth": {"uid": "ann"}, "expect": "allow"},
    {"name": "bob does not", "op": "read", "path": "/a", "auth": {"uid": "bob"}, "expect": "deny"},
    {"name": "a number", "op": "write", "path": "/a", "value": 1, "expect": "allow"},
]


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "a.json").write_text(RULES)
    (tmp_path / "a.cases.json").write_text(json.dumps(CASES, indent=1))
    return tmp_path


def run(folder, *arguments):
    done = hearth(None, "rules", *arguments, folder=folder)
    return done.returncode, done.stdout.decode(), done.stderr.decode()


def write(folder, name, value):
    text = value if isinstance(value, str) else json.dumps(value)
    (folder / name).write_text(text)


def test_cases_are_decided_by_the_rules_beside_them(folder):
    code, out, errors = run(folder, "test", "a.cases.json")
    assert (code, errors) == (0, "")
    assert out.startswith("3 passed, 0 failed\n")
    code, out, _ = run(folder, "test", "a.cases.json", "--verbose")
    assert code == 0 and "ok      a.cases.json: bob does not\n" in out


def test_all_samples_pass():
    files = sorted(str(path.relative_to(ROOT)) for path in (ROOT / "rules").glob("*.cases.json"))
    assert files
    code, out, errors = run(ROOT, "test", *files)
    assert (code, errors) == (0, ""), out
    assert ", 0 failed\n" in out


def test_the_rules_of_chat_and_timelines_together_pass_the_cases_of_both():
    halves = ["rules/chat.cases.json", "rules/timeline.cases.json"]
    code, out, errors = run(ROOT, "test", "--rules", "rules/social.json", *halves)
    assert (code, errors) == (0, ""), out
    assert ", 0 failed\n" in out


def test_the_rules_of_chat_and_timelines_together_are_made_of_both():
    done = subprocess.run([ROOT / "scripts" / "social-rules", "--check"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_a_failure_says_where_and_why(folder):
    write(folder, "a.cases.json", '[\n  {"name": "no", "op": "read", "path": "/a", "why": "it is\\u001b so",'
          ' "auth": {"uid": "bob"}, "expect": "allow"}]')
    code, out, _ = run(folder, "test", "a.cases.json")
    assert code == 1
    assert out.startswith(
        "FAILED  a.cases.json:2:3: no\n"
        '    read /a as "bob"\n'
        "    expected allow, got deny\n"
        "    the case says: it is\\u001b so\n"
        "\n"
        "    read /a refused: no .read rule allows it.\n"
    )
    assert 'auth.uid is "bob"' in out and "\n0 passed, 1 failed\n" in out


def test_rules_can_be_named_and_cases_chosen(folder):
    write(folder, "open.json", '{"rules": {".read": true}}')
    code, out, _ = run(folder, "test", "a.cases.json", "--rules", "open.json", "--filter", "bob")
    assert code == 1 and "FAILED" in out and "0 passed, 1 failed" in out
    code, out, _ = run(folder, "test", "a.cases.json", "--filter", "number")
    assert code == 0 and out.startswith("1 passed, 0 failed")
    code, out, errors = run(folder, "test", "a.cases.json", "--filter", "nothing")
    assert code == 1 and "no case has 'nothing' in its name" in errors


def test_the_outcome_is_written_for_machines(folder):
    write(folder, "b.cases.json", {"rules": json.loads(RULES), "cases": CASES + [
        {"name": "<b> & 'c'", "op": "read", "path": "/a", "expect": "allow"}]})
    code, out, _ = run(folder, "test", "a.cases.json", "b.cases.json", "--format", "json")
    report = json.loads(out)
    assert code == 1 and (report["passed"], report["failed"]) == (6, 1)
    failed = [case for case in report["cases"] if not case["passed"]]
    assert [case["name"] for case in failed] == ["<b> & 'c'"]
    assert failed[0]["problems"] == ["expected allow, got deny"]
    assert failed[0]["place"].startswith("b.cases.json:1:")
    assert failed[0]["explanation"].startswith("read /a refused: ")
    code, out, _ = run(folder, "test", "a.cases.json", "b.cases.json", "--format", "junit")
    suites = xml.etree.ElementTree.fromstring(out)
    assert code == 1 and [suite.get("tests") for suite in suites] == ["3", "4"]
    failures = suites.findall(".//failure")
    assert len(failures) == 1 and failures[0].get("message") == "expected allow, got deny"


def test_the_coverage_page_stands_alone(folder, browser):
    code, _, errors = run(folder, "test", "a.cases.json", "--coverage-html", "coverage.html")
    assert (code, errors) == (0, "")
    assert not list(folder.glob("*.partial"))
    page = Window(browser, f"file://{folder}/coverage.html")
    page.wait_text(".rule.only-true", "newData.isNumber()")
    assert page.value("document.querySelector('.code-box code').textContent") == RULES
    assert page.value("performance.getEntriesByType('resource').length") == 0
    assert page.value("document.title") == "Rules coverage: a.json"
    for theme in ("light", "dark"):
        page.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": theme}])
        assert contrast_faults(page) == []
    page.check()
    page.close()


@pytest.mark.parametrize(
    "hostile",
    [
        "</script><script>alert(1)</script>", "</style></title><img src=x onerror=alert(1)>", "\" onmouseover=\"alert(1)",
        "<!--<script>", "]]>", "&lt;b&gt;", "a\u202eb\u2066c\u200bd\ufeffe",
    ],
)
def test_hostile_rules_and_values_are_text_in_the_coverage_page(folder, browser, hostile):
    rule = "newData.val() + 'x' != '" + hostile.replace("'", "") + "'"
    write(folder, "a.json", f"/* {hostile} */ " + json.dumps({"rules": {"a": {".write": rule}}}, ensure_ascii=False))
    case = {"name": hostile, "op": "write", "path": "/a", "value": hostile, "expect": "allow"}
    write(folder, "a.cases.json", [case])
    code, _, errors = run(folder, "test", "a.cases.json", "--coverage-html", "coverage.html")
    assert (code, errors) == (0, "")
    page = Window(browser, f"file://{folder}/coverage.html")
    page.wait("document.querySelector('.rule')")
    page.value("[...document.querySelectorAll('.part')].find((part) => part.textContent === 'newData.val()').focus()")
    seen = re.sub("[\u202e\u2066\u200b\ufeff]", lambda sign: f"[U+{ord(sign[0]):X}]", hostile)
    page.wait(f"document.querySelector('.counts bdi')?.textContent === {json.dumps(json.dumps(seen))}")
    assert seen in page.value("document.querySelector('.code-box code').textContent")
    assert page.value("document.querySelectorAll('script').length") == 2
    assert page.value("document.querySelectorAll('img, b.alert, [onmouseover], [onerror]').length") == 0
    page.check()
    page.close()


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "bad.cases.json:1:1: The file of cases is no JSON: the text ends too early."),
        ('[{"name": "a",\n "op": }]', "bad.cases.json:2:8: The file of cases is no JSON: unexpected '}'."),
        ('[{"name": "a", "op": "read", "path": "/a", "expct": "deny"}]',
         "bad.cases.json:1:44: Unknown member 'expct' in a case.\n"),
        ('[{"name": "a", "op": "read", "path": "/a", "expct": "deny"}]', "hint: Did you mean 'expect'?"),
        ('[{"name": "a", "op": "read", "path": "/a.b", "expect": "deny"}]',
         "bad.cases.json:1:38: 'path' is not a path: a key must not contain '.'."),
        ('[{"name": "a", "op": "write", "path": "/a", "value": {"$": 1}, "expect": "deny"}]',
         "bad.cases.json:1:55: 'value' cannot be stored: a key must not contain '$'."),
        ('{"cases": [], "case": 1}', "bad.cases.json:1:15: Unknown member 'case' in the file of cases."),
        ("[" * 100_000, "nested too deep"),
        ('{"rules": {"rules": {".read": "x"}}, "cases": [{"name": "a", "op": "read", "path": "/", "expect": "deny"}]}',
         "Unknown variable 'x'."),
    ],
)
def test_a_file_that_makes_no_sense_is_an_error_with_its_place(folder, text, reason):
    write(folder, "bad.cases.json", text)
    write(folder, "bad.json", RULES)
    code, out, errors = run(folder, "test", "bad.cases.json")
    assert (code, out) == (1, "")
    assert errors.startswith("error: ") and reason in errors


def test_one_bad_file_does_not_hide_the_others(folder):
    write(folder, "bad.cases.json", "5")
    code, out, errors = run(folder, "test", "bad.cases.json", "no.cases.json", "a.cases.json")
    assert code == 1 and out.startswith("3 passed, 0 failed")
    assert "bad.cases.json:1:1:" in errors and "no.cases.json: No such file" in errors


def test_wrong_usage(folder):
    code, _, errors = run(folder, "test")
    assert code == 2 and "no files of cases are given; here is 'a.cases.json'" in errors
    write(folder, "cases.json", CASES)
    code, _, errors = run(folder, "test", "cases.json")
    assert code == 2 and "give --rules FILE" in errors
    write(folder, "other.cases.json", CASES)
    code, _, errors = run(folder, "test", "other.cases.json")
    assert code == 1 and "other.json: No such file" in errors
    assert run(folder, "test", "a.cases.json", "--format", "yaml")[0] == 2
    write(folder, "a.json", '{"rules": {".read": "x"}}')
    code, _, errors = run(folder, "test", "a.cases.json")
    assert code == 1 and "a.json:1:22: Unknown variable 'x'." in errors and "^" in errors


def test_ten_thousand_cases_run_in_seconds(folder):
    cases = [dict(case, name=f"{case['name']} {index}", rules=json.loads(RULES))
             for index in range(3_334) for case in CASES]
    write(folder, "many.cases.json", cases)
    code, out, _ = run(folder, "test", "many.cases.json")
    assert code == 0 and out.startswith("10002 passed, 0 failed")


def test_diff_says_which_cases_are_decided_differently(folder):
    write(folder, "b.json", '{"rules": {".write": true, "a": {".read": "auth != null"}}}')
    code, out, errors = run(folder, "diff", "a.json", "b.json", "a.cases.json")
    assert (code, errors) == (1, "")
    assert out.splitlines() == [
        'now allowed: bob does not (read /a as "bob")',
        "    but the case expects deny",
        "    a.cases.json:11:2",
        "decided by write /, was write /a: a number (write /a signed out)",
        "    a.cases.json:20:2",
        "3 cases: 1 now allowed, 0 now refused, 1 decided by another rule, 1 the same",
    ]
    code, out, _ = run(folder, "diff", "b.json", "a.json", "a.cases.json", "--verbose")
    assert code == 1 and "now refused: bob does not" in out
    assert "    read /a refused: no .read rule allows it." in out


def test_diff_of_equal_rules_is_nothing(folder):
    write(folder, "own.cases.json", [dict(CASES[0], rules={"rules": {}}, expect="deny")])
    code, out, _ = run(folder, "diff", "a.json", "a.json", "a.cases.json", "own.cases.json")
    assert code == 0
    assert out.splitlines() == [
        "3 cases: 0 now allowed, 0 now refused, 0 decided by another rule, 3 the same",
        "left out, for they bring rules of their own: 1",
    ]
    code, _, errors = run(folder, "diff", "a.json", "no.json", "a.cases.json")
    assert code == 1 and "no.json" in errors
    assert run(folder, "diff", "a.json")[0] == 2


@pytest.mark.parametrize("cases", ["[]", '{"cases":[]}', '{"cases":[],"rules":{"rules":5}}'])
def test_a_file_without_cases_fails(folder, cases):
    write(folder, "a.cases.json", cases)
    for words in (["test"], ["test", "--format", "json"], ["diff", "a.json", "a.json"]):
        code, _, errors = run(folder, *words, "a.cases.json")
        assert (code, errors) == (1, "error: a.cases.json: holds no cases\n")


def test_rules_in_a_file_of_cases_that_are_none_fail(folder):
    write(folder, "a.cases.json", {"rules": {"rules": 5}, "cases": CASES})
    code, out, errors = run(folder, "test", "a.cases.json")
    assert (code, out) == (1, "")
    assert errors.startswith("error: a.cases.json: its 'rules' do not load")
