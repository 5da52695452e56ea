"""`hearth rules check`: errors and warnings of rules files, as people and as programs read them."""

import json
import os
import pathlib
import subprocess

import pytest

from command_line import hearth
from hearth_server import BINARY

RULES = pathlib.Path(__file__).parents[2] / "rules"
CLEAN = '{"rules":{"a":{".read":"auth != null"}}}'
OPEN = '{\n  "rules": {\n    ".read": true\n  }\n}\n'


def check(*arguments, stdin=b""):
    result = hearth(None, "rules", "check", *arguments, stdin=stdin)
    return result.returncode, result.stdout.decode(), result.stderr.decode()


def written(folder, name, text):
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def test_a_clean_file_is_ok_and_nothing_else_is_said(tmp_path):
    path = written(tmp_path, "clean.json", CLEAN)
    assert check(path) == (0, f"{path}: ok\n", "")
    assert check("--strict", path) == (0, f"{path}: ok\n", "")


def test_every_sample_is_clean_under_strict():
    samples = [p for p in sorted(RULES.glob("*.json")) if not p.name.endswith(".cases.json")]
    assert samples
    code, output, errors = check("--strict", *samples)
    assert (code, errors) == (0, "")
    assert output.count(": ok\n") == len(samples)


def test_a_warning_has_its_line_a_caret_and_a_hint_and_fails_only_under_strict(tmp_path):
    path = written(tmp_path, "open.json", OPEN)
    code, output, errors = check(path)
    assert (code, output) == (0, f"{path}: ok\n")
    lines = errors.splitlines()
    assert lines[0].startswith(f"{path}:3:14: warning[open-root]: '.read' at the root: ")
    assert lines[1] == "        " + '".read": true'
    assert lines[2].index("^") == lines[1].index("true")
    assert lines[3].startswith("    hint: ")
    assert lines[-1] == "0 errors, 1 warning"
    assert check("--strict", path)[0] == 1


def test_errors_and_warnings_of_several_files_are_summed_up(tmp_path):
    opened = written(tmp_path, "open.json", OPEN)
    bad = written(tmp_path, "bad.json", '{"rules":{".read":"foo",".write":"bar"}}')
    code, output, errors = check(opened, bad, tmp_path / "none.json")
    assert code == 1
    assert output == f"{opened}: ok\n"
    assert f"{bad}:1:20: error: Unknown variable 'foo'.\n" in errors
    assert f"error: {tmp_path / 'none.json'}: No such file or directory (open)\n" in errors
    assert errors.splitlines()[-1] == "3 errors, 1 warning"


def test_a_comment_silences_and_one_that_silences_nothing_is_reported(tmp_path):
    silenced = OPEN.replace("true", "true // hearth:allow open-root")
    assert check("--strict", written(tmp_path, "a.json", silenced))[0] == 0
    unused = CLEAN + "\n// hearth:allow open-root\n"
    code, _, errors = check("--strict", written(tmp_path, "b.json", unused))
    assert code == 1
    assert "b.json:2:17: warning[unused-allow]: " in errors


def test_json_has_everything_that_the_text_has(tmp_path):
    opened = written(tmp_path, "open.json", OPEN)
    bad = written(tmp_path, "bad.json", '{"rules":{".read":"dta.exists()"}}')
    code, output, errors = check("--format", "json", opened, bad, tmp_path)
    assert (code, errors) == (1, "")
    answer = json.loads(output)
    assert (answer["errors"], answer["warnings"]) == (2, 1)
    first, second, third = answer["files"]
    assert first["path"] == str(opened)
    warning = first["warnings"][0]
    assert (warning["code"], warning["line"], warning["column"]) == ("open-root", 3, 14)
    assert warning["message"] and warning["hint"]
    assert second["errors"] == [
        {"line": 1, "column": 20, "message": "Unknown variable 'dta'.", "hint": "Did you mean 'data'?"}
    ]
    assert third["errors"] == [{"message": f"{tmp_path}: is a folder"}]
    assert json.loads(check("--format", "json", "--strict", opened)[1])["warnings"] == 1


