"""What an operator, or a developer at the command line, reads when something is wrong: what happened, where, what to do."""

import socket

import pytest

from certificates import Identity
from command_line import hearth
from hearth_server import Hearth


@pytest.fixture(scope="module")
def plain(tmp_path_factory):
    with Hearth("--header-timeout", "60s", log=tmp_path_factory.mktemp("plain") / "log") as server:
        yield server


@pytest.fixture(scope="module")
def identity(tmp_path_factory):
    return Identity(tmp_path_factory.mktemp("identity"))


@pytest.fixture(scope="module")
def encrypted(identity):
    with Hearth(*identity.flags) as server:
        yield server


def errors(*arguments, code, server=None, **options):
    done = hearth(server, *arguments, **options)
    assert done.returncode == code, (done.stdout, done.stderr)
    return done.stderr.decode()


@pytest.mark.parametrize(
    "arguments, words",
    [
        (["server"], "Did you mean 'hearth serve'?"),
        (["Serv", "--dev"], "Did you mean 'hearth serve'?"),
        (["users", "lst"], "Did you mean 'hearth users list'?"),
        (["rules", "chekc", "rules.json"], "Did you mean 'hearth rules check'?"),
        (["serve", "--port", "x"], "--port: must be a number from 0 to 65535, not 'x'. Write digits, such as 9000."),
        (["serve", "--max-body", "x"], "--max-body: must be a size from "),
        (["serve", "--idle-timeout", "x"], "--idle-timeout: must be a time from 1s to 3600s, not 'x'."),
        (["users", "list", "--limit", "0"], "--limit: must be a number above 0, not 0"),
        (["get", "/", "--timeout", "86401"], "--timeout: must be a number of seconds from 0 to 86400, not 86401"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_wrong_usage(arguments, words, tmp_path):
    assert words in errors(*arguments, code=2, folder=tmp_path)


def test_a_word_that_is_like_no_command_is_not_guessed_at():
    assert "Did you mean" not in errors("frobnicate", code=2)


@pytest.mark.parametrize(
    "certificate, key, words",
    [
        ("key", "certificate", "key.pem: holds a private key and no certificate; are certificate and key swapped?"),
        ("certificate", "certificate", "holds a certificate and no private key; are certificate and key swapped?"),
        ("other", "key", "other: holds no certificate in PEM form (-----BEGIN CERTIFICATE-----)"),
        ("certificate", "other", "other: holds no private key in PEM form (-----BEGIN PRIVATE KEY-----)"),
        ("certificate", "broken", "broken: "),
    ],
    ids=["swapped", "no key", "no certificate", "no PEM key", "a key that is cut"],
)
def test_certificate_and_key(identity, tmp_path, certificate, key, words):
    files = {name: tmp_path / name for name in ["other", "broken"]}
    files["certificate"], files["key"] = identity.flags[1], identity.flags[3]
    files["other"].write_text("hello")
    files["broken"].write_text("-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n")
    flags = ["--tls-cert", files[certificate], "--tls-key", files[key]]
    # As a server says it, and as a check does, which starts none.
    for command in [["serve", "--dev", "--memory", "--port", "0"], ["check", "--dev", "--memory"]]:
        printed = errors(*command, *flags, code=1 if command[0] == "serve" else 2, folder=tmp_path)
        assert f"cannot use the TLS certificate and key: " in printed and words in printed
        assert "no start line" not in printed


def test_tls_and_plain_http_are_reported_apart(plain, encrypted, identity):
    printed = errors("get", "/", "--url", f"https://127.0.0.1:{plain.port}", code=1)
    assert f"https://127.0.0.1:{plain.port} speaks plain HTTP; use http://127.0.0.1:{plain.port}" in printed
    plain.await_log("clients speak TLS to this port, which speaks plain HTTP")
    printed = errors("get", "/", "--url", f"http://127.0.0.1:{encrypted.port}", code=1)
    assert "this port speaks TLS: use https:// and wss://" in printed
    # What comes once the handshake is waited for, and with a method that OpenSSL does not know.
    for method in [b"GET", b"PATCH"]:
        with socket.create_connection(("127.0.0.1", encrypted.port), timeout=120) as connection:
            connection.sendall(method[:1])
            connection.sendall(method[1:] + b" /a.json HTTP/1.1\r\nHost: localhost\r\n\r\n")
            answer = connection.makefile("rb").read()
        assert answer.startswith(b"HTTP/1.1 400 ") and b"this port speaks TLS" in answer, answer
    # What is no HTTP either gets no answer, and clients that speak TLS are served as before.
    with socket.create_connection(("127.0.0.1", encrypted.port), timeout=120) as connection:
        connection.sendall(b"hello, is anybody there?\r\n\r\n")
        try:
            assert b"speaks TLS" not in connection.makefile("rb").read()
        except ConnectionResetError:
            pass
    address = f"https://localhost:{encrypted.port}"
    done = hearth(None, "get", "/", "--url", address, HEARTH_CA_FILE=str(identity.root))
    assert done.returncode == 0 and done.stdout == b"null\n", done.stderr
    assert "--ca-file" in errors("get", "/", "--url", address, code=1)


def test_a_tls_handshake_on_a_plain_port_is_not_waited_for(plain):
    with socket.create_connection(("127.0.0.1", plain.port), timeout=120) as connection:
        # The begin of a handshake record; a request's head would have a minute to come to its end.
        connection.sendall(b"\x16\x03\x01\x02\x00\x01")
        answer = connection.makefile("rb").read()
    assert answer.startswith(b"HTTP/1.1 400 ") and b"this port speaks plain HTTP" in answer


def test_a_port_in_use_is_reported_with_its_holder(plain, tmp_path):
    printed = errors("serve", "--dev", "--memory", "--port", plain.port, code=1, folder=tmp_path)
    assert f"cannot listen on 127.0.0.1 port {plain.port}: Address already in use by process {plain.process.pid} (" in printed
    assert "; stop it, or choose another port" in printed
    with socket.socket(socket.AF_INET6) as other:
        other.bind(("::1", 0))
        other.listen()
        port = other.getsockname()[1]
        printed = errors("serve", "--dev", "--memory", "--host", "::1", "--port", port, code=1, folder=tmp_path)
        assert "in use by process " in printed


@pytest.mark.parametrize(
    "path, words",
    [
        ("/a.b", "'a.b' has a '.', and a key cannot have one of . # $ [ ] /; write another character for it, such as '_'"),
        ("/x/a$", "'a$' has a '$'"),
        ("/[0]/x", "'[0]' has a '['"),
    ],
)
def test_a_key_that_cannot_be(plain, path, words):
    assert words in errors("get", path, server=plain, code=1)
    assert words in errors("set", path, "-d", "1", "-f", server=plain, code=1)


@pytest.mark.parametrize(
    "text, place, words",
    [
        ('{"rules": {".wrte": "true"}}', "1:13", "error: Unknown rule '.wrte'.\n"),
        ('{"rules": {"a": {".Read": true}}}', "1:19", "hint: Did you mean '.read'?"),
        ('{"rules": {".foo": 1}}', "1:13", "hint: The rules are .read, .write, .validate, .indexOn."),
    ],
)
def test_a_rule_that_is_none(tmp_path, text, place, words):
    (tmp_path / "rules.json").write_text(text)
    done = hearth(None, "rules", "check", "rules.json", folder=tmp_path)
    printed = done.stdout.decode() + done.stderr.decode()
    assert done.returncode == 1 and f"rules.json:{place}: " in printed and words in printed
    assert "Expected '{'" not in printed
