"""`hearth check`: what is set, where it comes from, what is unsafe; nothing is started or changed."""

import json
import os
import re

import pytest

from certificates import Identity
from command_line import hearth
from hearth_server import Hearth


def check(folder, *flags, **variables):
    return hearth(None, "check", *flags, folder=folder, **variables)


def report(folder, *flags, **variables):
    done = check(folder, "--json", *flags, **variables)
    assert done.stderr == b""
    found = json.loads(done.stdout)
    found["code"] = done.returncode
    found["by_name"] = {row["name"]: (row["value"], row["place"]) for row in found["settings"]}
    return found


def stamps(folder):
    """All that a reader must not change: names, bytes, modes, and times but that of the last read."""
    found = {}
    for path in [folder, *sorted(folder.rglob("*"))]:
        status = path.stat()
        content = path.read_bytes() if path.is_file() else None
        found[str(path)] = (
            content,
            status.st_mode,
            status.st_mtime_ns,
            status.st_ctime_ns,
            status.st_ino,
        )
    return found


def test_every_setting_has_its_value_and_its_place(tmp_path):
    (tmp_path / "hearth.json").write_text(
        '{\n  // A comment.\n  "port": 9001,\n  "sign-in": ["password", "custom"],\n  "sign-up": "admin"\n}'
    )
    found = report(tmp_path, "--log-level", "debug", HEARTH_HOST="127.0.0.9", HEARTH_PORT="9002")
    rows = found["by_name"]
    assert rows["log-level"] == ("debug", "--log-level")
    assert rows["host"] == ("127.0.0.9", "HEARTH_HOST")
    assert rows["port"] == ("9002", "HEARTH_PORT")
    assert rows["sign-in"] == (["password", "custom"], "hearth.json:4:14")
    assert rows["sign-up"] == ("admin", "hearth.json:5:14")
    assert rows["data-dir"] == ("hearth-data", "default")
    assert rows["rules"] == (None, "default")
    assert rows["trusted-proxy"] == ([], "default")
    assert found["code"] == 0 and found["faults"] == []
    # As text: a row each, the place last.
    done = check(tmp_path, HEARTH_PORT="9002")
    lines = [line.split() for line in done.stdout.decode().splitlines()]
    assert ["port", "9002", "HEARTH_PORT"] in lines
    assert ["sign-up", "admin", "hearth.json:5:14"] in lines
    assert done.stderr.decode() == "0 errors, 0 warnings\n"


def test_it_shows_the_settings_that_serve_has(tmp_path):
    help_text = hearth(None, "serve", "--help").stdout.decode()
    flags = set(re.findall(r"--([a-z0-9]+(?:-[a-z0-9]+)*)", help_text))
    shown = set(report(tmp_path)["by_name"])
    assert shown <= flags
    # Beside the settings there are --no- forms, --config, --help and --version.
    others = {name for name in flags - shown if not name.startswith("no-")}
    assert others == {"config", "help", "version"}


def test_an_unsafe_configuration_is_reported_and_fails_with_strict(tmp_path):
    flags = ["--host", "0.0.0.0", "--sign-in", "anonymous", "--password-memory", "8MiB"]
    done = check(tmp_path, *flags)
    assert done.returncode == 0
    errors = done.stderr.decode()
    assert "warning: other machines reach this server without TLS" in errors
    assert "make accounts without end" in errors
    assert "hashed with less work" in errors
    assert errors.endswith("0 errors, 3 warnings\n")
    assert check(tmp_path, *flags, "--strict").returncode == 1
    assert check(tmp_path, "--strict").returncode == 0