def test_a_dash_is_standard_input():
    assert check("-", stdin=CLEAN.encode()) == (0, "standard input: ok\n", "")
    code, _, errors = check("-", stdin=b'{"rules":{".read":"x"}}')
    assert code == 1
    assert errors.startswith("standard input:1:20: error: Unknown variable 'x'.\n")


@pytest.mark.parametrize(
    "text, place, message",
    [
        (b"", "1:1", "Parse error."),
        (b"rules", "1:1", "Parse error."),
        (b'{"rules": {\n  "a": {".read": true}\n', "3:1", "Expected '}'."),
        (b'{"rules": {"a": [1, 2}}', "1:22", "Expected ']'."),
        (b'{"rules": {".read": "(auth != null"}}', "1:35", "syntax error|unexpected end of expression"),
        (b'{"rules": {\n".read": "auth', "2:10", "Parse error."),
        (b'{"rules": {}} /* open', "1:15", "Parse error."),
        (b'{"rules":' + b'{"a":' * 200 + b"}" * 201, None, "Rules are nested deeper than 100 levels."),
        (b'{"rules":{"a":' + b"[" * 5000, None, "Rules are nested deeper than 100 levels."),
        (
            b'{"rules":{".read":"' + b"(" * 5000 + b'true"}}',
            None,
            "Expression is nested deeper than 200 levels.",
        ),
        (b'{"rules":{".read":5}}', "1:19", "Invalid rule expression.  Expected 'true', 'false', or an "),
        (b'{"rules":[]}', "1:10", "Expected '{'."),
        (b'[]', "1:2", "Expected 'rules' property."),
        (b'{"rules":{}}' + b" " * (1 << 20), "1:1", "Rules are longer than 262144 bytes."),
        (b'{"rules":{"caf\xe9":{}}}', "1:15", "The file is not UTF-8 text."),
        ('{\n "é": "\ufffd'.encode() + b"\xff", "2:9", "The file is not UTF-8 text."),
        (b"\xff\xfe{\x00", "1:1", "The file is not UTF-8 text."),
    ],
    ids=range(17),
)
def test_bad_input_is_an_error_with_its_place(tmp_path, text, place, message):
    path = written(tmp_path, "bad.json", text)
    code, output, errors = check(path)
    assert (code, output) == (1, "")
    first = errors.splitlines()[0]
    assert any(f": error: {part}" in first for part in message.split("|")), first
    if place:
        assert first.startswith(f"{path}:{place}: error: "), first
    assert errors.splitlines()[-1] == "1 error, 0 warnings"


def test_what_is_no_file_and_what_is_too_large_are_errors(tmp_path):
    assert check(tmp_path)[2].startswith(f"error: {tmp_path}: is a folder\n")
    large = tmp_path / "large.json"
    with open(large, "wb") as file:
        file.truncate(9 << 20)
    assert check(large)[2].startswith(f"error: {large}: has more than 8388608 bytes\n")
    assert check("-", stdin=b" " * (9 << 20))[2].startswith("error: standard input: has more than")


def test_a_long_line_is_shown_around_the_place_and_control_characters_drive_nothing(tmp_path):
    text = '{"rules":{"a":{".read":"' + "auth != null && " * 30 + '\u001b[31m"}}}'
    code, _, errors = check(written(tmp_path, "long.json", text))
    lines = errors.splitlines()
    assert code == 1
    assert "\u001b" not in errors
    assert len(lines[1]) < 200
    assert lines[2].strip() == "^"


def test_explanations_name_every_warning_with_an_example():
    code, listing, _ = check("--list")
    assert code == 0
    assert check("--explain")[1] == listing
    codes = [line.split()[0] for line in listing.splitlines()]
    assert len(codes) == len(set(codes)) > 15
    reference = RULES.parent / "docs" / "reference"
    pages = "".join((reference / f"LINT_{part}.md").read_text() for part in ("ACCESS", "FORM"))
    assert codes == [line[3:] for line in pages.splitlines() if line.startswith("## ")]
    code, text, _ = check("--explain", "null-equality")
    assert code == 0
    assert text.startswith("null-equality: ")
    assert "\nWrong:\n" in text and "\nRight:\n" in text
    code, output, errors = check("--explain", "null-equalty")
    assert (code, output) == (2, "")
    assert "no warning 'null-equalty'" in errors


