"""What the server says of a rules text that is being written: errors, warnings and tokens, for editors."""

import pytest

from hearth_server import Hearth

OWNER = {"Authorization": "Bearer owner"}


@pytest.fixture(scope="module")
def server():
    with Hearth() as server:
        yield server


def check(server, text, **options):
    options.setdefault("headers", OWNER)
    raw = text if isinstance(text, bytes) else text.encode()
    return server.request("POST", "/.settings/rules_check.json?ns=checked", raw=raw, **options)


def pieces(text, tokens):
    """Each token as its kind and its text."""
    found, end = [], 0
    for gap, length, kind in zip(*[iter(tokens["runs"])] * 3):
        found.append(f"{tokens['kinds'][kind]} {text[end + gap:end + gap + length]}")
        end += gap + length
    return found


def test_a_text_that_loads_has_warnings_with_what_they_mean(server):
    text = '{"rules": {"é😀": {".read": "data.val() === auth.uid"}}}'
    answer = check(server, text)
    assert answer.status == 200 and answer.json["errors"] == []
    (warning,) = answer.json["warnings"]
    assert (warning["code"], warning["line"]) == ("null-equality", 1) and warning["column"] > 20
    assert set(answer.json["lints"]) == {"null-equality"}
    assert set(answer.json["lints"]["null-equality"]) == {"summary", "reason", "wrong", "right"}
    assert pieces(text, answer.json["tokens"])[4:13] == [
        'key "é😀"', "symbol :", "symbol {", 'rule ".read"', "symbol :", 'symbol "', "word data", "symbol .", "name val",
    ]
    # Nothing is in force that was not before.
    assert server.get("/.settings/rules_history.json?ns=checked", headers=OWNER).json["versions"] == []


def test_a_text_that_does_not_load_has_its_errors_and_its_tokens(server):
    text = '{"rules": {".read": "auth.uid = 1"}}'
    answer = check(server, text)
    assert answer.status == 200 and answer.json["warnings"] == []
    assert answer.json["errors"] == [
        {
            "line": 1, "column": 31, "message": "Rule expressions may not contain assignments.",
            "hint": "Equality is written ==.",
        }
    ]
    assert "unknown =" in pieces(text, answer.json["tokens"])


def test_a_text_that_is_too_long_has_no_tokens_and_bytes_are_refused(server):
    answer = check(server, "{" + " " * 256 * 1024)
    assert answer.json["errors"][0]["message"] == "Rules are longer than 262144 bytes."
    assert answer.json["tokens"]["runs"] == []
    assert check(server, b"\xff").status == 400


def test_only_administrators_are_answered(tmp_path):
    with Hearth("--database", "checked", dev=False, data=tmp_path / "data", log=tmp_path / "log") as server:
        assert check(server, "{}", headers={}).status == 401
        secret = (tmp_path / "data" / "admin-secret").read_text().strip()
        assert check(server, "{}", headers={"Authorization": f"Bearer {secret}"}).json["errors"]