def test_all_faults_are_reported_with_their_places(tmp_path):
    (tmp_path / "hearth.json").write_text('{"port": "x", "accounts-port": 70000}')
    found = report(tmp_path, "--sign-up", "nobody", HEARTH_DURABILITY="never")
    assert found["code"] == 2
    places = {fault["place"] for fault in found["faults"]}
    assert places == {"hearth.json:1:10", "hearth.json:1:32", "--sign-up", "HEARTH_DURABILITY"}
    assert all(fault["problem"] and fault["advice"] for fault in found["faults"])
    (tmp_path / "hearth.json").write_text('{"trusted-proxi": []}')
    done = check(tmp_path)
    assert done.returncode == 2
    assert b'Did you mean "trusted-proxy"?' in done.stderr


def test_files_are_loaded_as_a_server_would(tmp_path):
    (tmp_path / "rules.json").write_text('{"rules": {".read": "nobody"}}')
    (tmp_path / "keys.json").write_text('{"keys": []}')
    (tmp_path / "secret").write_text("short")
    (tmp_path / "secret").chmod(0o600)
    flags = ["--rules", "rules.json", "--jwks", "keys.json", "--admin-secret-file", "secret"]
    flags += ["--token-issuer", "i", "--token-audience", "a"]
    found = report(tmp_path, *flags)
    assert found["code"] == 2
    texts = [f"{fault['place']}: {fault['problem']}" for fault in found["faults"]]
    assert any(text.startswith("--rules: rules.json:1:") for text in texts), texts
    assert any(text.startswith("--jwks: keys.json: ") for text in texts), texts
    assert any("--admin-secret-file: the admin secret has 5 characters" in text for text in texts)
    found = report(tmp_path, "--rules", "nowhere.json")
    assert [fault["place"] for fault in found["faults"]] == ["--rules"]


def test_open_rules_are_warned_of_in_production_only(tmp_path):
    (tmp_path / "rules.json").write_text('{"rules": {".read": true, ".write": true}}')
    warnings = report(tmp_path, "--rules", "rules.json")["warnings"]
    assert any(text.startswith("rules.json:1:") for text in warnings), warnings
    assert report(tmp_path, "--dev", "--rules", "rules.json")["warnings"] == []


@pytest.mark.parametrize("mode", [[], ["--dev"]])
@pytest.mark.parametrize("flag", ["--rules=rules.json", "--database=a=rules.json"])
def test_a_rule_that_is_warned_of_is_a_warning_here_too(tmp_path, mode, flag):
    rule = "data.val() === auth.uid"
    (tmp_path / "rules.json").write_text(json.dumps({"rules": {"a": {".read": rule, ".write": rule}}}))
    assert check(tmp_path, *mode, flag).returncode == 0
    done = check(tmp_path, *mode, flag, "--strict")
    assert done.returncode == 1
    words = b"warning: rules.json: 2 rules mean more than they seem to; 'hearth rules check rules.json' says which\n"
    assert words in done.stderr and done.stderr.endswith(b"0 errors, 1 warning\n")
    (tmp_path / "rules.json").write_text('{"rules": {"a": {".read": "auth != null", ".write": false}}}')
    assert check(tmp_path, *mode, flag, "--strict").returncode == 0


@pytest.mark.parametrize(
    "days, host, text",
    [
        ((-30, 60), None, None),
        ((-30, -1), None, "has expired, on 20"),
        ((-30, 5), None, "expires soon, on 20"),
        ((2, 60), None, "later than this machine's clock"),
        ((-30, 60), "https://other.example.com", "is not for other.example.com"),
        ((-30, 60), "https://localhost:9443", None),
        ((-30, 60), "https://127.0.0.1", None),
    ],
)
def test_a_certificate_is_looked_at(days, host, text, tmp_path):
    identity = Identity(tmp_path, days=days)
    flags = [*identity.flags, *(["--public-url", host] if host else [])]
    found = report(tmp_path, *flags)
    assert found["code"] == 0
    assert any("fits its key, and counts until" in fact for fact in found["facts"])
    if text:
        assert len(found["warnings"]) == 1 and text in found["warnings"][0]
    else:
        assert found["warnings"] == []