def test_wrong_and_right_examples_are_what_they_say(tmp_path):
    for line in check("--list")[1].splitlines():
        name = line.split()[0]
        text = check("--explain", name)[1]
        wrong, right = text.split("\nWrong:\n")[1].split("\nRight:\n")
        assert f"warning[{name}]" in check(written(tmp_path, "wrong.json", wrong))[2]
        assert check("--strict", written(tmp_path, "right.json", right))[0] == 0


def test_a_pipe_is_read_like_a_file(tmp_path):
    path = written(tmp_path, "open.json", OPEN)
    shell = ["bash", "-c", '"$0" rules check <(cat "$1")', BINARY, path]
    result = subprocess.run(shell, capture_output=True, timeout=120)
    assert result.returncode == 0
    assert b": ok\n" in result.stdout and b":3:14: warning[open-root]" in result.stderr
    assert check("/dev/zero")[2].startswith("error: /dev/zero: has more than 8388608 bytes\n")


@pytest.mark.parametrize(
    "arguments", [["--list"], ["--strict", "F"], ["--format", "json", "F"], ["--help"]]
)
def test_output_that_cannot_be_written_fails(arguments, tmp_path):
    path = written(tmp_path, "clean.json", CLEAN)
    arguments = [str(path) if word == "F" else word for word in arguments]
    with open("/dev/full", "wb") as full:
        command = [BINARY, "rules", "check", *arguments]
        result = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, timeout=120)
    assert result.returncode == 1
    assert result.stderr == b"error: standard output: No space left on device (write)\n"


def test_a_reader_that_goes_away_is_no_error_to_tell_of():
    ours, theirs = os.pipe()
    os.close(ours)
    with open(theirs, "wb") as pipe:
        command = [BINARY, "rules", "check", "--list"]
        result = subprocess.run(command, stdout=pipe, stderr=subprocess.PIPE, timeout=120)
    assert (result.returncode, result.stderr) == (1, b"")


def test_what_a_terminal_would_obey_is_made_harmless_and_the_caret_stays_below_its_place(tmp_path):
    # Two marks that turn the order around, a C1 control character, an accent of its own, and two wide characters.
    text = '{"rules":{"\u202e\u2066x\x9be\u0301漢字":{".read":"foo\u202e"}}}'
    _, _, errors = check(written(tmp_path, "a\x1b[31m.json", text))
    assert not [c for c in errors if c in "\u202e\u2066\x9b\x1b"]
    lines = errors.splitlines()
    assert lines[0].startswith(str(tmp_path / "a\\u001b[31m.json:1:"))
    assert "\ufffd\ufffdx\ufffde\u0301漢字" in lines[1]
    # The accent takes no column, the wide characters take two each.
    assert lines[2].index("^") == lines[1].index("foo") + 3 - 1 + 2


def test_files_of_cases_are_skipped_among_rules_and_refused_as_rules(tmp_path):
    rules = written(tmp_path, "a.json", CLEAN)
    cases = written(tmp_path, "a.cases.json", '{"cases":[]}')
    note = f"{cases}: skipped, it holds cases, which 'hearth rules test' runs\n"
    assert check(cases, rules) == (0, f"{note}{rules}: ok\n", "")
    answer = json.loads(check("--format", "json", cases, rules)[1])
    assert [file["path"] for file in answer["files"]] == [str(rules)]
    assert answer["skipped"] == [str(cases)]
    # Nothing is checked, and that is no success.
    code, output, errors = check(cases)
    assert (code, output) == (2, "") and "only files of cases are given" in errors
    # Under another name it is a mistake.
    other = written(tmp_path, "b.json", "[{}]")
    code, _, errors = check(other, rules)
    assert code == 1
    assert errors.startswith(f"error: {other}: holds cases and no rules; 'hearth rules test' runs it\n")
    # A name alone makes no cases.
    assert check(written(tmp_path, "b.cases.json", CLEAN))[0] == 0