def test_a_key_of_another_certificate_is_a_fault(tmp_path):
    identity = Identity(tmp_path)
    (tmp_path / "other").mkdir()
    identity.key.write_bytes(Identity(tmp_path / "other").holder.key_pem())
    found = report(tmp_path, *identity.flags)
    assert found["code"] == 2
    assert "is not the key of the certificate" in found["faults"][0]["problem"]


def test_secrets_that_others_may_read_are_warned_of(tmp_path):
    identity = Identity(tmp_path)
    identity.key.chmod(0o644)
    (tmp_path / "hs").write_text("x" * 64)
    (tmp_path / "hs").chmod(0o644)
    (tmp_path / "admin").write_text("y" * 64)
    (tmp_path / "admin").chmod(0o644)
    flags = [*identity.flags, "--hs256-secret-file", "hs", "--admin-secret-file", "admin"]
    found = report(tmp_path, *flags)
    assert any("everybody on this machine may use the key" in text for text in found["warnings"])
    assert any(text.startswith("hs: others may read") for text in found["warnings"])
    # The server itself does not start with that one.
    assert any("others may read this secret" in fault["problem"] for fault in found["faults"])


def test_no_secret_is_shown(tmp_path):
    for name in ("admin", "hs", "hook"):
        (tmp_path / name).write_text(f"MARKER-{name}-" + "x" * 48)
        (tmp_path / name).chmod(0o600)
    flags = ["--admin-secret-file", "admin", "--hs256-secret-file", "hs"]
    flags += ["--accounts-webhook-secret-file", "hook"]
    flags += ["--accounts-webhook", "https://mail.example.com/MARKER?token=MARKER"]
    flags += ["--public-url", "https://db.example.com"]
    for form in ([], ["--json"]):
        done = check(tmp_path, *flags, *form)
        assert done.returncode == 0, done.stderr
        assert b"MARKER" not in done.stdout + done.stderr
        assert b"https://mail.example.com/..." in done.stdout


def test_the_data_folder_is_looked_at_and_left_as_it_is(tmp_path):
    data = tmp_path / "data"
    flags = ["--data-dir", "data"]
    assert "data: is made at the first start" in report(tmp_path, *flags)["facts"]
    assert not data.exists()
    with Hearth(data=data, dev=False) as server:
        before = stamps(data)
        facts = report(tmp_path, *flags)["facts"]
        assert f"data: is in use by process {server.process.pid}" in facts
        # A server without writes leaves its folder alone as well.
        assert stamps(data) == before
        assert server.get("/.health/ready").status == 200
        assert server.stop() == 0
    before = stamps(data)
    found = report(tmp_path, *flags)
    assert "data: no server has it open" in found["facts"]
    assert any(fact.startswith("data: ") and "MiB are free; writes are refused below " in fact for fact in found["facts"])
    assert found["warnings"] == []
    assert stamps(data) == before
    data.chmod(0o755)
    assert any("others may look into" in text for text in report(tmp_path, *flags)["warnings"])
    (tmp_path / "file").write_text("")
    assert report(tmp_path, "--data-dir", "file")["code"] == 2
    assert report(tmp_path, "--data-dir", "no/where")["code"] == 2


def test_a_server_that_starts_warns_of_the_same(tmp_path):
    rules = tmp_path / "rules.json"
    rules.write_text('{"rules": {".read": true, ".write": true}}')
    flags = ["--rules", str(rules), "--sign-in", "anonymous"]
    with Hearth(*flags, data=tmp_path / "data", log=tmp_path / "log", dev=False) as server:
        logged = server.log_text
    for text in report(tmp_path, *flags, "--data-dir", "data")["warnings"]:
        assert text in logged


def test_nothing_is_asked_of_the_working_folder(tmp_path):
    before = stamps(tmp_path)
    assert check(tmp_path).returncode == 0
    assert stamps(tmp_path) == before
    assert os.listdir(tmp_path) == []
